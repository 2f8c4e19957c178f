/* SPDX-License-Identifier: Apache-2.0
 *
 * Positions of an array's true elements: nonzero and functions based on it. NULL and *why:
 * declined, nothing was changed. GIL.
 */
#pragma once

#include "numpy_describe.h"

/* nonzero(array) for an array of any dtype with at least one dimension: a tuple of views of one
 * array, as NumPy returns it. */
PyObject *gsh_numpy_nonzero_find(PyObject *array, enum gsh_reason *why, unsigned *row);
/* The positions of the true elements of a one-dimensional bool array. */
PyObject *gsh_numpy_nonzero_positions(PyObject *mask, enum gsh_reason *why);
