/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranked mutexes. A thread takes them in rising order of lock_ranks.def; debug builds check it.
 * Not safe in a signal handler; its holder is in a critical section (critical.h). No lock is held while Python, NumPy
 * or an original function runs, nor while anything touches memory that may be protected.
 */
#pragma once

#include "base.h"

#include <pthread.h>

enum gsh_lock_rank {
#define X(name) GSH_RANK_##name,
#include "lock_ranks.def"
#undef X
    GSH_RANK_COUNT
};

struct gsh_lock {
    pthread_mutex_t mutex;
    enum gsh_lock_rank rank;
};

#define GSH_LOCK_INITIALIZER(lock_rank)                                                            \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .rank = (lock_rank)                                    \
    }

/* Waits for the lock. Debug builds abort when this thread already holds one of the same or a higher
 * rank. */
void gsh_lock_acquire(struct gsh_lock *lock);
/* Whether this thread holds any of them: it must not wait for another then. */
bool gsh_lock_is_any_held(void);
/* Gives back a lock that this thread holds. */
void gsh_lock_release(struct gsh_lock *lock);
/* In a forked child, makes the lock (held by the forking thread across fork) free again. Its critical section ends with
 * gsh_critical_reset_after_fork. */
void gsh_lock_reset_after_fork(struct gsh_lock *lock);

static inline void gsh_lock_leave(struct gsh_lock **lock)
{
    gsh_lock_release(*lock);
}

/* Holds `lock` until the end of the enclosing scope. */
#define GSH_LOCKED_JOIN(a, b) a##b
#define GSH_LOCKED_NAME(line) GSH_LOCKED_JOIN(gsh_locked_, line)
#define GSH_LOCKED(lock)                                                                           \
    struct gsh_lock *GSH_LOCKED_NAME(__LINE__) __attribute__((cleanup(gsh_lock_leave))) = (lock);  \
    gsh_lock_acquire(GSH_LOCKED_NAME(__LINE__))
