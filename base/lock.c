/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranked mutexes: pthread mutexes and a per-thread bit set of the ranks held, which debug builds check.
 */
#include "lock.h"

#include "critical.h"

#include <stdlib.h>

static _Thread_local unsigned held_ranks;

#ifndef NDEBUG
static void check_rank(const struct gsh_lock *lock)
{
    if (held_ranks >> lock->rank)
        abort();
}
#endif

bool gsh_lock_is_any_held(void)
{
    return held_ranks != 0;
}

void gsh_lock_acquire(struct gsh_lock *lock)
{
#ifndef NDEBUG
    check_rank(lock);
#endif
    gsh_critical_enter();
    pthread_mutex_lock(&lock->mutex);
    held_ranks |= 1U << lock->rank;
}

void gsh_lock_release(struct gsh_lock *lock)
{
    held_ranks &= ~(1U << lock->rank);
    pthread_mutex_unlock(&lock->mutex);
    gsh_critical_leave();
}

void gsh_lock_reset_after_fork(struct gsh_lock *lock)
{
    held_ranks &= ~(1U << lock->rank);
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock->mutex = fresh;
}
