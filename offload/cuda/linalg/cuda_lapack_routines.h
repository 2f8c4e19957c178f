/* SPDX-License-Identifier: Apache-2.0
 *
 * The routines, each a file for a family of them: cuda_lapack_lu.c, _symmetric.c, _indefinite.c, _triangle.c,
 * _qr.c, _gels.c, _svd.c, _lstsq.c, _eig.c. They submit work and may wait; the caller judges at the end
 * (gsh_cuda_lapack_judge). DECLINED: a judge in between said so.
 */
#pragma once

#include "cuda_lapack_call.h"

typedef enum gsh_status gsh_cuda_lapack_routine(struct gsh_cuda_lapack_call *call);

gsh_cuda_lapack_routine gsh_cuda_lapack_solve, gsh_cuda_lapack_inv, gsh_cuda_lapack_det;
gsh_cuda_lapack_routine gsh_cuda_lapack_solve_conditioned, gsh_cuda_lapack_inv_conditioned;
gsh_cuda_lapack_routine gsh_cuda_lapack_cholesky, gsh_cuda_lapack_eigh;
gsh_cuda_lapack_routine gsh_cuda_lapack_qr_raw, gsh_cuda_lapack_qr_form, gsh_cuda_lapack_ormqr;
gsh_cuda_lapack_routine gsh_cuda_lapack_svd;
gsh_cuda_lapack_routine gsh_cuda_lapack_eig;
gsh_cuda_lapack_routine gsh_cuda_lapack_getrf, gsh_cuda_lapack_getrs, gsh_cuda_lapack_trtrs;
gsh_cuda_lapack_routine gsh_cuda_lapack_potrf, gsh_cuda_lapack_potrs;
gsh_cuda_lapack_routine gsh_cuda_lapack_lstsq, gsh_cuda_lapack_gels;
gsh_cuda_lapack_routine gsh_cuda_lapack_getri, gsh_cuda_lapack_potri, gsh_cuda_lapack_trtri;
gsh_cuda_lapack_routine gsh_cuda_lapack_sytrf, gsh_cuda_lapack_sytrs, gsh_cuda_lapack_sytri;

/* Triangular matrices of n rows, of which a system is to be solved. */
struct gsh_cuda_triangular {
    int64_t n, columns;
    gsh_cuda_enum triangle, op, diagonal; /* of a, as cuBLAS's */
    struct gsh_cuda_view a, b; /* `row` is 1; b: the right-hand sides, and then the solution */
};
/* `what` is one of those; one matrix at a time. */
gsh_cuda_lapack_step gsh_cuda_lapack_solve_triangular;

static inline enum gsh_lapack_routine gsh_cuda_lapack_which(const struct gsh_cuda_lapack_call *call)
{
    return call->launch->lapack.routine;
}
