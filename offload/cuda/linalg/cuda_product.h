/* SPDX-License-Identifier: Apache-2.0
 *
 * GEMM launches: those that cuBLAS computes, with any strides and batches, by cuda_blas.h; narrow ones and the others by our own
 * kernels (kernels/codegen/source_product.c).
 */
#pragma once

#include "launch.h"
#include "status.h"

/* Whether the launch is one for cuBLAS. Pure. */
bool gsh_cuda_product_needs_blas(const struct gsh_launch *launch);
/* True where the launch can be run. Pure. */
bool gsh_cuda_product_supports(const struct gsh_launch *launch);
/* Submits the products, charging their device time to the stats row. The product of a matrix with its own transpose is
 * symmetric to the bit. DISPATCH lock held, context current. DECLINED: no cuBLAS, or one too old for such extents. */
enum gsh_status gsh_cuda_product_run(const struct gsh_launch *launch, unsigned row);
