/* SPDX-License-Identifier: Apache-2.0
 *
 * base/futex.c: who spins lets threads that wait for its processor run, ends when the word changes or the time is over;
 * who sleeps is woken.
 */
#include "check.h"
#include "clock.h"
#include "futex.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define ROUNDS 2000U
#define SECOND UINT64_C(1000000000)

static _Atomic uint32_t ball; /* even: it is main's turn */

/* Answers every stroke, spinning. */
static void *play(void *unused)
{
    for (uint32_t seen = 0; seen < 2 * ROUNDS; seen += 2) {
        gsh_futex_wait_change_sigsafe(&ball, seen, SECOND);
        atomic_store(&ball, seen + 2);
        gsh_futex_wake_all_sigsafe(&ball);
    }
    return unused;
}

/* Of all threads, in nanoseconds: what else runs here does not count. */
static uint64_t processor_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * SECOND + (uint64_t)used.tv_nsec;
}

/* Both spin on one processor: each turn would last until the other's share of time is over, milliseconds. */
static void test_one_processor(void)
{
    cpu_set_t usual, one;
    pthread_t thread;
    if (!CHECK(sched_getaffinity(0, sizeof usual, &usual) == 0))
        return;
    CPU_ZERO(&one);
    int first = 0;
    while (!CPU_ISSET(first, &usual))
        first++;
    CPU_SET(first, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(pthread_create(&thread, NULL, play, NULL) == 0);
    uint64_t begin = processor_ns();
    for (uint32_t seen = 0; seen < 2 * ROUNDS; seen += 2) {
        atomic_store(&ball, seen + 1);
        gsh_futex_wake_all_sigsafe(&ball);
        gsh_futex_wait_change_sigsafe(&ball, seen + 1, SECOND);
    }
    CHECK(processor_ns() - begin < SECOND);
    pthread_join(thread, NULL);
    sched_setaffinity(0, sizeof usual, &usual);
}

static void test_time_over(void)
{
    _Atomic uint32_t word = 7;
    uint64_t begin = gsh_clock_ns();
    CHECK(!gsh_futex_spin_sigsafe(&word, 7, SECOND / 100));
    CHECK(gsh_clock_ns() - begin >= SECOND / 100);
    CHECK(gsh_futex_spin_sigsafe(&word, 6, SECOND));
}

static _Atomic uint32_t gate;

static void *open_gate(void *unused)
{
    const struct timespec nap = {.tv_nsec = 20000000};
    nanosleep(&nap, NULL);
    atomic_store(&gate, 1);
    gsh_futex_wake_all_sigsafe(&gate);
    return unused;
}

static void test_sleep(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, open_gate, NULL) == 0);
    gsh_futex_wait_change_sigsafe(&gate, 0, 0);
    CHECK(atomic_load(&gate) == 1);
    pthread_join(thread, NULL);
}

int main(void)
{
    test_one_processor();
    test_time_over();
    test_sleep();
    return check_result();
}
