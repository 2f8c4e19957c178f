/* SPDX-License-Identifier: Apache-2.0
 *
 * offload/memory/block.c: the order in which a thread may wait for blocks and other locks, which debug builds check.
 */
#include "arena_internal.h"
#include "check.h"
#include "dispatch_lock.h"
#include "lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gsh_block *first, *second;

/* The exit status, or the negated signal, of a child that runs `body`. */
static int run_in_child(void (*body)(void))
{
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(gsh_lock_is_any_held() ? 3 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void release_both(void)
{
    gsh_block_release_sigsafe(second);
    gsh_block_release_sigsafe(first);
}

static void take_as_calls_do(void)
{
    gsh_dispatch_lock_acquire();
    gsh_block_acquire_sigsafe(first);
    gsh_block_acquire_sigsafe(second);
    release_both();
    gsh_dispatch_lock_release();
}

static void take_as_fork_does(void)
{
    gsh_dispatch_lock_acquire();
    gsh_arena_lock();
    gsh_block_acquire_sigsafe(first);
    gsh_block_acquire_sigsafe(second);
    release_both();
    gsh_arena_unlock();
    gsh_dispatch_lock_release();
}

static void try_under_arena(void)
{
    gsh_arena_lock();
    if (!gsh_block_try_acquire_sigsafe(first))
        _exit(1);
    gsh_arena_unlock();
    gsh_block_release_sigsafe(first);
}

#ifndef NDEBUG
static void take_dispatch_under_block(void)
{
    gsh_block_acquire_sigsafe(first);
    gsh_dispatch_lock_acquire();
}

static void take_block_under_arena(void)
{
    gsh_arena_lock();
    gsh_block_acquire_sigsafe(first);
}

static void take_arena_under_block(void)
{
    gsh_block_acquire_sigsafe(first);
    gsh_arena_lock();
}

static void take_two_alone(void)
{
    gsh_block_acquire_sigsafe(first);
    gsh_block_acquire_sigsafe(second);
}
#endif

static void test_orders(void)
{
    CHECK_INT(run_in_child(take_as_calls_do), 0);
    CHECK_INT(run_in_child(take_as_fork_does), 0);
    CHECK_INT(run_in_child(try_under_arena), 0);
#ifndef NDEBUG
    CHECK_INT(run_in_child(take_dispatch_under_block), -SIGABRT);
    CHECK_INT(run_in_child(take_block_under_arena), -SIGABRT);
    CHECK_INT(run_in_child(take_arena_under_block), -SIGABRT);
    CHECK_INT(run_in_child(take_two_alone), -SIGABRT);
#endif
}

int main(void)
{
    CHECK(gsh_arena_init() == GSH_OK);
    first = gsh_arena_find_block(gsh_arena_allocate(GSH_GRANULE_SMALL, GSH_ARENA_HOST));
    second = gsh_arena_find_block(gsh_arena_allocate(GSH_GRANULE_SMALL, GSH_ARENA_HOST));
    CHECK(first != NULL && second != NULL);
    test_orders();
    return check_result();
}
