/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The hooks are the only state kept between calls. Re-entry (an original that calls
 * back into Python) is safe. Takes no lock.
 */
#include "numpy_method_patch.h"

#include "arena.h"
#include "coherence.h"
#include "dispatch.h"
#include "log.h"
#include "numpy_composed.h"
#include "numpy_fallback.h"
#include "numpy_output.h"
#include "numpy_verify.h"
#include "python_error.h"
#include "readers.h"
#include "stats.h"

#include <string.h>

typedef PyObject *(*fastcall_keywords)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
typedef PyObject *(*fastcall)(PyObject *, PyObject *const *, Py_ssize_t);
typedef PyObject *(*varargs_keywords)(PyObject *, PyObject *, PyObject *);
typedef PyObject *(*varargs)(PyObject *, PyObject *);

/* installation */

static struct gsh_pymethoddef *find_in_table(PyObject *type, const char *name)
{
    struct gsh_pymethoddef *method = ((struct gsh_pytype *)type)->tp_methods;
    for (; method && method->ml_name; method++)
        if (strcmp(method->ml_name, name) == 0)
            return method;
    return NULL;
}

/* The candidate modules of each table; the first one present is used. */
static const char *const modules_of[][2] = {
    [GSH_METHOD_FFT_MODULE] = {"numpy.fft._pocketfft_internal"},
    [GSH_METHOD_SCIPY_FFT] = {"scipy.fft._duccfft.pyduccfft", "scipy.fft._pocketfft.pypocketfft"},
    [GSH_METHOD_SCIPY_LINALG] = {"scipy.linalg._batched_linalg"},
    [GSH_METHOD_SCIPY_NDIMAGE] = {"scipy.ndimage._nd_image"},
    [GSH_METHOD_SCIPY_RANK] = {"scipy.ndimage._rank_filter_1d"},
    [GSH_METHOD_SCIPY_LABEL] = {"scipy.ndimage._ni_label"},
    [GSH_METHOD_SCIPY_SIGNAL] = {"scipy.signal._sigtools"},
    [GSH_METHOD_SCIPY_SOSFILT] = {"scipy.signal._sosfilt"},
    [GSH_METHOD_SCIPY_UPFIRDN] = {"scipy.signal._upfirdn_apply"},
    [GSH_METHOD_SCIPY_SPARSE] = {"scipy.sparse._sparsetools"},
    [GSH_METHOD_SCIPY_DISTANCE] = {"scipy.spatial._distance_pybind"},
    [GSH_METHOD_SCIPY_COSINE] = {"scipy.spatial._distance_wrap"},
    [GSH_METHOD_SCIPY_SPLINE] = {"scipy.interpolate._dierckx"},
    [GSH_METHOD_SCIPY_GRID] = {"scipy.interpolate._rgi_cython"},
    [GSH_METHOD_SCIPY_GRID_LINEAR] = {"scipy.interpolate._rgi_cython"},
    [GSH_METHOD_SCIPY_PIECEWISE] = {"scipy.interpolate._ppoly"},
};

/* The functions of Cython's that are one for several types; their hooks are named by the type. */
static const char *const fused_functions[] = {
    [GSH_METHOD_SCIPY_SOSFILT] = "_sosfilt",
    [GSH_METHOD_SCIPY_UPFIRDN] = "_apply",
    [GSH_METHOD_SCIPY_GRID_LINEAR] = "evaluate_linear_2d",
    [GSH_METHOD_SCIPY_PIECEWISE] = "evaluate",
};

static PyObject *find_names(enum gsh_method_table table)
{
    PyObject *modules = gsh_py.PyImport_GetModuleDict(), *module = NULL;
    if (table == GSH_METHOD_MODULE)
        return gsh_np.dict;
    for (size_t i = 0; i < 2 && modules && !module && modules_of[table][i]; i++)
        module = gsh_py.PyDict_GetItemString(modules, modules_of[table][i]);
    return module ? gsh_py.PyModule_GetDict(module) : NULL;
}

/* The definition of a method of an extension type: a builtin one (before NumPy 2), or a function of Cython's, which
 * extends PyCFunctionObject. Other layouts are not known. */
static struct gsh_pymethoddef *definition_of(PyObject *function)
{
    const struct gsh_pytype *type = (const struct gsh_pytype *)gsh_py_type(function);
    const char *dot = strrchr(type->tp_name, '.');
    const char *name = dot ? dot + 1 : type->tp_name;
    if (strcmp(name, "method_descriptor") == 0)
        return ((struct gsh_pymethoddescr *)function)->d_method;
    if ((strcmp(name, "cython_function_or_method") == 0 ||
         strcmp(name, "fused_cython_function") == 0) &&
        type->tp_vectorcall_offset == GSH_PYCFUNCTION_VECTORCALL)
        return ((struct gsh_pycfunction *)function)->m_ml;
    return NULL;
}

/* The names of numpy.random; NULL: it is not being imported. Kept, because they are asked for thousands of times meanwhile. */
static PyObject *names_of_random(void)
{
    static PyObject *names;
    if (names)
        return names;
    PyObject *modules = gsh_py.PyImport_GetModuleDict();
    PyObject *module = modules ? gsh_py.PyDict_GetItemString(modules, "numpy.random") : NULL;
    names = module ? gsh_py.PyModule_GetDict(module) : NULL;
    if (names)
        gsh_py.Py_IncRef(names);
    return names;
}

/* Of a class of numpy.random, once the package has been imported: the initialisation of its modules has then ended. */
static struct gsh_pymethoddef *find_in_random(const char *class, const char *name)
{
    PyObject *names = names_of_random();
    bool is_there = names && gsh_py.PyDict_GetItemString(names, "default_rng");
    PyObject *type = is_there ? gsh_py.PyDict_GetItemString(names, class) : NULL;
    PyObject *function = type ? gsh_py.PyObject_GetAttrString(type, name) : NULL;
    struct gsh_pymethoddef *method = function ? definition_of(function) : NULL;
    if (function)
        gsh_py.Py_DecRef(function); /* the type keeps it */
    else
        gsh_python_error_clear();
    return method && strcmp(method->ml_name, name) == 0 ? method : NULL;
}

/* Of a fused function of Cython's, the one for a type. */
static struct gsh_pymethoddef *find_for_type(PyObject *names, const char *function,
                                             const char *type)
{
    PyObject *fused = names ? gsh_py.PyDict_GetItemString(names, function) : NULL;
    PyObject *all = fused ? gsh_py.PyObject_GetAttrString(fused, "__signatures__") : NULL;
    PyObject *one = all && gsh_py_type(all) == gsh_py.PyDict_Type
                        ? gsh_py.PyDict_GetItemString(all, type)
                        : NULL;
    struct gsh_pymethoddef *method = one ? definition_of(one) : NULL;
    if (all)
        gsh_py.Py_DecRef(all); /* the function keeps it */
    else
        gsh_python_error_clear();
    return method;
}

static struct gsh_pymethoddef *find_method(const struct gsh_method_hook *hook)
{
    if (hook->table == GSH_METHOD_GENERATOR)
        return find_in_random("Generator", hook->name);
    if (hook->table == GSH_METHOD_RANDOM_STATE)
        return find_in_random("RandomState", hook->name);
    if (hook->table == GSH_METHOD_UFUNC)
        return find_in_table(gsh_np.ufunc_type, hook->name);
    if (hook->table == GSH_METHOD_NDARRAY)
        return find_in_table(gsh_np.ndarray_type, hook->name);
    PyObject *names = find_names(hook->table);
    if (hook->table < GSH_COUNT(fused_functions) && fused_functions[hook->table])
        return find_for_type(names, fused_functions[hook->table], hook->name);
    PyObject *function = names ? gsh_py.PyDict_GetItemString(names, hook->name) : NULL;
    if (function && gsh_py_type(function) == gsh_py.PyCFunction_Type)
        return ((struct gsh_pycfunction *)function)->m_ml;
    return function ? definition_of(function) : NULL;
}

bool gsh_numpy_method_patch_finds(const struct gsh_method_hook *hook)
{
    return find_method(hook) != NULL;
}

static void *entry_for_flags(const struct gsh_method_hook *hook, int flags)
{
    switch (flags) {
    case GSH_METH_FASTCALL | GSH_METH_KEYWORDS:
        return hook->fastcall_keywords;
    case GSH_METH_FASTCALL:
        return hook->fastcall;
    case GSH_METH_VARARGS | GSH_METH_KEYWORDS:
        return hook->varargs_keywords;
    case GSH_METH_VARARGS:
        return hook->varargs;
    default:
        return NULL;
    }
}

bool gsh_numpy_method_patch_install(struct gsh_method_hook *hook)
{
    static const char *const families[] = {
        [GSH_METHOD_UFUNC] = "ufunc method",
        [GSH_METHOD_NDARRAY] = "method",
        [GSH_METHOD_MODULE] = "module",
        [GSH_METHOD_FFT_MODULE] = "fft module",
        [GSH_METHOD_SCIPY_FFT] = "scipy.fft module",
        [GSH_METHOD_SCIPY_LINALG] = "scipy.linalg module",
        [GSH_METHOD_SCIPY_NDIMAGE] = "scipy.ndimage module",
        [GSH_METHOD_SCIPY_RANK] = "scipy.ndimage module",
        [GSH_METHOD_SCIPY_LABEL] = "scipy.ndimage module",
        [GSH_METHOD_SCIPY_SIGNAL] = "scipy.signal module",
        [GSH_METHOD_SCIPY_SOSFILT] = "scipy.signal.sosfilt of",
        [GSH_METHOD_SCIPY_UPFIRDN] = "scipy.signal.upfirdn of",
        [GSH_METHOD_SCIPY_SPARSE] = "scipy.sparse module",
        [GSH_METHOD_SCIPY_DISTANCE] = "scipy.spatial module",
        [GSH_METHOD_SCIPY_COSINE] = "scipy.spatial module",
        [GSH_METHOD_SCIPY_SPLINE] = "scipy.interpolate module",
        [GSH_METHOD_SCIPY_GRID] = "scipy.interpolate module",
        [GSH_METHOD_SCIPY_GRID_LINEAR] = "scipy.interpolate.interpn of",
        [GSH_METHOD_SCIPY_PIECEWISE] = "scipy.interpolate.PPoly of",
        [GSH_METHOD_GENERATOR] = "random method",
        [GSH_METHOD_RANDOM_STATE] = "legacy random method"};
    struct gsh_pymethoddef *method = find_method(hook);
    void *entry = method ? entry_for_flags(hook, method->ml_flags) : NULL;
    if (!entry) {
        gsh_log(GSH_LOG_DEBUG, "no hook for %s %s", families[hook->table], hook->name);
        return false;
    }
    hook->flags = method->ml_flags;
    hook->original = method->ml_meth;
    hook->row = gsh_numpy_hooks_add(families[hook->table], hook->name, hook->self_test);
    __atomic_store_n(&method->ml_meth, entry, __ATOMIC_RELEASE);
    return true;
}

/* arguments */

static bool bind_name(PyObject *name, PyObject *value, const char *const *names, unsigned count,
                      PyObject **slots)
{
    for (unsigned i = 0; i < count; i++) {
        if (gsh_py.PyUnicode_CompareWithASCIIString(name, names[i]) != 0)
            continue;
        if (slots[i])
            return false;
        slots[i] = value;
        return true;
    }
    return false;
}

bool gsh_numpy_method_patch_bind(const struct gsh_method_call *call, const char *const *names,
                                 unsigned count, unsigned max_positional, PyObject **slots)
{
    if (call->nargs > max_positional)
        return false;
    for (unsigned i = 0; i < count; i++)
        slots[i] = i < call->nargs ? call->args[i] : NULL;
    Py_ssize_t keywords = call->kwnames ? gsh_py.PyTuple_Size(call->kwnames) : 0;
    for (Py_ssize_t i = 0; i < keywords; i++)
        if (!bind_name(gsh_py.PyTuple_GetItem(call->kwnames, i),
                       call->args[call->nargs + (size_t)i], names, count, slots))
            return false;
    Py_ssize_t position = 0;
    PyObject *name, *value;
    while (call->kwdict && gsh_py.PyDict_Next(call->kwdict, &position, &name, &value))
        if (gsh_py_type(name) != gsh_py.PyUnicode_Type ||
            !bind_name(name, value, names, count, slots))
            return false;
    return true;
}

static bool is_resident(PyObject *array)
{
    const char *data = gsh_numpy_array(array)->data;
    return gsh_arena_contains(data) && gsh_coherence_is_resident(data);
}

static inline bool is_worth(PyObject *object)
{
    if (!gsh_numpy_is_array(object))
        return false;
    const struct gsh_ndarray *array = gsh_numpy_array(object);
    int64_t size = 1;
    for (int i = 0; i < array->nd; i++)
        size *= array->dimensions[i];
    return size >= gsh_dispatch_min_elements || is_resident(object);
}

bool gsh_numpy_method_patch_is_worth(PyObject *object)
{
    return is_worth(object);
}

static inline bool is_small_product(PyObject *a, PyObject *b)
{
    int64_t work;
    return gsh_numpy_is_array(a) && gsh_numpy_is_array(b) &&
           !__builtin_mul_overflow(gsh_numpy_describe_kept_size(gsh_numpy_array(a)),
                                   gsh_numpy_describe_size(gsh_numpy_array(b)), &work) &&
           work < gsh_dispatch_min_elements &&
           !(gsh_coherence_is_in_use() && (is_resident(a) || is_resident(b)));
}

static __attribute__((noinline)) bool has_resident_one(PyObject *const *args, Py_ssize_t nargs)
{
    bool is_one = false;
    for (Py_ssize_t i = 0; i < nargs; i++)
        is_one |= gsh_numpy_is_array(args[i]) && is_resident(args[i]);
    return is_one;
}

/* In force mode only arrays on the device count: any other one is as good as large. */
static __attribute__((noinline)) bool has_one_worth(PyObject *const *args, Py_ssize_t nargs)
{
    bool is_one = gsh_dispatch_min_elements == 0 && has_resident_one(args, nargs);
    for (Py_ssize_t i = 0; i < nargs && !is_one && gsh_dispatch_min_elements > 0; i++)
        is_one = is_worth(args[i]);
    return is_one;
}

/* Whether the object is an instance of a subclass of ndarray, with data on the device. */
static __attribute__((noinline)) bool is_resident_kin(PyObject *object)
{
    return !gsh_numpy_is_array(object) && gsh_numpy_describe_is_array_like(object) &&
           is_resident(object);
}

static bool is_plain_resident(PyObject *array, void *context)
{
    (void)context;
    return gsh_numpy_is_array(array) && is_resident(array);
}

/* Whether the object is that, or a list or tuple that begins with an array and has one on the device. */
static __attribute__((noinline)) bool has_resident_item(PyObject *object)
{
    return is_resident_kin(object) || (gsh_numpy_describe_begins_with_array(object) &&
                                       gsh_numpy_describe_search(object, is_plain_resident, NULL));
}

bool gsh_numpy_method_patch_is_small_product(PyObject *a, PyObject *b)
{
    return is_small_product(a, b);
}

/* fetching operands */

/* Whether the object is an ndarray or a subclass with data on the device. */
static inline bool is_array_on_device(PyObject *object)
{
    return gsh_numpy_describe_is_array_like(object) && is_resident(object);
}

static bool fetch_item(PyObject *array, void *context)
{
    (void)context;
    if (is_array_on_device(array))
        gsh_numpy_describe_fetch(array, false);
    return false;
}

static inline void fetch_object(PyObject *object, bool write)
{
    if (gsh_numpy_describe_is_sequence(object))
        gsh_numpy_describe_search(object, fetch_item, NULL);
    else if (is_array_on_device(object))
        gsh_numpy_describe_fetch(object, write);
}

static void fetch_operands(const struct gsh_method_hook *hook, const struct gsh_method_call *call)
{
    GSH_READER(hook->name);
    if (hook->table == GSH_METHOD_NDARRAY)
        fetch_object(call->self, hook->writes & GSH_METHOD_WRITES_SELF);
    for (size_t i = 0; i < call->nargs; i++)
        fetch_object(call->args[i],
                     i < GSH_METHOD_MAX_ARGS && (hook->writes & GSH_METHOD_WRITES_ARG(i)));
    Py_ssize_t keywords = call->kwnames ? gsh_py.PyTuple_Size(call->kwnames) : 0;
    for (Py_ssize_t i = 0; i < keywords; i++)
        fetch_object(call->args[call->nargs + (size_t)i], false);
    Py_ssize_t position = 0;
    PyObject *name, *value;
    while (call->kwdict && gsh_py.PyDict_Next(call->kwdict, &position, &name, &value))
        fetch_object(value, false);
}

/* one call */

/* The state of a call after the handler was asked. */
struct attempt {
    PyObject *result; /* not NULL: done */
    bool is_raised;   /* a Python exception is set */
    bool is_priced;   /* the original runs between host_begin and host_end */
    enum gsh_reason why;
    unsigned row;
};

static struct attempt attempt_call(struct gsh_method_hook *hook, const struct gsh_method_call *call)
{
    struct attempt attempt = {.why = GSH_REASON_NONE};
    if (!gsh_dispatch_is_live() && (!hook->uses_cores || gsh_dispatch_is_inside()))
        return attempt;
    if (!hook->handler) {
        fetch_operands(hook, call);
        return attempt;
    }
    attempt.result = hook->handler(call, &attempt.why, &attempt.row);
    attempt.is_raised = !attempt.result && gsh_py.PyErr_Occurred() != NULL;
    if (attempt.result || attempt.is_raised || attempt.why == GSH_REASON_NONE)
        return attempt;
    fetch_operands(hook, call);
    attempt.is_priced = true;
    return attempt;
}

/* Calls the original in its own convention; for VARARGS `args` is a tuple. */
static PyObject *call_original(const struct gsh_method_hook *hook, PyObject *self, const void *args,
                               Py_ssize_t nargs, PyObject *keywords)
{
    switch (hook->flags) {
    case GSH_METH_FASTCALL | GSH_METH_KEYWORDS:
        return ((fastcall_keywords)hook->original)(self, args, nargs, keywords);
    case GSH_METH_FASTCALL:
        return ((fastcall)hook->original)(self, args, nargs);
    case GSH_METH_VARARGS | GSH_METH_KEYWORDS:
        return ((varargs_keywords)hook->original)(self, (PyObject *)args, keywords);
    default:
        return ((varargs)hook->original)(self, (PyObject *)args);
    }
}

PyObject *gsh_numpy_method_patch_call_original(const struct gsh_method_hook *hook,
                                               const struct gsh_method_call *call, PyObject *self)
{
    if (!(hook->flags & GSH_METH_VARARGS))
        return call_original(hook, self, call->args, (Py_ssize_t)call->nargs, call->kwnames);
    for (size_t i = 0; i < call->nargs; i++)
        gsh_py.Py_IncRef(call->args[i]); /* the tuple steals them */
    PyObject *args = gsh_py_tuple(call->args, (unsigned)call->nargs);
    PyObject *result = args ? call_original(hook, self, args, 0, call->kwdict) : NULL;
    if (args)
        gsh_py.Py_DecRef(args);
    else
        gsh_py_drop(call->args, (unsigned)call->nargs);
    return result;
}

static PyObject *call_declined(const struct gsh_method_hook *hook, const struct attempt *attempt,
                               const struct gsh_method_call *call, const void *args,
                               Py_ssize_t nargs, PyObject *keywords)
{
    unsigned row = attempt->row ? attempt->row : gsh_stats_row(hook->name, "");
    uint64_t begin = gsh_numpy_output_host_begin();
    PyObject *result = call_original(hook, call->self, args, nargs, keywords);
    gsh_numpy_output_host_end(begin, row, attempt->why);
    gsh_numpy_composed_note_original(call);
    return result;
}

static PyObject *name_declined(const struct gsh_method_hook *hook, const struct attempt *attempt,
                               const struct gsh_method_call *call, PyObject *result)
{
    if (!GSH_UNLIKELY(gsh_numpy_fallback_is_on))
        return result;
    unsigned row = attempt->row ? attempt->row : gsh_stats_row(hook->name, "");
    PyObject *operands[GSH_METHOD_MAX_ARGS + 1] = {call->self};
    size_t count = GSH_MIN(call->nargs, (size_t)GSH_METHOD_MAX_ARGS);
    memcpy(&operands[1], call->args, count * sizeof(PyObject *));
    return gsh_numpy_fallback_pass(result, row, attempt->why, operands, count + 1);
}

/* Calls the original for numpy_verify.h. */
static PyObject *call_again(const void *hook_of_call, PyObject *self, PyObject *const *values,
                            size_t positional, PyObject *kwnames, PyObject *kwdict)
{
    const struct gsh_method_hook *hook = hook_of_call;
    const struct gsh_method_call call = {self, values, positional, kwnames, kwdict};
    return hook->reference ? hook->reference(&call)
                           : gsh_numpy_method_patch_call_original(hook, &call, self);
}

static void begin_verifying(struct gsh_numpy_verify *verify, const struct gsh_method_hook *hook,
                            const struct gsh_method_call *call)
{
    bool is_method = hook->table == GSH_METHOD_NDARRAY;
    const struct gsh_numpy_verify_call described = {
        .name =
            hook->table == GSH_METHOD_UFUNC ? ((struct gsh_ufunc *)call->self)->name : hook->name,
        .self = call->self,
        .values = call->args,
        .positional = call->nargs,
        .kwnames = call->kwnames,
        .kwdict = call->kwdict,
        .writes_self = is_method && (hook->writes & GSH_METHOD_WRITES_SELF) != 0,
        .writes = hook->writes / GSH_METHOD_WRITES_ARG(0),
        .again = call_again,
        .hook = hook};
    gsh_numpy_verify_begin(verify, &described);
}

static PyObject *finish_by_vector(struct gsh_method_hook *hook, const struct gsh_method_call *call)
{
    PyObject *self = call->self, *const *args = call->args, *kwnames = call->kwnames;
    Py_ssize_t nargs = (Py_ssize_t)call->nargs;
    struct attempt attempt = attempt_call(hook, call);
    if (attempt.result || attempt.is_raised)
        return attempt.result;
    if (!attempt.is_priced)
        return call_original(hook, self, args, nargs, kwnames);
    return name_declined(hook, &attempt, call,
                         call_declined(hook, &attempt, call, args, nargs, kwnames));
}

static __attribute__((noinline)) PyObject *verify_by_vector(struct gsh_method_hook *hook,
                                                            const struct gsh_method_call *call)
{
    struct gsh_numpy_verify verify;
    begin_verifying(&verify, hook, call);
    return gsh_numpy_verify_end(&verify, finish_by_vector(hook, call));
}

/* The calls that a composition of SciPy's function makes are verified themselves. */
static bool is_verified(const struct gsh_method_hook *hook)
{
    return hook->table < GSH_METHOD_GENERATOR && hook->subject != GSH_METHOD_ASK_BY_ANY;
}

static __attribute__((noinline)) PyObject *call_by_vector(struct gsh_method_hook *hook,
                                                          PyObject *self, PyObject *const *args,
                                                          Py_ssize_t nargs, PyObject *kwnames)
{
    const struct gsh_method_call call = {self, args, (size_t)nargs, kwnames, NULL};
    if (GSH_UNLIKELY(gsh_verify_share_is_on) && is_verified(hook))
        return verify_by_vector(hook, &call);
    return finish_by_vector(hook, &call);
}

static PyObject *finish_by_tuple(struct gsh_method_hook *hook, const struct gsh_method_call *call,
                                 PyObject *args)
{
    struct attempt attempt = attempt_call(hook, call);
    if (attempt.result || attempt.is_raised)
        return attempt.result;
    if (!attempt.is_priced)
        return call_original(hook, call->self, args, 0, call->kwdict);
    return name_declined(hook, &attempt, call,
                         call_declined(hook, &attempt, call, args, 0, call->kwdict));
}

static __attribute__((noinline)) PyObject *
verify_by_tuple(struct gsh_method_hook *hook, const struct gsh_method_call *call, PyObject *args)
{
    struct gsh_numpy_verify verify;
    begin_verifying(&verify, hook, call);
    return gsh_numpy_verify_end(&verify, finish_by_tuple(hook, call, args));
}

static __attribute__((noinline)) PyObject *
call_by_tuple(struct gsh_method_hook *hook, PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *copied[GSH_METHOD_MAX_ARGS];
    Py_ssize_t nargs = gsh_py.PyTuple_Size(args);
    if (nargs > GSH_METHOD_MAX_ARGS)
        return call_original(hook, self, args, 0, kwargs);
    for (Py_ssize_t i = 0; i < nargs; i++)
        copied[i] = gsh_py.PyTuple_GetItem(args, i);
    const struct gsh_method_call call = {self, copied, (size_t)nargs, NULL, kwargs};
    if (GSH_UNLIKELY(gsh_verify_share_is_on) && is_verified(hook))
        return verify_by_tuple(hook, &call, args);
    return finish_by_tuple(hook, &call, args);
}

/* The two entries contain only the code that a small call needs. */

/* Whether an argument, were it a number of elements or a shape, stands for few of them. */
static bool says_few(PyObject *object, int64_t least)
{
    PyObject *type = gsh_py_type(object);
    int overflow;
    if (type == gsh_py.PyLong_Type)
        return gsh_py.PyLong_AsLongLongAndOverflow(object, &overflow) < least && overflow == 0;
    if (type != gsh_py.PyTuple_Type || gsh_py_size(object) != 1)
        return type == gsh_py.PyFloat_Type;
    object = gsh_py.PyTuple_GetItem(object, 0);
    return gsh_py_type(object) == gsh_py.PyLong_Type && says_few(object, least);
}

static __attribute__((noinline)) bool all_say_few(PyObject *const *args, Py_ssize_t count,
                                                  int64_t least)
{
    while (count > 0 && says_few(args[count - 1], least))
        count--;
    return count == 0;
}

/* Whether the argument that says how many elements are made is a small int; or absent, and no keyword and no array on the device may
 * say that. */
static inline bool is_short(const struct gsh_method_hook *hook, PyObject *const *args,
                            Py_ssize_t nargs, PyObject *keywords)
{
    int overflow;
    if (nargs <= hook->length_at && keywords && gsh_py_type(keywords) == gsh_py.PyTuple_Type)
        return all_say_few(args, nargs + gsh_py_size(keywords), hook->least);
    if (nargs <= hook->length_at)
        return keywords == NULL && !(gsh_coherence_is_in_use() && has_resident_one(args, nargs));
    PyObject *length = args[hook->length_at];
    return gsh_py_type(length) == gsh_py.PyLong_Type &&
           gsh_py.PyLong_AsLongLongAndOverflow(length, &overflow) < hook->least && overflow == 0;
}

/* Whether the call goes straight to the original. */
static inline bool is_small(const struct gsh_method_hook *hook, PyObject *self,
                            PyObject *const *args, Py_ssize_t nargs, PyObject *keywords)
{
    switch (hook->subject) {
    case GSH_METHOD_ASK_BY_SELF:
        return !is_worth(self);
    case GSH_METHOD_ASK_BY_KIN:
        return !is_worth(self) && !(gsh_coherence_is_in_use() && is_resident_kin(self));
    case GSH_METHOD_ASK_BY_EITHER:
        return !is_worth(self) && !(nargs > 0 && is_worth(args[0]));
    case GSH_METHOD_ASK_BY_FIRST:
    case GSH_METHOD_ASK_BY_ITEMS:
        return nargs > 0 && !is_worth(args[0]) &&
               !(hook->subject == GSH_METHOD_ASK_BY_ITEMS && gsh_coherence_is_in_use() &&
                 has_resident_item(args[0]));
    case GSH_METHOD_ASK_BY_PRODUCT:
        return hook->table == GSH_METHOD_NDARRAY ? nargs > 0 && is_small_product(self, args[0])
                                                 : nargs > 1 && is_small_product(args[0], args[1]);
    case GSH_METHOD_ASK_IF_RESIDENT:
        return !gsh_numpy_is_array(self) || !is_resident(self);
    case GSH_METHOD_ASK_BY_ANY:
        return !gsh_dispatch_is_live() ||
               !has_one_worth(args, GSH_MIN(nargs, GSH_METHOD_FIRST_ARGS));
    case GSH_METHOD_ASK_BY_LENGTH:
        return is_short(hook, args, nargs, keywords);
    default:
        return false;
    }
}

PyObject *gsh_numpy_method_patch_fastcall(struct gsh_method_hook *hook, PyObject *self,
                                          PyObject *const *args, Py_ssize_t nargs,
                                          PyObject *kwnames)
{
    gsh_numpy_hooks_hit(hook->row);
    if (is_small(hook, self, args, nargs, kwnames))
        return call_original(hook, self, args, nargs, kwnames);
    return call_by_vector(hook, self, args, nargs, kwnames);
}

/* Arguments that is_small looks at, from the first on. */
static inline Py_ssize_t count_looked_at(const struct gsh_method_hook *hook)
{
    switch (hook->subject) {
    case GSH_METHOD_ASK_BY_EITHER:
    case GSH_METHOD_ASK_BY_FIRST:
    case GSH_METHOD_ASK_BY_ITEMS:
        return 1;
    case GSH_METHOD_ASK_BY_PRODUCT:
        return 2;
    case GSH_METHOD_ASK_BY_LENGTH:
        return hook->length_at + 1;
    case GSH_METHOD_ASK_BY_ANY:
        return gsh_dispatch_is_live() ? GSH_METHOD_FIRST_ARGS : 0;
    default:
        return 0;
    }
}

PyObject *gsh_numpy_method_patch_varargs(struct gsh_method_hook *hook, PyObject *self,
                                         PyObject *args, PyObject *kwargs)
{
    PyObject *first[GSH_METHOD_FIRST_ARGS] = {NULL};
    Py_ssize_t count = 0, looked_at = count_looked_at(hook);
    gsh_numpy_hooks_hit(hook->row);
    for (; count < looked_at && count < gsh_py_size(args); count++)
        first[count] = gsh_py.PyTuple_GetItem(args, count);
    if (is_small(hook, self, first, count, kwargs))
        return call_original(hook, self, args, 0, kwargs);
    return call_by_tuple(hook, self, args, kwargs);
}
