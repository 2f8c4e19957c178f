/* SPDX-License-Identifier: Apache-2.0
 *
 * A group run the naive way, the oracle of what runs groups: every input is copied to a temporary
 * array of its own, every step is one launch of gsh_host_ops_run on whole temporaries, then every
 * store and sink in turn. Addresses are host addresses. For groups that need not be fast.
 */
#pragma once

#include "group.h"
#include "host_ops.h"

#include <stdlib.h>
#include <string.h>

struct group_reference {
    const struct gsh_group *group;
    int64_t n;
    char *arrays[GSH_GROUP_ARRAYS]; /* contiguous, in C order */
    char *steps[GSH_GROUP_STEPS][GSH_OP_OUTPUTS];
};

static inline char *group_reference_alloc(int64_t elements, enum gsh_dtype dtype)
{
    return malloc((size_t)GSH_MAX(elements, 1) * gsh_dtype_size(dtype));
}

/* Where element e, in C order, lies with these strides. */
static inline int64_t group_reference_offset(const struct gsh_group *group, const int64_t *strides,
                                             int64_t e)
{
    int64_t offset = 0;
    for (int d = group->ndim - 1; d >= 0; d--) {
        offset += e % group->shape[d] * strides[d];
        e /= group->shape[d];
    }
    return offset;
}

static inline void group_reference_load(struct group_reference *work, unsigned k)
{
    const struct gsh_group_array *array = &work->group->arrays[k];
    size_t size = gsh_dtype_size(array->is_index ? GSH_INT64 : array->dtype);
    work->arrays[k] = group_reference_alloc(work->n, array->is_index ? GSH_INT64 : array->dtype);
    for (int64_t e = 0; e < work->n; e++) {
        uint64_t place =
            array->address + (uint64_t)group_reference_offset(work->group, array->strides, e);
        memcpy(work->arrays[k] + (size_t)e * size,
               array->is_index ? (const void *)&place : (const void *)(uintptr_t)place, size);
    }
}

/* The temporary that an input is in; NULL for a constant. */
static inline char *group_reference_find(const struct group_reference *work,
                                         struct gsh_group_input input)
{
    return input.source == GSH_FROM_STEP    ? work->steps[input.index][input.output]
           : input.source == GSH_FROM_ARRAY ? work->arrays[input.index]
                                            : NULL;
}

/* An input as an array that is the caller's. */
static inline char *group_reference_copy(const struct group_reference *work,
                                         struct gsh_group_input input)
{
    enum gsh_dtype dtype = gsh_group_dtype(work->group, input);
    size_t size = gsh_dtype_size(dtype);
    char *copy = group_reference_alloc(work->n, dtype);
    const char *from = group_reference_find(work, input);
    for (int64_t e = 0; e < work->n; e++)
        memcpy(copy + (size_t)e * size,
               from == NULL ? (const char *)&work->group->constants[input.index].value
                            : from + (size_t)e * size,
               size);
    return copy;
}

/* One element after the other, each as the last of a launch in which it has its index. */
static inline enum gsh_status group_reference_indexed(const struct group_reference *work,
                                                      const struct gsh_launch *launch,
                                                      const int64_t *indices)
{
    enum gsh_status status = GSH_OK;
    for (int64_t e = 0; e < work->n && status == GSH_OK; e++) {
        struct gsh_launch one = *launch;
        one.shape[0] = indices[e] + 1;
        for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
            one.operands[k].address += (uint64_t)(e * launch->strides[k][0]);
            one.strides[k][0] = 0;
        }
        status = gsh_host_ops_run(&one);
    }
    return status;
}

static inline enum gsh_status group_reference_step(struct group_reference *work, unsigned k)
{
    const struct gsh_group_step *step = &work->group->steps[k];
    const struct gsh_op_info *info = gsh_op_info(step->op);
    struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                .op = step->op,
                                .loop = step->loop,
                                .nin = info->nin,
                                .nout = info->nout,
                                .has_mask = step->mask.source != GSH_FROM_NOTHING,
                                .ndim = 1,
                                .shape = {work->n},
                                .errors = step->errors};
    for (unsigned j = 0; j < info->nin; j++) {
        struct gsh_group_input input = step->in[j];
        launch.operands[j].dtype = gsh_group_dtype(work->group, input);
        launch.operands[j].is_constant = input.source == GSH_FROM_CONSTANT;
        if (launch.operands[j].is_constant)
            launch.operands[j].constant = work->group->constants[input.index].value;
        else
            launch.operands[j].address = (uintptr_t)group_reference_find(work, input);
    }
    for (unsigned j = 0; j < info->nout; j++) {
        work->steps[k][j] = launch.has_mask ? group_reference_copy(work, step->old[j])
                                            : group_reference_alloc(work->n, step->out[j]);
        launch.operands[info->nin + j] =
            (struct gsh_operand){.dtype = step->out[j], .address = (uintptr_t)work->steps[k][j]};
    }
    char *mask = launch.has_mask ? group_reference_copy(work, step->mask) : NULL;
    launch.operands[info->nin + info->nout] =
        (struct gsh_operand){.dtype = GSH_BOOL, .address = (uintptr_t)mask};
    for (unsigned j = 0; j < gsh_launch_operands(&launch); j++)
        launch.strides[j][0] =
            launch.operands[j].is_constant ? 0 : (int64_t)gsh_dtype_size(launch.operands[j].dtype);
    char *indices =
        step->index.source != GSH_FROM_NOTHING ? group_reference_copy(work, step->index) : NULL;
    enum gsh_status status = indices != NULL
                                 ? group_reference_indexed(work, &launch, (const void *)indices)
                                 : gsh_host_ops_run(&launch);
    free(indices);
    free(mask);
    return status;
}

static inline void group_reference_store(const struct group_reference *work,
                                         const struct gsh_group_store *store)
{
    const struct gsh_group_array *array = &work->group->arrays[store->array];
    size_t size = gsh_dtype_size(array->dtype);
    const char *from = group_reference_find(work, store->from);
    for (int64_t e = 0; e < work->n; e++)
        memcpy((char *)(uintptr_t)array->address +
                   group_reference_offset(work->group, array->strides, e),
               from + (size_t)e * size, size);
}

/* The input laid out with the given strides; *base is where its allocation begins. */
static inline char *group_reference_lay_out(const struct group_reference *work,
                                            struct gsh_group_input input, const int64_t *strides,
                                            char **base)
{
    const struct gsh_group *group = work->group;
    int64_t size = (int64_t)gsh_dtype_size(gsh_group_dtype(group, input)), low = 0, high = size;
    for (int d = 0; d < group->ndim; d++) {
        int64_t reach = strides[d] * GSH_MAX(group->shape[d] - 1, 0);
        *(reach < 0 ? &low : &high) += reach;
    }
    *base = malloc((size_t)(high - low));
    char *copy = group_reference_copy(work, input);
    for (int64_t e = 0; e < work->n; e++)
        memcpy(*base - low + group_reference_offset(group, strides, e), copy + e * size,
               (size_t)size);
    free(copy);
    return *base - low;
}

/* The sink as a launch over arrays of its own, which are in *bases. */
static inline struct gsh_launch group_reference_sink_launch(const struct group_reference *work,
                                                            const struct gsh_group_sink *sink,
                                                            char *bases[2])
{
    const struct gsh_group *group = work->group;
    const struct gsh_group_array *out = &group->arrays[sink->array];
    struct gsh_launch launch = {.kind = GSH_LAUNCH_REDUCE,
                                .reduction = sink->reduction,
                                .loop = sink->loop,
                                .nin = 1,
                                .nout = 1,
                                .has_mask = sink->mask.source != GSH_FROM_NOTHING,
                                .has_initial = sink->has_initial,
                                .initial = sink->initial,
                                .ndim = group->ndim,
                                .nreduce = group->nreduce,
                                .errors = sink->errors};
    const int64_t *mask_strides = sink->mask.source == GSH_FROM_ARRAY
                                      ? group->arrays[sink->mask.index].strides
                                      : sink->strides;
    launch.operands[0] = (struct gsh_operand){
        .dtype = gsh_group_dtype(group, sink->in),
        .address = (uintptr_t)group_reference_lay_out(work, sink->in, sink->strides, &bases[0])};
    launch.operands[1] = (struct gsh_operand){.dtype = out->dtype, .address = out->address};
    if (launch.has_mask)
        launch.operands[2] = (struct gsh_operand){.dtype = GSH_BOOL,
                                                  .address = (uintptr_t)group_reference_lay_out(
                                                      work, sink->mask, mask_strides, &bases[1])};
    memcpy(launch.shape, group->shape, sizeof launch.shape);
    memcpy(launch.strides[0], sink->strides, sizeof launch.strides[0]);
    memcpy(launch.strides[1], out->strides, sizeof launch.strides[1]);
    memcpy(launch.strides[2], mask_strides, sizeof launch.strides[2]);
    gsh_launch_collapse(&launch);
    return launch;
}

static inline enum gsh_status group_reference_sink(const struct group_reference *work,
                                                   const struct gsh_group_sink *sink)
{
    char *bases[2] = {NULL, NULL};
    struct gsh_launch launch = group_reference_sink_launch(work, sink, bases);
    enum gsh_status status = gsh_host_ops_run(&launch);
    free(bases[0]);
    free(bases[1]);
    return status;
}

static inline bool group_reference_is_stored(const struct gsh_group *group, unsigned array)
{
    for (unsigned k = 0; k < group->sink_count; k++)
        if (group->sinks[k].array == array)
            return true;
    for (unsigned k = 0; k < group->store_count; k++)
        if (group->stores[k].array == array)
            return true;
    return false;
}

static inline void group_reference_free(const struct group_reference *work)
{
    for (unsigned k = 0; k < work->group->array_count; k++)
        free(work->arrays[k]);
    for (unsigned k = 0; k < work->group->step_count; k++)
        for (unsigned j = 0; j < GSH_OP_OUTPUTS; j++)
            free(work->steps[k][j]);
}

/* Runs the group but for its sinks. The work is freed by the caller. */
static inline enum gsh_status group_reference_begin(struct group_reference *work,
                                                    const struct gsh_group *group)
{
    enum gsh_status status = GSH_OK;
    *work = (struct group_reference){.group = group, .n = gsh_group_elements(group)};
    for (unsigned k = 0; k < group->array_count; k++)
        if (!group_reference_is_stored(group, k))
            group_reference_load(work, k);
    for (unsigned k = 0; k < group->step_count && status == GSH_OK; k++)
        status = group_reference_step(work, k);
    for (unsigned k = 0; k < group->store_count && status == GSH_OK; k++)
        group_reference_store(work, &group->stores[k]);
    return status;
}

/* Runs the group. Not OK: a step or sink that gsh_host_ops_run does not support. */
static inline enum gsh_status group_reference_run(const struct gsh_group *group)
{
    struct group_reference work;
    enum gsh_status status = group_reference_begin(&work, group);
    for (unsigned k = 0; k < group->sink_count && status == GSH_OK; k++)
        status = group_reference_sink(&work, &group->sinks[k]);
    group_reference_free(&work);
    return status;
}
