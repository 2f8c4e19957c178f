/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "dispatch_lock.h"

#include "lock.h"

static struct gsh_lock dispatch_lock = GSH_LOCK_INITIALIZER(GSH_RANK_DISPATCH);

void gsh_dispatch_lock_acquire(void)
{
    gsh_lock_acquire(&dispatch_lock);
}

void gsh_dispatch_lock_release(void)
{
    gsh_lock_release(&dispatch_lock);
}

void gsh_dispatch_lock_reset_after_fork(void)
{
    gsh_lock_reset_after_fork(&dispatch_lock);
}
