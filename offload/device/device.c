/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting and retiring the device. The state only moves forward: idle, starting, ready, retired.
 */
#include "device.h"

#include "backend.h"
#include "blas_threads.h"
#include "clock.h"
#include "critical.h"
#include "device_events.h"
#include "forked.h"
#include "host_processors.h"
#include "host_threads.h"
#include "lock.h"
#include "log.h"
#include "options.h"
#include "program_end.h"
#include "stack_pool.h"
#include "stats.h"
#include "thread.h"
#include "trace.h"
#include "wall_time.h"
#include "warm_up.h"

#include <pthread.h>
#include <stdatomic.h>

#define STOP_SECONDS 10

static _Atomic int state = GSH_DEVICE_IDLE;
static void (*on_ready)(void); /* set before the first start */
static const char *_Atomic why_retired;
static bool is_beside; /* the start does not hold up the program; set before its thread begins */
static pthread_mutex_t start_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t start_done = PTHREAD_COND_INITIALIZER;

enum gsh_device_state gsh_device_get_state(void)
{
    return (enum gsh_device_state)atomic_load_explicit(&state, memory_order_acquire);
}

/* Forwards; back only from a start that is given up. */
static void set_state(enum gsh_device_state next)
{
    pthread_mutex_lock(&start_mutex);
    int before = atomic_load(&state);
    if (before < (int)next || (before == GSH_DEVICE_STARTING && next == GSH_DEVICE_IDLE))
        atomic_store_explicit(&state, (int)next, memory_order_release);
    pthread_cond_broadcast(&start_done);
    pthread_mutex_unlock(&start_mutex);
}

/* The first line of a backend's description, columns closed up. */
static void keep_first_line(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0' && *from != '\n'; from++)
        if (*from != ' ' || (to > text && to[-1] != ' '))
            *to++ = *from;
    *to = '\0';
}

static void announce(void)
{
    char text[512];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    gsh_backend_get()->describe(&fmt);
    keep_first_line(text);
    gsh_stats_report_set_device(text);
    gsh_log(GSH_LOG_INFO, "device ready: %s", text);
}

static enum gsh_status open_device(void)
{
    char why[256] = "";
    uint64_t begin = gsh_clock_ns();
    gsh_warm_up_wait();
    if (gsh_program_end_is_near())
        return GSH_DECLINED;
    enum gsh_status status = gsh_backend_get()->open(why, sizeof why);
    gsh_stats_add(GSH_COUNTER_START_NS, gsh_clock_ns() - begin);
    if (GSH_UNLIKELY(gsh_trace_is_on))
        GSH_TRACE_END(begin, START, .name = "start the device", .why = gsh_backend_get()->name);
    if (status == GSH_OK) {
        gsh_backend_rate();
    } else if (!gsh_program_end_is_near()) {
        bool asked_for = gsh_option_number(GSH_OPTION_DEVICE) != GSH_DEVICE_AUTO ||
                         gsh_option_text(GSH_OPTION_GPU)[0] != '\0';
        gsh_log(asked_for ? GSH_LOG_WARN : GSH_LOG_INFO,
                "device %s is not usable (%s); NumPy computes on the CPU", gsh_backend_get()->name,
                why);
    }
    return status;
}

static void end_start(enum gsh_device_state next)
{
    if (is_beside)
        gsh_blas_threads_restore();
    set_state(next);
}

static void fail_start(void)
{
    atomic_store(&why_retired, "it could not be started");
    end_start(GSH_DEVICE_RETIRED);
}

static void *start_main(void *unused)
{
    if (open_device() == GSH_OK) {
        announce();
        if (on_ready != NULL)
            on_ready();
        end_start(GSH_DEVICE_READY);
    } else if (gsh_program_end_is_near()) {
        end_start(GSH_DEVICE_IDLE);
    } else {
        fail_start();
    }
    return unused;
}

static void lower_blas_threads(void *unused)
{
    (void)unused;
    gsh_blas_threads_lower(gsh_host_processors_count());
}

/* Beside the program, or while it waits. */
static void start_thread(bool wait)
{
    if (gsh_option_number(GSH_OPTION_DEVICE) == GSH_DEVICE_HOST)
        gsh_host_threads_prepare();
    is_beside = !wait;
    if (is_beside) {
        gsh_stack_pool_run(lower_blas_threads, NULL);
        /* The thread of the warm-up gives way to BLAS's; the one of the start does not. */
        gsh_warm_up_begin(gsh_blas_threads_are_used() ? GSH_WARM_UP_CONTEXT : GSH_WARM_UP_DRIVER);
    }
    if (gsh_device_events.starting() != GSH_OK || !gsh_thread_start(start_main, NULL))
        fail_start();
}

void gsh_device_on_ready(void (*callback)(void))
{
    on_ready = callback;
}

void gsh_device_start(bool wait)
{
    int idle = GSH_DEVICE_IDLE;
    if (gsh_program_end_is_near())
        return;
    if (atomic_compare_exchange_strong(&state, &idle, GSH_DEVICE_STARTING))
        start_thread(wait);
    if (!wait)
        return;
    GSH_WALL_TIME(GSH_WALL_START);
    uint64_t begin = gsh_trace_begin();
    gsh_critical_enter(); /* for SIGINT's sake: the driver may not answer */
    pthread_mutex_lock(&start_mutex);
    while (gsh_device_get_state() == GSH_DEVICE_STARTING)
        pthread_cond_wait(&start_done, &start_mutex);
    pthread_mutex_unlock(&start_mutex);
    gsh_critical_leave();
    GSH_TRACE_END(begin, WAITS, .name = "wait for the start of the device");
}

void gsh_device_stop_threads(void)
{
    gsh_forked_check();
    gsh_program_end_note();
    gsh_device_events.stopping();
    gsh_warm_up_wait();
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += STOP_SECONDS;
    int error = 0;
    pthread_mutex_lock(&start_mutex);
    while (gsh_device_get_state() == GSH_DEVICE_STARTING && error == 0)
        error = pthread_cond_timedwait(&start_done, &start_mutex, &deadline);
    pthread_mutex_unlock(&start_mutex);
    if (gsh_backend_get()->stop_threads != NULL)
        gsh_backend_get()->stop_threads();
}

void gsh_device_retire(const char *why)
{
    if (gsh_device_get_state() == GSH_DEVICE_RETIRED)
        return;
    atomic_store(&why_retired, why);
    set_state(GSH_DEVICE_RETIRED);
    gsh_log(GSH_LOG_WARN, "the device is not used any more (%s); NumPy computes on the CPU", why);
}

const char *gsh_device_why_retired(void)
{
    return atomic_load(&why_retired);
}

void gsh_device_retire_silently(void)
{
    set_state(GSH_DEVICE_RETIRED);
}

void gsh_device_reset_after_fork(void)
{
    pthread_mutex_t fresh_mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t fresh_condition = PTHREAD_COND_INITIALIZER;
    start_mutex = fresh_mutex;
    start_done = fresh_condition;
    atomic_store(&state, GSH_DEVICE_RETIRED);
}
