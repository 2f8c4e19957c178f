/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose an exception is, its traceback tells. What a question asks of are C functions, and an exception that they raise has
 * none, as it has passed no frame of Python code. Handlers of signals, pending calls and exceptions sent by another
 * thread come in where the interpreter runs Python code, NumPy's exceptions having constructors in Python; theirs has. Only
 * those of handlers in C have none where a C function looks for signals: KeyboardInterrupt, which is no Exception.
 */
#include "python_error.h"

#include "python_api.h"

#include <sys/syscall.h>
#include <unistd.h>

enum part { TYPE, VALUE, TRACEBACK, PARTS };

static bool is_own(PyObject *const parts[PARTS])
{
    return !parts[TRACEBACK] &&
           gsh_py.PyType_IsSubtype(parts[TYPE], *(PyObject **)gsh_py.PyExc_Exception);
}

/* The parts as a tuple, which takes them over, or NULL and no exception. */
static PyObject *pack(PyObject *const parts[PARTS])
{
    PyObject *tuple = gsh_py.PyTuple_New(PARTS);
    if (!tuple)
        gsh_py.PyErr_Clear();
    for (int i = 0; tuple && i < PARTS; i++)
        if (parts[i])
            gsh_py.PyTuple_SetItem(tuple, i, parts[i]); /* steals */
    return tuple;
}

/* A pending call: the interpreter runs it in the main thread, the one that signals are handled in. */
static int raise_packed(void *packed)
{
    PyObject *parts[PARTS];
    for (int i = 0; i < PARTS; i++) {
        parts[i] = gsh_py.PyTuple_GetItem(packed, i);
        if (parts[i])
            gsh_py.Py_IncRef(parts[i]);
    }
    gsh_py.Py_DecRef(packed);
    gsh_py.PyErr_Restore(parts[TYPE], parts[VALUE], parts[TRACEBACK]); /* steals */
    return -1;
}

/* Into other threads exceptions come as types, by the very function that is used here. */
static void raise_type(PyObject *type)
{
    gsh_py.PyThreadState_SetAsyncExc(gsh_py.PyThread_get_thread_ident(), type);
}

static void raise_later(PyObject *const parts[PARTS])
{
    bool is_main = syscall(SYS_gettid) == getpid();
    PyObject *packed = is_main ? pack(parts) : NULL;
    if (packed && gsh_py.Py_AddPendingCall(raise_packed, packed) == 0)
        return;
    raise_type(parts[TYPE]);
    if (packed)
        gsh_py.Py_DecRef(packed);
    else
        gsh_py_drop(parts, PARTS);
}

bool gsh_python_error_clear(void)
{
    PyObject *parts[PARTS];
    if (!gsh_py.PyErr_Occurred())
        return true;
    gsh_py.PyErr_Fetch(&parts[TYPE], &parts[VALUE], &parts[TRACEBACK]);
    bool own = is_own(parts);
    if (own)
        gsh_py_drop(parts, PARTS);
    else
        raise_later(parts);
    return own;
}
