/* SPDX-License-Identifier: Apache-2.0
 *
 * Deferral queues the signal again to the same thread and blocks it in the mask of the interrupted code, so that it
 * stays pending until the end of the section restores that mask. System calls are raw, because the program may
 * interpose the C library's functions.
 */
#include "critical.h"

#include "raw_syscall.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#define KERNEL_MASK_BYTES 8 /* of sigset_t, the part that the kernel uses */

_Thread_local struct gsh_critical gsh_critical_here;

/* Written in signal handlers that interrupt a section, read at its end. */
static _Thread_local struct {
    sigset_t mask; /* the interrupted code's */
    bool has_segv; /* SIGSEGV is never blocked: a deferred one is kept here */
    siginfo_t segv;
} deferred;

/* ---- the alarm for SIGINT in a section that does not end ---- */

/* A timer of the thread. It sends SIGSEGV, the one signal that is always open and has a handler of the library. */
static _Thread_local struct {
    int timer;
    bool is_set;
} timeout;
static char alarm_cookie; /* its address tells our timers' signals from others' */

static void set_alarm_sigsafe(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGSEGV};
    event.sigev_value.sival_ptr = &alarm_cookie;
    event._sigev_un._tid = (int)gsh_raw_syscall3(SYS_gettid, 0, 0, 0);
    struct itimerspec when = {.it_value = {.tv_sec = GSH_CRITICAL_TIMEOUT_S}};
    if (timeout.is_set || gsh_raw_syscall3(SYS_timer_create, CLOCK_MONOTONIC, (long)&event,
                                           (long)&timeout.timer) != 0)
        return;
    gsh_raw_syscall5(SYS_timer_settime, timeout.timer, 0, (long)&when, 0, 0);
    timeout.is_set = true;
}

static void clear_alarm_sigsafe(void)
{
    if (timeout.is_set)
        gsh_raw_syscall3(SYS_timer_delete, timeout.timer, 0, 0);
    timeout.is_set = false;
}

bool gsh_critical_is_alarm_sigsafe(const siginfo_t *info, bool *is_overdue)
{
    if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &alarm_cookie)
        return false;
    *is_overdue = timeout.is_set; /* else the section ended as it came */
    return true;
}

/* ---- deferral ---- */

static bool comes_of_instruction_sigsafe(int number, const siginfo_t *info)
{
    return info->si_code > 0 && (number == SIGBUS || number == SIGFPE || number == SIGILL ||
                                 number == SIGTRAP || number == SIGSYS || number == SIGSEGV);
}

/* Blocks all signals but those that an instruction of the thread raises, and SIGINT, which must reach a thread
 * whose section does not end. */
static void fill_mask_sigsafe(sigset_t *mask)
{
    static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGINT};
    sigfillset(mask);
    for (size_t k = 0; k < GSH_COUNT(open); k++)
        sigdelset(mask, open[k]);
}

static void set_mask_sigsafe(const sigset_t *mask)
{
    gsh_raw_syscall5(SYS_rt_sigprocmask, SIG_SETMASK, (long)mask, 0, KERNEL_MASK_BYTES, 0);
}

static void send_to_self_sigsafe(int number, siginfo_t *info)
{
    long process = gsh_raw_syscall3(SYS_getpid, 0, 0, 0);
    long thread = gsh_raw_syscall3(SYS_gettid, 0, 0, 0);
    if (gsh_raw_syscall5(SYS_rt_tgsigqueueinfo, process, thread, number, (long)info, 0) != 0)
        gsh_raw_syscall3(SYS_tgkill, process, thread, number); /* the queue is full */
}

bool gsh_critical_defer_sigsafe(int number, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    sigset_t closed;
    if (number == SIGABRT || comes_of_instruction_sigsafe(number, info))
        return false;
    if (!gsh_critical_here.has_deferred) {
        memcpy(&deferred.mask, &interrupted->uc_sigmask, KERNEL_MASK_BYTES);
        fill_mask_sigsafe(&closed);
        memcpy(&interrupted->uc_sigmask, &closed, KERNEL_MASK_BYTES);
    }
    if (number == SIGSEGV) {
        deferred.segv = *info;
        deferred.has_segv = true;
    } else {
        sigaddset(&interrupted->uc_sigmask, number);
        sigfillset(&closed); /* the signal's action may leave the signal itself open */
        sigdelset(&closed, SIGSEGV);
        set_mask_sigsafe(&closed);
        send_to_self_sigsafe(number, info);
    }
    gsh_critical_here.has_deferred = true;
    if (number == SIGINT)
        set_alarm_sigsafe();
    return true;
}

/* Restores the mask last: pending handlers run inside that call and may leave it by siglongjmp. */
void gsh_critical_deliver_sigsafe(void)
{
    sigset_t mask = deferred.mask;
    bool has_segv = deferred.has_segv;
    siginfo_t segv = deferred.segv;
    deferred.has_segv = false;
    gsh_critical_here.has_deferred = false;
    clear_alarm_sigsafe();
    if (has_segv)
        send_to_self_sigsafe(SIGSEGV, &segv);
    set_mask_sigsafe(&mask);
}

void gsh_critical_reset_after_fork(void)
{
    gsh_critical_here.depth = 0;
    deferred.has_segv = false;
    timeout.is_set = false; /* timers are not inherited */
    if (gsh_critical_here.has_deferred)
        gsh_critical_deliver_sigsafe();
}
