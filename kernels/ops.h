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
    GSH_SET_SIGNED = 1 << GSH_INT8 | 1 << GSH_INT16 | 1 << GSH_INT32 | 1 << GSH_INT64,
    GSH_SET_UNSIGNED = 1 << GSH_UINT8 | 1 << GSH_UINT16 | 1 << GSH_UINT32 | 1 << GSH_UINT64,
    GSH_SET_INTEGERS = GSH_SET_SIGNED | GSH_SET_UNSIGNED,
    GSH_SET_FLOATS = 1 << GSH_FLOAT16 | 1 << GSH_FLOAT32 | 1 << GSH_FLOAT64,
    GSH_SET_COMPLEX = 1 << GSH_COMPLEX64 | 1 << GSH_COMPLEX128,
    GSH_SET_WIDE = 1 << GSH_FLOAT64 | 1 << GSH_COMPLEX128,
    GSH_SET_REALS = GSH_SET_INTEGERS | GSH_SET_FLOATS,
    GSH_SET_INEXACT = GSH_SET_FLOATS | GSH_SET_COMPLEX,
    GSH_SET_BLAS = GSH_SET_INEXACT & ~(1 << GSH_FLOAT16), /* and LAPACK's: s, d, c, z */
    GSH_SET_NUMBERS = GSH_SET_REALS | GSH_SET_COMPLEX,
    GSH_SET_ALL = GSH_SET_NUMBERS | GSH_SET_BOOL
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

/* One element of any dtype, as it lies in memory: a float16 is its two bytes in u16. */
union gsh_scalar {
    bool b;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
    float c64[2];   /* real and imaginary part */
    double c128[2]; /* likewise */
    uint64_t words[2];
};

/* What an op's inputs are cast to: the loop's dtype, but for its second one (INT_SECOND: int64) or its first one
 * (BOOL_FIRST: bool). */
enum gsh_inputs { GSH_INPUTS_SAME, GSH_INPUTS_INT_SECOND, GSH_INPUTS_BOOL_FIRST };

/* The dtype of an output: the loop's; bool; the parts' of a complex loop, else the loop's; int32; uint8; int64, the
 * place of an element (reductions only); none: there is no such output. */
enum gsh_result {
    GSH_RESULT_SAME,
    GSH_RESULT_BOOL,
    GSH_RESULT_REAL,
    GSH_RESULT_INT32,
    GSH_RESULT_UINT8,
    GSH_RESULT_INDEX,
    GSH_RESULT_NONE
};

/* The value a reduction begins with: it changes nothing. ONES has all bits set; LOWEST is of the loop's dtype, minus
 * infinity for floats. FIRST: there is none, the first element begins, and joining an element twice does no harm. */
enum gsh_neutral {
    GSH_NEUTRAL_ZERO,
    GSH_NEUTRAL_ONE,
    GSH_NEUTRAL_ONES,
    GSH_NEUTRAL_LOWEST,
    GSH_NEUTRAL_FIRST
};

/* Units in the last place by kind of loop; complex ones count in units of the larger part. Packed: one byte each. */
#define GSH_ULPS(float16, float32, float64, both_complex)                                          \
    ((unsigned)(float16) | (unsigned)(float32) << 8 | (unsigned)(float64) << 16 |                  \
     (unsigned)(both_complex) << 24)
#define GSH_EXACT 0u

/* What an op may do, bit set. MAY_*: the floating-point errors it can raise beyond those of its inputs (launch.h);
 * integer division by zero counts as a pole. */
enum gsh_op_flags {
    GSH_MAY_POLE = 1,
    GSH_MAY_OVERFLOW = 2,
    GSH_MAY_INVALID = 4,
    GSH_USES_INDEX = 8, /* the expression reads the element's linear C-order index */
    GSH_PASSES_ON = 16  /* of floats: the result of an infinity or a NaN is one of these again */
};

struct gsh_op_info {
    const char *name; /* the label, e.g. "add" */
    const char
        *ufunc;      /* NumPy's ufunc name, or "" where none stands for it (copy, where, arange) */
    unsigned nin;    /* inputs, 1 .. 3 */
    unsigned nout;   /* outputs, 1 or 2 */
    unsigned dtypes; /* bit set of enum gsh_dtype: loop dtypes with a device loop */
    enum gsh_inputs inputs;
    enum gsh_result results[2];
    unsigned ulps; /* GSH_ULPS: largest distance from NumPy's result; 0: bit-identical */
    double
        host_ns; /* NumPy's time per element beyond moving the bytes, nanoseconds, for the cost model */
    unsigned flags;             /* enum gsh_op_flags */
    const char *expressions[2]; /* CUDA C++ text: inputs a, b, c, index i, loop type T, is_half */
};

struct gsh_reduction_info {
    const char *name; /* "sum" */
    const char
        *ufunc;      /* the ufunc whose reduce it is, "add"; "" where none stands for it (argmax) */
    unsigned dtypes; /* bit set: dtypes of the loop */
    enum gsh_result result;
    unsigned
        max_ulp; /* 0: equal whatever the order (but for the sign of zero and which NaN); else the error is at
                       * most so many units in the last place of the sum (product) of the magnitudes */
    enum gsh_op combine;      /* the operation that joins two partial results */
    enum gsh_neutral neutral; /* what the reduction begins with, and the result of an empty one */
};

size_t gsh_dtype_size(enum gsh_dtype dtype);
char gsh_dtype_kind(enum gsh_dtype dtype);
/* Whether it is float32 or complex64. */
static inline bool gsh_dtype_is_single(enum gsh_dtype dtype)
{
    return dtype == GSH_FLOAT32 || dtype == GSH_COMPLEX64;
}
/* Of float32, float64, complex64 and complex128: the real one, and the complex one, of the same precision. */
static inline enum gsh_dtype gsh_dtype_real(enum gsh_dtype dtype)
{
    return gsh_dtype_is_single(dtype) ? GSH_FLOAT32 : GSH_FLOAT64;
}
static inline enum gsh_dtype gsh_dtype_complex(enum gsh_dtype dtype)
{
    return gsh_dtype_is_single(dtype) ? GSH_COMPLEX64 : GSH_COMPLEX128;
}
char gsh_dtype_numpy_char(enum gsh_dtype dtype);
const char *gsh_dtype_name(enum gsh_dtype dtype);
/* CUDA types of an element computed with (float16: "float") and of one in memory ("Half", "Bool"). */
const char *gsh_dtype_cuda_type(enum gsh_dtype dtype);
const char *gsh_dtype_cuda_stored(enum gsh_dtype dtype);
/* NumPy's type number on Linux x86-64. */
int gsh_dtype_numpy_type(enum gsh_dtype dtype);
const struct gsh_op_info *gsh_op_info(enum gsh_op op);
const struct gsh_reduction_info *gsh_reduction_info(enum gsh_reduction reduction);
/* Whether a cast can meet a floating-point error: an integer may not hold a float (INVALID), a narrower float not the number (OVERFLOW). */
bool gsh_dtype_cast_may_fail(enum gsh_dtype from, enum gsh_dtype to);
/* The dtype that input k is cast to, and that output k (0 or 1) has before it is cast to its operand's. */
enum gsh_dtype gsh_op_input_dtype(enum gsh_op op, enum gsh_dtype loop, unsigned k);
enum gsh_dtype gsh_op_output_dtype(enum gsh_op op, enum gsh_dtype loop, unsigned k);
/* The result of a reduction before it is cast: the loop's dtype, bool or int64. */
enum gsh_dtype gsh_reduction_output_dtype(enum gsh_reduction reduction, enum gsh_dtype loop);
/* The bound for this loop; 0 for integers and bool. */
unsigned gsh_op_max_ulp(enum gsh_op op, enum gsh_dtype loop);
/* True of division with a whole quotient: of integers, a divisor of zero is an error then. */
bool gsh_op_divides(enum gsh_op op);
/* True where there is a loop of this dtype. */
bool gsh_op_has_loop(enum gsh_op op, enum gsh_dtype loop);
bool gsh_reduction_has_loop(enum gsh_reduction reduction, enum gsh_dtype loop);
/* Whether partial results that are joined in another order than one after the other may leave the range of numbers where
 * NumPy's do not, as products of floats do. Where that decides on the result, kernels join in the launch's C order, as NumPy. */
bool gsh_reduction_is_ordered(enum gsh_reduction reduction, enum gsh_dtype loop);
/* Whether it may be a sink of a group (group.h): there is a loop, whose results are joined in any order, and no place. */
bool gsh_reduction_may_sink(enum gsh_reduction reduction, enum gsh_dtype loop);
/* The op or reduction of a ufunc name; -1 where the device has none. */
int gsh_op_find(const char *ufunc);
int gsh_reduction_find(const char *ufunc);
