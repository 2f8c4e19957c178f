/* SPDX-License-Identifier: Apache-2.0
 *
 * One QR factorisation, for other routines too.
 */
#pragma once

#include "cuda_lapack_routines.h"

/* A matrix of m rows, column by column, at `a`; the factors of its reflectors at `tau`. */
struct gsh_cuda_lapack_qr {
    int64_t m, columns, reflectors;
    uint64_t a, tau;
    gsh_cuda_enum op; /* of apply: cuBLAS's, on Q */
    uint64_t c;       /* of apply: m x columns, or where is_right columns x m */
    bool is_right;
};

/* R, and below it the vectors of the reflectors, take the place of the m x columns matrix. `matrix`: whose info it is. */
enum gsh_status gsh_cuda_lapack_qr_factor(struct gsh_cuda_lapack_call *call,
                                          const struct gsh_cuda_lapack_qr *qr, int64_t matrix);
/* The first `columns` columns of Q take the place of the reflectors. */
enum gsh_status gsh_cuda_lapack_qr_expand(struct gsh_cuda_lapack_call *call,
                                          const struct gsh_cuda_lapack_qr *qr, int64_t matrix);
/* Q, or its (conjugate) transpose, times c takes the place of c; where is_right, c times that. */
enum gsh_status gsh_cuda_lapack_qr_apply(struct gsh_cuda_lapack_call *call,
                                         const struct gsh_cuda_lapack_qr *qr, int64_t matrix);
