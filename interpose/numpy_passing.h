/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the array that a reduction reads is a temporary which dies when the call returns, as in (a * b).sum(): then nobody
 * but the frames on the way to the hook has references to it, and how many these have is learnt, for each way of calling,
 * from small arrays. A guess; see passing.h. GIL; no Python error is left behind.
 */
#pragma once

#include "numpy_method_patch.h"

/* The way (passing.h) by which `array` came to the hook of ufunc.reduce, where it dies with the call; else 0. The first call
 * that gets so far learns the ways, for which `hook` must be installed. */
unsigned gsh_numpy_passing_find(struct gsh_method_hook *hook, PyObject *array);
/* The call has its result. */
void gsh_numpy_passing_end(void);
