/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products through cuBLAS, which is loaded at the first of them. float32 is computed in
 * float32 (TF32 where the option asks for it), and the same call gives the same bits on every run.
 */
#pragma once

#include "cuda_types.h"
#include "launch.h"
#include "status.h"

/* `count` products, whose operands lie so many elements apart. */
struct gsh_cuda_blas_batch {
    int64_t count, steps[3];
};

/* True for dtypes that cuBLAS multiplies. Pure, and before cuBLAS has been looked for; false for all
 * once it was not found. */
bool gsh_cuda_blas_has_loop(enum gsh_dtype loop);
/* True where the strides can be handed to cuBLAS; elements have `size` bytes. */
bool gsh_cuda_blas_takes(const struct gsh_core *core, int64_t size);
/* The handle, once gsh_cuda_blas_opening is ready. */
cublasHandle_t gsh_cuda_blas_handle(void);
/* True for one product of two vectors, of which the first may be conjugated; no other product may. */
static inline bool gsh_cuda_blas_is_dot(const struct gsh_gemm *g)
{
    return g->m == 1 && g->n == 1 && g->k > 0 && g->alpha == 1 && g->beta == 0;
}
/* Submits the products; the addresses are the first one's of a, b, c, whose strides cuBLAS takes. DISPATCH
 * lock held, context current. DECLINED: no cuBLAS, or one too old for extents beyond int. FAILED:
 * nothing was written by the call that failed. */
enum gsh_status gsh_cuda_blas_run(const struct gsh_gemm *g, enum gsh_dtype loop,
                                  const uint64_t *addresses,
                                  const struct gsh_cuda_blas_batch *batch);
