/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products by cuBLAS, which is loaded for the first one. float32 is computed in float32 (in TF32 if the option
 * asks for it). The same call gives the same bits on every run.
 */
#pragma once

#include "cuda_types.h"
#include "launch.h"
#include "status.h"

/* `count` products; `steps` are the elements from one operand to the next. */
struct gsh_cuda_blas_batch {
    int64_t count, steps[3];
};

/* True for dtypes that cuBLAS multiplies. Pure, also before cuBLAS has been looked for; false for all once it was not
 * found. */
bool gsh_cuda_blas_has_loop(enum gsh_dtype loop);
/* True where cuBLAS takes the strides; elements have `size` bytes. */
bool gsh_cuda_blas_takes(const struct gsh_core *core, int64_t size);
/* The handle, once gsh_cuda_blas_loader is ready. */
cublasHandle_t gsh_cuda_blas_handle(void);
/* True for one product of two vectors. Only there may an operand be conjugated, the first one. */
static inline bool gsh_cuda_blas_is_dot(const struct gsh_gemm *g)
{
    return g->m == 1 && g->n == 1 && g->k > 0 && g->alpha == 1 && g->beta == 0;
}
/* Submits the products; the addresses are those of the first product's a, b, c, whose strides cuBLAS takes. DISPATCH
 * lock held, context current. DECLINED: no cuBLAS, or one too old for extents beyond int. FAILED: the failed call
 * wrote nothing. */
enum gsh_status gsh_cuda_blas_run(const struct gsh_gemm *g, enum gsh_dtype loop,
                                  const uint64_t *addresses,
                                  const struct gsh_cuda_blas_batch *batch);
