/* SPDX-License-Identifier: Apache-2.0
 *
 * How well conditioned the matrices of a call are, in the 1-norm, as SOLVE_CONDITIONED and INV_CONDITIONED must know.
 * Nothing waits but gsh_cuda_lapack_condition_look_at_structure; verdicts raise the call's flag.
 */
#pragma once

#include "cuda_lapack_call.h"

#define GSH_CUDA_LAPACK_TRIALS 4 /* columns of vectors that an estimate works on at once */

/* DECLINED where the structure of a matrix of the view, packed n x n numbers, is one that GSH_LAPACK_DENSE declines, or
 * the flag was raised before. Waits. *marks: of each matrix, for gsh_cuda_lapack_condition_mirror. */
enum gsh_status gsh_cuda_lapack_condition_look_at_structure(struct gsh_cuda_lapack_call *call,
                                                            const struct gsh_cuda_view *view,
                                                            int64_t n, uint64_t *marks);
/* Packed inverses of symmetric and Hermitian matrices become exactly so. */
enum gsh_status gsh_cuda_lapack_condition_mirror(struct gsh_cuda_lapack_call *call,
                                                 const struct gsh_cuda_view *view, int64_t n,
                                                 uint64_t marks);

/* The 1-norm of each of the view's packed n x n matrices, or (either) the larger one of that and the infinity norm;
 * double, in new memory at *norms. */
enum gsh_status gsh_cuda_lapack_condition_take_norms(struct gsh_cuda_lapack_call *call,
                                                     const struct gsh_cuda_view *view, int64_t n,
                                                     bool either, uint64_t *norms);

/* x = A^-1 b, or (is_adjoint) A^-H b, for GSH_CUDA_LAPACK_TRIALS packed columns; b may be overwritten. */
typedef enum gsh_status gsh_cuda_lapack_inverse(struct gsh_cuda_lapack_call *call, void *what,
                                                bool is_adjoint, const struct gsh_cuda_view *b,
                                                const struct gsh_cuda_view *x);
/* A lower bound, mostly within a small factor, of the 1-norm of each inverse of matrices of n rows, as take_norms: W.
 * W. Hager's estimate (SIAM J. Sci. Stat. Comput. 5, 1984) with N. J. Higham's additions (ACM Trans. Math. Softw. 14,
 * 1988), as LAPACK's ?lacn2, from several vectors at once. */
enum gsh_status gsh_cuda_lapack_condition_estimate_inverse(struct gsh_cuda_lapack_call *call,
                                                           int64_t n,
                                                           gsh_cuda_lapack_inverse *inverse,
                                                           void *what, uint64_t *norms);

/* Raises the flag where a product of norms is such that GSH_LAPACK_CONDITION declines it. */
enum gsh_status gsh_cuda_lapack_condition_look(struct gsh_cuda_lapack_call *call, uint64_t norms,
                                               uint64_t inverse_norms);
