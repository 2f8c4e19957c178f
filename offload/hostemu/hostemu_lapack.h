/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear algebra of the `host` device: the inner loops of NumPy's own generalised ufuncs, borrowed, so that results have
 * NumPy's bits.
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
/* True where the launch's loop was lent. */
bool gsh_hostemu_lapack_supports(const struct gsh_launch *launch);
/* Computes a LAPACK launch whose addresses are host addresses. DECLINED: the loop raised a floating-point error. The
 * thread's own floating-point flags stay as they were. */
enum gsh_status gsh_hostemu_lapack_run(const struct gsh_launch *launch);
