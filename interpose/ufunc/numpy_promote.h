/* SPDX-License-Identifier: Apache-2.0
 *
 * Which loop a ufunc call takes: NumPy's own resolver decides, asked once per combination by a call
 * of the original on one-element arrays of the operands' dtypes, and remembered. Promotion rules
 * are not repeated here. GIL.
 */
#pragma once

#include "numpy_loops.h"
#include "numpy_ufunc_call.h"

/* *loop = the loop that NumPy takes for this call (of a row of the op table) with these inputs;
 * outs[j]: the dtype of the array given as output j, or -1. DTYPE or UNSUPPORTED: none that the
 * device has; OPERAND: one that must be left to NumPy, which may refuse the call. Sets no Python
 * error. */
enum gsh_reason gsh_numpy_promote(const struct gsh_ufunc_call *call,
                                  const struct gsh_argument *arguments, const int *outs,
                                  const struct gsh_numpy_loop **loop);
/* Prepares the one-element arrays. False: out of memory; promote then must not be used. */
bool gsh_numpy_promote_init(void);
