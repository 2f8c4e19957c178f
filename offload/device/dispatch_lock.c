/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "dispatch_lock.h"

#include "lock.h"

static struct gsh_lock dispatch_lock = GSH_LOCK_INITIALIZER_SPINNING(GSH_RANK_DISPATCH);
static struct gsh_lock launch_lock = GSH_LOCK_INITIALIZER_SPINNING(GSH_RANK_LAUNCH);
static _Atomic bool is_launching; /* set under DISPATCH, cleared under LAUNCH */

void gsh_dispatch_lock_acquire_beside_launch(void)
{
    gsh_lock_acquire(&dispatch_lock);
}

void gsh_dispatch_lock_acquire(void)
{
    gsh_lock_acquire(&dispatch_lock);
    gsh_dispatch_lock_wait_launch();
}

void gsh_dispatch_lock_release(void)
{
    gsh_lock_release(&dispatch_lock);
}

void gsh_dispatch_lock_reset_after_fork(void)
{
    gsh_lock_reset_after_fork(&dispatch_lock);
    gsh_lock_reset_after_fork(&launch_lock);
    atomic_store(&is_launching, false);
}

void gsh_dispatch_lock_begin_launch(void)
{
    gsh_lock_acquire(&launch_lock);
    atomic_store_explicit(&is_launching, true, memory_order_relaxed);
    gsh_lock_release(&dispatch_lock);
}

void gsh_dispatch_lock_end_launch(void)
{
    atomic_store_explicit(&is_launching, false, memory_order_release);
    gsh_lock_release(&launch_lock);
    gsh_dispatch_lock_acquire();
}

bool gsh_dispatch_lock_is_launching(void)
{
    return atomic_load_explicit(&is_launching, memory_order_acquire);
}

void gsh_dispatch_lock_wait_launch(void)
{
    if (!gsh_dispatch_lock_is_launching())
        return;
    gsh_lock_acquire(&launch_lock);
    gsh_lock_release(&launch_lock);
}
