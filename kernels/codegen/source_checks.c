/* SPDX-License-Identifier: Apache-2.0
 *
 * See source_checks.h. A copy's errors are those of its casts. The input casts of other operations are not checked.
 */
#include "source_checks.h"

#define MAY (unsigned)(GSH_MAY_POLE | GSH_MAY_OVERFLOW | GSH_MAY_INVALID)

static bool is_inexact(enum gsh_dtype dtype)
{
    return gsh_dtype_kind(dtype) == 'f' || gsh_dtype_kind(dtype) == 'c';
}

static bool op_may_fail(const struct gsh_source_operation *operation)
{
    enum gsh_op op = operation->op;
    if ((gsh_op_info(op)->flags & MAY) == 0 || op == GSH_OP_COPY)
        return false;
    return is_inexact(operation->loop) || gsh_op_divides(op) || op == GSH_OP_RECIPROCAL;
}

static bool input_may_fail(const struct gsh_source_operation *operation)
{
    return operation->op == GSH_OP_COPY &&
           gsh_dtype_cast_may_fail(operation->in[0], operation->loop);
}

static bool output_may_fail(const struct gsh_source_operation *operation, unsigned j)
{
    return gsh_dtype_cast_may_fail(gsh_op_output_dtype(operation->op, operation->loop, j),
                                   operation->out[j]);
}

bool gsh_source_checks_may_fail(const struct gsh_source_operation *operation)
{
    bool may = input_may_fail(operation) || op_may_fail(operation);
    for (unsigned j = 0; j < gsh_op_info(operation->op)->nout; j++)
        may = may || output_may_fail(operation, j);
    return may;
}

void gsh_source_checks_write(struct gsh_fmt *fmt, const struct gsh_source_operation *operation,
                             unsigned j, const char *sink)
{
    static const char *const all[GSH_MAX_INPUTS] = {
        "Cast<L0>::of(a), None(), None()", "Cast<L0>::of(a), Cast<L1>::of(b), None()",
        "Cast<L0>::of(a), Cast<L1>::of(b), Cast<L2>::of(c)"};
    const struct gsh_op_info *info = gsh_op_info(operation->op);
    const char *inputs = all[info->nin - 1];
    if (input_may_fail(operation))
        gsh_fmt_printf(fmt, "    check_cast<R0>(%s, Cast<L0>::of(a), r0, %s);\n", sink, inputs);
    if (output_may_fail(operation, j))
        gsh_fmt_printf(fmt, "    check_cast<Out%u>(%s, r%u, y%u, %s);\n", j, sink, j, j, inputs);
    if (!op_may_fail(operation))
        return;
    if (is_inexact(operation->loop))
        gsh_fmt_printf(fmt, "    check_result<%u>(%s, value(r%u), %s);\n", info->flags & MAY, sink,
                       j, inputs);
    else if (operation->op == GSH_OP_RECIPROCAL)
        gsh_fmt_printf(fmt, "    check_reciprocal(%s, a);\n", sink);
    else if (j == 0)
        gsh_fmt_printf(fmt, "    check_division(%s, %u, a, b);\n", sink, info->flags & MAY);
}
