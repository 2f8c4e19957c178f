/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts a 0-d device result to the NumPy scalar that reductions and inner products return. GIL.
 */
#pragma once

#include "python_api.h"

/* The scalar of a 0-d array. Steals the array; an array on the device is not fetched. NULL without
 * a Python error: NumPy cannot make one. */
PyObject *gsh_numpy_scalar_from_array(PyObject *array);
