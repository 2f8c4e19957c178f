/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_vectorize.h"

#include "decide.h"
#include "dispatch.h"
#include "numpy_composed.h"
#include "numpy_describe.h"

typedef PyObject *call_function(PyObject *self, PyObject *args, PyObject *keywords);

static PyObject *class; /* borrowed: compared only */
static call_function *original;
static struct gsh_hook *row;

/* Wherever the array is: NumPy's functions on a core are faster than calls of a Python function, too. */
static bool is_large_array(PyObject *object)
{
    return gsh_numpy_is_array(object) &&
           (gsh_dispatch_min_elements == 0 ||
            gsh_numpy_describe_size(gsh_numpy_array(object)) >= GSH_DECIDE_LEAST_ELEMENTS);
}

static PyObject *call_vectorize(PyObject *self, PyObject *args, PyObject *keywords)
{
    gsh_numpy_hooks_hit(row);
    PyObject *items[GSH_METHOD_MAX_ARGS];
    size_t count = (size_t)gsh_py_size(args);
    bool is_known = gsh_py_type(self) == class && keywords == NULL && count <= GSH_METHOD_MAX_ARGS;
    bool is_large = false;
    for (size_t i = 0; is_known && i < count; i++) {
        items[i] = gsh_py.PyTuple_GetItem(args, (Py_ssize_t)i);
        is_large |= is_large_array(items[i]);
    }
    const struct gsh_method_call call = {self, items, count, NULL, NULL};
    PyObject *made = is_large && gsh_dispatch_is_live()
                         ? gsh_numpy_composed_run("vectorize", &call, true)
                         : NULL;
    if (made != NULL || gsh_py.PyErr_Occurred() != NULL)
        return made;
    return original(self, args, keywords);
}

void gsh_numpy_vectorize_adopt(PyObject *globals)
{
    PyObject *found = gsh_py.PyDict_GetItemString(globals, "vectorize");
    struct gsh_pytype *type = (struct gsh_pytype *)found;
    if (class != NULL || found == NULL || gsh_py_type(found) != gsh_py.PyType_Type ||
        type->tp_call == NULL)
        return;
    class = found;
    *(void **)&original = type->tp_call;
    row = gsh_numpy_hooks_add("type", "vectorize", "import numpy; numpy.vectorize(abs)(a)");
    __atomic_store_n(&type->tp_call, (void *)call_vectorize, __ATOMIC_RELEASE);
}
