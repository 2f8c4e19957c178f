/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of forms other than GE (launch.h) on the `host` device: by the Fortran functions of a BLAS in the process,
 * borrowed, so that results have the lender's bits; else by plain loops.
 */
#pragma once

#include "launch.h"

/* Lends the Fortran function (dsyrk_, ztrmm_, ...) of a form for this dtype, whose integers have 32 or 64 bits. Of several
 * the last counts. */
void gsh_hostemu_blas_lend_form(enum gsh_gemm_form form, enum gsh_dtype dtype,
                                void (*function)(void), int integer_bits);
/* True where the strides are such a function's. */
bool gsh_hostemu_blas_forms_supports(const struct gsh_launch *launch);
/* Computes such a launch, whose addresses are host addresses. */
void gsh_hostemu_blas_forms_run(const struct gsh_launch *launch);
