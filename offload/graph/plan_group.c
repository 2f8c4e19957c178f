/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the nodes of an item as a group. Where a limit of group.h is reached, the rest of the item, in program
 * order, becomes the next group, and values that it needs are stored.
 */
#include "plan_internal.h"

#include <string.h>

struct writing {
    struct gsh_plan *plan;
    const struct gsh_plan_set *item;
    struct gsh_plan_item *out;
    int order[GSH_MAX_DIMS]; /* the item's dimensions, in the order of the group's */
    uint16_t part;
    uint32_t stored; /* bit a: array a is written */
    bool is_full;
    uint16_t nodes[GSH_PLAN_ITEM_NODES]; /* their numbers in the plan */
};

static const struct gsh_group_input nothing = {.source = GSH_FROM_NOTHING};

static struct gsh_group_input from_array(int index)
{
    return (struct gsh_group_input){.source = GSH_FROM_ARRAY, .index = (uint8_t)index};
}

/* ---- arrays and constants ---- */

static bool is_equal_array(const struct writing *work, unsigned a, const struct gsh_value *value,
                           const struct gsh_group_array *array)
{
    const struct gsh_group_array *other = &work->out->group.arrays[a];
    return work->out->values[a] == value && other->address == array->address &&
           memcmp(other->strides, array->strides,
                  (size_t)work->item->ndim * sizeof array->strides[0]) == 0;
}

/* The entry of an array that is only read, or only written. Entries that are read differ by dtype. Two written arrays
 * may have different dtypes and the same bytes. */
static int find_array(struct writing *work, struct gsh_value *value,
                      const struct gsh_group_array *array, bool is_stored)
{
    struct gsh_group *group = &work->out->group;
    for (unsigned a = 0; a < group->array_count; a++)
        if ((work->stored >> a & 1) == is_stored &&
            (is_stored || group->arrays[a].dtype == array->dtype) &&
            is_equal_array(work, a, value, array))
            return (int)a;
    return GSH_PLAN_NONE;
}

static int add_array(struct writing *work, struct gsh_value *value,
                     const struct gsh_group_array *array, bool is_stored)
{
    struct gsh_group *group = &work->out->group;
    int found = find_array(work, value, array, is_stored);
    if (found != GSH_PLAN_NONE)
        return found;
    if (group->array_count == GSH_GROUP_ARRAYS) {
        work->is_full = true;
        return 0;
    }
    unsigned a = group->array_count++;
    group->arrays[a] = *array;
    work->out->values[a] = value;
    work->stored |= (uint32_t)is_stored << a;
    return (int)a;
}

static struct gsh_group_array make_array(const struct writing *work,
                                         const struct gsh_plan_node *node, unsigned k)
{
    struct gsh_group_array array;
    array.dtype = node->node->launch.operands[k].dtype;
    array.is_index = false;
    array.address = (uint64_t)gsh_plan_space_offset(work->item, node, k);
    for (int d = 0; d < work->item->ndim; d++)
        array.strides[d] = gsh_plan_space_stride(node, k, work->order[d]);
    return array;
}

static struct gsh_group_input add_index(struct writing *work, const struct gsh_plan_node *node)
{
    struct gsh_group_array array;
    array.dtype = GSH_INT64;
    array.is_index = true;
    array.address = (uint64_t)gsh_plan_space_index_offset(work->item, node);
    for (int d = 0; d < work->item->ndim; d++)
        array.strides[d] = gsh_plan_space_index_stride(node, work->order[d]);
    return from_array(add_array(work, NULL, &array, false));
}

static struct gsh_group_input add_constant(struct writing *work, const struct gsh_operand *operand)
{
    struct gsh_group *group = &work->out->group;
    struct gsh_group_input input = {.source = GSH_FROM_CONSTANT};
    for (; input.index < group->constant_count; input.index++) {
        const struct gsh_group_constant *other = &group->constants[input.index];
        if (other->dtype == operand->dtype &&
            memcmp(&other->value, &operand->constant, gsh_dtype_size(operand->dtype)) == 0)
            return input;
    }
    if (group->constant_count == GSH_GROUP_CONSTANTS) {
        work->is_full = true;
        return nothing;
    }
    group->constants[group->constant_count++] =
        (struct gsh_group_constant){operand->dtype, operand->constant};
    return input;
}

/* The source of the node's operand k. */
static struct gsh_group_input add_input(struct writing *work, const struct gsh_plan_node *node,
                                        unsigned k)
{
    const struct gsh_operand *operand = &node->node->launch.operands[k];
    if (operand->is_constant)
        return add_constant(work, operand);
    if (node->writer[k] != GSH_PLAN_NONE) {
        const struct gsh_plan_node *writer =
            &work->plan->nodes[gsh_plan_access_node(node->writer[k])];
        unsigned output = gsh_plan_access_operand(node->writer[k]) - writer->node->launch.nin;
        if (writer->part == work->part)
            return (struct gsh_group_input){GSH_FROM_STEP, writer->step, (uint8_t)output};
    }
    struct gsh_group_array array = make_array(work, node, k);
    return from_array(add_array(work, node->node->values[k], &array, false));
}

/* The source of output j of a masked node for elements whose mask is false. */
static struct gsh_group_input add_old(struct writing *work, const struct gsh_plan_node *node,
                                      unsigned j)
{
    unsigned k = node->node->launch.nin + j;
    if (!gsh_plan_live_find_value(work->plan, node, k)->is_contracted)
        return add_input(work, node, k);
    const struct gsh_operand zero = {.dtype = node->node->launch.operands[k].dtype};
    return add_constant(work, &zero);
}

/* ---- steps, sinks, stores ---- */

static void add_step(struct writing *work, struct gsh_plan_node *node)
{
    struct gsh_group *group = &work->out->group;
    const struct gsh_launch *launch = &node->node->launch;
    if (group->step_count == GSH_GROUP_STEPS) {
        work->is_full = true;
        return;
    }
    struct gsh_group_step *step = &group->steps[group->step_count];
    step->op = launch->op;
    step->loop = launch->loop;
    step->errors = launch->errors;
    for (unsigned k = 0; k < GSH_MAX_INPUTS; k++)
        step->in[k] = k < launch->nin ? add_input(work, node, k) : nothing;
    bool uses_index = (gsh_op_info(launch->op)->flags & GSH_USES_INDEX) != 0;
    step->index = uses_index ? add_index(work, node) : nothing;
    step->mask = launch->has_mask ? add_input(work, node, launch->nin + launch->nout) : nothing;
    for (unsigned j = 0; j < GSH_OP_OUTPUTS; j++) {
        bool is_there = j < launch->nout;
        step->out[j] = is_there ? launch->operands[launch->nin + j].dtype : GSH_BOOL;
        step->old[j] = is_there && launch->has_mask ? add_old(work, node, j) : nothing;
    }
    node->step = (uint8_t)group->step_count++;
}

static void add_sink(struct writing *work, const struct gsh_plan_node *node)
{
    struct gsh_group *group = &work->out->group;
    const struct gsh_launch *launch = &node->node->launch;
    if (group->sink_count == GSH_GROUP_SINKS) {
        work->is_full = true;
        return;
    }
    struct gsh_group_sink *sink = &group->sinks[group->sink_count++];
    struct gsh_group_array array = make_array(work, node, 1);
    sink->reduction = launch->reduction;
    sink->loop = launch->loop;
    sink->in = add_input(work, node, 0);
    sink->mask = launch->has_mask ? add_input(work, node, 2) : nothing;
    for (int d = 0; d < work->item->ndim; d++)
        sink->strides[d] = gsh_plan_space_stride(node, 0, work->order[d]);
    sink->array = (uint8_t)add_array(work, node->node->values[1], &array, true);
    sink->has_initial = launch->has_initial;
    sink->initial = launch->initial;
    sink->errors = launch->errors;
}

/* Stores output j, unless a later node of the group has overwritten it. */
static void add_store(struct writing *work, const struct gsh_plan_node *node, unsigned j)
{
    struct gsh_group *group = &work->out->group;
    unsigned k = node->node->launch.nin + j;
    struct gsh_group_array array = make_array(work, node, k);
    if (find_array(work, node->node->values[k], &array, true) != GSH_PLAN_NONE)
        return;
    if (group->store_count == GSH_GROUP_STORES) {
        work->is_full = true;
        return;
    }
    int a = add_array(work, node->node->values[k], &array, true);
    group->stores[group->store_count++] =
        (struct gsh_group_store){{GSH_FROM_STEP, node->step, (uint8_t)j}, (uint8_t)a};
}

/* Adds the stores of all nodes, from the last to the first. */
static void add_stores(struct writing *work)
{
    const struct gsh_plan_item *out = work->out;
    unsigned last = out->node_count > 0 ? work->nodes[out->node_count - 1] : 0;
    for (unsigned k = out->node_count; k > 0; k--) {
        const struct gsh_plan_node *node = &work->plan->nodes[work->nodes[k - 1]];
        for (unsigned j = 0; j < node->node->launch.nout && !gsh_plan_is_sink(node); j++)
            if (node->is_stored[j] || node->last_reader[j] > (int)last)
                add_store(work, node, j);
    }
}

/* ---- groups ---- */

/* Orders dimensions by the first stored output; with sinks, keeps the item's order. */
static void find_order(struct writing *work, int first)
{
    const struct gsh_plan_set *item = work->item;
    const struct gsh_plan_node *nodes = work->plan->nodes, *node = &nodes[first];
    for (int n = first; n != GSH_PLAN_NONE && !node->is_stored[0]; n = nodes[n].next)
        node = &nodes[n];
    for (int d = 0; d < item->ndim; d++) {
        int place = d;
        if (item->kept == GSH_PLAN_NONE) {
            int64_t step = gsh_launch_step(gsh_plan_space_stride(node, node->node->launch.nin, d));
            for (; place > 0 && gsh_launch_step(gsh_plan_space_stride(
                                    node, node->node->launch.nin, work->order[place - 1])) < step;
                 place--)
                work->order[place] = work->order[place - 1];
        }
        work->order[place] = d;
    }
}

static void begin(struct writing *work)
{
    static uint16_t parts;
    struct gsh_group *group = &work->out->group;
    if (++parts == 0)
        parts = 1;
    work->part = parts;
    work->stored = 0;
    work->is_full = false;
    work->out->node_count = 0;
    group->array_count = group->constant_count = 0;
    group->step_count = group->store_count = group->sink_count = 0;
    group->ndim = work->item->ndim;
    for (int d = 0; d < group->ndim; d++)
        group->shape[d] = work->item->shape[work->order[d]];
}

/* Writes up to `limit` nodes. False where one of them did not fit. */
static bool write_nodes(struct writing *work, int first, unsigned limit)
{
    begin(work);
    for (int n = first; n != GSH_PLAN_NONE && work->out->node_count < limit;) {
        struct gsh_plan_node *node = &work->plan->nodes[n];
        if (gsh_plan_is_sink(node))
            add_sink(work, node);
        else
            add_step(work, node);
        if (work->is_full)
            return false;
        node->part = work->part;
        work->nodes[work->out->node_count] = (uint16_t)n;
        work->out->nodes[work->out->node_count++] = node->origin;
        n = node->next;
    }
    work->out->group.nreduce =
        work->out->group.sink_count > 0 ? work->item->ndim - work->item->kept : 0;
    add_stores(work);
    return !work->is_full;
}

int gsh_plan_group_write(struct gsh_plan *plan, int first, struct gsh_plan_item *out)
{
    struct writing work; /* large: not initialised */
    const struct gsh_plan_node *node = &plan->nodes[first];
    work.plan = plan;
    work.item = &plan->items[node->item];
    work.out = out;
    out->row = node->node->row;
    if (node->is_fusable && node->next != GSH_PLAN_NONE) {
        find_order(&work, first);
        unsigned limit = GSH_PLAN_ITEM_NODES;
        while (!write_nodes(&work, first, limit))
            limit = GSH_MAX(GSH_MIN(out->node_count, limit - 1), 1);
        if (out->node_count > 1) {
            out->node = GSH_PLAN_NONE;
            gsh_group_collapse(&out->group);
            return plan->nodes[work.nodes[out->node_count - 1]].next;
        }
    }
    out->node = out->nodes[0] = node->origin;
    out->node_count = 1;
    return node->next;
}
