/* SPDX-License-Identifier: Apache-2.0
 *
 * SIGINT, for which the program has a handler, while a driver call does not return: the handler waits for the call's end,
 * and where that does not come, SIGINT ends the program. Each case is a process of its own, which its parent interrupts.
 * The files under test are included.
 */
#include "../../interpose/libc_death.c"   // NOLINT(bugprone-suspicious-include)
#include "../../interpose/libc_handler.c" // NOLINT(bugprone-suspicious-include)
#include "../../interpose/libc_real.c"    // NOLINT(bugprone-suspicious-include)
#include "../../interpose/libc_signal.c"  // NOLINT(bugprone-suspicious-include)

#include "check.h"
#include "clock.h"
#include "live.h"

#include <time.h>

#define COUNT 4096

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

/* Exits with what the handler has counted. */
static void run_child(bool in_call, unsigned duration)
{
    alarm(60);
    if (!live_start())
        _exit(CHECK_SKIP);
    gsh_libc_signal_resolve(true);
    gsh_libc_signal_adopt();
    signal(SIGINT, count_call);
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

static void interrupt(const struct child *child)
{
    char byte;
    if (read(child->began, &byte, 1) == 1) {
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        CHECK_INT(kill(child->pid, SIGINT), 0);
    }
}

/* The exit status, or the negated signal. */
static int outcome(const struct child *child)
{
    int status = 0;
    CHECK_INT(waitpid(child->pid, &status, 0), child->pid);
    close(child->began);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int main(void)
{
    struct child children[] = {start(false, 50), start(true, 50), start(false, 1), start(true, 1)};
    for (size_t k = 0; k < GSH_COUNT(children); k++)
        interrupt(&children[k]);
    int first = outcome(&children[0]);
    if (first == CHECK_SKIP)
        return CHECK_SKIP;
    CHECK_INT(first, -SIGINT);
    CHECK_INT(outcome(&children[1]), -SIGINT);
    CHECK_INT(outcome(&children[2]), 1);
    CHECK_INT(outcome(&children[3]), 1);
    return check_result();
}
