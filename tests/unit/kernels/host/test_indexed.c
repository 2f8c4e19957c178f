/* SPDX-License-Identifier: Apache-2.0
 *
 * TAKE and PUT: the CPU's loops on small cases, and the plans of the GPU's kernels: stages, scratch,
 * what is declined. What the texts compute is tests/conformance/scan_vs_numpy.py's.
 */
#include "check.h"
#include "host_ops.h"
#include "source.h"

static struct gsh_source_plan plan;

static struct gsh_operand array(enum gsh_dtype dtype, const void *address)
{
    return (struct gsh_operand){.dtype = dtype, .address = (uintptr_t)address};
}

/* A table of doubles with `extent` places, `n` indices and values. */
static struct gsh_launch indexed(enum gsh_launch_kind kind, enum gsh_op op, double *table,
                                 int64_t extent, const int64_t *index, double *values, int64_t n)
{
    unsigned in_table = kind == GSH_LAUNCH_TAKE ? 0 : 2;
    struct gsh_launch launch = {.kind = kind,
                                .op = op,
                                .loop = GSH_FLOAT64,
                                .nin = 2,
                                .nout = 1,
                                .ndim = 1,
                                .shape = {n},
                                .strides = {{8}, {8}, {8}},
                                .indexed = {.stride = 8, .extent = extent}};
    launch.operands[1] = array(GSH_INT64, index);
    launch.operands[in_table] = array(GSH_FLOAT64, table);
    launch.operands[2 - in_table] = array(GSH_FLOAT64, values);
    launch.strides[in_table][0] = 0;
    return launch;
}

static void check_take(void)
{
    double table[4] = {10, 11, 12, 13}, out[5] = {-1, -1, -1, -1, -1};
    const int64_t index[5] = {3, -1, -4, 4, -5}; /* the last two out of bounds */
    struct gsh_launch launch = indexed(GSH_LAUNCH_TAKE, GSH_OP_COPY, table, 4, index, out, 5);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK(out[0] == 13 && out[1] == 13 && out[2] == 10 && out[3] == -1 && out[4] == -1);
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 1);
    CHECK_STR(plan.stages[0].key, "take_move_raw8_int64_s1");
    launch.operands[1].dtype = GSH_FLOAT64;
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_DECLINED);
    CHECK(!gsh_host_ops_supports(&launch));
}

static void check_put(void)
{
    double table[4] = {0}, values[5] = {1, 2, 3, 4, 5};
    const int64_t index[5] = {2, -2, 1, 7, 1};
    struct gsh_launch launch = indexed(GSH_LAUNCH_PUT, GSH_OP_COPY, table, 4, index, values, 5);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK(table[0] == 0 && table[1] == 5 && table[2] == 2 && table[3] == 0); /* the last one wins */
    CHECK_INT(gsh_source_plan(&launch, 256, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 3);
    CHECK_INT(gsh_source_scratch(&launch), 4 * sizeof(uint32_t)); /* one winner for each place */
    launch.operands[0].is_constant = true;
    launch.operands[0].constant.f64 = 9;
    launch.strides[0][0] = 0;
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 1);
    CHECK_INT(gsh_source_scratch(&launch), 0);
}

/* Rows of values into rows of a table: a winner for each row, not for each element. */
static void check_rows(void)
{
    double table[4][10], values[5][10];
    const int64_t index[5] = {0};
    struct gsh_launch launch =
        indexed(GSH_LAUNCH_PUT, GSH_OP_COPY, table[0], 4, index, values[0], 5);
    launch.ndim = 2;
    launch.shape[1] = 10;
    launch.indexed.stride = 80;
    launch.strides[0][0] = 80;
    launch.strides[0][1] = launch.strides[2][1] = 8;
    CHECK_INT(gsh_source_plan(&launch, 256, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 3);
    CHECK_INT(plan.scratch_bytes, 4 * sizeof(uint32_t));
    launch.indexed.stride = 8; /* rows that overlap: places have no numbers */
    CHECK_INT(gsh_source_plan(&launch, 256, &plan), GSH_DECLINED);
}

static void check_combine(void)
{
    double table[4] = {0}, values[3] = {1, 2, 4};
    const int64_t index[3] = {1, 1, -1};
    struct gsh_launch launch = indexed(GSH_LAUNCH_PUT, GSH_OP_ADD, table, 4, index, values, 3);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK(table[1] == 3 && table[3] == 4 && table[0] == 0);
    CHECK_INT(gsh_source_plan(&launch, 256, &plan), GSH_OK); /* the order of additions tells */
    CHECK_INT(plan.stage_count, 4); /* the cells, a short sort, the values in order, the sums */
    CHECK_INT(plan.scratch_bytes, 2 * 256);
    launch.op = GSH_OP_MAXIMUM;
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 1);
    launch.op = GSH_OP_ADD;
    launch.operands[0].is_constant = true;
    launch.strides[0][0] = 0;
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_OK); /* but not of equal values */
    CHECK_INT(plan.stage_count, 1);
    launch.operands[2].address++;
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_DECLINED); /* of unaligned ones */
}

int main(void)
{
    check_take();
    check_put();
    check_rows();
    check_combine();
    return check_result();
}
