/* SPDX-License-Identifier: Apache-2.0
 *
 * The checks that SOLVE_CONDITIONED and INV_CONDITIONED make of a matrix in addition to solving, on the host.
 */
#pragma once

#include "host_routines.h"
#include "status.h"

/* Whether these routines accept each matrix of the launch's first operand (GSH_LAPACK_CONDITION, GSH_LAPACK_DENSE).
 * The inverse is computed by `invert`, the loop of INV for the launch's dtype. May leave floating-point flags raised.
 * FAILED: no memory. */
enum gsh_status gsh_emu_lapack_condition_check(const struct gsh_launch *launch,
                                               gsh_host_routines_loop *invert, void *data);
/* Makes the inverses of symmetric and Hermitian matrices exactly symmetric or Hermitian, as GSH_LAPACK_DENSE
 * requires. */
void gsh_emu_lapack_condition_mirror(const struct gsh_launch *launch);
