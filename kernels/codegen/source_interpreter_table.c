/* SPDX-License-Identifier: Apache-2.0
 *
 * See source_interpreter_table.h. Facts of operations are those of ops.def.
 */
#include "source_interpreter_table.h"

#define FEW_NS 1.0 /* NumPy's time per element below which an operation is a few instructions */

const enum gsh_dtype gsh_source_interpreter_table_loops[GSH_INTERPRETER_LOOPS] = {
    GSH_BOOL, GSH_INT64, GSH_FLOAT32, GSH_FLOAT64};
const enum gsh_dtype gsh_source_interpreter_table_casts[GSH_INTERPRETER_CASTS_FROM] = {
    GSH_BOOL, GSH_INT64, GSH_UINT64, GSH_FLOAT32, GSH_FLOAT64};

bool gsh_source_interpreter_table_holds(enum gsh_dtype dtype)
{
    return dtype < GSH_DTYPE_COUNT && gsh_dtype_kind(dtype) != 'c' && dtype != GSH_FLOAT16;
}

enum gsh_dtype gsh_source_interpreter_table_computed(enum gsh_dtype loop)
{
    bool is_integer = gsh_dtype_kind(loop) == 'i' || gsh_dtype_kind(loop) == 'u';
    return is_integer && loop != GSH_UINT64 ? GSH_INT64 : loop;
}

static int loop_number(enum gsh_dtype loop)
{
    for (int i = 0; i < GSH_INTERPRETER_LOOPS; i++)
        if (gsh_source_interpreter_table_loops[i] == gsh_source_interpreter_table_computed(loop))
            return i;
    return -1;
}

/* Whether the result depends on the bits of an integer beside its value modulo a power of two. */
static bool depends_on_width(enum gsh_op op)
{
    return op == GSH_OP_LEFT_SHIFT || op == GSH_OP_RIGHT_SHIFT || op == GSH_OP_BITWISE_COUNT;
}

/* Integers that divide would report other errors than floats. */
static bool is_suited(enum gsh_op op, enum gsh_dtype loop)
{
    if (gsh_dtype_kind(loop) == 'f')
        return true;
    bool is_computed = loop == gsh_source_interpreter_table_computed(loop);
    return gsh_op_info(op)->host_ns < FEW_NS && !gsh_op_divides(op) && op != GSH_OP_RECIPROCAL &&
           (is_computed || !depends_on_width(op));
}

bool gsh_source_interpreter_table_has(enum gsh_op op, unsigned j, enum gsh_dtype loop)
{
    const struct gsh_op_info *info = gsh_op_info(op);
    return op != GSH_OP_COPY && op != GSH_OP_SELECT && info->inputs == GSH_INPUTS_SAME &&
           (info->flags & GSH_SPECIAL) == 0 && /* their texts are long */
           j < info->nout && loop_number(loop) >= 0 && gsh_op_has_loop(op, loop) &&
           is_suited(op, loop);
}

unsigned gsh_source_interpreter_table_op_code(enum gsh_op op, unsigned j, enum gsh_dtype loop)
{
    return GSH_INTERPRETER_FIRST_OP + (j * GSH_OP_COUNT + (unsigned)op) * GSH_INTERPRETER_LOOPS +
           (unsigned)loop_number(loop);
}

unsigned gsh_source_interpreter_table_select_code(void)
{
    return gsh_source_interpreter_table_op_code(GSH_OP_SELECT, 0, GSH_INT64);
}

unsigned gsh_source_interpreter_table_cast_code(enum gsh_dtype from, enum gsh_dtype to)
{
    unsigned number = 0;
    while (gsh_source_interpreter_table_casts[number] !=
           gsh_source_interpreter_table_computed(from))
        number++;
    return GSH_INTERPRETER_FIRST_CAST + number * GSH_DTYPE_COUNT + (unsigned)to;
}
