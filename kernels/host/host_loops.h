/* SPDX-License-Identifier: Apache-2.0
 *
 * The innermost loops of the CPU's kernels: one for each op and dtype, on contiguous arrays. Shapes, strides, masks,
 * and casts around a loop are handled by callers, with these loops and host_casts.h.
 */
#pragma once

#include "launch.h"

/* Elements that callers process at a time, so that a block of every operand stays in the first-level cache. */
#define GSH_HOST_BLOCK 512
#define GSH_HOST_ELEMENT_BYTES 16 /* of the largest element */

/* A block's elements of any dtype. */
struct gsh_host_buffer {
    _Alignas(64) char bytes[GSH_HOST_BLOCK * GSH_HOST_ELEMENT_BYTES];
};

/* One call of a loop. Arrays have the dtypes of gsh_op_input_dtype and gsh_op_output_dtype. FLOAT16 stands for
 * float arrays: inputs are float16 values exactly, outputs are yet to be rounded to float16. Unused arrays are not
 * touched. An output may be exactly an input; otherwise it overlaps nothing. */
struct gsh_host_block {
    const void *in[GSH_MAX_INPUTS];
    void *out[GSH_OP_OUTPUTS];
    int64_t n;           /* elements */
    int64_t first, step; /* for ops that use the index: element 0's, and its step */
};
typedef void gsh_host_loop(const struct gsh_host_block *block);

/* NULL where the op has no loop of this dtype. */
gsh_host_loop *gsh_host_loops_find(enum gsh_op op, enum gsh_dtype loop);
/* out[j] = mask[j] ? chosen[j] : other[j], contiguous elements of `size` bytes; out may be exactly
 * chosen, other or, for single bytes, the mask. */
void gsh_host_loops_blend(void *out, const void *chosen, const void *other,
                          const unsigned char *mask, int64_t n, size_t size);
/* Whether a number of n contiguous ones of FLOAT32 or FLOAT64 is NaN, or has a magnitude not below the limit. */
bool gsh_host_loops_special_has(const void *array, enum gsh_dtype dtype, int64_t n, double limit);
/* The dtype of a loop's array that holds values of `dtype`: FLOAT32 for FLOAT16, else itself. */
enum gsh_dtype gsh_host_loops_dtype(enum gsh_dtype dtype);
