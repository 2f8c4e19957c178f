/* SPDX-License-Identifier: Apache-2.0
 *
 * SciPy's ufuncs are NumPy's objects, so NumPy's hooks serve: a ufunc of that name, with that many operands and with loops of
 * float32 and float64. What a version computes is asked, not its number: before the first call that is offered to the device,
 * SciPy's own loops and ours compute the same inputs, and a ufunc that differs by more than its row's bound is left to SciPy.
 * Loops of SciPy report errors by scipy.special.errstate and clear the processor's flags, so NumPy's errstate is not asked.
 */
#include "scipy_special.h"

#include "host_loops.h"
#include "numpy_elementwise.h"
#include "numpy_loops.h"
#include "numpy_ufunc.h"
#include "python_error.h"
#include "startup.h"
#include "verify_compare.h"

#include <math.h>
#include <string.h>

#define PREFIX "scipy.special."

static PyObject *geterr; /* SciPy's, or NULL */
static enum { NOT_COMPARED, AGREES, VARIANT_AGREES, DIFFERS } verdicts[GSH_OP_COUNT];

/* How another version of SciPy computes an op (special_bessel.cuh). */
static const enum gsh_op variants[GSH_OP_COUNT] = {
    [GSH_OP_SPECIAL_J0] = GSH_OP_SPECIAL_J0_OF_SUM,
    [GSH_OP_SPECIAL_J1] = GSH_OP_SPECIAL_J1_OF_SUM,
    [GSH_OP_SPECIAL_Y0] = GSH_OP_SPECIAL_Y0_OF_SUM,
};

/* ---- scipy.special.errstate ---- */

static bool is_ignored(PyObject *name, PyObject *action)
{
    return gsh_py_type(action) == gsh_py.PyUnicode_Type &&
           (gsh_py.PyUnicode_CompareWithASCIIString(action, "ignore") == 0 ||
            (gsh_py_type(name) == gsh_py.PyUnicode_Type &&
             gsh_py.PyUnicode_CompareWithASCIIString(name, "memory") == 0));
}

/* Whether SciPy tells of no error that depends on values. Asks SciPy, whose states are its own: two microseconds. */
static bool is_silent(void)
{
    PyObject *states = geterr ? gsh_py.PyObject_CallFunction(geterr, NULL) : NULL;
    PyObject *name, *action;
    Py_ssize_t position = 0;
    bool is_silent = states && gsh_py_type(states) == gsh_py.PyDict_Type;
    while (is_silent && gsh_py.PyDict_Next(states, &position, &name, &action))
        is_silent = is_ignored(name, action);
    if (states)
        gsh_py.Py_DecRef(states);
    else
        gsh_python_error_clear();
    return is_silent;
}

/* ---- SciPy's loops and ours ---- */

/* Each with both signs: on both sides of where formulas change, where terms overflow, at poles, and far away. */
static const double numbers[] = {
    0,    1e-300, 1e-20,   1e-9, 0.003, 0.11, 0.25,  0.4999, 0.5,   0.7,      0.8663, 0.95,  1,
    1.3,  1.4616, 1.75,    2,    2.6,   3,    3.7,   4.2,    5.5,   7.9,      8.3,    10,    13.3,
    26.2, 30,     33.6,    34.5, 40.25, 90,   142.5, 170.3,  171.7, 308.3,    700.25, 709.9, 712.5,
    718,  1000.4, 12345.6, 1e6,  1.5e9, 1e14, 3e17,  1e100,  1e300, HUGE_VAL, NAN};
enum { COUNT = 2 * GSH_COUNT(numbers), ROUNDS = 7 };

/* Input k of the calls of a round: later inputs run through the numbers in other orders. */
static void fill(void *inputs, enum gsh_dtype dtype, unsigned k, int round)
{
    for (int i = 0; i < COUNT; i++) {
        size_t at = k == 0 ? (size_t)i : (size_t)(i * (7 + 4 * (int)k) + round * 13) % COUNT;
        double number = at % 2 == 0 ? numbers[at / 2] : -numbers[at / 2];
        if (dtype == GSH_INT64) /* orders; SciPy counts up to them */
            ((int64_t *)inputs)[i] = isfinite(number) ? (int64_t)fmod(number, 100) : 0;
        else if (dtype == GSH_FLOAT64)
            ((double *)inputs)[i] = number;
        else
            ((float *)inputs)[i] = (float)number;
    }
}

static bool compare(const void *got, const void *want, enum gsh_op op, enum gsh_dtype dtype)
{
    static const int64_t length = COUNT;
    const int64_t stride = (int64_t)gsh_dtype_size(dtype);
    const struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE, .op = op, .loop = dtype};
    const struct gsh_verify_array ours = {dtype, 1, &length, &stride, got};
    const struct gsh_verify_array theirs = {dtype, 1, &length, &stride, want};
    struct gsh_verify_outcome outcome = {0};
    gsh_verify_compare(&ours, &theirs, NULL, gsh_contract_of(&launch), &outcome);
    return outcome.different == 0;
}

static bool agree(const struct gsh_ufunc *ufunc, int i, enum gsh_op op, enum gsh_dtype dtype)
{
    static double inputs[GSH_MAX_INPUTS][COUNT]; /* GIL */
    static double got[GSH_MAX_OUTPUTS][COUNT], want[GSH_MAX_OUTPUTS][COUNT];
    const int64_t count = COUNT;
    int64_t steps[GSH_MAX_OPERANDS];
    int nin = ufunc->nin, nout = ufunc->nout;
    for (int k = 0; k < nin; k++)
        steps[k] = (int64_t)gsh_dtype_size(gsh_op_input_dtype(op, dtype, (unsigned)k));
    for (int j = 0; j < nout; j++)
        steps[nin + j] = (int64_t)gsh_dtype_size(dtype);
    for (int round = 0; round < (nin == 1 ? 1 : ROUNDS); round++) {
        struct gsh_host_block block = {.n = COUNT};
        char *args[GSH_MAX_OPERANDS];
        for (int k = 0; k < nin; k++) {
            fill(inputs[k], gsh_op_input_dtype(op, dtype, (unsigned)k), (unsigned)k, round);
            block.in[k] = args[k] = (char *)inputs[k];
        }
        for (int j = 0; j < nout; j++) {
            block.out[j] = got[j];
            args[nin + j] = (char *)want[j];
        }
        gsh_host_loops_find(op, dtype)(&block);
        ufunc->functions[i](args, &count, steps, ufunc->data ? ufunc->data[i] : NULL);
        for (int j = 0; j < nout; j++)
            if (!compare(got[j], want[j], op, dtype))
                return false;
    }
    return true;
}

/* The dtype of the device's loop that takes and gives what loop i does, or -1. */
static int dtype_of_loop(const struct gsh_ufunc *ufunc, int i, enum gsh_op op)
{
    const char *types = ufunc->types + (ptrdiff_t)i * ufunc->nargs;
    int dtype = gsh_numpy_dtype_of_type(types[ufunc->nin]);
    if (dtype < 0 || !gsh_op_has_loop(op, (enum gsh_dtype)dtype))
        return -1;
    for (int k = 0; k < ufunc->nargs; k++) {
        enum gsh_dtype wanted = k < ufunc->nin
                                    ? gsh_op_input_dtype(op, (enum gsh_dtype)dtype, (unsigned)k)
                                    : (enum gsh_dtype)dtype;
        if (gsh_numpy_dtype_of_type(types[k]) != (int)wanted)
            return -1;
    }
    return dtype;
}

static bool has_same_results(const struct gsh_ufunc *ufunc, enum gsh_op op)
{
    for (int i = 0; i < ufunc->ntypes; i++) {
        int dtype = dtype_of_loop(ufunc, i, op);
        if (dtype >= 0 && !agree(ufunc, i, op, (enum gsh_dtype)dtype))
            return false;
    }
    return true;
}

static void compare_with_ours(const struct gsh_ufunc *ufunc, enum gsh_op op)
{
    bool has_variant = variants[op] != 0;
    verdicts[op] = has_same_results(ufunc, op)                            ? AGREES
                   : has_variant && has_same_results(ufunc, variants[op]) ? VARIANT_AGREES
                                                                          : DIFFERS;
}

/* ---- calls ---- */

/* Whether the loop of the call is surely that of float32. */
static bool is_single(const struct gsh_ufunc_call *call)
{
    if (!gsh_op_has_loop((enum gsh_op)call->op, GSH_FLOAT32))
        return false;
    for (int k = 0; k < call->ufunc->nin; k++) {
        struct gsh_argument input;
        if (gsh_numpy_describe_argument(call->inputs[k], &input) != GSH_REASON_NONE)
            return false;
        if (input.is_array ? input.view.dtype != GSH_FLOAT32 : input.value.kind == GSH_VALUE_NUMPY)
            return false;
    }
    return !call->names_types;
}

/* Whether NumPy may have to narrow a result, and warn of what overflows. */
static bool may_narrow(const struct gsh_ufunc_call *call)
{
    for (int j = 0; j < call->ufunc->nout; j++) {
        struct gsh_view out;
        if (call->outs[j] && (gsh_numpy_describe_array(call->outs[j], &out) != GSH_REASON_NONE ||
                              (out.dtype != GSH_FLOAT64 && !is_single(call))))
            return true;
    }
    return false;
}

/* As gsh_ufunc_handler. */
static PyObject *try_call(const struct gsh_ufunc_call *call, enum gsh_reason *why, unsigned *row)
{
    *why = GSH_REASON_ERRSTATE;
    if (!is_silent())
        return NULL;
    *why = GSH_REASON_DTYPE;
    if (may_narrow(call))
        return NULL;
    if (verdicts[call->op] == NOT_COMPARED)
        compare_with_ours(call->ufunc, (enum gsh_op)call->op);
    *why = GSH_REASON_UNSUPPORTED;
    if (verdicts[call->op] == DIFFERS)
        return NULL;
    struct gsh_ufunc_call ours = *call;
    if (verdicts[call->op] == VARIANT_AGREES)
        ours.op = variants[call->op];
    return gsh_numpy_elementwise_try(&ours, why, row);
}

/* ---- installation ---- */

static void install_one(PyObject *dict, enum gsh_op op)
{
    const struct gsh_op_info *info = gsh_op_info(op);
    if (info->ufunc[0] == '\0')
        return;
    PyObject *object = gsh_py.PyDict_GetItemString(dict, info->ufunc + strlen(PREFIX));
    struct gsh_ufunc *ufunc = (struct gsh_ufunc *)object;
    if (!object || gsh_py_type(object) != gsh_np.ufunc_type || ufunc->core_enabled ||
        (unsigned)ufunc->nin != info->nin || (unsigned)ufunc->nout != info->nout)
        return;
    gsh_numpy_ufunc_adopt_op(ufunc, op, try_call);
    gsh_numpy_loops_adopt(ufunc, op);
}

/* The dictionary of the module with the ufuncs once the package has gone on to its next module, or NULL. That module (SciPy 1.17,
 * 1.18) opens extension modules of its own. Python calls a pending call that asks again 32 times in a row. */
static PyObject *find_dict(void)
{
    PyObject *modules = gsh_py.PyImport_GetModuleDict();
    PyObject *next = modules ? gsh_py.PyDict_GetItemString(modules, PREFIX "_basic") : NULL;
    PyObject *module = next ? gsh_py.PyDict_GetItemString(modules, PREFIX "_ufuncs") : NULL;
    return module ? gsh_py.PyModule_GetDict(module) : NULL;
}

/* Called by the interpreter between two bytecodes of the main thread. */
static int install(void *unused)
{
    (void)unused;
    PyObject *dict = geterr ? NULL : find_dict();
    geterr = dict ? gsh_py.PyDict_GetItemString(dict, "geterr") : NULL;
    if (!geterr)
        return 0;
    gsh_py.Py_IncRef(geterr);
    for (int op = 0; op < GSH_OP_COUNT; op++)
        if ((gsh_op_info((enum gsh_op)op)->flags & GSH_SPECIAL) != 0)
            install_one(dict, (enum gsh_op)op);
    return 0;
}

void gsh_scipy_special_note_library(void)
{
    if (gsh_np.call_ufunc && !geterr && gsh_startup_has_device())
        gsh_py.Py_AddPendingCall(install, NULL);
}
