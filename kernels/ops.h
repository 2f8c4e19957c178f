/* SPDX-License-Identifier: Apache-2.0
 *
 * The elementwise operations that the device supports: ops.def as an enum and look-ups. Every fact about an operation
 * is in its row.
 */
#pragma once

#include "dtypes.h"

enum gsh_op {
#define X(name, ...) GSH_OP_##name,
#include "ops.def"
#undef X
    GSH_OP_COUNT
};

/* The dtype that an op's inputs are cast to: the loop's, except for the second input (INT_SECOND: int64) or the
 * first one (INT_FIRST: int64; BOOL_FIRST: bool). */
enum gsh_inputs {
    GSH_INPUTS_SAME,
    GSH_INPUTS_INT_FIRST,
    GSH_INPUTS_INT_SECOND,
    GSH_INPUTS_BOOL_FIRST
};

/* The dtype of an output: the loop's; bool; the dtype of a complex loop's parts, else the loop's; int32; uint8;
 * int64, the index of an element (reductions only); none: there is no such output. */
enum gsh_result {
    GSH_RESULT_SAME,
    GSH_RESULT_BOOL,
    GSH_RESULT_REAL,
    GSH_RESULT_INT32,
    GSH_RESULT_UINT8,
    GSH_RESULT_INDEX,
    GSH_RESULT_NONE
};

/* Units in the last place, by kind of loop; complex loops count in units of the larger part. Packed, one byte
 * each. */
#define GSH_ULPS(float16, float32, float64, both_complex)                                          \
    ((unsigned)(float16) | (unsigned)(float32) << 8 | (unsigned)(float64) << 16 |                  \
     (unsigned)(both_complex) << 24)
#define GSH_EXACT 0u

/* Properties of an op, bit set. MAY_*: the floating-point errors that it can raise beyond those of its inputs
 * (launch.h); integer division by zero counts as a pole. */
enum gsh_op_flags {
    GSH_MAY_POLE = 1,
    GSH_MAY_OVERFLOW = 2,
    GSH_MAY_INVALID = 4,
    GSH_USES_INDEX = 8, /* the expression reads the element's linear C-order index */
    GSH_PASSES_ON = 16, /* floats: an infinity or a NaN gives one of these again */
    GSH_SPECIAL = 32,   /* of scipy.special (ops_special.def) */
    GSH_OF_ONE = 64,    /* ulps are those of 1 where the result is smaller: it crosses zero */
    GSH_COARSE =
        128,       /* the ulps of float64 loops count 64 each: an exponential multiplies errors */
    GSH_OPEN = 256 /* for some arguments terms multiply the errors further (numerics.md) */
};

struct gsh_op_info {
    const char *name; /* the label, e.g. "add" */
    const char *
        ufunc; /* NumPy's ufunc name, or "" where there is none (copy, where, arange); "scipy.special.NAME" */
    unsigned nin;    /* inputs, 1 .. 3 */
    unsigned nout;   /* outputs, 1 or 2 */
    unsigned dtypes; /* bit set of enum gsh_dtype: loop dtypes with a device loop */
    enum gsh_inputs inputs;
    enum gsh_result results[2];
    unsigned ulps;  /* GSH_ULPS: largest distance from NumPy's result; 0: bit-identical */
    double host_ns; /* NumPy's time per element of a real loop, see gsh_op_host_ns */
    unsigned flags; /* enum gsh_op_flags */
    const char *expressions[2]; /* CUDA C++ text: inputs a, b, c, index i, loop type T, is_half */
};

/* The dtype of a result, given the dtype of the loop. */
enum gsh_dtype gsh_op_result_dtype(enum gsh_result result, enum gsh_dtype loop);
const struct gsh_op_info *gsh_op_info(enum gsh_op op);
/* NumPy's time on one core for an element of this loop, beyond moving its bytes: nanoseconds, for the cost model. Complex functions
 * take 5 to 30 times as long as real ones, which are vectorised (NumPy 2.4 on AVX-512); the least is taken. */
double gsh_op_host_ns(enum gsh_op op, enum gsh_dtype loop);
/* The dtype that input k is cast to, and that output k (0 or 1) has before it is cast to its operand's. */
enum gsh_dtype gsh_op_input_dtype(enum gsh_op op, enum gsh_dtype loop, unsigned k);
enum gsh_dtype gsh_op_output_dtype(enum gsh_op op, enum gsh_dtype loop, unsigned k);
/* The bound in units in the last place for this loop; 0 for integers and bool. */
unsigned gsh_op_max_ulp(enum gsh_op op, enum gsh_dtype loop);
/* Whether the op is a division with an integer quotient: for integer loops a divisor of zero is then an error. */
bool gsh_op_divides(enum gsh_op op);
/* Whether there is a loop of this dtype. */
bool gsh_op_has_loop(enum gsh_op op, enum gsh_dtype loop);
/* The op of the ufunc with this name; -1: there is none. */
int gsh_op_find(const char *ufunc);
