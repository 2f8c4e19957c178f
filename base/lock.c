/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranked mutexes: pthread mutexes and, in debug builds, a per-thread bit set of the ranks held.
 */
#include "lock.h"

#include <stdlib.h>

#ifndef NDEBUG
static _Thread_local unsigned held_ranks;

static void check_rank(const struct gsh_lock *lock)
{
    if (held_ranks >> lock->rank)
        abort();
}
#endif

void gsh_lock_acquire(struct gsh_lock *lock)
{
#ifndef NDEBUG
    check_rank(lock);
#endif
    pthread_mutex_lock(&lock->mutex);
#ifndef NDEBUG
    held_ranks |= 1U << lock->rank;
#endif
}

void gsh_lock_release(struct gsh_lock *lock)
{
#ifndef NDEBUG
    held_ranks &= ~(1U << lock->rank);
#endif
    pthread_mutex_unlock(&lock->mutex);
}

void gsh_lock_reset_after_fork(struct gsh_lock *lock)
{
#ifndef NDEBUG
    held_ranks &= ~(1U << lock->rank);
#endif
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock->mutex = fresh;
}
