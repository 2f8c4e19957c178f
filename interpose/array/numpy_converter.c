/* SPDX-License-Identifier: Apache-2.0
 *
 * numpy._array_converter (NumPy 2), by which functions of the package numpy make arrays of operands that have no method of the
 * name: a list of arrays, as in np.transpose(np.nonzero(a)). It is handed an array that asarray's composition has made. What else
 * the converter keeps of an operand is the same for an array.
 */
#include "coherence.h"
#include "numpy_composed.h"

typedef PyObject *(*new_function)(PyObject *type, PyObject *args, PyObject *keywords);

static new_function original;
static struct gsh_hook *row;

/* A new reference: the operand, or an array in its place. */
static PyObject *convert(PyObject *operand)
{
    enum gsh_reason why;
    PyObject *made = gsh_numpy_composed_array(operand, &why);
    if (!made)
        gsh_py.Py_IncRef(operand);
    return made ? made : operand;
}

/* NULL: out of memory, and a Python exception. */
static PyObject *convert_all(PyObject *args)
{
    Py_ssize_t count = gsh_py_size(args);
    PyObject *converted = gsh_py.PyTuple_New(count);
    for (Py_ssize_t i = 0; converted && i < count; i++)
        gsh_py.PyTuple_SetItem(converted, i, convert(gsh_py.PyTuple_GetItem(args, i)));
    return converted;
}

static __attribute__((noinline)) PyObject *make_of_converted(PyObject *type, PyObject *args,
                                                             PyObject *keywords)
{
    PyObject *converted = convert_all(args);
    PyObject *converter = converted ? original(type, converted, keywords) : NULL;
    if (converted)
        gsh_py.Py_DecRef(converted);
    return converter;
}

static PyObject *make_converter(PyObject *type, PyObject *args, PyObject *keywords)
{
    gsh_numpy_hooks_hit(row);
    if (!gsh_coherence_is_in_use())
        return original(type, args, keywords);
    return make_of_converted(type, args, keywords);
}

void gsh_numpy_converter_install(void)
{
    struct gsh_pytype *type =
        (struct gsh_pytype *)gsh_py.PyDict_GetItemString(gsh_np.dict, "_array_converter");
    if (!type || gsh_py_type((PyObject *)type) != gsh_py.PyType_Type || !type->tp_new)
        return;
    original = (new_function)type->tp_new;
    row = gsh_numpy_hooks_add("type", "_array_converter", "m._array_converter(a)");
    __atomic_store_n(&type->tp_new, (void *)make_converter, __ATOMIC_RELEASE);
}
