/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks names in the modules warnings and sys, in sys.modules, and among the attributes of the
 * initial stderr. Up to Python 3.11 the dicts' version tags show that no name changed. From 3.12 on
 * a watcher (PyDict_Watch) only sets a flag, because it runs before the change. Without either, the
 * names are looked up each time. The filters change within their list, which is compared each time.
 */
#include "warning_state.h"

#include "python_error.h"
#include "warning_filters.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum dict { WARNINGS, SYS, MODULES, STDERR_ATTRIBUTES, DICTS };
/* Names whose values determine where a warning goes. */
enum name {
    SHOW_WARNING,
    SHOW_MESSAGE,
    SHOW_MESSAGE_IMPL,
    FORMAT_WARNING,
    FORMAT_MESSAGE,
    FORMAT_MESSAGE_IMPL,
    STDERR,
    MODULE,
    WRITE,
    NAMES
};
static const struct {
    enum dict dict;
    const char *text;
} names[NAMES] = {[SHOW_WARNING] = {WARNINGS, "showwarning"},
                  [SHOW_MESSAGE] = {WARNINGS, "_showwarnmsg"},
                  [SHOW_MESSAGE_IMPL] = {WARNINGS, "_showwarnmsg_impl"},
                  [FORMAT_WARNING] = {WARNINGS, "formatwarning"},
                  [FORMAT_MESSAGE] = {WARNINGS, "_formatwarnmsg"},
                  [FORMAT_MESSAGE_IMPL] = {WARNINGS, "_formatwarnmsg_impl"},
                  [STDERR] = {SYS, "stderr"},
                  [MODULE] = {MODULES, "warnings"},
                  [WRITE] = {STDERR_ATTRIBUTES, "write"} /* set on the instance */};

static PyObject *dicts[DICTS];
static PyObject *keys[NAMES], *filters_key, *default_key; /* interned */
static PyObject *originals[NAMES];                        /* owned; NULL: not seen yet */
static PyObject *context_variable; /* of context-aware warnings, if enabled; owned */
static PyObject *filters;      /* warnings.filters at the last check, borrowed; NULL: not a list */
static PyObject *write_method; /* of the initial stderr, from its class; owned */
static bool is_unobservable, kept_is_unobservable;
static bool is_recorded; /* warnings are only appended to a list: catch_warnings(record=True) */
static bool is_kept;     /* the kept filters are those of the kept state */

/* ---- change detection ---- */

static bool is_touched = true; /* set by the watcher */
static bool has_versions, has_watcher;
static uint64_t seen_versions[DICTS];

static int note_touched(int event, PyObject *dict, PyObject *key, PyObject *value)
{
    (void)event, (void)dict, (void)key, (void)value;
    is_touched = true;
    return 0;
}

static void watch_dicts(void)
{
    int (*add_watcher)(int (*)(int, PyObject *, PyObject *, PyObject *)), (*watch)(int, PyObject *);
    *(void **)&add_watcher = dlsym(RTLD_DEFAULT, "PyDict_AddWatcher");
    *(void **)&watch = dlsym(RTLD_DEFAULT, "PyDict_Watch");
    has_versions = atoi(gsh_py.Py_GetVersion() + 2) <= 11;
    if (!has_versions && add_watcher && watch) {
        int id = add_watcher(note_touched);
        has_watcher = id >= 0;
        for (int i = 0; has_watcher && i < DICTS; i++)
            has_watcher = dicts[i] == NULL || watch(id, dicts[i]) == 0;
    }
    gsh_python_error_clear();
}

/* PyDictObject.ma_version_tag of 3.9-3.11 */
static uint64_t version_of(PyObject *dict)
{
    return *(const uint64_t *)((const char *)dict + 24);
}

static bool was_touched(void)
{
    if (!has_versions)
        return !has_watcher || is_touched;
    for (int i = 0; i < DICTS; i++)
        if (dicts[i] && version_of(dicts[i]) != seen_versions[i])
            return true;
    return false;
}

static void note_seen(void)
{
    is_touched = false;
    for (int i = 0; has_versions && i < DICTS; i++)
        seen_versions[i] = dicts[i] ? version_of(dicts[i]) : 0;
}

/* ---- the current state ---- */

static bool has_text(PyObject *object, const char *text)
{
    return object != NULL && gsh_py_type(object) == gsh_py.PyUnicode_Type &&
           gsh_py.PyUnicode_CompareWithASCIIString(object, text) == 0;
}

/* Whether a function is the module's own. Checks its code and globals, since wrappers copy __name__
 * and __module__. */
static bool is_genuine(PyObject *function, const char *name)
{
    PyObject *code = gsh_py.PyObject_GetAttrString(function, "__code__");
    PyObject *code_name = code ? gsh_py.PyObject_GetAttrString(code, "co_name") : NULL;
    PyObject *globals = code_name ? gsh_py.PyObject_GetAttrString(function, "__globals__") : NULL;
    PyObject *module = globals ? gsh_py.PyDict_GetItemString(globals, "__name__") : NULL;
    bool is_own = has_text(code_name, name) &&
                  (has_text(module, "warnings") || has_text(module, "_py_warnings"));
    PyObject *const made[] = {code, code_name, globals};
    gsh_py_drop(made, GSH_COUNT(made));
    gsh_python_error_clear();
    return is_own;
}

static bool is_original(enum name name, PyObject *value)
{
    if (originals[name] == NULL && value && name < STDERR && is_genuine(value, names[name].text)) {
        gsh_py.Py_IncRef(value);
        originals[name] = value;
    }
    return value == originals[name] && (value != NULL || name == WRITE);
}

static PyObject *find_value(enum name name)
{
    PyObject *dict = dicts[names[name].dict];
    return dict ? gsh_py.PyDict_GetItem(dict, keys[name]) : NULL;
}

/* Whether the function is a list's method append. */
static bool is_list_append(PyObject *function)
{
    if (!function || gsh_py_type(function) != gsh_py.PyCFunction_Type)
        return false;
    PyObject *self = gsh_py.PyObject_GetAttrString(function, "__self__");
    PyObject *name = gsh_py.PyObject_GetAttrString(function, "__name__");
    bool is_append =
        self && gsh_py_type(self) == gsh_py.PyList_Type && name && has_text(name, "append");
    gsh_py_drop((PyObject *const[]){self, name}, 2);
    gsh_python_error_clear();
    return is_append;
}

static void look(void)
{
    bool is_own[NAMES];
    note_seen();
    is_unobservable = has_text(gsh_py.PyDict_GetItem(dicts[WARNINGS], default_key), "default");
    for (enum name name = 0; name < NAMES; name++) {
        is_own[name] = is_original(name, find_value(name));
        is_unobservable &= is_own[name];
    }
    is_recorded = is_own[MODULE] && is_own[SHOW_WARNING] && is_own[SHOW_MESSAGE] &&
                  is_list_append(find_value(SHOW_MESSAGE_IMPL));
    filters = gsh_py.PyDict_GetItem(dicts[WARNINGS], filters_key);
    if (filters && gsh_py_type(filters) != gsh_py.PyList_Type)
        filters = NULL;
}

/* Whether a catch_warnings of this context is active. */
static bool is_in_context(void)
{
    PyObject *value = NULL;
    if (!context_variable)
        return false;
    if (gsh_py.PyContextVar_Get(context_variable, NULL, &value) < 0)
        gsh_python_error_clear();
    if (value)
        gsh_py.Py_DecRef(value);
    return value != NULL;
}

bool gsh_warning_state_has_changed(void)
{
    if (dicts[WARNINGS] == NULL)
        return false;
    if (was_touched())
        look();
    bool is_now_unobservable = is_unobservable && !is_in_context();
    return is_now_unobservable != kept_is_unobservable || (filters != NULL) != is_kept ||
           (filters && !gsh_warning_filters_is_kept(filters));
}

void gsh_warning_state_keep(void)
{
    if (dicts[WARNINGS] == NULL)
        return;
    if (was_touched())
        look();
    kept_is_unobservable = is_unobservable && !is_in_context();
    if (is_unobservable && !write_method && dicts[STDERR_ATTRIBUTES])
        write_method = gsh_py.PyObject_GetAttrString(originals[STDERR], "write");
    gsh_python_error_clear();
    is_kept = filters != NULL;
    if (is_kept)
        gsh_warning_filters_keep(filters);
}

bool gsh_warning_state_may_be_late(bool always)
{
    return is_kept && (kept_is_unobservable || always) && !gsh_warning_filters_may_raise();
}

bool gsh_warning_state_may_raise(void)
{
    return !is_kept || !(kept_is_unobservable || is_recorded) || gsh_warning_filters_may_raise();
}

PyObject *gsh_warning_state_format(void)
{
    return originals[FORMAT_MESSAGE_IMPL];
}

PyObject *gsh_warning_state_stderr(void)
{
    return originals[STDERR];
}

PyObject *gsh_warning_state_write(void)
{
    return write_method;
}

PyObject *gsh_warning_state_names(void)
{
    return dicts[WARNINGS];
}

/* ---- start ---- */

static bool intern_names(void)
{
    filters_key = gsh_py.PyUnicode_InternFromString("filters");
    default_key = gsh_py.PyUnicode_InternFromString("defaultaction");
    bool good = filters_key && default_key;
    for (enum name name = 0; name < NAMES; name++) {
        keys[name] = gsh_py.PyUnicode_InternFromString(names[name].text);
        good &= keys[name] != NULL;
    }
    return good;
}

static void find_context_variable(PyObject *flags)
{
    PyObject *flag = flags ? gsh_py.PyObject_GetAttrString(flags, "context_aware_warnings") : NULL;
    if (flag && gsh_py.PyObject_IsTrue(flag) == 1) {
        context_variable = gsh_py.PyDict_GetItemString(dicts[WARNINGS], "_warnings_context");
        if (context_variable)
            gsh_py.Py_IncRef(context_variable);
    }
    if (flag)
        gsh_py.Py_DecRef(flag);
    gsh_python_error_clear();
}

/* The dicts, with a reference to each or to its owner. */
static void find_dicts(PyObject *warnings, PyObject *sys)
{
    PyObject *modules = gsh_py.PyImport_GetModuleDict();
    dicts[SYS] = gsh_py.PyModule_GetDict(sys);
    dicts[WARNINGS] = gsh_py.PyModule_GetDict(warnings);
    dicts[MODULES] = modules;
    originals[MODULE] = warnings;
    originals[STDERR] = gsh_py.PyDict_GetItemString(dicts[SYS], "__stderr__");
    PyObject *const owners[] = {warnings, sys, modules, originals[STDERR]};
    for (size_t i = 0; i < GSH_COUNT(owners); i++)
        if (owners[i])
            gsh_py.Py_IncRef(owners[i]);
    if (originals[STDERR] && !gsh_py_is_none(originals[STDERR]))
        dicts[STDERR_ATTRIBUTES] = gsh_py.PyObject_GetAttrString(originals[STDERR], "__dict__");
    gsh_python_error_clear();
    if (dicts[STDERR_ATTRIBUTES] && gsh_py_type(dicts[STDERR_ATTRIBUTES]) != gsh_py.PyDict_Type)
        dicts[STDERR_ATTRIBUTES] = NULL;
}

void gsh_warning_state_init(PyObject *warnings)
{
    PyObject *sys = gsh_py.PyDict_GetItemString(gsh_py.PyImport_GetModuleDict(), "sys");
    if (sys && intern_names()) {
        find_dicts(warnings, sys);
        find_context_variable(gsh_py.PyDict_GetItemString(dicts[SYS], "flags"));
        watch_dicts();
        gsh_warning_state_keep();
    }
    gsh_python_error_clear();
}
