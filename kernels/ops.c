/* SPDX-License-Identifier: Apache-2.0
 *
 * Look-ups in ops.def.
 */
#include "ops.h"

#include <string.h>

#define COMPLEX_SHARE 5 /* of a real element's time */

static const struct gsh_op_info ops[GSH_OP_COUNT] = {
#define X(name, label, ufunc, nin, dtypes, inputs, result, result2, ulps, host_ns, flags, expr,    \
          expr2)                                                                                   \
    {label,                                                                                        \
     ufunc,                                                                                        \
     nin,                                                                                          \
     GSH_RESULT_##result2 == GSH_RESULT_NONE ? 1 : 2,                                              \
     dtypes,                                                                                       \
     GSH_INPUTS_##inputs,                                                                          \
     {GSH_RESULT_##result, GSH_RESULT_##result2},                                                  \
     ulps,                                                                                         \
     host_ns,                                                                                      \
     flags,                                                                                        \
     {#expr, #expr2}},
#include "ops.def"
#undef X
};

const struct gsh_op_info *gsh_op_info(enum gsh_op op)
{
    return &ops[op];
}

double gsh_op_host_ns(enum gsh_op op, enum gsh_dtype loop)
{
    return ops[op].host_ns * (gsh_dtype_kind(loop) == 'c' ? COMPLEX_SHARE : 1);
}

enum gsh_dtype gsh_op_input_dtype(enum gsh_op op, enum gsh_dtype loop, unsigned k)
{
    if ((ops[op].inputs == GSH_INPUTS_INT_SECOND && k == 1) ||
        (ops[op].inputs == GSH_INPUTS_INT_FIRST && k == 0))
        return GSH_INT64;
    return ops[op].inputs == GSH_INPUTS_BOOL_FIRST && k == 0 ? GSH_BOOL : loop;
}

enum gsh_dtype gsh_op_result_dtype(enum gsh_result result, enum gsh_dtype loop)
{
    switch (result) {
    case GSH_RESULT_BOOL:
        return GSH_BOOL;
    case GSH_RESULT_INT32:
        return GSH_INT32;
    case GSH_RESULT_UINT8:
        return GSH_UINT8;
    case GSH_RESULT_INDEX:
        return GSH_INT64;
    case GSH_RESULT_REAL:
        return gsh_dtype_kind(loop) == 'c' ? gsh_dtype_real(loop) : loop;
    case GSH_RESULT_SAME:
    case GSH_RESULT_NONE:
        break;
    }
    return loop;
}

enum gsh_dtype gsh_op_output_dtype(enum gsh_op op, enum gsh_dtype loop, unsigned k)
{
    return gsh_op_result_dtype(ops[op].results[k], loop);
}

unsigned gsh_op_max_ulp(enum gsh_op op, enum gsh_dtype loop)
{
    unsigned ulps = (uint64_t)ops[op].ulps >> gsh_dtype_ulps_shift(loop) & 255;
    return (ops[op].flags & GSH_COARSE) != 0 && loop == GSH_FLOAT64 ? ulps * 64 : ulps;
}

bool gsh_op_divides(enum gsh_op op)
{
    return op == GSH_OP_FLOOR_DIVIDE || op == GSH_OP_REMAINDER || op == GSH_OP_FMOD ||
           op == GSH_OP_DIVMOD;
}

bool gsh_op_has_loop(enum gsh_op op, enum gsh_dtype loop)
{
    return op < GSH_OP_COUNT && loop < GSH_DTYPE_COUNT && (ops[op].dtypes >> loop & 1) != 0;
}

int gsh_op_find(const char *ufunc)
{
    for (int op = 0; op < GSH_OP_COUNT; op++)
        if (*ufunc != '\0' && strcmp(ops[op].ufunc, ufunc) == 0)
            return op;
    return -1;
}
