/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "parallel_loop.h"

#include <stdlib.h>

#define CACHE_BYTES 4e6 /* up to this the operands are in the cache of a core */
#define CACHE_RATE 40e9 /* bytes/s of one core */
#define MEMORY_RATE 10e9
#define FAR_NS 3.5 /* of a line that is not in the cache: planes of 160 x 160 of 160 x 160 x 100 */
#define ELEMENT_NS 0.5         /* of a copy without runs */
#define SHARE 60e-6            /* s of work for each thread: some times what it takes to wake one */
#define SHARE_AWAKE 8e-6       /* where nobody need be woken */
#define CLOSE 200e-6           /* s between loops of a series, at most */
#define FOREGONE 300e-6        /* s, before threads are woken for a series */
#define TRIES 8                /* in a series: threads that are awake by then have no cores */
#define MEMORY_SPEED_UP 4      /* of what moves bytes only, at most */
#define PIECES_OF_THREAD 4     /* a core that is busy otherwise does not hold up the others */
#define PIECE_BYTES 32768      /* at least */
#define PIECE_ELEMENTS 1000000 /* at most */
#define FORGIVEN 0.5e-3F       /* s: some threads that come late */
#define PAUSE_LEAST 2e-3F      /* s */
#define PAUSE_MOST 0.2F    /* a thread whose core another process has may hold up a run for 4 ms */
#define PAUSE_SHRINKS 0.1F /* by so much of what is saved */
#define STRETCH 0.25       /* s */

double gsh_parallel_loop_seconds(double bytes, double elements, double host_ns)
{
    double rate = bytes <= CACHE_BYTES ? CACHE_RATE : MEMORY_RATE;
    return bytes / rate + elements * host_ns * 1e-9;
}

double gsh_parallel_loop_far_seconds(int ndim, const int64_t *shape, const int64_t *strides,
                                     size_t itemsize)
{
    double elements = 1, step = 0, span = 0; /* the smallest step counts */
    for (int d = 0; d < ndim; d++) {
        double stride = (double)llabs(strides[d]);
        elements *= (double)shape[d];
        span += stride * (double)(shape[d] - 1);
        if (shape[d] > 1 && stride != 0)
            step = step == 0 ? stride : GSH_MIN(step, stride);
    }
    if (step <= (double)itemsize || span <= CACHE_BYTES)
        return 0;
    return elements * FAR_NS * 1e-9 * GSH_MIN(step / GSH_PARALLEL_LOOP_LINE, 1);
}

double gsh_parallel_loop_copy_seconds(double bytes, double elements, bool has_runs)
{
    return gsh_parallel_loop_seconds(bytes, elements, has_runs ? 0 : ELEMENT_NS);
}

static unsigned threads_by_share(double seconds, double share, unsigned available)
{
    double wanted = seconds / share;
    return wanted < 2 ? 1 : wanted < available ? (unsigned)wanted : GSH_MAX(available, 1);
}

unsigned gsh_parallel_loop_threads(double seconds, unsigned available)
{
    return threads_by_share(seconds, SHARE, available);
}

unsigned gsh_parallel_loop_threads_awake(double seconds, unsigned awake)
{
    return threads_by_share(seconds, SHARE_AWAKE, awake + 1);
}

int64_t gsh_parallel_loop_least(size_t bytes, double host_ns)
{
    double seconds = gsh_parallel_loop_seconds((double)bytes, 1, host_ns);
    return (int64_t)GSH_MIN(2 * SHARE_AWAKE / seconds, CACHE_BYTES / GSH_PARALLEL_LOOP_LINE);
}

struct gsh_parallel_loop_series
gsh_parallel_loop_series_after(struct gsh_parallel_loop_series series, double seconds, double now)
{
    bool is_close = now - series.last < CLOSE;
    struct gsh_parallel_loop_series after = {.last = now};
    if (is_close) {
        after.foregone = series.foregone + seconds / 2;
        after.tries = series.tries + gsh_parallel_loop_series_pays(&series);
    }
    return after;
}

bool gsh_parallel_loop_series_pays(const struct gsh_parallel_loop_series *series)
{
    return series->foregone > FOREGONE && series->tries < TRIES;
}

double gsh_parallel_loop_shared(double seconds, unsigned threads)
{
    return seconds / GSH_MAX(GSH_MIN(threads, MEMORY_SPEED_UP), 1);
}

int64_t gsh_parallel_loop_piece(int64_t elements, size_t bytes, unsigned threads)
{
    int64_t share = elements / ((int64_t)threads * PIECES_OF_THREAD);
    int64_t piece =
        GSH_MAX(GSH_MIN(share, PIECE_ELEMENTS), PIECE_BYTES / (int64_t)GSH_MAX(bytes, 1));
    return (piece / GSH_PARALLEL_LOOP_ALIGNMENT + 1) * GSH_PARALLEL_LOOP_ALIGNMENT;
}

int64_t gsh_parallel_loop_stretch(int64_t pieces, double seconds)
{
    return seconds <= STRETCH ? pieces : GSH_MAX((int64_t)((double)pieces * STRETCH / seconds), 1);
}

struct gsh_parallel_loop_backoff
gsh_parallel_loop_backoff_after(struct gsh_parallel_loop_backoff backoff, double saved,
                                bool *pauses)
{
    float gain = GSH_MAX((float)saved, 0), deficit = backoff.deficit - (float)saved;
    *pauses = deficit > FORGIVEN;
    if (*pauses)
        return (struct gsh_parallel_loop_backoff){
            FORGIVEN, GSH_MIN(GSH_MAX(2 * backoff.pause, PAUSE_LEAST), PAUSE_MOST)};
    return (struct gsh_parallel_loop_backoff){GSH_MAX(deficit, 0),
                                              GSH_MAX(backoff.pause - PAUSE_SHRINKS * gain, 0)};
}
