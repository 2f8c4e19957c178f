/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans: layout classes, keys, geometry, arguments; what a text holds. That the texts compile is
 * test_nvrtc_compile.c's; what they compute is tests/conformance/source_vs_numpy.py's and
 * tests/gpu's.
 */
#include "check.h"
#include "source.h"
#include "source_parts.h"

static struct gsh_source_plan plan;
static char text[1 << 17];

static struct gsh_launch add_vectors(int64_t n, int64_t stride)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                .op = GSH_OP_ADD,
                                .loop = GSH_FLOAT64,
                                .nin = 2,
                                .nout = 1,
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

static const char *text_of(const struct gsh_launch *launch)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof(text));
    gsh_source_text(launch, 0, &fmt);
    CHECK(fmt.required == fmt.length);
    return text;
}

static void check_dense(void)
{
    struct gsh_launch launch = add_vectors(100000001, 8);
    CHECK_STR(key_of(&launch), "add_d_dadad_v2");
    CHECK_INT(plan.stage_count, 1);
    CHECK_INT(argument(0, 0), 100000001);
    CHECK_INT(argument(0, 3), 2 * 4096);
    CHECK_INT(argument(0, 7), 3 * 4096);
    CHECK((int64_t)plan.stages[0].grid[0] * 256 * 2 * 2 >= 100000001);
    launch.operands[1].address += 8;
    CHECK_STR(key_of(&launch), "add_d_dadad_v1");
    launch.operands[1] =
        (struct gsh_operand){.dtype = GSH_INT32, .is_constant = true, .constant = {.i32 = -3}};
    CHECK_STR(key_of(&launch), "add_d_daicd_v2");
    CHECK_INT(argument(0, 3), 0xfffffffdu);
    launch.operands[1] = (struct gsh_operand){.dtype = GSH_FLOAT32, .address = 4100};
    launch.strides[1][0] = 0;
    CHECK_STR(key_of(&launch), "add_d_dafsd_v2");
    launch.ndim = 0;
    CHECK_STR(key_of(&launch), "add_d_dafad_v1");
    CHECK_INT(plan.stages[0].grid[0], 1);
}

static void check_strided(void)
{
    struct gsh_launch launch = add_vectors(1000, 16);
    CHECK_STR(key_of(&launch), "add_d_dadad_s1v1");
    CHECK_INT(argument(0, 13), 1000);
    CHECK_INT(argument(0, 15), 16);
    launch.ndim = 2;
    launch.shape[1] = INT64_C(1) << 31;
    CHECK_STR(key_of(&launch), "add_d_dadad_s2v1w");
    launch.shape[1] = 100;
    for (unsigned k = 0; k < 3; k++) {
        launch.strides[k][0] = k == 0 ? INT64_C(1) << 32 : 4096;
        launch.strides[k][1] = k == 1 ? 0 : 8;
    }
    CHECK_STR(key_of(&launch), "add_d_dadrd_s2v2l"); /* packs along rows, one value a row */
    CHECK_INT(argument(0, 0), 50000);
    launch.has_mask = true;
    launch.operands[3] = (struct gsh_operand){.dtype = GSH_BOOL, .address = 5000};
    launch.strides[3][1] = 1;
    CHECK_STR(key_of(&launch), "add_d_dadrd_ma_s2v2l");
    launch.operands[3].address++; /* two bytes of the mask are no pack */
    CHECK_STR(key_of(&launch), "add_d_dadad_ma_s2v1l");
    launch.loop = GSH_BOOL;
    launch.op = GSH_OP_SUBTRACT;
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_DECLINED);
}

static void check_raw_copies(void)
{
    struct gsh_launch launch = add_vectors(1000, 8);
    launch.op = GSH_OP_COPY;
    launch.nin = 1;
    CHECK_STR(key_of(&launch), "copy_L_LaL_v2");
    launch.loop = launch.operands[0].dtype = launch.operands[1].dtype = GSH_COMPLEX64;
    CHECK_STR(key_of(&launch), "copy_L_LaL_v2");
    launch.operands[0].address += 4; /* of the parts' alignment only */
    CHECK_STR(key_of(&launch), "copy_F_FaF_v1u");
    launch.operands[0].dtype = GSH_FLOAT64;
    launch.errors.claims = 4096;
    CHECK_STR(key_of(&launch), "copy_F_daF_v1e");
}

static struct gsh_launch sum_of(int ndim, int nreduce, int64_t rows, int64_t columns)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_REDUCE,
                                .reduction = GSH_REDUCE_SUM,
                                .loop = GSH_FLOAT64,
                                .nin = 1,
                                .nout = 1,
                                .ndim = ndim,
                                .nreduce = nreduce,
                                .shape = {rows, columns},
                                .strides = {{8}, {8}}};
    if (ndim == nreduce)
        launch.strides[1][0] = 0;
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
    CHECK_INT(argument(1, 5), scratch / 8);
    CHECK(argument(0, 6) * plan.stages[0].grid[0] * 2 >= 100000000); /* packs of two cover all */
    launch = sum_of(1, 1, 1000, 0);
    CHECK_INT(gsh_source_scratch(&launch), 0);
    launch = sum_of(1, 1, 0, 0);
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_OK);
    CHECK_INT(plan.stages[0].grid[0], 1);
    launch = sum_of(2, 1, 3000, 3000);
    launch.strides[0][1] = 24000;
    CHECK_INT(gsh_source_plan(&launch, 1 << 20, &plan), GSH_OK);
    CHECK_STR(plan.stages[0].key, "sum_d_dd_columns_k1r1p1_1");
    CHECK(plan.stages[0].grid[0] >= 1000);
    launch.strides[0][0] = 24000;
    launch.strides[0][1] = 8;
    CHECK_STR(key_of(&launch), "sum_d_dd_rows_k1r1p2");
}

enum { OUTPUTS = 3, SEGMENT = 6, LANES = 9, FLAGS = 12 }; /* words of a reduction's arguments */

/* Groups of no more lanes than keep a GPU's memory busy; segments of whole rounds. */
static void check_lanes(void)
{
    static const struct {
        int64_t outputs, elements, lanes;
        unsigned stages;
    } rows[] = {{3000, 3000, 64, 1},
                {100000, 3000, 32, 1},
                {100000, 10, 2, 1},
                {10, 1000000, 256, 2},
                {1, 1000, 128, 1}},
      columns[] = {{100000, 100, 2, 1}, {10000000, 100, 1, 1}, {3000, 3000, 8, 2}};
    for (size_t i = 0; i < GSH_COUNT(rows); i++) {
        struct gsh_launch launch = sum_of(2, 1, rows[i].outputs, rows[i].elements);
        launch.strides[0][0] = 8 * rows[i].elements;
        launch.strides[0][1] = 8;
        CHECK_INT(gsh_source_plan(&launch, 1 << 20, &plan), GSH_OK);
        CHECK_INT(argument(0, LANES), rows[i].lanes);
        CHECK_INT(plan.stage_count, rows[i].stages);
        CHECK(plan.stage_count == 1 || argument(0, SEGMENT) % (4 * rows[i].lanes) == 0);
    }
    for (size_t i = 0; i < GSH_COUNT(columns); i++) {
        struct gsh_launch launch = sum_of(2, 1, columns[i].outputs, columns[i].elements);
        launch.strides[0][0] = 8;
        launch.strides[0][1] = 8 * columns[i].outputs;
        CHECK_INT(gsh_source_plan(&launch, 1 << 20, &plan), GSH_OK);
        CHECK_INT(argument(0, LANES), columns[i].lanes);
        CHECK_INT(plan.stage_count, columns[i].stages);
    }
}

/* Products of floats have a last stage, and a byte of scratch for each output in front of which the others leave word. */
static void check_ordered(void)
{
    struct gsh_launch launch = sum_of(2, 1, 1000, 300);
    launch.strides[0][0] = 2400;
    launch.strides[0][1] = 8;
    launch.reduction = GSH_REDUCE_PROD;
    CHECK_INT(gsh_source_scratch(&launch), 1000);
    CHECK_INT(gsh_source_plan(&launch, 1 << 20, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 2);
    CHECK_STR(plan.stages[1].key, "prod_d_dd_rows_k1r1p1_ordered");
    CHECK_INT(plan.stages[1].grid[0], 1000); /* a block for each output, while they are few */
    CHECK_INT(argument(0, FLAGS), 1 << 20);
    CHECK_INT(argument(1, FLAGS), 1 << 20);
    CHECK_INT(argument(1, OUTPUTS), 1000);
    launch.shape[0] = 1000000;
    CHECK_INT(gsh_source_plan(&launch, 1 << 20, &plan), GSH_OK);
    CHECK_INT(plan.stages[1].grid[0], 3907); /* and 256 of them when they are many */
    launch = sum_of(1, 1, 100000000, 0);
    launch.reduction = GSH_REDUCE_PROD;
    CHECK_INT(gsh_source_plan(&launch, 1 << 20, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 3);
    CHECK_INT(plan.scratch_bytes, plan.stages[0].grid[0] * 16 +
                                      1); /* a product and whether it left the range; a flag */
    for (unsigned stage = 0; stage < 3; stage++)
        CHECK_INT(argument(stage, FLAGS), (1 << 20) + plan.scratch_bytes - 1);
    launch.loop = launch.operands[0].dtype = launch.operands[1].dtype = GSH_INT64;
    CHECK_INT(gsh_source_plan(&launch, 1 << 20, &plan), GSH_OK);
    CHECK_INT(plan.stage_count, 2);
}

/* The tree, and so the geometry, is that of the shape: an address only decides how packs are
 * loaded. */
static void check_repeatable(void)
{
    struct gsh_launch launch = sum_of(2, 1, 3000, 3000);
    launch.strides[0][0] = 24000;
    launch.strides[0][1] = 8;
    CHECK_STR(key_of(&launch), "sum_d_dd_rows_k1r1p2");
    struct gsh_source_stage aligned = plan.stages[0];
    launch.operands[0].address += 8;
    CHECK_STR(key_of(&launch), "sum_d_dd_rows_k1r1p2u");
    CHECK_INT(plan.stages[0].grid[0], aligned.grid[0]);
    CHECK(memcmp(plan.stages[0].arguments + 8, aligned.arguments + 8, aligned.argument_bytes - 8) ==
          0);
}

/* Adds one number at `elements` places of a line. */
static struct gsh_launch count(int64_t elements, int64_t extent)
{
    struct gsh_launch launch = add_vectors(elements, 0);
    launch.kind = GSH_LAUNCH_PUT;
    launch.loop = GSH_INT64;
    for (unsigned k = 0; k < 3; k++)
        launch.operands[k].dtype = GSH_INT64;
    launch.operands[0].is_constant = true;
    launch.operands[0].constant.i64 = 1;
    launch.strides[1][0] = 8;
    launch.indexed = (struct gsh_indexed){.stride = 8, .extent = extent};
    return launch;
}

/* Counters in shared memory where there are places for them, and each is named many times. */
static void check_counts(void)
{
    struct gsh_launch launch = count(1000000, 10);
    CHECK(strncmp(key_of(&launch), "put_count", 9) == 0);
    launch = count(10000, 10);
    CHECK(strncmp(key_of(&launch), "put_combine", 11) == 0);
    launch = count(1000000, 6144);
    CHECK(strncmp(key_of(&launch), "put_count", 9) == 0);
    launch = count(1000000, 6145);
    CHECK(strncmp(key_of(&launch), "put_combine", 11) == 0);
    launch = count(1000000, 10);
    launch.strides[2][0] = 80; /* a line of its own for each */
    CHECK(strncmp(key_of(&launch), "put_combine", 11) == 0);
}

static void check_text(void)
{
    struct gsh_launch launch = add_vectors(1000, 8);
    CHECK(strstr(text_of(&launch), "gsh_plus(a, b)") != NULL);
    CHECK(strstr(text, "extern \"C\" __global__ void") != NULL);
    CHECK(strstr(text, "gsh_arcsin") == NULL &&
          strstr(text, "round_half") == NULL); /* only what it needs */
    CHECK(strstr(text, "gsh_conjugate(Complex") == NULL && strstr(text, "report_error") == NULL);
    CHECK(strlen(text) < 18000); /* NVRTC takes some 1,000 instructions a byte */
    launch.op = GSH_OP_ARCTAN2;
    CHECK(strstr(text_of(&launch), "gsh_arctan2(double") != NULL);
    launch.errors = (struct gsh_error_sink){.claims = 1, .found = 1, .sequence = 1};
    CHECK(strstr(text_of(&launch), "report_error") == NULL); /* it cannot fail */
    launch.op = GSH_OP_DIVIDE;
    CHECK(strstr(text_of(&launch), "report_error") != NULL);
    launch.kind = GSH_LAUNCH_GEMM;
    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_DECLINED);
}

/* divide() of cuda/memory.cuh, done here. */
static void check_magic(void)
{
    static const uint32_t divisors[] = {
        1, 2, 3, 5, 7, 10, 641, 1000, 65535, 65537, 3000000, 1073741823, 1073741825, 2147483647};
    for (size_t i = 0; i < GSH_COUNT(divisors); i++) {
        uint64_t d = divisors[i], magic = gsh_source_text_magic((int64_t)d);
        for (uint64_t q = 0; q <= 0x7fffffff / d; q += 1 + 0x7fffffff / d / 50)
            for (uint64_t x = q * d == 0 ? 0 : q * d - 1; x <= q * d + 1 && x <= 0x7fffffff; x++) {
                uint64_t high = x * (magic & 0xffffffff) >> 32;
                CHECK((high + x) >> (magic >> 32) == x / d);
            }
    }
}

/* A launch of any kind with every operand in memory, of as many dimensions, inputs and arguments as there can be. */
static struct gsh_launch spread_out(enum gsh_launch_kind kind, int op, enum gsh_dtype loop,
                                    unsigned nin)
{
    struct gsh_launch launch = {.kind = kind,
                                .op = (enum gsh_op)op,
                                .loop = loop,
                                .nin = nin,
                                .nout = 1,
                                .ndim = GSH_MAX_DIMS,
                                .nreduce = kind == GSH_LAUNCH_REDUCE ? GSH_MAX_DIMS / 2 : 0,
                                .indexed = {.stride = 8, .extent = 7},
                                .errors = {.claims = 4096}};
    if (kind == GSH_LAUNCH_ELEMENTWISE && op < GSH_OP_COUNT)
        launch.nout = (unsigned)gsh_op_info(launch.op)->nout;
    launch.has_mask = launch.nin + launch.nout < GSH_MAX_OPERANDS;
    for (unsigned k = 0; k < GSH_MAX_OPERANDS; k++) {
        bool is_mask = k == launch.nin + launch.nout, is_index = kind == GSH_LAUNCH_TAKE && k == 1;
        launch.operands[k].dtype = is_mask ? GSH_BOOL : is_index ? GSH_INT64 : loop;
        launch.operands[k].address = 4096 * (k + 1);
    }
    for (int d = 0; d < GSH_MAX_DIMS; d++) {
        launch.shape[d] = 2 + d % 2;
        for (unsigned k = 0; k < GSH_MAX_OPERANDS; k++)
            launch.strides[k][d] = (int64_t)(1 + (unsigned)d * 7 % 5) << (k + 5);
    }
    return launch;
}

/* Certainty never promises what a plan then refuses, and is there for the launches that programs make most. */
static void check_certainty(void)
{
    unsigned certain = 0;
    for (int kind = 0; kind < GSH_LAUNCH_KINDS; kind++)
        for (int op = 0; op < GSH_OP_COUNT; op++)
            for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
                for (unsigned nin = 1; nin <= GSH_MAX_INPUTS; nin++) {
                    struct gsh_launch launch =
                        spread_out((enum gsh_launch_kind)kind, op, (enum gsh_dtype)loop, nin);
                    if (!gsh_source_is_certain(&launch))
                        continue;
                    CHECK_INT(gsh_source_plan(&launch, 0, &plan), GSH_OK);
                    certain++;
                }
    CHECK(certain > 500);
    struct gsh_launch launch = add_vectors(1000, 8);
    CHECK(gsh_source_is_certain(&launch));
    launch.kind = GSH_LAUNCH_TAKE;
    launch.op = GSH_OP_COPY;
    CHECK(!gsh_source_is_certain(&launch)); /* by a float */
    launch.operands[1].dtype = GSH_INT64;
    CHECK(gsh_source_is_certain(&launch));
    launch = add_vectors((int64_t)1 << 40, 0); /* too many blocks, or nearly so */
    CHECK(!gsh_source_is_certain(&launch));
    launch = add_vectors(1000, 8);
    launch.nin = 1;
    CHECK(!gsh_source_is_certain(&launch));
}

int main(void)
{
    check_dense();
    check_strided();
    check_raw_copies();
    check_reductions();
    check_lanes();
    check_ordered();
    check_repeatable();
    check_counts();
    check_text();
    check_magic();
    check_certainty();
    return check_result();
}
