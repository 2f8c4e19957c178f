/* SPDX-License-Identifier: Apache-2.0
 *
 * After gsh_retire all pages are open, all arrays hold their newest bytes, and no call closes a page again, not
 * even a call that another thread is making meanwhile.
 */
#include "block.h"
#include "check.h"
#include "live.h"
#include "retire.h"

#include <pthread.h>

#define COUNT ((int64_t)1 << 19) /* doubles: two chunks */

static double *made_on_device(double value)
{
    double *array = live_doubles(COUNT, GSH_ARENA_DEVICE);
    CHECK_INT(live_add(NULL, NULL, value, array, COUNT), GSH_REASON_NONE);
    return array;
}

static _Atomic bool is_done;
static _Atomic unsigned calls;

/* Calls whose outputs stay, until one is refused. */
static void *keep_calling(void *unused)
{
    enum { ARRAYS = 64, SHORT = 4096 };
    static double *arrays[ARRAYS];
    for (int k = 0; k < ARRAYS; k++)
        arrays[k] = live_doubles(SHORT, GSH_ARENA_HOST);
    for (unsigned k = 0; !atomic_load(&is_done); k++) {
        double *output = arrays[k % ARRAYS];
        enum gsh_reason why = live_add(arrays[(k + 1) % ARRAYS], NULL, 1, output, SHORT);
        CHECK(why == GSH_REASON_NONE ||
              (why == GSH_REASON_UNSEEN_WRITES && gsh_retire_reason() != NULL));
        atomic_fetch_add(&calls, 1);
    }
    for (int k = 0; k < ARRAYS; k++)
        CHECK_INT(gsh_coherence_residency(arrays[k]), GSH_RESIDENT_HOST);
    return unused;
}

int main(void)
{
    live_defer();
    if (!live_start())
        return CHECK_SKIP;
    double *device = made_on_device(3), *shared = made_on_device(4), *in_part = made_on_device(5);
    gsh_coherence_fetch(shared, COUNT * sizeof *shared, false);
    in_part[0] = 6;
    pthread_t caller;
    CHECK_INT(pthread_create(&caller, NULL, keep_calling, NULL), 0);
    while (atomic_load(&calls) < 1000)
        sched_yield();
    gsh_retire("a test");
    CHECK_STR(gsh_retire_reason(), "a test");
    CHECK_INT(gsh_coherence_residency(device), GSH_RESIDENT_HOST);
    CHECK_INT(gsh_coherence_residency(shared), GSH_RESIDENT_HOST);
    CHECK_INT(gsh_coherence_residency(in_part + COUNT - 1), GSH_RESIDENT_HOST);
    CHECK(device[COUNT - 1] == 6 && shared[1] == 8 && in_part[0] == 6 && in_part[COUNT - 1] == 10);
    unsigned seen = atomic_load(&calls);
    while (atomic_load(&calls) < seen + 1000)
        sched_yield();
    atomic_store(&is_done, true);
    pthread_join(caller, NULL);
    struct gsh_call decided = live_call(GSH_OP_ADD, device, NULL, 1, shared, COUNT);
    enum gsh_reason why = GSH_REASON_NONE; /* as of a thread that decided before */
    CHECK_INT(gsh_dispatch_run(&decided, &why), GSH_DECLINED);
    CHECK_INT(why, GSH_REASON_UNSEEN_WRITES);
    CHECK_INT(gsh_coherence_residency(shared), GSH_RESIDENT_HOST);
    gsh_retire("another");
    CHECK_STR(gsh_retire_reason(), "a test");
    return live_end();
}
