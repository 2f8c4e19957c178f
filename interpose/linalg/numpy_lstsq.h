/* SPDX-License-Identifier: Apache-2.0
 *
 * The gufuncs behind numpy.linalg.lstsq (lstsq; lstsq_m and lstsq_n before NumPy 2.1): LAPACK's least squares with the
 * solution cut out of what they leave, the residuals' squares summed up and the rank counted. GIL.
 */
#pragma once

#include "numpy_ufunc.h"

/* a, b, rcond; x, residuals, rank, singular values: their dtypes, as lapack.def names them. */
enum { GSH_NUMPY_LSTSQ_RCOND = 2, GSH_NUMPY_LSTSQ_INPUTS = 3, GSH_NUMPY_LSTSQ_OUTPUTS = 4 };
extern const struct gsh_lapack_operand
    gsh_numpy_lstsq_operands[GSH_NUMPY_LSTSQ_INPUTS + GSH_NUMPY_LSTSQ_OUTPUTS];

/* Lends ?gelsd of NumPy's own LAPACK to the host device, which may have another library's by then. */
void gsh_numpy_lstsq_lend(void);
/* rcond as given, for a loop. OPERAND: no scalar; DTYPE: NumPy has to cast it. */
enum gsh_reason gsh_numpy_lstsq_tolerance(PyObject *rcond, enum gsh_dtype loop, double *tolerance);
/* What the gufunc returns for one matrix, by the launch that has run and its outputs, which are given up. NULL and *why:
 * declined; no Python error is left. */
PyObject *gsh_numpy_lstsq_finish(const struct gsh_call *call, PyObject *const *outs,
                                 enum gsh_reason *why);
