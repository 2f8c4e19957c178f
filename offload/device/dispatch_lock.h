/* SPDX-License-Identifier: Apache-2.0
 *
 * The DISPATCH lock (lock_ranks.def): submission to the device, recorded nodes, values and the device's memory. Functions named
 * `_locked` in device/, memory/ and graph/ want it held where their comment does not name another.
 */
#pragma once

/* Waits for the lock. Any thread that holds no lock of ours and no block. Not for signal handlers. */
void gsh_dispatch_lock_acquire(void);
/* Gives it back; the same thread. */
void gsh_dispatch_lock_release(void);
/* In a forked child, whose parent's thread held it across fork: it is free. */
void gsh_dispatch_lock_reset_after_fork(void);
