/* SPDX-License-Identifier: Apache-2.0
 *
 * A program sets, reads and blocks SIGSEGV with every function of libc, while the fault handler is
 * installed. The program sees its own settings; faults outside arrays and sent signals reach it;
 * data on the device stays readable in handlers and in threads that block all signals; fork and
 * vfork children do not affect the parent. The file under test is included.
 */
#include "libc_death.c"   // NOLINT(bugprone-suspicious-include)
#include "libc_handler.c" // NOLINT(bugprone-suspicious-include)
#include "libc_real.c"    // NOLINT(bugprone-suspicious-include)
#include "libc_signal.c"  // NOLINT(bugprone-suspicious-include)

#include "check.h"
#include "live.h"

#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* old functions are still called */

#define COUNT 4096

static volatile sig_atomic_t seen;
static void *seen_address;
static sigjmp_buf back;
static double *volatile memory;

static void count_signal(int number)
{
    seen += number;
}

static void leave_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    seen_address = info->si_addr;
    siglongjmp(back, 1);
}

static void read_memory(int number)
{
    seen += number + (int)memory[7];
}

static void offload_memory(void)
{
    static double *ones;
    if (ones == NULL)
        ones = live_doubles(COUNT, GSH_ARENA_HOST);
    for (size_t i = 0; i < COUNT; i++)
        ones[i] = 1;
    CHECK_INT(live_add(ones, NULL, 1, memory, COUNT), GSH_REASON_NONE);
    CHECK_INT(gsh_coherence_residency(memory), GSH_RESIDENT_DEVICE);
}

static bool is_fetched(void)
{
    offload_memory();
    return memory[COUNT - 1] == 2;
}

static sighandler_t current_handler(void)
{
    struct sigaction action;
    CHECK_INT(sigaction(SIGSEGV, NULL, &action), 0);
    return action.sa_handler;
}

/* The kernel's own idea, past libc and us. */
static bool kernel_has(sighandler_t handler)
{
    struct sigaction action;
    CHECK_INT(REAL(sigaction)(SIGSEGV, NULL, &action), 0);
    return action.sa_handler == handler;
}

static bool kernel_blocks(int number)
{
    sigset_t set;
    CHECK_INT(REAL(sigprocmask)(SIG_SETMASK, NULL, &set), 0);
    return sigismember(&set, number) == 1;
}

static bool seems_to_block(int number)
{
    sigset_t set;
    CHECK_INT(sigprocmask(SIG_SETMASK, NULL, &set), 0);
    return sigismember(&set, number) == 1;
}

/* Before the handler is installed everything is libc's. */
static void test_plain(void)
{
    signal(SIGSEGV, SIG_DFL); /* a sanitizer has its own */
    CHECK(signal(SIGSEGV, count_signal) == SIG_DFL);
    CHECK(kernel_has(count_signal));
    CHECK(signal(SIGSEGV, SIG_DFL) == count_signal);
    CHECK(kernel_has(SIG_DFL));
    struct sigaction action = {.sa_handler = read_memory};
    sigfillset(&action.sa_mask);
    CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_INT(sigaction(SIGUSR1, NULL, &action), 0);
    CHECK_INT(sigismember(&action.sa_mask, SIGSEGV), 1);
    sigset_t all, set;
    sigfillset(&all);
    CHECK_INT(pthread_sigmask(SIG_BLOCK, &all, NULL), 0);
    CHECK_INT(sigprocmask(SIG_SETMASK, NULL, &set), 0);
    CHECK_INT(sigismember(&set, SIGSEGV), 1);
    CHECK_INT(pthread_sigmask(SIG_UNBLOCK, &all, NULL), 0);
    CHECK_INT(sigaction(NSIG + 1, NULL, &action), -1);
    CHECK_INT(errno, EINVAL);
}

static void *block_early(void *unused)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    sigprocmask(SIG_SETMASK, &all, &before);
    sighold(SIGSEGV);
    sigblock(-1);
    sigsetmask(-1);
    CHECK_INT(sigismember(&before, SIGUSR1), 1);
    CHECK(!kernel_blocks(SIGSEGV) && seems_to_block(SIGSEGV) && kernel_blocks(SIGUSR1));
    pthread_barrier_wait(unused);
    pthread_barrier_wait(unused); /* the handler is installed, the data on the device */
    return memory[3] == 2 ? unused : NULL;
}

/* A program with Python: a mask that it inherited is opened, and no thread closes its own even
 * before the handler is installed. Actions stay libc's until then. */
static void test_early(pthread_t *thread, pthread_barrier_t *barrier)
{
    sigset_t segv, set;
    sigemptyset(&segv);
    sigaddset(&segv, SIGSEGV);
    CHECK_INT(pthread_sigmask(SIG_BLOCK, &segv, NULL), 0);
    gsh_libc_signal_resolve(false);
    CHECK_INT(sigprocmask(SIG_SETMASK, NULL, &set), 0);
    CHECK_INT(sigismember(&set, SIGSEGV), 1);
    CHECK_INT(kill(getpid(), SIGSEGV), 0);
    gsh_libc_signal_resolve(true);
    CHECK_INT(sigpending(&set), 0);
    CHECK_INT(sigismember(&set, SIGSEGV), 1);
    int number;
    CHECK_INT(sigwait(&segv, &number), 0);
    gsh_libc_signal_resolve(true);
    CHECK(!kernel_blocks(SIGSEGV) && seems_to_block(SIGSEGV));
    CHECK_INT(sigprocmask(SIG_UNBLOCK, &segv, &set), 0);
    CHECK_INT(sigismember(&set, SIGSEGV), 1);
    CHECK(!seems_to_block(SIGSEGV));
    CHECK_INT(sigprocmask(SIG_BLOCK, &segv, NULL), 0);
    CHECK_INT(sigprocmask(SIG_BLOCK + 77, &segv, NULL), -1);
    CHECK(seems_to_block(SIGSEGV));
    sigset_t nothing;
    sigemptyset(&nothing);
    CHECK_INT(sigprocmask(SIG_SETMASK, &nothing, &set), 0);
    CHECK_INT(sigismember(&set, SIGSEGV), 1);
    CHECK(!seems_to_block(SIGSEGV));
    CHECK(signal(SIGSEGV, count_signal) == SIG_DFL);
    CHECK(kernel_has(count_signal));
    CHECK(signal(SIGSEGV, SIG_DFL) == count_signal);
    pthread_barrier_init(barrier, NULL, 2);
    CHECK_INT(pthread_create(thread, NULL, block_early, barrier), 0);
    pthread_barrier_wait(barrier);
}

static void test_blocked_early(pthread_t thread, pthread_barrier_t *barrier)
{
    void *result;
    offload_memory();
    pthread_barrier_wait(barrier);
    pthread_join(thread, &result);
    CHECK(result == barrier);
}

static void test_setting(void)
{
    CHECK(current_handler() == SIG_DFL);
    CHECK(signal(SIGSEGV, count_signal) == SIG_DFL);
    CHECK(current_handler() == count_signal);
    CHECK(!kernel_has(count_signal));
    CHECK(is_fetched());
    CHECK_INT(raise(SIGSEGV), 0);
    CHECK_INT(seen, SIGSEGV);
    CHECK(ssignal(SIGSEGV, SIG_IGN) == count_signal);
    CHECK_INT(raise(SIGSEGV), 0);
    CHECK_INT(seen, SIGSEGV);
    CHECK(sysv_signal(SIGSEGV, count_signal) == SIG_IGN);
    CHECK_INT(raise(SIGSEGV), 0);
    CHECK_INT(seen, 2 * SIGSEGV);
    CHECK(current_handler() == SIG_DFL);
    CHECK(signal(SIGSEGV, SIG_ERR) == SIG_ERR && errno == EINVAL);
    CHECK(sigset(SIGSEGV, count_signal) == SIG_DFL);
    CHECK(sigset(SIGSEGV, SIG_HOLD) == count_signal);
    CHECK_INT(sigignore(SIGSEGV), 0);
    CHECK(current_handler() == SIG_IGN);
    CHECK_INT(siginterrupt(SIGSEGV, 0), 0);
    struct sigaction action;
    CHECK_INT(sigaction(SIGSEGV, NULL, &action), 0);
    CHECK(action.sa_flags & SA_RESTART);
    CHECK_INT(siginterrupt(SIGSEGV, 1), 0);
    CHECK_INT(sigaction(SIGSEGV, NULL, &action), 0);
    CHECK(!(action.sa_flags & SA_RESTART));
    CHECK(signal(SIGSEGV, SIG_DFL) == SIG_IGN);
    CHECK(is_fetched());
}

static void test_unmanaged_fault(void)
{
    struct sigaction action = {.sa_sigaction = leave_fault, .sa_flags = SA_SIGINFO}, old;
    CHECK_INT(sigaction(SIGSEGV, &action, NULL), 0);
    CHECK_INT(sigaction(SIGSEGV, NULL, &old), 0);
    CHECK(old.sa_sigaction == leave_fault && old.sa_flags & SA_SIGINFO);
    char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sigsetjmp(back, 1) == 0)
        *(volatile char *)(page + 5) = 1;
    CHECK(seen_address == page + 5);
    munmap(page, 4096);
    CHECK(is_fetched());
    CHECK(signal(SIGSEGV, SIG_DFL) != SIG_ERR);
}

static void *block_all(void *unused)
{
    (void)unused;
    sigset_t all, before;
    sigfillset(&all);
    bool fine = pthread_sigmask(SIG_BLOCK, &all, NULL) == 0 &&
                sigprocmask(SIG_SETMASK, &all, &before) == 0 &&
                sigismember(&before, SIGSEGV) == 1 && sigismember(&before, SIGUSR1) == 1 &&
                seems_to_block(SIGSEGV);
    sigblock(-1);
    sigsetmask(-1);
    sighold(SIGSEGV);
    fine = fine && !kernel_blocks(SIGSEGV) && kernel_blocks(SIGUSR1);
    return fine && memory[3] == 2 ? unused : NULL;
}

static void test_masks(void)
{
    offload_memory();
    pthread_t thread;
    void *result;
    CHECK_INT(pthread_create(&thread, NULL, block_all, &result), 0);
    pthread_join(thread, &result);
    CHECK(result == &result);
    /* SIGUSR1's action was set with a full mask before the library came to life. */
    offload_memory();
    seen = 0;
    CHECK_INT(raise(SIGUSR1), 0);
    CHECK_INT(seen, SIGUSR1 + 2);
    struct sigaction action = {.sa_handler = read_memory};
    sigfillset(&action.sa_mask);
    CHECK_INT(sigaction(SIGUSR2, &action, NULL), 0);
    offload_memory();
    CHECK_INT(raise(SIGUSR2), 0);
    CHECK_INT(seen, SIGUSR1 + 2 + SIGUSR2 + 2);
}

static int exit_status(pid_t child)
{
    int status;
    CHECK_INT(waitpid(child, &status, 0), child);
    return status;
}

/* A vfork child resets its signals, as CPython's subprocess does: the parent's action stays. */
static void test_vfork(void)
{
    CHECK(signal(SIGSEGV, count_signal) == SIG_DFL);
    struct sigaction action = {.sa_handler = SIG_DFL};
    pid_t child = vfork();
    if (child == 0) {
        entry_sigaction(SIGSEGV, &action, NULL); // NOLINT(clang-analyzer-unix.Vfork): the case
        _exit(kernel_has(SIG_DFL) ? 3 : 4);      // NOLINT(clang-analyzer-unix.Vfork)
    }
    CHECK_INT(WEXITSTATUS(exit_status(child)), 3);
    CHECK(current_handler() == count_signal);
    CHECK(is_fetched());
}

/* A fork child is a program of its own, with the handler still ours. */
static void test_fork(void)
{
    offload_memory();
    pid_t child = fork();
    if (child == 0) {
        bool fine = memory[0] == 2 && current_handler() == count_signal &&
                    signal(SIGSEGV, SIG_DFL) == count_signal && !kernel_has(SIG_DFL);
        memory[1] = 5;
        _exit(fine && memory[1] == 5 ? 3 : 4);
    }
    CHECK_INT(WEXITSTATUS(exit_status(child)), 3);
    CHECK(current_handler() == count_signal);
    CHECK(signal(SIGSEGV, SIG_DFL) == count_signal);
    child = fork();
    if (child == 0) {
        volatile uintptr_t nowhere = 8;
        *(volatile int *)nowhere = 1;
        _exit(0);
    }
    int status = exit_status(child);
    CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV : WEXITSTATUS(status) != 0);
}

int main(void)
{
    pthread_t early;
    pthread_barrier_t barrier;
    test_plain();
    test_early(&early, &barrier);
    if (!live_start())
        return CHECK_SKIP;
    gsh_libc_signal_adopt();
    memory = live_doubles(COUNT, GSH_ARENA_DEVICE);
    test_blocked_early(early, &barrier);
    test_setting();
    test_unmanaged_fault();
    test_masks();
    test_vfork();
    test_fork();
    return check_result();
}
