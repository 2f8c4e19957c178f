/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's signal handlers while gpushim holds locks. A handler that reads arrays never waits
 * for the thread that it interrupted; a handler that leaves by siglongjmp leaves no lock held; the
 * program reads back the action that it set, and handlers run with its flags and mask. The files
 * under test are included.
 */
#include "libc_death.c"   // NOLINT(bugprone-suspicious-include)
#include "libc_handler.c" // NOLINT(bugprone-suspicious-include)
#include "libc_real.c"    // NOLINT(bugprone-suspicious-include)
#include "libc_signal.c"  // NOLINT(bugprone-suspicious-include)

#include "check.h"
#include "clock.h"
#include "live.h"
#include "lock.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/time.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* old functions are still called */

#define COUNT 40000
#define ARRAYS 4
#define STRESS_NS UINT64_C(1500000000)

static double *volatile arrays[ARRAYS];
static double *ones;
static volatile sig_atomic_t calls, sum, last_code;
static volatile bool was_inside, leaves;
static sigjmp_buf back;
static struct gsh_lock lock = GSH_LOCK_INITIALIZER(GSH_RANK_ERRORS);

/* ---- what a handler meets ---- */

static void read_arrays(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    was_inside = was_inside || gsh_critical_is_inside();
    for (int k = 0; k < ARRAYS; k++)
        sum += (int)arrays[k][calls % COUNT] != 0;
    calls++;
    if (leaves)
        siglongjmp(back, 1);
}

static void set_timer(int microseconds, bool repeats)
{
    struct itimerval times = {{0, repeats ? microseconds : 0}, {0, microseconds}};
    CHECK_INT(setitimer(ITIMER_REAL, &times, NULL), 0);
}

static void compute(unsigned round)
{
    double *to = arrays[round % ARRAYS];
    CHECK_INT(live_add(ones, NULL, round, to, COUNT), GSH_REASON_NONE);
    if (round % 3 == 0)
        CHECK(to[round % COUNT] == 1 + (double)round);
}

static void test_reading(bool with_jumps)
{
    struct sigaction action = {.sa_sigaction = read_arrays, .sa_flags = SA_SIGINFO | SA_RESTART};
    volatile unsigned round = 0, jumps = 0;
    CHECK_INT(sigaction(SIGALRM, &action, NULL), 0);
    calls = 0;
    leaves = with_jumps;
    uint64_t end = gsh_clock_ns() + STRESS_NS;
    set_timer(500, !with_jumps);
    if (sigsetjmp(back, 1) != 0) {
        jumps++;
        set_timer(
            500,
            false); /* siglongjmp opens the mask first: the next signal might come before it has left */
    }
    while (gsh_clock_ns() < end)
        compute(round++);
    leaves = false;
    set_timer(0, false);
    CHECK(calls > 5 && round > 5);
    CHECK(!was_inside && gsh_critical_here.depth == 0);
    CHECK(!with_jumps || jumps > 5);
}

/* ---- deferral, step by step ---- */

static void note(int number, siginfo_t *info, void *context)
{
    (void)context;
    calls += number;
    last_code = info->si_value.sival_int;
    was_inside = was_inside || gsh_critical_is_inside();
}

static void note_plain(int number)
{
    calls += number;
}

static void send_value(int number, int value)
{
    CHECK_INT(sigqueue(getpid(), number, (union sigval){.sival_int = value}), 0);
}

static bool is_blocked(int number)
{
    sigset_t set;
    sigprocmask(SIG_SETMASK, NULL, &set);
    return sigismember(&set, number) == 1;
}

static void test_deferral(int flags)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | flags};
    CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_INT(sigaction(SIGUSR2, &action, NULL), 0);
    calls = last_code = 0;
    gsh_lock_acquire(&lock);
    send_value(SIGUSR1, 17);
    CHECK_INT(calls, 0);
    CHECK(is_blocked(SIGUSR1) && is_blocked(SIGUSR2) && !is_blocked(SIGSEGV) &&
          !is_blocked(SIGINT));
    errno = 5;
    gsh_lock_release(&lock);
    CHECK_INT(errno, 5);
    CHECK_INT(calls, SIGUSR1);
    CHECK_INT(last_code, 17);
    CHECK(!is_blocked(SIGUSR1) && !was_inside);
    send_value(SIGUSR2, 18);
    CHECK_INT(calls, SIGUSR1 + SIGUSR2);
}

/* SIGINT comes in spite of what was deferred before it, and waits too; SIGSEGV, which is never blocked, waits as well. */
static void test_several(void)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    int numbers[] = {SIGUSR1, SIGINT, SIGSEGV}, all = 0;
    for (size_t k = 0; k < GSH_COUNT(numbers); k++)
        CHECK_INT(sigaction(numbers[k], &action, NULL), 0);
    calls = 0;
    gsh_lock_acquire(&lock);
    for (size_t k = 0; k < GSH_COUNT(numbers); k++) {
        send_value(numbers[k], 3);
        all += numbers[k];
    }
    CHECK_INT(calls, 0);
    gsh_lock_release(&lock);
    CHECK_INT(calls, all);
    CHECK(!was_inside && !is_blocked(SIGINT));
    signal(SIGINT, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
}

static void test_abort(void)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    CHECK_INT(sigaction(SIGABRT, &action, NULL), 0);
    calls = 0;
    gsh_lock_acquire(&lock);
    raise(SIGABRT);
    CHECK_INT(calls, SIGABRT);
    gsh_lock_release(&lock);
    was_inside = false;
}

/* ---- what the program reads back ---- */

static void test_actions(void)
{
    struct sigaction action = {.sa_handler = note_plain, .sa_flags = SA_RESETHAND | SA_NODEFER},
                     old;
    sigaddset(&action.sa_mask, SIGUSR2);
    CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_INT(sigaction(SIGUSR1, NULL, &old), 0);
    CHECK(old.sa_handler == note_plain && old.sa_flags == action.sa_flags);
    CHECK(sigismember(&old.sa_mask, SIGUSR2) == 1);
    calls = 0;
    gsh_lock_acquire(&lock);
    raise(SIGUSR1); /* the deferred call is the one that resets */
    gsh_lock_release(&lock);
    CHECK_INT(calls, SIGUSR1);
    CHECK_INT(sigaction(SIGUSR1, NULL, &old), 0);
    CHECK(old.sa_handler == SIG_DFL);
    CHECK(signal(SIGUSR1, SIG_IGN) == SIG_DFL);
    CHECK(signal(SIGUSR1, note_plain) == SIG_IGN);
    CHECK_INT(sigaction(SIGUSR1, NULL, &old), 0);
    CHECK(old.sa_handler == note_plain && old.sa_flags == SA_RESTART);
    CHECK_INT(siginterrupt(SIGUSR1, 1), 0);
    CHECK_INT(sigaction(SIGUSR1, NULL, &old), 0);
    CHECK(old.sa_flags == 0);
    CHECK(signal(SIGUSR1, note_plain) == note_plain);
    CHECK_INT(sigaction(SIGUSR1, NULL, &old), 0);
    CHECK(old.sa_flags == 0);
    CHECK(sigset(SIGUSR1, SIG_HOLD) == note_plain && is_blocked(SIGUSR1));
    CHECK(sigset(SIGUSR1, note_plain) == SIG_HOLD && !is_blocked(SIGUSR1));
    CHECK(sysv_signal(SIGUSR1, note_plain) == note_plain);
    CHECK_INT(raise(SIGUSR1), 0);
    CHECK(signal(SIGUSR1, SIG_DFL) == SIG_DFL);
    CHECK(signal(NSIG + 3, note_plain) == SIG_ERR && errno == EINVAL);
    CHECK_INT(sigaction(SIGKILL, &action, NULL), -1);
}

/* A handler of before, which nobody gave to our sigaction. */
static void test_adopted(void)
{
    struct sigaction old;
    CHECK_INT(sigaction(SIGWINCH, NULL, &old), 0);
    CHECK(old.sa_handler == note_plain);
    calls = 0;
    gsh_lock_acquire(&lock);
    raise(SIGWINCH);
    CHECK_INT(calls, 0);
    gsh_lock_release(&lock);
    CHECK_INT(calls, SIGWINCH);
}

/* A child that was forked in a section with a signal deferred: it gets none and blocks none. */
static void test_fork(void)
{
    signal(SIGUSR1, note_plain);
    calls = 0;
    gsh_critical_enter();
    raise(SIGUSR1);
    pid_t child = fork();
    if (child == 0) {
        bool fine = calls == 0 && !is_blocked(SIGUSR1) && !gsh_critical_is_inside();
        raise(SIGUSR1);
        _exit(fine && calls == SIGUSR1 ? 3 : 4);
    }
    gsh_critical_leave();
    CHECK_INT(calls, SIGUSR1);
    int status = 0;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(WEXITSTATUS(status), 3);
}

int main(void)
{
    alarm(100); /* a dead-lock ends the test */
    gsh_libc_signal_resolve(true);
    struct sigaction early = {.sa_handler = note_plain};
    REAL(sigaction)(SIGWINCH, &early, NULL);
    if (!live_start())
        return CHECK_SKIP;
    gsh_libc_signal_adopt();
    test_deferral(0);
    test_deferral(SA_NODEFER | SA_RESTART);
    test_several();
    test_abort();
    test_actions();
    test_adopted();
    test_fork();
    ones = live_doubles(COUNT, GSH_ARENA_HOST);
    for (int k = 0; k < COUNT; k++)
        ones[k] = 1;
    for (int k = 0; k < ARRAYS; k++)
        arrays[k] = live_doubles(COUNT, GSH_ARENA_DEVICE);
    test_reading(false);
    test_reading(true);
    return live_end();
}
