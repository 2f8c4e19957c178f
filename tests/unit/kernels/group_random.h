/* SPDX-License-Identifier: Apache-2.0
 *
 * Random groups, with or without sinks, whose ops are exact: structure and layout follow from one seed, sizes and
 * contents from another. All arrays lie in one pool of bytes, each with a gap around it, so that two pools show by
 * their bytes whether two ways to run a group agree.
 */
#pragma once

#include "group.h"

#include <stdlib.h>
#include <string.h>

#define POOL_BYTES (16 << 20)

/* What groups are made of: dtypes, and whether also of ops that are not exact. */
static unsigned random_dtypes = GSH_SET_ALL;
static bool random_is_inexact;

struct random_group {
    struct gsh_group group;
    char *pool;
    int64_t used;
    uint64_t structure, contents; /* states of generators */
    int read_count;               /* arrays that are read come first */
    double scale;                 /* of ordinary numbers: large ones add up to infinity */
    bool has_sinks, is_plain;     /* plain: all contents are finite, so that sums tell */
    /* of steps, then of sinks */
    uint64_t claims[GSH_GROUP_STEPS + GSH_GROUP_SINKS][GSH_ERROR_KINDS];
    struct gsh_errors_found found[GSH_GROUP_STEPS + GSH_GROUP_SINKS];
};

static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
    *state += 0x9e3779b97f4a7c15;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % limit;
}
#define PICK(work, limit) ((int)random_below(&(work)->structure, (uint64_t)(limit)))
#define DRAW(work, limit) ((int)random_below(&(work)->contents, (uint64_t)(limit)))

/* A number that is often special: zero, one, the least or greatest, infinity, NaN. */
static inline void random_real(struct random_group *work, enum gsh_dtype dtype, char *at)
{
    static const double doubles[] = {0.0, -0.0,  1,      -1,     2,     0.5,
                                     3e9, 1e300, -1e300, 1e-310, 65519, 1e39};
    static const uint64_t specials[] = {0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
                                        0xfff8000000000123};
    int special = work->is_plain ? 11 : DRAW(work, 12), size = (int)gsh_dtype_size(dtype);
    double number =
        special == 0 ? doubles[DRAW(work, 12)] : (DRAW(work, 20000) - 10000) / 61.0 * work->scale;
    float narrow = (float)(work->scale > 1 ? number * 1e-270 : number);
    uint64_t bits = random_below(&work->contents, UINT64_MAX);
    if (gsh_dtype_kind(dtype) == 'b')
        bits &= 1;
    else if (gsh_dtype_kind(dtype) != 'f')
        bits = special == 0  ? (uint64_t)1 << (8 * size - 1)
               : special < 3 ? (uint64_t)(DRAW(work, 3) - 1)
               : special < 8 ? (uint64_t)(DRAW(work, 200) - 100)
                             : bits;
    else if (dtype == GSH_FLOAT64)
        memcpy(&bits, special == 1 ? (const void *)&specials[DRAW(work, 4)] : (const void *)&number,
               8);
    else if (dtype == GSH_FLOAT32)
        memcpy(&bits, &narrow, 4);
    else if (special > 1)
        bits = bits % 0x7c00 | (bits & 0x8000); /* a finite float16 */
    if (dtype == GSH_FLOAT16 && (bits & 0x7fff) > 0x7c00)
        bits |= 0x200; /* no signalling NaN: the CPU's rint keeps one, the GPU's makes it quiet */
    memcpy(at, &bits, (size_t)size);
}

static inline void random_element(struct random_group *work, enum gsh_dtype dtype, char *at)
{
    enum gsh_dtype part = dtype == GSH_COMPLEX64    ? GSH_FLOAT32
                          : dtype == GSH_COMPLEX128 ? GSH_FLOAT64
                                                    : dtype;
    for (size_t done = 0; done < gsh_dtype_size(dtype); done += gsh_dtype_size(part))
        random_real(work, part, at + done);
}

/* Memory for the array with its strides, filled: dimensions in C order or turned round, backwards, with gaps, and, of
 * arrays that are only read, all one along some. */
static inline void random_layout(struct random_group *work, struct gsh_group_array *array,
                                 bool is_read, int form)
{
    const struct gsh_group *group = &work->group;
    int64_t size = (int64_t)gsh_dtype_size(array->dtype), bytes = size, low = 0;
    for (int i = 0; i < group->ndim; i++) {
        int d = form == 1 ? i : group->ndim - 1 - i;
        bool is_last = d == group->ndim - 1, is_same = is_read && form > 1 && PICK(work, 3) == 0;
        array->strides[d] = is_same ? 0 : bytes;
        if (is_same)
            continue;
        bytes *= group->shape[d];
        if (form == 3 && PICK(work, 2) == 0)
            bytes += size * (is_last ? 16 / size + (size == 16) : 2);
        if (form == 4 && PICK(work, 2) == 0) {
            array->strides[d] *= -1;
            low -= array->strides[d] * (group->shape[d] - 1);
        }
    }
    bool is_off = PICK(work, 8) == 0 && gsh_dtype_kind(array->dtype) == 'c';
    int64_t start = work->used + 64 + (is_off ? size / 2 : PICK(work, 4) == 0 ? size : 0);
    array->address = (uintptr_t)work->pool + (uint64_t)(start + low);
    for (int64_t at = 0; at < bytes; at += size)
        random_element(work, array->dtype, work->pool + start + at);
    work->used = (start + bytes + 127) / 64 * 64;
    if (work->used > POOL_BYTES)
        abort();
}

static inline enum gsh_dtype random_dtype(struct random_group *work)
{
    static const enum gsh_dtype likely[] = {GSH_FLOAT64, GSH_FLOAT32, GSH_BOOL,
                                            GSH_INT64,   GSH_FLOAT16, GSH_COMPLEX64};
    enum gsh_dtype dtype;
    do
        dtype = PICK(work, 3) ? likely[PICK(work, 6)] : (enum gsh_dtype)PICK(work, GSH_DTYPE_COUNT);
    while ((random_dtypes >> dtype & 1) == 0);
    return dtype;
}

/* Something of the dtype (any: GSH_DTYPE_COUNT) among what is there before the step `end`. */
static inline struct gsh_group_input random_input(struct random_group *work, enum gsh_dtype dtype,
                                                  unsigned end)
{
    const struct gsh_group *group = &work->group;
    struct gsh_group_input found = {0};
    for (int attempt = 0; attempt < 60; attempt++) {
        struct gsh_group_input input = {GSH_FROM_ARRAY, (uint8_t)PICK(work, work->read_count), 0};
        if (end > 0 && PICK(work, 2)) {
            input = (struct gsh_group_input){GSH_FROM_STEP, (uint8_t)PICK(work, end), 0};
            input.output = (uint8_t)PICK(work, gsh_op_info(group->steps[input.index].op)->nout);
        } else if (PICK(work, 4) == 0)
            input = (struct gsh_group_input){GSH_FROM_CONSTANT,
                                             (uint8_t)PICK(work, group->constant_count), 0};
        if (input.source == GSH_FROM_ARRAY && group->arrays[input.index].is_index)
            continue;
        found = dtype == GSH_DTYPE_COUNT || gsh_group_dtype(group, input) == dtype ? input : found;
        if (found.source != GSH_FROM_NOTHING)
            break;
    }
    return found;
}

static inline struct gsh_error_sink random_errors(struct random_group *work, unsigned place)
{
    return (struct gsh_error_sink){(uintptr_t)work->claims[place], (uintptr_t)&work->found[place],
                                   place + 1};
}

static inline void random_step(struct random_group *work, unsigned number)
{
    struct gsh_group_step *step = &work->group.steps[number];
    do {
        step->op = (enum gsh_op)PICK(work, GSH_OP_COUNT);
        step->loop = random_dtype(work);
    } while (!gsh_op_has_loop(step->op, step->loop) ||
             (!random_is_inexact && gsh_op_max_ulp(step->op, step->loop) > 0));
    const struct gsh_op_info *info = gsh_op_info(step->op);
    for (unsigned k = 0; k < info->nin; k++) {
        step->in[k] = random_input(work, gsh_op_input_dtype(step->op, step->loop, k), number);
        if (step->in[k].source == GSH_FROM_NOTHING || PICK(work, 8) == 0)
            step->in[k] = random_input(work, GSH_DTYPE_COUNT, number);
    }
    if ((info->flags & GSH_USES_INDEX) != 0)
        step->index = (struct gsh_group_input){GSH_FROM_ARRAY, 0, 0};
    for (unsigned j = 0; j < info->nout; j++)
        step->out[j] =
            PICK(work, 6) ? gsh_op_output_dtype(step->op, step->loop, j) : random_dtype(work);
    struct gsh_group_input mask = random_input(work, GSH_BOOL, number);
    bool has_mask =
        PICK(work, 3) == 0 && mask.source > GSH_FROM_NOTHING && mask.source != GSH_FROM_CONSTANT;
    for (unsigned j = 0; has_mask && j < info->nout; j++) {
        step->old[j] = random_input(work, step->out[j], number);
        has_mask = step->old[j].source != GSH_FROM_NOTHING;
    }
    step->mask = has_mask ? mask : (struct gsh_group_input){0};
    if (PICK(work, 2) &&
        step->op != GSH_OP_ROUND) /* what it multiplies by is no power of ten here */
        step->errors = random_errors(work, number);
}

static inline void random_shape(struct random_group *work)
{
    static const int sizes[] = {1, 2, 257, 2401, 2048, 4000}, inner[] = {1, 3, 8, 12, 64},
                     middle[] = {2, 3, 5};
    struct gsh_group *group = &work->group;
    group->ndim = PICK(work, 3) ? PICK(work, 4) + 1 : 1;
    for (int d = 0; d < group->ndim; d++)
        group->shape[d] = d < group->ndim - 1 ? middle[DRAW(work, 3)]
                          : group->ndim > 1   ? inner[PICK(work, 5)] * (1 + DRAW(work, 3))
                                              : sizes[DRAW(work, 6)];
    if (PICK(work, 20) == 0)
        group->ndim = 0;
    if (!work->has_sinks)
        return;
    group->ndim = GSH_MAX(group->ndim, 1);
    group->nreduce = group->ndim == 3 ? 1 : 1 + PICK(work, group->ndim);
    if (group->ndim < 3 && group->nreduce == 1) /* several segments, or many outputs */
        group->shape[PICK(work, group->ndim)] = 20000 + DRAW(work, 3);
    if (group->ndim == 2)
        group->shape[group->shape[0] > 999] = 3;
    if (group->ndim == 3 && group->nreduce == 1) {
        group->shape[0] = 2;
        group->shape[1] = 3;
        group->shape[2] = 9000 + DRAW(work, 3);
    }
}

/* The first array is the index: of C order, or of the order of the dimensions turned round. */
static inline void random_index(struct random_group *work)
{
    struct gsh_group *group = &work->group;
    struct gsh_group_array *array = &group->arrays[0];
    bool is_turned = PICK(work, 2);
    *array = (struct gsh_group_array){
        .dtype = GSH_INT64, .is_index = true, .address = (uint64_t)DRAW(work, 5)};
    for (int64_t i = 0, weight = 1; i < group->ndim; i++) {
        int64_t d = is_turned ? i : group->ndim - 1 - i;
        array->strides[d] = weight;
        weight *= group->shape[d];
    }
}

/* Stores the outputs of some steps, sometimes over an array that was read. */
static inline void random_stores(struct random_group *work, int form)
{
    struct gsh_group *group = &work->group;
    bool is_taken[GSH_GROUP_ARRAYS] = {false};
    for (unsigned s = 0; s < group->step_count; s++) {
        if (group->store_count == GSH_GROUP_STORES || (s + 1 < group->step_count && PICK(work, 3)))
            continue;
        unsigned j = (unsigned)PICK(work, gsh_op_info(group->steps[s].op)->nout),
                 k = group->array_count++;
        struct gsh_group_array *array = &group->arrays[k];
        array->dtype = group->steps[s].out[j];
        array->is_index = false;
        for (int r = 1; r < work->read_count && array->address == 0; r++) {
            bool is_distinct =
                !work->has_sinks && !is_taken[r] &&
                gsh_dtype_size(group->arrays[r].dtype) == gsh_dtype_size(array->dtype) &&
                PICK(work, 2);
            for (int d = 0; d < group->ndim; d++)
                is_distinct =
                    is_distinct && (group->arrays[r].strides[d] != 0 || group->shape[d] == 1);
            is_taken[r] = is_taken[r] || is_distinct;
            array->address = is_distinct ? group->arrays[r].address : 0;
            memcpy(array->strides, group->arrays[r].strides, sizeof array->strides);
        }
        if (array->address == 0)
            random_layout(work, array, false, form);
        group->stores[group->store_count++] =
            (struct gsh_group_store){{GSH_FROM_STEP, (uint8_t)s, (uint8_t)j}, (uint8_t)k};
    }
}

/* A reduction of something, in C order or, as if that were stored so, with the kept dimensions innermost. */
static inline void random_sink(struct random_group *work, bool is_turned, enum gsh_dtype dtype)
{
    struct gsh_group *group = &work->group;
    struct gsh_group_sink *sink = &group->sinks[group->sink_count];
    struct gsh_group_array *array = &group->arrays[group->array_count];
    int kept = group->ndim - group->nreduce;
    sink->in = random_input(work, dtype, group->step_count);
    if (sink->in.source == GSH_FROM_NOTHING || sink->in.source == GSH_FROM_CONSTANT)
        return;
    sink->loop = gsh_group_dtype(group, sink->in);
    bool is_sum = PICK(work, 2) && gsh_reduction_has_loop(GSH_REDUCE_SUM, sink->loop);
    do
        sink->reduction =
            is_sum ? GSH_REDUCE_SUM : (enum gsh_reduction)PICK(work, GSH_REDUCTION_COUNT);
    while (!gsh_reduction_may_sink(sink->reduction, sink->loop));
    array->dtype = PICK(work, 4) ? gsh_reduction_output_dtype(sink->reduction, sink->loop)
                                 : random_dtype(work);
    int64_t bytes = (int64_t)gsh_dtype_size(sink->loop),
            out = (int64_t)gsh_dtype_size(array->dtype);
    for (int i = 0; i < group->ndim; i++) { /* the innermost first */
        int d = group->ndim - 1 - i;
        if (is_turned)
            d = i < kept ? kept - 1 - i : group->ndim - 1 - (i - kept);
        sink->strides[d] = bytes;
        bytes *= group->shape[d];
    }
    bool is_reversed = PICK(work, 2); /* the outputs' dimensions */
    for (int i = 0; i < group->ndim; i++) {
        int d = i >= kept ? i : is_reversed ? i : kept - 1 - i;
        array->strides[d] = d >= kept ? 0 : out;
        out *= d >= kept ? 1 : group->shape[d];
    }
    sink->has_initial = PICK(work, 4) == 0;
    random_element(work, sink->loop, (char *)&sink->initial);
    if (gsh_reduction_info(sink->reduction)->neutral != GSH_NEUTRAL_FIRST && PICK(work, 4) == 0)
        sink->mask = random_input(work, GSH_BOOL, group->step_count);
    if (sink->mask.source == GSH_FROM_CONSTANT)
        sink->mask = (struct gsh_group_input){0};
    if (PICK(work, 2))
        sink->errors = random_errors(work, GSH_GROUP_STEPS + group->sink_count);
    array->address = (uintptr_t)work->pool + (uint64_t)(work->used + 64);
    work->used = (work->used + 64 + out + 127) / 64 * 64;
    sink->array = (uint8_t)group->array_count++;
    group->sink_count++;
}

/* One sink, sometimes two of one dtype, so that they have one tree. */
static inline void random_sinks(struct random_group *work)
{
    struct gsh_group *group = &work->group;
    bool is_turned = PICK(work, 2), has_two = PICK(work, 2);
    while (group->sink_count == 0)
        random_sink(work, is_turned,
                    PICK(work, 2)   ? GSH_FLOAT64
                    : PICK(work, 2) ? GSH_FLOAT32
                                    : GSH_DTYPE_COUNT);
    if (has_two)
        random_sink(work, is_turned, group->sinks[0].loop);
}

/* The same seeds make the same group in any pool. */
static inline void random_group_make(struct random_group *work, char *pool, uint64_t structure,
                                     uint64_t contents, bool has_sinks)
{
    memset(work, 0, sizeof *work);
    work->has_sinks = has_sinks;
    work->is_plain = has_sinks && contents % 4 != 0;
    work->scale = has_sinks && contents % 4 == 3 ? 5e305 : 1;
    memset(pool, 0x55, POOL_BYTES);
    work->pool = pool;
    work->structure = structure * 1000003;
    work->contents = contents * 999983 + structure;
    struct gsh_group *group = &work->group;
    random_shape(work);
    int form = PICK(work, 5);
    group->array_count = (unsigned)(work->read_count = 3 + PICK(work, 3));
    random_index(work);
    for (int k = 1; k < work->read_count; k++) {
        group->arrays[k].dtype = random_dtype(work);
        random_layout(work, &group->arrays[k], true, PICK(work, 3) ? form : PICK(work, 5));
    }
    group->constant_count = 3;
    for (unsigned k = 0; k < group->constant_count; k++) {
        group->constants[k].dtype = random_dtype(work);
        random_element(work, group->constants[k].dtype, (char *)&group->constants[k].value);
    }
    group->step_count = (unsigned)PICK(work, 4) == 0 ? 20 : 1 + (unsigned)PICK(work, 7);
    for (unsigned s = 0; s < group->step_count; s++)
        random_step(work, s);
    if (!has_sinks || PICK(work, 2))
        random_stores(work, form);
    if (has_sinks)
        random_sinks(work);
    if (PICK(work, 4))
        gsh_group_collapse(group);
}
