/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU's kernels on layouts, casts and edge values; the wide comparison is with NumPy itself, in
 * tests/conformance/host_ops_vs_numpy.py.
 */
#include "check.h"
#include "host_ops.h"

#include <math.h>

static struct gsh_operand array(enum gsh_dtype dtype, const void *address)
{
    return (struct gsh_operand){.dtype = dtype, .address = (uintptr_t)address};
}

static struct gsh_launch vector(enum gsh_op op, enum gsh_dtype loop, struct gsh_operand a,
                                struct gsh_operand b, struct gsh_operand out, int64_t n)
{
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_ELEMENTWISE, .op = op, .loop = loop, .ndim = 1, .shape = {n}};
    launch.nin = gsh_op_info(op)->nin;
    launch.nout = 1;
    launch.operands[0] = a;
    launch.operands[1] = b;
    launch.operands[launch.nin] = out;
    for (unsigned k = 0; k <= launch.nin; k++)
        launch.strides[k][0] =
            launch.operands[k].is_constant ? 0 : (int64_t)gsh_dtype_size(launch.operands[k].dtype);
    return launch;
}

static void check_layouts(void)
{
    double grid[4][6], out[6][4] = {{0}};
    for (int i = 0; i < 24; i++)
        grid[i / 6][i % 6] = i;
    struct gsh_operand two = {.dtype = GSH_INT32, .is_constant = true, .constant = {.i32 = 2}};
    struct gsh_launch launch = vector(GSH_OP_MULTIPLY, GSH_FLOAT64, array(GSH_FLOAT64, grid), two,
                                      array(GSH_FLOAT64, out), 6);
    launch.ndim = 2; /* out = grid.T * 2 */
    launch.shape[1] = 4;
    launch.strides[0][0] = 8;
    launch.strides[0][1] = 48;
    launch.strides[1][0] = launch.strides[1][1] = 0;
    launch.strides[2][0] = 32;
    launch.strides[2][1] = 8;
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    for (int i = 0; i < 24; i++)
        CHECK(out[i / 4][i % 4] == 2 * grid[i % 4][i / 4]);
    launch.operands[0].address = (uintptr_t)&grid[3][5]; /* both directions backwards, in place */
    launch.operands[2].address = (uintptr_t)&grid[3][5];
    for (int d = 0; d < 2; d++)
        launch.strides[0][d] = launch.strides[2][d] = d == 0 ? -8 : -48;
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    for (int i = 0; i < 24; i++)
        CHECK(grid[i / 6][i % 6] == 2 * i);
}

static void check_blocks(void)
{
    enum { N = 3000 }; /* several blocks and a partial one */
    static int32_t a[2 * N];
    static float out[N];
    for (int i = 0; i < 2 * N; i++)
        a[i] = i;
    struct gsh_operand half = {.dtype = GSH_FLOAT64, .is_constant = true, .constant = {.f64 = 0.5}};
    struct gsh_launch launch =
        vector(GSH_OP_SUBTRACT, GSH_FLOAT64, array(GSH_INT32, a), half, array(GSH_FLOAT32, out), N);
    launch.strides[0][0] = 8;
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += out[i] != (float)(2 * i - 0.5);
    CHECK_INT(wrong, 0);
    launch = vector(GSH_OP_ARANGE, GSH_INT64, half, half, array(GSH_INT32, a), N);
    launch.operands[0] =
        (struct gsh_operand){.dtype = GSH_INT64, .is_constant = true, .constant = {.i64 = 5}};
    launch.operands[1] =
        (struct gsh_operand){.dtype = GSH_INT64, .is_constant = true, .constant = {.i64 = 2}};
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    for (int i = 0; i < N; i++)
        wrong += a[i] != 5 - 3 * i;
    CHECK_INT(wrong, 0);
}

static void check_mapping_budget(void)
{
    double in[] = {NAN, INFINITY, 3e9, -3e9, -0.0, 2.9, -2.9};
    int32_t out[7];
    const int32_t want[] = {INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, 0, 2, -2};
    struct gsh_operand none = {0};
    struct gsh_launch launch =
        vector(GSH_OP_COPY, GSH_INT32, array(GSH_FLOAT64, in), none, array(GSH_INT32, out), 7);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    for (int i = 0; i < 7; i++)
        CHECK_INT(out[i], want[i]);
    int32_t least = INT32_MIN, result = 0;
    launch = vector(GSH_OP_ABSOLUTE, GSH_INT32, array(GSH_INT32, &least), none,
                    array(GSH_INT32, &result), 1);
    launch.ndim = 0;
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK_INT(result, INT32_MIN);
    double zeros[] = {0.0, -0.0}, greater = 1;
    launch = vector(GSH_OP_MAXIMUM, GSH_FLOAT64, array(GSH_FLOAT64, &zeros[0]),
                    array(GSH_FLOAT64, &zeros[1]), array(GSH_FLOAT64, &greater), 1);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK(greater == 0 &&
          signbit(greater)); /* of equal operands the second, as NumPy's SIMD loops do */
}

static void check_declines(void)
{
    double x = 1;
    struct gsh_launch launch = vector(GSH_OP_SUBTRACT, GSH_BOOL, array(GSH_BOOL, &x),
                                      array(GSH_BOOL, &x), array(GSH_BOOL, &x), 1);
    CHECK(!gsh_host_ops_supports(&launch));
    CHECK_INT(gsh_host_ops_run(&launch), GSH_DECLINED);
    launch = vector(GSH_OP_DIVMOD, GSH_FLOAT64, array(GSH_FLOAT64, &x), array(GSH_FLOAT64, &x),
                    array(GSH_FLOAT64, &x), 1);
    CHECK(!gsh_host_ops_supports(&launch)); /* its second output is missing */
    struct gsh_launch empty = {.kind = GSH_LAUNCH_REDUCE,
                               .reduction = GSH_REDUCE_MAX,
                               .loop = GSH_FLOAT64,
                               .nin = 1,
                               .nout = 1,
                               .ndim = 1,
                               .nreduce = 1};
    empty.operands[0] = empty.operands[1] = array(GSH_FLOAT64, &x);
    CHECK(!gsh_host_ops_supports(&empty)); /* nothing to begin with */
    empty.has_initial = true;
    CHECK(gsh_host_ops_supports(&empty));
    launch.kind = GSH_LAUNCH_GEMM;
    CHECK_INT(gsh_host_ops_run(&launch), GSH_DECLINED);
    CHECK(x == 1);
}

static double sum(const double *values, int ndim, const int64_t *shape, const int64_t *strides)
{
    double total = 0;
    struct gsh_launch launch = {.kind = GSH_LAUNCH_REDUCE,
                                .reduction = GSH_REDUCE_SUM,
                                .loop = GSH_FLOAT64,
                                .nin = 1,
                                .nout = 1,
                                .ndim = ndim,
                                .nreduce = ndim};
    launch.operands[0] = array(GSH_FLOAT64, values);
    launch.operands[1] = array(GSH_FLOAT64, &total);
    for (int d = 0; d < ndim; d++) {
        launch.shape[d] = shape[d];
        launch.strides[0][d] = strides[d];
    }
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    return total;
}

static void check_reductions(void)
{
    enum { N = 100000 };
    static double values[N];
    for (int i = 0; i < N; i++)
        values[i] = 0.1;
    CHECK(fabs(sum(values, 1, (int64_t[]){N}, (int64_t[]){8}) - 0.1 * N) < 1e-9);
    CHECK(fabs(sum(values, 2, (int64_t[]){7, 3}, (int64_t[]){800, 16}) - 2.1) < 1e-15);
    CHECK(sum(values, 1, (int64_t[]){0}, (int64_t[]){8}) == 0);
    double negative_zero = -0.0;
    CHECK(!signbit(sum(&negative_zero, 0, NULL, NULL)));
    static double means[300];
    struct gsh_launch launch = {.kind = GSH_LAUNCH_REDUCE,
                                .reduction = GSH_REDUCE_MAX,
                                .loop = GSH_FLOAT64,
                                .nin = 1,
                                .nout = 1,
                                .ndim = 2,
                                .nreduce = 1,
                                .shape = {300, 300},
                                .strides = {{8, 2400}, {8, 0}}};
    for (int i = 0; i < 90000; i++)
        values[i] = i % 300 == 7 && i / 300 == 200 ? NAN : i;
    launch.operands[0] = array(GSH_FLOAT64, values);
    launch.operands[1] = array(GSH_FLOAT64, means);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK(isnan(means[7]) && means[8] == 89708 && means[299] == 89999);
}

/* Two outputs in place of the two inputs, under a mask. */
static void check_outputs_and_mask(void)
{
    int32_t a[] = {7, -7, 7, INT32_MIN, 5}, b[] = {3, 3, -3, -1, 0};
    bool mask[] = {true, true, false, true, true};
    struct gsh_launch launch = vector(GSH_OP_DIVMOD, GSH_INT32, array(GSH_INT32, a),
                                      array(GSH_INT32, b), array(GSH_INT32, a), 5);
    launch.nout = 2;
    launch.has_mask = true;
    launch.operands[3] = array(GSH_INT32, b);
    launch.operands[4] = array(GSH_BOOL, mask);
    launch.strides[3][0] = 4;
    launch.strides[4][0] = 1;
    const int32_t quotients[] = {2, -3, 7, INT32_MIN, 0}, rests[] = {1, 2, -3, 0, 0};
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(a[i], quotients[i]);
        CHECK_INT(b[i], rests[i]);
    }
}

/* float16 is rounded once, from float. */
static void check_halves(void)
{
    uint16_t a[] = {0x3c00, 0x7bff, 0x0001}, b[] = {0x1000, 0x7bff, 0x8001}, sums[3];
    struct gsh_launch launch = vector(GSH_OP_ADD, GSH_FLOAT16, array(GSH_FLOAT16, a),
                                      array(GSH_FLOAT16, b), array(GSH_FLOAT16, sums), 3);
    CHECK_INT(gsh_host_ops_run(&launch), GSH_OK);
    CHECK_INT(sums[0], 0x3c00); /* half a unit: to even */
    CHECK_INT(sums[1], 0x7c00);
    CHECK_INT(sums[2], 0);
}

/* An armed launch, and what it found: the sequence, or 0. */
static uint64_t claims[GSH_ERROR_KINDS];
static struct gsh_errors_found errors;

static uint64_t found(struct gsh_launch *launch, enum gsh_error_kind kind)
{
    memset(claims, 0, sizeof claims);
    memset(&errors, 0, sizeof errors);
    launch->errors = (struct gsh_error_sink){
        .claims = (uintptr_t)claims, .found = (uintptr_t)&errors, .sequence = 9};
    CHECK_INT(gsh_host_ops_run(launch), GSH_OK);
    return errors.found[kind].sequence;
}

static void check_errors(void)
{
    double a[1000], b[1000], quotients[1000];
    for (int i = 0; i < 1000; i++)
        a[i] = i, b[i] = 2;
    struct gsh_launch launch = vector(GSH_OP_DIVIDE, GSH_FLOAT64, array(GSH_FLOAT64, a),
                                      array(GSH_FLOAT64, b), array(GSH_FLOAT64, quotients), 1000);
    CHECK_INT(found(&launch, GSH_ERROR_POLE), 0);
    b[777] = 0;
    CHECK_INT(found(&launch, GSH_ERROR_POLE), 9);
    CHECK_INT(claims[GSH_ERROR_POLE], 9);
    CHECK(errors.found[GSH_ERROR_POLE].inputs[0].f64 == 777);
    CHECK(errors.found[GSH_ERROR_POLE].inputs[1].f64 == 0 && isinf(quotients[777]));
    CHECK_INT(errors.found[GSH_ERROR_OVERFLOW].sequence, 0);
    b[777] = 1e-300, a[777] = 1e300;
    CHECK_INT(found(&launch, GSH_ERROR_OVERFLOW), 9);
    CHECK_INT(errors.found[GSH_ERROR_POLE].sequence, 0);
    b[0] = 0; /* 0 / 0 */
    CHECK_INT(found(&launch, GSH_ERROR_INVALID), 9);
    int32_t integers[3];
    double values[] = {1, 3e9, NAN};
    launch = vector(GSH_OP_COPY, GSH_INT32, array(GSH_FLOAT64, values), array(GSH_FLOAT64, values),
                    array(GSH_INT32, integers), 3);
    CHECK_INT(found(&launch, GSH_ERROR_INVALID), 9);
    CHECK(errors.found[GSH_ERROR_INVALID].inputs[0].f64 == 3e9); /* before the cast */
    values[1] = values[2] = 2;
    CHECK_INT(found(&launch, GSH_ERROR_INVALID), 0);
}

int main(void)
{
    check_outputs_and_mask();
    check_halves();
    check_errors();
    check_layouts();
    check_blocks();
    check_mapping_budget();
    check_declines();
    check_reductions();
    return check_result();
}
