/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A report is replayed as its kind's row says (launch_kinds.def, column `replay`).
 * Elementwise op: its ufunc on one element per kind of error, with outputs of the call's dtypes.
 * Reduction or scan: reduce or accumulate of the two values that were joined. Update by an index:
 * ufunc.at. Cast: astype.
 */
#include "numpy_errors.h"

#include "dispatch.h"
#include "errors.h"
#include "host_casts.h"
#include "numpy_abi.h"
#include "numpy_errstate.h"
#include "numpy_hooks.h"
#include "options.h"
#include "python_error.h"
#include "warning_late.h"
#include "warning_scopes.h"
#include "warning_state.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_TEXTS 8

static _Thread_local bool is_replaying;
static _Thread_local bool is_held;               /* see gsh_numpy_errors_hold */
static bool is_scheduled;                        /* a pending call that fetches reports is queued */
static _Thread_local uint64_t own_number;        /* number of this thread; 0: none yet */
static _Thread_local PyObject *texts[MAX_TEXTS]; /* texts that a replay has logged; owned */
static _Thread_local unsigned text_count;
static PyObject *casting_names; /* ("casting",) */
static PyObject *unsafe;        /* "unsafe" */

static void report_late(void);

/* ---- requesting reports ---- */

static const enum gsh_errstate_kind errstate_kinds[GSH_ERROR_KINDS] = {
    [GSH_ERROR_POLE] = GSH_ERRSTATE_DIVIDE,
    [GSH_ERROR_OVERFLOW] = GSH_ERRSTATE_OVER,
    [GSH_ERROR_INVALID] = GSH_ERRSTATE_INVALID};

/* The number of this thread. Numbers are never reused, so a new thread never gets reports of a
 * thread that ended. */
static uint64_t number_of_thread(void)
{
    static _Atomic uint64_t last;
    if (own_number == 0)
        own_number = ++last;
    return own_number;
}

/* Called before a call that may warn. Whether its warning must be given within the call. */
static bool is_seen(int64_t option)
{
    if (gsh_warning_state_has_changed()) {
        report_late(); /* reports calls made under the previous state */
        gsh_warning_state_keep();
    }
    return gsh_warning_scopes_is_over_sigsafe() ||
           !gsh_warning_state_may_be_late(option == GSH_FPERR_LATE);
}

static void note_caller(struct gsh_error_request *request, bool waits)
{
    if (waits) {
        request->owner = number_of_thread();
    } else if (request->kinds != 0) {
        struct gsh_python_place place = gsh_python_place_note();
        request->place[0] = place.note;
        request->place[1] = (uint32_t)place.instruction;
    }
}

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
        /* All kinds: kernels distinguish poles from overflows by the inputs alone. The replay
         * filters by the errstate. */
        call->errors.kinds = possible;
        *waits |= mode != GSH_ERRSTATE_WARN || option == GSH_FPERR_STRICT;
    }
    if (call->errors.kinds != 0 && is_seen(option))
        *waits = true;
    note_caller(&call->errors, *waits);
    return true;
}

bool gsh_numpy_errors_may_raise(const struct gsh_call *call)
{
    for (unsigned kind = 0; kind < GSH_ERROR_KINDS; kind++) {
        unsigned mode = gsh_numpy_errstate_mode(call->errors.modes, errstate_kinds[kind]);
        if ((call->errors.kinds >> kind & 1) != 0 &&
            (mode >= GSH_ERRSTATE_RAISE ||
             (mode == GSH_ERRSTATE_WARN && gsh_warning_state_may_raise())))
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

/* ---- reporting ---- */

/* A 1-d array of `count` elements: the k-th input for each kind found. Uninitialised if `report` is
 * NULL. */
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

/* Calls the ufunc on the elements found. */
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
        result = gsh_np.call_ufunc(ufunc, args, made, casting_names);
    for (unsigned k = 0; k < made; k++)
        if (args[k])
            gsh_py.Py_DecRef(args[k]);
    return result;
}

/* Calls ufunc.reduce (or accumulate) on the joined values: one column of two values for each kind
 * found. */
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

/* Calls ndarray.round on the elements; the scale determines the decimals (numpy_round.c). */
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

/* Calls power on the elements, with the one exponent of which NumPy takes the root. */
static PyObject *replay_root_power(const struct gsh_error_report *report)
{
    PyObject *power = gsh_py.PyDict_GetItemString(gsh_np.dict, "power"), *result = NULL;
    PyObject *array = make_array(report, 0, report->launch.loop, count_found(report));
    if (power && array)
        result = gsh_py.PyObject_CallFunction(power, "Od", array, 0.5);
    gsh_py_drop(&array, 1);
    return result;
}

/* An operand for ufunc.at. It is a column if NumPy would not take its one-dimensional loop, since
 * that loop names errors differently. */
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

static PyObject *replay_none(const struct gsh_error_report *report)
{
    (void)report;
    return NULL;
}

static PyObject *replay_op(const struct gsh_error_report *report)
{
    enum gsh_op op = report->launch.op;
    if (op == GSH_OP_ROUND)
        return replay_round(report);
    if (op == GSH_OP_ROOT_POWER)
        return replay_root_power(report);
    return gsh_op_info(op)->ufunc[0] ? replay_elementwise(report) : replay_cast(report);
}

static PyObject *replay_reduce(const struct gsh_error_report *report)
{
    return replay_join(report, "reduce");
}

static PyObject *replay_accumulate(const struct gsh_error_report *report)
{
    return replay_join(report, "accumulate");
}

/* Replays under this errstate; "log" writes to `log`. False: a Python exception is set. */
static bool replay(const struct gsh_error_report *report, unsigned modes, PyObject *log)
{
    static PyObject *(*const replay_of[])(const struct gsh_error_report *report) = {
#define X(kind, dtypes, errors, replay, ...) [GSH_LAUNCH_##kind] = replay_##replay,
#include "launch_kinds.def"
#undef X
    };
    PyObject *previous = NULL;
    fexcept_t flags;
    fegetexceptflag(&flags, FE_ALL_EXCEPT); /* a calling loop of Python functions may read them */
    if (gsh_numpy_errstate_mask() != (int)modes)
        previous = gsh_numpy_errstate_replace(modes, log);
    is_replaying = true;
    PyObject *result = replay_of[report->launch.kind](report);
    is_replaying = false;
    if (previous)
        gsh_numpy_errstate_restore(previous);
    if (result)
        gsh_py.Py_DecRef(result);
    fesetexceptflag(&flags, FE_ALL_EXCEPT);
    return gsh_py.PyErr_Occurred() == NULL;
}

/* Reports the errors of this thread's calls that wait. False: a Python exception is set. */
static bool tell_own(void)
{
    struct gsh_error_report report;
    while (gsh_errors_fetch(number_of_thread(), &report))
        if (!replay(&report, report.modes, NULL))
            return false;
    return true;
}

/* write(self, "Warning: divide by zero encountered in divide\n") */
static PyObject *note_text(PyObject *self, PyObject *text)
{
    static const char prefix[] = "Warning: ";
    const char *begin = gsh_py.PyUnicode_AsUTF8(text);
    char line[256];
    (void)self;
    if (!begin)
        return NULL;
    begin += strncmp(begin, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(begin, "\n"), begin);
    if (text_count < MAX_TEXTS) {
        texts[text_count] = gsh_py.Py_BuildValue("s", line);
        text_count += texts[text_count] != NULL;
    }
    return gsh_py_none();
}

/* Handles an exception from a late report. The types that a report can raise are printed to stderr
 * as unraisable, because no caller expects them here. Any other exception comes from the program (a
 * signal handler, for instance) and is raised again between two instructions. */
static void disarm_exception(void)
{
    PyObject *const classes[] = {gsh_py.PyExc_RuntimeWarning, gsh_py.PyExc_ValueError,
                                 gsh_py.PyExc_RecursionError, gsh_py.PyExc_MemoryError};
    PyObject *type = gsh_py.PyErr_Occurred();
    for (size_t i = 0; type && i < GSH_COUNT(classes); i++)
        if (gsh_py.PyErr_GivenExceptionMatches(type, *(PyObject **)classes[i])) {
            gsh_py.PyErr_WriteUnraisable(NULL);
            return;
        }
    gsh_python_error_clear();
}

/* The object that "log" writes to: a module that nobody imports, with note_text as attribute
 * `write`. NULL without an exception on failure. */
static PyObject *get_log(void)
{
    static struct gsh_pymethoddef definition = {"write", (void *)note_text, GSH_METH_O, NULL};
    static PyObject *log;
    PyObject *module = log ? NULL : gsh_py.PyModule_New("gpushim_errors");
    PyObject *function = module ? gsh_py.PyCFunction_NewEx(&definition, NULL, NULL) : NULL;
    if (function && gsh_py.PyObject_SetAttrString(module, "write", function) == 0)
        log = module;
    if (function)
        gsh_py.Py_DecRef(function);
    gsh_python_error_clear();
    return log;
}

/* The mode "warn" becomes `warn`. All other modes become "ignore": the call cannot meet those
 * kinds. */
static unsigned late_modes(unsigned modes, enum gsh_errstate_mode warn)
{
    unsigned late = 0;
    for (enum gsh_errstate_kind kind = GSH_ERRSTATE_DIVIDE; kind <= GSH_ERRSTATE_INVALID; kind++)
        if (gsh_numpy_errstate_mode(modes, kind) == GSH_ERRSTATE_WARN)
            late |= (unsigned)warn << 3 * kind;
    return late;
}

/* Collects the texts that NumPy logs in the replay and warns of each with the place of the call. */
static void tell_texts(const struct gsh_error_report *report, PyObject *log)
{
    PyObject *told[MAX_TEXTS];
    text_count = 0;
    if (!replay(report, late_modes(report->modes, GSH_ERRSTATE_LOG), log))
        disarm_exception();
    unsigned count = text_count;
    memcpy(told, texts, count * sizeof told[0]);
    is_replaying = true;
    for (unsigned i = 0; i < count; i++) {
        gsh_warning_late_tell(
            told[i], (struct gsh_python_place){report->place[0], (int32_t)report->place[1]});
        disarm_exception();
    }
    is_replaying = false;
    gsh_py_drop(told, count);
}

/* Reports the errors of calls that did not wait. Leaves no exception. */
static void tell_late(void)
{
    struct gsh_error_report report;
    while (gsh_errors_fetch(0, &report)) {
        PyObject *log = get_log();
        if (log)
            tell_texts(&report, log);
        else if (!replay(&report, late_modes(report.modes, GSH_ERRSTATE_WARN), NULL))
            disarm_exception();
    }
}

bool gsh_numpy_errors_synchronize(void)
{
    gsh_dispatch_synchronize();
    tell_late();
    return tell_own();
}

bool gsh_numpy_errors_met_one(void)
{
    struct gsh_error_report report;
    gsh_dispatch_synchronize();
    return gsh_errors_fetch_own(&report);
}

/* ---- deferred reports ---- */

bool gsh_numpy_errors_hold(bool hold)
{
    bool before = is_held;
    is_held = hold;
    return before;
}

static void schedule_sigsafe(void);

/* A pending call: the interpreter runs it in the main thread between two instructions. */
static int tell_pending(void *unused)
{
    (void)unused;
    __atomic_store_n(&is_scheduled, false, __ATOMIC_RELEASE);
    if (is_held)
        schedule_sigsafe();
    else if (!is_replaying) /* else the replay that is running reports the rest */
        tell_late();
    return 0;
}

static void schedule_sigsafe(void)
{
    if (!gsh_warning_scopes_is_over_sigsafe() &&
        !__atomic_exchange_n(&is_scheduled, true, __ATOMIC_ACQ_REL) &&
        gsh_py.Py_AddPendingCall(tell_pending, NULL) != 0)
        __atomic_store_n(&is_scheduled, false,
                         __ATOMIC_RELEASE); /* the queue is full; the next finding tries again */
}

/* Reports late errors. Waits for the device only if reports may still come. */
static void report_late(void)
{
    if (is_replaying)
        return;
    if (gsh_errors_is_pending())
        gsh_dispatch_synchronize();
    tell_late();
}

void gsh_numpy_errors_install(void)
{
    PyObject *modules = gsh_py.PyImport_GetModuleDict();
    PyObject *warnings = modules ? gsh_py.PyDict_GetItemString(modules, "warnings") : NULL;
    if (warnings) /* avoids an import: this runs inside Python's import */
        gsh_py.Py_IncRef(warnings);
    else
        warnings = gsh_py.PyImport_ImportModule("warnings");
    if (warnings) {
        gsh_warning_state_init(warnings);
        gsh_warning_late_init();
        gsh_warning_scopes_install(warnings, report_late);
        gsh_py.Py_DecRef(warnings);
    }
    gsh_python_error_clear();
    casting_names = gsh_py.Py_BuildValue("(s)", "casting");
    unsafe = gsh_py.Py_BuildValue("s", "unsafe");
    gsh_errors_on_found(schedule_sigsafe);
}
