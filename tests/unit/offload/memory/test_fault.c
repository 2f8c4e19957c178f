/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that are not ours reach the program's handler with its flags; without one the process dies of SIGSEGV.
 */
#include "check.h"
#include "fault.h"
#include "live.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile sig_atomic_t seen;
static void *volatile seen_address;

static void on_segv(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    seen++;
    seen_address = info->si_addr;
    siglongjmp(back, 1);
}

static void on_segv_plain(int number)
{
    seen += number == SIGSEGV ? 10 : 0;
}

static void set_app_handler(void)
{
    struct sigaction action = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    gsh_fault_swap_app_action_sigsafe(&action, NULL);
}

static void check_unmanaged_fault(char *page)
{
    set_app_handler();
    if (sigsetjmp(back, 1) == 0)
        *(volatile char *)page = 1;
    CHECK_INT(seen, 1);
    CHECK(seen_address == page);
    double *a = live_doubles(1000, GSH_ARENA_DEVICE);
    CHECK_INT(live_add(NULL, NULL, 2, a, 1000), GSH_REASON_NONE);
    CHECK(a[999] == 4.0);
    CHECK_INT(seen, 1);
    gsh_arena_free(a);
}

/* An address of the arena that no block holds is an unrelated fault too. */
static void check_wild_arena_address(void)
{
    char *freed = gsh_arena_allocate(5000, GSH_ARENA_DEVICE);
    gsh_arena_free(freed);
    set_app_handler();
    if (sigsetjmp(back, 1) == 0)
        *(volatile char *)freed = 1;
    CHECK_INT(seen, 2);
}

static void check_sent_signals(void)
{
    struct sigaction action = {.sa_handler = on_segv_plain, .sa_flags = (int)SA_RESETHAND}, now;
    gsh_fault_swap_app_action_sigsafe(&action, NULL);
    raise(SIGSEGV);
    CHECK_INT(seen, 12);
    gsh_fault_swap_app_action_sigsafe(NULL, &now);
    CHECK(now.sa_handler == SIG_DFL);
    action = (struct sigaction){.sa_handler = SIG_IGN};
    gsh_fault_swap_app_action_sigsafe(&action, NULL);
    raise(SIGSEGV);
    CHECK_INT(seen, 12);
}

/* A bad pointer faults outside the lock of the application's action. */
static void check_bad_action(void)
{
    set_app_handler();
    int before = seen;
    if (sigsetjmp(back, 1) == 0)
        gsh_fault_swap_app_action_sigsafe((const struct sigaction *)8, NULL);
    CHECK_INT(seen, before + 1);
}

/* `said`: the first bytes that the child writes to stderr, as a string. */
static int status_of_child(char *page, bool raised, char said[256])
{
    int pipes[2];
    CHECK_INT(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        struct sigaction action = {.sa_handler = SIG_DFL};
        gsh_fault_swap_app_action_sigsafe(&action, NULL);
        if (raised)
            raise(SIGSEGV);
        else
            *(volatile char *)page = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    close(pipes[1]);
    ssize_t size = read(pipes[0], said, 255);
    said[size < 0 ? 0 : size] = 0;
    close(pipes[0]);
    return status;
}

static void check_default_action(char *page, bool raised, const char *expected)
{
    char said[256];
    int status = status_of_child(page, raised, said);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    CHECK_STR(said, expected);
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_unmanaged_fault(page);
    check_wild_arena_address();
    check_sent_signals();
    check_bad_action();
    char *freed = gsh_arena_allocate(5000, GSH_ARENA_DEVICE);
    gsh_arena_free(freed);
    check_default_action(page, false, "");
    check_default_action(page, true, "");
    check_default_action(freed, false, "gpushim: access to memory that belongs to no array\n");
    return check_result();
}
