/* SPDX-License-Identifier: Apache-2.0
 *
 * What SOLVE_CONDITIONED and INV_CONDITIONED ask of a matrix beside solving with it, on the host.
 */
#pragma once

#include "host_routines.h"
#include "status.h"

/* Whether each matrix of the launch's first operand is what these routines do not decline (GSH_LAPACK_CONDITION,
 * GSH_LAPACK_DENSE), by its inverse, which `invert`, the loop of INV for the launch's dtype, computes. May leave
 * floating-point flags raised. FAILED: no memory. */
enum gsh_status gsh_emu_lapack_condition_check(const struct gsh_launch *launch,
                                               gsh_host_routines_loop *invert, void *data);
/* Gives the inverses of symmetric and Hermitian matrices that structure, as GSH_LAPACK_DENSE says. */
void gsh_emu_lapack_condition_mirror(const struct gsh_launch *launch);
