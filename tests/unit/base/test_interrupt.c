/* SPDX-License-Identifier: Apache-2.0
 *
 * SIGINT, for which the program has a handler, while a driver call does not return: the handler waits for the call's end,
 * and where that does not come, SIGINT ends the program, also one that came behind another signal. A call that ended in time
 * leaves nothing behind that ends it later. Each case is a process of its own, which its parent interrupts. The files under
 * test are included.
 */
#include "critical.c"     // NOLINT(bugprone-suspicious-include)
#include "libc_death.c"   // NOLINT(bugprone-suspicious-include)
#include "libc_handler.c" // NOLINT(bugprone-suspicious-include)
#include "libc_real.c"    // NOLINT(bugprone-suspicious-include)
#include "libc_signal.c"  // NOLINT(bugprone-suspicious-include)

#include "check.h"
#include "clock.h"
#include "live.h"

#include <time.h>

#define COUNT 4096
#define LONGER_S (GSH_CRITICAL_TIMEOUT_S + 1)

static const struct gsh_backend *below;
static int ready; /* end of a pipe: a byte is written when the call begins */
static unsigned seconds;
static volatile sig_atomic_t calls;

static void count_call(int number)
{
    calls += number == SIGINT;
}

static void dawdle(void)
{
    uint64_t end = gsh_clock_ns() + seconds * UINT64_C(1000000000);
    if (seconds == 0)
        return;
    CHECK_INT(write(ready, "", 1), 1);
    while (gsh_clock_ns() < end)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static enum gsh_status slow_download(void *to, uint64_t from, size_t bytes, bool pinned)
{
    dawdle();
    return below->download(to, from, bytes, pinned);
}

static enum gsh_status slow_allocate(size_t bytes, uint64_t *address)
{
    dawdle();
    return below->allocate(bytes, address);
}

/* The alarm of a call that ended as it came. */
static void send_late_alarm(void)
{
    siginfo_t alarm = {.si_signo = SIGSEGV, .si_code = SI_TIMER};
    alarm.si_value.sival_ptr = &alarm_cookie;
    send_to_self_sigsafe(SIGSEGV, &alarm);
}

/* Exits with what the handler has counted, once an alarm that was left set would have ended it. */
static void run_child(bool in_call, unsigned duration)
{
    alarm(60);
    if (!live_start())
        _exit(CHECK_SKIP);
    gsh_libc_signal_resolve(true);
    gsh_libc_signal_adopt();
    signal(SIGINT, count_call);
    signal(SIGUSR1, count_call);
    below = gsh_backend_get();
    struct gsh_backend slow = *below;
    if (in_call)
        slow.allocate = slow_allocate;
    else
        slow.download = slow_download;
    gsh_backend_replace(&slow);
    double *ones = live_doubles(COUNT, GSH_ARENA_HOST);
    double *memory = live_doubles(COUNT, GSH_ARENA_DEVICE);
    for (int k = 0; k < COUNT; k++)
        ones[k] = 1;
    seconds = duration;
    bool fine = live_add(ones, NULL, 1, memory, COUNT) == GSH_REASON_NONE;
    fine = fine && memory[3] == 2;
    send_late_alarm();
    for (uint64_t end = gsh_clock_ns() + LONGER_S * UINT64_C(1000000000); gsh_clock_ns() < end;)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    _exit(fine ? (int)calls : 70);
}

struct child {
    pid_t pid;
    int began;
};

static struct child start(bool in_call, unsigned duration)
{
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        ready = ends[1];
        close(ends[0]);
        run_child(in_call, duration);
    }
    close(ends[1]);
    return (struct child){.pid = pid, .began = ends[0]};
}

/* False: it has no device. */
static bool has_begun(const struct child *child)
{
    char byte;
    return read(child->began, &byte, 1) == 1;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
}

/* The exit status, or the negated signal. */
static int outcome_of(const struct child *child)
{
    int status = 0;
    CHECK_INT(waitpid(child->pid, &status, 0), child->pid);
    close(child->began);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int main(void)
{
    static const struct {
        bool in_call;
        unsigned duration;
        bool behind_another;
        int outcome;
    } cases[] = {{false, 50, false, -SIGINT}, {true, 50, false, -SIGINT},
                 {false, 50, true, -SIGINT},  {true, 50, true, -SIGINT},
                 {false, 1, false, 1},        {true, 1, false, 1}};
    struct child children[GSH_COUNT(cases)];
    for (size_t k = 0; k < GSH_COUNT(cases); k++)
        children[k] = start(cases[k].in_call, cases[k].duration);
    for (size_t k = 0; k < GSH_COUNT(cases); k++)
        if (!has_begun(&children[k]))
            return outcome_of(&children[k]) == CHECK_SKIP ? CHECK_SKIP : 1;
    nap();
    for (size_t k = 0; k < GSH_COUNT(cases); k++)
        if (cases[k].behind_another)
            CHECK_INT(kill(children[k].pid, SIGUSR1), 0);
    nap();
    for (size_t k = 0; k < GSH_COUNT(cases); k++)
        CHECK_INT(kill(children[k].pid, SIGINT), 0);
    for (size_t k = 0; k < GSH_COUNT(cases); k++)
        CHECK_INT(outcome_of(&children[k]), cases[k].outcome);
    return check_result();
}
