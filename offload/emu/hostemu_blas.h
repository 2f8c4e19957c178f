/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products of the `host` device: the inner loops of NumPy's matmul, so that results have NumPy's bits; else the
 * BLAS that the process has loaded already, else a well-known one from the system, else plain loops.
 */
#pragma once

#include "hostemu_lapack.h"
#include "launch.h"
#include "status.h"

/* Lends the process's own cblas_?gemm of a dtype, whose integers have 32 or 64 bits. */
void gsh_hostemu_set_blas(enum gsh_dtype dtype, void *gemm, int integer_bits);
/* Lends matmul's loop for a dtype. */
void gsh_hostemu_blas_lend(enum gsh_dtype dtype, gsh_hostemu_lapack_loop *loop, void *data);
/* True for products of all dtypes; with alpha and beta of real and complex numbers alone. */
bool gsh_hostemu_blas_supports(const struct gsh_launch *launch);
/* Computes a GEMM launch whose addresses are host addresses. */
enum gsh_status gsh_hostemu_blas_run(const struct gsh_launch *launch);
/* Where the products come from, for the doctor. */
const char *gsh_hostemu_blas_name(void);
