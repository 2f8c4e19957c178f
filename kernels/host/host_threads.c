/* SPDX-License-Identifier: Apache-2.0
 *
 * A helper sleeps on its own semaphore. A caller without work left takes back the posts that no helper answered yet,
 * so that it waits only for helpers that work.
 */
#include "host_threads.h"

#include "critical.h"
#include "options.h"
#include "thread.h"

#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

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

unsigned gsh_host_threads_count(void)
{
    static _Atomic unsigned known;
    unsigned count = atomic_load_explicit(&known, memory_order_relaxed);
    if (count != 0)
        return count;
    count = (unsigned)gsh_option_number(GSH_OPTION_HOST_THREADS);
    cpu_set_t usable;
    if (count == 0)
        count =
            sched_getaffinity(0, sizeof usable, &usable) == 0 ? (unsigned)CPU_COUNT(&usable) : 1;
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

void gsh_host_threads_run(gsh_host_job *job, void *context, int64_t count)
{
    int64_t threads = GSH_MIN((int64_t)gsh_host_threads_count(), count);
    if (threads < 2 || atomic_exchange_explicit(&busy, true, memory_order_acquire)) {
        struct gsh_host_pieces pieces = {.count = count};
        job(context, 0, &pieces);
        return;
    }
    gsh_critical_enter(); /* a handler that leaves by siglongjmp would leave the helpers working */
    run.job = job;
    run.context = context;
    run.pieces.count = count;
    atomic_store_explicit(&run.pieces.next, 0, memory_order_relaxed);
    unsigned helpers = start_helpers((unsigned)threads - 1), called = 0;
    for (unsigned k = 0; k < helpers; k++)
        sem_post(&starts[k]);
    job(context, 0, &run.pieces);
    for (unsigned k = 0; k < helpers; k++)
        called += sem_trywait(&starts[k]) != 0;
    while (called-- > 0)
        wait_for(&finished);
    atomic_store_explicit(&busy, false, memory_order_release);
    gsh_critical_leave();
}

void gsh_host_threads_reset_after_fork(void)
{
    started = 0;
    atomic_store(&busy, false);
}
