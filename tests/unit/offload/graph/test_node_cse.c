/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions whose results other calls read: on a device that runs asynchronously, long ones run before the next call
 * is recorded. A reduction that was computed already becomes a copy, whether the first one is pending or not.
 */
#include "backend.h"
#include "check.h"
#include "errors.h"
#include "live.h"
#include "node.h"

#include <math.h>
#include <string.h>

#define COLUMNS ((int64_t)512)
#define ROWS ((int64_t)8192) /* 32 MiB in all */

static struct gsh_backend behind;
static unsigned reductions, others; /* that reached the device */

static enum gsh_status count_run(const struct gsh_launch *launch, unsigned row)
{
    *(launch->kind == GSH_LAUNCH_REDUCE ? &reductions : &others) += 1;
    return gsh_emu_backend.run(launch, row);
}

static enum gsh_status count_group(const struct gsh_group *group, unsigned row,
                                   gsh_can_split *can_split, const void *item)
{
    reductions += group->sink_count;
    others += group->store_count;
    return gsh_emu_backend.run_group(group, row, can_split, item);
}

/* out[j] = the sum of a[i][j] over i. */
static void sum_columns(const double *a, int64_t rows, double *out)
{
    struct gsh_call call = live_sum(a, rows, COLUMNS, out);
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
}

static void run(enum gsh_op op, const double *a, double constant, double *out)
{
    struct gsh_call call = live_call(op, a, NULL, constant, out, COLUMNS);
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
}

static double *line(void)
{
    return live_doubles(COLUMNS, GSH_ARENA_DEVICE);
}

static void expect(double *out, double value)
{
    bool equal = true;
    for (int64_t j = 0; j < COLUMNS; j++)
        equal &= out[j] == value + (double)j;
    CHECK(equal);
    gsh_arena_free(out);
}

static void check_early(double *a)
{
    double *sum = line(), *mean = line(), *again = line(), *twice = line();
    reductions = others = 0;
    sum_columns(a, ROWS, sum);
    CHECK_INT(reductions, 0);
    run(GSH_OP_MULTIPLY, sum, 0.5, mean);
    CHECK_INT(reductions, 1); /* somebody waits for it */
    CHECK_INT(others, 0);
    sum_columns(a, ROWS, again);
    run(GSH_OP_MULTIPLY, again, 2, twice);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    CHECK_INT(reductions, 1);
    CHECK(again[3] == sum[3] && twice[3] == 2 * sum[3] && mean[3] == sum[3] / 2);
    gsh_arena_free(sum);
    gsh_arena_free(mean);
    gsh_arena_free(twice);
    expect(again, (double)ROWS);
}

/* What was written in between is summed anew. */
static void check_written(double *a)
{
    double *sum = line(), *mean = line(), *again = line();
    reductions = 0;
    sum_columns(a, ROWS, sum);
    run(GSH_OP_MULTIPLY, sum, 0.5, mean);
    run(GSH_OP_ADD, a, 1, a); /* the first line */
    sum_columns(a, ROWS, again);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    CHECK_INT(reductions, 2);
    gsh_arena_free(sum);
    gsh_arena_free(mean);
    expect(again, (double)ROWS + 1);
    run(GSH_OP_SUBTRACT, a, 1, a);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
}

/* Nothing is run early that others could be fused with, nor what is soon done. */
static void check_not_early(double *a)
{
    double *sum = line(), *mean = line(), *other = line();
    reductions = 0;
    sum_columns(a, ROWS / 2, sum);
    run(GSH_OP_MULTIPLY, sum, 0.5, mean);
    CHECK_INT(reductions, 0);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    run(GSH_OP_ADD, mean, 1, other);
    sum_columns(a, ROWS, sum);
    run(GSH_OP_MULTIPLY, sum, 0.5, mean);
    CHECK_INT(reductions, 1);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    sum_columns(a, ROWS, sum);
    sum_columns(a, ROWS / 2, other);
    run(GSH_OP_MULTIPLY, other, 0.5, mean);
    CHECK_INT(reductions, 2);
    gsh_arena_free(sum);
    gsh_arena_free(mean);
    gsh_arena_free(other);
}

/* Unmanaged arrays, one after the other: the second one's copy on the device may be in the first one's place. */
static void check_unmanaged(void)
{
    double *arrays[2], *sums[2];
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    for (int k = 0; k < 2; k++) {
        arrays[k] = malloc(ROWS * COLUMNS * sizeof(double));
        for (int64_t i = 0; i < ROWS * COLUMNS; i++)
            arrays[k][i] = k + 1;
    }
    for (int k = 0; k < 2; k++) {
        double *half = line();
        sums[k] = line();
        sum_columns(arrays[k], ROWS, sums[k]);
        run(GSH_OP_MULTIPLY, sums[k], 0.5, half);
        gsh_arena_free(half);
    }
    for (int k = 0; k < 2; k++) {
        CHECK(sums[k][3] == (k + 1.0) * ROWS);
        gsh_arena_free(sums[k]);
        free(arrays[k]);
    }
}

/* A call whose input runs early is looked at later than that: what it raises is still told. */
static void check_warning(double *a, bool looks_between)
{
    struct gsh_error_report report;
    double *sum = line(), *inverse = line(), seen = 1;
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        a[i] = 0;
    gsh_dispatch_synchronize();
    sum_columns(a, ROWS, sum);
    struct gsh_call call = live_call(GSH_OP_DIVIDE, NULL, sum, 1, inverse, COLUMNS);
    call.errors = (struct gsh_error_request){.kinds = 1 << GSH_ERROR_POLE, .modes = 7};
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    CHECK(!looks_between || (gsh_coherence_peek(&seen, sum, sizeof seen) && seen == 0));
    CHECK(gsh_coherence_peek(&seen, inverse, sizeof seen) && isinf(seen));
    gsh_dispatch_synchronize();
    CHECK(gsh_errors_fetch(0, &report) && report.found[GSH_ERROR_POLE]);
    CHECK(!gsh_errors_fetch(0, &report));
    gsh_arena_free(sum);
    gsh_arena_free(inverse);
}

int main(void)
{
    setenv("GPUSHIM_DEVICE", "host", 1);
    live_defer();
    if (!live_start())
        return CHECK_SKIP;
    behind = *gsh_backend_get();
    behind.run = count_run;
    behind.run_group = count_group;
    behind.runs_behind = true;
    gsh_backend_replace(&behind);
    double *a = live_doubles(ROWS * COLUMNS, GSH_ARENA_HOST);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        a[i] = i < COLUMNS ? 1.0 + (double)i : 1.0;
    check_early(a);
    check_written(a);
    check_not_early(a);
    check_unmanaged();
    check_warning(a, false);
    check_warning(a, true);
    gsh_arena_free(a);
    return live_end();
}
