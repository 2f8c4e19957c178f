/* SPDX-License-Identifier: Apache-2.0
 *
 * Critical sections: while a thread is in one it holds a lock of ours, or a request of it lies with another thread of ours.
 * The program's signal handlers do not run there: they may read an array, and would then wait for the very thread that they
 * interrupted, or leave by siglongjmp. Who stands in front of the handlers (interpose/libc/libc_handler.c, offload/memory/fault.c) asks
 * gsh_critical_is_inside and hands the signal to gsh_critical_defer_sigsafe, which has it delivered when the section ends.
 * Sections nest. Entering and leaving changes one word of the thread; no system call where no signal came.
 */
#pragma once

#include "base.h"
#include "forked.h"

#include <signal.h>
#include <stdatomic.h>

struct gsh_critical {
    volatile uint32_t depth;    /* sections that the thread is in */
    volatile bool has_deferred; /* signals wait for the end of the outermost */
    unsigned
        handlers; /* of the program's, that the thread is in; those that were left by siglongjmp too */
};
extern _Thread_local struct gsh_critical gsh_critical_here;

/* Delivers what was deferred. Keeps errno. Called by gsh_critical_leave alone. */
void gsh_critical_deliver_sigsafe(void);

/* Before the lock is asked for, so that there is no instruction at which it is held outside a section. */
static inline void gsh_critical_enter(void)
{
    gsh_forked_check();
    gsh_critical_here.depth++;
    atomic_signal_fence(memory_order_seq_cst);
}

/* After the lock was given back. */
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

/* In a signal handler that interrupted a section: the signal comes again when the section ends, and until then no other
 * does but those that a thread raises by what it executes, and SIGINT. `context`: the handler's third argument. False where
 * it cannot wait: SIGABRT, and what the interrupted instruction raised; the handler is called at once then. */
bool gsh_critical_defer_sigsafe(int number, siginfo_t *info, void *context);

/* A section in which SIGINT waits for longer than this is taken for one that never ends: a driver call that does not
 * return. */
#define GSH_CRITICAL_TIMEOUT_S 5

/* In the handler of SIGSEGV, of a signal that was sent: whether it is the one that tells of such a section. *is_overdue:
 * the thread is in it still. */
bool gsh_critical_is_alarm_sigsafe(const siginfo_t *info, bool *is_overdue);

/* In a forked child, whose thread may have been in sections when it forked: it is in none. */
void gsh_critical_reset_after_fork(void);
