/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that the package numpy has in Python and whose callers reach them by objects of _ArrayFunctionDispatcher (NumPy 1.25 and
 * later), composed as a whole. These objects are made while numpy is imported, later than the hooks are installed, so the type is
 * patched: of an object for one of the functions the member `vectorcall` is replaced, where tp_vectorcall_offset says that it is.
 * The composition is called with the object first.
 */
#include "coherence.h"
#include "numpy_composed.h"
#include "numpy_vectorize.h"
#include "python_error.h"
#include "python_text.h"

#include <string.h>

typedef PyObject *(*new_function)(PyObject *type, PyObject *args, PyObject *keywords);

struct function {
    const char *name;
    PyObject *object; /* borrowed: compared only */
    gsh_vectorcall original;
};

static struct function functions[] = {{"histogram", NULL, NULL},   {"median", NULL, NULL},
                                      {"nanmedian", NULL, NULL},   {"nanpercentile", NULL, NULL},
                                      {"nanquantile", NULL, NULL}, {"unique", NULL, NULL}};
static new_function original_new;
static struct gsh_hook *row;

static struct function *find_by_object(PyObject *object)
{
    for (size_t i = 0; i < GSH_COUNT(functions); i++)
        if (functions[i].object == object)
            return &functions[i];
    return NULL;
}

static PyObject *call_function(PyObject *self, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames)
{
    const struct function *function = find_by_object(self);
    const struct gsh_method_call call = {self, args, gsh_py_nargs(nargsf), kwnames, NULL};
    enum gsh_reason why;
    unsigned stats_row;
    gsh_numpy_hooks_hit(row);
    PyObject *made =
        gsh_numpy_composed_call_priced(function->name, &call, true, 0, &why, &stats_row);
    if (made || gsh_py.PyErr_Occurred())
        return made;
    made = function->original(self, args, nargsf, kwnames);
    gsh_numpy_composed_note_original(&call);
    return made;
}

static bool is_of_numpy(const char *module)
{
    return module != NULL && strncmp(module, "numpy", strlen("numpy")) == 0;
}

/* Whether it is a function of the package numpy by that name. Leaves no Python error. */
static bool is_named(PyObject *implementation, const char *name)
{
    PyObject *own = gsh_py.PyObject_GetAttrString(implementation, "__name__");
    PyObject *module = gsh_py.PyObject_GetAttrString(implementation, "__module__");
    bool is_one = own && module && gsh_py_type(module) == gsh_py.PyUnicode_Type &&
                  gsh_py_type(own) == gsh_py.PyUnicode_Type &&
                  gsh_py.PyUnicode_CompareWithASCIIString(own, name) == 0 &&
                  is_of_numpy(gsh_python_text_utf8(module));
    PyObject *const dropped[] = {own, module};
    gsh_py_drop(dropped, GSH_COUNT(dropped));
    gsh_python_error_clear();
    return is_one;
}

/* Of the module of one of the functions: that of median has defined numpy.vectorize before. */
static void adopt_vectorize(PyObject *implementation)
{
    PyObject *globals = gsh_py.PyObject_GetAttrString(implementation, "__globals__");
    if (globals && gsh_py_type(globals) == gsh_py.PyDict_Type)
        gsh_numpy_vectorize_adopt(globals);
    gsh_py_drop(&globals, 1);
    gsh_python_error_clear();
}

static void patch(PyObject *object, PyObject *implementation)
{
    Py_ssize_t offset = ((struct gsh_pytype *)gsh_py_type(object))->tp_vectorcall_offset;
    for (size_t i = 0; offset > 0 && i < GSH_COUNT(functions); i++) {
        struct function *function = &functions[i];
        if (function->object || !is_named(implementation, function->name))
            continue;
        gsh_vectorcall *entry = (gsh_vectorcall *)(void *)((char *)object + offset);
        function->object = object;
        function->original = *entry;
        *entry = call_function;
        adopt_vectorize(implementation);
        return;
    }
}

static PyObject *make_dispatcher(PyObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *made = original_new(type, args, keywords);
    if (made && gsh_py_size(args) == 2)
        patch(made, gsh_py.PyTuple_GetItem(args, 1));
    return made;
}

void gsh_numpy_dispatcher_install(void)
{
    struct gsh_pytype *type =
        (struct gsh_pytype *)gsh_py.PyDict_GetItemString(gsh_np.dict, "_ArrayFunctionDispatcher");
    if (!type || gsh_py_type((PyObject *)type) != gsh_py.PyType_Type || !type->tp_new)
        return;
    original_new = (new_function)type->tp_new;
    row =
        gsh_numpy_hooks_add("type", "_ArrayFunctionDispatcher", "import numpy; numpy.histogram(a)");
    __atomic_store_n(&type->tp_new, (void *)make_dispatcher, __ATOMIC_RELEASE);
}
