/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of any form by plain loops in double precision, of one pair of matrices. For callers without BLAS, and as
 * the reference in tests of other implementations.
 */
#pragma once

#include "launch.h"

/* For float32, float64, complex64 and complex128. Where the form is TRMM, C may be exactly the matrix that the
 * triangle multiplies; otherwise it overlaps nothing. */
void gsh_host_product_run(const struct gsh_gemm *gemm, enum gsh_dtype dtype, const void *a,
                          const void *b, void *c);
