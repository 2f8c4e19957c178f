/* SPDX-License-Identifier: Apache-2.0
 *
 * warn_explicit (of the C module _warnings) processes a warning. It looks up four names in the
 * module warnings. If the state of the call is no longer in force, these names are replaced for the
 * duration of the lookup: the filters are the kept ones, defaultaction is the initial one, and the
 * other two are functions of this file. No Python code runs while they are replaced: WarningMessage
 * is called first and restores them.
 */
#include "warning_late.h"

#include "python_error.h"
#include "warning_filters.h"
#include "warning_state.h"

static PyObject *warn_explicit; /* owned, or NULL */

/* The place that a warning names; the members are owned. */
struct place {
    PyObject *file, *module, *registry;
    long line;
};

static PyObject *attribute(PyObject *object, const char *name)
{
    return object ? gsh_py.PyObject_GetAttrString(object, name) : NULL;
}

static PyObject *referenced(PyObject *object)
{
    if (object)
        gsh_py.Py_IncRef(object);
    return object;
}

/* globals["__warningregistry__"], created if it does not exist. */
static PyObject *registry_of(PyObject *globals)
{
    static const char name[] = "__warningregistry__";
    PyObject *registry = gsh_py.PyDict_GetItemString(globals, name);
    if (registry && gsh_py_type(registry) == gsh_py.PyDict_Type)
        return referenced(registry);
    registry = gsh_py.PyDict_New();
    if (registry)
        gsh_py.PyDict_SetItemString(globals, name, registry);
    return registry;
}

/* The registry of a place: its module's if the module is still loaded, else one kept with the
 * place. */
static PyObject *noted_registry(const struct gsh_python_place_info *info)
{
    PyObject *modules = gsh_py.PyImport_GetModuleDict();
    PyObject *module =
        info->module && modules ? gsh_py.PyDict_GetItem(modules, info->module) : NULL;
    PyObject *globals = attribute(module, "__dict__"), *registry = NULL;
    gsh_python_error_clear();
    if (globals && globals == info->globals)
        registry = registry_of(globals);
    else
        registry = referenced(*info->kept ? *info->kept : (*info->kept = gsh_py.PyDict_New()));
    if (globals)
        gsh_py.Py_DecRef(globals);
    return registry;
}

static void find_noted(const struct gsh_python_place_info *info, struct place *place)
{
    *place = (struct place){.registry = noted_registry(info),
                            .file = attribute(info->code, "co_filename"),
                            .module = info->module ? referenced(info->module)
                                                   : gsh_py.Py_BuildValue("s", "<string>"),
                            .line = info->line};
}

/* The place that runs at this moment. */
static void find_present(struct place *place)
{
    PyObject *frame = gsh_py.PyEval_GetFrame(); /* borrowed; NULL: Python is ending */
    PyObject *code = frame ? gsh_py.PyFrame_GetCode(frame) : NULL;
    PyObject *globals = attribute(frame, "f_globals");
    PyObject *module = globals ? gsh_py.PyDict_GetItemString(globals, "__name__") : NULL;
    *place = (struct place){
        .file = frame ? attribute(code, "co_filename") : gsh_py.Py_BuildValue("s", "sys"),
        .module =
            module ? referenced(module) : gsh_py.Py_BuildValue("s", frame ? "<string>" : "sys"),
        .registry = globals ? registry_of(globals) : gsh_py.PyDict_New(),
        .line = frame ? gsh_py.PyFrame_GetLineNumber(frame) : 1};
    PyObject *const made[] = {code, globals};
    gsh_py_drop(made, GSH_COUNT(made));
}

static void tell(PyObject *text, const struct place *place)
{
    PyObject *done = gsh_py.PyObject_CallFunction(
        warn_explicit, "OOOlOO", text, *(PyObject **)gsh_py.PyExc_RuntimeWarning, place->file,
        place->line, place->module, place->registry);
    if (done)
        gsh_py.Py_DecRef(done);
}

/* ---- under the kept state ---- */

enum { FILTERS, DEFAULT, MESSAGE, SHOW, PATCHED };
static const char *const patched_names[PATCHED] = {"filters", "defaultaction", "WarningMessage",
                                                   "_showwarnmsg"};
static PyObject *replacements[PATCHED]; /* the replacements; owned except for FILTERS */
static PyObject *replaced[PATCHED];     /* the originals while replaced; owned */
static bool is_patched;

static bool patch(void)
{
    PyObject *names = gsh_warning_state_names();
    replacements[FILTERS] = gsh_warning_filters_kept();
    for (int i = 0; i < PATCHED; i++) {
        replaced[i] = names ? gsh_py.PyDict_GetItemString(names, patched_names[i]) : NULL;
        if (!replacements[i] || !replaced[i])
            return false;
    }
    for (int i = 0; i < PATCHED; i++) {
        gsh_py.Py_IncRef(replaced[i]);
        gsh_py.PyDict_SetItemString(names, patched_names[i], replacements[i]);
    }
    is_patched = true;
    return true;
}

static void restore(void)
{
    for (int i = 0; is_patched && i < PATCHED; i++)
        gsh_py.PyDict_SetItemString(gsh_warning_state_names(), patched_names[i], replaced[i]);
    if (is_patched)
        gsh_py_drop(replaced, PATCHED);
    is_patched = false;
}

/* WarningMessage(...) */
static PyObject *make_message(PyObject *self, PyObject *args)
{
    (void)self;
    restore();
    PyObject *class =
        referenced(gsh_py.PyDict_GetItemString(gsh_warning_state_names(), patched_names[MESSAGE]));
    PyObject *message = gsh_py.PyObject_Call(class, args, NULL);
    gsh_py.Py_DecRef(class);
    return message;
}

/* _showwarnmsg(message) */
static PyObject *show_message(PyObject *self, PyObject *message)
{
    PyObject *format = gsh_warning_state_format(), *write = gsh_warning_state_write();
    (void)self;
    if (!format || !write)
        return referenced(gsh_py._Py_NoneStruct);
    PyObject *line = gsh_py.PyObject_CallFunction(format, "O", message);
    PyObject *done = line ? gsh_py.PyObject_CallFunction(write, "O", line) : NULL;
    if (line)
        gsh_py.Py_DecRef(line);
    return done;
}

static void tell_as_kept(PyObject *text, const struct place *place)
{
    if (patch()) {
        tell(text, place);
        restore();
    }
}

static void make_replacements(void)
{
    static struct gsh_pymethoddef message = {"WarningMessage", (void *)make_message,
                                             GSH_METH_VARARGS, NULL};
    static struct gsh_pymethoddef show = {"_showwarnmsg", (void *)show_message, GSH_METH_O, NULL};
    replacements[DEFAULT] = gsh_py.Py_BuildValue("s", "default");
    replacements[MESSAGE] = gsh_py.PyCFunction_NewEx(&message, NULL, NULL);
    replacements[SHOW] = gsh_py.PyCFunction_NewEx(&show, NULL, NULL);
}

/* ---- */

void gsh_warning_late_tell(PyObject *text, struct gsh_python_place noted)
{
    struct gsh_python_place_info info;
    struct place place;
    if (gsh_python_place_find(noted, &info))
        find_noted(&info, &place);
    else
        find_present(&place);
    bool is_known = warn_explicit && place.file && place.module && place.registry;
    if (is_known && gsh_warning_state_has_changed())
        tell_as_kept(text, &place);
    else if (is_known)
        tell(text, &place);
    PyObject *const made[] = {place.file, place.module, place.registry};
    gsh_py_drop(made, GSH_COUNT(made));
}

void gsh_warning_late_init(void)
{
    PyObject *modules = gsh_py.PyImport_GetModuleDict();
    PyObject *module = modules ? gsh_py.PyDict_GetItemString(modules, "_warnings") : NULL;
    warn_explicit = attribute(module, "warn_explicit");
    make_replacements();
    gsh_python_place_init();
    gsh_python_error_clear();
}
