/* SPDX-License-Identifier: Apache-2.0
 *
 * How many threads compute a loop, in which pieces, and when that is given up.
 */
#include "parallel_loop.h"

#include "check.h"

static void check_seconds(void)
{
    double cached = gsh_parallel_loop_seconds(1e6, 1e5, 1),
           large = gsh_parallel_loop_seconds(1e8, 1e5, 1);
    CHECK(cached > 1e-4 &&
          cached < 2e-4); /* what is computed counts, what is moved in cache hardly */
    CHECK(large > 1e-2);
    CHECK(gsh_parallel_loop_seconds(0, 0, 5) == 0);
}

static double far(int64_t step, int64_t row)
{
    const int64_t shape[2] = {100, 100}, strides[2] = {step, row};
    return gsh_parallel_loop_far_seconds(2, shape, strides, 8);
}

/* Elements of a large array that lie apart; in any order of the dimensions. */
static void check_far(void)
{
    const int64_t shape[] = {160, 160}, strides[] = {800, 128000};
    CHECK(far(8, 1000000) == 0 && far(800, 8000) == 0 && far(0, 0) == 0 && far(1000000, 8) == 0);
    CHECK(far(800, 1000000) > 2e-5 && far(-800, -1000000) == far(1000000, 800));
    CHECK(far(64, 1000000) == far(800, 1000000) && far(16, 1000000) * 4 == far(64, 1000000));
    CHECK(far(0, 1000000) == far(64, 1000000));
    CHECK_INT(
        gsh_parallel_loop_threads(2 * gsh_parallel_loop_far_seconds(2, shape, strides, 8), 16), 2);
}

static void check_copies(void)
{
    CHECK_INT(gsh_parallel_loop_threads(gsh_parallel_loop_copy_seconds(5e6, 3e5, true), 16), 8);
    CHECK_INT(gsh_parallel_loop_threads_awake(gsh_parallel_loop_copy_seconds(3e6, 3e5, true), 15),
              9);
    CHECK_INT(gsh_parallel_loop_threads(gsh_parallel_loop_copy_seconds(5e6, 3e5, false), 16), 10);
    CHECK(gsh_parallel_loop_copy_seconds(1e8, 1e6, true) <
          gsh_parallel_loop_copy_seconds(1e8, 1e6, false));
}

static void check_threads(void)
{
    CHECK_INT(gsh_parallel_loop_threads(0, 16), 1);
    CHECK_INT(gsh_parallel_loop_threads(100e-6, 16), 1);
    CHECK_INT(gsh_parallel_loop_threads(130e-6, 16), 2);
    CHECK_INT(gsh_parallel_loop_threads(1e-2, 16), 16);
    CHECK_INT(gsh_parallel_loop_threads(1e9, 16), 16);
    CHECK_INT(gsh_parallel_loop_threads(1, 1), 1);
    CHECK_INT(gsh_parallel_loop_threads(1, 0), 1);
    for (unsigned threads = 1, before = 1; threads < 100; before = threads++)
        CHECK(gsh_parallel_loop_shared(1, threads) <= gsh_parallel_loop_shared(1, before));
    CHECK(gsh_parallel_loop_shared(1, 1) == 1);
    CHECK(gsh_parallel_loop_shared(1, 64) > 0.1); /* memory is not as much faster */
}

/* Threads that are awake take shorter loops. */
static void check_awake(void)
{
    CHECK_INT(gsh_parallel_loop_threads_awake(10e-6, 15), 1);
    CHECK_INT(gsh_parallel_loop_threads_awake(20e-6, 15), 2);
    CHECK_INT(gsh_parallel_loop_threads_awake(1e-3, 15), 16);
    CHECK_INT(gsh_parallel_loop_threads_awake(1e-3, 0), 1);
}

static unsigned awake_for(size_t bytes, int64_t elements)
{
    double all = (double)bytes * (double)elements;
    return gsh_parallel_loop_threads_awake(gsh_parallel_loop_seconds(all, (double)elements, 0.2),
                                           15);
}

/* The least number of elements agrees with the seconds of such a loop. */
static void check_least(void)
{
    for (size_t bytes = 1; bytes <= 48; bytes++) {
        int64_t least = gsh_parallel_loop_least(bytes, 0.2);
        CHECK_INT(awake_for(bytes, least - 1), 1);
        CHECK(least == 62500 || awake_for(bytes, least + 1) == 2);
    }
    CHECK_INT(gsh_parallel_loop_least(24, 1000), 15);
}

/* Loops of 40 us, one every `step` seconds; the number of the first for which threads are woken, or 0. */
static int first_woken(double step, int loops)
{
    struct gsh_parallel_loop_series series = {.last = -1};
    for (int k = 1; k <= loops; k++) {
        series = gsh_parallel_loop_series_after(series, 40e-6, k * step);
        if (gsh_parallel_loop_series_pays(&series))
            return k;
    }
    return 0;
}

static void check_series(void)
{
    struct gsh_parallel_loop_series series = {.last = -1};
    int first = first_woken(50e-6, 1000), woken = 0;
    CHECK(first > 4 && first < 100);
    CHECK_INT(first_woken(1e-3, 1000), 0); /* too far apart */
    for (int k = 0; k < 1000; k++) {
        series = gsh_parallel_loop_series_after(series, 40e-6, k * 50e-6);
        woken += gsh_parallel_loop_series_pays(&series);
    }
    CHECK(woken > 2 && woken < 100); /* given up where nobody stays awake */
}

static void check_piece(int64_t elements, size_t bytes, unsigned threads)
{
    int64_t piece = gsh_parallel_loop_piece(elements, bytes, threads);
    CHECK_INT(piece % GSH_PARALLEL_LOOP_ALIGNMENT, 0);
    CHECK(piece > 0 && piece * (int64_t)GSH_MAX(bytes, 1) >= 32768);
    if (elements * (int64_t)bytes > 1 << 26)
        CHECK((elements - 1) / piece + 1 >= 2 * threads); /* something is left for who is early */
}

static void check_pieces(void)
{
    static const int64_t elements[] = {1, 63, 64, 65, 100000, 12345678, 1000000000};
    for (size_t i = 0; i < GSH_COUNT(elements); i++)
        for (size_t bytes = 0; bytes <= 48; bytes += 8)
            for (unsigned threads = 1; threads <= 64; threads *= 2)
                check_piece(elements[i], bytes, threads);
}

static struct gsh_parallel_loop_backoff after(struct gsh_parallel_loop_backoff backoff,
                                              double saved, bool expected)
{
    bool pauses = !expected;
    backoff = gsh_parallel_loop_backoff_after(backoff, saved, &pauses);
    CHECK_INT(pauses, expected);
    return backoff;
}

/* Threads that come late are forgiven; threads without cores are not. */
static void check_backoff(void)
{
    struct gsh_parallel_loop_backoff backoff = {0, 0};
    for (int i = 0; i < 5; i++)
        backoff = after(backoff, -50e-6, false);
    backoff = after(backoff, 1, false);
    CHECK(backoff.pause == 0);
    backoff = after(backoff, -3e-3, true);
    CHECK(backoff.pause > 0 && backoff.pause < 0.01F);
    float first = backoff.pause;
    backoff = after(backoff, -3e-3, true);
    CHECK(backoff.pause == 2 * first);
}

/* Another process computes on the core: every few milliseconds what was saved is lost again. */
static void check_contention(void)
{
    struct gsh_parallel_loop_backoff backoff = {0, 0};
    double shared = 0, paused = 0;
    for (int i = 0; i < 100; i++) {
        for (int run = 0; run < 20; run++)
            backoff = after(backoff, 100e-6, false);
        backoff = after(backoff, -3e-3, true);
        shared += 5e-3;
        paused += (double)backoff.pause;
    }
    CHECK(paused > 20 * shared);
    for (int i = 0; i < 30000; i++) /* it has ended */
        backoff = after(backoff, 100e-6, false);
    CHECK(backoff.pause == 0);
}

int main(void)
{
    check_seconds();
    check_far();
    check_copies();
    check_threads();
    check_awake();
    check_least();
    check_series();
    check_pieces();
    CHECK_INT(gsh_parallel_loop_stretch(64, 0.1), 64);
    CHECK_INT(gsh_parallel_loop_stretch(64, 2), 8);
    CHECK_INT(gsh_parallel_loop_stretch(64, 1e6), 1);
    check_backoff();
    check_contention();
    return check_result();
}
