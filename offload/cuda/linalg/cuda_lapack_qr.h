/* SPDX-License-Identifier: Apache-2.0
 *
 * One QR factorisation, also used by other routines.
 */
#pragma once

#include "cuda_lapack_routines.h"

/* A matrix of m rows, column by column, at `a`; the factors of its reflectors at `tau`. */
struct gsh_cuda_lapack_qr {
    int64_t m, columns, reflectors;
    uint64_t a, tau;
    gsh_cuda_enum op; /* for apply: cuBLAS's operation on Q */
    uint64_t c;       /* for apply: m x columns, or where is_right columns x m */
    bool is_right;
};

/* Overwrites the m x columns matrix with R and, below it, the vectors of the reflectors. `matrix`: index of its info. */
enum gsh_status gsh_cuda_lapack_qr_factor(struct gsh_cuda_lapack_call *call,
                                          const struct gsh_cuda_lapack_qr *qr, int64_t matrix);
/* Overwrites the reflectors with the first `columns` columns of Q. */
enum gsh_status gsh_cuda_lapack_qr_expand(struct gsh_cuda_lapack_call *call,
                                          const struct gsh_cuda_lapack_qr *qr, int64_t matrix);
/* Overwrites c with Q, or its (conjugate) transpose, times c; where is_right, with c times that. */
enum gsh_status gsh_cuda_lapack_qr_apply(struct gsh_cuda_lapack_call *call,
                                         const struct gsh_cuda_lapack_qr *qr, int64_t matrix);
