/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic on a group's shape and strides; see group.h.
 */
#include "group.h"

#include <string.h>

enum gsh_dtype gsh_group_dtype(const struct gsh_group *group, struct gsh_group_input input)
{
    switch ((enum gsh_group_source)input.source) {
    case GSH_FROM_STEP:
        return group->steps[input.index].out[input.output];
    case GSH_FROM_ARRAY:
        return group->arrays[input.index].is_index ? GSH_INT64 : group->arrays[input.index].dtype;
    case GSH_FROM_CONSTANT:
        return group->constants[input.index].dtype;
    case GSH_FROM_NOTHING:
        break;
    }
    return GSH_DTYPE_COUNT;
}

int64_t gsh_group_elements(const struct gsh_group *group)
{
    int64_t elements = 1;
    for (int d = 0; d < group->ndim; d++)
        elements *= group->shape[d];
    return elements;
}

static void move_dim(struct gsh_group *group, int to, int from)
{
    if (to == from)
        return;
    group->shape[to] = group->shape[from];
    for (unsigned k = 0; k < group->array_count; k++)
        group->arrays[k].strides[to] = group->arrays[k].strides[from];
    for (unsigned k = 0; k < group->sink_count; k++)
        group->sinks[k].strides[to] = group->sinks[k].strides[from];
}

static bool steps_as_one(const struct gsh_group *group, int outer, int inner)
{
    int64_t extent = group->shape[inner];
    for (unsigned k = 0; k < group->array_count; k++) {
        const int64_t *strides = group->arrays[k].strides;
        if (strides[outer] != strides[inner] * extent)
            return false;
    }
    for (unsigned k = 0; k < group->sink_count; k++) {
        const int64_t *strides = group->sinks[k].strides;
        if (strides[outer] != strides[inner] * extent)
            return false;
    }
    return true;
}

/* Collapses the dimensions [first, end) into those from `to` on; returns the end of the result. */
static int collapse_part(struct gsh_group *group, int first, int end, int to)
{
    int kept = to;
    for (int d = first; d < end; d++) {
        if (group->shape[d] == 1)
            continue;
        int64_t extent = group->shape[d];
        move_dim(group, kept, d);
        if (kept > to && steps_as_one(group, kept - 1, kept)) {
            extent *= group->shape[kept - 1];
            move_dim(group, kept - 1, kept);
            group->shape[--kept] = extent;
        }
        kept++;
    }
    return kept;
}

void gsh_group_collapse(struct gsh_group *group)
{
    int first_reduced = group->ndim - group->nreduce;
    int kept = collapse_part(group, 0, first_reduced, 0);
    int end = collapse_part(group, first_reduced, group->ndim, kept);
    group->ndim = end;
    group->nreduce = end - kept;
}

static struct gsh_group_input add_array(struct gsh_group *group, const struct gsh_launch *launch,
                                        unsigned k)
{
    struct gsh_group_array *array = &group->arrays[group->array_count];
    array->dtype = launch->operands[k].dtype;
    array->address = launch->operands[k].address;
    memcpy(array->strides, launch->strides[k], sizeof array->strides);
    return (struct gsh_group_input){GSH_FROM_ARRAY, (uint8_t)group->array_count++, 0};
}

static struct gsh_group_input add_operand(struct gsh_group *group, const struct gsh_launch *launch,
                                          unsigned k)
{
    const struct gsh_operand *operand = &launch->operands[k];
    if (!operand->is_constant)
        return add_array(group, launch, k);
    group->constants[group->constant_count] =
        (struct gsh_group_constant){operand->dtype, operand->constant};
    return (struct gsh_group_input){GSH_FROM_CONSTANT, (uint8_t)group->constant_count++, 0};
}

static struct gsh_group_input add_index(struct gsh_group *group)
{
    struct gsh_group_array *array = &group->arrays[group->array_count];
    int64_t weight = 1;
    array->dtype = GSH_INT64;
    array->is_index = true;
    for (int d = group->ndim - 1; d >= 0; weight *= group->shape[d--])
        array->strides[d] = weight;
    return (struct gsh_group_input){GSH_FROM_ARRAY, (uint8_t)group->array_count++, 0};
}

static void add_step(struct gsh_group *group, const struct gsh_launch *launch)
{
    struct gsh_group_step *step = &group->steps[group->step_count++];
    unsigned outs = launch->nin, mask = launch->nin + launch->nout;
    step->op = launch->op;
    step->loop = launch->loop;
    step->errors = launch->errors;
    for (unsigned k = 0; k < launch->nin; k++)
        step->in[k] = add_operand(group, launch, k);
    if ((gsh_op_info(launch->op)->flags & GSH_USES_INDEX) != 0)
        step->index = add_index(group);
    if (launch->has_mask)
        step->mask = add_array(group, launch, mask);
    for (unsigned k = 0; k < launch->nout; k++) {
        step->out[k] = launch->operands[outs + k].dtype;
        if (launch->has_mask)
            step->old[k] = add_array(group, launch, outs + k);
        group->stores[group->store_count++] = (struct gsh_group_store){
            {GSH_FROM_STEP, 0, (uint8_t)k}, add_array(group, launch, outs + k).index};
    }
}

struct gsh_launch gsh_group_sink_launch(const struct gsh_group *group,
                                        const struct gsh_group_sink *sink)
{
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
    size_t bytes = (size_t)group->ndim * sizeof(int64_t);
    launch.operands[0].dtype = gsh_group_dtype(group, sink->in);
    launch.operands[1] = (struct gsh_operand){.dtype = out->dtype, .address = out->address};
    launch.operands[2].dtype = GSH_BOOL;
    memcpy(launch.shape, group->shape, bytes);
    memcpy(launch.strides[0], sink->strides, bytes);
    memcpy(launch.strides[1], out->strides, bytes);
    memcpy(launch.strides[2],
           sink->mask.source == GSH_FROM_ARRAY ? group->arrays[sink->mask.index].strides
                                               : sink->strides,
           bytes);
    return launch;
}

static void add_sink(struct gsh_group *group, const struct gsh_launch *launch)
{
    struct gsh_group_sink *sink = &group->sinks[group->sink_count++];
    group->nreduce = launch->nreduce;
    sink->reduction = launch->reduction;
    sink->loop = launch->loop;
    sink->errors = launch->errors;
    sink->has_initial = launch->has_initial;
    sink->initial = launch->initial;
    sink->in = add_operand(group, launch, 0);
    memcpy(sink->strides, launch->strides[0], sizeof sink->strides);
    sink->array = add_array(group, launch, 1).index;
    if (launch->has_mask)
        sink->mask = add_array(group, launch, 2);
}

bool gsh_group_of_launch(struct gsh_group *group, const struct gsh_launch *launch)
{
    if (!gsh_launch_has(launch, GSH_TRAIT_FUSES))
        return false;
    memset(group, 0, sizeof *group);
    group->ndim = launch->ndim;
    memcpy(group->shape, launch->shape, sizeof group->shape);
    if (gsh_launch_has(launch, GSH_TRAIT_MAPS))
        add_step(group, launch);
    else
        add_sink(group, launch);
    return true;
}
