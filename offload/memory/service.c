/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests live on the faulting threads' stacks and are pushed on a lock-free stack. The word `posted` counts them;
 * the thread sleeps on it. After its last request it spins a while, so that faults in sequence cost no wake-up.
 */
#include "service.h"

#include "coherence_events.h"
#include "coherence_internal.h"
#include "critical.h"
#include "futex.h"
#include "line_profile.h"
#include "log.h"
#include "options.h"
#include "readers.h"
#include "thread.h"
#include "wall_time.h"

#define IDLE_NS 50000
#define WAIT_NS 20000
#define LONG_NAP_MS 20U /* while no node is pending */
#define LONG_NAPS 50U   /* then it sleeps until it is woken */

struct request {
    const void *address;
    bool write;
    unsigned line;            /* of the thread that waits (line_profile.h) */
    struct gsh_reader reader; /* likewise (readers.h) */
    _Atomic uint32_t done;
    struct request *next;
};

static struct request *_Atomic requests;
static _Atomic uint32_t posted;
static _Atomic bool running;
static _Thread_local bool is_service_thread;
static _Atomic bool dozes; /* only faults and gsh_service_note_recorded wake the thread */

static void serve(struct request *request)
{
    gsh_line_profile_swap_sigsafe(request->line);
    gsh_readers_swap_sigsafe(request->reader);
    gsh_coherence_serve_fault(request->address, request->write);
    gsh_line_profile_swap_sigsafe(0);
    gsh_readers_swap_sigsafe((struct gsh_reader){.name = NULL});
    /* its owner may return as soon as `done` is seen: the wake then goes to an address nobody
     * sleeps on, which is harmless */
    atomic_store_explicit(&request->done, 1, memory_order_release);
    gsh_futex_wake_all_sigsafe(&request->done);
}

/* Waits for a request, or until nodes have been pending for a while; `naps`: how often in vain. */
static void rest(uint32_t seen, unsigned *naps)
{
    uint64_t recorded = gsh_coherence_events.get_oldest();
    unsigned lying_ms = (unsigned)gsh_option_number(GSH_OPTION_FEED_MS);
    if (recorded != 0 && lying_ms != 0) {
        *naps = 0;
        gsh_futex_wait_change_for(&posted, seen, lying_ms);
        gsh_coherence_events.flush_idle(recorded);
    } else if (*naps < LONG_NAPS) {
        ++*naps;
        gsh_futex_wait_change_for(&posted, seen, LONG_NAP_MS);
    } else {
        atomic_store(&dozes, true);
        if (gsh_coherence_events.get_oldest() == 0 || lying_ms == 0)
            gsh_futex_wait_change_sigsafe(&posted, seen, 0);
        atomic_store(&dozes, false);
        *naps = 0;
    }
}

static void *service_main(void *unused)
{
    unsigned naps = 0;
    (void)unused;
    is_service_thread = true;
    gsh_wall_time_serve();
    for (;;) {
        uint32_t seen = atomic_load_explicit(&posted, memory_order_acquire);
        struct request *request = atomic_exchange_explicit(&requests, NULL, memory_order_acquire);
        if (request == NULL) {
            if (!gsh_futex_spin_sigsafe(&posted, seen, IDLE_NS))
                rest(seen, &naps);
            continue;
        }
        naps = 0;
        while (request != NULL) {
            struct request *next = request->next;
            serve(request);
            request = next;
        }
    }
    return NULL;
}

enum gsh_status gsh_service_start(void)
{
    if (atomic_exchange(&running, true))
        return GSH_OK;
    if (gsh_thread_start(service_main, NULL))
        return GSH_OK;
    atomic_store(&running, false);
    gsh_log(GSH_LOG_WARN, "cannot start the service thread");
    return GSH_FAILED;
}

bool gsh_service_resolve_sigsafe(const void *address, bool write)
{
    if (is_service_thread || !atomic_load_explicit(&running, memory_order_acquire))
        return false;
    struct request request = {.address = address,
                              .write = write,
                              .line = gsh_line_profile_here_sigsafe(),
                              .reader = gsh_readers_here_sigsafe()};
    gsh_critical_enter(); /* a handler that leaves by siglongjmp would leave the request behind */
    struct request *head = atomic_load_explicit(&requests, memory_order_relaxed);
    do
        request.next = head;
    while (!atomic_compare_exchange_weak_explicit(&requests, &head, &request, memory_order_release,
                                                  memory_order_relaxed));
    atomic_fetch_add_explicit(&posted, 1, memory_order_release);
    gsh_futex_wake_all_sigsafe(&posted);
    gsh_wall_time_wait_sigsafe(true);
    gsh_futex_wait_change_sigsafe(&request.done, 0, WAIT_NS);
    gsh_wall_time_wait_sigsafe(false);
    gsh_critical_leave();
    return true;
}

void gsh_service_note_recorded(void)
{
    if (!atomic_load(&dozes))
        return;
    atomic_fetch_add_explicit(&posted, 1, memory_order_release);
    gsh_futex_wake_all_sigsafe(&posted);
}

bool gsh_service_is_waited_for(void)
{
    return atomic_load_explicit(&requests, memory_order_relaxed) != NULL;
}

void gsh_service_reset_after_fork(void)
{
    atomic_store(&running, false);
    atomic_store(&requests, NULL);
}
