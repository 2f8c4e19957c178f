/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces functions[i] and data[i] of a ufunc. NumPy reads both at each call
 * (PyUFunc_DefaultLegacyInnerLoopSelector, 1.22-2.5) and passes data[i] to the loop. Therefore one
 * C function serves all loops and gets its record in data. The GIL may not be held: no Python calls
 * here. No lock: records do not change.
 */
#include "numpy_loops.h"

#include "arena.h"
#include "coherence.h"
#include "dispatch.h"
#include "errors.h"
#include "host_casts.h"
#include "numpy_errors.h"
#include "numpy_hooks.h"
#include "numpy_output.h"
#include "numpy_parallel.h"
#include "numpy_parallel_reduce.h"
#include "numpy_version_probe.h"
#include "parallel_loop.h"
#include "readers.h"
#include "small_call_rest.h"

#include <fenv.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The state of this thread's probe, and the Python frame that started it. */
struct probe {
    bool is_active;
    PyObject *frame;
    const struct gsh_numpy_loop *found;
    int flags; /* that its loop raises */
};

static _Thread_local uint64_t device_calls;
static _Thread_local bool is_admitted; /* see gsh_numpy_loops_admit */
static _Thread_local struct probe probe;
static int64_t usual_threshold;   /* shorter loops run in the original */
static _Atomic int64_t threshold; /* as usual_threshold; 0 during a probe */

uint64_t gsh_numpy_loops_device_calls(void)
{
    return device_calls;
}

bool gsh_numpy_loops_admit(bool admitted)
{
    bool before = is_admitted;
    is_admitted = admitted;
    return before;
}

/* The byte range of an operand of the loop. */
static void operand_range(const char *first, int64_t count, int64_t step, size_t size,
                          const char **low, size_t *length)
{
    int64_t reach = (count - 1) * step;
    *low = reach < 0 ? first + reach : first;
    *length = (size_t)llabs(reach) + size;
}

static void argument_range(const struct gsh_numpy_loop *loop, char **args, int64_t count,
                           const int64_t *steps, unsigned k, const char **low, size_t *length)
{
    operand_range(args[k], count, steps[k], gsh_dtype_size(loop->operands[k]), low, length);
}

/* Fetches the operands to the host. Pending nodes may run now, on the host in this thread, so the
 * floating-point flags are restored: NumPy must not see those of other calls. */
static void fetch_operands(const struct gsh_numpy_loop *loop, char **args, int64_t count,
                           const int64_t *steps)
{
    GSH_READER(gsh_op_info(loop->op)->name);
    unsigned nin = gsh_op_info(loop->op)->nin;
    fexcept_t flags;
    fegetexceptflag(&flags, FE_ALL_EXCEPT);
    for (unsigned k = 0; k < loop->count; k++) {
        const char *low;
        size_t length;
        argument_range(loop, args, count, steps, k, &low, &length);
        if (gsh_arena_overlaps(low, length))
            gsh_coherence_fetch(low, length, k >= nin);
    }
    fesetexceptflag(&flags, FE_ALL_EXCEPT);
}

/* An input with step 0 in plain host memory becomes a constant, read immediately. */
static void place_input(struct gsh_launch *launch, const struct gsh_numpy_loop *loop, unsigned k,
                        const char *address, int64_t step)
{
    enum gsh_dtype dtype = loop->operands[k];
    launch->operands[k].dtype = dtype;
    launch->strides[k][0] = step;
    if (step == 0 && dtype == gsh_op_input_dtype(launch->op, launch->loop, k) &&
        !gsh_coherence_is_resident(address)) {
        launch->operands[k].is_constant = true;
        memcpy(&launch->operands[k].constant, address, gsh_dtype_size(dtype));
        return;
    }
    launch->operands[k].address = (uintptr_t)address;
}

static bool is_aligned(const char *address, int64_t step, enum gsh_dtype dtype)
{
    size_t size = gsh_dtype_size(dtype);
    size_t alignment = gsh_dtype_kind(dtype) == 'c' ? size / 2 : size;
    return (((uintptr_t)address | (uintptr_t)step) & (alignment - 1)) == 0;
}

/* Whether an input overlaps the output without being the same. accumulate passes a loop its own
 * output, shifted by one element, as an input: such a loop is a recurrence. */
static bool is_recurrence(const struct gsh_numpy_loop *loop, char **args, int64_t count,
                          const int64_t *steps)
{
    unsigned nin = gsh_op_info(loop->op)->nin;
    const char *low, *out_low;
    size_t length, out_length;
    for (unsigned out = nin; out < loop->count; out++) {
        argument_range(loop, args, count, steps, out, &out_low, &out_length);
        for (unsigned k = 0; k < nin; k++) {
            argument_range(loop, args, count, steps, k, &low, &length);
            bool same = args[k] == args[out] && steps[k] == steps[out] &&
                        loop->operands[k] == loop->operands[out];
            if (!same && low < out_low + out_length && out_low < low + length)
                return true;
        }
    }
    return false;
}

/* Whether the device can write the output in place. */
static bool is_writable(const struct gsh_numpy_loop *loop, char **args, const int64_t *steps,
                        unsigned k)
{
    enum gsh_dtype dtype = loop->operands[k];
    return gsh_arena_contains(args[k]) && llabs(steps[k]) >= (int64_t)gsh_dtype_size(dtype) &&
           is_aligned(args[k], steps[k], dtype);
}

/* Raises the processor's floating-point flags for the errors that the device found in this thread's
 * call, by running NumPy's own loop on the elements. */
static void raise_flags(const struct gsh_numpy_loop *loop)
{
    static const int64_t once = 1;
    struct gsh_error_report report;
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

/* Decides and runs. Afterwards the floating-point flags are those that NumPy's loop would have
 * raised. */
static bool decide_and_run(const struct gsh_numpy_loop *loop, struct gsh_call *call)
{
    enum gsh_reason why;
    fexcept_t flags;
    gsh_numpy_errors_request_loop(call);
    if (gsh_dispatch_decide(call) != GSH_REASON_NONE)
        return false;
    fegetexceptflag(&flags, FE_ALL_EXCEPT);
    bool ran = gsh_dispatch_run(call, &why) == GSH_OK;
    if (ran && call->errors.kinds != 0)
        gsh_dispatch_synchronize(); /* computation in this thread raises flags of its own */
    fesetexceptflag(&flags, FE_ALL_EXCEPT);
    if (ran && call->errors.kinds != 0)
        raise_flags(loop);
    return ran;
}

bool gsh_numpy_loops_may_raise(const struct gsh_numpy_loop *loop)
{
    return (loop->op == GSH_OP_POWER && gsh_dtype_kind(loop->dtype) == 'i') ||
           (gsh_op_info(loop->op)->flags & GSH_SPECIAL) != 0;
}

/* Whether this call of power is one of which NumPy's loop takes the square root. */
static bool takes_root(const struct gsh_numpy_loop *loop, char **args, const int64_t *steps)
{
    double exponent = 0;
    if (loop->op != GSH_OP_POWER || gsh_dtype_kind(loop->dtype) != 'f' || steps[1] != 0 ||
        gsh_coherence_is_resident(args[1]))
        return false;
    gsh_host_casts_run(&exponent, GSH_FLOAT64, 0, args[1], loop->operands[1], 0, 1);
    return exponent == 0.5 && gsh_numpy_version_probe_takes_root(loop);
}

static bool try_device(const struct gsh_numpy_loop *loop, char **args, int64_t count,
                       const int64_t *steps)
{
    const struct gsh_op_info *info = gsh_op_info(loop->op);
    struct gsh_call call = {.row = gsh_numpy_output_row(info->name, loop->operands, info->nin,
                                                        loop->operands[info->nin])};
    struct gsh_launch *launch = &call.launch;
    launch->kind = GSH_LAUNCH_ELEMENTWISE;
    launch->op = loop->op;
    launch->loop = loop->dtype;
    launch->nin = info->nin;
    launch->nout = info->nout;
    launch->ndim = 1;
    launch->shape[0] = count;
    for (unsigned k = info->nin; k < loop->count; k++) {
        if (!is_writable(loop, args, steps, k))
            return false;
        launch->operands[k] =
            (struct gsh_operand){.dtype = loop->operands[k], .address = (uintptr_t)args[k]};
        launch->strides[k][0] = steps[k];
    }
    if (gsh_numpy_loops_may_raise(loop) || is_recurrence(loop, args, count, steps) ||
        takes_root(loop, args, steps))
        return false;
    for (unsigned k = 0; k < info->nin; k++) {
        if (!is_aligned(args[k], steps[k], loop->operands[k]))
            return false;
        place_input(launch, loop, k, args[k], steps[k]);
    }
    return decide_and_run(loop, &call);
}

/* Whether the elements can be computed in any order and at once: the outputs are no accumulators. */
static bool is_divisible(const struct gsh_numpy_loop *loop, const int64_t *steps)
{
    for (unsigned k = gsh_op_info(loop->op)->nin; k < loop->count; k++)
        if (llabs(steps[k]) < (int64_t)gsh_dtype_size(loop->operands[k]))
            return false;
    return true;
}

static bool run_divided(const struct gsh_numpy_loop *loop, char **args, int64_t count,
                        const int64_t *steps)
{
    struct gsh_numpy_space space = {.loop = loop, .ndim = 1, .shape = {count}};
    if (is_recurrence(loop, args, count, steps))
        return false;
    if (!is_divisible(loop, steps))
        return gsh_numpy_parallel_reduce_run(loop, args, count, steps);
    for (unsigned k = 0; k < loop->count; k++) {
        space.first[k] = args[k];
        space.strides[k][0] = steps[k];
    }
    return gsh_numpy_parallel_run(&space);
}

static bool is_too_short(const struct gsh_numpy_loop *loop, int64_t count, const int64_t *steps)
{
    if (count >= loop->shared_from)
        return false;
    for (unsigned k = 0; k < loop->count; k++)
        if (llabs(steps[k]) > GSH_PARALLEL_LOOP_LINE)
            return false;
    return true;
}

/* Runs the original, on several cores where that pays. */
static void run_original(const struct gsh_numpy_loop *loop, char **args, const int64_t *dimensions,
                         const int64_t *steps)
{
    if (gsh_numpy_parallel_is_on() && !is_too_short(loop, dimensions[0], steps) &&
        !gsh_numpy_loops_may_raise(loop) && !gsh_dispatch_is_inside() &&
        run_divided(loop, args, dimensions[0], steps))
        return;
    loop->function(args, dimensions, steps, loop->data);
}

/* A loop with enough elements: runs on the device, or fetches its operands and runs in the
 * original. */
static void run_large(char **args, const int64_t *dimensions, const int64_t *steps,
                      const struct gsh_numpy_loop *loop)
{
    __atomic_fetch_add(loop->hits, 1, __ATOMIC_RELAXED);
    gsh_small_call_rest_check();
    if (!gsh_numpy_output_host_is_inside()) {
        if (is_admitted && gsh_dispatch_is_live() && try_device(loop, args, dimensions[0], steps)) {
            device_calls++;
            return;
        }
        if (gsh_coherence_is_in_use())
            fetch_operands(loop, args, dimensions[0], steps);
    }
    run_original(loop, args, dimensions, steps);
}

static void answer_probe(char **args, int64_t count, const int64_t *steps,
                         const struct gsh_numpy_loop *loop)
{
    probe.found = loop;
    for (unsigned k = gsh_op_info(loop->op)->nin; k < loop->count; k++)
        for (int64_t i = 0; i < count; i++)
            memset(args[k] + i * steps[k], 0, gsh_dtype_size(loop->operands[k]));
    if (probe.flags != 0)
        feraiseexcept(probe.flags);
}

/* Whether this loop call belongs to the probe. False for calls of other Python code during the
 * probe: NumPy's exceptions have constructors in Python, in which the interpreter also runs pending
 * calls, the garbage collector and signal handlers. */
static bool is_probed(void)
{
    return probe.is_active &&
           (!gsh_py.PyGILState_Check() || gsh_py.PyEval_GetFrame() == probe.frame);
}

__attribute__((noinline)) static void look_closer(char **args, const int64_t *dimensions,
                                                  const int64_t *steps,
                                                  const struct gsh_numpy_loop *loop)
{
    if (is_probed())
        answer_probe(args, dimensions[0], steps, loop);
    else if (dimensions[0] >= usual_threshold)
        run_large(args, dimensions, steps, loop);
    else
        loop->function(args, dimensions, steps, loop->data);
}

static void loop_hook(char **args, const int64_t *dimensions, const int64_t *steps, void *data)
{
    const struct gsh_numpy_loop *loop = data;
    if (GSH_UNLIKELY(dimensions[0] >= atomic_load_explicit(&threshold, memory_order_relaxed))) {
        look_closer(args, dimensions, steps, loop);
        return;
    }
    loop->function(args, dimensions, steps, loop->data);
}

void gsh_numpy_loops_call(char **args, const int64_t *dimensions, const int64_t *steps, void *data)
{
    loop_hook(args, dimensions, steps, data);
}

/* ---- loops that are diverted or left out for a while ---- */

bool gsh_numpy_loops_divert(const struct gsh_numpy_loop *loop, gsh_ufunc_loop function)
{
    if (*loop->place != loop_hook)
        return false;
    *loop->place = function;
    return true;
}

/* Unless the program has replaced the loop meanwhile. */
void gsh_numpy_loops_end_diversion(const struct gsh_numpy_loop *loop, gsh_ufunc_loop function)
{
    if (*loop->place == function)
        *loop->place = loop_hook;
}

/* The loop, and how many calls of all threads have left it out. GIL. */
static const struct gsh_numpy_loop *left_out;
static unsigned leavers;

bool gsh_numpy_loops_is_short(int64_t count)
{
    return count < usual_threshold;
}

bool gsh_numpy_loops_leave_out(const struct gsh_numpy_loop *loop)
{
    if (leavers != 0 && left_out != loop)
        return false;
    left_out = loop;
    leavers++;
    if (*loop->place == loop_hook) {
        *loop->place = loop->function;
        *loop->data_place = loop->data;
    }
    return true;
}

/* Unless the program has replaced the loop meanwhile. */
static void replace_again(const struct gsh_numpy_loop *loop)
{
    if (*loop->place != loop->function)
        return;
    *loop->place = loop_hook;
    *loop->data_place = (void *)loop;
}

void gsh_numpy_loops_take_back(void)
{
    if (--leavers == 0)
        replace_again(left_out);
}

/* ---- probes ---- */

/* Calls the original; none of the loops that are replaced runs. */
static PyObject *call_probed(PyObject *ufunc, PyObject *const *args, size_t nargs,
                             PyObject *kwnames, struct probe *own)
{
    struct probe outer = probe;
    own->is_active = true;
    own->frame = gsh_py.PyEval_GetFrame();
    probe = *own;
    /* Other threads, in a call that leaves it out, have found their loops, or do with the replacement. */
    if (leavers != 0)
        replace_again(left_out);
    atomic_store_explicit(&threshold, 0, memory_order_relaxed);
    bool holds = gsh_numpy_errors_hold(true);
    PyObject *result = gsh_np.call_ufunc(ufunc, args, nargs, kwnames);
    gsh_numpy_errors_hold(holds);
    atomic_store_explicit(&threshold, usual_threshold, memory_order_relaxed);
    *own = probe;
    probe = outer;
    return result;
}

PyObject *gsh_numpy_loops_probe(PyObject *ufunc, PyObject *const *args, size_t nargs,
                                PyObject *kwnames, const struct gsh_numpy_loop **found)
{
    struct probe own = {.flags = 0};
    PyObject *result = call_probed(ufunc, args, nargs, kwnames, &own);
    *found = own.found;
    return result;
}

PyObject *gsh_numpy_loops_raise(PyObject *ufunc, PyObject *const *args, size_t nargs, int flags)
{
    struct probe own = {.flags = flags};
    return call_probed(ufunc, args, nargs, NULL, &own);
}

/* NumPy 1.x names divide true_divide. */
int gsh_numpy_loops_find_op(const struct gsh_ufunc *ufunc)
{
    if (ufunc->core_enabled)
        return -1;
    int op = gsh_op_find(strcmp(ufunc->name, "true_divide") == 0 ? "divide" : ufunc->name);
    if (op < 0)
        return -1;
    const struct gsh_op_info *info = gsh_op_info((enum gsh_op)op);
    return info->nin == (unsigned)ufunc->nin && info->nout == (unsigned)ufunc->nout ? op : -1;
}

/* Whether NumPy's loop may have this dtype for input k: the dtype that the launch casts to; for
 * truth-value ops any dtype; for the integer operand beside a float also int32. */
static bool is_input(enum gsh_op op, enum gsh_dtype loop, unsigned k, int dtype)
{
    const struct gsh_op_info *info = gsh_op_info(op);
    return dtype == (int)gsh_op_input_dtype(op, loop, k) ||
           (info->dtypes == GSH_SET_BOOL && dtype >= 0) ||
           (info->inputs == GSH_INPUTS_INT_SECOND && k == 1 && dtype == GSH_INT32);
}

/* The launch dtype of the op with these input and output dtypes, or -1. */
static int find_loop_dtype(enum gsh_op op, const int *operands)
{
    const struct gsh_op_info *info = gsh_op_info(op);
    for (int i = 0; i < GSH_DTYPE_COUNT; i++) {
        enum gsh_dtype dtype = (enum gsh_dtype)i;
        bool same = gsh_op_has_loop(op, dtype);
        for (unsigned k = 0; k < info->nin && same; k++)
            same = is_input(op, dtype, k, operands[k]);
        for (unsigned j = 0; j < info->nout && same; j++)
            same = operands[info->nin + j] == (int)gsh_op_output_dtype(op, dtype, j);
        if (same)
            return i;
    }
    return -1;
}

/* Describes loop i of the ufunc. False: the device has no equivalent. */
static bool describe_loop(const struct gsh_ufunc *ufunc, int i, enum gsh_op op,
                          struct gsh_numpy_loop *loop)
{
    const struct gsh_op_info *info = gsh_op_info(op);
    const char *types = ufunc->types + (ptrdiff_t)i * ufunc->nargs;
    int operands[GSH_MAX_OPERANDS] = {0};
    for (unsigned k = 0; k < info->nin + info->nout; k++)
        operands[k] = gsh_numpy_dtype_of_type(types[k]);
    int dtype = find_loop_dtype(op, operands);
    if (dtype < 0)
        return false;
    *loop = (struct gsh_numpy_loop){
        .function = ufunc->functions[i],
        .data = ufunc->data ? ufunc->data[i] : NULL,
        .op = op,
        .dtype = (enum gsh_dtype)dtype,
        .count = info->nin + info->nout,
    };
    for (unsigned k = 0; k < loop->count; k++)
        loop->operands[k] = (enum gsh_dtype)operands[k];
    loop->shared_from = gsh_numpy_parallel_least(loop);
    return gsh_numpy_version_probe_agrees(loop);
}

bool gsh_numpy_loops_is_genuine(const struct gsh_numpy_loop *loop)
{
    bool is_left_out = leavers != 0 && loop == left_out;
    return *loop->place == loop_hook || (is_left_out && *loop->place == loop->function);
}

static bool has_dtype(const struct gsh_numpy_loop *loop, enum gsh_dtype dtype)
{
    for (unsigned k = 0; k < loop->count; k++)
        if (loop->operands[k] != dtype)
            return false;
    return true;
}

const struct gsh_numpy_loop *gsh_numpy_loops_find(const struct gsh_ufunc *ufunc,
                                                  enum gsh_dtype dtype)
{
    for (int i = 0; i < ufunc->ntypes; i++)
        if (ufunc->functions[i] == loop_hook && has_dtype(ufunc->data[i], dtype))
            return ufunc->data[i];
    return NULL;
}

static void free_tables(gsh_ufunc_loop *functions, void **data, struct gsh_numpy_loop *loops)
{
    free(functions);
    free(data);
    free(loops);
}

/* Gives the ufunc its own tables, in which the loops that the device supports are replaced. */
static void install_one(struct gsh_ufunc *ufunc, enum gsh_op op)
{
    size_t count = (size_t)ufunc->ntypes;
    gsh_ufunc_loop *functions = malloc(count * sizeof(*functions));
    void **data = calloc(count, sizeof(*data));
    struct gsh_numpy_loop *loops = calloc(count, sizeof(*loops));
    if (!functions || !data || !loops) {
        free_tables(functions, data, loops);
        return;
    }
    struct gsh_hook *hook = gsh_numpy_hooks_add(
        "loops", ufunc->name,
        "f(*[s.astype(c) for c in next(t for d in 'dl' for t in f.types if t[0] == d)[:f.nin]])");
    hook->subject = (PyObject *)ufunc;
    hook->installed = false;
    memcpy(functions, ufunc->functions, count * sizeof(*functions));
    if (ufunc->data)
        memcpy(data, ufunc->data, count * sizeof(*data));
    for (int i = 0; i < ufunc->ntypes; i++) {
        if (!describe_loop(ufunc, i, op, &loops[i]))
            continue;
        loops[i].hits = &hook->own_hits;
        loops[i].place = &functions[i];
        loops[i].data_place = &data[i];
        functions[i] = loop_hook;
        data[i] = &loops[i];
        hook->installed = true;
    }
    if (!hook->installed) {
        free_tables(functions, data, loops);
        return;
    }
    ufunc->functions = functions;
    ufunc->data = data;
}

static bool is_installed(const struct gsh_ufunc *ufunc)
{
    for (int i = 0; i < ufunc->ntypes; i++)
        if (ufunc->functions[i] == loop_hook)
            return true;
    return false;
}

/* Whether numpy_ufunc.c, which is installed first, has hooked the ufunc. */
static bool is_hooked(const struct gsh_ufunc *ufunc)
{
    return gsh_np.call_ufunc && ufunc->vectorcall != gsh_np.call_ufunc;
}

void gsh_numpy_loops_adopt(struct gsh_ufunc *ufunc, enum gsh_op op)
{
    if (is_hooked(ufunc) && ufunc->ntypes > 0 && !is_installed(ufunc))
        install_one(ufunc, op);
}

void gsh_numpy_loops_install(void)
{
    usual_threshold = GSH_MAX(gsh_dispatch_min_elements, 2); /* one element is never offloaded */
    atomic_store_explicit(&threshold, usual_threshold, memory_order_relaxed);
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (gsh_py.PyDict_Next(gsh_np.dict, &position, &name, &value)) {
        if (gsh_py_type(value) != gsh_np.ufunc_type)
            continue;
        struct gsh_ufunc *ufunc = (struct gsh_ufunc *)value;
        int op = gsh_numpy_loops_find_op(ufunc);
        if (op >= 0)
            gsh_numpy_loops_adopt(ufunc, (enum gsh_op)op);
    }
}
