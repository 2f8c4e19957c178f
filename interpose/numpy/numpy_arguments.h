/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments other than operands (casting, order, axis, shape, flags) in the forms that programs
 * use. Each function answers false for anything else, and leaves no Python error: the call is then
 * NumPy's to judge. GIL.
 */
#pragma once

#include "numpy_output.h"

enum gsh_order { GSH_ORDER_C, GSH_ORDER_F, GSH_ORDER_ANY, GSH_ORDER_KEEP }; /* NPY_ORDER */

/* True or False; NULL (not given) gives `absent`. */
bool gsh_numpy_arguments_flag(PyObject *object, bool absent, bool *flag);
/* A casting rule's name; NULL gives `absent`. */
bool gsh_numpy_arguments_casting(PyObject *object, enum gsh_casting absent,
                                 enum gsh_casting *casting);
/* A memory order's name; NULL gives `absent`. */
bool gsh_numpy_arguments_order(PyObject *object, enum gsh_order absent, enum gsh_order *order);
/* A Python int that fits int64, or a NumPy int64. */
bool gsh_numpy_arguments_int(PyObject *object, int64_t *value);
/* A Python int or a tuple or list of them, none negative, at most GSH_MAX_DIMS: layout->ndim and
 * shape. The product of the extents is in *elements; false where it overflows. */
bool gsh_numpy_arguments_shape(PyObject *object, struct gsh_layout *layout, int64_t *elements);
/* axis=: None, an int or a tuple of ints without doubles; reduced[i] tells whether dimension i is
 * meant. */
bool gsh_numpy_arguments_axes(PyObject *object, int ndim, bool *reduced);
/* The layout of a copy of the view in this order (PyArray_NewLikeArray). */
void gsh_numpy_arguments_lay_out(const struct gsh_view *view, enum gsh_order order, size_t itemsize,
                                 struct gsh_layout *layout);
/* True where the argument was not given or is None. */
static inline bool gsh_numpy_arguments_is_absent(PyObject *object)
{
    return !object || gsh_py_is_none(object);
}
