/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of any form by plain loops in double precision, one matrix by another: for callers without BLAS, and what other
 * ways are compared with.
 */
#pragma once

#include "launch.h"

/* Of float32, float64, complex64 and complex128. Where the form is TRMM, C may be exactly the matrix that the triangle
 * multiplies; it overlaps nothing otherwise. */
void gsh_host_product_run(const struct gsh_gemm *gemm, enum gsh_dtype dtype, const void *a,
                          const void *b, void *c);
