/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread is absent or running; `mutex` guards the change, and is held across fork. It pauses, looks, and pauses
 * again. After a look that leaves nothing it first sleeps until gsh_idle_wake. The word `posted` changes whenever it
 * is to wake up.
 */
#include "idle.h"

#include "arena_internal.h"
#include "arena_pool.h"
#include "coherence_events.h"
#include "forked.h"
#include "futex.h"
#include "memory_limit.h"
#include "slabs.h"
#include "thread.h"

#include <pthread.h>

#define LOOK_MS 250U
#define IDLE_LOOKS 4U /* for which memory stays unused before it is given back */
#define SCANNED_AT_ONCE 1024U

_Atomic bool gsh_idle_is_noted = true; /* nothing is noted before gsh_idle_init */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static _Atomic bool has_thread; /* changed under the mutex */
static bool is_refused;         /* mutex */
static _Atomic bool is_ending, sleeps;
static _Atomic uint32_t posted;
static uint32_t looks; /* ARENA lock */

uint32_t gsh_idle_clock_locked(void)
{
    return looks;
}

/* ---- a look ---- */

/* The next block that may give its pages back, held. Moves `*cursor` on; NULL: there is none up to it. */
static struct gsh_block *take_locked(uint32_t *cursor, uint32_t age, bool *has_left)
{
    uint32_t end = GSH_MIN(gsh_arena_block_end_sigsafe(), *cursor + SCANNED_AT_ONCE);
    while (*cursor < end) {
        struct gsh_block *block = gsh_block_at((*cursor)++);
        if (block->pooled == 0)
            continue;
        if (looks - block->idle_since >= age && gsh_block_try_acquire_sigsafe(block)) {
            gsh_arena_pool_note_given_back_locked(block);
            return block;
        }
        *has_left = true;
    }
    return NULL;
}

/* Other threads take and free blocks meanwhile. */
bool gsh_idle_trim_host(uint32_t age)
{
    bool has_left = false;
    for (uint32_t cursor = 1; cursor < gsh_arena_block_end_sigsafe();) {
        gsh_arena_lock();
        struct gsh_block *block = take_locked(&cursor, age, &has_left);
        gsh_arena_unlock();
        if (block == NULL)
            continue;
        gsh_arena_give_pages_back_held(block);
        gsh_block_release_sigsafe(block);
    }
    return gsh_slabs_trim(age) || has_left;
}

static bool look(void)
{
    gsh_arena_lock();
    looks++;
    gsh_arena_unlock();
    bool has_left = gsh_idle_trim_host(gsh_memory_limit_is_near() ? 0 : IDLE_LOOKS);
    return gsh_coherence_events.trim_device(IDLE_LOOKS) || has_left;
}

/* ---- the thread ---- */

/* Sleeps until a block is freed, or the thread is to end. */
static void sleep_until_posted(void)
{
    uint32_t seen = atomic_load(&posted);
    atomic_store(&sleeps, true);
    if (!atomic_load(&gsh_idle_is_noted) && !atomic_load(&is_ending))
        gsh_futex_wait_change_sigsafe(&posted, seen, 0);
    atomic_store(&sleeps, false);
}

static void pause_between_looks(void)
{
    uint32_t seen = atomic_load(&posted);
    if (!atomic_load(&is_ending))
        gsh_futex_wait_change_for(&posted, seen, LOOK_MS);
}

/* Looks at most once in LOOK_MS, however often blocks are freed. */
static void *idle_main(void *unused)
{
    bool has_left = true;
    pthread_setname_np(pthread_self(), "gpushim-idle");
    while (!atomic_load(&is_ending)) {
        if (!has_left)
            sleep_until_posted();
        pause_between_looks();
        atomic_store(&gsh_idle_is_noted, false);
        if (!atomic_load(&is_ending))
            has_left = look();
    }
    return unused;
}

static void post(void)
{
    atomic_fetch_add(&posted, 1);
    gsh_futex_wake_all_sigsafe(&posted);
}

/* Without a thread, only the pools' limit applies. */
static void start_locked(void)
{
    atomic_store(&is_ending, false);
    if (gsh_thread_start_joinable(&thread, idle_main, NULL))
        atomic_store(&has_thread, true);
    else
        is_refused = true;
}

static void end_locked(void)
{
    if (!atomic_load(&has_thread))
        return;
    atomic_store(&is_ending, true);
    post();
    pthread_join(thread, NULL);
    atomic_store(&has_thread, false);
}

void gsh_idle_wake(void)
{
    gsh_forked_check();
    atomic_store(&gsh_idle_is_noted, true);
    if (atomic_load(&has_thread)) {
        if (atomic_load(&sleeps))
            post();
        return;
    }
    if (pthread_mutex_trylock(&mutex) !=
        0) { /* another thread changes it; the next call tries again */
        atomic_store(&gsh_idle_is_noted, false);
        return;
    }
    if (!atomic_load(&has_thread) && !is_refused)
        start_locked();
    pthread_mutex_unlock(&mutex);
}

void gsh_idle_end(void)
{
    gsh_forked_check();
    pthread_mutex_lock(&mutex);
    end_locked();
    is_refused = true;
    pthread_mutex_unlock(&mutex);
}

/* ---- fork ---- */

/* Gives all pooled pages back: the thread starts again only when the next block is freed, which may never happen. */
static void prepare(void)
{
    pthread_mutex_lock(&mutex);
    if (!atomic_load(&has_thread))
        return;
    end_locked();
    gsh_idle_trim_host(0);
    atomic_store(&gsh_idle_is_noted, false);
}

static void parent(void)
{
    pthread_mutex_unlock(&mutex);
}

/* Also for a child that was forked without handlers. */
static void child_after_fork(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    mutex = fresh;
    atomic_store(&has_thread, false);
    atomic_store(&sleeps, false);
    atomic_store(&gsh_idle_is_noted, false);
}

void gsh_idle_init(void)
{
    gsh_forked_add(prepare, parent, child_after_fork);
    atomic_store(&gsh_idle_is_noted, false);
}
