/* SPDX-License-Identifier: Apache-2.0
 *
 * The innermost loops of the CPU's kernels: one for each op and dtype, on contiguous arrays.
 * Everything else (shapes, strides, masks, casts around a loop) is composed of them and of
 * host_casts.h.
 */
#pragma once

#include "launch.h"

/* Elements that callers take at a time, so that a block of every operand stays in the first-level
 * cache. */
#define GSH_HOST_BLOCK 512

/* One call of a loop. Arrays are of the dtypes that gsh_op_input_dtype and gsh_op_output_dtype
 * name, where FLOAT16 means float arrays of values that are float16 exactly (inputs), or are to be
 * rounded to it (outputs). Unused ones are not touched. An output may be an input, and overlaps
 * nothing otherwise. */
struct gsh_host_block {
    const void *in[GSH_MAX_INPUTS];
    void *out[GSH_OP_OUTPUTS];
    int64_t n;           /* elements */
    int64_t first, step; /* for ops that use the index: element 0's, and from each to the next */
};
typedef void gsh_host_loop(const struct gsh_host_block *block);

/* NULL where the op has no loop of this dtype. */
gsh_host_loop *gsh_host_loops_find(enum gsh_op op, enum gsh_dtype loop);
/* out[j] = mask[j] ? chosen[j] : other[j], contiguous elements of `size` bytes; out may be exactly
 * chosen, other or, for single bytes, the mask. */
void gsh_host_loops_blend(void *out, const void *chosen, const void *other,
                          const unsigned char *mask, int64_t n, size_t size);
/* True where a number of n contiguous ones of FLOAT32 or FLOAT64 is NaN, or its magnitude not below
 * the limit. */
bool gsh_host_loops_odd_has(const void *array, enum gsh_dtype dtype, int64_t n, double limit);
/* The dtype of a loop's array that holds values of `dtype`: FLOAT32 for FLOAT16, else itself. */
enum gsh_dtype gsh_host_loops_dtype(enum gsh_dtype dtype);
