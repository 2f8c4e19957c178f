/* SPDX-License-Identifier: Apache-2.0
 *
 * One array of integers as the index of one axis: gather (a[..., index, ...] and take) and scatter
 * (a[..., index, ...] = x). An index out of bounds is found before anything is touched, or by the
 * gather itself; the call is declined then, and NumPy raises. GIL.
 */
#pragma once

#include "numpy_describe.h"

/* An index key as an array of integers: itself, or a new one made of a list of exact ints. A new
 * reference, or NULL and no Python error: neither of the two. */
PyObject *gsh_numpy_take_index(PyObject *key);

/* NumPy's function of that name of x and y, both taken over, wherever it decides to run. NULL
 * and no Python error: it failed, or x or y is NULL. */
PyObject *gsh_numpy_take_apply(const char *function, PyObject *x, PyObject *y);
/* The index, taken over, as int64. NULL and no Python error: it failed. */
PyObject *gsh_numpy_take_widen(PyObject *index);

/* How the result of a gather lies in memory. */
enum gsh_take_order {
    GSH_TAKE_C_ORDER, /* as ndarray.take's */
    GSH_TAKE_INDEX_ORDER /* as a[index]'s: the index' dimensions outermost, then a's by stride; behind other axes a view */
};

/* view[:, ..., index, ..., :] with the index at `axis`; is_safe: it is known to be in bounds.
 * NULL and *why: declined. */
PyObject *gsh_numpy_take_gather(const struct gsh_view *view, int axis, PyObject *index,
                                bool is_safe, enum gsh_take_order order, enum gsh_reason *why,
                                unsigned *row);
/* view[:, ..., index, ..., :] = source, the view's elements being the array's; of equal indices the
 * last one wins. */
bool gsh_numpy_take_scatter(PyObject *array, const struct gsh_view *view, int axis, PyObject *index,
                            bool is_safe, PyObject *source, enum gsh_reason *why, unsigned *row);
/* axis= of take, repeat and compress: the dimension, or, where it is absent or None, the view
 * flattened (*flat is then its extent, and must live as long as the view). False: no such axis, or
 * flattening would copy. */
bool gsh_numpy_take_resolve_axis(PyObject *object, struct gsh_view *view, int *axis, int64_t *flat);
