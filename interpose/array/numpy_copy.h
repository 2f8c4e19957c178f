/* SPDX-License-Identifier: Apache-2.0
 *
 * A fresh array with the elements of another one, cast as a store casts: one COPY. A new reference; NULL and *why: declined,
 * nothing touched; NULL with *why NONE and a Python exception: it ran and met a floating-point error under errstate "raise".
 * *row: see gsh_numpy_output_row; `name` is the report's. GIL.
 */
#pragma once

#include "numpy_arguments.h"
#include "numpy_output.h"

/* The launch walks the view's shape, over which the output's strides are `strides`; the result has the layout's. */
PyObject *gsh_numpy_copy_run(const char *name, const struct gsh_view *view, enum gsh_dtype dtype,
                             const struct gsh_layout *layout, const int64_t *strides,
                             enum gsh_reason *why, unsigned *row);
/* In the memory order that PyArray_NewLikeArray gives. */
PyObject *gsh_numpy_copy_in_order(const char *name, const struct gsh_view *view,
                                  enum gsh_dtype dtype, enum gsh_order order, enum gsh_reason *why,
                                  unsigned *row);
