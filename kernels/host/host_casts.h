/* SPDX-License-Identifier: Apache-2.0
 *
 * Casts between any two dtypes on strided arrays of the CPU.
 */
#pragma once

#include "dtypes.h"

/* dst[j] = cast of src[j] for j < n, strides in bytes. Equal dtypes are moved, bytes unchanged. dst may be exactly
 * src where sizes and strides are equal; otherwise they do not overlap. */
void gsh_host_casts_run(void *dst, enum gsh_dtype dst_dtype, int64_t dst_stride, const void *src,
                        enum gsh_dtype src_dtype, int64_t src_stride, int64_t n);

/* Conversions between operands and the arrays of a loop (host_loops.h). These hold values of dtype `value`:
 * contiguous, and float for FLOAT16. Values of other dtypes are rounded to float16 then. */
void gsh_host_casts_load(void *array, enum gsh_dtype value, const void *src,
                         enum gsh_dtype src_dtype, int64_t src_stride, int64_t n);
void gsh_host_casts_store(void *dst, enum gsh_dtype dst_dtype, int64_t dst_stride,
                          const void *array, enum gsh_dtype value, int64_t n);
