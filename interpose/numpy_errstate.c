/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy 2 keeps the state in a context variable that holds a capsule, NumPy 1 in a list in the
 * thread's dict; both are absent or default unless np.errstate or np.seterr was used.
 */
#include "numpy_errstate.h"

#include "numpy_abi.h"

enum { MODE_BITS = 3, MODE_MASK = 7, MODE_WARN = 1, KINDS = 4 };

static PyObject *context_variable; /* NumPy 2 */

void gsh_numpy_errstate_init(void)
{
    context_variable = gsh_py.PyDict_GetItemString(gsh_np.dict, "_extobj_contextvar");
}

/* Four modes of three bits: ignore 0, warn 1, raise 2, call 3, print 4, log 5. */
static bool mask_is_quiet(int mask)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (((mask >> (kind * MODE_BITS)) & MODE_MASK) > MODE_WARN)
            return false;
    return true;
}

static bool context_is_quiet(void)
{
    PyObject *capsule = NULL;
    if (gsh_py.PyContextVar_Get(context_variable, NULL, &capsule) < 0 || !capsule) {
        gsh_py.PyErr_Clear();
        return false;
    }
    const int *errmask = gsh_py.PyCapsule_GetPointer(capsule, "numpy.ufunc.extobj");
    bool quiet = errmask && mask_is_quiet(*errmask);
    if (!errmask)
        gsh_py.PyErr_Clear();
    gsh_py.Py_DecRef(capsule);
    return quiet;
}

static bool thread_is_quiet(void)
{
    PyObject *dict = gsh_py.PyThreadState_GetDict();
    PyObject *state = dict ? gsh_py.PyDict_GetItemString(dict, "UFUNC_PYVALS") : NULL;
    if (!state)
        return dict != NULL;
    if (gsh_py_type(state) != gsh_py.PyList_Type || gsh_py.PyList_Size(state) < 2)
        return false;
    int overflow;
    PyObject *mask = gsh_py.PyList_GetItem(state, 1);
    if (gsh_py_type(mask) != gsh_py.PyLong_Type)
        return false;
    return mask_is_quiet((int)gsh_py.PyLong_AsLongLongAndOverflow(mask, &overflow)) && !overflow;
}

bool gsh_numpy_errstate_is_quiet(void)
{
    if (gsh_np.major >= 2)
        return context_variable && context_is_quiet();
    return thread_is_quiet();
}
