/* SPDX-License-Identifier: Apache-2.0
 *
 * The handler (see gsh_ufunc_handler) for ufuncs that have a row in the op table.
 */
#pragma once

#include "numpy_ufunc_call.h"

PyObject *gsh_numpy_elementwise_try(const struct gsh_ufunc_call *request, enum gsh_reason *why,
                                    unsigned *row);
