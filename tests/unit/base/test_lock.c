/* SPDX-License-Identifier: Apache-2.0
 *
 * base/lock.c: exclusion, the scoped form, the rank check of debug builds, and the state after
 * fork.
 */
#include "check.h"
#include "lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gsh_lock low = GSH_LOCK_INITIALIZER(GSH_RANK_DISPATCH);
static struct gsh_lock high = GSH_LOCK_INITIALIZER(GSH_RANK_ARENA);
static long shared_count;

static void *add_many(void *unused)
{
    for (int i = 0; i < 50000; i++) {
        GSH_LOCKED(&low);
        shared_count++;
    }
    return unused;
}

static void test_exclusion(void)
{
    pthread_t threads[4];
    for (size_t i = 0; i < GSH_COUNT(threads); i++)
        CHECK_INT(pthread_create(&threads[i], NULL, add_many, NULL), 0);
    for (size_t i = 0; i < GSH_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(shared_count, 50000 * (long)GSH_COUNT(threads));
}

static bool is_free(struct gsh_lock *lock)
{
    if (pthread_mutex_trylock(&lock->mutex) != 0)
        return false;
    pthread_mutex_unlock(&lock->mutex);
    return true;
}

static void test_scope(void)
{
    {
        GSH_LOCKED(&low);
        CHECK(!is_free(&low));
        GSH_LOCKED(&high);
        CHECK(!is_free(&high));
    }
    CHECK(is_free(&low) && is_free(&high));
}

/* The exit status, or the negated signal, of a child that runs `body`. */
static int run_in_child(void (*body)(void))
{
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void take_rising(void)
{
    gsh_lock_acquire(&low);
    gsh_lock_acquire(&high);
    gsh_lock_release(&low);
    gsh_lock_release(&high);
    gsh_lock_acquire(&low);
}

#ifndef NDEBUG
static void take_falling(void)
{
    gsh_lock_acquire(&high);
    gsh_lock_acquire(&low);
}

static void take_twice(void)
{
    gsh_lock_acquire(&low);
    gsh_lock_acquire(&low);
}

static _Atomic uint32_t block, other_block, fill;

static void take_block_under_higher(void)
{
    gsh_lock_acquire(&high);
    gsh_lock_word_acquire_sigsafe(&block, GSH_RANK_BLOCK);
}

static void take_two_blocks(void)
{
    gsh_lock_word_acquire_sigsafe(&block, GSH_RANK_BLOCK);
    gsh_lock_word_acquire_sigsafe(&other_block, GSH_RANK_BLOCK);
}

static void take_arena_under_block(void)
{
    gsh_lock_word_acquire_sigsafe(&block, GSH_RANK_BLOCK);
    gsh_lock_acquire(&high);
}

static void take_lowest_under_block(void)
{
    gsh_lock_word_acquire_sigsafe(&block, GSH_RANK_BLOCK);
    gsh_lock_acquire(&low);
}

static void take_block_under_fill(void)
{
    gsh_lock_word_acquire_sigsafe(&fill, GSH_RANK_FILL);
    gsh_lock_word_acquire_sigsafe(&block, GSH_RANK_BLOCK);
}

/* One of two blocks is given back: the other is still held. */
static void take_lowest_under_one_of_two(void)
{
    gsh_lock_acquire(&low);
    take_two_blocks();
    gsh_lock_word_release_sigsafe(&block, GSH_RANK_BLOCK);
    gsh_lock_release(&low);
    gsh_lock_acquire(&low);
}

/* What NESTED rows allow: each of the above under DISPATCH. */
static void take_nested(void)
{
    gsh_lock_acquire(&low);
    take_two_blocks();
    gsh_lock_acquire(&high);
    gsh_lock_word_release_sigsafe(&block, GSH_RANK_BLOCK);
    gsh_lock_word_acquire_sigsafe(&block, GSH_RANK_BLOCK);
    gsh_lock_word_acquire_sigsafe(&fill, GSH_RANK_FILL);
}

/* Trying waits for nobody, and what is given back is forgotten. */
static void take_by_trying(void)
{
    gsh_lock_acquire(&high);
    if (!gsh_lock_word_try_acquire_sigsafe(&block, GSH_RANK_BLOCK))
        _exit(1);
    gsh_lock_release(&high);
    gsh_lock_word_release_sigsafe(&block, GSH_RANK_BLOCK);
    if (gsh_lock_is_any_held())
        _exit(2);
    gsh_lock_acquire(&low);
}

static void test_word_ranks(void)
{
    CHECK_INT(run_in_child(take_block_under_higher), -SIGABRT);
    CHECK_INT(run_in_child(take_two_blocks), -SIGABRT);
    CHECK_INT(run_in_child(take_arena_under_block), -SIGABRT);
    CHECK_INT(run_in_child(take_lowest_under_block), -SIGABRT);
    CHECK_INT(run_in_child(take_block_under_fill), -SIGABRT);
    CHECK_INT(run_in_child(take_lowest_under_one_of_two), -SIGABRT);
    CHECK_INT(run_in_child(take_nested), 0);
    CHECK_INT(run_in_child(take_by_trying), 0);
}
#else
static void test_word_ranks(void)
{
}
#endif

static void test_ranks(void)
{
    CHECK_INT(run_in_child(take_rising), 0);
#ifndef NDEBUG
    CHECK_INT(run_in_child(take_falling), -SIGABRT);
    CHECK_INT(run_in_child(take_twice), -SIGABRT);
#endif
}

static void reset_and_take(void)
{
    gsh_lock_reset_after_fork(&high);
    gsh_lock_reset_after_fork(&low);
    gsh_lock_acquire(&low);
    gsh_lock_acquire(&high);
}

static void test_fork(void)
{
    GSH_LOCKED(&low);
    GSH_LOCKED(&high);
    CHECK_INT(run_in_child(reset_and_take), 0);
}

int main(void)
{
    test_exclusion();
    test_scope();
    test_ranks();
    test_word_ranks();
    test_fork();
    return check_result();
}
