/* SPDX-License-Identifier: Apache-2.0
 *
 * Which loop a ufunc call takes: NumPy's own resolver decides, asked once per combination by a call
 * of the original on empty arrays of the operands' dtypes, and remembered. Promotion rules are not
 * repeated here. GIL.
 */
#pragma once

#include "numpy_describe.h"

/* *loop = the dtype that NumPy's loop of this ufunc (a row of the op table) computes in for these
 * arguments. DTYPE or UNSUPPORTED: none that the device has; OPERAND: a scalar that must be left to
 * NumPy. Sets no Python error. */
enum gsh_reason gsh_numpy_promote(PyObject *ufunc, enum gsh_op op,
                                  const struct gsh_argument *arguments, enum gsh_dtype *loop);
/* Prepares the empty arrays. False: out of memory; promote then declines everything. */
bool gsh_numpy_promote_init(void);
