/* SPDX-License-Identifier: Apache-2.0
 *
 * See group_split.h. The entry of a sink's output among the group's arrays is free in the group without sinks: it becomes the
 * sink's scratch array.
 */
#include "group_split.h"

#include <string.h>

#define SCRATCH_UNIT 256 /* bytes; each scratch array begins at a multiple */
#define MAX_GAPS 2       /* a scratch array has at most as many times the bytes of its elements */
#define NO_ARRAY (-1)

static bool has_strides(const struct gsh_group *group, unsigned array, const int64_t *strides)
{
    return memcmp(group->arrays[array].strides, strides, (size_t)group->ndim * sizeof(*strides)) ==
           0;
}

static bool is_same_input(struct gsh_group_input a, struct gsh_group_input b)
{
    return a.source == b.source && a.index == b.index && a.output == b.output;
}

/* Whether a store overwrites what was read. */
static bool is_overwritten(const struct gsh_group *group, unsigned array)
{
    for (unsigned k = 0; k < group->store_count; k++)
        if (group->arrays[group->stores[k].array].address == group->arrays[array].address)
            return true;
    return false;
}

/* Whether the input is an array that still holds its elements when the group has run. */
static bool is_kept(const struct gsh_group *group, struct gsh_group_input input)
{
    return input.source == GSH_FROM_ARRAY && !group->arrays[input.index].is_index &&
           !is_overwritten(group, input.index);
}

/* The array of the group that holds what the sink reduces, with its strides; NO_ARRAY. */
static int find_array(const struct gsh_group *group, const struct gsh_group_sink *sink)
{
    if (is_kept(group, sink->in) && has_strides(group, sink->in.index, sink->strides))
        return sink->in.index;
    for (unsigned k = 0; k < group->store_count; k++)
        if (is_same_input(group->stores[k].from, sink->in) &&
            has_strides(group, group->stores[k].array, sink->strides))
            return group->stores[k].array;
    return NO_ARRAY;
}

/* The bytes from the lowest to the highest that an array with the sink's strides touches; *low: of these below its first
 * element. */
static size_t extent_of(const struct gsh_group *group, const struct gsh_group_sink *sink,
                        int64_t *low)
{
    int64_t high = (int64_t)gsh_dtype_size(gsh_group_dtype(group, sink->in));
    *low = 0;
    for (int d = 0; d < group->ndim; d++) {
        int64_t reach = sink->strides[d] * (group->shape[d] - 1);
        *(reach < 0 ? low : &high) += reach < 0 ? -reach : reach;
    }
    return (size_t)(*low + high);
}

static size_t scratch_of(const struct gsh_group *group, const struct gsh_group_sink *sink)
{
    int64_t low;
    size_t extent = extent_of(group, sink, &low),
           dense =
               (size_t)gsh_group_elements(group) * gsh_dtype_size(gsh_group_dtype(group, sink->in));
    bool has_mask = sink->mask.source != GSH_FROM_NOTHING;
    if ((has_mask && !is_kept(group, sink->mask)) || gsh_group_elements(group) == 0)
        return SIZE_MAX;
    if (find_array(group, sink) != NO_ARRAY)
        return 0;
    if (sink->in.source != GSH_FROM_STEP || extent < dense || extent > MAX_GAPS * dense)
        return SIZE_MAX;
    return (extent + SCRATCH_UNIT - 1) / SCRATCH_UNIT * SCRATCH_UNIT;
}

size_t gsh_group_split_scratch(const struct gsh_group *group)
{
    size_t bytes = 0;
    unsigned stores = group->store_count;
    for (unsigned k = 0; k < group->sink_count; k++) {
        size_t more = scratch_of(group, &group->sinks[k]);
        stores += more > 0;
        if (more == SIZE_MAX || stores > GSH_GROUP_STORES)
            return SIZE_MAX;
        bytes += more;
    }
    return bytes;
}

/* Has the group store what the sink reduces. */
static void add_store(const struct gsh_group *group, const struct gsh_group_sink *sink,
                      uint64_t scratch, struct gsh_group *rest)
{
    struct gsh_group_array *array = &rest->arrays[sink->array];
    int64_t low;
    (void)extent_of(group, sink, &low);
    array->dtype = gsh_group_dtype(group, sink->in);
    array->address = scratch + (uint64_t)low;
    memcpy(array->strides, sink->strides, sizeof(array->strides));
    rest->stores[rest->store_count++] = (struct gsh_group_store){sink->in, sink->array};
}

void gsh_group_split_make(const struct gsh_group *group, uint64_t scratch, struct gsh_group *rest,
                          struct gsh_launch launches[GSH_GROUP_SINKS])
{
    *rest = *group;
    rest->sink_count = 0;
    rest->nreduce = 0;
    for (unsigned k = 0; k < group->sink_count; k++) {
        const struct gsh_group_sink *sink = &group->sinks[k];
        int array = find_array(group, sink);
        launches[k] = gsh_group_sink_launch(group, sink);
        if (launches[k].has_mask)
            launches[k].operands[2].address = group->arrays[sink->mask.index].address;
        if (array == NO_ARRAY) {
            add_store(group, sink, scratch, rest);
            scratch += scratch_of(group, sink);
            array = sink->array;
        }
        launches[k].operands[0].address = rest->arrays[array].address;
    }
}
