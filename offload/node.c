/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of recorded nodes and its flush.
 */
#include "node.h"

#include "backend.h"
#include "errors.h"
#include "lock.h"
#include "log.h"
#include "node_rescue.h"
#include "plan.h"
#include "service.h"
#include "stats.h"

#define HELD_SHARE                                                                                 \
    4 /* recorded nodes keep at most a fourth of the device's memory from being freed */

#define SPLIT_SHARE 2 /* of the free memory is what running a group's nodes one by one may take */

static const char *const flush_reasons[] = {
    [GSH_FLUSH_LOOKED] = "the host looks at a result",
    [GSH_FLUSH_OVERWRITTEN] = "the host has overwritten an operand",
    [GSH_FLUSH_ALONE] = "a call that is not recorded follows",
    [GSH_FLUSH_MANY] = "there are many",
    [GSH_FLUSH_MEMORY] = "they hold memory",
    [GSH_FLUSH_WAIT] = "somebody waits for the device",
    [GSH_FLUSH_IDLE] = "nobody has for a while",
    [GSH_FLUSH_FORK] = "the process forks",
};
static struct gsh_lock dispatch_lock = GSH_LOCK_INITIALIZER(GSH_RANK_DISPATCH);
static struct gsh_node recorded[GSH_NODE_LIMIT];
static unsigned recorded_count;
static uint64_t flush_count;
static _Atomic uint64_t oldest; /* of flush_count's time, + 1; 0: nothing is recorded */
static size_t held_bytes;       /* of values that have memory and are needed by recorded nodes */

void gsh_node_lock(void)
{
    gsh_lock_acquire(&dispatch_lock);
}

void gsh_node_unlock(void)
{
    gsh_lock_release(&dispatch_lock);
}

static void hold(struct gsh_value *value, bool writes)
{
    atomic_fetch_add_explicit(&value->references, 1, memory_order_relaxed);
    if (writes)
        atomic_fetch_add_explicit(&value->writers, 1, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&value->pending, 1, memory_order_relaxed) == 0 &&
        value->address != 0)
        held_bytes += value->size;
}

static void let_go(struct gsh_value *value, bool writes)
{
    atomic_fetch_sub_explicit(&value->pending, 1, memory_order_relaxed);
    if (writes)
        atomic_fetch_sub_explicit(&value->writers, 1, memory_order_release);
    gsh_value_release_sigsafe(value);
}

static bool holds_much(void)
{
    size_t free_bytes = 0, total_bytes = 0;
    gsh_backend_get()->memory(&free_bytes, &total_bytes);
    return held_bytes > total_bytes / HELD_SHARE;
}

void gsh_node_record_locked(const struct gsh_node *node)
{
    for (unsigned k = 0; k < gsh_launch_operands(&node->launch); k++)
        if (node->values[k] != NULL)
            hold(node->values[k], gsh_launch_is_output(&node->launch, k));
    recorded[recorded_count++] = *node;
    if (recorded_count == 1) {
        atomic_store(&oldest, flush_count + 1);
        gsh_service_note_recorded();
    }
    if (recorded_count == GSH_NODE_LIMIT)
        gsh_node_flush_locked(GSH_FLUSH_MANY);
    else if (holds_much())
        gsh_node_flush_locked(GSH_FLUSH_MEMORY);
}

enum gsh_status gsh_node_run_locked(const struct gsh_node *node)
{
    struct gsh_launch launch = node->launch;
    for (unsigned k = 0; k < gsh_launch_operands(&launch); k++) {
        if (node->values[k] == NULL)
            continue;
        GSH_TRY(gsh_value_place_locked(node->values[k]));
        launch.operands[k].address += node->values[k]->address;
    }
    gsh_launch_collapse(&launch);
    return gsh_backend_get()->run(&launch, node->row);
}

static const char *name_of(const struct gsh_node *node)
{
    return node->launch.kind == GSH_LAUNCH_REDUCE || node->launch.kind == GSH_LAUNCH_SCAN
               ? gsh_reduction_info(node->launch.reduction)->name
               : gsh_op_info(node->launch.op)->name;
}

static void log_item(const struct gsh_plan_item *item)
{
    char text[512];
    struct gsh_fmt fmt;
    if (!gsh_log_enabled(GSH_LOG_GRAPH))
        return;
    gsh_fmt_init(&fmt, text, sizeof text);
    for (unsigned index = 0; index < item->node_count; index++)
        gsh_fmt_printf(&fmt, " %s", name_of(&recorded[item->nodes[index]]));
    gsh_log(GSH_LOG_GRAPH, "graph:   %s:%s", item->node < 0 ? "group" : "alone", text);
}

/* Whether the item's nodes, run one by one, want nothing compiled and no more memory for what a group keeps in registers
 * than there is. */
static bool can_split(const void *context)
{
    const struct gsh_plan_item *item = context;
    const struct gsh_backend *backend = gsh_backend_get();
    size_t free_bytes = 0, total_bytes = 0, wanted = 0;
    backend->memory(&free_bytes, &total_bytes);
    for (unsigned index = 0; index < item->node_count; index++) {
        const struct gsh_node *node = &recorded[item->nodes[index]];
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
        if (backend->is_built != NULL && !backend->is_built(&launch))
            return false;
    }
    return wanted <= free_bytes / SPLIT_SHARE;
}

/* The item's group with device addresses. FAILED: no memory. */
static enum gsh_status run_group(const struct gsh_plan_item *item)
{
    static unsigned
        row; /* of the time of all groups: what a member takes of it is not to be told */
    struct gsh_group group = item->group;
    if (row == 0)
        row = gsh_stats_row("fused", "groups");
    for (unsigned k = 0; k < group.array_count; k++) {
        if (item->values[k] == NULL)
            continue;
        GSH_TRY(gsh_value_place_locked(item->values[k]));
        group.arrays[k].address += item->values[k]->address;
    }
    GSH_TRY(gsh_backend_get()->run_group(&group, row, can_split, item));
    gsh_stats_add(GSH_COUNTER_GROUPS, 1);
    gsh_stats_add(GSH_COUNTER_GROUPED, item->node_count);
    return GSH_OK;
}

/* Forgets a node, once. */
static void drop(struct gsh_node *node)
{
    for (unsigned k = 0; k < gsh_launch_operands(&node->launch); k++) {
        if (node->values[k] != NULL)
            let_go(node->values[k], gsh_launch_is_output(&node->launch, k));
        node->values[k] = NULL;
    }
}

static void run_item(const struct gsh_plan_item *item)
{
    bool is_done = item->node < 0 && run_group(item) == GSH_OK;
    if (!is_done && item->node < 0)
        gsh_log(GSH_LOG_GRAPH, "graph:   one by one");
    for (unsigned index = 0; index < item->node_count; index++) {
        struct gsh_node *node = &recorded[item->nodes[index]];
        if (!is_done && gsh_node_run_locked(node) != GSH_OK)
            gsh_node_rescue_locked(node);
        drop(node);
    }
}

void gsh_node_flush_locked(enum gsh_flush_reason why)
{
    if (recorded_count == 0)
        return;
    gsh_log(GSH_LOG_GRAPH, "graph: %u calls run because %s", recorded_count, flush_reasons[why]);
    gsh_plan_make(recorded, recorded_count);
    unsigned needed = 0;
    for (const struct gsh_plan_item *item; (item = gsh_plan_next()) != NULL;) {
        needed += item->node_count;
        log_item(item);
        run_item(item);
    }
    for (unsigned index = 0; index < recorded_count; index++) /* those that need not run */
        drop(&recorded[index]);
    gsh_stats_add(GSH_COUNTER_NEEDLESS, recorded_count - needed);
    recorded_count = 0;
    held_bytes = 0;
    flush_count++;
    atomic_store(&oldest, 0);
    gsh_errors_note_submitted_locked();
    gsh_stats_add(GSH_COUNTER_FLUSHES, 1);
}

void gsh_node_flush(enum gsh_flush_reason why)
{
    gsh_node_lock();
    gsh_node_flush_locked(why);
    gsh_node_unlock();
}

uint64_t gsh_node_oldest(void)
{
    return atomic_load(&oldest);
}

void gsh_node_reset_after_fork(void)
{
    gsh_lock_reset_after_fork(&dispatch_lock);
    recorded_count = 0;
    atomic_store(&oldest, 0);
}
