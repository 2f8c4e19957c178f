/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear algebra of the `host` device: the inner loops of NumPy's own generalised ufuncs, and the Fortran functions of a
 * LAPACK in the process for the rows that are LAPACK's (GETRF and on), as host_routines.h has them. The conditioned rows have
 * the loops of SOLVE and INV.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* True where the launch's loop, or its function, was lent. */
bool gsh_emu_lapack_supports(const struct gsh_launch *launch);
/* Computes a LAPACK launch whose addresses are host addresses. DECLINED: the loop raised a floating-point error or found
 * eigenvalues that are NaN, or a function's info is not 0 or its input not finite. The thread's own floating-point flags stay
 * as they were. */
enum gsh_status gsh_emu_lapack_run(const struct gsh_launch *launch);
