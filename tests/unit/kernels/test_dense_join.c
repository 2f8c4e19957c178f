/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a reduction and of a scan give the numbers that the whole gives, on the CPU: integers, whose sums do not depend on
 * the order, of several dtypes and layouts.
 */
#include "check.h"
#include "dense_join.h"
#include "host_ops.h"

enum { ROWS = 6, COLUMNS = 10, ELEMENTS = ROWS * COLUMNS };

static const struct layout {
    const char *name;
    int64_t row, column; /* steps in elements */
    int64_t first;
    bool is_dense;
} layouts[] = {
    {"C order", COLUMNS, 1, 0, true},
    {"Fortran order", 1, ROWS, 0, true},
    {"every second column", (int64_t)2 * COLUMNS, 2, 0, false},
    {"backwards", -COLUMNS, 1, (int64_t)(ROWS - 1) * COLUMNS, true},
    {"one row", 0, 1, 0, false},
};

static signed char numbers[2 * ELEMENTS];
static int64_t wide[2 * ELEMENTS];

static struct gsh_launch make_launch(enum gsh_launch_kind kind, const struct layout *layout,
                                     enum gsh_dtype input, int64_t *result)
{
    int64_t size = (int64_t)gsh_dtype_size(input);
    bool is_scan = kind == GSH_LAUNCH_SCAN;
    const char *first = input == GSH_INT8 ? (const char *)numbers : (const char *)wide;
    return (struct gsh_launch){
        .kind = kind,
        .reduction = GSH_REDUCE_SUM,
        .loop = GSH_INT64,
        .nin = 1,
        .nout = 1,
        .ndim = 2,
        .nreduce = is_scan ? 0 : 1,
        .shape = {ROWS, COLUMNS},
        .strides = {{layout->row * size, layout->column * size}, {is_scan ? COLUMNS * 8 : 8, 8}},
        .operands = {
            {.dtype = input, .address = (uintptr_t)first + (uint64_t)(layout->first * size)},
            {.dtype = GSH_INT64, .address = (uintptr_t)result}}};
}

static void run(struct gsh_launch launch)
{
    gsh_launch_collapse(&launch);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
}

static void check_parts(enum gsh_launch_kind kind, const struct layout *layout,
                        enum gsh_dtype input)
{
    int64_t whole[ELEMENTS] = {0}, in_parts[ELEMENTS] = {0}, scratch[ELEMENTS];
    struct gsh_launch copy, join, launch = make_launch(kind, layout, input, in_parts);
    bool is_copied = layout->is_dense && input == GSH_INT64 && layout->row > 0;
    CHECK_INT(gsh_dense_join_scratch(&launch), is_copied ? 0 : sizeof scratch);
    if (is_copied)
        return;
    gsh_dense_join_make(&launch, (uintptr_t)scratch, &copy, &join);
    run(copy);
    run(join);
    run(make_launch(kind, layout, input, whole));
    CHECK(memcmp(in_parts, whole, sizeof whole) == 0);
}

/* The copy of an array in Fortran order is one, so that neighbours are read together. */
static void check_order(void)
{
    int64_t scratch[ELEMENTS], result[ELEMENTS];
    struct gsh_launch copy, join,
        launch = make_launch(GSH_LAUNCH_REDUCE, &layouts[1], GSH_INT8, result);
    gsh_dense_join_make(&launch, (uintptr_t)scratch, &copy, &join);
    CHECK_INT(copy.ndim, 1);
    CHECK_INT(join.strides[0][0], 8);
    CHECK_INT(join.strides[0][1], ROWS * 8);
}

static void check_refusals(void)
{
    int64_t result[ELEMENTS];
    struct gsh_launch launch = make_launch(GSH_LAUNCH_REDUCE, &layouts[0], GSH_INT8, result);
    launch.has_mask = true;
    CHECK_INT(gsh_dense_join_scratch(&launch), 0);
    launch.has_mask = false;
    launch.operands[0].is_constant = true;
    CHECK_INT(gsh_dense_join_scratch(&launch), 0);
    launch.operands[0] = (struct gsh_operand){.dtype = GSH_FLOAT64};
    CHECK_INT(gsh_dense_join_scratch(&launch), 0);
    launch = (struct gsh_launch){.kind = GSH_LAUNCH_ELEMENTWISE, .op = GSH_OP_COPY, .nin = 1};
    CHECK_INT(gsh_dense_join_scratch(&launch), 0);
}

/* Only what does not depend on the order: integers, and sums in float64 of narrow integers that stay whole. */
static void check_order_of_joins(void)
{
    int64_t result[ELEMENTS];
    struct gsh_launch launch = make_launch(GSH_LAUNCH_REDUCE, &layouts[2], GSH_INT8, result);
    launch.loop = launch.operands[1].dtype = GSH_FLOAT64;
    CHECK_INT(gsh_dense_join_scratch(&launch), ELEMENTS * sizeof(double));
    launch.reduction = GSH_REDUCE_MAX;
    CHECK_INT(gsh_dense_join_scratch(&launch), 0);
    launch.reduction = GSH_REDUCE_SUM;
    launch.operands[0].dtype = GSH_INT64;
    CHECK_INT(gsh_dense_join_scratch(&launch), 0);
    launch.operands[0].dtype = GSH_FLOAT64;
    CHECK_INT(gsh_dense_join_scratch(&launch), 0);
    launch.operands[0].dtype = GSH_INT32;
    CHECK(gsh_dense_join_scratch(&launch) > 0);
    launch.shape[0] = INT64_C(1) << 20;
    CHECK_INT(gsh_dense_join_scratch(&launch), 0);
}

int main(void)
{
    for (int i = 0; i < 2 * ELEMENTS; i++) {
        numbers[i] = (signed char)(i * 37 % 255 - 127);
        wide[i] = i * 37 % 255 - 127;
    }
    for (size_t i = 0; i < GSH_COUNT(layouts); i++)
        for (int is_wide = 0; is_wide < 2; is_wide++) {
            enum gsh_dtype input = is_wide ? GSH_INT64 : GSH_INT8;
            check_parts(GSH_LAUNCH_REDUCE, &layouts[i], input);
            check_parts(GSH_LAUNCH_SCAN, &layouts[i], input);
        }
    check_order();
    check_refusals();
    check_order_of_joins();
    return check_result();
}
