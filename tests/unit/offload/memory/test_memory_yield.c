/* SPDX-License-Identifier: Apache-2.0
 *
 * Another user of the device lacks memory. What no array uses is given back first; then the least recently used
 * arrays are evicted to the host, and no more of them than necessary.
 */
#include "check.h"
#include "dispatch_lock.h"
#include "live.h"
#include "lock.h"
#include "memory_yield.h"
#include "node.h"

#include <pthread.h>
#include <string.h>

enum { ARRAYS = 8 };
#define MIB ((size_t)1 << 20)
#define SLACK (32 * MIB)     /* what is free beside what is wanted */
#define COUNT ((int64_t)MIB) /* 8 MiB of doubles */

static double *arrays[ARRAYS];

static unsigned count_resident(void)
{
    unsigned resident = 0;
    for (int k = 0; k < ARRAYS; k++)
        resident += gsh_coherence_residency(arrays[k]) == GSH_RESIDENT_DEVICE;
    return resident;
}

static size_t available(void)
{
    gsh_dispatch_lock_acquire();
    size_t bytes = gsh_backend_get()->available();
    gsh_dispatch_lock_release();
    return bytes;
}

/* So much more than there is. */
static bool yield_missing(size_t bytes)
{
    return gsh_memory_yield(available() - SLACK + bytes);
}

static size_t much; /* bytes */

static void *yield_much(void *given)
{
    *(bool *)given = yield_missing(much);
    return NULL;
}

/* An array that is gone leaves a piece that is kept. */
static void check_unused(void)
{
    double *gone = live_doubles(COUNT, GSH_ARENA_DEVICE);
    CHECK_INT(live_add(NULL, NULL, 1, gone, COUNT), GSH_REASON_NONE);
    gsh_dispatch_synchronize();
    CHECK(gsh_arena_free(gone));
    CHECK(gsh_memory_yield(1));
    CHECK_INT(count_resident(), ARRAYS);
    CHECK(!gsh_memory_yield(1)); /* there is nothing more to give, and nothing wanted */
    CHECK_INT(count_resident(), ARRAYS);
}

static void check_locked(void)
{
    gsh_dispatch_lock_acquire();
    CHECK(!gsh_memory_yield(1));
    gsh_dispatch_lock_release();
    CHECK(!yield_missing(1000 * MIB)); /* it can never fit */
    CHECK_INT(count_resident(), ARRAYS);
}

int main(void)
{
    setenv("GPUSHIM_MEM_LIMIT", "112M", 1);
    live_defer();
    if (!live_start())
        return CHECK_SKIP;
    /* A GPU's memory goes in pieces of four arrays and more: all but the last one used may be evicted for 14 MiB. */
    bool is_host = strcmp(gsh_backend_get()->name, "host") == 0;
    much = (is_host ? 40 : 8) * MIB;
    CHECK(!gsh_memory_yield(1));
    for (int k = 0; k < ARRAYS; k++) {
        arrays[k] = live_doubles(COUNT, GSH_ARENA_DEVICE);
        CHECK_INT(live_add(NULL, NULL, k, arrays[k], COUNT), GSH_REASON_NONE);
    }
    gsh_dispatch_synchronize();
    check_unused();
    check_locked();
    CHECK_INT(live_add(arrays[0], NULL, 1, arrays[0], COUNT), GSH_REASON_NONE); /* recorded */
    size_t before = available();
    CHECK(yield_missing(14 * MIB));
    CHECK(available() >= before + 14 * MIB);
    CHECK(is_host ? count_resident() == ARRAYS - 2 : count_resident() <= ARRAYS - 2);
    CHECK_INT(gsh_coherence_residency(arrays[0]), GSH_RESIDENT_DEVICE); /* used last */
    CHECK_INT(gsh_coherence_residency(arrays[1]), GSH_RESIDENT_HOST);
    pthread_t thread;
    bool given = false;
    before = available();
    CHECK(pthread_create(&thread, NULL, yield_much, &given) == 0 &&
          pthread_join(thread, NULL) == 0);
    CHECK(given && available() >= before + much);
    for (int k = 0; k < ARRAYS; k++) {
        double expected = k == 0 ? 1.0 : 2.0 * k;
        CHECK(arrays[k][0] == expected && arrays[k][COUNT - 1] == expected);
    }
    return check_result();
}
