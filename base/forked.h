/* SPDX-License-Identifier: Apache-2.0
 *
 * Fork handlers, and detection of children that ran none because they were made by _Fork, clone or the raw system
 * call. Such a child has copies of the parent's locks but none of its threads. So gsh_critical_enter checks before
 * any lock is taken, and runs the child's handlers if they did not run. The mark is a byte in a page that the kernel
 * clears in every child with memory of its own; children of vfork or CLONE_VM are not detected. gsh_forked_check may
 * be called in a signal handler.
 */
#pragma once

#include "base.h"

#include <stdatomic.h>

extern volatile unsigned char *_Atomic gsh_forked_mark; /* -> 0: a child that is not detected yet */

/* Adds handlers in the manner of pthread_atfork: `prepare` runs in reverse order of adding, `parent` and `child`
 * in order of adding. NULL: no handler. */
void gsh_forked_add(void (*prepare)(void), void (*parent)(void), void (*child)(void));
/* Starts the detection of children that ran no handlers; called once. `adopt` runs in such a child before the
 * `child` handlers. Without effect on kernels that cannot clear pages at fork (before Linux 4.14). */
void gsh_forked_detect(void (*adopt)(void));
/* Whether this process is a forked child, one that ran the handlers or a detected one. */
bool gsh_forked_is_child_sigsafe(void);

/* Runs the handlers around a call that forks without running any; `call` returns 0 in the child. Not in a signal
 * handler, not in a critical section. */
long gsh_forked_around(long (*call)(void *context), void *context);
/* The parts of gsh_forked_around, for a child that continues elsewhere. */
void gsh_forked_prepare(void);
void gsh_forked_parent(void);
void gsh_forked_child_after_fork(void);

/* Runs `adopt` and the `child` handlers. Called by gsh_forked_check only. */
void gsh_forked_adopt_sigsafe(void);

static inline void gsh_forked_check(void)
{
    if (GSH_UNLIKELY(*atomic_load_explicit(&gsh_forked_mark, memory_order_acquire) == 0))
        gsh_forked_adopt_sigsafe();
}
