/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The index arithmetic is done with NumPy's own functions, each of which may run on
 * the device or the host.
 */
#include "numpy_choice.h"

#include "numpy_nonzero.h"
#include "numpy_probe.h"
#include "numpy_take.h"
#include "python_error.h"

#include <string.h>

/* The key with full slices in place of the indexes. */
static PyObject *make_slices(PyObject *object, const struct gsh_key *key)
{
    Py_ssize_t count = gsh_py.PyTuple_Size(object);
    PyObject *slices = gsh_py.PyTuple_New(count), *none = gsh_py._Py_NoneStruct;
    for (Py_ssize_t i = 0; slices && i < count; i++) {
        PyObject *item = gsh_py.PyTuple_GetItem(object, i);
        bool is_index = false;
        for (int k = 0; k < key->count; k++)
            is_index |= item == key->items[k];
        if (is_index)
            item = gsh_py.PySlice_New(none, none, none);
        else
            gsh_py.Py_IncRef(item);
        gsh_py.PyTuple_SetItem(slices, i, item); /* steals */
    }
    return slices;
}

/* The array that the indexes apply to: the slices of the key applied. A new reference, or NULL and
 * no Python error. */
static PyObject *make_view(PyObject *self, PyObject *object, const struct gsh_key *key,
                           PyObject *(*subscript)(PyObject *, PyObject *))
{
    if (gsh_py_type(object) != gsh_py.PyTuple_Type) {
        gsh_py.Py_IncRef(self);
        return self;
    }
    PyObject *slices = make_slices(object, key);
    PyObject *view = slices ? subscript(self, slices) : NULL;
    if (slices)
        gsh_py.Py_DecRef(slices);
    if (!view)
        gsh_python_error_clear();
    return view;
}

/* Item k of the key as an array of integers; NULL: declined. */
static PyObject *make_index(struct gsh_choice *choice, const struct gsh_key *key, int k,
                            enum gsh_reason *why)
{
    PyObject *item = key->items[k];
    int64_t extent = choice->view.shape[key->axes[k]];
    *why = GSH_REASON_OPERAND;
    PyObject *index = gsh_numpy_take_index(item);
    if (!index || gsh_numpy_dtype(gsh_numpy_array(index)->descr) != GSH_BOOL)
        return index;
    *why = GSH_REASON_SHAPE;
    PyObject *positions = gsh_numpy_array(index)->dimensions[0] == extent
                              ? gsh_numpy_nonzero_positions(index, why)
                              : NULL;
    gsh_py.Py_DecRef(index);
    choice->selects_nothing = positions != NULL && gsh_numpy_array(positions)->dimensions[0] == 0;
    if (!choice->selects_nothing)
        return positions;
    gsh_py.Py_DecRef(positions);
    return NULL;
}

/* Whether index k can be joined with others: it is in bounds, and its axis steps upwards by whole
 * elements. */
static bool may_join(const struct gsh_choice *choice, PyObject *index, int axis,
                     enum gsh_reason *why)
{
    int64_t least, greatest, extent = choice->view.shape[axis];
    int64_t itemsize = (int64_t)gsh_dtype_size(choice->view.dtype);
    const struct gsh_ndarray *array = gsh_numpy_array(index);
    *why = GSH_REASON_LAYOUT;
    if (choice->view.strides[axis] < 0 || choice->view.strides[axis] % itemsize != 0 ||
        gsh_numpy_dtype(array->descr) < 0)
        return false;
    *why = GSH_REASON_SHAPE;
    if (array->nd == 0 || gsh_numpy_describe_size(array) == 0)
        return false;
    if (!gsh_numpy_probe_range(index, &least, &greatest, why))
        return false;
    *why = GSH_REASON_OPERAND;
    return least >= -extent && greatest < extent;
}

/* (index modulo its extent) times its step in elements. Steals the index. */
static PyObject *make_term(PyObject *index, int64_t extent, int64_t step)
{
    PyObject *within = gsh_numpy_take_apply("remainder", gsh_numpy_take_widen(index),
                                            gsh_py.PyLong_FromLongLong(extent));
    return gsh_numpy_take_apply("multiply", within, gsh_py.PyLong_FromLongLong(step));
}

/* The sum of all indexes' terms. */
static PyObject *join_indexes(struct gsh_choice *choice, const struct gsh_key *key,
                              enum gsh_reason *why)
{
    PyObject *sum = NULL;
    int64_t itemsize = (int64_t)gsh_dtype_size(choice->view.dtype);
    for (int k = 0; k < key->count; k++) {
        int axis = key->axes[k];
        PyObject *index = make_index(choice, key, k, why);
        if (index && may_join(choice, index, axis, why)) {
            PyObject *term =
                make_term(index, choice->view.shape[axis], choice->view.strides[axis] / itemsize);
            sum = k == 0 ? term : gsh_numpy_take_apply("add", sum, term);
        } else {
            if (index)
                gsh_py.Py_DecRef(index);
            if (sum)
                gsh_py.Py_DecRef(sum);
            sum = NULL;
        }
        if (!sum)
            return NULL;
    }
    return sum;
}

/* The one indexed axis of the view at its place in the result. */
static void move_axis(struct gsh_choice *choice, int from, int to)
{
    struct gsh_view *view = &choice->view;
    for (int i = 0, next = 0; i < view->ndim; i++) {
        next += next == from;
        int dim = i == to ? from : next++;
        choice->shape[i] = view->shape[dim];
        choice->strides[i] = view->strides[dim];
    }
    choice->axis = to;
    view->shape = choice->shape;
    view->strides = choice->strides;
}

/* Replaces the indexed axes of the view with one axis whose step is one element. */
static void join_axes(struct gsh_choice *choice, const struct gsh_key *key)
{
    struct gsh_view *view = &choice->view;
    int64_t itemsize = (int64_t)gsh_dtype_size(view->dtype), extent = 1;
    int count = 0, next = 0;
    for (int i = 0; i <= view->ndim; i++) {
        bool is_indexed = next < key->count && i == key->axes[next];
        if (i == key->result_axis) {
            choice->axis = count;
            choice->strides[count++] = itemsize;
        }
        if (i == view->ndim)
            break;
        if (is_indexed) {
            extent += (view->shape[i] - 1) * view->strides[i] / itemsize;
            next++;
            continue;
        }
        choice->shape[count] = view->shape[i];
        choice->strides[count++] = view->strides[i];
    }
    choice->shape[choice->axis] = extent;
    view->ndim = count;
    view->shape = choice->shape;
    view->strides = choice->strides;
}

bool gsh_numpy_choice_make(struct gsh_choice *choice, PyObject *self, PyObject *object,
                           const struct gsh_key *key,
                           PyObject *(*subscript)(PyObject *, PyObject *), enum gsh_reason *why)
{
    choice->index = NULL;
    choice->is_safe = key->count > 1;
    choice->selects_nothing = false;
    choice->array = make_view(self, object, key, subscript);
    *why =
        choice->array ? gsh_numpy_describe_array(choice->array, &choice->view) : GSH_REASON_OPERAND;
    if (*why == GSH_REASON_NONE && key->count == 1) {
        choice->axis = key->axes[0];
        choice->index = make_index(choice, key, 0, why);
        if (choice->index && key->result_axis != choice->axis)
            move_axis(choice, choice->axis, key->result_axis);
    } else if (*why == GSH_REASON_NONE) {
        choice->index = join_indexes(choice, key, why);
        if (choice->index)
            join_axes(choice, key);
    }
    if (choice->index)
        return true;
    gsh_numpy_choice_drop(choice);
    return false;
}

void gsh_numpy_choice_drop(struct gsh_choice *choice)
{
    if (choice->array)
        gsh_py.Py_DecRef(choice->array);
    if (choice->index)
        gsh_py.Py_DecRef(choice->index);
    choice->array = choice->index = NULL;
}
