/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranked locks: mutexes, and futex words for state that the fault handler locks too. A thread waits for locks in
 * rising order of lock_ranks.def, except for the pairs named there; debug builds check it. Mutexes are not safe in a
 * signal handler. The holder of a lock is in a critical section (critical.h). No lock is held while Python, NumPy or
 * an original function runs, nor during an access to memory that may be protected.
 */
#pragma once

#include "base.h"

#include <pthread.h>
#include <stdatomic.h>

enum gsh_lock_rank {
#define X(name) GSH_RANK_##name,
#define NESTED(held, wanted, also)
#include "lock_ranks.def"
#undef X
#undef NESTED
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

/* For a lock that is held for microseconds: who waits for it spins for about as long before it sleeps. */
#define GSH_LOCK_INITIALIZER_SPINNING(lock_rank)                                                   \
    {                                                                                              \
        .mutex = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP, .rank = (lock_rank)                        \
    }

/* Waits for the lock. Debug builds abort when this thread already holds a lock of the same or a higher rank, or
 * one that lock_ranks.def forbids. */
void gsh_lock_acquire(struct gsh_lock *lock);
/* Whether this thread holds any ranked lock, mutex or word. It must not wait for another lock then. */
bool gsh_lock_is_any_held(void);
/* Releases a lock that this thread holds. */
void gsh_lock_release(struct gsh_lock *lock);
/* In a forked child: frees a lock that the forking thread held across fork. Its critical section ends with
 * gsh_critical_reset_after_fork. */
void gsh_lock_reset_after_fork(struct gsh_lock *lock);

/* The same operations on a futex word (futex.h). A thread may hold several words of one rank. try_acquire checks
 * no rank. */
void gsh_lock_word_acquire_sigsafe(_Atomic uint32_t *word, enum gsh_lock_rank rank);
bool gsh_lock_word_try_acquire_sigsafe(_Atomic uint32_t *word, enum gsh_lock_rank rank);
void gsh_lock_word_release_sigsafe(_Atomic uint32_t *word, enum gsh_lock_rank rank);
/* In a forked child where all words of the rank have been freed: the thread holds none of them. */
void gsh_lock_words_forget_after_fork(enum gsh_lock_rank rank);

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
