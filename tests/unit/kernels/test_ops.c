/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables are consistent, and the look-ups find what NumPy calls it.
 */
#include "check.h"
#include "host_loops.h"
#include "reductions.h"

#include <math.h>

static void check_dtypes(void)
{
    static const size_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 8, 16};
    CHECK_INT(sizeof sizes / sizeof *sizes, GSH_DTYPE_COUNT);
    for (int d = 0; d < GSH_DTYPE_COUNT; d++)
        CHECK_INT(gsh_dtype_size((enum gsh_dtype)d), sizes[d]);
    CHECK_STR(gsh_dtype_name(GSH_INT64), "int64");
    CHECK_STR(gsh_dtype_cuda_type(GSH_FLOAT16), "float");
    CHECK_STR(gsh_dtype_cuda_stored(GSH_FLOAT16), "Half");
    CHECK_INT(gsh_dtype_numpy_char(GSH_COMPLEX64), 'F');
    CHECK_INT(gsh_dtype_numpy_type(GSH_FLOAT16), 23);
    CHECK_INT(gsh_dtype_kind(GSH_UINT8), 'u');
    CHECK_INT(gsh_dtype_kind(GSH_COMPLEX128), 'c');
    CHECK_INT(gsh_host_loops_dtype(GSH_FLOAT16), GSH_FLOAT32);
    CHECK_INT(gsh_host_loops_dtype(GSH_INT16), GSH_INT16);
}

static void check_find(void)
{
    CHECK_INT(gsh_op_find("add"), GSH_OP_ADD);
    CHECK_INT(gsh_op_find("floor_divide"), GSH_OP_FLOOR_DIVIDE);
    CHECK_INT(gsh_op_find("greater_equal"), GSH_OP_GREATER_EQUAL);
    CHECK_INT(gsh_op_find("isnat"), -1);
    CHECK_INT(gsh_op_find(""), -1);
    CHECK_INT(gsh_reduction_find("add"), GSH_REDUCE_SUM);
    CHECK_INT(gsh_reduction_find("logical_and"), GSH_REDUCE_ALL);
    CHECK_INT(gsh_reduction_find("subtract"), -1);
    CHECK_INT(gsh_reduction_find(""), -1);
}

static void check_loops_are_numpys(void)
{
    CHECK(gsh_op_has_loop(GSH_OP_ADD, GSH_BOOL));
    CHECK(!gsh_op_has_loop(GSH_OP_SUBTRACT, GSH_BOOL));
    CHECK(!gsh_op_has_loop(GSH_OP_NEGATIVE, GSH_BOOL));
    CHECK(gsh_op_has_loop(GSH_OP_ABSOLUTE, GSH_BOOL));
    CHECK(!gsh_op_has_loop(GSH_OP_DIVIDE, GSH_INT64));
    CHECK(!gsh_op_has_loop(GSH_OP_EXP, GSH_INT32));
    CHECK(!gsh_op_has_loop(GSH_OP_FLOOR, GSH_COMPLEX64));
    CHECK(!gsh_op_has_loop(GSH_OP_GCD, GSH_FLOAT64));
    CHECK(!gsh_reduction_has_loop(GSH_REDUCE_SUM, GSH_BOOL));
    CHECK(gsh_reduction_has_loop(GSH_REDUCE_MAX, GSH_BOOL));
    CHECK(gsh_reduction_has_loop(GSH_REDUCE_ARGMAX, GSH_COMPLEX64));
}

static void check_order(void)
{
    CHECK(gsh_reduction_is_ordered(GSH_REDUCE_PROD, GSH_FLOAT16));
    CHECK(gsh_reduction_is_ordered(GSH_REDUCE_PROD, GSH_COMPLEX128));
    CHECK(!gsh_reduction_is_ordered(GSH_REDUCE_PROD, GSH_UINT8));
    CHECK(!gsh_reduction_is_ordered(GSH_REDUCE_SUM, GSH_FLOAT64));
    CHECK(gsh_reduction_may_sink(GSH_REDUCE_SUM, GSH_FLOAT64));
    CHECK(gsh_reduction_may_sink(GSH_REDUCE_PROD, GSH_INT64));
    CHECK(!gsh_reduction_may_sink(GSH_REDUCE_PROD, GSH_FLOAT64));
    CHECK(!gsh_reduction_may_sink(GSH_REDUCE_SUM, GSH_BOOL));
    CHECK(!gsh_reduction_may_sink(GSH_REDUCE_ARGMAX, GSH_FLOAT64));
}

static void check_types(void)
{
    CHECK_INT(gsh_op_input_dtype(GSH_OP_LDEXP, GSH_FLOAT32, 0), GSH_FLOAT32);
    CHECK_INT(gsh_op_input_dtype(GSH_OP_LDEXP, GSH_FLOAT32, 1), GSH_INT64);
    CHECK_INT(gsh_op_input_dtype(GSH_OP_SELECT, GSH_INT8, 0), GSH_BOOL);
    CHECK_INT(gsh_op_input_dtype(GSH_OP_SELECT, GSH_INT8, 2), GSH_INT8);
    CHECK_INT(gsh_op_output_dtype(GSH_OP_ABSOLUTE, GSH_COMPLEX64, 0), GSH_FLOAT32);
    CHECK_INT(gsh_op_output_dtype(GSH_OP_ABSOLUTE, GSH_INT64, 0), GSH_INT64);
    CHECK_INT(gsh_op_output_dtype(GSH_OP_FREXP, GSH_FLOAT16, 1), GSH_INT32);
    CHECK_INT(gsh_op_output_dtype(GSH_OP_BITWISE_COUNT, GSH_INT64, 0), GSH_UINT8);
    CHECK_INT(gsh_op_output_dtype(GSH_OP_LESS, GSH_COMPLEX128, 0), GSH_BOOL);
    CHECK_INT(gsh_reduction_output_dtype(GSH_REDUCE_ARGMIN, GSH_FLOAT16), GSH_INT64);
    CHECK_INT(gsh_op_max_ulp(GSH_OP_EXP, GSH_INT8), 0);
    CHECK_INT(gsh_op_max_ulp(GSH_OP_ADD, GSH_FLOAT64), 0);
    CHECK(gsh_op_max_ulp(GSH_OP_EXP, GSH_FLOAT32) > gsh_op_max_ulp(GSH_OP_EXP, GSH_FLOAT16));
}

static void check_ops(void)
{
    for (int op = 0; op < GSH_OP_COUNT; op++) {
        const struct gsh_op_info *info = gsh_op_info((enum gsh_op)op);
        CHECK(info->nin >= 1 && info->nin <= GSH_MAX_INPUTS);
        CHECK(info->nout >= 1 && info->nout <= GSH_OP_OUTPUTS);
        CHECK(info->dtypes != 0 && info->host_ns > 0 && *info->expressions[0] != '\0');
        CHECK_INT(strcmp(info->expressions[1], "0") != 0, info->nout == 2);
        if (*info->ufunc != '\0')
            CHECK_INT(gsh_op_find(info->ufunc), op);
        for (int dtype = 0; dtype < GSH_DTYPE_COUNT; dtype++)
            CHECK_INT(gsh_host_loops_find((enum gsh_op)op, (enum gsh_dtype)dtype) != NULL,
                      gsh_op_has_loop((enum gsh_op)op, (enum gsh_dtype)dtype));
    }
}

/* Whether the op makes an infinity or a NaN of each of these, next to numbers, infinities and NaNs. */
static bool makes_special(enum gsh_op op)
{
    const double numbers[] = {INFINITY, -INFINITY, NAN, 0.0, 1.0, -1.0, 1e-300, 1e300};
    for (unsigned k = 0; k < gsh_op_info(op)->nin; k++)
        for (size_t special = 0; special < 3; special++)
            for (size_t other = 0; other < sizeof numbers / sizeof *numbers; other++) {
                double result = 0;
                const double *in[] = {&numbers[other], &numbers[other]};
                in[k] = &numbers[special];
                gsh_host_loops_find(op, GSH_FLOAT64)(
                    &(struct gsh_host_block){.in = {in[0], in[1]}, .out = {&result}, .n = 1});
                if (isfinite(result))
                    return false;
            }
    return true;
}

static void check_passes_on(void)
{
    unsigned passing = 0;
    for (int op = 0; op < GSH_OP_COUNT; op++)
        if ((gsh_op_info((enum gsh_op)op)->flags & GSH_PASSES_ON) != 0) {
            CHECK(makes_special((enum gsh_op)op));
            passing++;
        }
    CHECK(passing > 0 && !makes_special(GSH_OP_EXP) && !makes_special(GSH_OP_DIVIDE) &&
          !makes_special(GSH_OP_FMAX));
}

/* A partial result can be joined to another of its kind. */
static void check_reductions(void)
{
    for (int r = 0; r < GSH_REDUCTION_COUNT; r++) {
        const struct gsh_reduction_info *info = gsh_reduction_info((enum gsh_reduction)r);
        if (*info->ufunc != '\0')
            CHECK_INT(gsh_reduction_find(info->ufunc), r);
        CHECK_INT(gsh_op_info(info->combine)->nin, 2);
        for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++) {
            if (!gsh_reduction_has_loop((enum gsh_reduction)r, (enum gsh_dtype)loop))
                continue;
            CHECK(gsh_op_has_loop(info->combine, (enum gsh_dtype)loop));
            CHECK_INT(gsh_op_output_dtype(info->combine, (enum gsh_dtype)loop, 0), loop);
        }
    }
}

/* The cost model's time for an element: more for a complex one. */
static void check_times(void)
{
    for (int op = 0; op < GSH_OP_COUNT; op++) {
        double real = gsh_op_host_ns((enum gsh_op)op, GSH_FLOAT64);
        CHECK(real == gsh_op_info((enum gsh_op)op)->host_ns);
        CHECK(gsh_op_host_ns((enum gsh_op)op, GSH_COMPLEX64) == 5 * real);
        CHECK(gsh_op_host_ns((enum gsh_op)op, GSH_INT8) == real);
    }
}

int main(void)
{
    check_times();
    check_dtypes();
    check_find();
    check_loops_are_numpys();
    check_order();
    check_types();
    check_ops();
    check_passes_on();
    check_reductions();
    return check_result();
}
