/* SPDX-License-Identifier: Apache-2.0
 *
 * The batch in pieces (node_iterations.h), each piece in items (plan.h). An item runs as a group. Where the device does not take it,
 * and where it is one node, its nodes run one by one; what the device refuses then, the host computes.
 */
#include "node_batch.h"

#include "backend.h"
#include "expiring.h"
#include "line_profile.h"
#include "log.h"
#include "node.h"
#include "node_fallback.h"
#include "node_group_row.h"
#include "node_iterations.h"
#include "node_reuse.h"
#include "nvtx.h"
#include "plan.h"
#include "stats.h"
#include "trace.h"

#define SPLIT_SHARE 2 /* running a group's nodes one by one may take half of the free memory */

/* The step that was prepared last. */
enum step {
    NONE,  /* there is no batch */
    BEGUN, /* no step yet */
    PLAN,  /* of a piece */
    GROUP, /* the item as a group */
    ALONE, /* node `index` of the item */
};

static struct {
    enum step step;
    struct gsh_node *nodes;
    unsigned first, end;    /* the piece */
    unsigned piece, pieces; /* its number, and how many there are */
    uint16_t ends[GSH_NODE_LIMIT];
    struct gsh_node *planned; /* the piece's first node */
    const struct gsh_plan_item *item;
    struct {
        struct gsh_group group; /* with device addresses */
        struct gsh_node_reuse reuse;
    } attempt;                /* to run the item as one group */
    unsigned index;           /* of the item's nodes */
    struct gsh_launch launch; /* of that node, with device addresses */
    unsigned row;
    enum gsh_status outcome; /* of GROUP and ALONE */
} batch;

/* Adds `sign` to the counts of later references of the values that the nodes use. */
static void count_later(const struct gsh_node *nodes, unsigned count, int sign)
{
    for (unsigned index = 0; index < count; index++)
        for (unsigned k = 0; k < gsh_launch_operands(&nodes[index].launch); k++)
            if (nodes[index].values[k] != NULL)
                nodes[index].values[k]->later += (uint32_t)sign;
}

/* ---- where operands are ---- */

/* Gives the value device memory. FAILED: there is none, or the bytes to be read are lost. */
static enum gsh_status prepare_value(struct gsh_value *value, bool is_read, bool is_written)
{
    if (is_read && value->is_poisoned)
        return GSH_FAILED;
    GSH_TRY(gsh_value_make_resident_locked(value));
    if (is_written)
        gsh_value_drop_spill_locked(value);
    return GSH_OK;
}

/* The node's launch, collapsed, with device addresses. */
static enum gsh_status place_operands(const struct gsh_node *node, struct gsh_launch *launch)
{
    *launch = node->launch;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        if (node->values[k] == NULL)
            continue;
        bool is_written = gsh_launch_is_output(launch, k);
        bool is_read = !is_written || gsh_launch_reads_output(launch);
        GSH_TRY(prepare_value(node->values[k], is_read, is_written));
        launch->operands[k].address += node->values[k]->address;
    }
    gsh_launch_collapse(launch);
    return GSH_OK;
}

static enum gsh_status place_array(unsigned a, bool is_written)
{
    struct gsh_value *value = batch.item->values[a];
    if (value == NULL)
        return GSH_OK;
    GSH_TRY(prepare_value(value, !is_written, is_written));
    batch.attempt.group.arrays[a].address += value->address;
    return GSH_OK;
}

/* Fills in device addresses. Inputs come first, because an output may take over the memory of an input that dies (node_reuse.h).
 * FAILED: no memory. */
static enum gsh_status place_arrays(void)
{
    struct gsh_group *group = &batch.attempt.group;
    const uint32_t stored = gsh_group_stored(group), joined = gsh_group_joined(group);
    for (unsigned a = 0; a < group->array_count; a++)
        if ((stored >> a & 1) == 0)
            GSH_TRY(place_array(a, (joined >> a & 1) != 0));
    for (unsigned k = 0; k < group->store_count; k++) {
        gsh_node_reuse_locked(batch.item, batch.planned, k, &batch.attempt.reuse);
        GSH_TRY(place_array(group->stores[k].array, true));
    }
    return GSH_OK;
}

static const struct gsh_node *node_of_item(unsigned index)
{
    return &batch.planned[batch.item->nodes[index]];
}

static enum gsh_status place_node(void)
{
    return place_operands(node_of_item(batch.index), &batch.launch);
}

/* Whether the item's nodes can run one by one at once: none waits for a compilation, and there is memory for the values that the
 * group keeps in registers. */
static bool can_split(const void *unused)
{
    const struct gsh_backend *backend = gsh_backend_get();
    size_t free_bytes = 0, total_bytes = 0, wanted = batch.attempt.reuse.bytes;
    (void)unused;
    backend->memory(&free_bytes, &total_bytes);
    for (unsigned index = 0; index < batch.item->node_count; index++) {
        const struct gsh_node *node = node_of_item(index);
        struct gsh_launch launch = node->launch;
        for (unsigned k = 0; k < gsh_launch_operands(&launch); k++) {
            const struct gsh_value *value = node->values[k];
            if (value == NULL)
                continue;
            launch.operands[k].address += value->address;
            if (value->address == 0 && gsh_launch_is_output(&launch, k))
                wanted += value->size;
        }
        gsh_launch_collapse(&launch);
        if (backend->runs_at_once != NULL && !backend->runs_at_once(&launch))
            return false;
    }
    return wanted <= free_bytes / SPLIT_SHARE;
}

/* ---- the work of a step ---- */

static enum gsh_status run_group(void)
{
    return gsh_backend_get()->run_group(&batch.attempt.group, batch.row, can_split, NULL);
}

/* "add, add, sqrt": the item's nodes in the order in which they are computed. */
static void describe(char *text, size_t size)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, size);
    for (unsigned index = 0; index < batch.item->node_count; index++)
        gsh_fmt_printf(&fmt, "%s%s", index > 0 ? ", " : "",
                       gsh_launch_name(&node_of_item(index)->launch));
}

static __attribute__((noinline)) enum gsh_status run_group_traced(void)
{
    unsigned count = batch.item->node_count;
    GSH_NVTX_RANGE("group", count);
    uint64_t begin = gsh_trace_begin();
    describe(gsh_trace_group, sizeof gsh_trace_group);
    enum gsh_status status = run_group();
    if (status == GSH_OK)
        GSH_TRACE_END(begin, FLUSHES, .name = "group", .text = gsh_trace_group, .count = count);
    gsh_trace_group[0] = '\0';
    return status;
}

static enum gsh_status run_step(void)
{
    if (batch.step == ALONE)
        return gsh_backend_get()->run(&batch.launch, node_of_item(batch.index)->row);
    return GSH_UNLIKELY(gsh_trace_is_on || gsh_nvtx_is_on) ? run_group_traced() : run_group();
}

/* Charges what `work` takes to the program's line of the item's first node, or of the one that runs alone. */
static enum gsh_status charge(enum gsh_status (*work)(void))
{
    const struct gsh_node *node = node_of_item(batch.step == ALONE ? batch.index : 0);
    unsigned before = gsh_line_profile_swap_sigsafe(node->line);
    enum gsh_status status = work();
    gsh_line_profile_swap_sigsafe(before);
    return status;
}

void gsh_node_batch_work(void)
{
    if (batch.step == PLAN)
        gsh_plan_make();
    else
        batch.outcome = charge(run_step);
}

/* ---- between the steps ---- */

static void log_item(void)
{
    char text[512];
    struct gsh_fmt fmt;
    if (!gsh_log_enabled(GSH_LOG_GRAPH))
        return;
    gsh_fmt_init(&fmt, text, sizeof text);
    for (unsigned index = 0; index < batch.item->node_count; index++)
        gsh_fmt_printf(&fmt, " %s", gsh_launch_name(&node_of_item(index)->launch));
    gsh_log(GSH_LOG_GRAPH, "graph:   %s:%s", batch.item->node < 0 ? "group" : "alone", text);
}

/* The item's node has run. */
static void end_node(unsigned index)
{
    struct gsh_node *node = &batch.planned[batch.item->nodes[index]];
    if (batch.item->is_again[index])
        return;
    if (node->site != 0)
        gsh_expiring_note_misjudged_locked(node->site);
    if (!node->is_retained)
        gsh_node_drop_locked(node);
}

/* Call it first: memory that only dead nodes hold is free for the others. */
static void drop_dead(void)
{
    for (unsigned index = 0; index < batch.end - batch.first; index++)
        if (gsh_plan_is_dead(index) && !batch.planned[index].is_retained) {
            gsh_node_drop_locked(&batch.planned[index]);
            gsh_stats_add(GSH_COUNTER_DEAD_NODES, 1);
        }
}

/* Plans each piece without the others, so that equal pieces give equal kernels. False: there is no piece left. */
static bool begin_piece(void)
{
    if (batch.piece == batch.pieces)
        return false;
    batch.first = batch.end;
    batch.end = batch.ends[batch.piece++];
    batch.planned = &batch.nodes[batch.first];
    count_later(batch.planned, batch.end - batch.first, -1);
    gsh_plan_begin_locked(batch.planned, batch.end - batch.first);
    batch.step = PLAN;
    return true;
}

/* False: the item does not run as a group. */
static bool begin_group(void)
{
    const struct gsh_plan_item *item = batch.item;
    if (item->node >= 0)
        return false;
    batch.row = gsh_node_group_row_locked(item, batch.planned);
    batch.attempt.group = item->group;
    batch.attempt.reuse = (struct gsh_node_reuse){.bytes = 0};
    batch.step = GROUP;
    if (charge(place_arrays) == GSH_OK)
        return true;
    gsh_node_reuse_undo_locked(item, &batch.attempt.reuse);
    return false;
}

/* The group has run. False: it did not. */
static bool end_group(void)
{
    if (batch.outcome != GSH_OK) {
        gsh_node_reuse_undo_locked(batch.item, &batch.attempt.reuse);
        return false;
    }
    gsh_stats_add(GSH_COUNTER_GROUPS, 1);
    gsh_stats_add(GSH_COUNTER_GROUPED, batch.item->node_count);
    for (unsigned index = 0; index < batch.item->node_count; index++)
        end_node(index);
    return true;
}

static void end_alone(void)
{
    if (batch.outcome != GSH_OK)
        gsh_node_fallback_run_locked(node_of_item(batch.index));
    end_node(batch.index++);
}

/* Prepares the item's next node that the device can run; others are computed on the host. False: none is left. */
static bool begin_alone(void)
{
    for (batch.step = ALONE; batch.index < batch.item->node_count; end_alone())
        if ((batch.outcome = charge(place_node)) == GSH_OK)
            return true;
    return false;
}

static bool begin_alone_from_first(void)
{
    if (batch.item->node < 0)
        gsh_log(GSH_LOG_GRAPH, "graph:   one by one");
    batch.index = 0;
    return begin_alone();
}

/* Ends the step that was prepared last. False: nothing of its item is left to run. True: the next step is prepared. */
static bool go_on_with_item(void)
{
    if (batch.step == GROUP)
        return !end_group() && begin_alone_from_first();
    if (batch.step == ALONE) {
        end_alone();
        return begin_alone();
    }
    if (batch.step == PLAN)
        drop_dead();
    return false;
}

static bool begin_item(void)
{
    log_item();
    return begin_group() || begin_alone_from_first();
}

static bool advance(void)
{
    if (go_on_with_item())
        return true;
    while (batch.step != BEGUN && (batch.item = gsh_plan_next()) != NULL)
        if (begin_item())
            return true;
    return begin_piece();
}

bool gsh_node_batch_advance_locked(void)
{
    bool has_step = advance();
    if (!has_step)
        batch.step = NONE;
    return has_step;
}

/* ---- the batch ---- */

void gsh_node_batch_begin_locked(struct gsh_node *nodes, unsigned count, unsigned all)
{
    batch.step = BEGUN;
    batch.nodes = nodes;
    batch.piece = batch.pieces = batch.end = 0;
    for (unsigned end = 0; end < count;) {
        end = gsh_node_iterations_piece_end_locked(nodes, end, count);
        batch.ends[batch.pieces++] = (uint16_t)end;
    }
    count_later(nodes, all, 1);
}

bool gsh_node_batch_is_running_locked(void)
{
    return batch.step != NONE;
}

void gsh_node_batch_note_recorded_locked(const struct gsh_node *node)
{
    if (GSH_UNLIKELY(batch.step != NONE))
        count_later(node, 1, 1);
}

void gsh_node_batch_end_locked(const struct gsh_node *pending, unsigned count)
{
    count_later(pending, count, -1);
}

void gsh_node_batch_reset_after_fork(void)
{
    batch.step = NONE;
}

enum gsh_status gsh_node_batch_run_alone_locked(const struct gsh_node *node)
{
    struct gsh_launch launch;
    GSH_TRY(place_operands(node, &launch));
    return gsh_backend_get()->run(&launch, node->row);
}
