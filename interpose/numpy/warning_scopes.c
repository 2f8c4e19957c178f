/* SPDX-License-Identifier: Apache-2.0
 *
 * The methods of catch_warnings are replaced on its class by C functions: a C function has no
 * Python line that a warning could name. For the functions in warning_moments.def the C function
 * behind the builtin is replaced in its static table, so that all importers are covered. The
 * calling convention stays.
 */
#include "warning_scopes.h"

#include "numpy_hooks.h"
#include "python_atexit.h"
#include "python_error.h"
#include "warning_state.h"

#include <string.h>
#include <unistd.h>

static void (*report_all)(void);
static _Atomic bool is_over;
static PyObject *enter_scope; /* the original warnings.catch_warnings.__enter__ */
static PyObject *leave_scope; /* the original __exit__ */

bool gsh_warning_scopes_is_over_sigsafe(void)
{
    return is_over;
}

/* ---- catch_warnings ---- */

static PyObject *report_and_enter(PyObject *self, PyObject *args)
{
    (void)self;
    report_all();
    return gsh_py.PyObject_Call(enter_scope, args, NULL);
}

static PyObject *report_and_leave(PyObject *self, PyObject *args)
{
    (void)self;
    report_all();
    return gsh_py.PyObject_Call(leave_scope, args, NULL);
}

static void replace_method(PyObject *class, struct gsh_pymethoddef *definition, PyObject **original)
{
    *original = gsh_py.PyObject_GetAttrString(class, definition->ml_name);
    PyObject *function = gsh_py.PyCFunction_NewEx(definition, NULL, NULL);
    PyObject *method = function ? gsh_py.PyInstanceMethod_New(function) : NULL;
    if (*original && method)
        (void)gsh_py.PyObject_SetAttrString(class, definition->ml_name, method);
    if (method)
        gsh_py.Py_DecRef(method);
    if (function)
        gsh_py.Py_DecRef(function);
    gsh_python_error_clear();
}

static void hook_scopes(PyObject *warnings)
{
    static struct gsh_pymethoddef enter = {"__enter__", (void *)report_and_enter, GSH_METH_VARARGS,
                                           NULL};
    static struct gsh_pymethoddef leave = {"__exit__", (void *)report_and_leave, GSH_METH_VARARGS,
                                           NULL};
    PyObject *class = gsh_py.PyObject_GetAttrString(warnings, "catch_warnings");
    if (class) {
        replace_method(class, &enter, &enter_scope);
        replace_method(class, &leave, &leave_scope);
        gsh_py.Py_DecRef(class);
    }
    gsh_python_error_clear();
}

/* ---- the interpreter's end ---- */

static PyObject *report_last(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    is_over = true;
    report_all();
    return gsh_py_none();
}

static void register_last(void)
{
    static struct gsh_pymethoddef definition = {"gpushim_errors", (void *)report_last,
                                                GSH_METH_NOARGS, NULL};
    is_over = !gsh_python_atexit_register(&definition); /* otherwise no report may be late */
}

/* ---- builtin functions ---- */

enum when { ALWAYS, FIRST_IS_SELF, FIRST_IS_STDERR, SECOND_IS_STDERR, SELF_IS_STDERR };
enum moment {
#define MOMENT(module, name, when) MOMENT_##module##_##name,
#include "warning_moments.def"
#undef MOMENT
    MOMENTS
};
/* Covers every calling convention with at most four arguments, which are all in registers: (self,
 * args, nargs, kwnames) or fewer. */
typedef PyObject *(*function)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
static function originals[MOMENTS];
static bool has_arguments[MOMENTS]; /* args points to the arguments, nargs is their count */
static bool takes_one[MOMENTS];     /* args is the only argument */

static bool is_number(PyObject *object, long long *number)
{
    int overflow;
    if (gsh_py_type(object) != gsh_py.PyLong_Type)
        return false;
    *number = gsh_py.PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
}

/* Whether argument `index` may equal `wanted`. True if that cannot be determined. */
static bool may_be(Py_ssize_t index, long long wanted, PyObject *const *args, Py_ssize_t count)
{
    long long number;
    return index >= count || !is_number(args[index], &number) || number == wanted;
}

static bool names_itself(PyObject *const *args, Py_ssize_t count)
{
    long long number;
    return count < 1 || !is_number(args[0], &number) || number <= 0 || number == getpid();
}

static bool applies(enum moment moment, enum when when, PyObject *self, PyObject *const *args,
                    Py_ssize_t count)
{
    PyObject *const only[] = {(PyObject *)(uintptr_t)args};
    if (when == SELF_IS_STDERR)
        return self == gsh_warning_state_stderr();
    if (takes_one[moment]) {
        args = only;
        count = 1;
    } else if (!has_arguments[moment]) {
        return true;
    }
    switch (when) {
    case FIRST_IS_SELF:
        return names_itself(args, count);
    case FIRST_IS_STDERR:
        return may_be(0, STDERR_FILENO, args, count);
    case SECOND_IS_STDERR:
        return may_be(1, STDERR_FILENO, args, count);
    case ALWAYS:
    case SELF_IS_STDERR:
        break;
    }
    return true;
}

static PyObject *report_and_call(enum moment moment, enum when when, PyObject *self,
                                 PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    if (applies(moment, when, self, args, count))
        report_all();
    return originals[moment](self, args, count, names);
}

#define MOMENT(module, name, when)                                                                 \
    static PyObject *call_##module##_##name(PyObject *self, PyObject *const *args,                 \
                                            Py_ssize_t count, PyObject *names)                     \
    {                                                                                              \
        return report_and_call(MOMENT_##module##_##name, when, self, args, count, names);          \
    }
#include "warning_moments.def"
#undef MOMENT

static const struct {
    const char *module, *name;
    function entry;
} moments[MOMENTS] = {
#define MOMENT(module, name, when) {#module, #name, call_##module##_##name},
#include "warning_moments.def"
#undef MOMENT
};

static PyObject *find_function(enum moment moment)
{
    PyObject *modules = gsh_py.PyImport_GetModuleDict();
    PyObject *module =
        modules ? gsh_py.PyDict_GetItemString(modules, moments[moment].module) : NULL;
    PyObject *found =
        module ? gsh_py.PyDict_GetItemString(gsh_py.PyModule_GetDict(module), moments[moment].name)
               : NULL;
    return found && gsh_py_type(found) == gsh_py.PyCFunction_Type ? found : NULL;
}

/* Finds a method of the class of stderr. */
static struct gsh_pymethoddef *find_method(enum moment moment)
{
    PyObject *self = gsh_warning_state_stderr();
    struct gsh_pymethoddef *method =
        self && !gsh_py_is_none(self) ? ((struct gsh_pytype *)gsh_py_type(self))->tp_methods : NULL;
    for (; method && method->ml_name; method++)
        if (strcmp(method->ml_name, moments[moment].name) == 0)
            return method;
    return NULL;
}

/* CPython hashes a builtin by its C function, which is replaced; os keeps sets of its own
 * functions. */
static PyObject *set_that_holds(PyObject *found)
{
    PyObject *modules = gsh_py.PyImport_GetModuleDict();
    PyObject *os = modules ? gsh_py.PyDict_GetItemString(modules, "os") : NULL;
    PyObject *set = os ? gsh_py.PyObject_GetAttrString(os, "supports_fd") : NULL;
    PyObject *is_there = set ? gsh_py.PyObject_CallMethod(set, "__contains__", "O", found) : NULL;
    bool holds = is_there == gsh_py._Py_TrueStruct;
    if (is_there)
        gsh_py.Py_DecRef(is_there);
    if (holds || !set)
        return set;
    gsh_py.Py_DecRef(set);
    return NULL;
}

static void change_set(PyObject *set, const char *how, PyObject *found)
{
    PyObject *done = set ? gsh_py.PyObject_CallMethod(set, how, "O", found) : NULL;
    if (done)
        gsh_py.Py_DecRef(done);
}

static void replace_entry(enum moment moment, struct gsh_pymethoddef *method)
{
    *(void **)&originals[moment] = method->ml_meth;
    has_arguments[moment] = (method->ml_flags & GSH_METH_FASTCALL) != 0;
    takes_one[moment] = (method->ml_flags & GSH_METH_O) != 0;
    __atomic_store_n(&method->ml_meth, *(void *const *)&moments[moment].entry, __ATOMIC_RELEASE);
    gsh_numpy_hooks_add("moment", moments[moment].name, NULL);
}

static void replace_function(enum moment moment)
{
    PyObject *found = find_function(moment);
    if (!found)
        return;
    PyObject *set = set_that_holds(found);
    change_set(set, "discard", found);
    replace_entry(moment, ((struct gsh_pycfunction *)found)->m_ml);
    change_set(set, "add", found);
    if (set)
        gsh_py.Py_DecRef(set);
    gsh_python_error_clear();
}

static void replace_moment(enum moment moment)
{
    struct gsh_pymethoddef *method;
    if (strcmp(moments[moment].module, "stderr") != 0)
        replace_function(moment);
    else if ((method = find_method(moment)) != NULL)
        replace_entry(moment, method);
}

void gsh_warning_scopes_install(PyObject *warnings, void (*report)(void))
{
    report_all = report;
    hook_scopes(warnings);
    for (enum moment moment = 0; moment < MOMENTS; moment++)
        replace_moment(moment);
    register_last();
}
