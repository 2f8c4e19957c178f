/* SPDX-License-Identifier: Apache-2.0
 *
 * ELEMENTWISE launches on the CPU; entry point: host_ops.h.
 */
#pragma once

#include "launch.h"

bool gsh_host_elementwise_supports(const struct gsh_launch *launch);
/* Computes a launch that is supported. Uses some 100 KiB of stack. */
void gsh_host_elementwise_run(const struct gsh_launch *launch);
/* dst[j] = src[j] for j < n where mask[j] is true, elements of `size` bytes, strides in bytes. */
void gsh_host_elementwise_move_masked(char *dst, int64_t dst_stride, const char *src,
                                      int64_t src_stride, const char *mask, int64_t mask_stride,
                                      int64_t n, size_t size);
