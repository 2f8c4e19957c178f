/* SPDX-License-Identifier: Apache-2.0
 *
 * Boolean masks over an array's leading dimensions: a[mask] and a[mask] = x. The mask is an exact
 * bool array with at least one dimension. Declined: NULL or false and *why, nothing was changed.
 * GIL.
 */
#pragma once

#include "numpy_describe.h"

/* array[mask]. */
PyObject *gsh_numpy_mask_extract(PyObject *array, PyObject *mask, enum gsh_reason *why,
                                 unsigned *row);
/* array[mask] = source. */
bool gsh_numpy_mask_assign(PyObject *array, PyObject *mask, PyObject *source, enum gsh_reason *why,
                           unsigned *row);
