/* SPDX-License-Identifier: Apache-2.0
 *
 * Look-ups in dtypes.def, ops.def and reductions.def.
 */
#include "ops.h"

#include <string.h>

struct dtype_info {
    size_t size;
    char kind, numpy_char;
    int type_num;
    const char *label, *cuda_type, *cuda_stored;
};

static const struct dtype_info dtypes[GSH_DTYPE_COUNT] = {
#define X(name, c_type, c_stored, cuda_type, cuda_stored, kind, numpy_char, type_num, label)       \
    {sizeof(c_stored), kind, numpy_char, type_num, label, cuda_type, cuda_stored},
#include "dtypes.def"
#undef X
};

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

const char *gsh_dtype_cuda_stored(enum gsh_dtype dtype)
{
    return dtypes[dtype].cuda_stored;
}

int gsh_dtype_numpy_type(enum gsh_dtype dtype)
{
    return dtypes[dtype].type_num;
}

static bool is_inexact(enum gsh_dtype dtype)
{
    return dtypes[dtype].kind == 'f' || dtypes[dtype].kind == 'c';
}

/* The size of a real number of the dtype. */
static size_t part_size(enum gsh_dtype dtype)
{
    return dtypes[dtype].size / (dtypes[dtype].kind == 'c' ? 2 : 1);
}

bool gsh_dtype_cast_may_fail(enum gsh_dtype from, enum gsh_dtype to)
{
    char kind = dtypes[to].kind;
    if (kind == 'i' || kind == 'u')
        return is_inexact(from);
    if (is_inexact(from))
        return kind != 'b' && part_size(to) < part_size(from);
    return to == GSH_FLOAT16 && dtypes[from].size > 1;
}

const struct gsh_op_info *gsh_op_info(enum gsh_op op)
{
    return &ops[op];
}

const struct gsh_reduction_info *gsh_reduction_info(enum gsh_reduction reduction)
{
    return &reductions[reduction];
}

enum gsh_dtype gsh_op_input_dtype(enum gsh_op op, enum gsh_dtype loop, unsigned k)
{
    if (ops[op].inputs == GSH_INPUTS_INT_SECOND && k == 1)
        return GSH_INT64;
    return ops[op].inputs == GSH_INPUTS_BOOL_FIRST && k == 0 ? GSH_BOOL : loop;
}

static enum gsh_dtype result_dtype(enum gsh_result result, enum gsh_dtype loop)
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
        return loop == GSH_COMPLEX64 ? GSH_FLOAT32 : loop == GSH_COMPLEX128 ? GSH_FLOAT64 : loop;
    case GSH_RESULT_SAME:
    case GSH_RESULT_NONE:
        break;
    }
    return loop;
}

enum gsh_dtype gsh_op_output_dtype(enum gsh_op op, enum gsh_dtype loop, unsigned k)
{
    return result_dtype(ops[op].results[k], loop);
}

enum gsh_dtype gsh_reduction_output_dtype(enum gsh_reduction reduction, enum gsh_dtype loop)
{
    return result_dtype(reductions[reduction].result, loop);
}

unsigned gsh_op_max_ulp(enum gsh_op op, enum gsh_dtype loop)
{
    switch (loop) {
    case GSH_FLOAT16:
        return ops[op].ulps & 255;
    case GSH_FLOAT32:
        return ops[op].ulps >> 8 & 255;
    case GSH_FLOAT64:
        return ops[op].ulps >> 16 & 255;
    case GSH_COMPLEX64:
    case GSH_COMPLEX128:
        return ops[op].ulps >> 24;
    default:
        return 0;
    }
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

bool gsh_reduction_has_loop(enum gsh_reduction reduction, enum gsh_dtype loop)
{
    return reduction < GSH_REDUCTION_COUNT && loop < GSH_DTYPE_COUNT &&
           (reductions[reduction].dtypes >> loop & 1) != 0;
}

bool gsh_reduction_is_ordered(enum gsh_reduction reduction, enum gsh_dtype loop)
{
    return reductions[reduction].combine == GSH_OP_MULTIPLY && (GSH_SET_INEXACT >> loop & 1) != 0;
}

bool gsh_reduction_may_sink(enum gsh_reduction reduction, enum gsh_dtype loop)
{
    return gsh_reduction_has_loop(reduction, loop) && !gsh_reduction_is_ordered(reduction, loop) &&
           reductions[reduction].result != GSH_RESULT_INDEX;
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
        if (*ufunc != '\0' && strcmp(reductions[reduction].ufunc, ufunc) == 0)
            return reduction;
    return -1;
}
