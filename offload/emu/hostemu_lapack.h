/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear algebra of the `host` device: the inner loops of NumPy's own generalised ufuncs, and the Fortran functions of a
 * LAPACK in the process for the rows that are LAPACK's (GETRF and on), borrowed, so that results have the lender's bits. The
 * conditioned rows have the loops of SOLVE and INV.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* NumPy's signature of an inner loop: the operands' addresses; the batch's extent, then the core dimensions'; the batch's
 * steps, then the core dimensions', operand after operand. */
typedef void gsh_hostemu_lapack_loop(char **args, const int64_t *dimensions, const int64_t *steps,
                                     void *data);

/* Lends the loop of a routine for this dtype. Of several the last counts. */
void gsh_hostemu_lapack_lend(enum gsh_lapack_routine routine, enum gsh_dtype dtype,
                             gsh_hostemu_lapack_loop *loop, void *data);
/* Lends the Fortran function (dgetrf_, dgelsd_, ...) of a routine that is LAPACK's, for this dtype, whose integers have
 * 32 or 64 bits. Of several the last counts. */
void gsh_hostemu_lapack_lend_symbol(enum gsh_lapack_routine routine, enum gsh_dtype loop,
                                    void (*function)(void), int integer_bits);
/* True where the launch's loop, or its function, was lent. */
bool gsh_hostemu_lapack_supports(const struct gsh_launch *launch);
/* Computes a LAPACK launch whose addresses are host addresses. DECLINED: the loop raised a floating-point error or found
 * eigenvalues that are NaN, or a function's info is not 0 or its input not finite. The thread's own floating-point flags stay
 * as they were. */
enum gsh_status gsh_hostemu_lapack_run(const struct gsh_launch *launch);
