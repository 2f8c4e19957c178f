/* SPDX-License-Identifier: Apache-2.0
 *
 * The operations the device knows: dtypes.def, ops.def (elementwise) and reductions.def as enums
 * and look-ups. Every fact about an operation lives in its row.
 */
#pragma once

#include "base.h"

enum gsh_dtype {
#define X(name, ...) GSH_##name,
#include "dtypes.def"
#undef X
    GSH_DTYPE_COUNT
};

/* Sets of dtypes, one bit (1 << enum gsh_dtype) each. */
enum gsh_dtype_set {
    GSH_SET_BOOL = 1 << GSH_BOOL,
    GSH_SET_INTEGERS = 1 << GSH_INT32 | 1 << GSH_INT64,
    GSH_SET_FLOATS = 1 << GSH_FLOAT32 | 1 << GSH_FLOAT64,
    GSH_SET_NUMBERS = GSH_SET_INTEGERS | GSH_SET_FLOATS,
    GSH_SET_ALL = GSH_SET_NUMBERS | GSH_SET_BOOL,
    GSH_SET_ACCUMULATORS =
        1 << GSH_INT64 | GSH_SET_FLOATS /* NumPy adds bool and int32 up as int64 */
};

enum gsh_op {
#define X(name, ...) GSH_OP_##name,
#include "ops.def"
#undef X
    GSH_OP_COUNT
};

enum gsh_reduction {
#define X(name, ...) GSH_REDUCE_##name,
#include "reductions.def"
#undef X
    GSH_REDUCTION_COUNT
};

/* One element of any dtype. */
union gsh_scalar {
    bool b;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
};

enum gsh_result { GSH_RESULT_SAME, GSH_RESULT_BOOL };

/* The value that changes nothing in a reduction; LOWEST and HIGHEST are of the loop's dtype,
 * infinities for floats. */
enum gsh_neutral { GSH_NEUTRAL_ZERO, GSH_NEUTRAL_ONE, GSH_NEUTRAL_LOWEST, GSH_NEUTRAL_HIGHEST };

struct gsh_op_info {
    const char *name;       /* the enum's spelling in lower case, e.g. "add" */
    const char *ufunc;      /* NumPy's ufunc name, or "" where none stands for it (copy, arange) */
    unsigned nin;           /* inputs */
    unsigned dtypes;        /* bit set of enum gsh_dtype: loop dtypes with a device loop */
    enum gsh_result result; /* dtype of the result: the loop's, or bool */
    unsigned max_ulp;       /* largest distance from NumPy's result, in units in the last place; 0:
                               bit-identical */
    double host_ns;  /* NumPy's time per element beyond moving the bytes, nanoseconds, for the cost
                        model */
    bool uses_index; /* the expression reads the element's linear C-order index */
    const char *expression; /* CUDA C text for numeric loops: inputs a, b, index i, loop type T */
    const char *bool_expression; /* the same for bool loops; "" where there is none */
};

struct gsh_reduction_info {
    const char *name;  /* "sum" */
    const char *ufunc; /* the ufunc whose reduce it is, "add" */
    unsigned dtypes;   /* bit set: dtypes of the accumulator (the loop) */
    enum gsh_result result;
    unsigned max_ulp; /* 0: equal whatever the order (but for the sign of zero and which NaN); else
                       * the error is at most so many units in the last place of the sum (product)
                       * of the magnitudes */
    enum gsh_op combine;      /* the operation that joins two partial results */
    enum gsh_neutral neutral; /* what the reduction begins with, and the result of an empty one */
};

size_t gsh_dtype_size(enum gsh_dtype dtype);
char gsh_dtype_kind(enum gsh_dtype dtype);
char gsh_dtype_numpy_char(enum gsh_dtype dtype);
const char *gsh_dtype_name(enum gsh_dtype dtype);
const char *gsh_dtype_cuda_type(enum gsh_dtype dtype);
const struct gsh_op_info *gsh_op_info(enum gsh_op op);
const struct gsh_reduction_info *gsh_reduction_info(enum gsh_reduction reduction);
/* The dtype that partial results have: the loop's, or bool for any and all. */
enum gsh_dtype gsh_reduction_accumulator(enum gsh_reduction reduction, enum gsh_dtype loop);
/* True where there is a loop of this dtype. */
bool gsh_op_has_loop(enum gsh_op op, enum gsh_dtype loop);
bool gsh_reduction_has_loop(enum gsh_reduction reduction, enum gsh_dtype loop);
/* The op or reduction of a ufunc name; -1 where the device has none. */
int gsh_op_find(const char *ufunc);
int gsh_reduction_find(const char *ufunc);
