/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the array that a reduction reads is a temporary which dies when the call returns, as in (a * b).sum(): then nobody
 * but the frames on the way to the hook has references to it, and how many these have is learnt, for each way of calling,
 * from small arrays. A guess; see expiring.h. GIL; no Python error is left behind.
 */
#pragma once

#include "numpy_method_patch.h"

/* Learns the ways, by Python code of its own: while NumPy is being imported, before the program can tell. `hook`, that of
 * ufunc.reduce, must be installed; nothing is learnt where it is not, or where a tracer would see it. */
void gsh_numpy_expiring_learn(struct gsh_method_hook *hook);
/* The way (expiring.h) by which `array` came to the hook of ufunc.reduce, where it dies with the call; else 0. */
unsigned gsh_numpy_expiring_find(PyObject *array);
/* The call has its result. */
void gsh_numpy_expiring_end(void);
