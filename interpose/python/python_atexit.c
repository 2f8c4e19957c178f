/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of atexit.register.
 */
#include "python_atexit.h"

#include "python_error.h"

bool gsh_python_atexit_register(struct gsh_pymethoddef *definition)
{
    PyObject *module = gsh_py.PyImport_ImportModule("atexit");
    PyObject *function = gsh_py.PyCFunction_NewEx(definition, NULL, NULL), *done = NULL;
    if (module && function)
        done = gsh_py.PyObject_CallMethod(module, "register", "O", function);
    PyObject *const made[] = {done, function, module};
    gsh_py_drop(made, GSH_COUNT(made));
    gsh_python_error_clear();
    return done != NULL;
}
