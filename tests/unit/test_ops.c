/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables are consistent, and the look-ups find what NumPy calls it.
 */
#include "check.h"
#include "host_loops.h"
#include "ops.h"

static void check_dtypes(void)
{
    CHECK_INT(gsh_dtype_size(GSH_BOOL), 1);
    CHECK_INT(gsh_dtype_size(GSH_INT32), 4);
    CHECK_INT(gsh_dtype_size(GSH_FLOAT64), 8);
    CHECK_STR(gsh_dtype_name(GSH_INT64), "int64");
    CHECK_STR(gsh_dtype_cuda_type(GSH_INT64), "long long");
    CHECK_INT(gsh_dtype_numpy_char(GSH_INT64), 'l');
    CHECK_INT(gsh_dtype_kind(GSH_FLOAT32), 'f');
}

static void check_find(void)
{
    CHECK_INT(gsh_op_find("add"), GSH_OP_ADD);
    CHECK_INT(gsh_op_find("divide"), GSH_OP_DIVIDE);
    CHECK_INT(gsh_op_find("greater_equal"), GSH_OP_GREATER_EQUAL);
    CHECK_INT(gsh_op_find("floor_divide"), -1);
    CHECK_INT(gsh_op_find(""), -1);
    CHECK_INT(gsh_reduction_find("add"), GSH_REDUCE_SUM);
    CHECK_INT(gsh_reduction_find("logical_and"), GSH_REDUCE_ALL);
    CHECK_INT(gsh_reduction_find("subtract"), -1);
}

static void check_loops_are_numpys(void)
{
    CHECK(gsh_op_has_loop(GSH_OP_ADD, GSH_BOOL));
    CHECK(!gsh_op_has_loop(GSH_OP_SUBTRACT, GSH_BOOL));
    CHECK(!gsh_op_has_loop(GSH_OP_NEGATIVE, GSH_BOOL));
    CHECK(gsh_op_has_loop(GSH_OP_ABSOLUTE, GSH_BOOL));
    CHECK(!gsh_op_has_loop(GSH_OP_DIVIDE, GSH_INT64));
    CHECK(!gsh_op_has_loop(GSH_OP_EXP, GSH_INT32));
    CHECK(!gsh_op_has_loop(GSH_OP_ARANGE, GSH_BOOL));
    CHECK(!gsh_reduction_has_loop(GSH_REDUCE_SUM, GSH_INT32));
    CHECK(gsh_reduction_has_loop(GSH_REDUCE_MAX, GSH_BOOL));
    CHECK_INT(gsh_reduction_accumulator(GSH_REDUCE_ANY, GSH_FLOAT64), GSH_BOOL);
    CHECK_INT(gsh_reduction_accumulator(GSH_REDUCE_SUM, GSH_FLOAT64), GSH_FLOAT64);
}

static void check_rows(void)
{
    for (int op = 0; op < GSH_OP_COUNT; op++) {
        const struct gsh_op_info *info = gsh_op_info((enum gsh_op)op);
        CHECK(info->nin == 1 || info->nin == 2);
        CHECK(info->dtypes != 0 && info->host_ns > 0 && *info->expression != '\0');
        CHECK_INT(*info->bool_expression != '\0', (info->dtypes & GSH_SET_BOOL) != 0);
        if (*info->ufunc != '\0')
            CHECK_INT(gsh_op_find(info->ufunc), op);
        for (int dtype = 0; dtype < GSH_DTYPE_COUNT; dtype++)
            CHECK_INT(gsh_host_loops_find((enum gsh_op)op, (enum gsh_dtype)dtype) != NULL,
                      gsh_op_has_loop((enum gsh_op)op, (enum gsh_dtype)dtype));
    }
    for (int r = 0; r < GSH_REDUCTION_COUNT; r++)
        CHECK_INT(gsh_reduction_find(gsh_reduction_info((enum gsh_reduction)r)->ufunc), r);
    for (int r = 0; r < GSH_REDUCTION_COUNT; r++)
        for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
            if (gsh_reduction_has_loop((enum gsh_reduction)r, (enum gsh_dtype)loop))
                CHECK(gsh_op_has_loop(
                    gsh_reduction_info((enum gsh_reduction)r)->combine,
                    gsh_reduction_accumulator((enum gsh_reduction)r, (enum gsh_dtype)loop)));
}

int main(void)
{
    check_dtypes();
    check_find();
    check_loops_are_numpys();
    check_rows();
    return check_result();
}
