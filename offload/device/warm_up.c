/* SPDX-License-Identifier: Apache-2.0
 *
 * A child that is forked meanwhile has the driver's locks as they were, perhaps held, and computes on the CPU. The handlers of
 * forked.h are not used: they must be registered later, behind OpenBLAS's.
 */
#include "warm_up.h"

#include "backend.h"
#include "blas_threads.h"
#include "device.h"
#include "futex.h"
#include "host_processors.h"
#include "log.h"
#include "thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NOT_BEGUN, OPENING, ENDED };
enum { LONGEST_MS = 10000 };

static _Atomic uint32_t progress = NOT_BEGUN;

/* The driver's own exit functions are registered by now, so this one runs before them. */
static void wait_at_exit(void)
{
    atexit(gsh_warm_up_wait);
}

/* The driver's work in the kernel takes 0.1 s and more, and is not preempted. A thread of OpenBLAS that waits for the same core holds
 * up the other ones: of 16 threads, products lose 0.12 s. So this thread waits until the thread that OpenBLAS no longer uses has gone to
 * sleep, and then lowers its own priority. Products lose 0.02 s at most, and the driver is open 0.06 s later (H200). */
static void give_way(void)
{
    /* 2^26 cycles, where gsh_blas_threads_sleep_soon has no effect */
    enum { NICE = 10, SPINNING_NS = 30000000 };
    nanosleep(&(struct timespec){.tv_nsec = SPINNING_NS}, NULL);
    if (nice(NICE) == -1) /* on Linux: of this thread, which ends soon */
        gsh_log(GSH_LOG_DEBUG, "the thread that opens the driver is as nice as can be");
}

static void *open_driver(void *depth)
{
    gsh_blas_threads_lower(gsh_host_processors_count());
    if (gsh_blas_threads_are_used())
        give_way();
    gsh_backend_get()->warm_up(*(const enum gsh_warm_up *)depth, wait_at_exit);
    gsh_blas_threads_restore();
    gsh_log(GSH_LOG_DEBUG, "the driver is open");
    progress = ENDED;
    gsh_futex_wake_all_sigsafe(&progress);
    return NULL;
}

static void forget_after_fork(void)
{
    progress = ENDED;
    gsh_device_reset_after_fork();
}

void gsh_warm_up_begin(enum gsh_warm_up depth)
{
    static enum gsh_warm_up depths[] = {GSH_WARM_UP_DRIVER, GSH_WARM_UP_CONTEXT};
    uint32_t none = NOT_BEGUN;
    if (gsh_backend_get()->warm_up == NULL ||
        !atomic_compare_exchange_strong(&progress, &none, OPENING))
        return;
    pthread_atfork(NULL, NULL, forget_after_fork);
    if (!gsh_thread_start(open_driver, &depths[depth])) {
        progress = ENDED;
        gsh_futex_wake_all_sigsafe(&progress);
    }
}

void gsh_warm_up_wait(void)
{
    gsh_futex_wait_change_for(&progress, OPENING, LONGEST_MS);
}
