/* SPDX-License-Identifier: Apache-2.0
 *
 * The three fork handlers. prepare takes the BLAS_THREADS lock, the DISPATCH lock, the ARENA lock and every live block in
 * ascending order and keeps them across fork; parent gives them back; child makes them free and
 * forgets the device.
 */
#include "fork.h"

#include "arena_internal.h"
#include "backend.h"
#include "blas_threads.h"
#include "coherence_internal.h"
#include "critical.h"
#include "device.h"
#include "dispatch_internal.h"
#include "dispatch_lock.h"
#include "errors.h"
#include "forked.h"
#include "host_threads.h"
#include "lock.h"
#include "log.h"
#include "node.h"
#include "pages.h"
#include "readers.h"
#include "service.h"
#include "stack_pool.h"
#include "stats.h"
#include "trace.h"

#define TRIES 3

/* Fetches the block to the host, in at most TRIES attempts. If all fail it stays on the device: the parent tries
 * again at its next access, and a child that accesses it stops. If the device is lost the parent stops too: it might
 * otherwise wait for ever for the result of such a child. */
static void fetch_block(struct gsh_block *block)
{
    const struct gsh_backend *backend = gsh_backend_get();
    for (unsigned k = 0; k < TRIES; k++)
        if (gsh_coherence_fetch_all_held(block) == GSH_OK)
            return;
    if (backend->is_lost != NULL && backend->is_lost())
        gsh_coherence_stop_held(block);
    gsh_log(GSH_LOG_INFO, "fork: an array stays on the device; a child that needs it will stop");
}

static void hold_block(struct gsh_block *block, void *unused)
{
    (void)unused;
    gsh_block_acquire_sigsafe(block);
    if (!atomic_load_explicit(&block->live, memory_order_acquire)) { /* freed meanwhile */
        gsh_block_release_sigsafe(block);
        return;
    }
    block->held_by_fork = true;
    fetch_block(block);
}

static void let_block_go(struct gsh_block *block, void *unused)
{
    (void)unused;
    if (!block->held_by_fork)
        return; /* taken from the pool meanwhile */
    block->held_by_fork = false;
    gsh_block_release_sigsafe(block);
}

static void prepare_on_pool_stack(void *unused)
{
    (void)unused;
    GSH_TRACE_CAUSE("fork", NULL);
    GSH_READER("fork");
    gsh_dispatch_lock_acquire();
    gsh_node_flush_locked(GSH_FLUSH_FORK);
    gsh_arena_lock();
    gsh_arena_visit_live_locked(hold_block, NULL);
    gsh_arena_unregister_all_locked();
    gsh_stats_add(GSH_COUNTER_FORKS, 1);
}

static void prepare(void)
{
    gsh_blas_threads_prepare_fork();
    gsh_stack_pool_run(prepare_on_pool_stack, NULL);
}

static void parent(void)
{
    gsh_arena_visit_live_locked(let_block_go, NULL);
    gsh_arena_unlock();
    gsh_dispatch_lock_release();
    gsh_blas_threads_leave_fork();
}

/* The next live block, for a child. Needs no ARENA lock: a child has one thread. `index` begins at 0. */
static struct gsh_block *next_live_after_fork(uint32_t *index)
{
    while (++*index < gsh_arena_block_end_sigsafe()) {
        struct gsh_block *block = gsh_block_at(*index);
        if (atomic_load_explicit(&block->live, memory_order_acquire))
            return block;
    }
    return NULL;
}

/* The child has no device. SHARED pages are readable until they are written. */
static void forget_device_after_fork(struct gsh_block *block)
{
    block->value = NULL;
    block->held_by_fork = false;
    atomic_store(&block->lock, 0);
    atomic_store(&block->read_pins, 0);
    atomic_store(&block->write_pins, 0);
}

static void child_after_fork(void)
{
    uint32_t index = 0;
    gsh_device_reset_after_fork();
    gsh_blas_threads_reset_after_fork();
    gsh_dispatch_lock_reset_after_fork();
    gsh_dispatch_reset_after_fork();
    gsh_errors_reset_after_fork();
    gsh_service_reset_after_fork();
    gsh_host_threads_reset_after_fork();
    gsh_pages_reset_after_fork();
    for (struct gsh_block *block; (block = next_live_after_fork(&index)) != NULL;)
        forget_device_after_fork(block);
    gsh_lock_words_forget_after_fork(GSH_RANK_BLOCK);
    gsh_arena_reset_after_fork();
    gsh_critical_reset_after_fork();
}

/* ---- a child that ran no handlers ---- */

/* If another thread of the parent held the block, sets each chunk's protection again as its state says. */
static void repeat_protection_after_fork(struct gsh_block *block)
{
    if (atomic_load(&block->lock) == 0)
        return;
    for (unsigned k = 0; k < block->chunks; k++)
        (void)gsh_arena_protect_sigsafe(block, k, k, (enum gsh_chunk_state)block->state[k]);
}

static void adopt_after_fork(void)
{
    uint32_t index = 0;
    for (struct gsh_block *block; (block = next_live_after_fork(&index)) != NULL;)
        repeat_protection_after_fork(block);
    gsh_arena_is_frozen = true;
}

/* ---- without a device ---- */

static void child_without_device_after_fork(void)
{
    uint32_t index = 0;
    gsh_host_threads_reset_after_fork();
    for (struct gsh_block *block; (block = next_live_after_fork(&index)) != NULL;)
        atomic_store(&block->lock, 0);
    gsh_lock_words_forget_after_fork(GSH_RANK_BLOCK);
    gsh_arena_reset_after_fork();
    gsh_critical_reset_after_fork();
}

static void freeze_arena_after_fork(void)
{
    gsh_arena_is_frozen = true;
}

/* ---- life cycle ---- */

void gsh_fork_init_without_device(void)
{
    gsh_forked_add(gsh_arena_lock, gsh_arena_unlock, child_without_device_after_fork);
    gsh_forked_detect(freeze_arena_after_fork);
}

void gsh_fork_init(void)
{
    gsh_forked_add(prepare, parent, child_after_fork);
    gsh_forked_detect(adopt_after_fork);
}
