/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests live on the faulting threads' stacks and are pushed on a lock-free stack; the word
 * `posted` counts them and is what the thread sleeps on. After its last request it spins a while,
 * so that faults in sequence cost no wake-up.
 */
#include "service.h"

#include "coherence_internal.h"
#include "futex.h"
#include "log.h"

#include <pthread.h>
#include <signal.h>

#define IDLE_SPINS 4000
#define WAIT_SPINS 2000

struct request {
    const void *address;
    bool write;
    _Atomic uint32_t done;
    struct request *next;
};

static struct request *_Atomic requests;
static _Atomic uint32_t posted;
static _Atomic bool running;
static _Thread_local bool is_service_thread;

static void serve(struct request *request)
{
    gsh_coherence_serve_fault(request->address, request->write);
    /* its owner may return as soon as `done` is seen: the wake then goes to an address nobody
     * sleeps on, which is harmless */
    atomic_store_explicit(&request->done, 1, memory_order_release);
    gsh_futex_wake_all_sigsafe(&request->done);
}

static void *service_main(void *unused)
{
    (void)unused;
    is_service_thread = true;
    for (;;) {
        uint32_t seen = atomic_load_explicit(&posted, memory_order_acquire);
        struct request *request = atomic_exchange_explicit(&requests, NULL, memory_order_acquire);
        if (request == NULL) {
            gsh_futex_wait_change_sigsafe(&posted, seen, IDLE_SPINS);
            continue;
        }
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
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int error = pthread_create(&thread, NULL, service_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        atomic_store(&running, false);
        gsh_log(GSH_LOG_WARN, "cannot start the service thread");
        return GSH_FAILED;
    }
    pthread_detach(thread);
    return GSH_OK;
}

bool gsh_service_resolve_sigsafe(const void *address, bool write)
{
    if (is_service_thread || !atomic_load_explicit(&running, memory_order_acquire))
        return false;
    struct request request = {.address = address, .write = write};
    struct request *head = atomic_load_explicit(&requests, memory_order_relaxed);
    do
        request.next = head;
    while (!atomic_compare_exchange_weak_explicit(&requests, &head, &request, memory_order_release,
                                                  memory_order_relaxed));
    atomic_fetch_add_explicit(&posted, 1, memory_order_release);
    gsh_futex_wake_all_sigsafe(&posted);
    gsh_futex_wait_change_sigsafe(&request.done, 0, WAIT_SPINS);
    return true;
}

void gsh_service_reset_after_fork(void)
{
    atomic_store(&running, false);
    atomic_store(&requests, NULL);
}
