/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy 2 keeps the state in a context variable that holds a capsule, NumPy 1 in a list in the
 * thread's dict. Both are absent or have default values unless np.errstate or np.seterr was used.
 */
#include "numpy_errstate.h"

#include "numpy_abi.h"
#include "python_error.h"

static PyObject *context_variable, *make_extobj; /* NumPy 2 */
static PyObject *get_errobj, *set_errobj;        /* NumPy 1 */

void gsh_numpy_errstate_init(void)
{
    context_variable = gsh_py.PyDict_GetItemString(gsh_np.dict, "_extobj_contextvar");
    make_extobj = gsh_py.PyDict_GetItemString(gsh_np.dict, "_make_extobj");
    get_errobj = gsh_py.PyDict_GetItemString(gsh_np.dict, "geterrobj");
    set_errobj = gsh_py.PyDict_GetItemString(gsh_np.dict, "seterrobj");
}

static int context_mask(void)
{
    PyObject *capsule = NULL;
    if (gsh_py.PyContextVar_Get(context_variable, NULL, &capsule) < 0 || !capsule) {
        gsh_python_error_clear();
        return -1;
    }
    const int *errmask = gsh_py.PyCapsule_GetPointer(capsule, "numpy.ufunc.extobj");
    int mask = errmask ? *errmask : -1;
    if (!errmask)
        gsh_python_error_clear();
    gsh_py.Py_DecRef(capsule);
    return mask;
}

/* [buffer size, mask, callback] */
int gsh_numpy_errstate_mask_of(PyObject *extobj)
{
    if (gsh_py_type(extobj) != gsh_py.PyList_Type || gsh_py.PyList_Size(extobj) < 2)
        return -1;
    int overflow;
    PyObject *mask = gsh_py.PyList_GetItem(extobj, 1);
    if (gsh_py_type(mask) != gsh_py.PyLong_Type)
        return -1;
    int number = (int)gsh_py.PyLong_AsLongLongAndOverflow(mask, &overflow);
    return overflow ? -1 : number;
}

/* Absent unless np.errstate or np.seterr was used: then every kind except underflow warns. */
static int thread_mask(void)
{
    enum { DEFAULT = GSH_ERRSTATE_WARN | GSH_ERRSTATE_WARN << 3 | GSH_ERRSTATE_WARN << 9 };
    PyObject *dict = gsh_py.PyThreadState_GetDict();
    PyObject *state = dict ? gsh_py.PyDict_GetItemString(dict, "UFUNC_PYVALS") : NULL;
    if (!state)
        return dict ? DEFAULT : -1;
    return gsh_numpy_errstate_mask_of(state);
}

int gsh_numpy_errstate_mask(void)
{
    if (gsh_np.major >= 2)
        return context_variable ? context_mask() : -1;
    return thread_mask();
}

bool gsh_numpy_errstate_ignores_or_warns(void)
{
    int mask = gsh_numpy_errstate_mask();
    for (int kind = GSH_ERRSTATE_DIVIDE; kind <= GSH_ERRSTATE_INVALID; kind++)
        if (mask < 0 || gsh_numpy_errstate_mode((unsigned)mask, (enum gsh_errstate_kind)kind) >
                            GSH_ERRSTATE_WARN)
            return false;
    return true;
}

static const char *mode_word(unsigned mask, enum gsh_errstate_kind kind)
{
    unsigned mode = gsh_numpy_errstate_mode(mask, kind);
    return mode == GSH_ERRSTATE_IGNORE ? "ignore" : mode == GSH_ERRSTATE_LOG ? "log" : "warn";
}

/* NumPy 2: returns the token of the context variable. */
static PyObject *replace_context(unsigned mask, PyObject *log)
{
    PyObject *words = gsh_py.Py_BuildValue(
        "{s:s,s:s,s:s,s:s}", "divide", mode_word(mask, GSH_ERRSTATE_DIVIDE), "over",
        mode_word(mask, GSH_ERRSTATE_OVER), "under", mode_word(mask, GSH_ERRSTATE_UNDER), "invalid",
        mode_word(mask, GSH_ERRSTATE_INVALID));
    PyObject *none = gsh_py.Py_BuildValue("()");
    if (words && log)
        gsh_py.PyDict_SetItemString(words, "call", log);
    PyObject *state = words && none ? gsh_py.PyObject_Call(make_extobj, none, words) : NULL;
    PyObject *token = state ? gsh_py.PyContextVar_Set(context_variable, state) : NULL;
    PyObject *const made[] = {words, none, state};
    for (size_t i = 0; i < GSH_COUNT(made); i++)
        if (made[i])
            gsh_py.Py_DecRef(made[i]);
    return token;
}

/* NumPy 1: returns the previous list. */
static PyObject *replace_list(unsigned mask, PyObject *log)
{
    PyObject *previous = gsh_py.PyObject_CallFunction(get_errobj, NULL);
    if (!previous)
        return NULL;
    PyObject *done =
        gsh_py.PyObject_CallFunction(set_errobj, "([OiO])", gsh_py.PyList_GetItem(previous, 0),
                                     (int)mask, log ? log : gsh_py.PyList_GetItem(previous, 2));
    if (done) {
        gsh_py.Py_DecRef(done);
        return previous;
    }
    gsh_py.Py_DecRef(previous);
    return NULL;
}

PyObject *gsh_numpy_errstate_replace(unsigned mask, PyObject *log)
{
    PyObject *previous = NULL;
    if (gsh_np.major >= 2 ? context_variable && make_extobj : get_errobj && set_errobj)
        previous = gsh_np.major >= 2 ? replace_context(mask, log) : replace_list(mask, log);
    if (!previous)
        gsh_python_error_clear();
    return previous;
}

void gsh_numpy_errstate_restore(PyObject *previous)
{
    PyObject *type, *value, *traceback, *done = NULL;
    gsh_py.PyErr_Fetch(&type, &value, &traceback);
    if (gsh_np.major >= 2)
        gsh_py.PyContextVar_Reset(context_variable, previous);
    else
        done = gsh_py.PyObject_CallFunction(set_errobj, "(O)", previous);
    if (done)
        gsh_py.Py_DecRef(done);
    gsh_py.Py_DecRef(previous);
    gsh_python_error_clear();
    gsh_py.PyErr_Restore(type, value, traceback);
}
