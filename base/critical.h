/* SPDX-License-Identifier: Apache-2.0
 *
 * Critical sections. A thread is in one while it holds a lock of the library, or while another thread of the library
 * works on its request. The program's signal handlers do not run inside a section: a handler may read an array and
 * wait for the thread that it interrupted, or leave by siglongjmp. The library's own handlers run first
 * (interpose/libc/libc_handler.c, offload/memory/fault.c). They call gsh_critical_is_inside and pass the signal to
 * gsh_critical_defer_sigsafe; it is delivered when the section ends. Sections nest. Entering and leaving change one
 * word of the thread, and make no system call unless a signal was deferred.
 */
#pragma once

#include "base.h"
#include "forked.h"

#include <signal.h>
#include <stdatomic.h>

struct gsh_critical {
    volatile uint32_t depth;    /* sections that the thread is in */
    volatile bool has_deferred; /* signals wait for the end of the outermost section */
    unsigned handlers;          /* program handlers that the thread is in, or left by siglongjmp */
};
extern _Thread_local struct gsh_critical gsh_critical_here;

/* Delivers the deferred signals. Keeps errno. Called by gsh_critical_leave only. */
void gsh_critical_deliver_sigsafe(void);

/* Called before the lock is requested, so that the lock is never held outside a section. */
static inline void gsh_critical_enter(void)
{
    gsh_forked_check();
    gsh_critical_here.depth++;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Called after the lock was released. */
static inline void gsh_critical_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (--gsh_critical_here.depth == 0 && GSH_UNLIKELY(gsh_critical_here.has_deferred))
        gsh_critical_deliver_sigsafe();
}

/* Whether the thread, or the code that a signal handler interrupted, is in a section. */
static inline bool gsh_critical_is_inside(void)
{
    return gsh_critical_here.depth != 0;
}

/* Called in a signal handler that interrupted a section. The signal is delivered again when the section ends;
 * until then all other signals are blocked but SIGINT and those that an instruction of the thread raises.
 * `context`: the handler's third argument. False where the signal cannot wait (SIGABRT, or the interrupted
 * instruction raised it): the caller then runs the program's handler at once. */
bool gsh_critical_defer_sigsafe(int number, siginfo_t *info, void *context);

/* A section in which SIGINT waits for longer than this is taken for one that never ends: a driver call that does not
 * return. */
#define GSH_CRITICAL_TIMEOUT_S 5

/* Called in the handler of SIGSEGV for a signal that was sent. True where the signal is the alarm of
 * GSH_CRITICAL_TIMEOUT_S. *is_overdue: the thread is still in the section. */
bool gsh_critical_is_alarm_sigsafe(const siginfo_t *info, bool *is_overdue);

/* Called in a forked child: ends all sections that its thread was in when it forked. */
void gsh_critical_reset_after_fork(void);
