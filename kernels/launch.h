/* SPDX-License-Identifier: Apache-2.0
 *
 * One piece of work with all its numbers: what a backend runs. The same structure, holding host
 * addresses, describes a call before its operands are placed (offload/call.h).
 */
#pragma once

#include "ops.h"

#define GSH_MAX_DIMS 16
#define GSH_MAX_OPERANDS 4 /* inputs first, then the output */

enum gsh_launch_kind { GSH_LAUNCH_ELEMENTWISE, GSH_LAUNCH_REDUCE, GSH_LAUNCH_GEMM };

struct gsh_operand {
    enum gsh_dtype dtype;
    bool is_constant; /* inputs only: `constant` holds the value, of `dtype` */
    uint64_t address; /* first element: a device address (a host address in a call) */
    union gsh_scalar constant;
};

/* C = alpha * A @ B + beta * C. Strides in elements; of each pair one is 1 and the other at least
 * the length of the unit-stride dimension, as BLAS asks. Extents of 1 may carry any stride. m, n >
 * 0; k >= 0. */
struct gsh_gemm {
    int64_t m, n, k;
    int64_t a_row, a_col, b_row, b_col, c_row, c_col;
    double alpha, beta; /* beta 0: C is not read (NaN in it does not spread) */
};

/* ELEMENTWISE: out[x] = op(in0[x], in1[x]) over shape; inputs are cast to `loop`, the result from
 * its own dtype (loop, or bool) to the output's. Casts are NumPy's on x86-64 (float to integer out
 * of range or NaN: INT_MIN of the integer's width; to bool: != 0). Output elements are distinct.
 * The output may be exactly an input (same address, strides and dtype size); it overlaps no input
 * otherwise. REDUCE: dimensions ndim - nreduce .. ndim - 1 are reduced; the output has stride 0
 * there. Input cast to `loop` (the accumulator), result to the output's dtype. An empty reduction
 * yields the identity; maximum and minimum are never empty. NaN wins in maximum and minimum. The
 * summation tree depends on shape and strides alone, so a repeated run gives the same bits. GEMM:
 * operands a, b, c of dtype `loop`; `shape` unused. */
struct gsh_launch {
    enum gsh_launch_kind kind;
    union {
        enum gsh_op op;
        enum gsh_reduction reduction;
    };
    enum gsh_dtype loop;
    unsigned nin; /* operands[nin] is the output */
    struct gsh_operand operands[GSH_MAX_OPERANDS];
    int ndim;                    /* 0 .. GSH_MAX_DIMS */
    int nreduce;                 /* REDUCE only */
    int64_t shape[GSH_MAX_DIMS]; /* all > 0 but for an empty REDUCE's reduced dimensions */
    int64_t strides[GSH_MAX_OPERANDS][GSH_MAX_DIMS]; /* bytes; 0 for broadcast and constants */
    struct gsh_gemm gemm;
};

/* Elements of the iteration space (1 where ndim is 0). */
int64_t gsh_launch_elements(const struct gsh_launch *launch);
/* The result's dtype before it is cast to the output's. */
enum gsh_dtype gsh_launch_result_dtype(const struct gsh_launch *launch);
/* Same work, fewest dimensions: drops extents of 1, orders dimensions by the output's strides
 * (inputs' where reduced), merges neighbours that step as one. Kept and reduced dimensions stay
 * apart. Launches whose op uses the index are only merged, never reordered. Negative strides stay.
 */
void gsh_launch_collapse(struct gsh_launch *launch);
/* True where the output's old elements are read (a GEMM with beta). */
bool gsh_launch_reads_output(const struct gsh_launch *launch);
/* True where the output's elements occupy distinct bytes (ELEMENTWISE and REDUCE). */
bool gsh_launch_output_is_distinct(const struct gsh_launch *launch);
/* Lowest and one past the highest byte that operand k touches, relative to its address. */
void gsh_launch_extent(const struct gsh_launch *launch, unsigned k, int64_t *low, int64_t *high);
