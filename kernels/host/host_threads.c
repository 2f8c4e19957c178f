/* SPDX-License-Identifier: Apache-2.0
 *
 * A helper sleeps on its own semaphore. A caller without work left takes back the posts that no helper answered yet,
 * so that it waits only for helpers that work.
 */
#include "host_threads.h"

#include "critical.h"
#include "host_processors.h"
#include "options.h"
#include "thread.h"

#include <limits.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#define HELPERS (GSH_HOST_THREADS_MOST - 1)

static struct {
    gsh_host_job *job;
    void *context;
    struct gsh_host_pieces pieces;
} run; /* the holder of `busy` writes it before it posts */

static _Atomic bool busy;
static unsigned started; /* helpers; written by the holder of `busy` */
static sem_t starts[HELPERS], finished;

int64_t gsh_host_threads_take(struct gsh_host_pieces *pieces)
{
    int64_t piece = atomic_fetch_add_explicit(&pieces->next, 1, memory_order_relaxed);
    return piece < pieces->count ? piece : -1;
}

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

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue; /* interrupted by a signal */
}

static void *help(void *number)
{
    unsigned helper = (unsigned)(uintptr_t)number;
    for (;;) {
        wait_for(&starts[helper]);
        run.job(run.context, helper + 1, &run.pieces);
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

/* The caller holds `busy` and is in a critical section. */
static void run_with_helpers(gsh_host_job *job, void *context, int64_t count, unsigned helpers)
{
    unsigned called = 0;
    run.job = job;
    run.context = context;
    run.pieces.count = count;
    atomic_store_explicit(&run.pieces.next, 0, memory_order_relaxed);
    for (unsigned k = 0; k < helpers; k++)
        sem_post(&starts[k]);
    job(context, 0, &run.pieces);
    for (unsigned k = 0; k < helpers; k++)
        called += sem_trywait(&starts[k]) != 0;
    while (called-- > 0)
        wait_for(&finished);
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

void gsh_host_threads_run(gsh_host_job *job, void *context, int64_t count)
{
    if (gsh_host_threads_try(job, context, count, GSH_HOST_THREADS_MOST))
        return;
    struct gsh_host_pieces pieces = {.count = count};
    job(context, 0, &pieces);
}

void gsh_host_threads_reset_after_fork(void)
{
    started = 0;
    atomic_store(&busy, false);
}
