/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products of the emulated device. The inner loops of NumPy's matmul, so that results have NumPy's bits; else
 * the BLAS that the process has loaded (both: host_routines.h), else a well-known one from the system, else plain
 * loops.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* True for products of all dtypes; with alpha and beta, of real and complex numbers only. */
bool gsh_emu_blas_supports(const struct gsh_launch *launch);
/* Computes a GEMM launch whose addresses are host addresses. */
enum gsh_status gsh_emu_blas_run(const struct gsh_launch *launch);
/* The name of what computes the products, for the doctor. */
const char *gsh_emu_blas_name(void);
