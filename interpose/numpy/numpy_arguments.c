/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Accepts exact types only, because subclasses and objects with __index__ run
 * Python code.
 */
#include "numpy_arguments.h"

#include "python_error.h"
#include "python_text.h"

#include <string.h>

bool gsh_numpy_arguments_flag(PyObject *object, bool absent, bool *flag)
{
    if (!object)
        *flag = absent;
    else if (object == gsh_py._Py_TrueStruct || object == gsh_py._Py_FalseStruct)
        *flag = object == gsh_py._Py_TrueStruct;
    else
        return false;
    return true;
}

/* Parses a name with one of NumPy's converters, whose results are 0 .. last. */
static bool convert_name(PyObject *object, int (*converter)(PyObject *, int *), int absent,
                         int last, int *value)
{
    *value = absent;
    if (!object)
        return true;
    if (gsh_py_type(object) != gsh_py.PyUnicode_Type)
        return false;
    if (converter(object, value) && *value >= 0 && *value <= last)
        return true;
    gsh_python_error_clear();
    return false;
}

bool gsh_numpy_arguments_casting(PyObject *object, enum gsh_casting absent,
                                 enum gsh_casting *casting)
{
    int value;
    bool known =
        convert_name(object, gsh_np.CastingConverter, (int)absent, GSH_CASTING_UNSAFE, &value);
    *casting = (enum gsh_casting)value;
    return known;
}

bool gsh_numpy_arguments_order(PyObject *object, enum gsh_order absent, enum gsh_order *order)
{
    static const char names[] =
        "CFAKcfak"; /* in the enum's order; longer ones may cause a warning */
    const char *text;
    *order = absent;
    if (gsh_numpy_arguments_is_absent(object))
        return true;
    if (gsh_py_type(object) != gsh_py.PyUnicode_Type)
        return false;
    text = gsh_python_text_utf8(object);
    const char *found = text && text[0] && !text[1] ? strchr(names, text[0]) : NULL;
    if (found)
        *order = (enum gsh_order)((found - names) % 4);
    return found != NULL;
}

bool gsh_numpy_arguments_int(PyObject *object, int64_t *value)
{
    int overflow = 0;
    if (!object)
        return false;
    if (gsh_py_type(object) == gsh_np.scalar_types[GSH_INT64]) {
        memcpy(value, (const char *)object + 16, sizeof(*value)); /* follows the object header */
        return true;
    }
    if (gsh_py_type(object) != gsh_py.PyLong_Type)
        return false;
    *value = gsh_py.PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
}

/* The items of an int, a tuple or (if allowed) a list of ints. -1: the object is none of these. */
static int parse_ints(PyObject *object, bool allow_list, int64_t *values)
{
    if (gsh_numpy_arguments_int(object, values))
        return 1;
    bool is_list = allow_list && gsh_py_type(object) == gsh_py.PyList_Type;
    if (!is_list && gsh_py_type(object) != gsh_py.PyTuple_Type)
        return -1;
    Py_ssize_t count = is_list ? gsh_py.PyList_Size(object) : gsh_py.PyTuple_Size(object);
    if (count > GSH_MAX_DIMS)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!gsh_numpy_arguments_int(is_list ? gsh_py.PyList_GetItem(object, i)
                                             : gsh_py.PyTuple_GetItem(object, i),
                                     &values[i]))
            return -1;
    return (int)count;
}

bool gsh_numpy_arguments_shape(PyObject *object, struct gsh_layout *layout, int64_t *elements)
{
    layout->ndim = parse_ints(object, true, layout->shape);
    *elements = 1;
    for (int i = 0; i < layout->ndim; i++)
        if (layout->shape[i] < 0 || __builtin_mul_overflow(*elements, layout->shape[i], elements))
            return false;
    return layout->ndim >= 0;
}

bool gsh_numpy_arguments_axes(PyObject *object, int ndim, bool *reduced)
{
    int64_t axes[GSH_MAX_DIMS];
    for (int i = 0; i < ndim; i++)
        reduced[i] = gsh_py_is_none(object);
    if (gsh_py_is_none(object))
        return true;
    int count = parse_ints(object, false, axes);
    for (int i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (axis < 0 || axis >= ndim || reduced[axis])
            return false;
        reduced[axis] = true;
    }
    return count >= 0;
}

void gsh_numpy_arguments_lay_out(const struct gsh_view *view, enum gsh_order order, size_t itemsize,
                                 struct gsh_layout *layout)
{
    bool is_fortran = (view->flags & GSH_NPY_F_CONTIGUOUS) && !(view->flags & GSH_NPY_C_CONTIGUOUS);
    layout->ndim = view->ndim;
    memcpy(layout->shape, view->shape, (size_t)view->ndim * sizeof(layout->shape[0]));
    if (order == GSH_ORDER_KEEP)
        gsh_numpy_output_like(view, itemsize, layout);
    else if (order == GSH_ORDER_F || (order == GSH_ORDER_ANY && is_fortran))
        gsh_numpy_output_f_order(layout, itemsize);
    else
        gsh_numpy_output_c_order(layout, itemsize);
}

/* An attribute of numpy._globals, never released; NULL: not found. */
static PyObject *global_of_numpy(const char *name)
{
    PyObject *globals =
        gsh_py.PyDict_GetItemString(gsh_py.PyImport_GetModuleDict(), "numpy._globals");
    PyObject *value = globals ? gsh_py.PyObject_GetAttrString(globals, name) : NULL;
    gsh_python_error_clear();
    return value;
}

PyObject *gsh_numpy_arguments_no_value(void)
{
    static PyObject *no_value;
    if (!no_value)
        no_value = global_of_numpy("_NoValue");
    return no_value;
}

PyObject *gsh_numpy_arguments_if_needed(void)
{
    static PyObject *if_needed; /* never released */
    PyObject *modes = if_needed ? NULL : global_of_numpy("_CopyMode");
    if (modes)
        if_needed = gsh_py.PyObject_GetAttrString(modes, "IF_NEEDED");
    gsh_python_error_clear();
    return if_needed;
}
