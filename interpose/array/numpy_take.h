/* SPDX-License-Identifier: Apache-2.0
 *
 * One integer array as the index of one axis: gather (a[..., index, ...] and take) and scatter
 * (a[..., index, ...] = x). A scatter checks the indices before it writes; a gather may check them
 * itself. If an index is out of bounds, the call is declined and NumPy raises the error. GIL.
 */
#pragma once

#include "numpy_arguments.h"

/* The index key as an integer array: the key itself, or a new array made from a list of exact ints.
 * A new reference. NULL and no Python error: the key is neither. */
PyObject *gsh_numpy_take_index(PyObject *key);
/* Whether the object is an array without elements, or an empty list. */
bool gsh_numpy_take_is_empty(PyObject *object);

/* Calls NumPy's function of that name on x and y, on the device or the host. Steals both. NULL and
 * no Python error: it failed, or x or y is NULL. */
PyObject *gsh_numpy_take_apply(const char *function, PyObject *x, PyObject *y);
/* The index as int64. Steals the index. NULL and no Python error: it failed. */
PyObject *gsh_numpy_take_widen(PyObject *index);

/* Memory order of the result of a gather. */
enum gsh_take_order {
    GSH_TAKE_C_ORDER,    /* as ndarray.take */
    GSH_TAKE_INDEX_ORDER /* as a[index]: index dimensions outermost; axis > 0: a view */
};

/* view[:, ..., index, ..., :] with the index at `axis`. is_safe: all indices are known to be in
 * bounds. NULL and *why: declined. */
PyObject *gsh_numpy_take_gather(const struct gsh_view *view, int axis, PyObject *index,
                                bool is_safe, enum gsh_take_order order, enum gsh_reason *why,
                                unsigned *row);
/* Whether the object is one integer: a Python int, a NumPy int64, or an array without dimensions, which is fetched to the host. */
bool gsh_numpy_take_is_place(PyObject *object, int64_t *at);
/* A copy in this order of the elements at place `at` of the axis, which the result lacks; of a view of one dimension a scalar. NULL and
 * *why: declined, as for a place that is out of bounds. */
PyObject *gsh_numpy_take_one(const struct gsh_view *view, int axis, int64_t at,
                             enum gsh_order order, enum gsh_reason *why, unsigned *row);
/* view[:, ..., index, ..., :] = source; the view describes elements of the array. If an index
 * occurs more than once, the last value is stored. */
bool gsh_numpy_take_scatter(PyObject *array, const struct gsh_view *view, int axis, PyObject *index,
                            bool is_safe, PyObject *source, enum gsh_reason *why, unsigned *row);
/* axis= of take, repeat and compress. If it is absent or None, the view is flattened: *flat becomes
 * its extent and must live as long as the view. False: no such axis, or flattening would need a
 * copy. */
bool gsh_numpy_take_resolve_axis(PyObject *object, struct gsh_view *view, int *axis, int64_t *flat);
