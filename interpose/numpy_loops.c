/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces functions[i] together with data[i] of a ufunc: NumPy reads both at each call
 * (PyUFunc_DefaultLegacyInnerLoopSelector, 1.22-2.5) and hands data[i] to the loop, so one C
 * function serves all loops and finds its record there. The GIL may not be held: no Python here.
 * Not locked: records do not change.
 */
#include "numpy_loops.h"

#include "arena.h"
#include "coherence.h"
#include "dispatch.h"
#include "numpy_hooks.h"
#include "numpy_ufunc.h"

#include <stdlib.h>
#include <string.h>

/* One replaced loop. */
struct loop {
    gsh_ufunc_loop function; /* the original */
    void *data;              /* its data */
    enum gsh_op op;
    enum gsh_dtype dtype; /* of all inputs */
    enum gsh_dtype result;
    unsigned row;
    uint64_t *hits;
};

static _Thread_local uint64_t device_calls;
static _Thread_local bool is_admitted;                        /* see gsh_numpy_loops_admit */
static gsh_ufunc_loop *places[GSH_OP_COUNT][GSH_DTYPE_COUNT]; /* where our loop was put, or NULL */

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

/* The range an operand of the loop covers. */
static void operand_range(const char *first, int64_t count, int64_t step, size_t size,
                          const char **low, size_t *length)
{
    int64_t reach = (count - 1) * step;
    *low = reach < 0 ? first + reach : first;
    *length = (size_t)llabs(reach) + size;
}

static void bring_home(const struct loop *loop, char **args, int64_t count, const int64_t *steps)
{
    unsigned nin = gsh_op_info(loop->op)->nin;
    for (unsigned k = 0; k <= nin; k++) {
        const char *low;
        size_t length;
        operand_range(args[k], count, steps[k],
                      gsh_dtype_size(k < nin ? loop->dtype : loop->result), &low, &length);
        if (gsh_arena_overlaps(low, length))
            gsh_coherence_home(low, length, k == nin);
    }
}

/* An input that does not move is read here and now where it is plain host memory. */
static void place_input(struct gsh_launch *launch, unsigned k, const char *address, int64_t step)
{
    launch->operands[k].dtype = launch->loop;
    launch->strides[k][0] = step;
    if (step == 0 && !gsh_coherence_is_resident(address)) {
        launch->operands[k].is_constant = true;
        memcpy(&launch->operands[k].constant, address, gsh_dtype_size(launch->loop));
        return;
    }
    launch->operands[k].address = (uintptr_t)address;
}

static bool is_aligned(const char *address, int64_t step, enum gsh_dtype dtype)
{
    return (((uintptr_t)address | (uintptr_t)step) & (gsh_dtype_size(dtype) - 1)) == 0;
}

/* accumulate hands a loop its own output, one element behind, as an input: such a loop is a
 * recurrence. Disjoint operands and an output that is exactly an input are not. */
static bool is_recurrence(const struct loop *loop, char **args, int64_t count, const int64_t *steps)
{
    unsigned nin = gsh_op_info(loop->op)->nin;
    const char *low, *out_low;
    size_t length, out_length;
    operand_range(args[nin], count, steps[nin], gsh_dtype_size(loop->result), &out_low,
                  &out_length);
    for (unsigned k = 0; k < nin; k++) {
        operand_range(args[k], count, steps[k], gsh_dtype_size(loop->dtype), &low, &length);
        bool same = args[k] == args[nin] && steps[k] == steps[nin] && loop->dtype == loop->result;
        if (!same && low < out_low + out_length && out_low < low + length)
            return true;
    }
    return false;
}

static bool try_device(const struct loop *loop, char **args, int64_t count, const int64_t *steps)
{
    unsigned nin = gsh_op_info(loop->op)->nin;
    struct gsh_call call = {.row = loop->row};
    struct gsh_launch *launch = &call.launch;
    launch->kind = GSH_LAUNCH_ELEMENTWISE;
    launch->op = loop->op;
    launch->loop = loop->dtype;
    launch->nin = nin;
    launch->ndim = 1;
    launch->shape[0] = count;
    if (!gsh_arena_contains(args[nin]) ||
        llabs(steps[nin]) < (int64_t)gsh_dtype_size(loop->result) ||
        !is_aligned(args[nin], steps[nin], loop->result) || is_recurrence(loop, args, count, steps))
        return false;
    for (unsigned k = 0; k < nin; k++) {
        if (!is_aligned(args[k], steps[k], loop->dtype))
            return false;
        place_input(launch, k, args[k], steps[k]);
    }
    launch->operands[nin] =
        (struct gsh_operand){.dtype = loop->result, .address = (uintptr_t)args[nin]};
    launch->strides[nin][0] = steps[nin];
    enum gsh_reason why;
    return gsh_dispatch_decide(&call) == GSH_REASON_NONE && gsh_dispatch_run(&call, &why) == GSH_OK;
}

/* A loop over enough elements: on the device, or its operands home and in the original. */
__attribute__((noinline)) static void run_large(char **args, const int64_t *dimensions,
                                                const int64_t *steps, const struct loop *loop)
{
    __atomic_fetch_add(loop->hits, 1, __ATOMIC_RELAXED);
    if (!gsh_numpy_output_host_is_inside()) {
        if (is_admitted && gsh_dispatch_is_live() && try_device(loop, args, dimensions[0], steps)) {
            device_calls++;
            return;
        }
        bring_home(loop, args, dimensions[0], steps);
    }
    loop->function(args, dimensions, steps, loop->data);
}

static void loop_hook(char **args, const int64_t *dimensions, const int64_t *steps, void *data)
{
    const struct loop *loop = data;
    int64_t count = dimensions[0];
    if (GSH_UNLIKELY(count >= gsh_dispatch_min_elements && count > 1)) {
        run_large(args, dimensions, steps, loop);
        return;
    }
    loop->function(args, dimensions, steps, loop->data);
}

/* NumPy's type number as one of ours, or -1. */
static int dtype_of_type_num(char type_num)
{
    for (int i = 0; i < GSH_DTYPE_COUNT; i++)
        if (((const struct gsh_descr *)gsh_np.descrs[i])->type_num == type_num)
            return i;
    return -1;
}

/* Describes loop i of the ufunc; false where the device has no counterpart. */
static bool describe_loop(const struct gsh_ufunc *ufunc, int i, enum gsh_op op, struct loop *loop)
{
    const struct gsh_op_info *info = gsh_op_info(op);
    const char *types = ufunc->types + (ptrdiff_t)i * ufunc->nargs;
    int dtype = dtype_of_type_num(types[0]), result = dtype_of_type_num(types[ufunc->nin]);
    if (dtype < 0 || result < 0 || !(info->dtypes & (1u << dtype)) ||
        (ufunc->nin == 2 && types[1] != types[0]))
        return false;
    if (result != (info->result == GSH_RESULT_BOOL ? GSH_BOOL : dtype))
        return false;
    const enum gsh_dtype dtypes[2] = {(enum gsh_dtype)dtype, (enum gsh_dtype)dtype};
    *loop = (struct loop){
        .function = ufunc->functions[i],
        .data = ufunc->data ? ufunc->data[i] : NULL,
        .op = op,
        .dtype = (enum gsh_dtype)dtype,
        .result = (enum gsh_dtype)result,
        .row = gsh_numpy_output_row(info->name, dtypes, info->nin, (enum gsh_dtype)result),
    };
    return true;
}

bool gsh_numpy_loops_is_genuine(enum gsh_op op, enum gsh_dtype loop)
{
    return places[op][loop] && *places[op][loop] == loop_hook;
}

static void free_tables(gsh_ufunc_loop *functions, void **data, struct loop *loops)
{
    free(functions);
    free(data);
    free(loops);
}

/* Gives the ufunc tables of its own, in which the loops that the device knows are ours. */
static void install_one(struct gsh_ufunc *ufunc, enum gsh_op op)
{
    size_t count = (size_t)ufunc->ntypes;
    gsh_ufunc_loop *functions = malloc(count * sizeof(*functions));
    void **data = calloc(count, sizeof(*data));
    struct loop *loops = calloc(count, sizeof(*loops));
    if (!functions || !data || !loops) {
        free_tables(functions, data, loops);
        return;
    }
    struct gsh_hook *hook = gsh_numpy_hooks_add("loops", ufunc->name, "f(*[s] * f.nin)");
    hook->subject = (PyObject *)ufunc;
    hook->installed = false;
    memcpy(functions, ufunc->functions, count * sizeof(*functions));
    if (ufunc->data)
        memcpy(data, ufunc->data, count * sizeof(*data));
    for (int i = 0; i < ufunc->ntypes; i++) {
        if (!describe_loop(ufunc, i, op, &loops[i]))
            continue;
        loops[i].hits = &hook->own_hits;
        functions[i] = loop_hook;
        data[i] = &loops[i];
        places[op][loops[i].dtype] = &functions[i];
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

void gsh_numpy_loops_install(void)
{
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (gsh_py.PyDict_Next(gsh_np.dict, &position, &name, &value)) {
        if (gsh_py_type(value) != gsh_np.ufunc_type)
            continue;
        struct gsh_ufunc *ufunc = (struct gsh_ufunc *)value;
        int op = gsh_numpy_ufunc_find_op(ufunc);
        if (op >= 0 && ufunc->ntypes > 0 && !is_installed(ufunc))
            install_one(ufunc, (enum gsh_op)op);
    }
}
