/* SPDX-License-Identifier: Apache-2.0
 *
 * Random FFT launches over memory of their own, and what they must leave there, by the definition of the transform in long
 * double. For tests of everything that runs such launches.
 */
#pragma once

#include "check.h"
#include "launch.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FFT_MOST_BATCH 3

struct fft_case {
    struct gsh_launch launch; /* addresses: offsets of the first elements into `memory` */
    unsigned char *memory[2];
    size_t bytes[2];
};

static uint64_t fft_random_state = UINT64_C(88172645463325252);

static inline uint64_t fft_random(uint64_t below)
{
    fft_random_state ^= fft_random_state << 13;
    fft_random_state ^= fft_random_state >> 7;
    fft_random_state ^= fft_random_state << 17;
    return fft_random_state % below;
}

/* ---- making ---- */

/* Gives operand k strides over its batch and dimensions: in random order, perhaps with gaps, backwards or, for an
 * input, stretched. */
static inline void fft_lay_out(struct gsh_launch *launch, unsigned k, bool is_tame)
{
    int count = launch->ndim + launch->fft.rank, order[FFT_MOST_BATCH + GSH_CORE_DIMS] = {0};
    struct gsh_core *core = &launch->fft.cores[k];
    int64_t stride = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    for (int i = 0; i < count; i++) {
        int j = is_tame ? i : (int)fft_random((uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = count; i-- > 0;) {
        int d = order[i] - launch->ndim; /* of the core */
        int64_t *target = d >= 0 ? &core->stride[d] : &launch->strides[k][order[i]];
        int64_t extent = d >= 0 ? core->extent[d] : launch->shape[order[i]];
        if (!is_tame && fft_random(4) == 0)
            stride *= 2;
        *target = !is_tame && fft_random(6) == 0 ? -stride : stride;
        if (!is_tame && k == 0 && d < 0 && fft_random(6) == 0)
            *target = 0;
        else
            stride *= extent;
    }
}

static inline void fft_fill(unsigned char *at, enum gsh_dtype dtype)
{
    int64_t random = (int64_t)fft_random(2001) - 1000, other = (int64_t)fft_random(2001) - 1000;
    union gsh_scalar value = {.words = {0, 0}};
    if (dtype == GSH_FLOAT32)
        value.f32 = (float)random / 512;
    else if (dtype == GSH_FLOAT64)
        value.f64 = (double)random / 512;
    else if (dtype == GSH_INT32)
        value.i32 = (int32_t)random;
    else if (dtype == GSH_COMPLEX64)
        value.c64[0] = (float)random / 512, value.c64[1] = (float)other / 512;
    else
        value.c128[0] = (double)random / 512, value.c128[1] = (double)other / 512;
    memcpy(at, &value, gsh_dtype_size(dtype));
}

static inline void fft_make_memory(struct fft_case *made, unsigned k)
{
    struct gsh_operand *operand = &made->launch.operands[k];
    size_t size = gsh_dtype_size(operand->dtype);
    int64_t low, high;
    gsh_launch_extent(&made->launch, k, &low, &high);
    size_t space = 16 + (fft_random(2) != 0 ? size : 0); /* before and behind */
    operand->address = (uint64_t)-low + space;
    made->bytes[k] = (size_t)(high - low) + 2 * space;
    made->memory[k] = malloc(made->bytes[k]);
    for (size_t at = 0; at < made->bytes[k]; at += size)
        fft_fill(made->memory[k] + at, operand->dtype);
}

/* The input's dtype: the transform's, or one that is cast to it. */
static inline enum gsh_dtype fft_input_dtype(enum gsh_fft_type type, bool is_single, bool is_tame)
{
    enum gsh_dtype real = is_single ? GSH_FLOAT32 : GSH_FLOAT64;
    bool is_cast = !is_tame && fft_random(5) == 0;
    if (type == GSH_FFT_R2C)
        return is_cast ? GSH_INT32 : real;
    if (is_cast)
        return real;
    return is_single ? GSH_COMPLEX64 : GSH_COMPLEX128;
}

/* What operand k has along dimension d. */
static inline int64_t fft_numbers(const struct gsh_fft *fft, unsigned k, int d)
{
    bool is_half = d == fft->rank - 1 && fft->type == (k == 0 ? GSH_FFT_C2R : GSH_FFT_R2C);
    return is_half ? fft->length[d] / 2 + 1 : fft->length[d];
}

/* Lengths, one of which is `length`, and extents. */
static inline void fft_choose_extents(struct gsh_fft *fft, int64_t length, bool is_tame)
{
    fft->rank = length <= 64 ? 1 + (int)fft_random(4) % GSH_CORE_DIMS : 1;
    for (int d = 0; d < GSH_CORE_DIMS; d++)
        fft->length[d] = fft->cores[0].extent[d] = fft->cores[1].extent[d] = 1;
    for (int d = 0; d < fft->rank; d++)
        fft->length[d] = fft->rank == 1 ? length : 1 + (int64_t)fft_random(7);
    fft->length[fft_random((uint64_t)fft->rank)] = length;
    for (int d = 0; d < fft->rank; d++) {
        int64_t in = fft_numbers(fft, 0, d);
        bool is_odd = !is_tame && fft_random(3) == 0;
        fft->cores[0].extent[d] = is_odd ? 1 + (int64_t)fft_random((uint64_t)in + 5) : in;
        fft->cores[1].extent[d] = fft_numbers(fft, 1, d);
    }
}

/* A transform of `length` points, perhaps of several dimensions; tame: contiguous ones one after another, nothing to cast, pad
 * or crop. */
static inline struct fft_case fft_make(int64_t length, bool is_tame)
{
    struct fft_case made = {.launch = {.kind = GSH_LAUNCH_FFT, .nin = 1, .nout = 1}};
    struct gsh_launch *launch = &made.launch;
    struct gsh_fft *fft = &launch->fft;
    bool is_single = fft_random(2) != 0;
    enum gsh_dtype real = is_single ? GSH_FLOAT32 : GSH_FLOAT64;
    launch->loop = is_single ? GSH_COMPLEX64 : GSH_COMPLEX128;
    fft->type = (enum gsh_fft_type)fft_random(3);
    fft->is_inverse = fft->type == GSH_FFT_C2R || (fft->type == GSH_FFT_C2C && fft_random(2) != 0);
    fft->factor = fft_random(2) != 0 ? 1 : 1 / (double)length;
    fft_choose_extents(fft, length, is_tame);
    launch->operands[0].dtype = fft_input_dtype(fft->type, is_single, is_tame);
    launch->operands[1].dtype = fft->type == GSH_FFT_C2R ? real : launch->loop;
    launch->ndim = (int)fft_random(FFT_MOST_BATCH + 1);
    for (int d = 0; d < launch->ndim; d++)
        launch->shape[d] =
            1 + (int64_t)fft_random(d == 0 && length < 200 && fft->rank == 1 ? 24 : 4);
    for (unsigned k = 0; k < 2; k++) {
        fft_lay_out(launch, k, is_tame);
        fft_make_memory(&made, k);
    }
    return made;
}

static inline void fft_free(struct fft_case *made)
{
    free(made->memory[0]);
    free(made->memory[1]);
}

/* ---- judging ---- */

static inline void fft_read(const unsigned char *at, enum gsh_dtype dtype, long double *parts)
{
    union gsh_scalar value;
    memcpy(&value, at, gsh_dtype_size(dtype));
    parts[1] = 0;
    if (dtype == GSH_FLOAT32)
        parts[0] = (long double)value.f32;
    else if (dtype == GSH_FLOAT64)
        parts[0] = (long double)value.f64;
    else if (dtype == GSH_INT32)
        parts[0] = value.i32;
    else if (dtype == GSH_COMPLEX64)
        parts[0] = (long double)value.c64[0], parts[1] = (long double)value.c64[1];
    else
        parts[0] = (long double)value.c128[0], parts[1] = (long double)value.c128[1];
}

/* Operand k's number at `at` of the transform at `index` of the batch. */
static inline unsigned char *fft_at(const struct fft_case *made, unsigned k, const int64_t *index,
                                    const int64_t *at)
{
    int64_t offset = (int64_t)made->launch.operands[k].address;
    for (int d = 0; d < GSH_CORE_DIMS; d++)
        offset += at[d] * made->launch.fft.cores[k].stride[d];
    for (int d = 0; d < made->launch.ndim; d++)
        offset += index[d] * made->launch.strides[k][d];
    return made->memory[k] + offset;
}

/* The next index in C order; false after the last. */
static inline bool fft_step(int64_t *index, const int64_t *extent, int ndim)
{
    for (int d = ndim; d-- > 0; index[d] = 0)
        if (++index[d] < extent[d])
            return true;
    return false;
}

/* Complex numbers in C order over GSH_CORE_DIMS extents. */
struct fft_array {
    int64_t extent[GSH_CORE_DIMS];
    long double *numbers;
};

static inline struct fft_array fft_new_array(const int64_t *extent)
{
    struct fft_array made = {.extent = {extent[0], extent[1], extent[2]}};
    made.numbers = calloc((size_t)(extent[0] * extent[1] * extent[2]) * 2, sizeof(long double));
    return made;
}

static inline long double *fft_number(const struct fft_array *array, const int64_t *at)
{
    return array->numbers + 2 * ((at[0] * array->extent[1] + at[1]) * array->extent[2] + at[2]);
}

/* Point at[d] of the transform of the line through `at`. */
static inline void fft_point(const struct gsh_fft *fft, enum gsh_fft_type type, int d,
                             const struct fft_array *from, const int64_t *at,
                             const long double *turns, long double *sum)
{
    int64_t n = fft->length[d], place[GSH_CORE_DIMS] = {at[0], at[1], at[2]};
    sum[0] = sum[1] = 0;
    for (int64_t j = 0; j < from->extent[d]; j++) {
        int64_t turn = j * at[d] % n;
        long double c = turns[2 * turn],
                    s = fft->is_inverse ? turns[2 * turn + 1] : -turns[2 * turn + 1];
        place[d] = j;
        long double re = fft_number(from, place)[0], im = fft_number(from, place)[1];
        bool is_alone = j == 0 || 2 * j == n;
        if (type == GSH_FFT_C2R) {
            sum[0] += is_alone ? re * c : 2 * (re * c - im * s);
            continue;
        }
        sum[0] += re * c - im * s;
        sum[1] += re * s + im * c;
    }
}

/* Transforms the array along dimension d. */
static inline void fft_along(const struct gsh_fft *fft, enum gsh_fft_type type, int d,
                             struct fft_array *array)
{
    int64_t n = fft->length[d], at[GSH_CORE_DIMS] = {0};
    long double *turns = malloc((size_t)n * 2 * sizeof *turns);
    for (int64_t j = 0; j < n; j++) {
        turns[2 * j] = cosl(2 * acosl(-1) * (long double)j / (long double)n);
        turns[2 * j + 1] = sinl(2 * acosl(-1) * (long double)j / (long double)n);
    }
    int64_t extent[GSH_CORE_DIMS] = {array->extent[0], array->extent[1], array->extent[2]};
    extent[d] = fft->cores[1].extent[d];
    struct fft_array made = fft_new_array(extent);
    do
        fft_point(fft, type, d, array, at, turns, fft_number(&made, at));
    while (fft_step(at, extent, GSH_CORE_DIMS));
    free(turns);
    free(array->numbers);
    *array = made;
}

/* The transform at `index` of the batch, by the definition, without the factor. */
static inline struct fft_array fft_define(const struct fft_case *made, const int64_t *index)
{
    const struct gsh_fft *fft = &made->launch.fft;
    int64_t at[GSH_CORE_DIMS] = {0}, extent[GSH_CORE_DIMS] = {1, 1, 1},
            given[GSH_CORE_DIMS] = {1, 1, 1};
    for (int d = 0; d < fft->rank; d++) {
        extent[d] = fft_numbers(fft, 0, d);
        given[d] = GSH_MIN(extent[d], fft->cores[0].extent[d]);
    }
    struct fft_array array = fft_new_array(extent);
    do
        fft_read(fft_at(made, 0, index, at), made->launch.operands[0].dtype,
                 fft_number(&array, at));
    while (fft_step(at, given, GSH_CORE_DIMS));
    int last = fft->rank - 1;
    if (fft->type != GSH_FFT_C2R)
        fft_along(fft, fft->type, last, &array);
    for (int d = 0; d < last; d++)
        fft_along(fft, GSH_FFT_C2C, d, &array);
    if (fft->type == GSH_FFT_C2R)
        fft_along(fft, fft->type, last, &array);
    return array;
}

/* Checks a transform; returns its error in units of eps log2(2 n) times its norm. */
static inline double fft_judge_one(const struct fft_case *made, const int64_t *index)
{
    const struct gsh_launch *launch = &made->launch;
    const struct gsh_fft *fft = &launch->fft;
    struct fft_array want = fft_define(made, index);
    long double far = 0, norm = 0;
    int64_t at[GSH_CORE_DIMS] = {0};
    do {
        long double got[2];
        fft_read(fft_at(made, 1, index, at), launch->operands[1].dtype, got);
        for (int part = 0; part < 2; part++) {
            long double value = fft_number(&want, at)[part] * (long double)fft->factor;
            far += (got[part] - value) * (got[part] - value);
            norm += value * value;
        }
    } while (fft_step(at, want.extent, GSH_CORE_DIMS));
    free(want.numbers);
    double n = (double)(fft->length[0] * fft->length[1] * fft->length[2]);
    double eps = launch->loop == GSH_COMPLEX64 ? (double)FLT_EPSILON : DBL_EPSILON;
    double scale = sqrt((double)norm) * eps * log2(2 * n);
    return far == 0 ? 0 : sqrt((double)far) / scale;
}

/* The largest error of all transforms; `before`: the output's memory before the launch, from which only its elements
 * may differ. */
static inline double fft_judge(const struct fft_case *made, const unsigned char *before)
{
    const struct gsh_launch *launch = &made->launch;
    int64_t index[GSH_MAX_DIMS] = {0};
    size_t size = gsh_dtype_size(launch->operands[1].dtype);
    unsigned char *after = malloc(made->bytes[1]);
    double worst = 0;
    memcpy(after, made->memory[1], made->bytes[1]);
    do {
        double error = fft_judge_one(made, index);
        worst = error > worst || isnan(error) ? error : worst;
        int64_t at[GSH_CORE_DIMS] = {0};
        do {
            int64_t offset = fft_at(made, 1, index, at) - made->memory[1];
            memcpy(after + offset, before + offset, size);
        } while (fft_step(at, launch->fft.cores[1].extent, GSH_CORE_DIMS));
    } while (fft_step(index, launch->shape, launch->ndim));
    CHECK(memcmp(after, before, made->bytes[1]) == 0);
    free(after);
    return worst;
}

static inline void fft_print(const struct gsh_launch *launch, double error)
{
    const struct gsh_fft *fft = &launch->fft;
    printf("type %d, %s, from %s, factor %g, inverse %d: error %g;", (int)fft->type,
           gsh_dtype_name(launch->loop), gsh_dtype_name(launch->operands[0].dtype), fft->factor,
           (int)fft->is_inverse, error);
    for (int d = 0; d < fft->rank; d++)
        printf(" %lld points of %lld (%lld, %lld)", (long long)fft->length[d],
               (long long)fft->cores[0].extent[d], (long long)fft->cores[0].stride[d],
               (long long)fft->cores[1].stride[d]);
    printf("; batch");
    for (int d = 0; d < launch->ndim; d++)
        printf(" %lld (%lld, %lld)", (long long)launch->shape[d], (long long)launch->strides[0][d],
               (long long)launch->strides[1][d]);
    putchar('\n');
}

static const int64_t fft_lengths[] = {1,   2,   3,   4,   5,   6,   7,   8,    9,    10,
                                      11,  12,  13,  16,  17,  31,  32,  60,   64,   97,
                                      100, 128, 210, 243, 256, 509, 512, 1000, 1021, 1024};
