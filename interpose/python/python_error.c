/* SPDX-License-Identifier: Apache-2.0
 *
 * The traceback tells whether an exception is a query's own. Queries call C functions; an exception
 * that these raise has no traceback, since it passed no Python frame. Signal handlers, pending
 * calls and exceptions sent by another thread interrupt Python code (NumPy's exceptions have
 * constructors in Python), so theirs have a traceback. Exception: a signal handler in C that runs
 * when a C function checks for signals. It raises KeyboardInterrupt, which is not a subclass of
 * Exception.
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

/* The parts as a tuple, which takes over their references. NULL without an exception on failure. */
static PyObject *pack(PyObject *const parts[PARTS])
{
    PyObject *tuple = gsh_py_tuple(parts, PARTS);
    if (!tuple)
        gsh_py.PyErr_Clear();
    return tuple;
}

/* A pending call: the interpreter runs it in the main thread, which also handles signals. */
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

/* In other threads only the type is raised again, by the function that CPython has for sending an
 * exception to a thread. */
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
