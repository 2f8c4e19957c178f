/* SPDX-License-Identifier: Apache-2.0
 *
 * SCAN, COMPRESS and EXPAND: the CPU's loops on small cases, and the plans of the GPU's kernels:
 * stages, scratch, geometry, what is declined. What the texts compute is
 * tests/conformance/scan_vs_numpy.py's.
 */
#include "check.h"
#include "host_ops.h"
#include "source.h"

static struct gsh_source_plan plan;

static struct gsh_operand array(enum gsh_dtype dtype, const void *address)
{
    return (struct gsh_operand){.dtype = dtype, .address = (uintptr_t)address};
}

/* A scan along the rows of a dense matrix. */
static struct gsh_launch scan(enum gsh_reduction reduction, enum gsh_dtype dtype, const void *in,
                              void *out, int64_t rows, int64_t length)
{
    int64_t size = (int64_t)gsh_dtype_size(dtype);
    struct gsh_launch launch = {.kind = GSH_LAUNCH_SCAN,
                                .reduction = reduction,
                                .loop = dtype,
                                .nin = 1,
                                .nout = 1,
                                .ndim = 2,
                                .shape = {rows, length},
                                .strides = {{length * size, size}, {length * size, size}}};
    launch.operands[0] = array(dtype, in);
    launch.operands[1] = array(dtype, out);
    return launch;
}

static void check_rows_and_columns(void)
{
    double grid[3][20], out[3][20];
    for (int i = 0; i < 60; i++)
        grid[i / 20][i % 20] = i % 7 - 3;
    struct gsh_launch launch = scan(GSH_REDUCE_SUM, GSH_FLOAT64, grid, out, 3, 20);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    for (int row = 0; row < 3; row++) {
        double sum = 0;
        for (int i = 0; i < 20; i++)
            CHECK(out[row][i] == (sum += grid[row][i]));
    }
    launch = scan(GSH_REDUCE_SUM, GSH_FLOAT64, grid, grid, 20, 3); /* columns, in place */
    for (unsigned k = 0; k < 2; k++) {
        launch.strides[k][0] = 8;
        launch.strides[k][1] = 160;
    }
    double want = grid[0][5] + grid[1][5] + grid[2][5];
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK(grid[2][5] == want);
}

static void check_casts(void)
{
    static bool flags[1500];
    static int64_t counts[1500];
    for (int i = 0; i < 1500; i++)
        flags[i] = i % 3 == 0;
    struct gsh_launch launch = scan(GSH_REDUCE_SUM, GSH_INT64, flags, counts, 1, 1500);
    launch.operands[0].dtype = GSH_BOOL;
    launch.strides[0][1] = 1;
    gsh_launch_collapse(&launch);
    CHECK_INT(launch.ndim, 1);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK(counts[0] == 1 && counts[3] == 2 && counts[1499] == 500);
    uint16_t halves[3] = {0x6800, 0x3c00, 0x3c00}, sums[3]; /* 2048, 1, 1: each sum is rounded */
    launch = scan(GSH_REDUCE_SUM, GSH_FLOAT16, halves, sums, 1, 3);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK(sums[0] == 0x6800 && sums[1] == 0x6800 && sums[2] == 0x6800);
}

static void check_errors(void)
{
    double values[3] = {1e308, 1e308, 1}, out[3];
    uint64_t claims[GSH_ERROR_KINDS] = {0};
    struct gsh_errors_found found = {0};
    struct gsh_launch launch = scan(GSH_REDUCE_SUM, GSH_FLOAT64, values, out, 1, 3);
    launch.errors = (struct gsh_error_sink){(uintptr_t)claims, (uintptr_t)&found, 7};
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK(found.found[GSH_ERROR_OVERFLOW].sequence == 7);
    CHECK(found.found[GSH_ERROR_OVERFLOW].inputs[0].f64 == 1e308);
    CHECK(found.found[GSH_ERROR_OVERFLOW].inputs[1].f64 == 1e308);
    CHECK(found.found[GSH_ERROR_INVALID].sequence == 0);
}

static void check_plans(void)
{
    struct gsh_launch launch = scan(GSH_REDUCE_SUM, GSH_FLOAT64, &plan, &plan, 1, 10000000);
    gsh_launch_collapse(&launch);
    CHECK_INT(gsh_source_plan(&launch, 256, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 3);
    CHECK_INT(plan.stages[0].grid[0], plan.stages[2].grid[0]);
    CHECK_INT(plan.stages[1].grid[0], 1);
    CHECK_INT(plan.scratch_bytes, gsh_source_scratch(&launch));
    CHECK(plan.scratch_bytes >= plan.stages[0].grid[0] * sizeof(double));
    CHECK_STR(plan.stages[2].key, "scan_sum_float64_f_float64_float64_r0odi16");
    launch = scan(GSH_REDUCE_SUM, GSH_FLOAT64, &plan, &plan, 5000, 100);
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 1);
    CHECK_INT(gsh_source_scratch(&launch), 0);
    launch.strides[0][0] = launch.strides[1][0] = 8;
    launch.strides[0][1] = launch.strides[1][1] = 40000;
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_OK);
    CHECK_STR(plan.stages[0].key, "scan_sum_float64_f_float64_float64_c1i8");
    launch = scan(GSH_REDUCE_PROD, GSH_FLOAT64, &plan, &plan, 1, 10000000);
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 3);
    CHECK_INT(plan.stages[1].block[0], plan.stages[0].block[0]); /* partial products may overflow */
    CHECK_INT(plan.stages[0].grid[0], 2442);                     /* a sum has as many chunks */
    CHECK(plan.scratch_bytes >= plan.stages[0].grid[0] * (sizeof(double) + 20));
    launch = scan(GSH_REDUCE_PROD, GSH_INT64, &plan, &plan, 1, 10000000);
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_OK);
    CHECK(plan.stages[1].block[0] < plan.stages[0].block[0]);
    launch.reduction = GSH_REDUCE_ARGMAX;
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_DECLINED);
    CHECK(!gsh_host_ops_supports(&launch));
}

static void check_masks(void)
{
    double values[6] = {1, 2, 3, 4, 5, 6}, out[4] = {0, 0, 0, -1};
    bool mask[6] = {true, false, false, true, true, true};
    struct gsh_launch launch = {.kind = GSH_LAUNCH_COMPRESS,
                                .op = GSH_OP_COPY,
                                .loop = GSH_FLOAT64,
                                .nin = 1,
                                .nout = 1,
                                .has_mask = true,
                                .ndim = 2,
                                .shape = {2, 3},
                                .strides = {{24, 8}, {0, 0}, {3, 1}},
                                .indexed = {.stride = 8, .extent = 3}};
    launch.operands[0] = array(GSH_FLOAT64, values);
    launch.operands[1] = array(GSH_FLOAT64, out);
    launch.operands[2] = array(GSH_BOOL, mask);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK(out[0] == 1 && out[1] == 4 && out[2] == 5 && out[3] == -1); /* no room for the fourth */
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 1);
    launch.kind = GSH_LAUNCH_EXPAND;
    memcpy(launch.strides[1], launch.strides[0], sizeof(launch.strides[0]));
    memset(launch.strides[0], 0, sizeof(launch.strides[0]));
    launch.operands[0] = array(GSH_FLOAT64, out);
    launch.operands[1] = array(GSH_FLOAT64, values);
    out[1] = 40;
    launch.indexed.extent = 4;
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK(values[0] == 1 && values[1] == 2 && values[3] == 40 && values[5] == -1);
    launch.shape[0] = 10000000;
    CHECK_INT(gsh_source_plan(&launch, 256, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 3);
    CHECK(plan.stages[0].grid[0] <= 4096);
}

int main(void)
{
    check_rows_and_columns();
    check_casts();
    check_errors();
    check_plans();
    check_masks();
    return check_result();
}
