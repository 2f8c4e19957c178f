/* SPDX-License-Identifier: Apache-2.0
 *
 * The gufuncs behind numpy.linalg.lstsq (lstsq; lstsq_m and lstsq_n before NumPy 2.1): LAPACK's
 * least squares. The solution is cut out of LAPACK's output, the squares of the residuals are
 * summed and the rank is counted. GIL.
 */
#pragma once

#include "numpy_ufunc.h"

/* a, b, rcond; x, residuals, rank, singular values: the operands and dtypes as in lapack.def. */
enum { GSH_NUMPY_LSTSQ_RCOND = 2, GSH_NUMPY_LSTSQ_INPUTS = 3, GSH_NUMPY_LSTSQ_OUTPUTS = 4 };
extern const struct gsh_lapack_operand
    gsh_numpy_lstsq_operands[GSH_NUMPY_LSTSQ_INPUTS + GSH_NUMPY_LSTSQ_OUTPUTS];

/* Registers ?gelsd of NumPy's own LAPACK with the host device, which may already have another library's.
 */
void gsh_numpy_lstsq_register(void);
/* Reads rcond for the given loop. OPERAND: not a scalar; DTYPE: NumPy would have to cast it. */
enum gsh_reason gsh_numpy_lstsq_tolerance(PyObject *rcond, enum gsh_dtype loop, double *tolerance);
/* The gufunc's return value for one matrix, from the finished launch and its outputs. Steals the
 * outputs. NULL and *why: declined; no Python error is left. */
PyObject *gsh_numpy_lstsq_finish(const struct gsh_call *call, PyObject *const *outs,
                                 enum gsh_reason *why);
