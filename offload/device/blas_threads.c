/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "blas_threads.h"

#include "environment.h"
#include "lock.h"
#include "one_time_cost.h"

#include <stdatomic.h>

static struct gsh_lock lock = GSH_LOCK_INITIALIZER(GSH_RANK_BLAS_THREADS);
static struct gsh_blas_threads blas;
static int usual, lowered; /* numbers of threads, under the lock; 0: the number is not lowered */
static atomic_bool is_used;
static _Atomic unsigned ours; /* threads between lower and restore; written under the lock */

void gsh_blas_threads_sleep_soon(void)
{
    gsh_environment_set_default("OPENBLAS_THREAD_TIMEOUT", "20");
}

void gsh_blas_threads_register(const struct gsh_blas_threads *functions)
{
    blas = *functions;
}

void gsh_blas_threads_lower(unsigned cores)
{
    GSH_LOCKED(&lock);
    ours++;
    if (blas.get == NULL)
        return;
    int count = blas.get(), fewer = gsh_one_time_cost_blas_threads(count, cores);
    if (lowered != 0 || fewer == count)
        return;
    usual = count;
    lowered = fewer;
    blas.set(fewer);
}

static void restore_locked(void)
{
    if (lowered != 0 && blas.get() == lowered)
        blas.set(usual);
    lowered = 0;
}

void gsh_blas_threads_restore(void)
{
    GSH_LOCKED(&lock);
    if (--ours == 0)
        restore_locked();
}

void gsh_blas_threads_note_use(void)
{
    atomic_store_explicit(&is_used, true, memory_order_relaxed);
}

bool gsh_blas_threads_are_used(void)
{
    return atomic_load_explicit(&is_used, memory_order_relaxed);
}

bool gsh_blas_threads_are_beside_ours(void)
{
    return atomic_load_explicit(&ours, memory_order_relaxed) != 0;
}

void gsh_blas_threads_prepare_fork(void)
{
    gsh_lock_acquire(&lock);
    restore_locked();
}

void gsh_blas_threads_leave_fork(void)
{
    gsh_lock_release(&lock);
}

void gsh_blas_threads_reset_after_fork(void)
{
    gsh_lock_reset_after_fork(&lock);
    lowered = 0;
    ours = 0;
}
