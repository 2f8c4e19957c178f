/* SPDX-License-Identifier: Apache-2.0
 *
 * What is done when the process forks, and how a child notices that nothing was: that of _Fork, clone or the system call
 * itself, which run no handlers. It has the parent's locks and none of its threads, so whoever is about to take a lock asks
 * first (gsh_critical_enter does), and the process is made what the handlers make of a child. The answer is a byte in a page
 * that the kernel empties in every child with memory of its own; a child of vfork or CLONE_VM does not count.
 * gsh_forked_check may be called in a signal handler.
 */
#pragma once

#include "base.h"

#include <stdatomic.h>

extern volatile unsigned char *_Atomic gsh_forked_mark; /* -> 0: forked, and nobody has seen it */

/* Adds handlers as pthread_atfork does: the last added prepares first and is the last in parent and child. NULL: nothing. */
void gsh_forked_add(void (*prepare)(void), void (*parent)(void), void (*child)(void));
/* From now on children that ran no handlers are noticed; once. `adopt` runs in them before the handlers for the child. Where
 * the kernel has no such pages (before Linux 4.14), they are not. */
void gsh_forked_watch(void (*adopt)(void));
/* Whether this process is a forked child, by the handlers or noticed. */
bool gsh_forked_is_child_sigsafe(void);

/* Runs the handlers round a call that forks and runs none itself; it returns 0 in the child. Neither in a signal handler nor
 * in a critical section. */
long gsh_forked_around(long (*call)(void *context), void *context);
/* The same in parts, where the child goes on elsewhere. */
void gsh_forked_prepare(void);
void gsh_forked_parent(void);
void gsh_forked_child_after_fork(void);

/* Makes the process a forked child. Called by gsh_forked_check alone. */
void gsh_forked_adopt_sigsafe(void);

static inline void gsh_forked_check(void)
{
    if (GSH_UNLIKELY(*atomic_load_explicit(&gsh_forked_mark, memory_order_acquire) == 0))
        gsh_forked_adopt_sigsafe();
}
