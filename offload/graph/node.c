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
#include "node_batch.h"
#include "node_cse.h"
#include "node_iterations.h"
#include "node_transform.h"
#include "nvtx.h"
#include "service.h"
#include "stack_pool.h"
#include "stats.h"
#include "trace.h"

#include <string.h>

#define HELD_SHARE 4 /* pending nodes hold at most a fourth of the device's memory */

#define EARLY_BYTES                                                                                \
    ((int64_t)32 << 20) /* a reduction of so many bytes takes longer than recording a few calls */

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
static struct gsh_node nodes[2 * GSH_NODE_LIMIT]; /* those of the batch, then the pending ones */
static unsigned batch_count;                      /* nodes of the batch that runs */
static struct gsh_node *recorded = nodes;         /* the pending nodes */
static unsigned recorded_count;
static unsigned
    kept_count; /* the first nodes of the list: those that stayed pending after the last flush */
static _Atomic uint64_t kept_since; /* the value that `oldest` gets for them; 0: there are none */
static uint64_t flush_count;
static _Atomic uint64_t
    oldest; /* flush_count + 1 when the oldest node was recorded; 0: none runs when the device is idle */
static size_t held_bytes; /* of values that have device memory and that pending nodes use */

/* Adds to a count that changes under the DISPATCH lock only, and is read without it: no locked instruction is needed. */
static uint32_t count(_Atomic uint32_t *users, uint32_t change)
{
    uint32_t now = atomic_load_explicit(users, memory_order_relaxed) + change;
    atomic_store_explicit(users, now, memory_order_release);
    return now;
}

/* Takes over a reference to the value. */
static void hold(struct gsh_value *value, bool writes)
{
    if (writes)
        count(&value->writers, 1);
    if (count(&value->pending, 1) == 1 && value->address != 0) {
        held_bytes += value->size;
        value->is_counted = true;
    }
}

static void let_go(struct gsh_value *value, bool writes)
{
    if (count(&value->pending, -1U) == 0 && value->is_counted) {
        held_bytes -= value->size;
        value->is_counted = false;
    }
    if (writes)
        count(&value->writers, -1U);
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

/* A node that copies an earlier result has other values than the caller's, whose references it does not need. */
static void exchange_references(const struct gsh_node *own, const struct gsh_node *callers)
{
    for (unsigned k = 0; k < gsh_launch_operands(&callers->launch); k++) {
        if (own->values[k] == callers->values[k])
            continue;
        if (own->values[k] != NULL)
            gsh_value_retain(own->values[k]);
        gsh_value_release_sigsafe(callers->values[k]);
    }
}

void gsh_node_record_locked(const struct gsh_node *node)
{
    struct gsh_node *own = &recorded[recorded_count];
    gsh_launch_copy(&own->launch, &node->launch);
    memcpy(own->values, node->values, sizeof *own - offsetof(struct gsh_node, values));
    gsh_node_iterations_note_locked(own);
    gsh_node_cse_copy_locked(recorded, recorded_count++, own);
    exchange_references(own, node);
    for (unsigned k = 0; k < gsh_launch_operands(&own->launch); k++)
        if (own->values[k] != NULL)
            hold(own->values[k], gsh_launch_is_output(&own->launch, k));
    gsh_node_batch_note_recorded_locked(own);
    if (atomic_load(&oldest) == 0) {
        atomic_store(&oldest, flush_count + 1);
        gsh_service_note_recorded();
    }
}

void gsh_node_drop_locked(struct gsh_node *node)
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
        gsh_node_drop_locked(node);
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

enum gsh_status gsh_node_run_locked(const struct gsh_node *node)
{
    unsigned before = gsh_line_profile_swap_sigsafe(node->line);
    enum gsh_status status = gsh_node_batch_run_alone_locked(node);
    gsh_line_profile_swap_sigsafe(before);
    return status;
}

/* Removes the batch's nodes, but for those that are still retained. An idle device runs these only after gsh_node_note_expired. */
static void keep_rest(void)
{
    unsigned kept = 0;
    gsh_expiring_update_locked(nodes, batch_count);
    for (unsigned index = 0; index < batch_count; index++) {
        if (!nodes[index].is_retained) {
            gsh_node_drop_locked(&nodes[index]);
            continue;
        }
        nodes[kept] = nodes[index];
        nodes[kept++].is_retained = false;
    }
    memmove(&nodes[kept], recorded, recorded_count * sizeof nodes[0]);
    kept_count = kept;
    recorded_count += kept;
    recorded = nodes;
    batch_count = 0;
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
        gsh_value_retain(recorded[first].values[0]);
        hold(recorded[first].values[0], false);
        let_go(node->values[0], false);
        node->values[0] = recorded[first].values[0];
        node->launch = joined;
        gsh_node_drop_locked(&recorded[first]);
        has_joined = true;
    }
    if (has_joined)
        close_up();
}

/* Armed nodes that are pending are not submitted. */
static void note_submitted(void)
{
    for (unsigned index = 0; index < recorded_count; index++)
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

/* What the trace tells of the batch. */
static struct {
    uint64_t begin;
    enum gsh_flush_reason why;
} flushed;

/* Takes the batch out of the list. */
static void begin_batch(const struct flush *flush)
{
    enum gsh_flush_reason why = flush->why;
    join_transforms();
    batch_count = count_to_run(flush);
    flushed.begin = gsh_trace_begin();
    flushed.why = why;
    if (why != GSH_FLUSH_EARLY)
        gsh_node_cse_forget_locked();
    if (why == GSH_FLUSH_HOST_READ)
        gsh_expiring_retain_locked(recorded, recorded_count);
    gsh_log(GSH_LOG_GRAPH, "graph: %u calls run because %s", batch_count, flush_reasons[why]);
    gsh_node_batch_begin_locked(recorded, batch_count, recorded_count);
    recorded += batch_count;
    recorded_count -= batch_count;
    kept_count = 0;
}

static void end_batch(void)
{
    gsh_node_batch_end_locked(recorded, recorded_count);
    note_submitted();
    flush_count++;
    unsigned count = batch_count;
    keep_rest();
    gsh_stats_add(GSH_COUNTER_FLUSHES, 1);
    GSH_TRACE_END(flushed.begin, FLUSHES, .name = "flush", .why = flush_reasons[flushed.why],
                  .count = count);
}

/* Also takes over what another thread has begun and given the lock away in. */
static void run_batch(void *unused)
{
    (void)unused;
    GSH_NVTX_RANGE("flush", batch_count);
    while (gsh_node_batch_advance_locked())
        gsh_node_batch_work();
    end_batch();
}

static void flush_on_pool_stack(void *flush)
{
    begin_batch(flush);
    run_batch(NULL);
}

static void end_running_batch(void)
{
    if (!gsh_node_batch_is_running_locked())
        return;
    gsh_dispatch_lock_wait_launch();
    gsh_stack_pool_run(run_batch, NULL);
}

static void run_flush(struct flush flush)
{
    end_running_batch();
    gsh_node_forget_locked();
    if (recorded_count != 0)
        gsh_stack_pool_run(flush_on_pool_stack, &flush);
}

/* As run_batch, but other threads record meanwhile, and end the batch if they cannot wait. Leaves it running where a page fault waits
 * for this thread, which may be on a page that the batch does not write. */
static void run_batch_beside(void *unused)
{
    (void)unused;
    GSH_NVTX_RANGE("flush", batch_count);
    uint64_t own = flush_count;
    while (gsh_node_batch_advance_locked()) {
        gsh_dispatch_lock_begin_launch();
        gsh_node_batch_work();
        gsh_dispatch_lock_end_launch();
        if (flush_count != own || gsh_service_is_waited_for())
            return;
    }
    end_batch();
}

static void flush_beside_on_pool_stack(void *flush)
{
    begin_batch(flush);
    run_batch_beside(NULL);
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

static void flush_beside(struct flush flush)
{
    gsh_node_forget_locked();
    if (recorded_count != 0)
        gsh_stack_pool_run(flush_beside_on_pool_stack, &flush);
}

/* Gives the idle device what is settled; the rest in a long pause of the program. */
static void feed(void)
{
    bool is_pause = gsh_node_iterations_is_pause_locked() || recorded_count == kept_count;
    bool is_settled = gsh_node_iterations_settled_locked(recorded, recorded_count) != 0;
    if (is_settled || is_pause)
        flush_beside((struct flush){.why = GSH_FLUSH_IDLE, .is_partial = is_settled});
}

void gsh_node_flush_idle(uint64_t number)
{
    gsh_dispatch_lock_acquire();
    if (gsh_node_batch_is_running_locked()) {
        gsh_stack_pool_run(run_batch_beside, NULL);
    } else if (recorded_count == 0) { /* all ran before gsh_node_note_expired */
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
    recorded_count = kept_count = batch_count = 0;
    recorded = nodes;
    gsh_node_batch_reset_after_fork();
    atomic_store(&kept_since, 0);
    atomic_store(&oldest, 0);
}
