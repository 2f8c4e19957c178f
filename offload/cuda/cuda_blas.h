/* SPDX-License-Identifier: Apache-2.0
 *
 * GEMM launches through cuBLAS, which is loaded at the first of them. float32 is computed in
 * float32 (no TF32), and the same call gives the same bits on every run.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* True where a GEMM launch's dtypes and strides can be handed to cuBLAS. Pure, and before cuBLAS
 * has been looked for; false for all once it was not found. */
bool gsh_cuda_blas_supports(const struct gsh_launch *launch);
/* Submits the product, charging its device time to the stats row. DISPATCH lock held, context
 * current. DECLINED: no cuBLAS, or one too old for extents beyond int. FAILED: nothing was written.
 */
enum gsh_status gsh_cuda_blas_run(const struct gsh_launch *launch, unsigned row);
/* "13.1.0", or "" while it is not loaded. */
const char *gsh_cuda_blas_version(void);
