/* SPDX-License-Identifier: Apache-2.0
 *
 * a[i], a[i, j] and a[i] = x with integers only: one element. Where only the device holds it, the
 * element moves and its chunk stays (element.h). Keys, values and arrays of any other kind, indices
 * out of bounds, and elements on the host are left to NumPy. GIL.
 */
#pragma once

#include "python_api.h"

/* NumPy's scalar. NULL without a Python error: left to NumPy. */
PyObject *gsh_numpy_element_read(PyObject *self, PyObject *key);

/* a[key] = value for a scalar that NumPy casts to the array's dtype without an error or a warning, or a 0-d array of that dtype. False without a
 * Python error: left to NumPy; nothing was changed. */
bool gsh_numpy_element_store(PyObject *self, PyObject *key, PyObject *value);
