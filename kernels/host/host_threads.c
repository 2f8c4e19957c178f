/* SPDX-License-Identifier: Apache-2.0
 *
 * The gate is one word: which run it is, how many helpers may take part, whether it is open, and how many went in. A helper that
 * comes when it is closed has missed the run, and the caller waits only for those that went in.
 *
 * A helper that has nothing to do looks at the gate for a while where runs follow each other closely, and then sleeps on its own
 * semaphore. It does not yield its core meanwhile: where the cores are busy it would get it back too late.
 */
#include "host_threads.h"

#include "clock.h"
#include "critical.h"
#include "host_processors.h"
#include "options.h"
#include "thread.h"

#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#define HELPERS (GSH_HOST_THREADS_MOST - 1)
#define LOOK_NS 100000 /* how long helpers look for a run: some times what it takes to wake one */
#define LOOKS 16       /* at the gate, between two looks at the clock */
#define STREAK_LEAST 2 /* runs that followed closely before helpers look for another */
#define STREAK_MOST 4

/* The gate. */
#define GATE_IN UINT64_C(1) /* helpers inside: 8 bits */
#define GATE_IN_MASK UINT64_C(0xff)
#define GATE_OPEN UINT64_C(0x100)
#define GATE_LIMIT_SHIFT 16 /* helpers below this number may go in: 8 bits */
#define GATE_RUN_SHIFT 32   /* the run: 32 bits */

static struct {
    gsh_host_job *job;
    void *context;
    struct gsh_host_pieces pieces;
} run; /* the holder of `busy` writes it before it opens the gate */

static struct gsh_host_range ranges[GSH_HOST_THREADS_MOST];
static _Atomic bool busy;
static unsigned started; /* helpers; written by the holder of `busy` */
static sem_t starts[HELPERS], finished;
static _Alignas(64) _Atomic uint64_t gate;
static _Alignas(64) _Atomic int64_t
    balance; /* helpers that left less those that went in, once the gate is closed */
static _Alignas(64) _Atomic uint64_t asleep; /* a bit for each helper */
static _Atomic uint64_t look_ns;
static uint64_t last_end; /* of a run; written by the holder of `busy` */
static unsigned streak;   /* of runs that followed closely; likewise */

/* ---- pieces ---- */

static void divide(struct gsh_host_pieces *pieces, struct gsh_host_range *into, int64_t count,
                   unsigned threads)
{
    pieces->ranges = into;
    pieces->count = threads;
    for (unsigned k = 0; k < threads; k++) {
        atomic_store_explicit(&into[k].next, count * k / threads, memory_order_relaxed);
        into[k].end = count * (k + 1) / threads;
    }
}

static int64_t take_of(struct gsh_host_range *range)
{
    if (atomic_load_explicit(&range->next, memory_order_relaxed) >= range->end)
        return -1;
    int64_t piece = atomic_fetch_add_explicit(&range->next, 1, memory_order_relaxed);
    return piece < range->end ? piece : -1;
}

int64_t gsh_host_threads_take(struct gsh_host_pieces *pieces, unsigned thread)
{
    for (unsigned k = 0; k < pieces->count; k++) {
        int64_t piece = take_of(&pieces->ranges[(thread + k) % pieces->count]);
        if (piece >= 0)
            return piece;
    }
    return -1;
}

/* ---- the number of threads ---- */

/* The limit that programs give to libraries of their own; INT_MAX: none. A list of numbers is for nested regions. */
static unsigned limit_of_openmp(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    long limit = text != NULL ? strtol(text, NULL, 10) : 0;
    return limit > 0 && limit < INT_MAX ? (unsigned)limit : INT_MAX;
}

unsigned gsh_host_threads_count(void)
{
    static _Atomic unsigned known;
    unsigned count = atomic_load_explicit(&known, memory_order_relaxed);
    if (count != 0)
        return count;
    count = (unsigned)gsh_option_number(GSH_OPTION_HOST_THREADS);
    if (count == 0)
        count = GSH_MIN(gsh_host_processors_count(), limit_of_openmp());
    count = GSH_MAX(GSH_MIN(count, GSH_HOST_THREADS_MOST), 1);
    atomic_store_explicit(&known, count, memory_order_relaxed);
    return count;
}

/* ---- helpers ---- */

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue; /* interrupted by a signal */
}

static void pause_for_a_moment(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool is_for(uint64_t state, unsigned helper, uint32_t seen)
{
    return (state & GATE_OPEN) != 0 && (uint32_t)(state >> GATE_RUN_SHIFT) != seen &&
           helper < (state >> GATE_LIMIT_SHIFT & GATE_IN_MASK);
}

/* Goes in, if there is a run that the helper has not seen. */
static bool enter(unsigned helper, uint32_t *seen)
{
    uint64_t state = atomic_load_explicit(&gate, memory_order_acquire);
    while (is_for(state, helper, *seen))
        if (atomic_compare_exchange_weak(&gate, &state, state + GATE_IN)) {
            *seen = (uint32_t)(state >> GATE_RUN_SHIFT);
            return true;
        }
    return false;
}

static bool look(unsigned helper, uint32_t *seen)
{
    uint64_t limit = atomic_load_explicit(&look_ns, memory_order_relaxed);
    for (uint64_t begin = gsh_clock_ns(); gsh_clock_ns() - begin < limit;)
        for (unsigned k = 0; k < LOOKS; k++) {
            if (enter(helper, seen))
                return true;
            pause_for_a_moment();
        }
    return false;
}

/* A caller that finds the bit clears it and posts. */
static void sleep_until_called(unsigned helper, const uint32_t *seen)
{
    uint64_t bit = UINT64_C(1) << helper;
    atomic_fetch_or(&asleep, bit);
    if (is_for(atomic_load(&gate), helper, *seen) && (atomic_fetch_and(&asleep, ~bit) & bit) != 0)
        return;
    wait_for(&starts[helper]);
}

static void *help(void *number)
{
    unsigned helper = (unsigned)(uintptr_t)number;
    for (uint32_t seen = 0;;) {
        if (!enter(helper, &seen) && !look(helper, &seen)) {
            sleep_until_called(helper, &seen);
            continue;
        }
        run.job(run.context, helper + 1, &run.pieces);
        if (atomic_fetch_add(&balance, 1) == -1)
            sem_post(&finished);
    }
    return NULL;
}

static bool start_helper(unsigned helper)
{
    sem_init(&starts[helper], 0, 0);
    return gsh_thread_start(help, (void *)(uintptr_t)helper);
}

static unsigned start_helpers(unsigned wanted)
{
    if (started == 0)
        sem_init(&finished, 0, 0);
    while (started < wanted && start_helper(started))
        started++;
    return GSH_MIN(started, wanted);
}

void gsh_host_threads_prepare(void)
{
    if (atomic_exchange_explicit(&busy, true, memory_order_acquire))
        return;
    start_helpers(gsh_host_threads_count() - 1);
    atomic_store_explicit(&busy, false, memory_order_release);
}

unsigned gsh_host_threads_awake(void)
{
    unsigned most = gsh_host_threads_count() - 1;
    uint64_t sleeping = atomic_load_explicit(&asleep, memory_order_relaxed);
    unsigned awake = sleeping != 0 ? (unsigned)__builtin_ctzll(sleeping) : HELPERS;
    return atomic_load_explicit(&look_ns, memory_order_relaxed) != 0 ? GSH_MIN(awake, most) : 0;
}

/* ---- a run ---- */

/* Whether helpers look for the next run: while each comes soon after the one before. */
static void note_begin(void)
{
    bool is_close = gsh_clock_ns() - last_end < LOOK_NS;
    streak = is_close ? GSH_MIN(streak + 1, STREAK_MOST) : streak / 2;
    atomic_store_explicit(&look_ns, streak >= STREAK_LEAST ? LOOK_NS : 0, memory_order_relaxed);
}

static void open_gate(unsigned helpers)
{
    uint64_t number = (atomic_load_explicit(&gate, memory_order_relaxed) >> GATE_RUN_SHIFT) + 1;
    uint64_t called = helpers < 64 ? (UINT64_C(1) << helpers) - 1 : ~UINT64_C(0);
    number = (uint32_t)number != 0 ? (uint32_t)number : 1; /* 0: what a new helper has seen */
    atomic_store(&balance, 0);
    atomic_store(&gate,
                 number << GATE_RUN_SHIFT | (uint64_t)helpers << GATE_LIMIT_SHIFT | GATE_OPEN);
    if ((atomic_load(&asleep) & called) == 0)
        return;
    called &= atomic_fetch_and(&asleep, ~called);
    for (; called != 0; called &= called - 1)
        sem_post(&starts[__builtin_ctzll(called)]);
}

/* Returns when all helpers that went in have left. */
static void close_gate(void)
{
    int64_t inside = (int64_t)(atomic_fetch_and(&gate, ~GATE_OPEN) & GATE_IN_MASK);
    if (atomic_fetch_sub(&balance, inside) == inside)
        return;
    for (uint64_t begin = gsh_clock_ns(); gsh_clock_ns() - begin < LOOK_NS; sched_yield())
        for (unsigned k = 0; k < LOOKS; k++) {
            if (sem_trywait(&finished) == 0)
                return;
            pause_for_a_moment();
        }
    wait_for(&finished);
}

/* The caller holds `busy` and is in a critical section. */
static void run_with_helpers(gsh_host_job *job, void *context, int64_t count, unsigned helpers)
{
    note_begin();
    run.job = job;
    run.context = context;
    divide(&run.pieces, ranges, count, helpers + 1);
    open_gate(helpers);
    job(context, 0, &run.pieces);
    close_gate();
    last_end = gsh_clock_ns();
}

bool gsh_host_threads_try(gsh_host_job *job, void *context, int64_t count, unsigned threads)
{
    bool has_helpers = false;
    threads = (unsigned)GSH_MIN((int64_t)GSH_MIN(threads, gsh_host_threads_count()), count);
    gsh_forked_check();
    if (threads < 2 || atomic_exchange_explicit(&busy, true, memory_order_acquire))
        return false;
    gsh_critical_enter(); /* a handler that leaves by siglongjmp would leave the helpers working */
    unsigned helpers = start_helpers(threads - 1);
    has_helpers = helpers > 0;
    if (has_helpers)
        run_with_helpers(job, context, count, helpers);
    atomic_store_explicit(&busy, false, memory_order_release);
    gsh_critical_leave();
    return has_helpers;
}

void gsh_host_threads_alone(gsh_host_job *job, void *context, int64_t count)
{
    struct gsh_host_pieces pieces;
    struct gsh_host_range range;
    divide(&pieces, &range, count, 1);
    job(context, 0, &pieces);
}

void gsh_host_threads_run(gsh_host_job *job, void *context, int64_t count)
{
    if (!gsh_host_threads_try(job, context, count, GSH_HOST_THREADS_MOST))
        gsh_host_threads_alone(job, context, count);
}

void gsh_host_threads_reset_after_fork(void)
{
    started = 0;
    atomic_fetch_and(&gate, ~(GATE_OPEN | GATE_IN_MASK));
    atomic_store(&asleep, 0);
    atomic_store(&look_ns, 0);
    atomic_store(&busy, false);
}
