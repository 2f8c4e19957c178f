/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_list_operands.h"

#include "numpy_composed.h"
#include "numpy_describe.h"
#include "python_error.h"

/* Of a list: looking at more would take as long as a call on a large array. */
#define MOST_ITEMS 4096

static bool is_number(PyObject *object)
{
    PyObject *type = gsh_py_type(object);
    return type == gsh_py.PyFloat_Type || type == gsh_py.PyLong_Type ||
           type == gsh_py.PyComplex_Type || type == gsh_py.PyBool_Type;
}

static bool is_line(PyObject *sequence)
{
    Py_ssize_t count = gsh_py_size(sequence);
    bool is = count > 0 && count <= MOST_ITEMS;
    for (Py_ssize_t i = 0; i < count && is; i++)
        is = is_number(gsh_numpy_describe_item(sequence, i));
    return is;
}

/* Lines of one length. */
static bool is_table(PyObject *sequence)
{
    Py_ssize_t count = gsh_py_size(sequence), columns = -1;
    bool is = count > 0 && count <= MOST_ITEMS;
    for (Py_ssize_t i = 0; i < count && is; i++) {
        PyObject *line = gsh_numpy_describe_item(sequence, i);
        is = gsh_numpy_describe_is_sequence(line) &&
             (columns < 0 || gsh_py_size(line) == columns) && is_line(line);
        columns = is ? gsh_py_size(line) : 0;
    }
    return is;
}

/* A new reference; NULL: it holds neither numbers nor arrays on the device, or NumPy makes objects of it, or refuses it. */
static PyObject *make_array(PyObject *sequence)
{
    enum gsh_reason why;
    if (!is_line(sequence) && !is_table(sequence))
        return gsh_numpy_composed_array(sequence, &why);
    PyObject *array = gsh_np.FromAny(sequence, NULL, 0, 0, 0, NULL);
    if (array == NULL)
        gsh_python_error_clear();
    if (array == NULL || gsh_numpy_dtype(gsh_numpy_array(array)->descr) >= 0)
        return array;
    gsh_py.Py_DecRef(array);
    return NULL;
}

bool gsh_numpy_list_operands_convert(PyObject *const *args, size_t count, size_t inputs,
                                     struct gsh_list_operands *lists)
{
    bool has_some = false;
    for (size_t i = 0; i < count && i < inputs; i++)
        has_some |= gsh_numpy_describe_is_sequence(args[i]);
    if (GSH_LIKELY(!has_some) || count > GSH_LIST_OPERANDS_MOST)
        return false;
    has_some = false;
    lists->count = count;
    for (size_t i = 0; i < count; i++) {
        bool is_list = i < inputs && gsh_numpy_describe_is_sequence(args[i]);
        lists->arrays[i] = is_list ? make_array(args[i]) : NULL;
        lists->values[i] = lists->arrays[i] != NULL ? lists->arrays[i] : args[i];
        has_some |= lists->arrays[i] != NULL;
    }
    return has_some;
}

void gsh_numpy_list_operands_drop(struct gsh_list_operands *lists)
{
    gsh_py_drop(lists->arrays, (unsigned)lists->count);
}
