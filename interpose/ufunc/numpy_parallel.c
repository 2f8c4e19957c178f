/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_parallel.h"

#include "back_off.h"
#include "clock.h"
#include "host_calibration.h"
#include "host_threads.h"
#include "options.h"
#include "parallel_loop.h"
#include "stats.h"

#include <fenv.h>
#include <stdatomic.h>

/* A space that is being computed. Its rows, which are those of dimension 0, are cut into blocks. */
struct run {
    const struct gsh_numpy_space *space;
    int64_t block;      /* elements; the last one of a row may have fewer */
    int64_t row_blocks; /* blocks of a row */
    int64_t blocks;     /* of all rows */
    int64_t piece;      /* blocks that a thread takes at once */
    int64_t first;      /* piece that is not computed yet */
    fenv_t environment; /* of the caller: rounding, denormals */
    _Atomic int raised; /* flags */
    _Atomic uint64_t busy_ns;
};

static unsigned threads = 1;
static _Thread_local uint64_t count;
static _Atomic struct gsh_back_off back_off; /* after runs that had no cores */

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

static int64_t count_rows(const struct gsh_numpy_space *space)
{
    int64_t rows = 1;
    for (int d = 1; d < space->ndim; d++)
        rows *= space->shape[d];
    return rows;
}

/* Bytes that an element of each operand has; broadcast operands count in the dimensions that they have. */
static size_t bytes_of_element(const struct gsh_numpy_space *space)
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
    double elements = (double)space->shape[0] * (double)count_rows(space);
    double bytes = elements * (double)bytes_of_element(space);
    return gsh_parallel_loop_seconds(bytes, elements, gsh_op_info(space->loop->op)->host_ns);
}

static unsigned wanted_threads(const struct gsh_numpy_space *space)
{
    return gsh_parallel_loop_threads(seconds_of(space), threads);
}

bool gsh_numpy_parallel_pays(const struct gsh_numpy_space *space)
{
    return threads > 1 && wanted_threads(space) > 1;
}

/* ---- in each thread ---- */

static uint64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void call_loop(const struct gsh_numpy_space *space, char **args, int64_t elements)
{
    int64_t steps[GSH_MAX_OPERANDS];
    for (unsigned k = 0; k < space->loop->count; k++)
        steps[k] = space->strides[k][0];
    space->loop->function(args, &elements, steps, space->loop->data);
}

/* The addresses of the first element of a row. */
static void find_row(const struct gsh_numpy_space *space, int64_t row, char **args)
{
    for (unsigned k = 0; k < space->loop->count; k++)
        args[k] = space->first[k];
    for (int d = 1; d < space->ndim; d++) {
        int64_t index = row % space->shape[d];
        row /= space->shape[d];
        for (unsigned k = 0; k < space->loop->count; k++)
            args[k] += index * space->strides[k][d];
    }
}

static void compute_block(const struct run *run, int64_t number)
{
    const struct gsh_numpy_space *space = run->space;
    char *args[GSH_MAX_OPERANDS];
    int64_t begin = number % run->row_blocks * run->block;
    find_row(space, number / run->row_blocks, args);
    for (unsigned k = 0; k < space->loop->count; k++)
        args[k] += begin * space->strides[k][0];
    call_loop(space, args, GSH_MIN(run->block, space->shape[0] - begin));
}

static void compute_blocks(const struct run *run, int64_t begin, int64_t end)
{
    for (int64_t number = begin; number < GSH_MIN(end, run->blocks); number++)
        compute_block(run, number);
}

static void compute_share(void *context, unsigned thread, struct gsh_host_pieces *pieces)
{
    struct run *run = context;
    uint64_t begin = processor_ns();
    if (thread != 0)
        fesetenv(&run->environment);
    feclearexcept(FE_ALL_EXCEPT);
    for (int64_t piece; (piece = gsh_host_threads_take(pieces)) >= 0;)
        compute_blocks(run, (run->first + piece) * run->piece,
                       (run->first + piece + 1) * run->piece);
    atomic_fetch_or_explicit(&run->raised, fetestexcept(FE_ALL_EXCEPT), memory_order_relaxed);
    atomic_fetch_add_explicit(&run->busy_ns, processor_ns() - begin, memory_order_relaxed);
}

/* ---- in the caller's ---- */

/* Where an option names the number of threads it is used always. */
static bool is_left_alone(void)
{
    if (gsh_option_number(GSH_OPTION_HOST_THREADS) != 0)
        return false;
    struct gsh_back_off state = atomic_load_explicit(&back_off, memory_order_relaxed);
    if (!gsh_back_off_is_due(state))
        return false;
    atomic_store_explicit(&back_off, gsh_back_off_after_left(state), memory_order_relaxed);
    return true;
}

static void note_cores(double busy, double wall)
{
    struct gsh_back_off state = atomic_load_explicit(&back_off, memory_order_relaxed);
    state = gsh_parallel_loop_had_cores(busy, wall) ? gsh_back_off_after_completed(state)
                                                    : gsh_back_off_after_refused(state);
    atomic_store_explicit(&back_off, state, memory_order_relaxed);
}

/* Rows are cut where there are few of them. */
static struct run divide(const struct gsh_numpy_space *space, unsigned wanted)
{
    size_t bytes = bytes_of_element(space);
    int64_t length = space->shape[0], rows = count_rows(space);
    int64_t share = gsh_parallel_loop_piece(length * rows, bytes, wanted);
    struct run run = {.space = space, .block = GSH_MIN(share, length)};
    run.row_blocks = (length - 1) / run.block + 1;
    run.blocks = rows * run.row_blocks;
    run.piece = GSH_MAX(share / run.block, 1);
    return run;
}

/* Computes the pieces from run->first on, at most `pieces`. */
static bool run_in_threads(struct run *run, int64_t pieces, unsigned wanted)
{
    uint64_t begin = gsh_clock_ns();
    int before = fetestexcept(FE_ALL_EXCEPT);
    pieces = GSH_MIN(pieces, (run->blocks - 1) / run->piece + 1 - run->first);
    fegetenv(&run->environment);
    run->busy_ns = 0;
    if (!gsh_host_threads_try(compute_share, run, pieces, wanted))
        return false;
    feraiseexcept(before | run->raised);
    note_cores((double)run->busy_ns * 1e-9, (double)(gsh_clock_ns() - begin) * 1e-9);
    run->first += pieces;
    return true;
}

/* Computes the rest in this thread. */
static void run_alone(const struct run *run)
{
    compute_blocks(run, run->first * run->piece, run->blocks);
}

bool gsh_numpy_parallel_run(const struct gsh_numpy_space *space)
{
    unsigned wanted = threads > 1 ? wanted_threads(space) : 1;
    if (wanted < 2 || is_left_alone())
        return false;
    struct run run = divide(space, wanted);
    int64_t pieces = (run.blocks - 1) / run.piece + 1;
    int64_t stretch = gsh_parallel_loop_stretch(pieces, seconds_of(space) / wanted);
    while (run.first < pieces && run_in_threads(&run, stretch, wanted))
        continue;
    if (run.first == 0)
        return false;
    gsh_host_calibration_forget(); /* its time is not that of the one core that is modelled */
    run_alone(&run);
    gsh_stats_add(GSH_COUNTER_PARALLEL_LOOPS, 1);
    count++;
    return true;
}

void gsh_numpy_parallel_compute(const struct gsh_numpy_space *space)
{
    if (gsh_numpy_parallel_run(space))
        return;
    struct run run = divide(space, 1);
    run_alone(&run);
}
