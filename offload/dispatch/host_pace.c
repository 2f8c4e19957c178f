/* SPDX-License-Identifier: Apache-2.0
 *
 * The last ratios of time to price, per operation and class of prices.
 */
#include "host_pace.h"

#include "clock.h"
#include "lapack.h"
#include "prefault.h"

#include <math.h>
#include <stdatomic.h>

#define SHORTEST 1e-4 /* s: what is shorter gains little anywhere */
#define RELUCTANCE 2  /* times slower is as good as not slower */
enum { SAMPLES = 3, CLASSES = 8 };
enum { LEAST_PATIENCE = 3, MOST_PATIENCE = 8 };
enum { OPERATIONS = GSH_GEMM_FORMS + GSH_LAPACK_COUNT, KINDS = OPERATIONS * GSH_DTYPE_COUNT * 2 };

struct past {
    _Atomic float ratios[SAMPLES]; /* 0: none */
    _Atomic unsigned next;         /* place of the oldest ratio, modulo SAMPLES */
    _Atomic unsigned prices;       /* raised since a ratio was last forgotten */
    _Atomic unsigned
        patience; /* the next is forgotten after 2^(LEAST_PATIENCE + patience) of them */
};
static struct past pasts[KINDS][CLASSES];

static _Thread_local struct {
    struct past *past; /* NULL: no call is expected */
    unsigned row;
    double priced;
    uint64_t begin_ns; /* 0: it has not begun */
} expected;

/* -1: not looked at. */
static int kind_of(const struct gsh_launch *launch, double priced)
{
    int operation = launch->kind == GSH_LAUNCH_GEMM ? (int)launch->gemm.form
                    : launch->kind == GSH_LAUNCH_LAPACK
                        ? GSH_GEMM_FORMS + (int)launch->lapack.routine
                        : -1;
    if (operation < 0 || priced < SHORTEST)
        return -1;
    bool is_batch = gsh_launch_elements(launch) > 1;
    return (operation * GSH_DTYPE_COUNT + (int)launch->loop) * 2 + is_batch;
}

/* Of a factor 4 each, the last one of all that is longer. */
static int class_of(double priced)
{
    return (int)fmin(log2(priced / SHORTEST) / 2, CLASSES - 1);
}

void gsh_host_pace_prefault(void)
{
    gsh_prefault(pasts, sizeof pasts);
}

void gsh_host_pace_expect(const struct gsh_launch *launch, unsigned row, double priced)
{
    gsh_host_pace_forget();
    int kind = kind_of(launch, priced);
    if (kind < 0)
        return;
    expected.past = &pasts[kind][class_of(priced)];
    expected.row = row;
    expected.priced = priced;
}

bool gsh_host_pace_is_expected(unsigned row)
{
    return expected.past != NULL && expected.row == row;
}

void gsh_host_pace_forget(void)
{
    expected.past = NULL;
    expected.begin_ns = 0;
}

void gsh_host_pace_begin(void)
{
    if (expected.past != NULL && expected.begin_ns == 0)
        expected.begin_ns = gsh_clock_ns();
}

void gsh_host_pace_end(bool is_whole)
{
    struct past *past = expected.past;
    if (is_whole && expected.begin_ns != 0) {
        double ratio = (double)(gsh_clock_ns() - expected.begin_ns) * 1e-9 / expected.priced;
        unsigned place = atomic_fetch_add_explicit(&past->next, 1, memory_order_relaxed) % SAMPLES;
        atomic_store_explicit(&past->ratios[place], (float)ratio, memory_order_relaxed);
        if (ratio <= RELUCTANCE)
            atomic_store_explicit(&past->patience, 0, memory_order_relaxed);
    }
    gsh_host_pace_forget();
}

/* The least of the ratios there are, infinity without one; *count: how many there are. */
static double fastest(const struct past *past, unsigned *count)
{
    double least = INFINITY;
    *count = 0;
    for (unsigned i = 0; i < SAMPLES; i++) {
        double ratio = atomic_load_explicit(&past->ratios[i], memory_order_relaxed);
        *count += ratio > 0;
        least = ratio > 0 ? fmin(least, ratio) : least;
    }
    return least;
}

/* Of the classes beside one that knows nothing. */
static double fastest_neighbour(const struct past *classes, int class)
{
    unsigned count;
    double least = INFINITY;
    if (class > 0)
        least = fastest(&classes[class - 1], &count);
    if (class < CLASSES - 1)
        least = fmin(least, fastest(&classes[class + 1], &count));
    return least;
}

/* One more price is raised. After so many of them the oldest ratio is forgotten, so that the next call runs on the CPU
 * and tells whether it still is slow; from then on it takes twice as many. */
static void lose_patience(struct past *past)
{
    unsigned patience = atomic_load_explicit(&past->patience, memory_order_relaxed);
    unsigned prices = atomic_fetch_add_explicit(&past->prices, 1, memory_order_relaxed) + 1;
    if (prices < 1U << (LEAST_PATIENCE + patience))
        return;
    unsigned oldest = atomic_load_explicit(&past->next, memory_order_relaxed) % SAMPLES;
    atomic_store_explicit(&past->ratios[oldest], 0, memory_order_relaxed);
    atomic_store_explicit(&past->prices, 0, memory_order_relaxed);
    atomic_store_explicit(&past->patience, GSH_MIN(patience + 1, MOST_PATIENCE - LEAST_PATIENCE),
                          memory_order_relaxed);
}

double gsh_host_pace_factor(const struct gsh_launch *launch, double priced)
{
    unsigned count;
    int kind = kind_of(launch, priced);
    if (kind < 0)
        return 1;
    int class = class_of(priced);
    struct past *past = &pasts[kind][class];
    double ratio = fastest(past, &count);
    if (count == 0)
        return fmin(fastest_neighbour(pasts[kind], class), 1);
    if (count < SAMPLES || ratio <= RELUCTANCE)
        return fmin(ratio, 1);
    lose_patience(past);
    return ratio / RELUCTANCE;
}
