/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear algebra of the emulated device: the inner loops of NumPy's own generalised ufuncs, and for LAPACK's own rows
 * (GETRF and later) the Fortran functions of a LAPACK in the process (host_routines.h). The conditioned rows use the
 * loops of SOLVE and INV.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* True where the launch's loop or function is available. */
bool gsh_emu_lapack_supports(const struct gsh_launch *launch);
/* Computes a LAPACK launch whose addresses are host addresses. DECLINED: the loop raised a floating-point error or
 * found NaN eigenvalues, or a function's info is not 0 or its input not finite. The thread's floating-point flags are
 * unchanged. */
enum gsh_status gsh_emu_lapack_run(const struct gsh_launch *launch);
