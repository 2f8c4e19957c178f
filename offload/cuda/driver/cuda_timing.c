/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring of event pairs. Entries [oldest, newest) await their result. A full ring waits for its oldest entry; the
 * driver's own launch queue is no deeper than the ring, so this delays nothing.
 */
#include "cuda_timing.h"

#include "cuda_context.h"
#include "line_profile.h"
#include "lock.h"
#include "stats.h"

#define DEPTH 1024U

struct measurement {
    CUevent begin, end; /* NULL until first used */
    unsigned row, line; /* of stats.h and of line_profile.h */
};

static struct gsh_lock lock = GSH_LOCK_INITIALIZER(GSH_RANK_BACKEND);
static struct measurement ring[DEPTH];
static unsigned oldest, newest; /* running counts, index modulo DEPTH; `oldest` under `lock` */

/* False where the launch still runs. A failed reading charges nothing. */
static bool charge(const struct measurement *entry)
{
    float milliseconds = 0;
    gsh_cuda_enum result = gsh_cu.cuEventElapsedTime(&milliseconds, entry->begin, entry->end);
    if (result == GSH_CUDA_NOT_READY)
        return false;
    if (GSH_CUDA_RESULT(result, "cuEventElapsedTime") != GSH_OK)
        return true;
    unsigned before = gsh_line_profile_swap_sigsafe(entry->line);
    gsh_stats_device_time(entry->row, (uint64_t)((double)milliseconds * 1e6));
    gsh_line_profile_swap_sigsafe(before);
    return true;
}

static void collect_locked(bool make_room)
{
    unsigned end = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
    while (oldest != end) {
        const struct measurement *entry = &ring[oldest % DEPTH];
        if (!charge(entry)) {
            if (!make_room || end - oldest < DEPTH || gsh_cuda_context_wait(entry->end) != GSH_OK)
                return;
            continue;
        }
        oldest++;
    }
}

void gsh_cuda_timing_collect(void)
{
    GSH_LOCKED(&lock);
    collect_locked(false);
}

static bool has_event(CUevent *event)
{
    return *event || GSH_CUDA(gsh_cu.cuEventCreate(event, GSH_CUDA_EVENT_BLOCKING_SYNC)) == GSH_OK;
}

bool gsh_cuda_timing_begin(unsigned row)
{
    if (!gsh_stats_report_is_wanted())
        return false;
    GSH_LOCKED(&lock);
    if (newest - oldest == DEPTH)
        collect_locked(true);
    struct measurement *entry = &ring[newest % DEPTH];
    if (newest - oldest == DEPTH)
        return false;
    if (!has_event(&entry->begin) || !has_event(&entry->end))
        return false;
    entry->row = row;
    entry->line = gsh_line_profile_here();
    return GSH_CUDA(gsh_cu.cuEventRecord(entry->begin, gsh_cuda.compute)) == GSH_OK;
}

void gsh_cuda_timing_end(void)
{
    if (GSH_CUDA(gsh_cu.cuEventRecord(ring[newest % DEPTH].end, gsh_cuda.compute)) == GSH_OK)
        __atomic_store_n(&newest, newest + 1, __ATOMIC_RELEASE); /* pairs with collect's acquire */
}
