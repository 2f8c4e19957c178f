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
#include "trace.h"

#include <string.h>

#define DEPTH 1024U

struct measurement {
    CUevent begin, end;         /* NULL until first used */
    unsigned row, line;         /* of stats.h and of line_profile.h */
    char group[GSH_TRACE_TEXT]; /* what a traced launch holds */
};

/* The device's clock: an event that had just been reached when the host's clock was read. */
struct origin {
    CUevent event; /* NULL: the trace is off, or there is none */
    bool is_tried; /* to make it, which is done once */
    uint64_t host_ns;
    uint64_t last_end_ns; /* of launches, which run in order: elapsed times are rounded (`lock`) */
};

static struct gsh_lock lock = GSH_LOCK_INITIALIZER(GSH_RANK_BACKEND);
static struct measurement ring[DEPTH];
static struct origin origin;    /* event and host_ns: DISPATCH lock; constant once they are set */
static unsigned oldest, newest; /* running counts, index modulo DEPTH; `oldest` under `lock` */

/* Waits for the device, once: traces show its times on the host's clock. DISPATCH lock held. */
static void set_origin(void)
{
    CUevent event = NULL;
    if (origin.is_tried)
        return;
    origin.is_tried = true;
    if (GSH_CUDA(gsh_cu.cuEventCreate(&event, GSH_CUDA_EVENT_BLOCKING_SYNC)) != GSH_OK ||
        GSH_CUDA(gsh_cu.cuEventRecord(event, gsh_cuda.compute)) != GSH_OK ||
        gsh_cuda_context_wait(event) != GSH_OK)
        return;
    origin.host_ns = gsh_clock_ns();
    __atomic_store_n(&origin.event, event, __ATOMIC_RELEASE);
}

static void trace(const struct measurement *entry, float milliseconds)
{
    float since = 0;
    CUevent event = __atomic_load_n(&origin.event, __ATOMIC_ACQUIRE);
    if (event == NULL || gsh_cu.cuEventElapsedTime(&since, event, entry->begin) != GSH_CUDA_SUCCESS)
        return;
    uint64_t begin = GSH_MAX(origin.host_ns + (uint64_t)((double)since * 1e6), origin.last_end_ns);
    origin.last_end_ns = begin + (uint64_t)((double)milliseconds * 1e6);
    gsh_trace_add_past(begin, origin.last_end_ns,
                       &(struct gsh_trace_facts){
                           .track = GSH_TRACE_DEVICE, .row = entry->row, .text = entry->group});
}

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
    if (GSH_UNLIKELY(gsh_trace_is_on))
        trace(entry, milliseconds);
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
    if (GSH_UNLIKELY(gsh_trace_is_on)) {
        memcpy(entry->group, gsh_trace_group, sizeof entry->group);
        set_origin();
    }
    return GSH_CUDA(gsh_cu.cuEventRecord(entry->begin, gsh_cuda.compute)) == GSH_OK;
}

void gsh_cuda_timing_end(void)
{
    if (GSH_CUDA(gsh_cu.cuEventRecord(ring[newest % DEPTH].end, gsh_cuda.compute)) == GSH_OK)
        __atomic_store_n(&newest, newest + 1, __ATOMIC_RELEASE); /* pairs with collect's acquire */
}
