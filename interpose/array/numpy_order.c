/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of NumPy's module that rest on a sort. lexsort is one stable argsort for each key, of the key in the order of those
 * before. _unique_hash, which np.unique asks first, collects in a hash table; np.unique sorts where that has no table for a
 * dtype, and so it does for arrays on the device, but for
 * complex ones: of several complex NaNs the table keeps another than the sort.
 */
#include "coherence.h"
#include "numpy_method_patch.h"
#include "numpy_sort.h"
#include "numpy_take.h"

static PyObject *try_lexsort(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row);
static PyObject *try_unique(const struct gsh_method_call *call, enum gsh_reason *why,
                            unsigned *row);

GSH_METHOD_HOOK(lexsort_hook, .table = GSH_METHOD_MODULE, .name = "lexsort", .handler = try_lexsort,
                .subject = GSH_METHOD_ASK_ALWAYS, .self_test = "m.lexsort((a, b))");
GSH_METHOD_HOOK(unique_hook, .table = GSH_METHOD_MODULE, .name = "_unique_hash",
                .handler = try_unique, .subject = GSH_METHOD_ASK_BY_FIRST);

/* Key number i of a tuple or list; borrowed. */
static PyObject *key_of(PyObject *keys, Py_ssize_t i)
{
    return gsh_py_type(keys) == gsh_py.PyTuple_Type ? gsh_py.PyTuple_GetItem(keys, i)
                                                    : gsh_py.PyList_GetItem(keys, i);
}

/* 0: neither a tuple nor a list, or empty. */
static Py_ssize_t count_keys(PyObject *keys)
{
    PyObject *type = gsh_py_type(keys);
    return type == gsh_py.PyTuple_Type  ? gsh_py.PyTuple_Size(keys)
           : type == gsh_py.PyList_Type ? gsh_py.PyList_Size(keys)
                                        : 0;
}

/* Whether all keys are lines of one length. */
static bool are_lines(PyObject *keys, Py_ssize_t count, enum gsh_reason *why)
{
    struct gsh_view view;
    int64_t length = -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        *why = gsh_numpy_describe_array(key_of(keys, i), &view);
        if (*why != GSH_REASON_NONE)
            return false;
        *why = GSH_REASON_SHAPE;
        if (view.ndim != 1 || (length >= 0 && view.shape[0] != length))
            return false;
        length = view.shape[0];
    }
    return length > 0;
}

/* x[index], of which all indices are in bounds. */
static PyObject *gather(PyObject *x, PyObject *index, enum gsh_reason *why, unsigned *row)
{
    struct gsh_view view;
    *why = gsh_numpy_describe_array(x, &view);
    return *why == GSH_REASON_NONE
               ? gsh_numpy_take_gather(&view, 0, index, true, GSH_TAKE_C_ORDER, why, row)
               : NULL;
}

/* The order by `key` where it is first that of `before` (NULL: as it stands). Steals `before`. */
static PyObject *refine(PyObject *before, PyObject *key, enum gsh_reason *why, unsigned *row)
{
    struct gsh_view view;
    PyObject *turned = before ? gather(key, before, why, row) : key, *order = NULL, *result = NULL;
    if (turned && (*why = gsh_numpy_describe_array(turned, &view)) == GSH_REASON_NONE)
        order = gsh_numpy_sort_order("lexsort", &view, 0, why, row);
    if (!before)
        return order;
    if (order)
        result = gather(before, order, why, row);
    gsh_py.Py_DecRef(before);
    if (turned)
        gsh_py.Py_DecRef(turned);
    if (order)
        gsh_py.Py_DecRef(order);
    return result;
}

static PyObject *try_lexsort(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row)
{
    enum { KEYS, AXIS, PARAMETERS };
    static const char *const names[] = {"keys", "axis"};
    PyObject *slots[PARAMETERS], *order = NULL;
    int64_t axis = -1;
    if (!gsh_numpy_method_patch_bind(call, names, PARAMETERS, PARAMETERS, slots) || !slots[KEYS])
        return NULL;
    Py_ssize_t count = count_keys(slots[KEYS]);
    if (count == 0 || !gsh_numpy_method_patch_is_worth(key_of(slots[KEYS], 0)))
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if ((slots[AXIS] && !gsh_numpy_arguments_int(slots[AXIS], &axis)) || axis < -1 || axis > 0 ||
        !are_lines(slots[KEYS], count, why))
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        order = refine(order, key_of(slots[KEYS], i), why, row);
        if (!order)
            return NULL;
    }
    return order;
}

static PyObject *try_unique(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    struct gsh_view view;
    (void)row;
    *why = gsh_numpy_describe_array(call->args[0], &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    *why = GSH_REASON_DTYPE;
    if (gsh_dtype_kind(view.dtype) == 'c')
        return NULL;
    *why = GSH_REASON_DATA_ON_HOST;
    if (!gsh_coherence_is_resident(view.data))
        return NULL;
    gsh_py.Py_IncRef(gsh_py._Py_NotImplementedStruct);
    return gsh_py._Py_NotImplementedStruct;
}

void gsh_numpy_order_install(void)
{
    gsh_numpy_method_patch_install(&lexsort_hook);
    gsh_numpy_method_patch_install(&unique_hook);
}
