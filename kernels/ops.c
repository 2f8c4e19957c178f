/* SPDX-License-Identifier: Apache-2.0
 *
 * Look-ups in dtypes.def, ops.def and reductions.def.
 */
#include "ops.h"

#include <string.h>

struct dtype_info {
    size_t size;
    char kind, numpy_char;
    const char *label, *cuda_type;
};

static const struct dtype_info dtypes[GSH_DTYPE_COUNT] = {
#define X(name, c_type, cuda_type, kind, numpy_char, label)                                        \
    {sizeof(c_type), kind, numpy_char, label, cuda_type},
#include "dtypes.def"
#undef X
};

static const struct gsh_op_info ops[GSH_OP_COUNT] = {
#define X(name, label, ufunc, nin, dtypes, result, max_ulp, host_ns, uses_index, expr, bool_expr)  \
    {label,   ufunc,   nin,        dtypes, GSH_RESULT_##result,                                    \
     max_ulp, host_ns, uses_index, #expr,  ((dtypes)&GSH_SET_BOOL) != 0 ? #bool_expr : ""},
#include "ops.def"
#undef X
};

static const struct gsh_reduction_info reductions[GSH_REDUCTION_COUNT] = {
#define X(name, label, ufunc, dtypes, result, max_ulp, combine, neutral)                           \
    {label, ufunc, dtypes, GSH_RESULT_##result, max_ulp, GSH_OP_##combine, GSH_NEUTRAL_##neutral},
#include "reductions.def"
#undef X
};

size_t gsh_dtype_size(enum gsh_dtype dtype)
{
    return dtypes[dtype].size;
}

char gsh_dtype_kind(enum gsh_dtype dtype)
{
    return dtypes[dtype].kind;
}

char gsh_dtype_numpy_char(enum gsh_dtype dtype)
{
    return dtypes[dtype].numpy_char;
}

const char *gsh_dtype_name(enum gsh_dtype dtype)
{
    return dtypes[dtype].label;
}

const char *gsh_dtype_cuda_type(enum gsh_dtype dtype)
{
    return dtypes[dtype].cuda_type;
}

const struct gsh_op_info *gsh_op_info(enum gsh_op op)
{
    return &ops[op];
}

const struct gsh_reduction_info *gsh_reduction_info(enum gsh_reduction reduction)
{
    return &reductions[reduction];
}

enum gsh_dtype gsh_reduction_accumulator(enum gsh_reduction reduction, enum gsh_dtype loop)
{
    return reductions[reduction].result == GSH_RESULT_BOOL ? GSH_BOOL : loop;
}

bool gsh_op_has_loop(enum gsh_op op, enum gsh_dtype loop)
{
    return op < GSH_OP_COUNT && loop < GSH_DTYPE_COUNT && (ops[op].dtypes >> loop & 1) != 0;
}

bool gsh_reduction_has_loop(enum gsh_reduction reduction, enum gsh_dtype loop)
{
    return reduction < GSH_REDUCTION_COUNT && loop < GSH_DTYPE_COUNT &&
           (reductions[reduction].dtypes >> loop & 1) != 0;
}

int gsh_op_find(const char *ufunc)
{
    for (int op = 0; op < GSH_OP_COUNT; op++)
        if (*ufunc != '\0' && strcmp(ops[op].ufunc, ufunc) == 0)
            return op;
    return -1;
}

int gsh_reduction_find(const char *ufunc)
{
    for (int reduction = 0; reduction < GSH_REDUCTION_COUNT; reduction++)
        if (strcmp(reductions[reduction].ufunc, ufunc) == 0)
            return reduction;
    return -1;
}
