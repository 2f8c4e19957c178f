/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans: layout classes, keys, geometry, arguments. That the texts compile is
 * test_nvrtc_compile.c's; what they compute is tests/conformance/source_vs_numpy.py's and
 * tests/gpu's.
 */
#include "check.h"
#include "source.h"

static struct gsh_source_plan plan;

static struct gsh_launch add_vectors(int64_t n, int64_t stride)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                .op = GSH_OP_ADD,
                                .loop = GSH_FLOAT64,
                                .nin = 2,
                                .ndim = 1,
                                .shape = {n},
                                .strides = {{stride}, {stride}, {stride}}};
    for (unsigned k = 0; k < 3; k++)
        launch.operands[k] = (struct gsh_operand){.dtype = GSH_FLOAT64, .address = 4096 * (k + 1)};
    return launch;
}

static uint64_t argument(unsigned stage, unsigned word)
{
    uint64_t value;
    memcpy(&value, plan.stages[stage].arguments + 8 * word, 8);
    return value;
}

static const char *key_of(const struct gsh_launch *launch)
{
    CHECK_INT(gsh_source_plan(launch, 0, &plan), GSH_OK);
    return plan.stages[0].key;
}

static void check_contiguous(void)
{
    struct gsh_launch launch = add_vectors(100000001, 8);
    CHECK_STR(key_of(&launch), "add_float64_float64a_float64a_float64_v2");
    CHECK_INT(plan.stage_count, 1);
    CHECK_INT(plan.stages[0].argument_bytes, 32);
    CHECK_INT(argument(0, 0), 100000001);
    CHECK_INT(argument(0, 3), 3 * 4096);
    CHECK((int64_t)plan.stages[0].grid[0] * 256 * 4 * 2 >= 100000000);
    launch.operands[1].address += 8;
    CHECK_STR(key_of(&launch), "add_float64_float64a_float64a_float64_v1");
    launch.operands[1] =
        (struct gsh_operand){.dtype = GSH_INT32, .is_constant = true, .constant = {.i32 = -3}};
    CHECK_STR(key_of(&launch), "add_float64_float64a_int32c_float64_v2");
    CHECK_INT(argument(0, 2), 0xfffffffdu);
    launch.operands[1] = (struct gsh_operand){.dtype = GSH_FLOAT32, .address = 4100};
    launch.strides[1][0] = 0;
    CHECK_STR(key_of(&launch), "add_float64_float64a_float32s_float64_v2");
    launch.ndim = 0;
    CHECK_STR(key_of(&launch), "add_float64_float64a_float32a_float64_v1");
    CHECK_INT(plan.stages[0].grid[0], 1);
}

static void check_strided(void)
{
    struct gsh_launch launch = add_vectors(1000, 16);
    CHECK_STR(key_of(&launch), "add_float64_float64a_float64a_float64_s1");
    CHECK_INT(argument(0, 4), 1000);
    CHECK_INT(argument(0, 5), 16);
    launch.ndim = 2;
    launch.shape[1] = INT64_C(1) << 31;
    CHECK_STR(key_of(&launch), "add_float64_float64a_float64a_float64_s2w");
    launch.loop = GSH_BOOL;
    launch.op = GSH_OP_SUBTRACT;
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_DECLINED);
}

static struct gsh_launch sum_of(int ndim, int nreduce, int64_t rows, int64_t columns)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_REDUCE,
                                .reduction = GSH_REDUCE_SUM,
                                .loop = GSH_FLOAT64,
                                .nin = 1,
                                .ndim = ndim,
                                .nreduce = nreduce,
                                .shape = {rows, columns},
                                .strides = {{8}, {8}}};
    launch.operands[0] = launch.operands[1] =
        (struct gsh_operand){.dtype = GSH_FLOAT64, .address = 4096};
    return launch;
}

static void check_reductions(void)
{
    struct gsh_launch launch = sum_of(1, 1, 100000000, 0);
    size_t scratch = gsh_source_scratch(&launch);
    CHECK(scratch > 0 && scratch % 8 == 0);
    CHECK_INT(gsh_source_plan(&launch, 1 << 20, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 2);
    CHECK_INT(plan.scratch_bytes, scratch);
    CHECK_INT(plan.stages[0].grid[0], scratch / 8);
    CHECK_INT(argument(0, 1), 1 << 20);
    CHECK_INT(argument(1, 0), 1 << 20);
    CHECK_INT(argument(1, 3), scratch / 8);
    CHECK(argument(0, 4) * plan.stages[0].grid[0] >= 100000000); /* segments cover everything */
    launch = sum_of(1, 1, 1000, 0);
    CHECK_INT(gsh_source_scratch(&launch), 0);
    launch = sum_of(1, 1, 0, 0);
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_OK);
    CHECK_INT(plan.stages[0].grid[0], 1);
    launch = sum_of(2, 1, 3000, 3000);
    launch.strides[0][1] = 24000;
    CHECK_INT(gsh_source_plan(&launch, 1 << 20, &plan), GSH_OK);
    CHECK_STR(plan.stages[0].key, "sum_float64_float64_float64_columns_k1r1");
    CHECK(plan.stages[0].grid[0] >= 1000);
    launch.strides[0][0] = 24000;
    launch.strides[0][1] = 8;
    CHECK_STR(key_of(&launch), "sum_float64_float64_float64_rows_k1r1");
}

static void check_text(void)
{
    static char text[65536];
    struct gsh_fmt fmt;
    struct gsh_launch launch = add_vectors(1000, 8);
    gsh_fmt_init(&fmt, text, sizeof(text));
    gsh_source_text(&launch, 0, &fmt);
    CHECK(fmt.required == fmt.length && strstr(text, "return gsh_plus(a, b);") != NULL);
    CHECK(strstr(text, "extern \"C\" __global__ void") != NULL);
    launch.kind = GSH_LAUNCH_GEMM;
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_DECLINED);
}

int main(void)
{
    check_contiguous();
    check_strided();
    check_reductions();
    check_text();
    return check_result();
}
