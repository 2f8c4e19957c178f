/* SPDX-License-Identifier: Apache-2.0
 *
 * A filter is a tuple (action, message, category, module, line). The first that matches decides
 * (CPython's Lib/warnings.py). Tuples are immutable and the kept ones are kept alive, so equal
 * addresses mean equal filters.
 */
#include "warning_filters.h"

#include "python_error.h"

#include <string.h>

static PyObject *kept; /* a list; a reference */
static bool may_raise = true;

bool gsh_warning_filters_is_kept(PyObject *list)
{
    if (!kept || gsh_py_size(list) != gsh_py_size(kept))
        return false;
    size_t size = (size_t)gsh_py_size(list) * sizeof list;
    return size == 0 || memcmp(gsh_py_list_items(kept), gsh_py_list_items(list), size) == 0;
}

static bool is_filter(PyObject *object)
{
    return gsh_py_type(object) == gsh_py.PyTuple_Type && gsh_py.PyTuple_Size(object) == 5;
}

static bool is_of_runtime_warnings(PyObject *filter)
{
    return gsh_py.PyType_IsSubtype(*(PyObject **)gsh_py.PyExc_RuntimeWarning,
                                   gsh_py.PyTuple_GetItem(filter, 2)) != 0;
}

static long line_of(PyObject *filter)
{
    int overflow;
    return (long)gsh_py.PyLong_AsLongLongAndOverflow(gsh_py.PyTuple_GetItem(filter, 4), &overflow);
}

/* Whether the filter matches every text and place. */
static bool fits_always(PyObject *filter)
{
    return gsh_py_is_none(gsh_py.PyTuple_GetItem(filter, 1)) &&
           gsh_py_is_none(gsh_py.PyTuple_GetItem(filter, 3)) && line_of(filter) == 0;
}

/* Whether the action never raises. "error" and unknown actions raise. */
static bool is_harmless(PyObject *action)
{
    static const char *const known[] = {"ignore", "default", "always", "all", "module", "once"};
    for (size_t i = 0; i < GSH_COUNT(known); i++)
        if (gsh_py_type(action) == gsh_py.PyUnicode_Type &&
            gsh_py.PyUnicode_CompareWithASCIIString(action, known[i]) == 0)
            return true;
    return false;
}

static bool look_through(PyObject *list)
{
    PyObject *const *filters = gsh_py_list_items(list);
    for (Py_ssize_t i = 0; i < gsh_py_size(list); i++) {
        if (!is_filter(filters[i]))
            return true;
        if (!is_of_runtime_warnings(filters[i]))
            continue;
        if (!is_harmless(gsh_py.PyTuple_GetItem(filters[i], 0)))
            return true;
        if (fits_always(filters[i]))
            return false;
    }
    return false;
}

void gsh_warning_filters_keep(PyObject *list)
{
    PyObject *before = kept;
    kept = gsh_py.PyList_GetSlice(list, 0, gsh_py_size(list));
    may_raise = !kept || look_through(kept);
    gsh_python_error_clear();
    if (before)
        gsh_py.Py_DecRef(before); /* last, because it may run the program's code */
}

PyObject *gsh_warning_filters_kept(void)
{
    return kept;
}

bool gsh_warning_filters_may_raise(void)
{
    return may_raise;
}
