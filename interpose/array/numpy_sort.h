/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorts along an axis, as SORT launches. NULL or false and *why: declined, nothing was changed. *row: see
 * gsh_numpy_output_row. GIL; no Python error.
 */
#pragma once

#include "numpy_arguments.h"

/* The places of the view's elements in stable order along the axis: a new array of int64 in C order. `name` is that of the
 * report's row. */
PyObject *gsh_numpy_sort_order(const char *name, const struct gsh_view *view, int axis,
                               enum gsh_reason *why, unsigned *row);
/* Sorts the array, which is writeable, along the axis in place. */
bool gsh_numpy_sort_in_place(const char *name, PyObject *array, int axis, enum gsh_reason *why,
                             unsigned *row);
