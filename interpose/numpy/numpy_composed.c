/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The texts are compiled by the first call that needs one. Their code objects bear a name that begins as those of
 * frozen modules do, so that profilers and the line report take them for no code of the program's.
 */
#include "numpy_composed.h"

#include "clock.h"
#include "coherence.h"
#include "composition.h"
#include "decide.h"
#include "dispatch.h"
#include "numpy_describe.h"
#include "python_error.h"
#include "stats.h"

#define PY_FILE_INPUT 257

static const char begin[] =
    "for text in texts[0]: exec(compile(text, '<frozen gpushim>', 'exec'))\n";
static PyObject *names; /* of the texts; NULL: not compiled yet */
static bool is_broken;

/* ---- is an operand on the device? ---- */

/* Of arrays among the operands. */
struct concern {
    bool is_large, is_resident;
};

static bool look_at_array(PyObject *object, void *context)
{
    struct concern *concern = context;
    const struct gsh_ndarray *array = gsh_numpy_array(object);
    bool is_resident = gsh_coherence_is_resident(array->data);
    bool is_forced = gsh_dispatch_min_elements == 0;
    bool is_large = is_resident && gsh_numpy_describe_size(array) >= GSH_DECIDE_LEAST_ELEMENTS;
    concern->is_resident |= is_resident;
    concern->is_large |= gsh_numpy_is_array(object) && (is_forced || is_large);
    return false;
}

static void look_at(PyObject *object, struct concern *concern)
{
    if (gsh_numpy_describe_is_array_like(object))
        look_at_array(object, concern);
    else
        gsh_numpy_describe_search(object, look_at_array, concern);
}

static struct concern look_at_all(const struct gsh_method_call *call, bool has_self)
{
    struct concern concern = {false, false};
    Py_ssize_t keywords = call->kwnames ? gsh_py_size(call->kwnames) : 0, position = 0;
    PyObject *name, *value;
    if (has_self)
        look_at(call->self, &concern);
    for (size_t i = 0; i < call->nargs + (size_t)keywords; i++)
        look_at(call->args[i], &concern);
    while (call->kwdict && gsh_py.PyDict_Next(call->kwdict, &position, &name, &value))
        look_at(value, &concern);
    return concern;
}

/* ---- the call ---- */

/* Two lists, or NULL with a Python error. */
static PyObject *make_texts(void)
{
#define X(name) "s"
    static const char format[] =
        "([" GSH_NUMPY_COMPOSED_TEXTS(X) "],[" GSH_NUMPY_COMPOSED_LATER(X) "])";
#undef X
#define X(name) , gsh_python_text_##name
    return gsh_py.Py_BuildValue(format GSH_NUMPY_COMPOSED_TEXTS(X) GSH_NUMPY_COMPOSED_LATER(X));
#undef X
}

PyObject *gsh_numpy_composed_names(void)
{
    if (!names && !is_broken) {
        PyObject *globals = gsh_py_names(), *texts = make_texts(), *done = NULL;
        if (globals && texts && gsh_py.PyDict_SetItemString(globals, "texts", texts) == 0 &&
            gsh_py.PyDict_SetItemString(globals, "m", gsh_np.module) == 0)
            done = gsh_py.PyRun_StringFlags(begin, PY_FILE_INPUT, globals, globals, NULL);
        is_broken = !done && gsh_python_error_clear();
        names = done ? globals : NULL;
        PyObject *const dropped[] = {texts, done, done ? NULL : globals};
        gsh_py_drop(dropped, GSH_COUNT(dropped));
    }
    return names;
}

static PyObject *make_arguments(const char *name, const struct gsh_method_call *call, bool has_self)
{
    PyObject *items[GSH_METHOD_MAX_ARGS + 2], *tuple = NULL;
    unsigned count = 0;
    items[count++] = gsh_py.Py_BuildValue("s", name);
    if (has_self)
        items[count++] = call->self;
    for (size_t i = 0; i < GSH_MIN(call->nargs, (size_t)GSH_METHOD_MAX_ARGS); i++)
        items[count++] = call->args[i];
    for (unsigned i = 1; i < count; i++)
        gsh_py.Py_IncRef(items[i]);
    if (items[0] && call->nargs <= GSH_METHOD_MAX_ARGS)
        tuple = gsh_py_tuple(items, count);
    if (!tuple)
        gsh_py_drop(items, count);
    return tuple;
}

/* A new reference, or NULL with a Python error. */
static PyObject *make_keywords(const struct gsh_method_call *call)
{
    PyObject *keywords = gsh_py.PyDict_New(), *name, *value;
    Py_ssize_t count = call->kwnames ? gsh_py_size(call->kwnames) : 0, position = 0;
    for (Py_ssize_t i = 0; keywords && i < count; i++)
        gsh_py.PyDict_SetItem(keywords, gsh_py.PyTuple_GetItem(call->kwnames, i),
                              call->args[call->nargs + (size_t)i]);
    while (keywords && call->kwdict && gsh_py.PyDict_Next(call->kwdict, &position, &name, &value))
        gsh_py.PyDict_SetItem(keywords, name, value);
    return keywords;
}

bool gsh_numpy_composed_offer(struct gsh_pymethoddef *definitions, size_t count)
{
    PyObject *globals = gsh_numpy_composed_names();
    bool is_set = globals != NULL;
    for (size_t i = 0; is_set && i < count; i++) {
        const char *name = definitions[i].ml_name;
        if (gsh_py.PyDict_GetItemString(globals, name))
            continue;
        PyObject *function = gsh_py.PyCFunction_NewEx(&definitions[i], NULL, NULL);
        is_set = function && gsh_py.PyDict_SetItemString(globals, name, function) == 0;
        gsh_py_drop(&function, 1);
    }
    if (!is_set)
        gsh_python_error_clear();
    return is_set;
}

PyObject *gsh_numpy_composed_run(const char *name, const struct gsh_method_call *call,
                                 bool has_self)
{
    PyObject *globals = gsh_numpy_composed_names(), *result = NULL;
    PyObject *function = globals ? gsh_py.PyDict_GetItemString(globals, "compose") : NULL;
    PyObject *arguments = function ? make_arguments(name, call, has_self) : NULL;
    PyObject *keywords = arguments ? make_keywords(call) : NULL;
    if (keywords)
        result = gsh_py.PyObject_Call(function, arguments, keywords);
    PyObject *const dropped[] = {arguments, keywords};
    gsh_py_drop(dropped, GSH_COUNT(dropped));
    if (!result)
        gsh_python_error_clear();
    if (result != gsh_py._Py_NotImplementedStruct)
        return result;
    gsh_py.Py_DecRef(result);
    return NULL;
}

PyObject *gsh_numpy_composed_call(const char *name, const struct gsh_method_call *call,
                                  bool has_self, enum gsh_reason *why)
{
    struct concern concern = look_at_all(call, has_self);
    *why = concern.is_resident ? GSH_REASON_TOO_SMALL : GSH_REASON_NONE;
    if (!concern.is_large || !gsh_dispatch_is_live())
        return NULL;
    *why = GSH_REASON_OPERAND;
    return gsh_numpy_composed_run(name, call, has_self);
}

/* ---- operands on the host ---- */

/* A call whose original runs and is measured. One a thread: what the original calls is part of it. */
static _Thread_local struct trial {
    const struct gsh_method_call *call; /* NULL: none */
    struct gsh_composition composition;
    uint64_t began; /* ns */
} trial;

static double seconds_since(uint64_t began)
{
    return (double)(gsh_clock_ns() - began) * 1e-9;
}

static void add_operand(PyObject *object, struct gsh_composition *composition)
{
    if (!gsh_numpy_is_array(object))
        return;
    const struct gsh_ndarray *array = gsh_numpy_array(object);
    char *low, *high;
    if (gsh_numpy_describe_size(array) < GSH_DECIDE_LEAST_ELEMENTS)
        return;
    gsh_numpy_describe_extent(array, &low, &high);
    (void)gsh_composition_add(composition, low, (size_t)(high - low));
}

/* Of the arguments that are read, those that are large arrays. */
static void add_operands(const struct gsh_method_call *call, unsigned writes,
                         struct gsh_composition *composition)
{
    size_t keywords = call->kwnames ? (size_t)gsh_py_size(call->kwnames) : 0;
    Py_ssize_t position = 0;
    PyObject *name, *value;
    for (size_t i = 0; i < call->nargs + keywords; i++)
        if (i >= GSH_METHOD_MAX_ARGS || !(writes & GSH_METHOD_WRITES_ARG(i)))
            add_operand(call->args[i], composition);
    while (call->kwdict && gsh_py.PyDict_Next(call->kwdict, &position, &name, &value))
        add_operand(value, composition);
}

static PyObject *run_uploaded(const char *name, const struct gsh_method_call *call, bool has_self,
                              const struct gsh_composition *composition, enum gsh_reason *why)
{
    uint64_t began = gsh_clock_ns();
    PyObject *made = gsh_numpy_composed_run(name, call, has_self);
    gsh_composition_note_composed(composition, made != NULL, seconds_since(began));
    *why = made ? GSH_REASON_NONE : GSH_REASON_OPERAND;
    return made;
}

PyObject *gsh_numpy_composed_call_priced(const char *name, const struct gsh_method_call *call,
                                         bool has_self, unsigned writes, enum gsh_reason *why,
                                         unsigned *row)
{
    struct gsh_composition composition;
    PyObject *made = NULL;
    *why = GSH_REASON_NONE;
    if (gsh_coherence_is_in_use())
        made = gsh_numpy_composed_call(name, call, has_self, why);
    if (made || *why != GSH_REASON_NONE || trial.call || !gsh_dispatch_is_live())
        return made;
    gsh_composition_begin(&composition, 0);
    add_operands(call, writes, &composition);
    if (composition.count == 0)
        return NULL;
    composition.row = *row = gsh_stats_row(name, "");
    *why = gsh_composition_decide(&composition);
    if (*why == GSH_REASON_NONE)
        return run_uploaded(name, call, has_self, &composition, why);
    trial = (struct trial){call, composition, gsh_clock_ns()};
    return NULL;
}

void gsh_numpy_composed_note_original(const struct gsh_method_call *call)
{
    if (GSH_LIKELY(trial.call != call))
        return;
    gsh_composition_note_host(&trial.composition, seconds_since(trial.began));
    trial.call = NULL;
}

PyObject *gsh_numpy_composed_array(PyObject *operand, enum gsh_reason *why)
{
    const struct gsh_method_call call = {NULL, &operand, 1, NULL, NULL};
    *why = GSH_REASON_NONE;
    return gsh_numpy_describe_begins_with_array(operand)
               ? gsh_numpy_composed_call("asarray", &call, false, why)
               : NULL;
}
