/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs leave the same bytes in all live values, and report the same floating-point errors, whether they
 * run node by node or by plan. Groups run by the CPU's kernels give the same as by a naive interpreter, and as their
 * nodes one by one. GSH_PLAN_ROUNDS and GSH_PLAN_SEED in the environment run more programs, or one.
 */
#include "backend.h"
#include "host_group.h"
#include "plan_program.h"

#include <math.h>

#define ELEMENTS 240 /* of float64, in each value */
#define BYTES (ELEMENTS * 8)
#define RECENT 48

/* Values with a part of their own: the index of what is taken, and masks. */
enum { INDEX = 3, MASK, OTHER_MASK, FIXED_VALUES };

static struct program program;
static struct view recent[RECENT]; /* views to build on */
static unsigned recent_count;
static char first_bytes[PROGRAM_VALUES][BYTES], plain_bytes[PROGRAM_VALUES][BYTES];
static char planned_bytes[PROGRAM_VALUES][BYTES];
static uint64_t plain_claims[GSH_PLAN_NODES][GSH_ERROR_KINDS];
static bool is_selection[PROGRAM_VALUES]; /* of elements by a mask */
static unsigned fused_steps, fused_sinks, predicated_nodes, all_nodes;
static unsigned nodes_again;

static unsigned below(unsigned limit)
{
    return (unsigned)random() % limit;
}

static void remember(struct view view)
{
    recent[recent_count < RECENT ? recent_count++ : below(RECENT)] = view;
}

static struct view random_whole(int value, enum gsh_dtype dtype)
{
    switch (below(5)) {
    case 0:
        return view_whole(value, dtype, SHAPE(12, 20));
    case 1:
        return view_whole(value, dtype, SHAPE(4, 60));
    case 2:
        return view_whole(value, dtype, SHAPE(4, 3, 20));
    case 3:
        return view_whole(value, dtype, SHAPE(20, 1, 12));
    default:
        return view_whole(value, dtype, SHAPE(ELEMENTS));
    }
}

static int64_t view_elements(const struct view *view)
{
    int64_t elements = 1;
    for (int d = 0; d < view->ndim; d++)
        elements *= view->shape[d];
    return elements;
}

static bool is_dense(const struct view *view)
{
    int64_t step = (int64_t)gsh_dtype_size(view->dtype);
    for (int d = view->ndim - 1; d >= 0; d--) {
        if (view->shape[d] != 1 && view->strides[d] != step)
            return false;
        step *= view->shape[d];
    }
    return true;
}

/* Another view of the same value. */
static struct view vary(struct view view)
{
    int d = view.ndim > 0 ? (int)below((unsigned)view.ndim) : 0;
    switch (below(10)) {
    case 0:
        return view_transposed(view);
    case 1:
        return view.ndim > 0 ? view_sliced(view, d, 0, view.shape[d], -1) : view;
    case 2:
        return view.ndim > 0 && view.shape[d] > 2
                   ? view_sliced(view, d, below(2), view.shape[d] - 1 + below(2), 1)
                   : view;
    case 3:
        return view.ndim > 0 && view.shape[d] > 2
                   ? view_sliced(view, d, below(2), view.shape[d], 1 + below(2))
                   : view;
    case 4:
    case 5:
        return is_dense(&view) && view_elements(&view) == ELEMENTS
                   ? random_whole(view.value, view.dtype)
                   : view;
    case 6:
        if (view.dtype == GSH_INT64 && below(2) == 0)
            view.dtype = GSH_UINT64;
        return view;
    default:
        return view;
    }
}

static struct view random_view(void)
{
    return vary(recent[below(recent_count)]);
}

static bool has_shape(const struct view *view, const struct view *space)
{
    if (view->ndim != space->ndim)
        return false;
    return memcmp(view->shape, space->shape, (size_t)view->ndim * sizeof view->shape[0]) == 0;
}

/* An input of the shape of `space`. */
static struct view random_input(const struct view *space)
{
    for (int tries = 0; tries < 20; tries++) {
        struct view view = random_view();
        if (has_shape(&view, space))
            return view;
        if (view.ndim == space->ndim - 1 && below(3) == 0) {
            view = view_broadcast(view, space->shape[0]);
            if (has_shape(&view, space))
                return view;
        }
    }
    static const double numbers[] = {0, 1, 2, -1, 0.5, 0.1, 7};
    return view_constant(numbers[below(7)]);
}

static struct view fresh_view(const struct view *space, enum gsh_dtype dtype)
{
    int value = program_value(&program, BYTES);
    struct view view = view_whole(value, dtype, space->ndim, space->shape);
    if (below(3) == 0) { /* in the order of what it is computed from */
        view =
            view_transposed(view_whole(value, dtype, space->ndim, view_transposed(*space).shape));
    }
    return view;
}

/* Where a node of the shape writes. */
static struct view random_output(const struct view *space, enum gsh_dtype dtype)
{
    if (program.value_count < PROGRAM_VALUES - 4 && below(3) != 0)
        return fresh_view(space, dtype);
    for (int tries = 0; tries < 20; tries++) {
        struct view view = random_view();
        if (has_shape(&view, space) &&
            gsh_dtype_size(view.dtype) * (unsigned)view_elements(&view) <= BYTES)
            return view;
    }
    return fresh_view(space, dtype);
}

/* What dispatch sees to: an output is distinct, and overlaps nothing else of the node but exactly. */
static bool node_is_valid(const struct gsh_node *node)
{
    const struct gsh_launch *launch = &node->launch;
    if (!gsh_launch_output_is_distinct(launch))
        return false;
    for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++)
        for (unsigned j = 0; j < gsh_launch_operands(launch); j++) {
            int64_t low, high, other_low, other_high;
            if (j == k || node->values[j] != node->values[k])
                continue;
            gsh_launch_extent(launch, k, &low, &high);
            gsh_launch_extent(launch, j, &other_low, &other_high);
            int64_t distance = (int64_t)(launch->operands[j].address - launch->operands[k].address);
            if (high <= distance + other_low || distance + other_high <= low)
                continue;
            if (distance != 0 || gsh_launch_is_output(launch, j) || launch->nreduce > 0 ||
                gsh_dtype_size(launch->operands[j].dtype) !=
                    gsh_dtype_size(launch->operands[k].dtype))
                return false;
            for (int d = 0; d < launch->ndim; d++)
                if (launch->shape[d] != 1 && launch->strides[j][d] != launch->strides[k][d])
                    return false;
        }
    return true;
}

/* Takes back the last node, which dispatch would not have made. */
static void drop_node(void)
{
    struct gsh_node *node = &program.nodes[--program.node_count];
    for (unsigned k = 0; k < gsh_launch_operands(&node->launch); k++)
        if (node->values[k] != NULL) {
            node->values[k]->references--;
            node->values[k]->pending--;
        }
}

static bool may_keep(struct gsh_node *node)
{
    if (!node_is_valid(node)) {
        drop_node();
        return false;
    }
    if (below(6) == 0)
        program_check_errors(&program, node);
    return true;
}

static void keep_node(struct gsh_node *node, const struct view *out)
{
    if (!may_keep(node))
        return;
    for (unsigned j = 0; j < node->launch.nout; j++)
        remember(out[j]);
}

struct choice {
    enum gsh_op op;
    enum gsh_dtype loop, out;
};
static const struct choice choices[] = {
    {GSH_OP_ADD, GSH_FLOAT64, GSH_FLOAT64},      {GSH_OP_SUBTRACT, GSH_FLOAT64, GSH_FLOAT64},
    {GSH_OP_MULTIPLY, GSH_FLOAT64, GSH_FLOAT64}, {GSH_OP_MAXIMUM, GSH_FLOAT64, GSH_FLOAT64},
    {GSH_OP_NEGATIVE, GSH_INT64, GSH_INT64},     {GSH_OP_ADD, GSH_INT64, GSH_INT64},
    {GSH_OP_GREATER, GSH_FLOAT64, GSH_BOOL},     {GSH_OP_COPY, GSH_FLOAT64, GSH_FLOAT64},
    {GSH_OP_COPY, GSH_FLOAT32, GSH_FLOAT32},     {GSH_OP_SELECT, GSH_FLOAT64, GSH_FLOAT64},
    {GSH_OP_DIVIDE, GSH_FLOAT64, GSH_FLOAT64},   {GSH_OP_DIVMOD, GSH_INT64, GSH_INT64},
    {GSH_OP_ARANGE, GSH_INT64, GSH_INT64},       {GSH_OP_LOGICAL_NOT, GSH_BOOL, GSH_BOOL},
};

static void add_elementwise(void)
{
    const struct choice *choice = &choices[below(sizeof choices / sizeof choices[0])];
    struct view space = random_view(), in[GSH_MAX_INPUTS], out[GSH_OP_OUTPUTS], mask = {0};
    for (unsigned k = 0; k < gsh_op_info(choice->op)->nin; k++) {
        in[k] = k == 0 ? space : random_input(&space);
        if (choice->op == GSH_OP_ARANGE)
            in[k] = view_constant(k + 3);
    }
    for (unsigned j = 0; j < gsh_op_info(choice->op)->nout; j++)
        out[j] = random_output(&space, choice->out);
    if (below(4) == 0)
        out[0] = space; /* in place */
    bool has_mask = false;
    for (int tries = 0; tries < 3 && !has_mask && below(4) == 0; tries++) {
        mask = random_input(&space);
        has_mask = mask.value >= 0 && mask.dtype == GSH_BOOL;
    }
    keep_node(program_op(&program, choice->op, choice->loop, in, out, has_mask ? &mask : NULL),
              out);
}

static void add_reduction(void)
{
    static const enum gsh_reduction reductions[] = {GSH_REDUCE_SUM, GSH_REDUCE_MAX,
                                                    GSH_REDUCE_ARGMAX};
    struct view in = random_view(), kept;
    enum gsh_reduction reduction = reductions[below(3)];
    if (in.ndim == 0 || in.dtype == GSH_BOOL)
        return;
    int nreduce = 1 + (int)below((unsigned)in.ndim);
    kept = in;
    kept.ndim = in.ndim - nreduce;
    struct view out = random_output(&kept, reduction == GSH_REDUCE_ARGMAX ? GSH_INT64 : in.dtype);
    keep_node(program_reduce(&program, reduction, in, out, nreduce), &out);
}

/* y = g(t, s) where t = f(x) and s = t.sum(-1): all of t is there before s is. */
static void add_normalisation(void)
{
    struct view x = random_view(), row, spread;
    if (x.ndim == 0 || x.dtype != GSH_FLOAT64)
        return;
    struct view in[] = {x, random_input(&x)}, t = random_output(&x, GSH_FLOAT64);
    if (t.dtype != GSH_FLOAT64)
        return;
    keep_node(program_op(&program, choices[below(4)].op, GSH_FLOAT64, in, &t, NULL), &t);
    row = t;
    row.ndim--;
    row = fresh_view(&row, GSH_FLOAT64);
    keep_node(program_reduce(&program, GSH_REDUCE_SUM, t, row, 1), &row);
    if (below(3) == 0)
        add_elementwise();
    spread = t;
    spread.value = row.value;
    spread.offset = row.offset;
    memcpy(spread.strides, row.strides, sizeof row.strides);
    spread.strides[t.ndim - 1] = 0;
    struct view terms[] = {below(4) == 0 ? x : t, spread}, y = random_output(&t, GSH_FLOAT64);
    keep_node(program_op(&program, choices[below(4)].op, GSH_FLOAT64, terms, &y, NULL), &y);
}

/* A node of a kind that is in no group: what out's rows, backwards, hold. */
static void add_take(void)
{
    struct view rows = view_whole((int)below(2), GSH_FLOAT64, SHAPE(ELEMENTS)), index = rows;
    struct view out = fresh_view(&rows, GSH_FLOAT64);
    index.dtype = GSH_INT64;
    index.value = INDEX;
    struct gsh_node *node = program_op(&program, GSH_OP_ADD, GSH_FLOAT64,
                                       (const struct view[]){rows, index}, &out, NULL);
    node->launch.kind = GSH_LAUNCH_TAKE;
    node->launch.op = GSH_OP_COPY;
    node->launch.strides[0][0] = 0;
    node->launch.indexed = (struct gsh_indexed){8, ELEMENTS};
    remember(out);
}

/* ---- selections ---- */

/* Both masks select as many, so that one may be written over by the other. */
static bool is_selected(int value, int k)
{
    return (value == MASK ? k : ELEMENTS - 1 - k) % 7 < 3;
}

static int64_t count_selected(void)
{
    int64_t count = 0;
    for (int k = 0; k < ELEMENTS; k++)
        count += is_selected(MASK, k);
    return count;
}

static struct view new_selection(enum gsh_dtype dtype)
{
    int value = program_value(&program, BYTES);
    is_selection[value] = true;
    return view_whole(value, dtype, SHAPE(count_selected()));
}

static struct view random_mask(const struct view *space)
{
    return view_whole(below(12) == 0 ? OTHER_MASK : MASK, GSH_BOOL, space->ndim, space->shape);
}

/* One of the space, and if there is none after some tries, the space itself. */
static struct view random_like(const struct view *space)
{
    struct view view = random_input(space);
    return view.value >= 0 && view.dtype != GSH_BOOL ? view : *space;
}

static void add_selection(struct view *selection, const struct view *space)
{
    struct view in = random_like(space);
    *selection = new_selection(in.dtype);
    program_select(&program, GSH_LAUNCH_COMPRESS, in, *selection, random_mask(space));
}

/* On what is selected, rarely on something else of as many elements. */
static void add_operation(struct view *selections, unsigned count)
{
    const struct choice *choice = &choices[below(4)];
    struct view in[GSH_MAX_INPUTS], *target = &selections[below(count)];
    for (unsigned k = 0; k < 2; k++)
        in[k] = below(6) == 0 ? view_constant(0.5) : selections[below(count)];
    if (below(15) == 0)
        in[1] = view_whole(0, GSH_FLOAT64, SHAPE(count_selected()));
    if (below(2) == 0)
        *target = new_selection(choice->out);
    if (may_keep(program_op(&program, choice->op, choice->loop, in, target, NULL)) &&
        below(20) == 0)
        remember(*target);
}

static void add_mask_write(void)
{
    struct view from = view_whole(OTHER_MASK, GSH_BOOL, SHAPE(ELEMENTS)), to = from;
    to.value = MASK;
    program_op(&program, GSH_OP_COPY, GSH_BOOL, &from, &to, NULL);
}

/* z[m] = f(z[m], c[m], ...), and what may come between. */
static void add_masked(void)
{
    struct view selections[3], space = random_view();
    if (view_elements(&space) != ELEMENTS || space.ndim == 0 || space.dtype == GSH_BOOL)
        return;
    for (int k = 0; k < 3; k++)
        add_selection(&selections[k], &space);
    for (unsigned k = below(5); k > 0; k--) {
        add_operation(selections, 3);
        if (below(6) == 0)
            add_elementwise();
        if (below(20) == 0)
            add_mask_write();
    }
    for (unsigned k = 1 + below(2); k > 0; k--) {
        struct view out = random_output(&space, below(4) == 0 ? GSH_INT64 : GSH_FLOAT64);
        struct view from = selections[below(3)];
        if (below(20) == 0)
            from = view_sliced(from, 0, 0, from.shape[0], -1);
        struct gsh_node *node =
            program_select(&program, GSH_LAUNCH_EXPAND, from, out, random_mask(&space));
        if (out.dtype == GSH_BOOL || !gsh_launch_is_distinct(&node->launch, 1))
            drop_node();
    }
}

static void make_program(void)
{
    memset(&program, 0, offsetof(struct program, nodes));
    memset(program.claims, 0, sizeof program.claims);
    memset(is_selection, 0, sizeof is_selection);
    recent_count = 0;
    for (int value = 0; value < FIXED_VALUES; value++)
        program_value(&program, BYTES);
    for (int value = 0; value < INDEX; value++) /* nobody else uses the index and the masks */
        remember(random_whole(value, value == 2 ? GSH_INT64 : GSH_FLOAT64));
    unsigned nodes = 1 + below(below(10) == 0 ? 200 : 40);
    for (unsigned n = 0; n < nodes && program.value_count < PROGRAM_VALUES - 16; n++) {
        unsigned kind = below(12);
        if (kind == 0 && below(3) == 0)
            add_take();
        else if (kind == 0)
            add_masked();
        else if (kind == 1 && below(2) == 0)
            add_normalisation();
        else if (kind <= 2)
            add_reduction();
        else
            add_elementwise();
    }
    for (unsigned value = 0; value < program.value_count; value++)
        program.values[value].references += below(is_selection[value] ? 20 : 3) == 0;
}

static void fill_values(void)
{
    for (unsigned value = 0; value < PROGRAM_VALUES; value++)
        for (int k = 0; k < ELEMENTS; k++) {
            double number = (double)random() / 1e9 - 1;
            int64_t integer = random() % 100;
            memcpy(first_bytes[value] + (size_t)k * 8,
                   value == 2 || value == INDEX ? (const void *)&integer : (const void *)&number,
                   8);
        }
    for (int value = MASK; value <= OTHER_MASK; value++)
        for (int k = 0; k < ELEMENTS; k++)
            first_bytes[value][k] = is_selected(value, k);
}

static void run_planned(unsigned seed, group_runner *run)
{
    char *planned[PROGRAM_VALUES];
    for (int value = 0; value < PROGRAM_VALUES; value++)
        planned[value] = planned_bytes[value];
    memcpy(planned_bytes, first_bytes, sizeof first_bytes);
    memset(program.claims, 0, sizeof program.claims);
    struct plan_counts counts = program_plan(&program, planned, run);
    fused_steps += counts.steps;
    fused_sinks += counts.sinks;
    predicated_nodes += counts.predicated;
    nodes_again += counts.again;
    if (!CHECK(memcmp(plain_claims, program.claims, sizeof plain_claims) == 0))
        fprintf(stderr, "seed %u: other errors\n", seed);
    for (unsigned value = 0; value < program.value_count; value++) {
        const struct gsh_value *v = &program.values[value];
        if (v->references > v->pending &&
            !CHECK(memcmp(plain_bytes[value], planned_bytes[value], BYTES) == 0))
            fprintf(stderr, "seed %u: value %u differs\n", seed, value);
    }
}

static void run_plainly(void)
{
    char *plain[PROGRAM_VALUES];
    for (int value = 0; value < PROGRAM_VALUES; value++)
        plain[value] = plain_bytes[value];
    memcpy(plain_bytes, first_bytes, sizeof first_bytes);
    for (unsigned n = 0; n < program.node_count; n++)
        CHECK(program_run_node(&program, n, plain) == GSH_OK);
    memcpy(plain_claims, program.claims, sizeof plain_claims);
    all_nodes += program.node_count;
}

static enum gsh_status run_sometimes(const struct gsh_group *group)
{
    return below(2) == 0 ? GSH_DECLINED : group_reference_run(group);
}

/* A device on which all that can be computed again is. */
static void make_memory_slow(void)
{
    static const struct gsh_rates rates = {.device_memory = 1, .device_cores = 1e30};
    static const struct gsh_backend backend = {.rates = &rates};
    gsh_backend_replace(&backend);
}

static unsigned from_environment(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

int main(void)
{
    unsigned first = from_environment("GSH_PLAN_SEED", 1);
    make_memory_slow();
    unsigned rounds = from_environment("GSH_PLAN_ROUNDS", 1500);
    for (unsigned seed = first; seed < first + rounds; seed++) {
        srandom(seed);
        make_program();
        fill_values();
        run_plainly();
        run_planned(seed, group_reference_run);
        run_planned(seed, gsh_host_group_run);
        run_planned(seed, run_sometimes);
    }
    printf("%u nodes, %u steps and %u sinks in groups, %u nodes predicated, %u again\n", all_nodes,
           fused_steps, fused_sinks, predicated_nodes, nodes_again);
    CHECK(rounds < 100 || (fused_steps * 5 > all_nodes && fused_sinks > 0 &&
                           predicated_nodes * 100 > all_nodes && nodes_again > 0));
    return check_result();
}
