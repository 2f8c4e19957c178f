/* SPDX-License-Identifier: Apache-2.0
 *
 * Futex words as locks and gates, by raw system calls: the only way in which the fault handler waits. All functions
 * keep errno and tolerate EINTR.
 */
#pragma once

#include "base.h"

#include <stdatomic.h>

/* A lock in one word: 0 free, 1 held, 2 held and waited for. Not recursive. Its holder is in a critical section
 * (critical.h). */
void gsh_futex_lock_sigsafe(_Atomic uint32_t *word);
bool gsh_futex_try_lock_sigsafe(_Atomic uint32_t *word);
void gsh_futex_unlock_sigsafe(_Atomic uint32_t *word);

/* Spins for at most about `ns` nanoseconds; true once *word != seen. Yields the processor in between, because the
 * thread that changes the word may be waiting for it. */
bool gsh_futex_spin_sigsafe(const _Atomic uint32_t *word, uint32_t seen, uint64_t ns);
/* Returns once *word != seen, after spinning for `spin_ns` before it sleeps. */
void gsh_futex_wait_change_sigsafe(_Atomic uint32_t *word, uint32_t seen, uint64_t spin_ns);
/* Waits likewise, for at most `milliseconds` and without spinning. */
void gsh_futex_wait_change_for(_Atomic uint32_t *word, uint32_t seen, unsigned milliseconds);
/* Wakes every thread that waits for a change of *word. */
void gsh_futex_wake_all_sigsafe(_Atomic uint32_t *word);
