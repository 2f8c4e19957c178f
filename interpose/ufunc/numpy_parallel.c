/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_parallel.h"

#include "blas_threads.h"
#include "clock.h"
#include "cost_model.h"
#include "host_calibration.h"
#include "host_threads.h"
#include "numpy_parallel_walk.h"
#include "options.h"
#include "parallel_loop.h"
#include "sharing_phases.h"
#include "stats.h"

#include <fenv.h>
#include <stdatomic.h>

enum {
    MANY = 4,   /* threads, of which one is hardly missed */
    SAMPLE = 16 /* runs, of which one asks the system for its threads' processor time */
};

#define LONG 500e-6   /* s: longer runs always do */
#define ROW_NS 8e-9   /* s of a call of a loop */
#define WAKING 100e-6 /* s, at most, until a thread that sleeps begins, where it has a core */

/* Work that is being computed. */
struct run {
    gsh_numpy_parallel_part *compute;
    void *context;
    int64_t first;      /* part that is not computed yet */
    fenv_t environment; /* of the caller: rounding, denormals */
    _Atomic int raised; /* flags */
    bool is_sampled;    /* busy_ns counts processor time, else time */
    _Atomic uint64_t busy_ns;
    uint64_t own_ns; /* of the calling thread */
};

/* A space in parts. Its rows, which are those of dimension 0, are cut into blocks. */
struct division {
    const struct gsh_numpy_space *space;
    int64_t block;      /* elements; the last one of a row may have fewer */
    int64_t row_blocks; /* blocks of a row */
    int64_t blocks;     /* of all rows */
    int64_t piece;      /* blocks of a part */
};

static unsigned threads = 1;
static _Thread_local uint64_t count;
static _Atomic struct gsh_parallel_loop_backoff backoff;
static _Atomic uint64_t paused_until_ns;

void gsh_numpy_parallel_install(void)
{
    if (gsh_option_number(GSH_OPTION_MODE) == GSH_MODE_AUTO)
        threads = gsh_host_threads_count();
}

bool gsh_numpy_parallel_is_on(void)
{
    return threads > 1;
}

uint64_t gsh_numpy_parallel_count(void)
{
    return count;
}

size_t gsh_numpy_parallel_element_bytes(const struct gsh_numpy_space *space)
{
    size_t bytes = 0;
    for (unsigned k = 0; k < space->loop->count; k++)
        if (space->strides[k][0] != 0)
            bytes += gsh_dtype_size(space->loop->operands[k]);
    return bytes;
}

/* Of one core. */
static double seconds_of(const struct gsh_numpy_space *space)
{
    double elements = (double)space->shape[0] * (double)gsh_numpy_parallel_walk_rows(space);
    double bytes = elements * (double)gsh_numpy_parallel_element_bytes(space);
    double seconds = gsh_parallel_loop_seconds(bytes, elements,
                                               gsh_op_host_ns(space->loop->op, space->loop->dtype));
    seconds += (double)gsh_numpy_parallel_walk_rows(space) * ROW_NS;
    for (unsigned k = 0; k < space->loop->count; k++)
        seconds += gsh_parallel_loop_far_seconds(space->ndim, space->shape, space->strides[k],
                                                 gsh_dtype_size(space->loop->operands[k]));
    return seconds;
}

/* One fewer beside a thread of ours: work that is shared ends with its slowest thread. */
static unsigned available(void)
{
    return threads >= MANY && gsh_blas_threads_are_beside_ours() ? threads - 1 : threads;
}

static double seconds_now(void)
{
    return (double)gsh_clock_ns() * 1e-9;
}

/* Short loops of this thread. */
static _Thread_local struct gsh_parallel_loop_series series;
static _Thread_local struct gsh_ab_trial phases;

/* Of helpers that begin at once, or that are woken for a series of short loops. A loop counts in its series once: when it `begins`, or
 * when it is found not to pay. */
static unsigned threads_for_short(double seconds, unsigned most, bool begins)
{
    unsigned awake = GSH_MIN(gsh_host_threads_awake(), most - 1);
    unsigned at_once = gsh_parallel_loop_threads_awake(seconds, awake);
    unsigned woken = gsh_parallel_loop_threads_awake(seconds, most - 1);
    if (at_once > 1 || woken < 2)
        return at_once;
    struct gsh_parallel_loop_series after =
        gsh_parallel_loop_series_after(series, seconds, seconds_now());
    bool pays = gsh_parallel_loop_series_pays(&after);
    if (begins || !pays)
        series = after;
    return pays ? woken : 1;
}

static unsigned find_threads(double seconds, bool begins)
{
    if (threads < 2)
        return 1;
    unsigned most = available(), wanted = gsh_parallel_loop_threads(seconds, most);
    return wanted == most ? most : GSH_MAX(wanted, threads_for_short(seconds, most, begins));
}

unsigned gsh_numpy_parallel_threads(double seconds)
{
    return find_threads(seconds, false);
}

bool gsh_numpy_parallel_pays(const struct gsh_numpy_space *space)
{
    return gsh_numpy_parallel_threads(seconds_of(space)) > 1;
}

int64_t gsh_numpy_parallel_least(const struct gsh_numpy_loop *loop)
{
    size_t bytes = 0;
    for (unsigned k = 0; k < loop->count; k++)
        bytes += gsh_dtype_size(loop->operands[k]);
    return gsh_parallel_loop_least(
        bytes, GSH_MAX(gsh_op_host_ns(loop->op, loop->dtype), GSH_COST_REDUCE_NS));
}

/* ---- in each thread ---- */

static uint64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Asking for processor time takes some hundred nanoseconds. */
static uint64_t busy_clock(const struct run *run)
{
    return run->is_sampled ? processor_ns() : gsh_clock_ns();
}

static void compute_share(void *context, unsigned thread, struct gsh_host_pieces *pieces)
{
    struct run *run = context;
    uint64_t begin = busy_clock(run);
    if (thread != 0)
        fesetenv(&run->environment);
    feclearexcept(FE_ALL_EXCEPT);
    for (int64_t part; (part = gsh_host_threads_take(pieces, thread)) >= 0;)
        run->compute(run->context, run->first + part);
    atomic_fetch_or_explicit(&run->raised, fetestexcept(FE_ALL_EXCEPT), memory_order_relaxed);
    uint64_t busy = busy_clock(run) - begin;
    if (thread == 0)
        run->own_ns = busy;
    atomic_fetch_add_explicit(&run->busy_ns, busy, memory_order_relaxed);
}

/* ---- in the caller's ---- */

/* Where an option names the number of threads it is used always. */
static bool is_pausing(void)
{
    uint64_t until = atomic_load_explicit(&paused_until_ns, memory_order_relaxed);
    return until != 0 && gsh_option_number(GSH_OPTION_HOST_THREADS) == 0 && gsh_clock_ns() < until;
}

static bool is_without_losses(void)
{
    const struct gsh_parallel_loop_backoff state =
        atomic_load_explicit(&backoff, memory_order_relaxed);
    return state.pause == 0;
}

/* Seconds that sharing has saved, by the processor time of all threads; where that is not known: lost, because the caller has waited for
 * longer than it computed. */
static double saved_by(const struct run *run, uint64_t wall_ns)
{
    double wait = (double)wall_ns - (double)run->own_ns;
    if (run->is_sampled)
        return ((double)run->busy_ns - (double)wall_ns) * 1e-9;
    return GSH_MIN((double)run->own_ns - wait, 0) * 1e-9;
}

/* Of short runs one in SAMPLE says what all have saved. */
static void note_saved(double saved, double wall)
{
    bool pauses;
    bool is_one_of_many = saved > 0 && wall <= LONG && is_without_losses();
    struct gsh_parallel_loop_backoff state = atomic_load_explicit(&backoff, memory_order_relaxed);
    state =
        gsh_parallel_loop_backoff_after(state, is_one_of_many ? saved * SAMPLE : saved, &pauses);
    atomic_store_explicit(&backoff, state, memory_order_relaxed);
    if (pauses)
        atomic_store_explicit(&paused_until_ns,
                              gsh_clock_ns() + (uint64_t)((double)state.pause * 1e9),
                              memory_order_relaxed);
}

/* Computes parts from run->first on. That threads have to be woken is no loss: it says nothing about whether they have cores. */
static bool run_in_threads(struct run *run, int64_t parts, unsigned wanted)
{
    double waking = gsh_host_threads_awake() > 0 ? 0 : WAKING;
    uint64_t begin = gsh_clock_ns();
    int before = fetestexcept(FE_ALL_EXCEPT);
    fegetenv(&run->environment);
    run->busy_ns = 0;
    if (!gsh_host_threads_try(compute_share, run, parts, wanted))
        return false;
    feraiseexcept(before | run->raised);
    uint64_t wall_ns = gsh_clock_ns() - begin;
    if (run->busy_ns > wall_ns)
        gsh_stats_add(GSH_COUNTER_PARALLEL_SAVED_NS, run->busy_ns - wall_ns);
    double saved = saved_by(run, wall_ns);
    note_saved(saved < 0 ? GSH_MIN(saved + waking, 0) : saved, (double)wall_ns * 1e-9);
    run->first += parts;
    return true;
}

/* Whether a short loop is left to one core, to find out what sharing saves, or because it saves nothing. It stays in its series, and
 * no thread is woken for it. */
static bool is_left_alone(double seconds)
{
    if (gsh_parallel_loop_threads(seconds, threads) > 1 ||
        gsh_option_number(GSH_OPTION_HOST_THREADS) != 0)
        return false;
    phases = gsh_ab_trial_after(phases, &gsh_sharing_phases, seconds, seconds_now());
    if (phases.is_b) {
        unsigned tries = series.tries;
        series = gsh_parallel_loop_series_after(series, seconds, phases.last);
        series.tries = tries;
    }
    return phases.is_b;
}

bool gsh_numpy_parallel_do(gsh_numpy_parallel_part *compute, void *context, int64_t parts,
                           double seconds)
{
    if (threads < 2 || is_pausing() || is_left_alone(seconds))
        return false;
    unsigned wanted = find_threads(seconds, true);
    int64_t stretch = gsh_parallel_loop_stretch(parts, seconds / wanted);
    bool is_sampled = seconds > LONG || count % SAMPLE == 0 || !is_without_losses();
    struct run run = {.compute = compute, .context = context, .is_sampled = is_sampled};
    if (wanted < 2)
        return false;
    while (run.first < parts && run_in_threads(&run, GSH_MIN(stretch, parts - run.first), wanted))
        continue;
    if (run.first == 0)
        return false;
    if (series.tries > 0 && gsh_host_threads_awake() > 0)
        series.tries = 0; /* they have cores */
    for (; run.first < parts; run.first++)
        compute(context, run.first);
    gsh_host_calibration_forget(); /* its time is not that of the one core that is modelled */
    gsh_stats_add(GSH_COUNTER_PARALLEL_LOOPS, 1);
    count++;
    return true;
}

/* ---- spaces ---- */

static void compute_block(const struct division *division,
                          const struct gsh_numpy_parallel_walk *walk, int64_t begin,
                          const int64_t *steps)
{
    const struct gsh_numpy_loop *loop = division->space->loop;
    int64_t elements = GSH_MIN(division->block, division->space->shape[0] - begin);
    char *args[GSH_MAX_OPERANDS];
    for (unsigned k = 0; k < loop->count; k++)
        args[k] = walk->row[k] + begin * steps[k];
    loop->function(args, &elements, steps, loop->data);
}

static void compute_part(void *context, int64_t part)
{
    const struct division *division = context;
    int64_t first = part * division->piece, block = first % division->row_blocks;
    int64_t left = GSH_MIN(division->piece, division->blocks - first);
    int64_t steps[GSH_MAX_OPERANDS];
    struct gsh_numpy_parallel_walk walk;
    for (unsigned k = 0; k < division->space->loop->count; k++)
        steps[k] = division->space->strides[k][0];
    gsh_numpy_parallel_walk_begin(&walk, division->space, first / division->row_blocks);
    for (; left > 0; left--) {
        compute_block(division, &walk, block * division->block, steps);
        if (++block < division->row_blocks)
            continue;
        block = 0;
        gsh_numpy_parallel_walk_skip(&walk, division->space, 1);
    }
}

static int64_t count_parts(const struct division *division)
{
    return (division->blocks - 1) / division->piece + 1;
}

/* Rows are cut where there are few of them. */
static struct division divide(const struct gsh_numpy_space *space, unsigned wanted)
{
    size_t bytes = gsh_numpy_parallel_element_bytes(space);
    int64_t length = space->shape[0], rows = gsh_numpy_parallel_walk_rows(space);
    int64_t share = gsh_parallel_loop_piece(length * rows, bytes, wanted);
    struct division division = {.space = space, .block = GSH_MIN(share, length)};
    division.row_blocks = (length - 1) / division.block + 1;
    division.blocks = rows * division.row_blocks;
    division.piece = GSH_MAX(share / division.block, 1);
    return division;
}

bool gsh_numpy_parallel_run(const struct gsh_numpy_space *space)
{
    double seconds = threads > 1 ? seconds_of(space) : 0;
    unsigned wanted = gsh_numpy_parallel_threads(seconds);
    if (wanted < 2)
        return false;
    struct division division = divide(space, wanted);
    return gsh_numpy_parallel_do(compute_part, &division, count_parts(&division), seconds);
}

void gsh_numpy_parallel_compute(const struct gsh_numpy_space *space)
{
    if (gsh_numpy_parallel_run(space))
        return;
    struct division division = divide(space, 1);
    for (int64_t part = 0; part < count_parts(&division); part++)
        compute_part(&division, part);
}
