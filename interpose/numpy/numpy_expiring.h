/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the array that a reduction reads is an expiring value: a temporary that dies when the
 * call returns, as in (a * b).sum(). In that case only the frames between the caller and the hook
 * hold references. The reference count of each call site is learnt from small arrays. The answer is
 * a prediction; see expiring.h. GIL; leaves no Python error.
 */
#pragma once

#include "numpy_method_patch.h"

/* Learns the call sites by running Python code. Called during NumPy's import, when the program
 * cannot observe it. `hook` is the installed hook of ufunc.reduce. Learns nothing if the hook is
 * not installed or a tracer would see the code. */
void gsh_numpy_expiring_learn(struct gsh_method_hook *hook);
/* The number of the call site (expiring.h) if `array`, passed to ufunc.reduce, is an expiring
 * value; else 0. */
unsigned gsh_numpy_expiring_find(PyObject *array);
/* Called when the call has its result. */
void gsh_numpy_expiring_end(void);
