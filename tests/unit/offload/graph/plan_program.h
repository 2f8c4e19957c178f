/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs for the tests of the planner: nodes over values whose bytes are in host memory, with views as NumPy makes
 * them, run node by node or by plan.
 */
#pragma once

#include "check.h"
#include "group_reference.h"
#include "plan.h"

#include <stdlib.h>

#define PROGRAM_VALUES 160
#define PROGRAM_DIMS 4

/* An operand: a view of a value, or a constant. */
struct view {
    int value; /* < 0: `constant` */
    enum gsh_dtype dtype;
    union gsh_scalar constant;
    int64_t offset; /* bytes */
    int ndim;
    int64_t shape[PROGRAM_DIMS], strides[PROGRAM_DIMS];
};

struct program {
    unsigned node_count, value_count;
    struct gsh_node nodes[GSH_PLAN_NODES];
    struct gsh_value
        values[PROGRAM_VALUES]; /* addresses stay 0: bytes are handed to what runs it */
    uint64_t claims[GSH_PLAN_NODES][GSH_ERROR_KINDS];
    struct gsh_errors_found found;
};

struct plan_counts {
    unsigned items, groups, alone, steps, stores, loads, sinks;
    unsigned predicated; /* nodes in groups that are COMPRESS or EXPAND outside */
    unsigned again;      /* nodes in items that are in a later one too */
};

/* ---- views ---- */

static inline struct view view_whole(int value, enum gsh_dtype dtype, int ndim,
                                     const int64_t *shape)
{
    struct view view = {.value = value, .dtype = dtype, .ndim = ndim};
    int64_t step = (int64_t)gsh_dtype_size(dtype);
    for (int d = ndim - 1; d >= 0; d--) {
        view.shape[d] = shape[d];
        view.strides[d] = step;
        step *= shape[d];
    }
    return view;
}

#define SHAPE(...)                                                                                 \
    (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[])             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static inline struct view view_constant(double number)
{
    return (struct view){.value = -1, .dtype = GSH_FLOAT64, .constant = {.f64 = number}};
}

static inline struct view view_transposed(struct view view)
{
    struct view result = view;
    for (int d = 0; d < view.ndim; d++) {
        result.shape[d] = view.shape[view.ndim - 1 - d];
        result.strides[d] = view.strides[view.ndim - 1 - d];
    }
    return result;
}

/* [start:stop:step] along dimension d; step < 0 takes the same elements backwards. */
static inline struct view view_sliced(struct view view, int d, int64_t start, int64_t stop,
                                      int64_t step)
{
    int64_t extent = (stop - start + gsh_launch_step(step) - 1) / gsh_launch_step(step);
    view.offset += start * view.strides[d];
    if (step < 0)
        view.offset += (extent - 1) * -step * view.strides[d];
    view.shape[d] = extent;
    view.strides[d] *= step;
    return view;
}

/* With a dimension in front along which nothing moves. */
static inline struct view view_broadcast(struct view view, int64_t extent)
{
    for (int d = view.ndim; d > 0; d--) {
        view.shape[d] = view.shape[d - 1];
        view.strides[d] = view.strides[d - 1];
    }
    view.shape[0] = extent;
    view.strides[0] = 0;
    view.ndim++;
    return view;
}

/* ---- programs ---- */

static inline int program_value(struct program *program, size_t size)
{
    int index = (int)program->value_count++;
    program->values[index] = (struct gsh_value){.references = 0, .size = gsh_round_up(size, 256)};
    return index;
}

static inline void program_want(struct program *program, int value)
{
    program->values[value].references++;
}

static inline void program_put_operand(struct program *program, struct gsh_node *node, unsigned k,
                                       const struct view *view)
{
    struct gsh_launch *launch = &node->launch;
    launch->operands[k].dtype = view->dtype;
    launch->operands[k].is_constant = view->value < 0;
    launch->operands[k].constant = view->constant;
    launch->operands[k].address = (uint64_t)view->offset;
    for (int d = 0; view->value >= 0 && d < view->ndim; d++)
        launch->strides[k][d] = view->strides[d];
    if (view->value < 0)
        return;
    node->values[k] = &program->values[view->value];
    node->values[k]->references++;
    node->values[k]->pending++;
}

static inline struct gsh_node *program_node(struct program *program, const struct view *space)
{
    struct gsh_node *node = &program->nodes[program->node_count++];
    *node = (struct gsh_node){.row = program->node_count, .launch = {.ndim = space->ndim}};
    memcpy(node->launch.shape, space->shape, sizeof space->shape);
    return node;
}

/* out = op(in ...), where the mask is true if there is one. */
static inline struct gsh_node *program_op(struct program *program, enum gsh_op op,
                                          enum gsh_dtype loop, const struct view *in,
                                          const struct view *out, const struct view *mask)
{
    struct gsh_node *node = program_node(program, &out[0]);
    struct gsh_launch *launch = &node->launch;
    launch->kind = GSH_LAUNCH_ELEMENTWISE;
    launch->op = op;
    launch->loop = loop;
    launch->nin = gsh_op_info(op)->nin;
    launch->nout = gsh_op_info(op)->nout;
    launch->has_mask = mask != NULL;
    for (unsigned k = 0; k < launch->nin; k++)
        program_put_operand(program, node, k, &in[k]);
    for (unsigned j = 0; j < launch->nout; j++)
        program_put_operand(program, node, launch->nin + j, &out[j]);
    if (mask != NULL)
        program_put_operand(program, node, launch->nin + launch->nout, mask);
    return node;
}

/* The last `nreduce` dimensions of `in` reduced to `out`, which has the others. */
static inline struct gsh_node *program_reduce(struct program *program, enum gsh_reduction reduction,
                                              struct view in, struct view out, int nreduce)
{
    struct gsh_node *node = program_node(program, &in);
    struct gsh_launch *launch = &node->launch;
    launch->kind = GSH_LAUNCH_REDUCE;
    launch->reduction = reduction;
    launch->loop = in.dtype;
    launch->nin = launch->nout = 1;
    launch->nreduce = nreduce;
    program_put_operand(program, node, 0, &in);
    program_put_operand(program, node, 1, &out);
    return node;
}

/* The elements of `in` where the mask is true, `count` of them, to `out`; or those of `in` to where it is true in `out`. */
static inline struct gsh_node *program_select(struct program *program, enum gsh_launch_kind kind,
                                              struct view in, struct view out, struct view mask)
{
    struct gsh_node *node = program_node(program, &mask);
    struct gsh_launch *launch = &node->launch;
    unsigned counted = kind == GSH_LAUNCH_COMPRESS;
    struct view *of = counted ? &out : &in;
    launch->kind = kind;
    launch->op = GSH_OP_COPY;
    launch->loop = out.dtype;
    launch->nin = launch->nout = 1;
    launch->has_mask = true;
    launch->indexed = (struct gsh_indexed){of->strides[0], of->shape[0]};
    of->ndim = 0;
    program_put_operand(program, node, 0, &in);
    program_put_operand(program, node, 1, &out);
    program_put_operand(program, node, 2, &mask);
    return node;
}

static inline void program_check_errors(struct program *program, struct gsh_node *node)
{
    ptrdiff_t n = node - program->nodes;
    node->launch.errors = (struct gsh_error_sink){.claims = (uintptr_t)program->claims[n],
                                                  .found = (uintptr_t)&program->found,
                                                  .sequence = (uint64_t)n + 1};
}

/* The node's launch on these bytes. */
static inline enum gsh_status program_run_node(const struct program *program, unsigned n,
                                               char *const *bytes)
{
    const struct gsh_node *node = &program->nodes[n];
    struct gsh_launch launch = node->launch;
    for (unsigned k = 0; k < gsh_launch_operands(&launch); k++)
        if (node->values[k] != NULL)
            launch.operands[k].address += (uintptr_t)bytes[node->values[k] - program->values];
    gsh_launch_collapse(&launch);
    return gsh_host_ops_run(&launch);
}

static inline bool program_group_stores(const struct gsh_group *group, unsigned array)
{
    return group_reference_is_stored(group, array);
}

static inline void program_count_group(const struct gsh_group *group, struct plan_counts *counts)
{
    counts->groups++;
    counts->steps += group->step_count;
    counts->stores += group->store_count;
    counts->sinks += group->sink_count;
    for (unsigned a = 0; a < group->array_count; a++)
        counts->loads += !program_group_stores(group, a) && !group->arrays[a].is_index;
}

/* What the group's nodes were outside. */
static inline void program_count_nodes(const struct program *program,
                                       const struct gsh_plan_item *item, struct plan_counts *counts)
{
    for (unsigned k = 0; k < item->node_count; k++) {
        enum gsh_launch_kind kind = program->nodes[item->nodes[k]].launch.kind;
        counts->predicated += kind == GSH_LAUNCH_COMPRESS || kind == GSH_LAUNCH_EXPAND;
        counts->again += item->is_again[k];
    }
}

static inline void program_array_range(const struct gsh_group *group, unsigned a, int64_t *low,
                                       int64_t *high)
{
    *low = (int64_t)group->arrays[a].address;
    *high = *low + (int64_t)gsh_dtype_size(group->arrays[a].dtype);
    for (int d = 0; d < group->ndim; d++) {
        int64_t reach = group->arrays[a].strides[d] * (group->shape[d] - 1);
        *(reach < 0 ? low : high) += reach;
    }
}

/* Counts how often a byte of array `a` is marked in `bytes`, which begin at `base`; marks them if `marks`. */
static inline unsigned program_touch_bytes(const struct gsh_group *group, unsigned a, int64_t base,
                                           char *bytes, bool marks)
{
    const struct gsh_group_array *array = &group->arrays[a];
    unsigned met = 0;
    for (int64_t index = 0; index < gsh_group_elements(group); index++) {
        int64_t offset = (int64_t)array->address - base, rest = index;
        for (int d = group->ndim; d-- > 0; rest /= group->shape[d])
            offset += rest % group->shape[d] * array->strides[d];
        for (size_t k = 0; k < gsh_dtype_size(array->dtype); k++) {
            met += bytes[offset + (int64_t)k] != 0;
            bytes[offset + (int64_t)k] |= (char)marks;
        }
    }
    return met;
}

/* Whether two arrays share a byte; all their bytes are in [low, high). */
static inline bool program_share_bytes(const struct gsh_group *group, unsigned a, unsigned b,
                                       int64_t low, int64_t high)
{
    char *bytes = calloc((size_t)(high - low), 1);
    program_touch_bytes(group, a, low, bytes, true);
    bool share = program_touch_bytes(group, b, low, bytes, false) != 0;
    free(bytes);
    return share;
}

/* Arrays a and b of a group, a stored one: they share no byte, or b is read and the same view. */
static inline bool program_pair_is_valid(const struct gsh_plan_item *item, unsigned a, unsigned b)
{
    const struct gsh_group *group = &item->group;
    const struct gsh_group_array *x = &group->arrays[a], *y = &group->arrays[b];
    int64_t x_low, x_high, y_low, y_high;
    if (y->is_index || item->values[a] != item->values[b])
        return true;
    program_array_range(group, a, &x_low, &x_high);
    program_array_range(group, b, &y_low, &y_high);
    if (x_high <= y_low || y_high <= x_low ||
        !program_share_bytes(group, a, b, GSH_MIN(x_low, y_low), GSH_MAX(x_high, y_high)))
        return true;
    return !program_group_stores(group, b) && x->address == y->address &&
           gsh_dtype_size(x->dtype) == gsh_dtype_size(y->dtype) &&
           memcmp(x->strides, y->strides, (size_t)group->ndim * sizeof x->strides[0]) == 0;
}

/* What group.h promises to those who run groups. */
static inline bool program_group_is_valid(const struct gsh_plan_item *item)
{
    const struct gsh_group *group = &item->group;
    for (unsigned a = 0; a < group->array_count; a++)
        for (unsigned b = 0; b < group->array_count && program_group_stores(group, a); b++)
            if (a != b && !program_pair_is_valid(item, a, b))
                return false;
    return group->store_count <= GSH_GROUP_STORES && group->sink_count <= GSH_GROUP_SINKS &&
           group->step_count <= GSH_GROUP_STEPS && group->array_count <= GSH_GROUP_ARRAYS &&
           (group->nreduce > 0) == (group->sink_count > 0);
}

/* What runs a group of host addresses. */
typedef enum gsh_status group_runner(const struct gsh_group *group);

static inline enum gsh_status program_run_nodes(const struct program *program,
                                                const struct gsh_plan_item *item,
                                                char *const *bytes)
{
    for (unsigned k = 0; k < item->node_count; k++)
        if (program_run_node(program, item->nodes[k], bytes) != GSH_OK)
            return GSH_FAILED;
    return GSH_OK;
}

/* A group that is declined runs as its nodes. */
static inline enum gsh_status program_run_item(const struct program *program,
                                               const struct gsh_plan_item *item, char *const *bytes,
                                               group_runner *run)
{
    if (item->node >= 0)
        return program_run_node(program, (unsigned)item->node, bytes);
    struct gsh_group group = item->group;
    for (unsigned a = 0; a < group.array_count; a++)
        if (item->values[a] != NULL)
            group.arrays[a].address += (uintptr_t)bytes[item->values[a] - program->values];
    enum gsh_status status = run(&group);
    return status == GSH_DECLINED ? program_run_nodes(program, item, bytes) : status;
}

/* Plans the program, runs the items on `bytes` unless that is NULL, and counts what it was made of. */
static inline struct plan_counts program_plan(const struct program *program, char *const *bytes,
                                              group_runner *run)
{
    struct plan_counts counts = {0};
    gsh_plan_begin_locked(program->nodes, program->node_count);
    gsh_plan_make();
    for (const struct gsh_plan_item *item; (item = gsh_plan_next()) != NULL; counts.items++) {
        if (item->node >= 0)
            counts.alone++;
        else
            program_count_group(&item->group, &counts);
        if (item->node < 0)
            program_count_nodes(program, item, &counts);
        CHECK(item->node >= 0 || program_group_is_valid(item));
        CHECK(bytes == NULL || program_run_item(program, item, bytes, run) == GSH_OK);
    }
    return counts;
}
