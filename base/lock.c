/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranked locks: pthread mutexes, futex words, and a per-thread bit set of the ranks held, which debug builds check.
 */
#include "lock.h"

#include "critical.h"
#include "futex.h"

#include <stdlib.h>

static _Thread_local unsigned held_ranks;
static _Thread_local uint32_t held_words[GSH_RANK_COUNT]; /* words held of each rank */

#ifndef NDEBUG
struct nested {
    enum gsh_lock_rank held, wanted, also;
};
static const struct nested nested[] = {
#define X(name)
#define NESTED(held, wanted, also) {GSH_RANK_##held, GSH_RANK_##wanted, GSH_RANK_##also},
#include "lock_ranks.def"
#undef X
#undef NESTED
};

/* Ranks that a thread must not hold when it waits for one of this rank. */
static unsigned find_forbidden_sigsafe(enum gsh_lock_rank wanted)
{
    unsigned forbidden = ~0U << wanted;
    for (unsigned k = 0; k < GSH_COUNT(nested); k++) {
        if (nested[k].wanted != wanted)
            continue;
        if (held_ranks >> nested[k].also & 1)
            forbidden &= ~(1U << nested[k].held);
        else
            forbidden |= 1U << nested[k].held;
    }
    return forbidden;
}

static void check_rank_sigsafe(enum gsh_lock_rank wanted)
{
    if (held_ranks & find_forbidden_sigsafe(wanted))
        abort();
}
#else
static void check_rank_sigsafe(enum gsh_lock_rank wanted)
{
    (void)wanted;
}
#endif

bool gsh_lock_is_any_held(void)
{
    return held_ranks != 0;
}

/* ---- mutexes ---- */

void gsh_lock_acquire(struct gsh_lock *lock)
{
    check_rank_sigsafe(lock->rank);
    gsh_critical_enter();
    pthread_mutex_lock(&lock->mutex);
    held_ranks |= 1U << lock->rank;
}

void gsh_lock_release(struct gsh_lock *lock)
{
    held_ranks &= ~(1U << lock->rank);
    pthread_mutex_unlock(&lock->mutex);
    gsh_critical_leave();
}

void gsh_lock_reset_after_fork(struct gsh_lock *lock)
{
    held_ranks &= ~(1U << lock->rank);
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock->mutex = fresh;
}

/* ---- futex words ---- */

static void note_taken_sigsafe(enum gsh_lock_rank rank)
{
    held_words[rank]++;
    held_ranks |= 1U << rank;
}

void gsh_lock_word_acquire_sigsafe(_Atomic uint32_t *word, enum gsh_lock_rank rank)
{
    check_rank_sigsafe(rank);
    gsh_futex_lock_sigsafe(word);
    note_taken_sigsafe(rank);
}

bool gsh_lock_word_try_acquire_sigsafe(_Atomic uint32_t *word, enum gsh_lock_rank rank)
{
    bool is_taken = gsh_futex_try_lock_sigsafe(word);
    if (is_taken)
        note_taken_sigsafe(rank);
    return is_taken;
}

void gsh_lock_word_release_sigsafe(_Atomic uint32_t *word, enum gsh_lock_rank rank)
{
    if (--held_words[rank] == 0)
        held_ranks &= ~(1U << rank);
    gsh_futex_unlock_sigsafe(word);
}

void gsh_lock_words_forget_after_fork(enum gsh_lock_rank rank)
{
    held_words[rank] = 0;
    held_ranks &= ~(1U << rank);
}
