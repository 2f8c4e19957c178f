/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of float32, float64, complex64 and complex128 that take as long as their operands take to be read: one factor is a
 * vector, or both dimensions of one factor are small. Their kernels (kernels/cuda/narrow_product.cuh) need no BLAS, which
 * takes a tenth of a second to be opened. Pure; the form of the sums depends on shape and strides only.
 */
#pragma once

#include "source.h"

/* Whether the launch, a GEMM, is one of them: one matrix of each operand, no factors, aligned elements. The product of a matrix with
 * itself is not one, unless it is a single number. */
bool gsh_source_narrow_product_is_made(const struct gsh_launch *launch);
/* As gsh_source_scratch, gsh_source_plan and gsh_source_text, of such a launch. */
size_t gsh_source_narrow_product_scratch(const struct gsh_launch *launch);
enum gsh_status gsh_source_narrow_product_plan(const struct gsh_launch *launch, uint64_t scratch,
                                               struct gsh_source_plan *plan);
void gsh_source_narrow_product_text(const struct gsh_launch *launch, unsigned stage,
                                    struct gsh_fmt *fmt);
