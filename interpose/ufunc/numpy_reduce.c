/* SPDX-License-Identifier: Apache-2.0
 *
 * ufunc.reduce for the ufuncs of reductions.def, which np.sum, ndarray.max and similar functions
 * call: one REDUCE over the axes, of the elements selected by where=, starting with initial=.
 */
#include "dispatch.h"
#include "host_casts.h"
#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_expiring.h"
#include "numpy_fallback.h"
#include "numpy_loops.h"
#include "numpy_parallel_fold.h"
#include "numpy_reduction.h"
#include "numpy_scalar.h"
#include "python_error.h"

#include <math.h>
#include <string.h>

enum { ARRAY, AXIS, DTYPE, OUT, KEEPDIMS, INITIAL, WHERE, PARAMETERS };
static const char *const parameters[PARAMETERS] = {"array",    "axis",    "dtype", "out",
                                                   "keepdims", "initial", "where"};

static PyObject *try_reduce(const struct gsh_method_call *call, enum gsh_reason *why,
                            unsigned *row);

GSH_METHOD_HOOK(reduce_hook, .table = GSH_METHOD_UFUNC, .name = "reduce", .handler = try_reduce,
                .subject = GSH_METHOD_ASK_BY_ITEMS, .uses_cores = true,
                .self_test = "m.add.reduce(a)");

/* One call, described. */
struct request {
    int reduction;
    PyObject *array; /* borrowed */
    PyObject *axis;  /* borrowed; NULL: the first */
    struct gsh_view in;
    bool reduced[GSH_MAX_DIMS];
    bool keepdims;
    PyObject *out; /* borrowed; NULL: none given */
    struct gsh_view out_view;
    bool has_mask;
    struct gsh_view mask;
    PyObject *initial; /* borrowed; NULL: not given */
    struct gsh_reduction_dtypes dtypes;
    struct gsh_layout layout; /* of the result */
};

/* ---- arguments ---- */

/* where=: True, or a bool array that broadcasts to the operand's shape. */
static enum gsh_reason describe_mask(struct request *request, PyObject *where)
{
    const struct gsh_view *in = &request->in;
    struct gsh_view *mask = &request->mask;
    request->has_mask = where && where != gsh_py._Py_TrueStruct;
    if (!request->has_mask)
        return GSH_REASON_NONE;
    enum gsh_reason why = gsh_numpy_describe_array(where, mask);
    if (why != GSH_REASON_NONE)
        return why;
    if (mask->dtype != GSH_BOOL)
        return GSH_REASON_DTYPE;
    int shift = in->ndim - mask->ndim;
    for (int i = 0; i < mask->ndim; i++)
        if (shift < 0 || (mask->shape[i] != 1 && mask->shape[i] != in->shape[i + shift]))
            return GSH_REASON_SHAPE;
    return GSH_REASON_NONE;
}

/* axis= as flags; the first axis if not given. False: leave the call to NumPy. */
static bool find_axes(PyObject *axis, int ndim, bool *reduced)
{
    memset(reduced, false, (size_t)ndim);
    reduced[0] = !axis;
    return !axis || gsh_numpy_arguments_axes(axis, ndim, reduced);
}

static enum gsh_reason describe(const struct gsh_method_call *call, PyObject *const *slots,
                                struct request *request)
{
    enum gsh_reason why = gsh_numpy_describe_array(slots[ARRAY], &request->in);
    if (why != GSH_REASON_NONE)
        return why;
    if (!gsh_numpy_arguments_flag(slots[KEEPDIMS], false, &request->keepdims) ||
        !gsh_numpy_reduction_find_out(slots[OUT], call->nargs <= OUT, &request->out))
        return GSH_REASON_KEYWORDS;
    if (slots[INITIAL] != gsh_numpy_arguments_no_value())
        request->initial = slots[INITIAL];
    if (request->in.ndim == 0 || gsh_numpy_describe_size(gsh_numpy_array(slots[ARRAY])) == 0 ||
        !find_axes(slots[AXIS], request->in.ndim, request->reduced))
        return GSH_REASON_SHAPE;
    why = describe_mask(request, slots[WHERE]);
    if (why == GSH_REASON_NONE && request->out)
        why = gsh_numpy_describe_output(request->out, &request->out_view);
    if (why != GSH_REASON_NONE)
        return why;
    return gsh_numpy_reduction_resolve(GSH_REDUCTION_REDUCE, request->reduction, request->in.dtype,
                                       slots[DTYPE], request->out ? &request->out_view : NULL,
                                       &request->dtypes);
}

/* ---- the launch ---- */

/* Shape and strides of a fresh result: the kept axes in the order in which NumPy's iterator walks
 * the operand and the mask. */
static void layout_result(struct request *request)
{
    const struct gsh_view *in = &request->in;
    struct gsh_layout *layout = &request->layout;
    struct gsh_launch walk = {.ndim = in->ndim};
    int axes[GSH_MAX_DIMS], at[GSH_MAX_DIMS];
    memcpy(walk.shape, in->shape, (size_t)in->ndim * sizeof(walk.shape[0]));
    gsh_numpy_describe_place_view(&walk, 0, in);
    if (request->has_mask)
        gsh_numpy_describe_place_view(&walk, 1, &request->mask);
    gsh_numpy_output_axis_order(&walk, 1u + request->has_mask, axes);
    for (int i = 0; i < in->ndim; i++) {
        at[i] = layout->ndim;
        layout->ndim += request->keepdims || !request->reduced[i];
    }
    gsh_numpy_reduction_shape(in, request->reduced, request->keepdims, layout);
    int64_t stride = (int64_t)gsh_dtype_size(request->dtypes.result);
    for (int i = 0; i < in->ndim; i++) {
        int axis = axes[i];
        if (request->reduced[axis] && !request->keepdims)
            continue;
        layout->strides[at[axis]] = stride;
        stride *= layout->shape[at[axis]];
    }
}

/* ---- the initial value ---- */

/* Whether the initial value contains -0.0. A sum that starts with -0.0 may be -0.0; a sum that
 * starts with the neutral 0 cannot. */
static bool has_negative_zero(const struct gsh_numpy_value *value)
{
    double parts[2];
    gsh_host_casts_run(parts, GSH_COMPLEX128, 16, &value->scalar, value->dtype, 0, 1);
    return (parts[0] == 0 && signbit(parts[0])) || (parts[1] == 0 && signbit(parts[1]));
}

/* initial=None: the reduction starts with the first element. Whether this equals a start with the
 * neutral value, including the sign of zero. */
static bool may_begin_with_first(const struct request *request)
{
    if (gsh_reduction_info((enum gsh_reduction)request->reduction)->neutral == GSH_NEUTRAL_FIRST)
        return true;
    return request->reduction != GSH_REDUCE_GCD &&
           (GSH_SET_INEXACT >> request->dtypes.loop & 1) == 0;
}

static enum gsh_reason place_initial(const struct request *request, struct gsh_launch *launch)
{
    struct gsh_numpy_value value;
    PyObject *initial = request->initial;
    bool is_none = initial && gsh_py_is_none(initial);
    bool has_neutral =
        gsh_reduction_info((enum gsh_reduction)request->reduction)->neutral != GSH_NEUTRAL_FIRST;
    if (request->has_mask && (is_none || (!initial && !has_neutral)))
        return GSH_REASON_KEYWORDS; /* an error */
    if (!initial)
        return GSH_REASON_NONE;
    if (is_none)
        return may_begin_with_first(request) ? GSH_REASON_NONE : GSH_REASON_KEYWORDS;
    enum gsh_reason why = gsh_numpy_describe_scalar(initial, &value);
    if (why != GSH_REASON_NONE)
        return why;
    launch->has_initial = true;
    if (!gsh_numpy_describe_cast(&value, launch->loop, &launch->initial) ||
        has_negative_zero(&value))
        return GSH_REASON_OPERAND;
    return GSH_REASON_NONE;
}

/* ---- the call ---- */

/* The stats row; looked up once. */
static unsigned row_of(enum gsh_reduction reduction, enum gsh_dtype in, enum gsh_dtype result)
{
    static unsigned rows[GSH_REDUCTION_COUNT][GSH_DTYPE_COUNT][GSH_DTYPE_COUNT];
    unsigned *row = &rows[reduction][in][result];
    if (*row == 0)
        *row = gsh_numpy_output_row(gsh_reduction_info(reduction)->name, &in, 1, result);
    return *row;
}

/* ---- several cores of the CPU ---- */

static gsh_numpy_reduce *numpy_reduce; /* NumPy's; NULL: of another convention */

static const struct gsh_numpy_loop *find_loop(const struct request *request, PyObject *ufunc)
{
    static const struct gsh_numpy_loop *loops[GSH_REDUCTION_COUNT][GSH_DTYPE_COUNT];
    const struct gsh_numpy_loop **loop = &loops[request->reduction][request->dtypes.loop];
    if (*loop == NULL)
        *loop = gsh_numpy_loops_find((struct gsh_ufunc *)ufunc, request->dtypes.loop);
    return *loop;
}

static PyObject *fold_in_threads(const struct request *request, PyObject *ufunc,
                                 const struct gsh_call *call, enum gsh_reason why)
{
    PyObject *none = gsh_py._Py_NoneStruct, *yes = gsh_py._Py_TrueStruct;
    PyObject *keepdims = request->keepdims ? yes : gsh_py._Py_FalseStruct;
    struct gsh_numpy_fold fold = {.ufunc = ufunc,
                                  .args = {request->array, request->axis, none, NULL, keepdims,
                                           gsh_numpy_arguments_no_value(), yes},
                                  .reduce = numpy_reduce,
                                  .loop = find_loop(request, ufunc),
                                  .layout = &request->layout};
    if (!numpy_reduce || !request->axis || request->out || request->initial || request->has_mask ||
        !fold.args[5])
        return NULL;
    return gsh_numpy_parallel_fold_try(&fold, call, why);
}

/* ---- sums of bools on the CPU ---- */

#define LEAST_COUNTED                                                                              \
    4096 /* elements; NumPy's call of a function takes as long as some thousand of them */

static bool may_count(PyObject *object)
{
    const struct gsh_ndarray *array = gsh_numpy_array(object);
    return gsh_numpy_dtype(array->descr) == GSH_BOOL &&
           (array->flags & (GSH_NPY_C_CONTIGUOUS | GSH_NPY_F_CONTIGUOUS)) != 0 &&
           gsh_numpy_describe_size(array) >= LEAST_COUNTED;
}

/* The sum of all elements of a bool array, which is the number of true ones: NumPy counts them in a tenth of the time that a cast of
 * each element takes. NULL without a Python error: it is another call. */
static PyObject *count_trues(const struct request *request, unsigned row, enum gsh_reason why)
{
    enum gsh_dtype result = request->dtypes.result;
    bool is_count = request->reduction == GSH_REDUCE_SUM && request->layout.ndim == 0 &&
                    !request->out && !request->initial && !request->has_mask &&
                    (result == GSH_INT64 || result == GSH_FLOAT64) && may_count(request->array);
    if (!is_count || why == GSH_REASON_NESTED)
        return NULL;
    uint64_t begin = gsh_numpy_output_host_begin();
    PyObject *count =
        gsh_py.PyObject_CallMethod(gsh_np.module, "count_nonzero", "O", request->array);
    PyObject *sum =
        count ? gsh_py.PyObject_CallFunction(gsh_np.scalar_types[result], "O", count) : NULL;
    if (count)
        gsh_py.Py_DecRef(count);
    gsh_numpy_output_host_end(begin, row, why);
    return gsh_numpy_fallback_pass(sum, row, why, NULL, 0);
}

static PyObject *run_reduction(struct request *request, PyObject *ufunc, enum gsh_reason *why,
                               unsigned *row)
{
    enum gsh_reduction reduction = (enum gsh_reduction)request->reduction;
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_REDUCE, .reduction = reduction}};
    struct gsh_launch *launch = &call.launch;
    launch->loop = request->dtypes.loop;
    *row = call.row = row_of(reduction, request->in.dtype, request->dtypes.result);
    *why = place_initial(request, launch);
    if (*why != GSH_REASON_NONE)
        return NULL;
    layout_result(request);
    *why = GSH_REASON_SHAPE;
    if (request->out && !gsh_numpy_reduction_fits(&request->out_view, &request->layout))
        return NULL;
    gsh_numpy_reduction_fill(launch, &request->in, request->has_mask ? &request->mask : NULL,
                             request->reduced, request->keepdims, &request->layout);
    launch->operands[1] = (struct gsh_operand){.dtype = request->dtypes.result};
    if (request->out)
        launch->operands[1].address = (uintptr_t)request->out_view.data;
    call.is_read_next = !request->out && request->layout.ndim == 0;
    call.expiring = (uint8_t)gsh_numpy_expiring_find(request->array);
    PyObject *array = gsh_numpy_output_run(&call, request->out, &request->layout, why);
    if (array && call.is_read_next)
        array = gsh_numpy_scalar_from_array(array);
    if (call.expiring != 0)
        gsh_numpy_expiring_end();
    if (!array && !gsh_py.PyErr_Occurred())
        array = count_trues(request, *row, *why);
    return array || gsh_py.PyErr_Occurred() ? array : fold_in_threads(request, ufunc, &call, *why);
}

/* ---- declined calls ---- */

/* What call_original leaves out next: of a call that was declined. Meant for another call (Python code may run before the
 * original), it costs that one time at most. GIL. */
static const struct gsh_numpy_loop *short_loop;

static PyObject *call_original(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames)
{
    const struct gsh_numpy_loop *loop = short_loop;
    if (GSH_LIKELY(loop == NULL))
        return numpy_reduce(self, args, nargs, kwnames);
    short_loop = NULL;
    bool is_left_out = gsh_numpy_loops_leave_out(loop);
    PyObject *result = numpy_reduce(self, args, nargs, kwnames);
    if (is_left_out)
        gsh_numpy_loops_take_back();
    return result;
}

/* Whether no inner loop is long: each runs along reduced axes or along kept ones. */
static bool has_short_loops(const struct request *request)
{
    int64_t counts[2] = {1, 1};
    for (int i = 0; i < request->in.ndim; i++)
        counts[request->reduced[i]] *= request->in.shape[i];
    return gsh_numpy_loops_is_short(counts[0]) && gsh_numpy_loops_is_short(counts[1]);
}

/* Whether a call that no device can compute might be done sooner than by NumPy's reduce. */
static bool may_gain(const struct gsh_method_call *call)
{
    if (call->nargs == 0 || !gsh_numpy_is_array(call->args[0]))
        return false;
    bool is_whole = call->nargs > 1 && gsh_py_is_none(call->args[1]);
    return is_whole
               ? may_count(call->args[0]) && gsh_numpy_reduction_find(call->self) == GSH_REDUCE_SUM
               : gsh_numpy_parallel_fold_may(call->args[0]);
}

/* The call with the array in place of a list of arrays. */
static PyObject *reduce_list(const struct gsh_method_call *call, enum gsh_reason *why)
{
    PyObject *args[2 * PARAMETERS];
    size_t count = call->nargs + (call->kwnames ? (size_t)gsh_py_size(call->kwnames) : 0);
    if (!numpy_reduce || count > GSH_COUNT(args))
        return NULL;
    memcpy(args, call->args, count * sizeof(args[0]));
    args[ARRAY] = gsh_numpy_composed_array(call->args[ARRAY], why);
    if (!args[ARRAY])
        return NULL;
    PyObject *result = gsh_numpy_method_patch_fastcall(&reduce_hook, call->self, args,
                                                       (Py_ssize_t)call->nargs, call->kwnames);
    gsh_py_drop(&args[ARRAY], 1);
    return result;
}

static PyObject *try_reduce(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    PyObject *slots[PARAMETERS];
    struct request request;
    if (!gsh_dispatch_is_live() && !may_gain(call))
        return NULL;
    if (call->nargs > 0 && !gsh_numpy_is_array(call->args[ARRAY]))
        return reduce_list(call, why);
    request.reduction = gsh_numpy_reduction_bind(call, parameters, PARAMETERS, slots, why);
    if (request.reduction < 0)
        return NULL;
    request.array = slots[ARRAY];
    request.axis = slots[AXIS];
    request.initial = NULL;
    request.layout.ndim = 0;
    *why = describe(call, slots, &request);
    if (*why != GSH_REASON_NONE)
        return NULL;
    PyObject *result = run_reduction(&request, call->self, why, row);
    if (!result && !gsh_py.PyErr_Occurred() && has_short_loops(&request))
        short_loop = find_loop(&request, call->self);
    return result;
}

void gsh_numpy_reduce_install_without_device(void)
{
    gsh_numpy_reduce_install();
}

void gsh_numpy_reduce_install(void)
{
    gsh_numpy_method_patch_install(&reduce_hook);
    if (reduce_hook.flags == (GSH_METH_FASTCALL | GSH_METH_KEYWORDS)) {
        numpy_reduce = (gsh_numpy_reduce *)reduce_hook.original;
        reduce_hook.original = (void *)call_original;
    }
    gsh_numpy_reduction_init(GSH_REDUCTION_REDUCE, &reduce_hook);
}

void gsh_numpy_reduce_learn(void)
{
    gsh_numpy_expiring_learn(&reduce_hook);
}
