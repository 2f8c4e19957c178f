/* SPDX-License-Identifier: Apache-2.0
 *
 * a.flat[slice] = x, which eye, diag and fill_diagonal use: an assignment to a slice of the
 * flattened array, if flattening gives a view. a.flat[key] with a slice or an array of integers, and other
 * assignments by such keys, are composed (numpy_composed_*.py). Any other key is passed to NumPy after a few comparisons.
 */
#include "arena.h"
#include "coherence.h"
#include "dispatch.h"
#include "numpy_assign.h"
#include "numpy_composed.h"
#include "numpy_hooks.h"
#include "numpy_key.h"
#include "python_error.h"

static int (*original_assign)(PyObject *, PyObject *, PyObject *);
static PyObject *(*original_subscript)(PyObject *, PyObject *);
static struct gsh_hook *assign_row, *subscript_row;
static size_t array_at; /* offset in bytes of the array pointer in an iterator */

static bool is_worth(PyObject *array)
{
    if (!gsh_numpy_is_array(array))
        return false;
    const char *data = gsh_numpy_array(array)->data;
    return gsh_dispatch_min_elements == 0 ? gsh_arena_contains(data)
                                          : gsh_coherence_is_resident(data);
}

/* A slice whose bounds run no code, or an array. */
static bool is_plain_key(PyObject *key)
{
    return gsh_numpy_is_array(key) ||
           (gsh_py_type(key) == gsh_py.PySlice_Type && gsh_numpy_key_is_plain_slice(key));
}

static PyObject *array_of(PyObject *iterator)
{
    return *(PyObject **)((char *)iterator + array_at);
}

/* The slice of the flattened array, or NULL and no Python error. */
static PyObject *make_view(PyObject *array, PyObject *slice)
{
    PyObject *flat = gsh_py.PyObject_CallMethod(array, "reshape", "i", -1);
    PyObject *view = flat ? gsh_py.PyObject_CallMethod(flat, "__getitem__", "O", slice) : NULL;
    if (flat)
        gsh_py.Py_DecRef(flat);
    if (!view)
        gsh_python_error_clear();
    return view;
}

/* Whether the value is a scalar or has as many elements as the view. NumPy repeats other values. */
static bool fits(PyObject *value, PyObject *view)
{
    if (!gsh_numpy_is_array(value))
        return true;
    const struct gsh_ndarray *array = gsh_numpy_array(value);
    return gsh_numpy_describe_size(array) == 1 ||
           (array->nd == 1 && array->dimensions[0] == gsh_numpy_array(view)->dimensions[0]);
}

static bool try_assign(PyObject *array, PyObject *key, PyObject *value, enum gsh_reason *why,
                       unsigned *row)
{
    bool is_slice = gsh_py_type(key) == gsh_py.PySlice_Type;
    bool is_view = is_slice && (gsh_numpy_array(array)->flags & GSH_NPY_C_CONTIGUOUS);
    PyObject *view = is_view ? make_view(array, key) : NULL;
    *why = GSH_REASON_OPERAND;
    if (!view)
        return false;
    bool is_array = gsh_numpy_is_array(view);
    bool meets = is_array && gsh_numpy_is_array(value) && gsh_numpy_describe_meet(value, view);
    if (meets) /* NumPy would read the value while it writes */
        *why = GSH_REASON_OVERLAP;
    const struct gsh_assignment request = {
        .dst = view, .source = value, .casting = GSH_CASTING_UNSAFE};
    bool done = is_array && !meets && fits(value, view) && gsh_numpy_assign_run(&request, why, row);
    gsh_py.Py_DecRef(view);
    return done;
}

/* True: the composition has done it. */
static bool compose_assign(PyObject *array, PyObject *key, PyObject *value, enum gsh_reason *why)
{
    PyObject *const arguments[] = {key, value};
    const struct gsh_method_call call = {array, arguments, 2, NULL, NULL};
    PyObject *done = gsh_numpy_composed_call("flat_set", &call, true, why);
    if (done)
        gsh_py.Py_DecRef(done);
    return done != NULL;
}

static __attribute__((noinline)) int assign_by_key(PyObject *self, PyObject *key, PyObject *value)
{
    enum gsh_reason why = GSH_REASON_NONE;
    unsigned row = 0;
    PyObject *array = array_of(self);
    if (!gsh_dispatch_is_live())
        return original_assign(self, key, value);
    if (try_assign(array, key, value, &why, &row))
        return 0;
    if (gsh_py.PyErr_Occurred())
        return -1;
    if (compose_assign(array, key, value, &why))
        return 0;
    gsh_numpy_describe_fetch(array, true);
    gsh_numpy_describe_fetch(key, false);
    gsh_numpy_describe_fetch(value, false);
    return gsh_numpy_assign_original(original_assign, self, key, value, row, why);
}

static int assign_flat(PyObject *self, PyObject *key, PyObject *value)
{
    gsh_numpy_hooks_hit(assign_row);
    if (!value || !is_plain_key(key) || !is_worth(array_of(self)))
        return original_assign(self, key, value);
    return assign_by_key(self, key, value);
}

static __attribute__((noinline)) PyObject *read_by_key(PyObject *self, PyObject *key)
{
    enum gsh_reason why = GSH_REASON_NONE;
    PyObject *array = array_of(self);
    const struct gsh_method_call call = {array, &key, 1, NULL, NULL};
    PyObject *result =
        gsh_dispatch_is_live() ? gsh_numpy_composed_call("flat_get", &call, true, &why) : NULL;
    return result ? result : original_subscript(self, key);
}

static PyObject *read_flat(PyObject *self, PyObject *key)
{
    gsh_numpy_hooks_hit(subscript_row);
    if (!is_plain_key(key) || !is_worth(array_of(self)))
        return original_subscript(self, key);
    return read_by_key(self, key);
}

/* Finds the offset of the array pointer in an iterator. It follows tables whose length depends on
 * the NumPy version. 0: not found. */
static size_t find_array(PyObject *type)
{
    static const int64_t none = 0;
    size_t end = (size_t)((struct gsh_pytype *)type)->tp_basicsize, place = 0;
    gsh_py.Py_IncRef(gsh_np.descrs[GSH_FLOAT64]);
    PyObject *array = gsh_np.NewFromDescr(gsh_np.ndarray_type, gsh_np.descrs[GSH_FLOAT64], 1, &none,
                                          NULL, NULL, 0, NULL);
    PyObject *iterator = array ? gsh_py.PyObject_GetAttrString(array, "flat") : NULL;
    for (size_t at = 16; iterator && place == 0 && at + sizeof(PyObject *) <= end;
         at += sizeof(PyObject *))
        if (*(PyObject **)((char *)iterator + at) == array)
            place = at;
    if (iterator)
        gsh_py.Py_DecRef(iterator);
    if (array)
        gsh_py.Py_DecRef(array);
    gsh_python_error_clear();
    return place;
}

void gsh_numpy_flat_install(void)
{
    PyObject *type = gsh_py.PyDict_GetItemString(gsh_np.dict, "flatiter");
    struct gsh_pymapping *mapping = type ? ((struct gsh_pytype *)type)->tp_as_mapping : NULL;
    array_at = type ? find_array(type) : 0;
    if (!mapping || !mapping->mp_ass_subscript || !mapping->mp_subscript || array_at == 0)
        return;
    original_assign = mapping->mp_ass_subscript;
    original_subscript = mapping->mp_subscript;
    subscript_row = gsh_numpy_hooks_add("mapping", "flatiter.__getitem__", "a.flat[0:1]");
    assign_row = gsh_numpy_hooks_add("mapping", "flatiter.__setitem__", "a.flat[0:1] = 0.0");
    __atomic_store_n(&mapping->mp_ass_subscript, assign_flat, __ATOMIC_RELEASE);
    __atomic_store_n(&mapping->mp_subscript, read_flat, __ATOMIC_RELEASE);
}
