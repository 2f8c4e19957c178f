/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs in quick succession and after pauses: each piece is computed once, the caller sees all of it, and helpers that are awake go
 * to sleep.
 */
#include "host_threads.h"

#include "check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PIECES = 37, RUNS = 20000, THREADS = 5 };

struct work {
    unsigned computed[PIECES]; /* times; plain memory: the end of a run publishes it */
    unsigned first[PIECES];    /* the thread */
    _Atomic unsigned shares;
    bool is_long; /* long enough for a helper to come */
};

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void share(void *context, unsigned thread, struct gsh_host_pieces *pieces)
{
    struct work *work = context;
    double begin = seconds(CLOCK_MONOTONIC);
    atomic_fetch_add(&work->shares, 1);
    while (work->is_long && work->shares < 2 && seconds(CLOCK_MONOTONIC) - begin < 5)
        continue;
    for (int64_t piece; (piece = gsh_host_threads_take(pieces, thread)) >= 0;) {
        work->computed[piece]++;
        work->first[piece] = thread;
    }
}

static void check_pieces(void)
{
    bool good = true;
    unsigned most = 0;
    for (unsigned k = 0; k < RUNS; k++) {
        struct work work = {.is_long = k % 1000 == 0};
        unsigned threads = 2 + k % (THREADS - 1);
        int64_t count = 2 + k % (PIECES - 1);
        if (!gsh_host_threads_try(share, &work, count, threads))
            good = false;
        for (int64_t piece = 0; piece < PIECES; piece++)
            good = good && work.computed[piece] == (piece < count) && work.first[piece] < threads;
        good = good && work.shares <= threads;
        most = GSH_MAX(most, work.shares);
        if (k % 1000 == 0)
            usleep(500);
    }
    CHECK(good);
    CHECK(most > 1);
}

/* Helpers look for the next of runs that follow closely, and not for ever. */
static void check_awake(void)
{
    struct work work = {.shares = 0};
    unsigned most = 0;
    for (int k = 0; k < 1000; k++) {
        gsh_host_threads_try(share, &work, PIECES, THREADS);
        most = GSH_MAX(most, gsh_host_threads_awake());
    }
    CHECK(most > 0);
    usleep(50000);
    CHECK_INT(gsh_host_threads_awake(), 0);
    double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
    usleep(100000);
    CHECK(seconds(CLOCK_PROCESS_CPUTIME_ID) - begin < 0.02);
}

static void check_alone(void)
{
    struct work work = {.shares = 0};
    gsh_host_threads_alone(share, &work, PIECES);
    CHECK_INT(work.shares, 1);
    for (int piece = 0; piece < PIECES; piece++)
        CHECK(work.computed[piece] == 1 && work.first[piece] == 0);
}

int main(void)
{
    setenv("GPUSHIM_HOST_THREADS", "5", 1);
    check_alone();
    check_pieces();
    check_awake();
    return check_result();
}
