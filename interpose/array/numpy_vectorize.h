/* SPDX-License-Identifier: Apache-2.0
 *
 * numpy.vectorize of a Python function of arithmetic, composed (numpy_composed_vectorize.py). The class is NumPy's own in Python. Its
 * tp_call is replaced, which no Python code sees, and which Python sets again where a program gives the class another __call__. The
 * tp_call of a subclass is another.
 */
#pragma once

#include "python_api.h"

/* `globals`: the dictionary of the module that has defined the class. GIL; leaves no Python error. */
void gsh_numpy_vectorize_adopt(PyObject *globals);
