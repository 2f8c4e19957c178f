/* SPDX-License-Identifier: Apache-2.0
 *
 * The handler (see gsh_ufunc_handler) of matmul and the gufuncs like it.
 */
#pragma once

#include "numpy_ufunc.h"

PyObject *gsh_numpy_matmul_try(const struct gsh_ufunc_call *call, enum gsh_reason *why,
                               unsigned *row);
/* True for the names of the gufuncs whose handler it is. */
bool gsh_numpy_matmul_has(const char *gufunc);
