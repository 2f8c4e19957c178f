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

/* Gives operand k strides over its batch and line: in random order, perhaps with gaps, backwards or, for an input, stretched. */
static inline void fft_lay_out(struct gsh_launch *launch, unsigned k, bool is_tame)
{
    int count = launch->ndim + 1, order[FFT_MOST_BATCH + 1] = {0};
    struct gsh_core *core = &launch->fft.cores[k];
    int64_t stride = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    for (int i = 0; i < count; i++) {
        int j = is_tame ? i : (int)fft_random((uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = count; i-- > 0;) {
        bool is_line = order[i] == launch->ndim;
        int64_t *target = is_line ? &core->stride[0] : &launch->strides[k][order[i]];
        int64_t extent = is_line ? core->extent[0] : launch->shape[order[i]];
        if (!is_tame && fft_random(4) == 0)
            stride *= 2;
        *target = !is_tame && fft_random(6) == 0 ? -stride : stride;
        if (!is_tame && k == 0 && !is_line && fft_random(6) == 0)
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

/* A transform of `length` points; tame: contiguous lines one after another, nothing to cast, pad or crop. */
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
    fft->rank = 1;
    fft->factor = fft_random(2) != 0 ? 1 : 1 / (double)length;
    int64_t half = length / 2 + 1;
    int64_t in = fft->type == GSH_FFT_C2R ? half : length;
    if (!is_tame && fft_random(3) == 0)
        in = 1 + (int64_t)fft_random((uint64_t)in + 5);
    for (int d = 0; d < GSH_CORE_DIMS; d++)
        fft->length[d] = fft->cores[0].extent[d] = fft->cores[1].extent[d] = 1;
    fft->length[0] = length;
    fft->cores[0].extent[0] = in;
    fft->cores[1].extent[0] = fft->type == GSH_FFT_R2C ? half : length;
    launch->operands[0].dtype = fft_input_dtype(fft->type, is_single, is_tame);
    launch->operands[1].dtype = fft->type == GSH_FFT_C2R ? real : launch->loop;
    launch->ndim = (int)fft_random(FFT_MOST_BATCH + 1);
    for (int d = 0; d < launch->ndim; d++)
        launch->shape[d] = 1 + (int64_t)fft_random(d == 0 && length < 200 ? 24 : 4);
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

/* Number `number` of a line of operand k. */
static inline unsigned char *fft_at(const struct fft_case *made, unsigned k, const int64_t *index,
                                    int64_t number)
{
    int64_t offset =
        (int64_t)made->launch.operands[k].address + number * made->launch.fft.cores[k].stride[0];
    for (int d = 0; d < made->launch.ndim; d++)
        offset += index[d] * made->launch.strides[k][d];
    return made->memory[k] + offset;
}

/* Point k of the transform of the line, without the factor. */
static inline void fft_point(const struct gsh_fft *fft, const long double *line, int64_t k,
                             const long double *turns, long double *sum)
{
    int64_t n = fft->length[0], numbers = fft->type == GSH_FFT_C2R ? n / 2 + 1 : n;
    sum[0] = sum[1] = 0;
    for (int64_t j = 0; j < numbers; j++) {
        int64_t turn = j * k % n;
        long double c = turns[2 * turn],
                    s = fft->is_inverse ? turns[2 * turn + 1] : -turns[2 * turn + 1];
        bool is_alone = j == 0 || 2 * j == n;
        long double re = line[2 * j], im = line[2 * j + 1];
        if (fft->type == GSH_FFT_C2R) {
            sum[0] += is_alone ? re * c : 2 * (re * c - im * s);
            continue;
        }
        sum[0] += re * c - im * s;
        sum[1] += re * s + im * c;
    }
}

/* Checks a line; returns its error in units of eps log2(2 n) times its norm. */
static inline double fft_judge_line(const struct fft_case *made, const int64_t *index,
                                    const long double *turns)
{
    const struct gsh_launch *launch = &made->launch;
    const struct gsh_fft *fft = &launch->fft;
    int64_t n = fft->length[0], extent = fft->cores[0].extent[0];
    long double *line = calloc((size_t)(2 * n + 2), sizeof *line), far = 0, norm = 0;
    for (int64_t j = 0; j < GSH_MIN(extent, n); j++)
        fft_read(fft_at(made, 0, index, j), launch->operands[0].dtype, line + 2 * j);
    for (int64_t k = 0; k < fft->cores[1].extent[0]; k++) {
        long double want[2], got[2];
        fft_point(fft, line, k, turns, want);
        fft_read(fft_at(made, 1, index, k), launch->operands[1].dtype, got);
        for (int part = 0; part < 2; part++) {
            want[part] *= (long double)fft->factor;
            far += (got[part] - want[part]) * (got[part] - want[part]);
            norm += want[part] * want[part];
        }
    }
    free(line);
    double eps = launch->loop == GSH_COMPLEX64 ? (double)FLT_EPSILON : DBL_EPSILON;
    double scale = sqrt((double)norm) * eps * log2(2 * (double)n);
    return far == 0 ? 0 : sqrt((double)far) / scale;
}

/* The largest error of all lines; `before`: the output's memory before the launch, from which only its elements may differ. */
static inline double fft_judge(const struct fft_case *made, const unsigned char *before)
{
    const struct gsh_launch *launch = &made->launch;
    int64_t n = launch->fft.length[0], index[GSH_MAX_DIMS] = {0};
    size_t size = gsh_dtype_size(launch->operands[1].dtype);
    long double *turns = malloc((size_t)n * 2 * sizeof *turns);
    unsigned char *after = malloc(made->bytes[1]);
    double worst = 0;
    memcpy(after, made->memory[1], made->bytes[1]);
    for (int64_t j = 0; j < n; j++) {
        turns[2 * j] = cosl(2 * acosl(-1) * (long double)j / (long double)n);
        turns[2 * j + 1] = sinl(2 * acosl(-1) * (long double)j / (long double)n);
    }
    for (int d = 0; d >= 0;) {
        double error = fft_judge_line(made, index, turns);
        worst = error > worst || isnan(error) ? error : worst;
        for (int64_t k = 0; k < launch->fft.cores[1].extent[0]; k++) {
            int64_t offset = fft_at(made, 1, index, k) - made->memory[1];
            memcpy(after + offset, before + offset, size);
        }
        for (d = launch->ndim - 1; d >= 0 && ++index[d] == launch->shape[d]; d--)
            index[d] = 0;
    }
    CHECK(memcmp(after, before, made->bytes[1]) == 0);
    free(after);
    free(turns);
    return worst;
}

static inline void fft_print(const struct gsh_launch *launch, double error)
{
    printf("type %d, %s, from %s, %lld points of %lld, factor %g, inverse %d: error %g; strides in "
           "%lld out %lld; batch",
           (int)launch->fft.type, gsh_dtype_name(launch->loop),
           gsh_dtype_name(launch->operands[0].dtype), (long long)launch->fft.length[0],
           (long long)launch->fft.cores[0].extent[0], launch->fft.factor,
           (int)launch->fft.is_inverse, error, (long long)launch->fft.cores[0].stride[0],
           (long long)launch->fft.cores[1].stride[0]);
    for (int d = 0; d < launch->ndim; d++)
        printf(" %lld (%lld, %lld)", (long long)launch->shape[d], (long long)launch->strides[0][d],
               (long long)launch->strides[1][d]);
    putchar('\n');
}

static const int64_t fft_lengths[] = {1,   2,   3,   4,   5,   6,   7,   8,    9,    10,
                                      11,  12,  13,  16,  17,  31,  32,  60,   64,   97,
                                      100, 128, 210, 243, 256, 509, 512, 1000, 1021, 1024};
