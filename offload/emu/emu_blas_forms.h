/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of forms other than GE (launch.h) on the emulated device: by the Fortran functions of a BLAS in the
 * process (host_routines.h), else by plain loops.
 */
#pragma once

#include "launch.h"

/* True where such a function takes the strides. */
bool gsh_emu_blas_forms_supports(const struct gsh_launch *launch);
/* Computes such a launch, whose addresses are host addresses. */
void gsh_emu_blas_forms_run(const struct gsh_launch *launch);
