/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies an array into a fresh one with the cast of a store, as one COPY. Returns a new reference.
 * NULL and *why: declined, nothing was changed. NULL with *why NONE and a Python exception: the
 * copy ran and met a floating-point error under errstate "raise". *row: see gsh_numpy_output_row;
 * `name` is the name in the report. GIL.
 */
#pragma once

#include "numpy_arguments.h"
#include "numpy_output.h"

/* The launch iterates over the view's shape. `strides` are the output's strides over that shape.
 * The result gets the layout. */
PyObject *gsh_numpy_copy_run(const char *name, const struct gsh_view *view, enum gsh_dtype dtype,
                             const struct gsh_layout *layout, const int64_t *strides,
                             enum gsh_reason *why, unsigned *row);
/* As above, in the memory order that PyArray_NewLikeArray gives. */
PyObject *gsh_numpy_copy_in_order(const char *name, const struct gsh_view *view,
                                  enum gsh_dtype dtype, enum gsh_order order, enum gsh_reason *why,
                                  unsigned *row);
