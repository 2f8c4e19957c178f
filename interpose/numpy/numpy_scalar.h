/* SPDX-License-Identifier: Apache-2.0
 *
 * A device result without dimensions, as the NumPy scalar that reductions and inner products
 * return. GIL.
 */
#pragma once

#include "python_api.h"

/* The scalar of a 0-d array, which is given up; on the device it stays closed. NULL, without a
 * Python error, where NumPy cannot make one. */
PyObject *gsh_numpy_scalar_from_array(PyObject *array);
