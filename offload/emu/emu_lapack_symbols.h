/* SPDX-License-Identifier: Apache-2.0
 *
 * LAPACK's own rows of lapack.def, by the Fortran functions of the process (host_routines.h).
 */
#pragma once

#include "launch.h"
#include "status.h"

/* True where the launch's function is available. */
bool gsh_emu_lapack_symbols_has(const struct gsh_launch *launch);
/* Computes such a launch. DECLINED: an info is not 0, or a number of GETRF, GELS or LSTSQ is not finite; the outputs
 * are undefined. FAILED: no memory. */
enum gsh_status gsh_emu_lapack_symbols_run(const struct gsh_launch *launch);
