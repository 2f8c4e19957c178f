/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of forms other than GE (launch.h): cuBLAS's syrk, herk, syr2k, her2k, symm, hemm and trmm.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* True where cuBLAS takes the types, strides and extents. Pure. */
bool gsh_cuda_blas_forms_supports(const struct gsh_launch *launch);
/* Submits the product. DISPATCH lock held, context current. DECLINED: no cuBLAS. FAILED: nothing was written. */
enum gsh_status gsh_cuda_blas_forms_run(const struct gsh_launch *launch);
