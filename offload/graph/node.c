/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of pending nodes and its flush.
 */
#include "node.h"

#include "backend.h"
#include "dispatch_lock.h"
#include "errors.h"
#include "expiring.h"
#include "line_profile.h"
#include "log.h"
#include "node_cse.h"
#include "node_fallback.h"
#include "node_group_row.h"
#include "node_iterations.h"
#include "node_reuse.h"
#include "node_transform.h"
#include "nvtx.h"
#include "plan.h"
#include "service.h"
#include "stack_pool.h"
#include "stats.h"
#include "trace.h"

#define HELD_SHARE 4 /* pending nodes hold at most a fourth of the device's memory */

#define EARLY_BYTES                                                                                \
    ((int64_t)32 << 20) /* a reduction of so many bytes takes longer than recording a few calls */
#define SPLIT_SHARE 2   /* running a group's nodes one by one may take half of the free memory */

static const char *const flush_reasons[] = {
    [GSH_FLUSH_HOST_READ] = "the host looks at a result",
    [GSH_FLUSH_HOST_WRITE] = "the host has overwritten an operand",
    [GSH_FLUSH_NOT_DEFERRABLE] = "a call that is not recorded follows",
    [GSH_FLUSH_LIMIT] = "there are many",
    [GSH_FLUSH_MEMORY] = "they hold memory",
    [GSH_FLUSH_SYNCHRONIZE] = "somebody waits for the device",
    [GSH_FLUSH_IDLE] = "nobody has for a while",
    [GSH_FLUSH_EARLY] = "others wait for them",
    [GSH_FLUSH_FORK] = "the process forks",
};
static struct gsh_node recorded[GSH_NODE_LIMIT];
static unsigned recorded_count;
static unsigned
    kept_count; /* the first nodes of the list: those that stayed pending after the last flush */
static _Atomic uint64_t kept_since; /* the value that `oldest` gets for them; 0: there are none */
static uint64_t flush_count;
static _Atomic uint64_t
    oldest; /* flush_count + 1 when the oldest node was recorded; 0: none runs when the device is idle */
static struct gsh_node *planned; /* the nodes of the current plan, a part of `recorded` */
static size_t held_bytes;        /* of values that have device memory and that pending nodes use */

static void hold(struct gsh_value *value, bool writes)
{
    gsh_value_retain(value);
    if (writes)
        atomic_fetch_add_explicit(&value->writers, 1, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&value->pending, 1, memory_order_relaxed) == 0 &&
        value->address != 0) {
        held_bytes += value->size;
        value->is_counted = true;
    }
}

static void let_go(struct gsh_value *value, bool writes)
{
    if (atomic_fetch_sub_explicit(&value->pending, 1, memory_order_relaxed) == 1 &&
        value->is_counted) {
        held_bytes -= value->size;
        value->is_counted = false;
    }
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

static bool is_long_reduction(const struct gsh_node *node)
{
    const struct gsh_launch *launch = &node->launch;
    return gsh_launch_has(launch, GSH_TRAIT_REDUCES) &&
           gsh_launch_elements(launch) * (int64_t)gsh_dtype_size(launch->operands[0].dtype) >=
               EARLY_BYTES;
}

/* Whether to flush before `node` is recorded: every pending node is a long reduction whose input is already computed, and
 * `node` reads the result of one. The device then reduces while the host records. Only later reductions lose the chance to be
 * fused with these. */
static bool runs_early(const struct gsh_node *node)
{
    bool is_awaited = false;
    if (!gsh_backend_get()->runs_behind || kept_count != 0 || recorded_count == 0)
        return false;
    for (unsigned index = 0; index < recorded_count; index++) {
        const struct gsh_node *other = &recorded[index];
        if (!is_long_reduction(other))
            return false;
        for (unsigned before = 0; before < index; before++)
            if (gsh_node_writes(&recorded[before], other->values[0]))
                return false;
        for (unsigned k = 0; k < node->launch.nin; k++)
            is_awaited |= gsh_node_writes(other, node->values[k]);
    }
    return is_awaited;
}

static void run_early(void)
{
    gsh_node_cse_keep_locked(recorded, recorded_count);
    gsh_node_flush_locked(GSH_FLUSH_EARLY);
}

void gsh_node_prepare_locked(const struct gsh_node *node)
{
    if (runs_early(node))
        run_early();
}

void gsh_node_record_locked(const struct gsh_node *node)
{
    struct gsh_node *own = &recorded[recorded_count];
    *own = *node;
    gsh_node_iterations_note_locked(own);
    gsh_node_cse_copy_locked(recorded, recorded_count++, own);
    for (unsigned k = 0; k < gsh_launch_operands(&own->launch); k++)
        if (own->values[k] != NULL)
            hold(own->values[k], gsh_launch_is_output(&own->launch, k));
    if (atomic_load(&oldest) == 0) {
        atomic_store(&oldest, flush_count + 1);
        gsh_service_note_recorded();
    }
}

/* Releases the node's values. A second call does nothing. */
static void drop(struct gsh_node *node)
{
    for (unsigned k = 0; k < gsh_launch_operands(&node->launch); k++) {
        if (node->values[k] != NULL)
            let_go(node->values[k], gsh_launch_is_output(&node->launch, k));
        node->values[k] = NULL;
    }
}

/* Removes dropped nodes from the list. */
static void close_up(void)
{
    unsigned to = 0;
    for (unsigned index = 0; index < recorded_count; index++)
        if (recorded[index].values[recorded[index].launch.nin] != NULL)
            recorded[to++] = recorded[index];
    recorded_count = to;
}

void gsh_node_forget_locked(void)
{
    unsigned left = 0;
    for (unsigned index = kept_count; index-- > 0;) {
        struct gsh_node *node = &recorded[index];
        const struct gsh_value *value = node->values[node->launch.nin];
        if (atomic_load_explicit(&value->references, memory_order_acquire) > 1) {
            left++;
            continue;
        }
        if (node->site != 0)
            gsh_expiring_note_expired_locked(node->site);
        drop(node);
    }
    if (left == kept_count)
        return;
    close_up();
    kept_count = left;
    if (kept_count == 0)
        atomic_store(&kept_since, 0);
    if (recorded_count == 0)
        atomic_store(&oldest, 0);
}

void gsh_node_bound_locked(void)
{
    if (recorded_count == GSH_NODE_LIMIT)
        gsh_node_flush_iterations_locked(GSH_FLUSH_LIMIT);
    else if (recorded_count != 0 && holds_much())
        gsh_node_flush_iterations_locked(GSH_FLUSH_MEMORY);
}

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

static enum gsh_status run_alone(const struct gsh_node *node)
{
    struct gsh_launch launch = node->launch;
    for (unsigned k = 0; k < gsh_launch_operands(&launch); k++) {
        if (node->values[k] == NULL)
            continue;
        bool is_written = gsh_launch_is_output(&launch, k);
        bool is_read = !is_written || gsh_launch_reads_output(&launch);
        GSH_TRY(prepare_value(node->values[k], is_read, is_written));
        launch.operands[k].address += node->values[k]->address;
    }
    gsh_launch_collapse(&launch);
    return gsh_backend_get()->run(&launch, node->row);
}

enum gsh_status gsh_node_run_locked(const struct gsh_node *node)
{
    unsigned before = gsh_line_profile_swap_sigsafe(node->line);
    enum gsh_status status = run_alone(node);
    gsh_line_profile_swap_sigsafe(before);
    return status;
}

static void log_item(const struct gsh_plan_item *item)
{
    char text[512];
    struct gsh_fmt fmt;
    if (!gsh_log_enabled(GSH_LOG_GRAPH))
        return;
    gsh_fmt_init(&fmt, text, sizeof text);
    for (unsigned index = 0; index < item->node_count; index++)
        gsh_fmt_printf(&fmt, " %s", gsh_launch_name(&planned[item->nodes[index]].launch));
    gsh_log(GSH_LOG_GRAPH, "graph:   %s:%s", item->node < 0 ? "group" : "alone", text);
}

/* An attempt to run an item as one group. */
struct attempt {
    const struct gsh_plan_item *item;
    struct gsh_group group; /* with device addresses */
    struct gsh_node_reuse reuse;
};

/* Whether the item's nodes can run one by one at once: their kernels are compiled, and there is memory for the values that the
 * group keeps in registers. */
static bool can_split(const void *context)
{
    const struct attempt *attempt = context;
    const struct gsh_plan_item *item = attempt->item;
    const struct gsh_backend *backend = gsh_backend_get();
    size_t free_bytes = 0, total_bytes = 0, wanted = attempt->reuse.bytes;
    backend->memory(&free_bytes, &total_bytes);
    for (unsigned index = 0; index < item->node_count; index++) {
        const struct gsh_node *node = &planned[item->nodes[index]];
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

static enum gsh_status place_array(struct attempt *attempt, unsigned a, bool is_written)
{
    struct gsh_value *value = attempt->item->values[a];
    if (value == NULL)
        return GSH_OK;
    GSH_TRY(prepare_value(value, !is_written, is_written));
    attempt->group.arrays[a].address += value->address;
    return GSH_OK;
}

/* Fills in device addresses. Inputs come first, because an output may take over the memory of an input that dies (node_reuse.h).
 * FAILED: no memory. */
static enum gsh_status place_arrays(struct attempt *attempt)
{
    struct gsh_group *group = &attempt->group;
    const uint32_t stored = gsh_group_stored(group), joined = gsh_group_joined(group);
    for (unsigned a = 0; a < group->array_count; a++)
        if ((stored >> a & 1) == 0)
            GSH_TRY(place_array(attempt, a, (joined >> a & 1) != 0));
    for (unsigned k = 0; k < group->store_count; k++) {
        gsh_node_reuse_locked(attempt->item, planned, k, &attempt->reuse);
        GSH_TRY(place_array(attempt, group->stores[k].array, true));
    }
    return GSH_OK;
}

static enum gsh_status run_group(const struct gsh_plan_item *item)
{
    unsigned row = gsh_node_group_row_locked(item, planned);
    struct attempt attempt = {.item = item, .group = item->group};
    enum gsh_status status = place_arrays(&attempt);
    if (status == GSH_OK)
        status = gsh_backend_get()->run_group(&attempt.group, row, can_split, &attempt);
    if (status != GSH_OK) {
        gsh_node_reuse_undo_locked(item, &attempt.reuse);
        return status;
    }
    gsh_stats_add(GSH_COUNTER_GROUPS, 1);
    gsh_stats_add(GSH_COUNTER_GROUPED, item->node_count);
    return GSH_OK;
}

/* "add, add, sqrt": the item's nodes in the order in which they are computed. */
static void describe(const struct gsh_plan_item *item, char *text, size_t size)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, size);
    for (unsigned index = 0; index < item->node_count; index++)
        gsh_fmt_printf(&fmt, "%s%s", index > 0 ? ", " : "",
                       gsh_launch_name(&planned[item->nodes[index]].launch));
}

static __attribute__((noinline)) enum gsh_status run_group_traced(const struct gsh_plan_item *item)
{
    GSH_NVTX_RANGE("group", item->node_count);
    uint64_t begin = gsh_trace_begin();
    describe(item, gsh_trace_group, sizeof gsh_trace_group);
    enum gsh_status status = run_group(item);
    if (status == GSH_OK)
        GSH_TRACE_END(begin, FLUSHES, .name = "group", .text = gsh_trace_group,
                      .count = item->node_count);
    gsh_trace_group[0] = '\0';
    return status;
}

static void run_item(const struct gsh_plan_item *item)
{
    unsigned before = gsh_line_profile_swap_sigsafe(planned[item->nodes[0]].line);
    bool is_done = item->node < 0 &&
                   (GSH_UNLIKELY(gsh_trace_is_on || gsh_nvtx_is_on) ? run_group_traced
                                                                    : run_group)(item) == GSH_OK;
    gsh_line_profile_swap_sigsafe(before);
    if (!is_done && item->node < 0)
        gsh_log(GSH_LOG_GRAPH, "graph:   one by one");
    for (unsigned index = 0; index < item->node_count; index++) {
        struct gsh_node *node = &planned[item->nodes[index]];
        if (!is_done && gsh_node_run_locked(node) != GSH_OK)
            gsh_node_fallback_run_locked(node);
        if (item->is_again[index])
            continue;
        if (node->site != 0)
            gsh_expiring_note_misjudged_locked(node->site);
        if (!node->is_retained)
            drop(node);
    }
}

/* Call it first: memory that only dead nodes hold is free for the others. */
static void drop_dead(unsigned count)
{
    for (unsigned index = 0; index < count; index++)
        if (gsh_plan_is_dead(index) && !planned[index].is_retained) {
            drop(&planned[index]);
            gsh_stats_add(GSH_COUNTER_DEAD_NODES, 1);
        }
}

/* Removes the first `end` nodes from the list, but for those that are still retained. An idle device runs these only after
 * gsh_node_note_expired. */
static void keep_rest(unsigned end)
{
    unsigned kept = 0;
    gsh_expiring_update_locked(recorded, end);
    for (unsigned index = 0; index < end; index++) {
        if (!recorded[index].is_retained) {
            drop(&recorded[index]);
            continue;
        }
        recorded[kept] = recorded[index];
        recorded[kept++].is_retained = false;
    }
    kept_count = kept;
    for (unsigned index = end; index < recorded_count; index++)
        recorded[kept++] = recorded[index];
    recorded_count = kept;
    atomic_store(&kept_since, kept_count != 0 ? flush_count + 1 : 0);
    atomic_store(&oldest, recorded_count > kept_count ? flush_count + 1 : 0);
}

static void join_transforms(void)
{
    struct gsh_launch joined;
    bool has_joined = false;
    for (unsigned second = kept_count; second < recorded_count; second++) {
        int first = gsh_node_transform_find(recorded, second, &joined);
        if (first < 0)
            continue;
        struct gsh_node *node = &recorded[second];
        hold(recorded[first].values[0], false);
        let_go(node->values[0], false);
        node->values[0] = recorded[first].values[0];
        node->launch = joined;
        drop(&recorded[first]);
        has_joined = true;
    }
    if (has_joined)
        close_up();
}

/* Adds `sign` to the counts of later references of the values that the nodes use. */
static void count_later(unsigned first, unsigned end, int sign)
{
    for (unsigned index = first; index < end; index++)
        for (unsigned k = 0; k < gsh_launch_operands(&recorded[index].launch); k++)
            if (recorded[index].values[k] != NULL)
                recorded[index].values[k]->later += (uint32_t)sign;
}

static void run_piece(unsigned first, unsigned end)
{
    planned = &recorded[first];
    gsh_plan_make(planned, end - first);
    drop_dead(end - first);
    for (const struct gsh_plan_item *item; (item = gsh_plan_next()) != NULL;) {
        log_item(item);
        run_item(item);
    }
}

/* Plans each piece without the others, so that equal pieces give equal kernels. */
static void run_pieces(unsigned count)
{
    count_later(0, recorded_count, 1);
    for (unsigned first = 0, end; first < count; first = end) {
        end = gsh_node_iterations_piece_end_locked(recorded, first, count);
        count_later(first, end, -1);
        run_piece(first, end);
    }
    count_later(count, recorded_count, -1);
}

/* Armed nodes after the first `end` ones are not submitted. */
static void note_submitted(unsigned end)
{
    for (unsigned index = end; index < recorded_count; index++)
        if (recorded[index].launch.errors.claims != 0) {
            gsh_errors_note_submitted_before_locked(recorded[index].launch.errors.sequence);
            return;
        }
    gsh_errors_note_submitted_locked();
}

struct flush {
    enum gsh_flush_reason why;
    bool is_partial; /* whole iterations only, if there are any */
};

static unsigned count_to_run(const struct flush *flush)
{
    unsigned whole =
        flush->is_partial ? gsh_node_iterations_whole_locked(recorded, recorded_count) : 0;
    return whole != 0 ? whole : recorded_count;
}

static void flush_on_pool_stack(void *flush)
{
    enum gsh_flush_reason why = ((const struct flush *)flush)->why;
    join_transforms();
    unsigned count = count_to_run(flush);
    GSH_NVTX_RANGE("flush", count);
    uint64_t begin = gsh_trace_begin();
    if (why != GSH_FLUSH_EARLY)
        gsh_node_cse_forget_locked();
    if (why == GSH_FLUSH_HOST_READ)
        gsh_expiring_retain_locked(recorded, recorded_count);
    gsh_log(GSH_LOG_GRAPH, "graph: %u calls run because %s", count, flush_reasons[why]);
    run_pieces(count);
    note_submitted(count);
    flush_count++;
    keep_rest(count);
    gsh_stats_add(GSH_COUNTER_FLUSHES, 1);
    GSH_TRACE_END(begin, FLUSHES, .name = "flush", .why = flush_reasons[why], .count = count);
}

static void run_flush(struct flush flush)
{
    gsh_node_forget_locked();
    if (recorded_count != 0)
        gsh_stack_pool_run(flush_on_pool_stack, &flush);
}

/* Whether the program decides when the flush is, and not what is free or how much time has passed. */
static bool is_ordered(enum gsh_flush_reason why)
{
    return why != GSH_FLUSH_LIMIT && why != GSH_FLUSH_MEMORY && why != GSH_FLUSH_IDLE;
}

void gsh_node_flush_locked(enum gsh_flush_reason why)
{
    run_flush((struct flush){.why = why});
    if (is_ordered(why))
        gsh_node_iterations_note_boundary_locked();
}

void gsh_node_flush_iterations_locked(enum gsh_flush_reason why)
{
    run_flush((struct flush){.why = why, .is_partial = true});
}

void gsh_node_flush(enum gsh_flush_reason why)
{
    gsh_dispatch_lock_acquire();
    gsh_node_flush_locked(why);
    gsh_dispatch_lock_release();
}

/* Gives the idle device what is settled; the rest in a long pause of the program. */
static void feed(void)
{
    bool is_pause = gsh_node_iterations_is_pause_locked() || recorded_count == kept_count;
    if (gsh_node_iterations_settled_locked(recorded, recorded_count) != 0)
        gsh_node_flush_iterations_locked(GSH_FLUSH_IDLE);
    else if (is_pause)
        gsh_node_flush_locked(GSH_FLUSH_IDLE);
}

void gsh_node_flush_idle(uint64_t number)
{
    gsh_dispatch_lock_acquire();
    if (recorded_count == 0) { /* all ran before gsh_node_note_expired */
        atomic_store(&oldest, 0);
    } else if (atomic_load(&oldest) == number) {
        if (gsh_launch_has(&recorded[recorded_count - 1].launch, GSH_TRAIT_MERGES))
            atomic_store(&oldest, 0); /* time must not decide whether the next launch joins it */
        else
            feed();
    }
    gsh_dispatch_lock_release();
}

void gsh_node_note_expired(void)
{
    uint64_t none = 0, since = atomic_load(&kept_since);
    if (since != 0 && atomic_compare_exchange_strong(&oldest, &none, since))
        gsh_service_note_recorded();
}

uint64_t gsh_node_oldest(void)
{
    return atomic_load(&oldest);
}

void gsh_node_reset_after_fork(void)
{
    recorded_count = kept_count = 0;
    atomic_store(&kept_since, 0);
    atomic_store(&oldest, 0);
}
