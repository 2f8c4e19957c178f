/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. What is replayed: an elementwise op as its ufunc on one element per kind of
 * error, with outputs of the dtypes the call had; a reduction or scan as reduce or accumulate of
 * the two values that were joined; a cast as astype.
 */
#include "numpy_errors.h"

#include "dispatch.h"
#include "errors.h"
#include "host_casts.h"
#include "numpy_errstate.h"
#include "numpy_hooks.h"
#include "numpy_loops.h"
#include "numpy_output.h"
#include "numpy_ufunc.h"
#include "options.h"
#include "python_error.h"
#include "warning_filters.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static _Thread_local bool is_replaying;
static bool is_scheduled;       /* a pending call of the interpreter will fetch the reports */
static _Atomic bool is_over;    /* the interpreter is ending */
static PyObject *enter_scope;   /* warnings.catch_warnings.__enter__ as Python has it; */
static PyObject *leave_scope;   /* its __exit__ */
static PyObject *casting_names; /* ("casting",) */
static PyObject *unsafe;        /* "unsafe" */

/* ---- asking for reports ---- */

static const enum gsh_errstate_kind errstate_kinds[GSH_ERROR_KINDS] = {
    [GSH_ERROR_POLE] = GSH_ERRSTATE_DIVIDE,
    [GSH_ERROR_OVERFLOW] = GSH_ERRSTATE_OVER,
    [GSH_ERROR_INVALID] = GSH_ERRSTATE_INVALID};

bool gsh_numpy_errors_request(struct gsh_call *call, bool *waits)
{
    bool is_unwanted = call->errors.is_unwanted, is_general = call->errors.is_general;
    *waits = false;
    if (is_replaying)
        return false;
    if (call->errors.checks_index) {
        call->errors.kinds = 1u << GSH_ERROR_INVALID;
        call->errors.is_loop = true;
        return true;
    }
    call->errors = (struct gsh_error_request){.is_unwanted = is_unwanted, .is_general = is_general};
    unsigned possible = is_unwanted ? 0 : gsh_errors_possible(&call->launch);
    bool is_risky = gsh_errors_has_risky_cast(&call->launch);
    int64_t option = gsh_option_number(GSH_OPTION_FPERR);
    if ((possible == 0 && !is_risky) || option == GSH_FPERR_OFF)
        return true;
    int mask = gsh_numpy_errstate_mask();
    if (mask < 0 || gsh_numpy_errstate_mode((unsigned)mask, GSH_ERRSTATE_UNDER) != 0)
        return false;
    bool is_silent = (mask & ~(7 << 3 * GSH_ERRSTATE_UNDER)) == 0;
    if (is_risky && !is_silent)
        return false;
    call->errors.modes = (unsigned)mask;
    for (unsigned kind = 0; kind < GSH_ERROR_KINDS; kind++) {
        unsigned mode = gsh_numpy_errstate_mode((unsigned)mask, errstate_kinds[kind]);
        if (!(possible >> kind & 1) || mode == GSH_ERRSTATE_IGNORE)
            continue;
        /* All: kernels tell poles from overflows by the inputs alone. The replay says what is wanted. */
        call->errors.kinds = possible;
        *waits |= mode != GSH_ERRSTATE_WARN || option == GSH_FPERR_STRICT;
    }
    if (call->errors.kinds != 0 && !*waits)
        *waits = gsh_warning_filters_may_raise();
    return true;
}

bool gsh_numpy_errors_may_raise(const struct gsh_call *call)
{
    for (unsigned kind = 0; kind < GSH_ERROR_KINDS; kind++) {
        unsigned mode = gsh_numpy_errstate_mode(call->errors.modes, errstate_kinds[kind]);
        if ((call->errors.kinds >> kind & 1) != 0 &&
            (mode >= GSH_ERRSTATE_RAISE ||
             (mode == GSH_ERRSTATE_WARN && gsh_warning_filters_may_raise())))
            return true;
    }
    return false;
}

void gsh_numpy_errors_request_loop(struct gsh_call *call)
{
    bool is_off = gsh_option_number(GSH_OPTION_FPERR) == GSH_FPERR_OFF;
    call->errors = (struct gsh_error_request){
        .kinds = is_off ? 0 : gsh_errors_possible(&call->launch), .is_loop = true};
}

/* ---- telling ---- */

/* A 1-d array of `count` elements, the k-th inputs of the kinds found; uninitialised without `report`. */
static PyObject *make_array(const struct gsh_error_report *report, unsigned k, enum gsh_dtype dtype,
                            int64_t count)
{
    PyObject *descr = gsh_np.descrs[dtype];
    gsh_py.Py_IncRef(descr);
    PyObject *array =
        gsh_np.NewFromDescr(gsh_np.ndarray_type, descr, 1, &count, NULL, NULL, 0, NULL);
    size_t size = gsh_dtype_size(dtype);
    char *to = array ? gsh_numpy_array(array)->data : NULL;
    for (unsigned kind = 0; to && report && kind < GSH_ERROR_KINDS; kind++)
        if (report->found[kind]) {
            memcpy(to, &report->inputs[kind][k], size);
            to += size;
        }
    return array;
}

static int64_t count_found(const struct gsh_error_report *report)
{
    int64_t count = 0;
    for (unsigned kind = 0; kind < GSH_ERROR_KINDS; kind++)
        count += report->found[kind];
    return count;
}

/* The ufunc on the elements found. */
static PyObject *replay_elementwise(const struct gsh_error_report *report)
{
    const struct gsh_launch *launch = &report->launch;
    PyObject *ufunc = gsh_py.PyDict_GetItemString(gsh_np.dict, gsh_op_info(launch->op)->ufunc);
    PyObject *args[GSH_MAX_OPERANDS + 1] = {NULL}, *result = NULL;
    int64_t count = count_found(report);
    unsigned made = 0;
    bool good = ufunc != NULL;
    for (; good && made < launch->nin + launch->nout; made++) {
        bool is_input = made < launch->nin;
        enum gsh_dtype dtype = is_input ? gsh_op_input_dtype(launch->op, launch->loop, made)
                                        : launch->operands[made].dtype;
        args[made] = make_array(is_input ? report : NULL, made, dtype, count);
        good = args[made] != NULL;
    }
    args[made] = unsafe;
    if (good)
        result = gsh_numpy_ufunc_original(ufunc, args, made, casting_names);
    for (unsigned k = 0; k < made; k++)
        if (args[k])
            gsh_py.Py_DecRef(args[k]);
    return result;
}

/* ufunc.reduce (accumulate) of the joined values, a column of two for each kind found. */
static PyObject *replay_join(const struct gsh_error_report *report, const char *method)
{
    const struct gsh_launch *launch = &report->launch;
    const char *name = gsh_reduction_info(launch->reduction)->ufunc;
    PyObject *ufunc = gsh_py.PyDict_GetItemString(gsh_np.dict, name), *rows = NULL, *result = NULL;
    PyObject *first = make_array(report, 0, launch->loop, count_found(report));
    PyObject *second = make_array(report, 1, launch->loop, count_found(report));
    if (first && second)
        rows = gsh_py.PyObject_CallMethod(gsh_np.module, "array", "((OO))", first, second);
    if (ufunc && rows)
        result = gsh_py.PyObject_CallMethod(ufunc, method, "O", rows);
    PyObject *const owned[] = {first, second, rows};
    for (size_t i = 0; i < GSH_COUNT(owned); i++)
        if (owned[i])
            gsh_py.Py_DecRef(owned[i]);
    return result;
}

static PyObject *replay_cast(const struct gsh_error_report *report)
{
    const struct gsh_launch *launch = &report->launch;
    PyObject *array = make_array(report, 0, launch->operands[0].dtype, count_found(report));
    PyObject *result = NULL;
    if (array) {
        result = gsh_py.PyObject_CallMethod(array, "astype", "O",
                                            gsh_np.descrs[launch->operands[launch->nin].dtype]);
        gsh_py.Py_DecRef(array);
    }
    return result;
}

/* ndarray.round of the elements; the scale tells the decimals (numpy_round.c). */
static PyObject *replay_round(const struct gsh_error_report *report)
{
    double parts[2] = {1, 0};
    for (unsigned kind = 0; kind < GSH_ERROR_KINDS; kind++)
        if (report->found[kind])
            gsh_host_casts_run(parts, GSH_COMPLEX128, 0, &report->inputs[kind][1],
                               report->launch.loop, 0, 1);
    long decimals = lround(log10(fabs(parts[0])));
    PyObject *array = make_array(report, 0, report->launch.loop, count_found(report));
    PyObject *result =
        array ? gsh_py.PyObject_CallMethod(array, "round", "l", parts[0] < 0 ? -decimals : decimals)
              : NULL;
    if (array)
        gsh_py.Py_DecRef(array);
    return result;
}

/* A column where NumPy would not take its loop for one dimension, which names errors otherwise than all else of ufunc.at. */
static PyObject *make_operand(const struct gsh_error_report *report, unsigned k)
{
    PyObject *array = make_array(report, k, report->launch.loop, count_found(report));
    if (!array || !report->is_general)
        return array;
    PyObject *column = gsh_py.PyObject_CallMethod(array, "reshape", "ii", -1, 1);
    gsh_py.Py_DecRef(array);
    return column;
}

static PyObject *replay_at(const struct gsh_error_report *report)
{
    static const char *const lists[GSH_ERROR_KINDS] = {"[i]", "[ii]", "[iii]"};
    const struct gsh_launch *launch = &report->launch;
    PyObject *ufunc = gsh_py.PyDict_GetItemString(gsh_np.dict, gsh_op_info(launch->op)->ufunc);
    PyObject *old = make_operand(report, 0), *value = make_operand(report, 1), *result = NULL;
    PyObject *index = gsh_py.Py_BuildValue(lists[count_found(report) - 1], 0, 1, 2);
    if (ufunc && old && value && index)
        result = gsh_py.PyObject_CallMethod(ufunc, "at", "OOO", old, index, value);
    PyObject *const owned[] = {old, value, index};
    gsh_py_drop(owned, GSH_COUNT(owned));
    return result;
}

/* False: a Python exception is set. */
static bool replay(const struct gsh_error_report *report)
{
    PyObject *result = NULL, *previous = NULL;
    fexcept_t flags;
    fegetexceptflag(
        &flags, FE_ALL_EXCEPT); /* a loop of Python functions may be running, and looks at them */
    if (gsh_numpy_errstate_mask() != (int)report->modes)
        previous = gsh_numpy_errstate_replace(report->modes);
    is_replaying = true;
    switch (report->launch.kind) {
    case GSH_LAUNCH_REDUCE:
        result = replay_join(report, "reduce");
        break;
    case GSH_LAUNCH_SCAN:
        result = replay_join(report, "accumulate");
        break;
    case GSH_LAUNCH_PUT:
        result = replay_at(report);
        break;
    default:
        result = report->launch.op == GSH_OP_ROUND          ? replay_round(report)
                 : gsh_op_info(report->launch.op)->ufunc[0] ? replay_elementwise(report)
                                                            : replay_cast(report);
    }
    is_replaying = false;
    if (previous)
        gsh_numpy_errstate_restore(previous);
    if (result)
        gsh_py.Py_DecRef(result);
    fesetexceptflag(&flags, FE_ALL_EXCEPT);
    return gsh_py.PyErr_Occurred() == NULL;
}

static bool tell_all(void)
{
    struct gsh_error_report report;
    while (gsh_errors_fetch(&report))
        if (!replay(&report))
            return false;
    return true;
}

bool gsh_numpy_errors_settle(void)
{
    gsh_dispatch_synchronize();
    return tell_all();
}

bool gsh_numpy_errors_met_one(void)
{
    struct gsh_error_report report;
    gsh_dispatch_synchronize();
    return gsh_errors_fetch_own(&report);
}

void gsh_numpy_errors_settle_loop(const struct gsh_numpy_loop *loop)
{
    struct gsh_error_report report;
    static const int64_t once = 1;
    if (!gsh_errors_fetch_own(&report))
        return;
    for (unsigned kind = 0; kind < GSH_ERROR_KINDS; kind++) {
        union gsh_scalar values[GSH_MAX_OPERANDS] = {0};
        char *args[GSH_MAX_OPERANDS];
        int64_t steps[GSH_MAX_OPERANDS];
        for (unsigned k = 0; k < loop->count; k++) {
            args[k] = (char *)&values[k];
            steps[k] = (int64_t)gsh_dtype_size(loop->operands[k]);
            if (report.found[kind] && k < report.launch.nin)
                gsh_host_casts_run(args[k], loop->operands[k], 0, &report.inputs[kind][k],
                                   gsh_op_input_dtype(loop->op, loop->dtype, k), 0, 1);
        }
        if (report.found[kind])
            loop->function(args, &once, steps, loop->data);
    }
}

/* ---- deferred ---- */

static void schedule(void);

/* A pending call: the interpreter runs it in the main thread between two instructions. */
static int tell_pending(void *unused)
{
    (void)unused;
    __atomic_store_n(&is_scheduled, false, __ATOMIC_RELEASE);
    if (gsh_numpy_loops_is_probing()) {
        schedule();
        return 0;
    }
    if (is_replaying ||
        tell_all()) /* a warning's own Python code: who replays goes on to the rest */
        return 0;
    schedule(); /* an exception ends this call; the rest comes later */
    return -1;
}

static void schedule(void)
{
    if (!is_over && !__atomic_exchange_n(&is_scheduled, true, __ATOMIC_ACQ_REL) &&
        gsh_py.Py_AddPendingCall(tell_pending, NULL) != 0)
        __atomic_store_n(&is_scheduled, false,
                         __ATOMIC_RELEASE); /* its queue is full: the next finding tries again */
}

/* Before the interpreter ends: what is still on its way. */
static PyObject *tell_last(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    is_over = true;
    if (!gsh_numpy_errors_settle())
        return NULL;
    gsh_py.Py_IncRef(gsh_py._Py_NoneStruct);
    return gsh_py._Py_NoneStruct;
}

static void register_last(void)
{
    static struct gsh_pymethoddef definition = {"gpushim_errors", (void *)tell_last,
                                                GSH_METH_NOARGS, NULL};
    PyObject *module = gsh_py.PyImport_ImportModule("atexit");
    PyObject *function = gsh_py.PyCFunction_NewEx(&definition, NULL, NULL), *done = NULL;
    if (module && function)
        done = gsh_py.PyObject_CallMethod(module, "register", "O", function);
    PyObject *const made[] = {done, function, module};
    for (size_t i = 0; i < GSH_COUNT(made); i++)
        if (made[i])
            gsh_py.Py_DecRef(made[i]);
    is_over =
        done == NULL; /* without it nothing may be scheduled that could outlive the interpreter */
    gsh_python_error_clear();
}

/* ---- scopes of warnings ---- */

/* Waits only where something may still be told. False: a Python exception is set. */
static bool settle_pending(void)
{
    if (is_over || is_replaying)
        return true;
    if (gsh_errors_is_pending())
        gsh_dispatch_synchronize();
    return tell_all();
}

/* catch_warnings.__enter__(self): an exception means that the scope is not entered. */
static PyObject *settle_and_enter(PyObject *self, PyObject *args)
{
    (void)self;
    return settle_pending() ? gsh_py.PyObject_Call(enter_scope, args, NULL) : NULL;
}

/* catch_warnings.__exit__(self, ...): the scope is left, whatever was raised; what it raises itself comes in place of that. */
static PyObject *settle_and_leave(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    if (!settle_pending())
        gsh_py.PyErr_Fetch(&type, &value, &traceback);
    PyObject *result = gsh_py.PyObject_Call(leave_scope, args, NULL);
    PyObject *const earlier[] = {type, value, traceback};
    if (!type || !result) {
        gsh_py_drop(earlier, GSH_COUNT(earlier));
        return result;
    }
    gsh_py.Py_DecRef(result);
    gsh_py.PyErr_Restore(type, value, traceback);
    return NULL;
}

/* Puts a method of ours in place of a class's; a C function has no line of its own that warnings would name. */
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

static void watch_scopes(PyObject *warnings)
{
    static struct gsh_pymethoddef enter = {"__enter__", (void *)settle_and_enter, GSH_METH_VARARGS,
                                           NULL};
    static struct gsh_pymethoddef leave = {"__exit__", (void *)settle_and_leave, GSH_METH_VARARGS,
                                           NULL};
    PyObject *class = gsh_py.PyObject_GetAttrString(warnings, "catch_warnings");
    if (class) {
        replace_method(class, &enter, &enter_scope);
        replace_method(class, &leave, &leave_scope);
        gsh_py.Py_DecRef(class);
    }
    gsh_python_error_clear();
}

void gsh_numpy_errors_install(void)
{
    PyObject *warnings = gsh_py.PyImport_ImportModule("warnings");
    if (warnings) {
        gsh_warning_filters_init(warnings);
        watch_scopes(warnings);
        gsh_py.Py_DecRef(warnings);
    }
    gsh_python_error_clear();
    casting_names = gsh_py.Py_BuildValue("(s)", "casting");
    unsafe = gsh_py.Py_BuildValue("s", "unsafe");
    gsh_errors_on_found(schedule);
    register_last();
}
