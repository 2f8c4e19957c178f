/* SPDX-License-Identifier: Apache-2.0
 *
 * The handler writes the report, restores the default action and sends the signal again. The signal
 * is blocked until the handler returns; it then ends the process.
 */
#include "libc_death.h"

#include "stats.h"

#include <pthread.h>

static gsh_handler_sigaction *real_action;
static struct sigaction defaults[NSIG]; /* the program's actions that our handler replaces */

static bool is_fatal(int number)
{
    return number == SIGINT || number == SIGTERM;
}

static bool is_default(const struct sigaction *action)
{
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

static void die(int number)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    gsh_stats_report_at_death_sigsafe();
    sigemptyset(&action.sa_mask);
    real_action(number, &action, NULL);
    pthread_kill(pthread_self(), number);
}

int gsh_libc_death_swap(gsh_handler_sigaction *real, bool wraps, int number,
                        const struct sigaction *action, struct sigaction *old)
{
    struct sigaction ours, was;
    if (!is_fatal(number))
        return gsh_libc_handler_swap(real, wraps, number, action, old);
    was = defaults[number];
    if (action != NULL && is_default(action) && gsh_stats_report_is_due_sigsafe()) {
        real_action = real;
        defaults[number] = *action;
        ours = (struct sigaction){.sa_handler = die};
        sigemptyset(&ours.sa_mask);
        action = &ours;
    }
    int outcome = gsh_libc_handler_swap(real, wraps, number, action, old);
    if (outcome == 0 && old != NULL && !(old->sa_flags & SA_SIGINFO) && old->sa_handler == die)
        *old = was;
    return outcome;
}

void gsh_libc_death_adopt(gsh_handler_sigaction *real, bool wraps)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction action;
    for (size_t i = 0; i < GSH_COUNT(numbers); i++)
        if (gsh_libc_handler_swap(real, wraps, numbers[i], NULL, &action) == 0 &&
            is_default(&action))
            gsh_libc_death_swap(real, wraps, numbers[i], &action, NULL);
}
