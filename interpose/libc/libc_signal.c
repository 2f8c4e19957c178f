/* SPDX-License-Identifier: Apache-2.0
 *
 * Once the fault handler is installed, the kernel's action for SIGSEGV stays gpushim's, while the
 * program sees its own. The program's handlers of other signals are called through ours
 * (libc_handler.h) once NumPy is found. All functions are async-signal-safe like those that they
 * replace, except gsh_libc_signal_adopt. They are exported through assembler labels, as in
 * libc_io.c. Checked by tests/unit/interpose/libc/test_libc_signal.c.
 */
#include "libc_signal.h"

#include "base.h"
#include "fault.h"
#include "forked.h"
#include "libc_calls.h"
#include "libc_death.h"
#include "libc_handler.h"
#include "libc_io_ranges.h"
#include "libc_real.h"
#include "library_call.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define SEGV_BIT (1 << (SIGSEGV - 1)) /* in the int masks of sigblock and sigsetmask */

#define X(result, name, parameters, arguments)                                                     \
    GSH_EXPORT result entry_##name parameters __asm__(#name);
GSH_LIBC_CALLS_SIGNAL(X)
#undef X

GSH_LIBC_REAL_TABLE(GSH_LIBC_CALLS_SIGNAL)

/* ---- actions ---- */

static sigset_t interrupting; /* signals named in siginterrupt, which affects signal() */

static bool expects_numpy; /* Python is in the program; constant once loaded */
static pid_t owner;        /* the process that has these actions; 0 until adopted */

/* A child between vfork and exec shares `owner` and the program's action with its parent, but has
 * its own table of actions in the kernel, which it may change by direct system calls. CPython's
 * subprocess does. */
bool gsh_libc_signal_is_owner(void)
{
    gsh_forked_check();
    return owner == 0 || owner == getpid();
}

/* Whether handlers that are set from this point on are called through ours. */
static bool wraps(void)
{
    gsh_forked_check();
    return owner != 0 && owner == getpid();
}

static bool is_ours(int number)
{
    return number == SIGSEGV && gsh_fault_is_installed() && gsh_libc_signal_is_owner();
}

/* `action` without SIGSEGV in its mask. If a change is needed, the result is in *copy. */
static const struct sigaction *open_mask(const struct sigaction *action, struct sigaction *copy)
{
    if (action == NULL || sigismember(&action->sa_mask, SIGSEGV) != 1 || !gsh_fault_is_installed())
        return action;
    *copy = *action;
    sigdelset(&copy->sa_mask, SIGSEGV);
    return copy;
}

int entry_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction copy;
    if (gsh_library_call_is_inside)
        action = NULL;
    if (!is_ours(number))
        return gsh_libc_death_swap(REAL(sigaction), wraps(), number, open_mask(action, &copy), old);
    gsh_fault_swap_app_action_sigsafe(action, old);
    return 0;
}

int entry___sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return entry_sigaction(number, action, old);
}

/* Sets the program's handler for SIGSEGV; returns its old one. */
static sighandler_t swap_handler(sighandler_t handler, int flags, bool masks_itself)
{
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    sigemptyset(&action.sa_mask);
    if (masks_itself)
        sigaddset(&action.sa_mask, SIGSEGV);
    gsh_fault_swap_app_action_sigsafe(&action, &old);
    return old.sa_handler;
}

/* The same for another signal, with the semantics of signal and similar functions. */
static sighandler_t set_handler(int number, sighandler_t handler, int flags, bool masks_itself)
{
    if (handler == SIG_ERR || number < 1 || number >= NSIG) {
        errno = EINVAL;
        return SIG_ERR;
    }
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    if ((flags & SA_RESTART) && sigismember(&interrupting, number) == 1)
        action.sa_flags &= ~SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (masks_itself)
        sigaddset(&action.sa_mask, number);
    return entry_sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* The program's handler, for a library that may not change it. */
static sighandler_t get_handler(int number)
{
    struct sigaction action;
    return entry_sigaction(number, NULL, &action) == 0 ? action.sa_handler : SIG_ERR;
}

#define SIGNAL_LIKE(name, flags, masks_itself)                                                     \
    sighandler_t entry_##name(int number, sighandler_t handler)                                    \
    {                                                                                              \
        if (gsh_library_call_is_inside)                                                            \
            return get_handler(number);                                                            \
        if (is_ours(number))                                                                       \
            return swap_handler(handler, flags, masks_itself);                                     \
        return owner != 0 ? set_handler(number, handler, flags, masks_itself)                      \
                          : REAL(name)(number, handler);                                           \
    }
SIGNAL_LIKE(signal, SA_RESTART, true)
SIGNAL_LIKE(bsd_signal, SA_RESTART, true)
SIGNAL_LIKE(ssignal, SA_RESTART, true)
SIGNAL_LIKE(sysv_signal, SA_RESETHAND | SA_NODEFER, false)
SIGNAL_LIKE(__sysv_signal, SA_RESETHAND | SA_NODEFER, false)

/* sigset for another signal. */
static sighandler_t hold_or_set(int number, sighandler_t handler)
{
    sigset_t one, before;
    struct sigaction old;
    sigemptyset(&one);
    if (sigaddset(&one, number) != 0)
        return SIG_ERR;
    if (handler == SIG_HOLD) {
        if (entry_sigaction(number, NULL, &old) != 0 ||
            entry_sigprocmask(SIG_BLOCK, &one, &before) != 0)
            return SIG_ERR;
        return sigismember(&before, number) == 1 ? SIG_HOLD : old.sa_handler;
    }
    sighandler_t was = set_handler(number, handler, 0, false);
    if (was == SIG_ERR || entry_sigprocmask(SIG_UNBLOCK, &one, &before) != 0)
        return SIG_ERR;
    return sigismember(&before, number) == 1 ? SIG_HOLD : was;
}

sighandler_t entry_sigset(int number, sighandler_t handler)
{
    if (!is_ours(number))
        return owner != 0 ? hold_or_set(number, handler) : REAL(sigset)(number, handler);
    if (handler != SIG_HOLD)
        return swap_handler(handler, 0, false);
    struct sigaction old;
    gsh_fault_swap_app_action_sigsafe(NULL, &old);
    return old.sa_handler;
}

int entry_sigignore(int number)
{
    if (!is_ours(number))
        return REAL(sigignore)(number);
    swap_handler(SIG_IGN, 0, false);
    return 0;
}

static void note_interrupt(int number, bool interrupts)
{
    if (interrupts)
        sigaddset(&interrupting, number);
    else
        sigdelset(&interrupting, number);
    gsh_libc_handler_note_interrupt(number, interrupts);
}

int entry_siginterrupt(int number, int interrupt)
{
    if (!is_ours(number)) {
        int outcome = REAL(siginterrupt)(number, interrupt);
        if (outcome == 0)
            note_interrupt(number, interrupt != 0);
        return outcome;
    }
    struct sigaction action;
    gsh_fault_swap_app_action_sigsafe(NULL, &action);
    action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    gsh_fault_swap_app_action_sigsafe(&action, NULL);
    return 0;
}

/* ---- masks ---- */

/* Whether SIGSEGV must stay unblocked. If the program contains Python this holds from the start: no
 * other thread could unblock it later in a thread that blocked it. */
static bool keeps_open(void)
{
    return expects_numpy || gsh_fault_is_installed();
}

int entry_sighold(int number)
{
    return number == SIGSEGV && keeps_open() ? 0 : REAL(sighold)(number);
}

/* Whether the program believes that this thread blocks SIGSEGV; used when it reads the mask back. A
 * thread that it starts does not inherit this. */
static _Thread_local bool seems_blocked;

typedef int mask_call(int how, const sigset_t *set, sigset_t *old);

static int change_mask(mask_call *call, int how, const sigset_t *set, sigset_t *old)
{
    gsh_libc_io_reach(set, sizeof *set, false);
    gsh_libc_io_reach(old, sizeof *old, true);
    if (!keeps_open())
        return call(how, set, old);
    sigset_t opened;
    bool was_blocked = seems_blocked, names_it = set != NULL && sigismember(set, SIGSEGV) == 1;
    bool changes_it = names_it || (set != NULL && how == SIG_SETMASK);
    if (names_it && how != SIG_UNBLOCK) {
        opened = *set;
        sigdelset(&opened, SIGSEGV);
        set = &opened;
    }
    int outcome = call(how, set, old);
    if (outcome != 0)
        return outcome;
    if (changes_it)
        seems_blocked = names_it && how != SIG_UNBLOCK;
    if (old != NULL && was_blocked)
        sigaddset(old, SIGSEGV);
    return 0;
}

int entry_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(REAL(sigprocmask), how, set, old);
}

int entry_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(REAL(pthread_sigmask), how, set, old);
}

int entry_sigblock(int mask)
{
    return REAL(sigblock)(keeps_open() ? mask & ~SEGV_BIT : mask);
}

int entry_sigsetmask(int mask)
{
    return REAL(sigsetmask)(keeps_open() ? mask & ~SEGV_BIT : mask);
}

/* ---- life cycle ---- */

/* Unblocks SIGSEGV if the inherited mask blocks it, unless a SIGSEGV is pending. */
static void open_inherited_mask(void)
{
    sigset_t segv, pending, inherited;
    sigemptyset(&segv);
    sigaddset(&segv, SIGSEGV);
    if (sigpending(&pending) == 0 && sigismember(&pending, SIGSEGV) == 0)
        seems_blocked = REAL(pthread_sigmask)(SIG_UNBLOCK, &segv, &inherited) == 0 &&
                        sigismember(&inherited, SIGSEGV) == 1;
}

void gsh_libc_signal_resolve(bool with_python)
{
#define X(result, name, parameters, arguments) FIND(name);
    GSH_LIBC_CALLS_SIGNAL(X)
#undef X
    expects_numpy = with_python;
    if (with_python)
        open_inherited_mask();
}

static void own_after_fork(void)
{
    owner = getpid();
}

void gsh_libc_signal_keep_report(void)
{
    gsh_libc_death_adopt(REAL(sigaction), wraps());
}

void gsh_libc_signal_adopt(void)
{
    if (owner != 0)
        return;
    owner = getpid();
    gsh_forked_add(NULL, NULL, own_after_fork);
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action, copy;
        if (number == SIGSEGV || REAL(sigaction)(number, NULL, &action) != 0)
            continue;
        const struct sigaction *opened = open_mask(&action, &copy);
        if (opened != &action)
            REAL(sigaction)(number, opened, NULL);
        gsh_libc_handler_adopt(REAL(sigaction), number);
    }
}
