/* SPDX-License-Identifier: Apache-2.0
 *
 * The methods by which cuda_lapack_svd.c decomposes A = U S V^H, and the check of their results.
 */
#pragma once

#include "cuda_lapack_routines.h"

/* Matrices one after the other, column by column: `a` is rows x columns and is overwritten, `u` rows x rows, `s` the
 * singular values in descending order, `v` columns x columns (V, not its transpose). */
struct gsh_cuda_lapack_svd {
    int64_t rows, columns; /* rows >= columns */
    uint64_t a, u, s, v;
    uint64_t copy, scaled, gram; /* of take_checks; copy: the original `a` */
    uint64_t sums;               /* of squares; one integer for each comparison of each matrix */
};

/* Allocates the copy of `count` matrices, and the workspace of compare and iterate. */
enum gsh_status gsh_cuda_lapack_svd_methods_take_checks(struct gsh_cuda_lapack_call *call,
                                                        struct gsh_cuda_lapack_svd *svd,
                                                        int64_t count);

/* Jacobi's method for `count` matrices; rows <= GSH_CUDA_LAPACK_JACOBI. `matrix`: index of the first one's info. */
enum gsh_status gsh_cuda_lapack_svd_methods_jacobi(struct gsh_cuda_lapack_call *call,
                                                   const struct gsh_cuda_lapack_svd *svd,
                                                   int64_t matrix, int64_t count);
/* Polar decomposition of one square matrix. */
enum gsh_status gsh_cuda_lapack_svd_methods_polar(struct gsh_cuda_lapack_call *call,
                                                  const struct gsh_cuda_lapack_svd *svd,
                                                  int64_t matrix);
/* QR iteration of one square matrix. */
enum gsh_status gsh_cuda_lapack_svd_methods_iterate(struct gsh_cuda_lapack_call *call,
                                                    const struct gsh_cuda_lapack_svd *svd,
                                                    int64_t matrix);

/* Raises the flag where u or v is not orthogonal, or u s v^H is not `copy`, by the Frobenius norm and up to a small
 * multiple of rounding. Overwrites `copy`. */
enum gsh_status gsh_cuda_lapack_svd_methods_compare(struct gsh_cuda_lapack_call *call,
                                                    const struct gsh_cuda_lapack_svd *svd,
                                                    int64_t count);

/* The singular values and vectors of one square matrix, by the first method that succeeds. The matrix is the upper
 * left part of x, whose columns are `rows` long; if `rows` exceeds core->columns it is the triangle R stored there.
 * Overwrites core->a, keeps x. Waits; DECLINED: no method succeeds. */
enum gsh_status gsh_cuda_lapack_svd_core(struct gsh_cuda_lapack_call *call,
                                         const struct gsh_cuda_lapack_svd *core, int64_t rows,
                                         uint64_t x, int64_t matrix);
