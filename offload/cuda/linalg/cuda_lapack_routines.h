/* SPDX-License-Identifier: Apache-2.0
 *
 * The routines, one file for each family: cuda_lapack_lu.c, _symmetric.c, _indefinite.c, _triangle.c, _qr.c, _gels.c,
 * _svd.c, _lstsq.c, _eig.c. They submit work and may wait; the caller judges at the end (gsh_cuda_lapack_call_judge).
 * DECLINED: a judge in between declined.
 */
#pragma once

#include "cuda_lapack_call.h"

typedef enum gsh_status gsh_cuda_lapack_routine(struct gsh_cuda_lapack_call *call);

gsh_cuda_lapack_routine gsh_cuda_lapack_lu_solve, gsh_cuda_lapack_lu_inv, gsh_cuda_lapack_lu_det;
gsh_cuda_lapack_routine gsh_cuda_lapack_lu_solve_conditioned, gsh_cuda_lapack_lu_inv_conditioned;
gsh_cuda_lapack_routine gsh_cuda_lapack_symmetric_cholesky, gsh_cuda_lapack_symmetric_eigh;
gsh_cuda_lapack_routine gsh_cuda_lapack_qr_raw, gsh_cuda_lapack_qr_form, gsh_cuda_lapack_qr_ormqr;
gsh_cuda_lapack_routine gsh_cuda_lapack_svd;
gsh_cuda_lapack_routine gsh_cuda_lapack_eig;
gsh_cuda_lapack_routine gsh_cuda_lapack_lu_getrf, gsh_cuda_lapack_lu_getrs,
    gsh_cuda_lapack_triangle_trtrs;
gsh_cuda_lapack_routine gsh_cuda_lapack_symmetric_potrf, gsh_cuda_lapack_symmetric_potrs;
gsh_cuda_lapack_routine gsh_cuda_lapack_lstsq, gsh_cuda_lapack_gels;
gsh_cuda_lapack_routine gsh_cuda_lapack_lu_getri, gsh_cuda_lapack_symmetric_potri,
    gsh_cuda_lapack_triangle_trtri;
gsh_cuda_lapack_routine gsh_cuda_lapack_indefinite_sytrf, gsh_cuda_lapack_indefinite_sytrs,
    gsh_cuda_lapack_indefinite_sytri;

/* Systems with triangular matrices of n rows. */
struct gsh_cuda_triangular {
    int64_t n, columns;
    gsh_cuda_enum triangle, op, diagonal; /* of a, as cuBLAS's */
    struct gsh_cuda_view a, b; /* `row` is 1; b: the right-hand sides, then the solution */
};
/* `what` is a struct gsh_cuda_triangular; one matrix at a time. */
gsh_cuda_lapack_step gsh_cuda_lapack_triangle_solve;

static inline enum gsh_lapack_routine gsh_cuda_lapack_which(const struct gsh_cuda_lapack_call *call)
{
    return call->launch->lapack.routine;
}
