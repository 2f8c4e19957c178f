/* SPDX-License-Identifier: Apache-2.0 */
#include "numpy_mask_key.h"

#include "numpy_abi.h"
#include "python_error.h"

/* Dimensions of a mask that stands for several index arrays; 0 for any other item. */
static int mask_dims(PyObject *item)
{
    if (!gsh_numpy_is_array(item))
        return 0;
    const struct gsh_ndarray *array = gsh_numpy_array(item);
    return array->nd > 1 && gsh_numpy_dtype(array->descr) == GSH_BOOL ? array->nd : 0;
}

/* Dimensions of the array that an item takes, but for an ellipsis; -1: not known without a look into the item. */
static int taken_dims(PyObject *item)
{
    PyObject *type = gsh_py_type(item);
    if (gsh_py_is_none(item) || item == gsh_py._Py_EllipsisObject)
        return 0;
    if (type == gsh_py.PySlice_Type || type == gsh_py.PyLong_Type ||
        type == gsh_np.scalar_types[GSH_INT64])
        return 1;
    if (!gsh_numpy_is_array(item))
        return -1;
    bool is_bool = gsh_numpy_dtype(gsh_numpy_array(item)->descr) == GSH_BOOL;
    return is_bool ? gsh_numpy_array(item)->nd : 1;
}

/* What the masks of a key change. */
struct plan {
    int items; /* of the expanded key */
    int taken; /* dimensions of the array that all items take */
    bool has_mask, is_known;
};

static struct plan make_plan(PyObject *key)
{
    struct plan plan = {.is_known = true};
    Py_ssize_t count = gsh_py.PyTuple_Size(key);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = gsh_py.PyTuple_GetItem(key, i);
        int dims = mask_dims(item), taken = taken_dims(item);
        plan.items += dims > 0 ? dims : 1;
        plan.taken += taken;
        plan.has_mask |= dims > 0;
        plan.is_known &= taken >= 0;
    }
    return plan;
}

static bool fits(PyObject *item, const struct gsh_ndarray *array, int axis)
{
    const struct gsh_ndarray *mask = gsh_numpy_array(item);
    bool same = axis + mask->nd <= array->nd;
    for (int i = 0; same && i < mask->nd; i++)
        same = mask->dimensions[i] == array->dimensions[axis + i];
    return same;
}

/* Puts the positions of the mask's true elements into the key from place `at` on. */
static bool put_positions(PyObject *expanded, Py_ssize_t at, PyObject *mask)
{
    PyObject *positions = gsh_py.PyObject_CallMethod(mask, "nonzero", NULL);
    Py_ssize_t dims = gsh_numpy_array(mask)->nd;
    bool found = positions && gsh_py_type(positions) == gsh_py.PyTuple_Type &&
                 gsh_py.PyTuple_Size(positions) == dims;
    for (Py_ssize_t i = 0; found && i < dims; i++) {
        PyObject *index = gsh_py.PyTuple_GetItem(positions, i);
        gsh_py.Py_IncRef(index);
        gsh_py.PyTuple_SetItem(expanded, at + i, index); /* steals */
    }
    if (positions)
        gsh_py.Py_DecRef(positions);
    return found;
}

/* Fills the expanded key. False: a mask does not fit, or its positions could not be found. */
static bool fill(PyObject *expanded, const struct gsh_ndarray *array, PyObject *key, int free_dims)
{
    Py_ssize_t count = gsh_py.PyTuple_Size(key), at = 0;
    int axis = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = gsh_py.PyTuple_GetItem(key, i);
        int dims = mask_dims(item);
        if (dims > 0 && (!fits(item, array, axis) || !put_positions(expanded, at, item)))
            return false;
        if (dims == 0) {
            gsh_py.Py_IncRef(item);
            gsh_py.PyTuple_SetItem(expanded, at, item); /* steals */
        }
        at += dims > 0 ? dims : 1;
        axis += item == gsh_py._Py_EllipsisObject ? free_dims : taken_dims(item);
    }
    return true;
}

PyObject *gsh_numpy_mask_key_expand(const struct gsh_ndarray *array, PyObject *key)
{
    if (gsh_py_type(key) != gsh_py.PyTuple_Type)
        return NULL;
    struct plan plan = make_plan(key);
    if (!plan.has_mask || !plan.is_known || plan.taken > array->nd)
        return NULL;
    PyObject *expanded = gsh_py.PyTuple_New(plan.items);
    if (expanded && fill(expanded, array, key, array->nd - plan.taken))
        return expanded;
    if (expanded)
        gsh_py.Py_DecRef(expanded);
    gsh_python_error_clear();
    return NULL;
}
