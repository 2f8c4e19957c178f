/* SPDX-License-Identifier: Apache-2.0
 *
 * A filter is a tuple (action, message, category, module, line); the first that fits decides (CPython's Lib/warnings.py). What
 * changes the list makes another one, or puts a filter in front or at the end: the list and its first filter, which are kept alive,
 * and its length tell whether it is the one that was looked through.
 */
#include "warning_filters.h"

#include "python_error.h"

static PyObject *module_dict, *name;
static PyObject *seen_list, *seen_first; /* references */
static Py_ssize_t seen_size;
static bool may_raise;

void gsh_warning_filters_init(PyObject *warnings)
{
    name = gsh_py.PyUnicode_InternFromString("filters");
    if (!name) {
        gsh_python_error_clear();
        return;
    }
    gsh_py.Py_IncRef(warnings); /* and so its dict */
    module_dict = gsh_py.PyModule_GetDict(warnings);
}

static bool is_none(PyObject *object)
{
    return object == gsh_py._Py_NoneStruct;
}

/* Whether the list's filters may raise. */
static bool look_through(PyObject *list, Py_ssize_t size)
{
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *filter = gsh_py.PyList_GetItem(list, i);
        if (gsh_py_type(filter) != gsh_py.PyTuple_Type || gsh_py.PyTuple_Size(filter) != 5)
            return true;
        PyObject *action = gsh_py.PyTuple_GetItem(filter, 0);
        if (!gsh_py.PyType_IsSubtype(*(PyObject **)gsh_py.PyExc_RuntimeWarning,
                                     gsh_py.PyTuple_GetItem(filter, 2)))
            continue;
        if (gsh_py.PyUnicode_CompareWithASCIIString(action, "error") == 0)
            return true;
        int overflow;
        bool is_always = is_none(gsh_py.PyTuple_GetItem(filter, 1)) &&
                         is_none(gsh_py.PyTuple_GetItem(filter, 3));
        if (is_always &&
            gsh_py.PyLong_AsLongLongAndOverflow(gsh_py.PyTuple_GetItem(filter, 4), &overflow) == 0)
            return false;
    }
    return false;
}

static void keep(PyObject **place, PyObject *object)
{
    PyObject *before = *place;
    if (object)
        gsh_py.Py_IncRef(object);
    *place = object;
    if (before)
        gsh_py.Py_DecRef(before);
}

bool gsh_warning_filters_may_raise(void)
{
    PyObject *list = module_dict ? gsh_py.PyDict_GetItem(module_dict, name) : NULL;
    if (!list || gsh_py_type(list) != gsh_py.PyList_Type)
        return true;
    Py_ssize_t size = gsh_py.PyList_Size(list);
    PyObject *first = size > 0 ? gsh_py.PyList_GetItem(list, 0) : NULL;
    if (list == seen_list && size == seen_size && first == seen_first)
        return may_raise;
    may_raise = look_through(list, size);
    gsh_python_error_clear();
    seen_size = size;
    keep(&seen_list, list);
    keep(&seen_first, first);
    return may_raise;
}
