/* SPDX-License-Identifier: Apache-2.0
 *
 * More arrays than device memory: the least recently used are evicted to the host, none is lost, and a call that can
 * never fit is declined.
 */
#include "check.h"
#include "live.h"

enum { ARRAYS = 12 };
#define COUNT ((int64_t)1 << 20) /* 8 MiB of doubles */

int main(void)
{
    setenv("GPUSHIM_MEM_LIMIT", "40M", 1);
    if (!live_start())
        return CHECK_SKIP;
    double *arrays[ARRAYS];
    for (int k = 0; k < ARRAYS; k++) {
        arrays[k] = live_doubles(COUNT, GSH_ARENA_DEVICE);
        CHECK_INT(live_add(NULL, NULL, k, arrays[k], COUNT), GSH_REASON_NONE);
    }
    CHECK(gsh_stats_get(GSH_COUNTER_EVICTIONS) >= ARRAYS - 5);
    CHECK_INT(gsh_coherence_residency(arrays[0]), GSH_RESIDENT_HOST);
    CHECK_INT(gsh_coherence_residency(arrays[ARRAYS - 1]), GSH_RESIDENT_DEVICE);
    CHECK_INT(live_add(arrays[0], arrays[1], 0, arrays[0], COUNT), GSH_REASON_NONE);
    for (int k = 1; k < ARRAYS; k++)
        CHECK(arrays[k][0] == 2.0 * k && arrays[k][COUNT - 1] == 2.0 * k);
    CHECK(arrays[0][7] == 2.0);
    uint64_t evictions = gsh_stats_get(GSH_COUNTER_EVICTIONS);
    double *huge = live_doubles(6 * COUNT, GSH_ARENA_HOST);
    huge[0] = 3;
    CHECK_INT(live_add(huge, NULL, 1, huge, 6 * COUNT), GSH_REASON_MEMORY);
    CHECK_INT(gsh_coherence_residency(huge), GSH_RESIDENT_HOST);
    CHECK(huge[0] == 3.0);
    CHECK_INT(gsh_stats_get(GSH_COUNTER_EVICTIONS),
              evictions); /* what can never fit evicts nobody */
    return check_result();
}
