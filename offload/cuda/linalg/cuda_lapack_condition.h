/* SPDX-License-Identifier: Apache-2.0
 *
 * The condition of a call's matrices in the 1-norm, for SOLVE_CONDITIONED and INV_CONDITIONED. Only
 * gsh_cuda_lapack_condition_look_at_structure waits; results raise the call's flag.
 */
#pragma once

#include "cuda_lapack_call.h"

#define GSH_CUDA_LAPACK_TRIALS 4 /* vectors, as columns, that an estimate works on at once */

/* DECLINED where a matrix of the view, packed n x n numbers, has a structure that GSH_LAPACK_DENSE declines, or the
 * flag was raised before. Waits. *marks: one for each matrix, for gsh_cuda_lapack_condition_mirror. */
enum gsh_status gsh_cuda_lapack_condition_look_at_structure(struct gsh_cuda_lapack_call *call,
                                                            const struct gsh_cuda_view *view,
                                                            int64_t n, uint64_t *marks);
/* Makes packed inverses of symmetric and Hermitian matrices exactly symmetric or Hermitian. */
enum gsh_status gsh_cuda_lapack_condition_mirror(struct gsh_cuda_lapack_call *call,
                                                 const struct gsh_cuda_view *view, int64_t n,
                                                 uint64_t marks);

/* The 1-norm of each of the view's packed n x n matrices, or (either) the larger of that and the infinity norm;
 * double, in new memory at *norms. */
enum gsh_status gsh_cuda_lapack_condition_take_norms(struct gsh_cuda_lapack_call *call,
                                                     const struct gsh_cuda_view *view, int64_t n,
                                                     bool either, uint64_t *norms);

/* x = A^-1 b, or (is_adjoint) A^-H b, for GSH_CUDA_LAPACK_TRIALS packed columns; b may be overwritten. */
typedef enum gsh_status gsh_cuda_lapack_inverse(struct gsh_cuda_lapack_call *call, void *what,
                                                bool is_adjoint, const struct gsh_cuda_view *b,
                                                const struct gsh_cuda_view *x);
/* A lower bound, mostly within a small factor, of the 1-norm of the inverse of each matrix of n rows, in new memory
 * as for take_norms: W. W. Hager's estimate (SIAM J. Sci. Stat. Comput. 5, 1984) with N. J. Higham's additions (ACM
 * Trans. Math. Softw. 14, 1988), as LAPACK's ?lacn2, from several vectors at once. */
enum gsh_status gsh_cuda_lapack_condition_estimate_inverse(struct gsh_cuda_lapack_call *call,
                                                           int64_t n,
                                                           gsh_cuda_lapack_inverse *inverse,
                                                           void *what, uint64_t *norms);

/* Raises the flag where GSH_LAPACK_CONDITION declines the product of a matrix's norms. */
enum gsh_status gsh_cuda_lapack_condition_look(struct gsh_cuda_lapack_call *call, uint64_t norms,
                                               uint64_t inverse_norms);
