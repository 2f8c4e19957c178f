/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays without dimensions that lie in an array on the device, as a[-1, ...] makes them: NumPy reads one element. It gets a
 * copy, and the element's chunk stays where it is. GIL.
 */
#pragma once

#include "numpy_abi.h"

#define GSH_SINGLE_MOST 4 /* positional operands that are looked at */

/* The positional operands of a ufunc call, with NumPy's scalars in place of such arrays. */
struct gsh_single {
    PyObject *values[GSH_SINGLE_MOST];
    PyObject *kept[GSH_SINGLE_MOST]; /* the scalars; NULL: the caller's operand */
    size_t count;
};

/* False: no operand is such an array, or there are more than GSH_SINGLE_MOST operands. Else gsh_numpy_single_drop ends it. */
bool gsh_numpy_single_copy(PyObject *const *args, size_t nargs, struct gsh_single *single);
void gsh_numpy_single_drop(struct gsh_single *single);
