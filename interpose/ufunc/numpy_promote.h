/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the loop of a ufunc call. NumPy's own resolver decides: the original is called once per
 * combination on one-element arrays of the operands' dtypes, and the result is cached. Promotion
 * rules are not duplicated here. GIL.
 */
#pragma once

#include "numpy_loops.h"
#include "numpy_ufunc_call.h"

/* *loop = the loop that NumPy selects for this call (of a row of the op table) with these inputs.
 * outs[j]: the dtype of the given output j, or -1. DTYPE or UNSUPPORTED: the device does not have
 * the loop. OPERAND: the call must be left to NumPy, which may refuse it. Sets no Python error. */
enum gsh_reason gsh_numpy_promote(const struct gsh_ufunc_call *call,
                                  const struct gsh_argument *arguments, const int *outs,
                                  const struct gsh_numpy_loop **loop);
/* Lets NumPy report floating-point flags (FE_*) as it would if this loop of the ufunc had raised them: by a call on one element,
 * whose loop raises them. False: a Python exception is set. */
bool gsh_numpy_promote_raise(const struct gsh_ufunc *ufunc, const struct gsh_numpy_loop *loop,
                             int flags);
/* Prepares the one-element arrays. False: out of memory; gsh_numpy_promote must not be used. */
bool gsh_numpy_promote_init(void);
