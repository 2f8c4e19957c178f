/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds live bytes and dead nodes: walks backwards through the program with the bytes of each value that are still
 * needed. They are kept as one range, so bytes between two needed ones count as needed too.
 */
#include "plan_internal.h"

static _Atomic bool keeps_results;

void gsh_plan_live_keep_results(bool keeps)
{
    atomic_store_explicit(&keeps_results, keeps, memory_order_relaxed);
}

static bool writes(const struct gsh_node *node, const struct gsh_value *value)
{
    bool is_written = false;
    for (unsigned k = node->launch.nin; k < node->launch.nin + node->launch.nout; k++)
        is_written |= node->values[k] == value;
    return is_written;
}

static void mark_operands(const struct gsh_node *node, bool is_read)
{
    for (unsigned k = 0; k < gsh_launch_operands(&node->launch); k++)
        if (!node->launch.operands[k].is_constant && writes(node, node->values[k]) != is_read)
            node->values[k]->is_read = is_read;
}

/* Notes which values are read by nodes that do not write them. */
static void find_results(const struct gsh_node *nodes, unsigned count)
{
    for (unsigned n = 0; n < count; n++)
        mark_operands(&nodes[n], false);
    for (unsigned n = 0; n < count; n++)
        mark_operands(&nodes[n], true);
}

/* Whether it is computed although nobody may look at it: nothing is made of it. */
static bool is_kept_result(const struct gsh_value *value)
{
    return atomic_load_explicit(&keeps_results, memory_order_relaxed) && !value->is_read &&
           !value->is_retained;
}

static void cut(struct gsh_plan_range *needed, struct gsh_plan_range written)
{
    if (written.low <= needed->low && written.high > needed->low)
        needed->low = written.high;
    else if (written.high >= needed->high && written.low < needed->high)
        needed->high = written.low;
    if (needed->low >= needed->high)
        *needed = (struct gsh_plan_range){0, 0};
}

/* A value that is found to be dead stays so: nothing has it that could give it to another node. */
static bool find_live_out(const struct gsh_value *value)
{
    uint32_t references = atomic_load_explicit(&value->references, memory_order_acquire);
    return value->later != 0 || is_kept_result(value) ||
           (references > value->pending && !value->is_retained);
}

void gsh_plan_live_note_locked(const struct gsh_node *nodes, unsigned count)
{
    if (atomic_load_explicit(&keeps_results, memory_order_relaxed))
        find_results(nodes, count);
    for (unsigned n = 0; n < count; n++)
        for (unsigned k = 0; k < gsh_launch_operands(&nodes[n].launch); k++)
            if (nodes[n].values[k] != NULL)
                nodes[n].values[k]->is_live_out = find_live_out(nodes[n].values[k]);
}

bool gsh_plan_live_is_live_out(const struct gsh_plan_value *value)
{
    return value->value->is_live_out;
}

/* The bytes needed at the end of the program: those that its nodes write of live values. */
static struct gsh_plan_range live_out(const struct gsh_plan_value *value)
{
    return gsh_plan_live_is_live_out(value) ? value->written : (struct gsh_plan_range){0, 0};
}

struct gsh_plan_value *gsh_plan_live_find_value(struct gsh_plan *plan,
                                                const struct gsh_plan_node *node, unsigned operand)
{
    struct gsh_value *value = node->node->values[operand];
    if (value->plan_epoch != plan->epoch) {
        value->plan_epoch = plan->epoch;
        value->plan_slot = plan->value_count++;
        plan->values[value->plan_slot] = (struct gsh_plan_value){.value = value,
                                                                 .reads = GSH_PLAN_NONE,
                                                                 .writes = GSH_PLAN_NONE,
                                                                 .chain = GSH_PLAN_NONE,
                                                                 .last_write = GSH_PLAN_NONE};
    }
    return &plan->values[value->plan_slot];
}

bool gsh_plan_live_is_read(struct gsh_plan *plan, const struct gsh_plan_node *node,
                           unsigned operand)
{
    const struct gsh_launch *launch = &node->node->launch;
    return !gsh_launch_is_output(launch, operand) ||
           (gsh_launch_reads_output(launch) &&
            !gsh_plan_live_find_value(plan, node, operand)->is_contracted);
}

/* Elements of other kinds than these need not lie where the strides say. */
static int64_t find_step(const struct gsh_launch *launch, unsigned k)
{
    int64_t step = gsh_launch_has(launch, GSH_TRAIT_FUSES) ? 0 : 1;
    for (int d = 0; d < launch->ndim; d++)
        if (launch->shape[d] > 1)
            step = gsh_plan_common_step(step, gsh_launch_step(launch->strides[k][d]));
    return step;
}

static void find_ranges(struct gsh_plan *plan, int n)
{
    struct gsh_plan_node *node = &plan->nodes[n];
    const struct gsh_launch *launch = &node->node->launch;
    node->overwrites = 0;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        const struct gsh_operand *operand = &launch->operands[k];
        struct gsh_plan_touch *touch = &plan->touches[k][n];
        struct gsh_plan_range *range = &touch->range;
        int64_t low = 0, high = 0, base = (int64_t)operand->address;
        *range = (struct gsh_plan_range){0, 0};
        if (operand->is_constant)
            continue;
        gsh_launch_extent(launch, k, &low, &high);
        *range = (struct gsh_plan_range){base + low, base + high};
        touch->step = find_step(launch, k);
        touch->width = (int64_t)gsh_dtype_size(operand->dtype);
        if (!gsh_launch_is_output(launch, k))
            continue;
        gsh_plan_extend(&gsh_plan_live_find_value(plan, node, k)->written, *range);
        int64_t size = (int64_t)gsh_dtype_size(operand->dtype);
        if (gsh_launch_output_elements(launch, k) * size == high - low)
            node->overwrites |= (uint8_t)(1U << k);
    }
}

static bool is_needed(struct gsh_plan *plan, int n, unsigned k)
{
    return gsh_plan_overlap(plan->touches[k][n].range,
                            gsh_plan_live_find_value(plan, &plan->nodes[n], k)->needed);
}

static void cut_outputs(struct gsh_plan *plan, int n)
{
    const struct gsh_plan_node *node = &plan->nodes[n];
    const struct gsh_launch *launch = &node->node->launch;
    for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++)
        if ((node->overwrites >> k & 1) != 0)
            cut(&gsh_plan_live_find_value(plan, node, k)->needed, plan->touches[k][n].range);
}

/* Whether operand k of a live node has a value that the node reads. */
static bool reads_value(struct gsh_plan *plan, const struct gsh_plan_node *node, unsigned k)
{
    return !node->node->launch.operands[k].is_constant && gsh_plan_live_is_read(plan, node, k);
}

static void begin_backwards(struct gsh_plan *plan)
{
    for (unsigned slot = 0; slot < plan->value_count; slot++)
        plan->values[slot].needed = live_out(&plan->values[slot]);
}

void gsh_plan_live_find_dead(struct gsh_plan *plan)
{
    for (int n = 0; n < (int)plan->node_count; n++)
        find_ranges(plan, n);
    begin_backwards(plan);
    for (int n = (int)plan->node_count - 1; n >= 0; n--) {
        struct gsh_plan_node *node = &plan->nodes[n];
        const struct gsh_launch *launch = &node->node->launch;
        bool is_live = launch->errors.claims != 0;
        for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++)
            is_live |= is_needed(plan, n, k);
        node->is_dead = !is_live;
        if (!is_live)
            continue;
        cut_outputs(plan, n);
        for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
            if (reads_value(plan, node, k))
                gsh_plan_extend(&gsh_plan_live_find_value(plan, node, k)->needed,
                                plan->touches[k][n].range);
    }
}

/* A value read in the item that wrote it comes from registers. */
static void read_operand(struct gsh_plan *plan, int n, unsigned k)
{
    const struct gsh_plan_node *node = &plan->nodes[n];
    struct gsh_plan_node *writer =
        node->writer[k] == GSH_PLAN_NONE ? NULL : &plan->nodes[node->writer[k] >> 3];
    if (writer != NULL && writer->item == node->item) {
        unsigned j = gsh_plan_access_operand(node->writer[k]) - writer->node->launch.nin;
        writer->last_reader[j] = (int16_t)GSH_MAX(writer->last_reader[j], n);
        return;
    }
    gsh_plan_extend(&gsh_plan_live_find_value(plan, node, k)->needed, plan->touches[k][n].range);
    plan->items[node->item].loads++;
}

void gsh_plan_live_find_stores(struct gsh_plan *plan)
{
    begin_backwards(plan);
    for (int n = (int)plan->node_count - 1; n >= 0; n--) {
        struct gsh_plan_node *node = &plan->nodes[n];
        const struct gsh_launch *launch = &node->node->launch;
        if (node->is_dead)
            continue;
        for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++) {
            node->is_stored[k - launch->nin] = is_needed(plan, n, k);
            plan->items[node->item].stores += node->is_stored[k - launch->nin];
        }
        cut_outputs(plan, n);
        for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
            if (reads_value(plan, node, k))
                read_operand(plan, n, k);
    }
}
