/* SPDX-License-Identifier: Apache-2.0
 *
 * Forks that are awkward: a download that fails while forking, and children that ran no handlers, while another thread of
 * the parent holds every lock, or forks. They compute on the host, or stop with one line; none waits.
 */
#include "arena_internal.h"
#include "backend.h"
#include "check.h"
#include "coherence_internal.h"
#include "dispatch_lock.h"
#include "forked.h"
#include "idle.h"
#include "live.h"
#include "node.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#define COUNT 4096

static double *ones, *memory;
static const struct gsh_backend *below;
static unsigned failures; /* downloads still to fail */

static enum gsh_status fail_download(void *to, uint64_t from, size_t bytes, bool pinned)
{
    if (failures == 0)
        return below->download(to, from, bytes, pinned);
    failures--;
    return GSH_FAILED;
}

static void offload_memory(double value)
{
    CHECK_INT(live_add(ones, NULL, value - 1, memory, COUNT), GSH_REASON_NONE);
    CHECK_INT(gsh_coherence_residency(memory), GSH_RESIDENT_DEVICE);
}

/* The signal that ended the child, or its exit status. A child that waits is ended by SIGALRM. */
static int outcome_of(pid_t child)
{
    int status = 0;
    CHECK_INT(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- a download fails ---- */

static int fork_and_read(double expected)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(memory[COUNT - 1] == expected && memory[0] == expected ? 0 : 1);
    }
    return outcome_of(child);
}

static void test_failing_download(void)
{
    struct gsh_backend failing = *below;
    failing.download = fail_download;
    gsh_backend_replace(&failing);
    offload_memory(3);
    failures = 2; /* pages that are not registered are filled in a second way at once */
    CHECK_INT(fork_and_read(3), 0);
    CHECK(failures == 0 && memory[5] == 3);
    offload_memory(4);
    failures = 1000; /* the child has lost it, the parent has not */
    CHECK_INT(fork_and_read(4), -SIGABRT);
    failures = 0;
    CHECK(memory[5] == 4);
    gsh_backend_replace(below);
}

/* ---- children that ran no handlers ---- */

static pid_t fork_raw(void)
{
    pid_t child = (pid_t)syscall(SYS_fork);
    if (child == 0)
        alarm(20);
    return child;
}

static void test_device_copy(void)
{
    offload_memory(5);
    pid_t child = fork_raw();
    if (child == 0)
        _exit(memory[7] == 5 ? 0 : 1);
    CHECK_INT(outcome_of(child), -SIGABRT);
    CHECK(memory[7] == 5);
}

static void test_host_copy(void)
{
    offload_memory(6);
    CHECK(memory[0] == 6);
    CHECK_INT(gsh_coherence_residency(memory), GSH_RESIDENT_SHARED);
    pid_t child = fork_raw();
    if (child == 0) {
        bool fine = memory[9] == 6 && !gsh_dispatch_is_live() && gsh_forked_is_child_sigsafe();
        memory[9] = 7;
        gsh_coherence_fetch(memory, COUNT * sizeof(double), false);
        gsh_arena_free(memory);
        _exit(fine && memory[9] == 7 && gsh_arena_allocate(100, GSH_ARENA_HOST) == NULL ? 0 : 1);
    }
    CHECK_INT(outcome_of(child), 0);
    CHECK(memory[9] == 6 && gsh_dispatch_is_live() && !gsh_forked_is_child_sigsafe());
}

static void *hold_everything(void *barrier)
{
    struct gsh_block *block = gsh_arena_find_block(memory);
    gsh_dispatch_lock_acquire();
    gsh_arena_lock();
    gsh_block_acquire_sigsafe(block);
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    gsh_block_release_sigsafe(block);
    gsh_arena_unlock();
    gsh_dispatch_lock_release();
    return NULL;
}

static void test_locks_of_others(void)
{
    pthread_t thread;
    pthread_barrier_t barrier;
    offload_memory(8);
    CHECK(memory[0] == 8);
    pthread_barrier_init(&barrier, NULL, 2);
    CHECK_INT(pthread_create(&thread, NULL, hold_everything, &barrier), 0);
    pthread_barrier_wait(&barrier);
    pid_t child = fork_raw();
    if (child == 0) {
        memory[1] = 9; /* a fault, which takes the block's lock */
        gsh_dispatch_lock_acquire();
        gsh_dispatch_lock_release();
        gsh_arena_lock();
        gsh_arena_unlock();
        _exit(memory[0] == 8 && memory[1] == 9 ? 0 : 1);
    }
    CHECK_INT(outcome_of(child), 0);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    CHECK(memory[1] == 8);
}

/* Memory that is shared with the parent is the parent's, with the parent's threads. */
static void test_vfork(void)
{
    offload_memory(10);
    pid_t child = vfork();
    if (child == 0)
        _exit(memory[3] == 10 && !gsh_forked_is_child_sigsafe()
                  ? 0
                  : 1); // NOLINT(clang-analyzer-unix.Vfork)
    CHECK_INT(outcome_of(child), 0);
    offload_memory(11);
    CHECK(memory[3] == 11);
}

static long fork_for_around(void *unused)
{
    (void)unused;
    return fork_raw();
}

static void test_around(void)
{
    offload_memory(12);
    pid_t child = (pid_t)gsh_forked_around(fork_for_around, NULL);
    if (child == 0)
        _exit(memory[3] == 12 && gsh_forked_is_child_sigsafe() ? 0 : 1);
    CHECK_INT(outcome_of(child), 0);
    offload_memory(13);
    CHECK(memory[3] == 13);
}

/* ---- the thread that gives memory back ---- */

/* In a child that has no such thread: neither the next fork nor the end waits for it, or for its lock. */
static void end_without_thread(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    bool fine = outcome_of(child) == 7;
    gsh_idle_end();
    _exit(fine && memory[3] == 14 ? 0 : 1);
}

static void test_idle_thread(void)
{
    gsh_arena_free(gsh_arena_allocate(COUNT, GSH_ARENA_HOST)); /* it runs from now on */
    pid_t child = fork_raw();
    if (child == 0)
        end_without_thread();
    CHECK_INT(outcome_of(child), 0);
}

static pthread_barrier_t forking;

static long pause_fork(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&forking);
    pthread_barrier_wait(&forking);
    return 1; /* as in a parent */
}

static void *fork_for_long(void *unused)
{
    gsh_forked_around(pause_fork, NULL);
    return unused;
}

/* Another thread of the parent is forking meanwhile, and holds what is held then. */
static void test_idle_lock(void)
{
    pthread_t thread;
    pthread_barrier_init(&forking, NULL, 2);
    CHECK_INT(pthread_create(&thread, NULL, fork_for_long, NULL), 0);
    pthread_barrier_wait(&forking);
    pid_t child = fork_raw();
    if (child == 0)
        end_without_thread();
    CHECK_INT(outcome_of(child), 0);
    pthread_barrier_wait(&forking);
    pthread_join(thread, NULL);
}

static void test_idle(void)
{
    offload_memory(14);
    CHECK(memory[3] == 14);
    test_idle_thread();
    test_idle_lock();
}

int main(void)
{
    alarm(100);
    if (!live_start())
        return CHECK_SKIP;
    below = gsh_backend_get();
    ones = live_doubles(COUNT, GSH_ARENA_HOST);
    memory = live_doubles(COUNT, GSH_ARENA_DEVICE);
    for (int k = 0; k < COUNT; k++)
        ones[k] = 1;
    test_failing_download();
    test_device_copy();
    test_host_copy();
    test_locks_of_others();
    test_vfork();
    test_around();
    test_idle();
    return live_end();
}
