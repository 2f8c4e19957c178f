/* SPDX-License-Identifier: Apache-2.0
 *
 * The innermost loops of the CPU's kernels: one for each op and dtype on contiguous arrays, and
 * casts between any two dtypes on strided ones. Everything else (shapes, strides, casts around a
 * loop) is composed of them.
 */
#pragma once

#include "ops.h"

/* out[j] = op(a[j], b[j]) for j < n; all of the loop's dtype, out of the op's result. Ops of one
 * input ignore b, which must be readable all the same. `first` is the index of element 0. out may
 * be a or b, else overlaps neither. */
typedef void gsh_host_loop(void *out, const void *a, const void *b, int64_t n, int64_t first);

/* NULL where the op has no loop of this dtype. */
gsh_host_loop *gsh_host_loops_find(enum gsh_op op, enum gsh_dtype dtype);

/* dst[j] = cast of src[j] for j < n, strides in bytes. Equal dtypes are moved, bytes unchanged. */
void gsh_host_loops_cast(void *dst, enum gsh_dtype dst_dtype, int64_t dst_stride, const void *src,
                         enum gsh_dtype src_dtype, int64_t src_stride, int64_t n);
