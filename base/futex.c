/* SPDX-License-Identifier: Apache-2.0
 *
 * Futex locks and gates; see futex.h. The lock is the three-state mutex of U. Drepper, "Futexes Are
 * Tricky".
 */
#include "futex.h"

#include "clock.h"
#include "critical.h"
#include "raw_syscall.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#define LOCK_SPINS 200
#define PAUSES 16 /* between two reads of the clock; one takes 10 to 140 cycles */

static void wait_while_sigsafe(_Atomic uint32_t *word, uint32_t value)
{
    gsh_raw_syscall5(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, 0, 0);
}

static void wake_sigsafe(_Atomic uint32_t *word, int count)
{
    gsh_raw_syscall5(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, count, 0, 0);
}

static bool take_sigsafe(_Atomic uint32_t *word)
{
    uint32_t free_word = 0;
    return atomic_compare_exchange_strong_explicit(word, &free_word, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

bool gsh_futex_try_lock_sigsafe(_Atomic uint32_t *word)
{
    gsh_critical_enter();
    bool is_taken = take_sigsafe(word);
    if (!is_taken)
        gsh_critical_leave();
    return is_taken;
}

void gsh_futex_lock_sigsafe(_Atomic uint32_t *word)
{
    gsh_critical_enter();
    for (unsigned spin = 0; spin < LOCK_SPINS; spin++) {
        if (take_sigsafe(word))
            return;
        __builtin_ia32_pause();
    }
    while (atomic_exchange_explicit(word, 2, memory_order_acquire) != 0)
        wait_while_sigsafe(word, 2);
}

void gsh_futex_unlock_sigsafe(_Atomic uint32_t *word)
{
    if (atomic_exchange_explicit(word, 0, memory_order_release) == 2)
        wake_sigsafe(word, 1);
    gsh_critical_leave();
}

bool gsh_futex_spin_sigsafe(const _Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
    uint64_t begin = gsh_clock_ns();
    do {
        for (unsigned pause = 0; pause < PAUSES; pause++) {
            if (atomic_load_explicit(word, memory_order_acquire) != seen)
                return true;
            __builtin_ia32_pause();
        }
        gsh_raw_syscall3(SYS_sched_yield, 0, 0, 0);
    } while (gsh_clock_ns() - begin < ns);
    return false;
}

void gsh_futex_wait_change_sigsafe(_Atomic uint32_t *word, uint32_t seen, uint64_t spin_ns)
{
    if (spin_ns != 0 && gsh_futex_spin_sigsafe(word, seen, spin_ns))
        return;
    while (atomic_load_explicit(word, memory_order_acquire) == seen)
        wait_while_sigsafe(word, seen);
}

void gsh_futex_wait_change_for(_Atomic uint32_t *word, uint32_t seen, unsigned milliseconds)
{
    struct timespec time = {.tv_sec = milliseconds / 1000,
                            .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    gsh_raw_syscall5(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, seen, (long)&time, 0);
}

void gsh_futex_wake_all_sigsafe(_Atomic uint32_t *word)
{
    wake_sigsafe(word, INT32_MAX);
}
