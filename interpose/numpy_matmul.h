/* SPDX-License-Identifier: Apache-2.0
 *
 * The handler (see gsh_ufunc_handler) of the matmul ufunc.
 */
#pragma once

#include "numpy_ufunc.h"

PyObject *gsh_numpy_matmul_try(const struct gsh_ufunc_call *call, enum gsh_reason *why,
                               unsigned *row);
