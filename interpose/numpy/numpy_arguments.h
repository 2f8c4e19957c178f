/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses arguments other than operands (casting, order, axis, shape, flags) in their common forms.
 * For any other form a function returns false and sets no Python error; the call is then left to
 * NumPy. GIL.
 */
#pragma once

#include "numpy_output.h"

enum gsh_order { GSH_ORDER_C, GSH_ORDER_F, GSH_ORDER_ANY, GSH_ORDER_KEEP }; /* NPY_ORDER */

/* True or False; NULL (not given) gives `absent`. */
bool gsh_numpy_arguments_flag(PyObject *object, bool absent, bool *flag);
/* A casting rule's name; NULL gives `absent`. */
bool gsh_numpy_arguments_casting(PyObject *object, enum gsh_casting absent,
                                 enum gsh_casting *casting);
/* A memory order's name; NULL and None give `absent`. */
bool gsh_numpy_arguments_order(PyObject *object, enum gsh_order absent, enum gsh_order *order);
/* A Python int that fits int64, or a NumPy int64. */
bool gsh_numpy_arguments_int(PyObject *object, int64_t *value);
/* A non-negative Python int, or a tuple or list of at most GSH_MAX_DIMS of them: sets layout->ndim
 * and shape. *elements is the product of the extents; false if it overflows. */
bool gsh_numpy_arguments_shape(PyObject *object, struct gsh_layout *layout, int64_t *elements);
/* axis=: None, an int, or a tuple of distinct ints. Sets reduced[i] for each selected dimension i.
 */
bool gsh_numpy_arguments_axes(PyObject *object, int ndim, bool *reduced);
/* The layout of a copy of the view in this order (PyArray_NewLikeArray). */
void gsh_numpy_arguments_lay_out(const struct gsh_view *view, enum gsh_order order, size_t itemsize,
                                 struct gsh_layout *layout);
/* numpy._NoValue, which NumPy's functions in Python pass on for an argument that was not given. Borrowed; NULL: not found. */
PyObject *gsh_numpy_arguments_no_value(void);
/* numpy._CopyMode.IF_NEEDED, which the compatibility layer of the array API passes as copy=. Borrowed; NULL: not found. */
PyObject *gsh_numpy_arguments_if_needed(void);
/* Whether the argument was not given or is None. */
static inline bool gsh_numpy_arguments_is_absent(PyObject *object)
{
    return !object || gsh_py_is_none(object);
}
