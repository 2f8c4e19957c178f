/* SPDX-License-Identifier: Apache-2.0
 *
 * One handler for all signals. It reads the program's actions from a table without a lock. If two
 * threads set the same signal's action at the same time, one of the two wins, as without gpushim.
 */
#include "libc_handler.h"

#include "critical.h"

#include <errno.h>

static struct sigaction app[NSIG]; /* the program's action, valid if the kernel's handler is ours */
static gsh_handler_sigaction *set_action;

/* ---- the handler ---- */

/* The kernel passes all three arguments to every handler, regardless of its flags. */
typedef void handler_function(int number, siginfo_t *info, void *context);

static void reset_action(int number)
{
    struct sigaction action = app[number];
    action.sa_handler = SIG_DFL;
    action.sa_flags &= ~(SA_SIGINFO | (int)SA_RESETHAND);
    set_action(number, &action, NULL);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    if (gsh_critical_is_inside() && gsh_critical_defer_sigsafe(number, info, context))
        return;
    handler_function *handler = __atomic_load_n(&app[number].sa_sigaction, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&app[number].sa_flags, __ATOMIC_RELAXED) & (int)SA_RESETHAND)
        reset_action(number);
    gsh_critical_here.handlers++;
    handler(number, info, context);
    gsh_critical_here.handlers--;
}

/* ---- actions ---- */

static bool has_handler(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) ||
           (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static bool is_number(int number)
{
    return number > 0 && number < NSIG;
}

static void remember(int number, const struct sigaction *action)
{
    app[number].sa_mask = action->sa_mask;
    __atomic_store_n(&app[number].sa_flags, action->sa_flags, __ATOMIC_RELAXED);
    __atomic_store_n(&app[number].sa_sigaction, action->sa_sigaction, __ATOMIC_RELEASE);
}

static struct sigaction wrap(struct sigaction action)
{
    action.sa_sigaction = on_signal;
    action.sa_flags = (action.sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
    return action;
}

int gsh_libc_handler_swap(gsh_handler_sigaction *real, bool wraps, int number,
                          const struct sigaction *action, struct sigaction *old)
{
    if (!is_number(number))
        return real(number, action, old);
    struct sigaction before, next = {0}, was = app[number];
    if (action != NULL)
        next = *action;
    bool is_wrapped =
        action != NULL && wraps && has_handler(&next) && next.sa_sigaction != on_signal;
    if (is_wrapped) {
        set_action = real;
        remember(number, &next); /* before the kernel may call our handler */
        next = wrap(next);
    }
    if (real(number, action != NULL ? &next : NULL, &before) != 0) {
        if (is_wrapped)
            remember(number, &was);
        return -1;
    }
    if (old != NULL)
        *old = before.sa_sigaction == on_signal ? was : before;
    return 0;
}

void gsh_libc_handler_adopt(gsh_handler_sigaction *real, int number)
{
    struct sigaction action;
    if (real(number, NULL, &action) == 0 && has_handler(&action))
        gsh_libc_handler_swap(real, true, number, &action, NULL);
}

void gsh_libc_handler_note_interrupt(int number, bool interrupts)
{
    if (!is_number(number))
        return;
    int flags = app[number].sa_flags;
    flags = interrupts ? flags & ~SA_RESTART : flags | SA_RESTART;
    __atomic_store_n(&app[number].sa_flags, flags, __ATOMIC_RELAXED);
}
