/* SPDX-License-Identifier: Apache-2.0
 *
 * Uses PyThreadState_EnterTracing, which CPython calls around a tracer's own code.
 */
#include "python_untraced.h"

#include "python_api.h"
#include "python_error.h"

#include <dlfcn.h>

static struct {
    void *(*get)(void);
    void (*enter)(void *), (*leave)(void *);
} state;

static bool find_functions(void)
{
    state.get = (void *(*)(void))dlsym(RTLD_DEFAULT, "PyThreadState_Get");
    state.enter = (void (*)(void *))dlsym(RTLD_DEFAULT, "PyThreadState_EnterTracing");
    state.leave = (void (*)(void *))dlsym(RTLD_DEFAULT, "PyThreadState_LeaveTracing");
    dlerror();
    return state.get != NULL && state.enter != NULL && state.leave != NULL;
}

/* Whether a function of sys returns None. It must be Python's own function. */
static bool is_unset(const char *name)
{
    PyObject *function = gsh_py.PySys_GetObject(name);
    if (!function || gsh_py_type(function) != gsh_py.PyCFunction_Type)
        return false;
    PyObject *set = gsh_py.PyObject_CallFunction(function, NULL);
    if (set)
        gsh_py.Py_DecRef(set);
    gsh_python_error_clear();
    return set == gsh_py._Py_NoneStruct;
}

bool gsh_python_untraced_begin(void)
{
    if (!find_functions())
        return is_unset("gettrace") && is_unset("getprofile");
    state.enter(state.get());
    return true;
}

void gsh_python_untraced_end(void)
{
    if (state.leave != NULL)
        state.leave(state.get());
}
