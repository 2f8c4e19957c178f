/* SPDX-License-Identifier: Apache-2.0
 *
 * Where an array is true: nonzero and what is made of it. NULL and *why: declined, nothing touched.
 * GIL.
 */
#pragma once

#include "numpy_describe.h"

/* nonzero(array) for an array of any dtype and at least one dimension: a tuple of views of one
 * array, as NumPy's. */
PyObject *gsh_numpy_nonzero_find(PyObject *array, enum gsh_reason *why, unsigned *row);
/* The positions of the trues of an array of bool of one dimension. */
PyObject *gsh_numpy_nonzero_positions(PyObject *mask, enum gsh_reason *why);
