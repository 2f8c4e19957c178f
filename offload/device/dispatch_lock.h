/* SPDX-License-Identifier: Apache-2.0
 *
 * The DISPATCH lock (lock_ranks.def): submission to the device, recorded nodes, values and the device's memory. Functions named
 * `_locked` in device/, memory/ and graph/ want it held where their comment does not name another.
 *
 * The thread that feeds an idle device would keep the program's threads from recording. It prepares one piece of work at a time
 * under the lock, gives the lock away, and does the work, a launch of the backend or a plan, under the LAUNCH lock: the launch is
 * in flight. Who holds DISPATCH then may record nodes. Everything else that the lock guards wants that no launch is in
 * flight: gsh_dispatch_lock_acquire waits for that, and gsh_dispatch_lock_wait_launch. A launch in flight takes no lock of a rank
 * below LAUNCH, so that a thread may wait for it with blocks held. A new one begins only under DISPATCH.
 */
#pragma once

#include <stdbool.h>

/* Waits for the lock, and for the launch in flight. Any thread that holds no lock of ours and no block. Not for signal handlers. */
void gsh_dispatch_lock_acquire(void);
/* Waits for the lock alone: a launch may be in flight. */
void gsh_dispatch_lock_acquire_beside_launch(void);
/* Gives it back; the same thread. */
void gsh_dispatch_lock_release(void);
/* In a forked child, whose parent's thread held it across fork: it is free, and no launch is in flight. */
void gsh_dispatch_lock_reset_after_fork(void);

/* Gives the lock away: what the thread does until gsh_dispatch_lock_end_launch is a launch in flight. None is, and the
 * thread holds no other lock. */
void gsh_dispatch_lock_begin_launch(void);
/* Ends the launch and takes the lock again, as gsh_dispatch_lock_acquire. Other threads may have held it meanwhile. */
void gsh_dispatch_lock_end_launch(void);
/* Whether a launch is in flight. False stays so while the caller holds the DISPATCH lock. */
bool gsh_dispatch_lock_is_launching(void);
/* Waits for the launch in flight. Caller holds the DISPATCH lock; it may hold locks of a rank below LAUNCH. */
void gsh_dispatch_lock_wait_launch(void);
