/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts an elementwise ufunc call to a launch: operands, mask, broadcast shape, loop, outputs.
 * Declines calls that it cannot describe and makes no other decision. GIL.
 */
#include "numpy_elementwise.h"

#include "numpy_parallel_call.h"
#include "numpy_promote.h"
#include "numpy_version_probe.h"
#include "python_error.h"

#include <string.h>

/* A call that is being converted. */
struct draft {
    const struct gsh_ufunc_call *request;
    struct gsh_call call;
    struct gsh_argument arguments[GSH_MAX_INPUTS + 1]; /* inputs, then the mask */
    unsigned count;                                    /* of arguments */
    struct gsh_view outs[GSH_MAX_OUTPUTS];             /* of the given outputs */
    int out_dtypes[GSH_MAX_OUTPUTS];                   /* -1: not given */
    const struct gsh_numpy_loop *loop;
    struct gsh_layout layouts[GSH_MAX_OUTPUTS]; /* of the outputs that are not given */
};

/* Describes the mask, which must be a bool array. NumPy converts or refuses other objects. */
static enum gsh_reason describe_mask(struct draft *draft)
{
    struct gsh_argument *mask = &draft->arguments[draft->count++];
    *mask = (struct gsh_argument){.object = draft->request->where, .is_array = true};
    enum gsh_reason why = gsh_numpy_describe_array(mask->object, &mask->view);
    if (why != GSH_REASON_NONE)
        return why;
    draft->call.launch.has_mask = true;
    return mask->view.dtype == GSH_BOOL && mask->view.ndim > 0 ? GSH_REASON_NONE
                                                               : GSH_REASON_KEYWORDS;
}

static enum gsh_reason describe_objects(struct draft *draft)
{
    const struct gsh_ufunc_call *request = draft->request;
    enum gsh_reason why = GSH_REASON_NONE;
    for (unsigned k = 0; k < draft->call.launch.nin && why == GSH_REASON_NONE; k++)
        why = gsh_numpy_describe_argument(request->inputs[k], &draft->arguments[draft->count++]);
    if (why == GSH_REASON_NONE && request->where)
        why = describe_mask(draft);
    for (unsigned j = 0; j < draft->call.launch.nout && why == GSH_REASON_NONE; j++) {
        draft->out_dtypes[j] = -1;
        if (!request->outs[j])
            continue;
        why = gsh_numpy_describe_output(request->outs[j], &draft->outs[j]);
        if (why == GSH_REASON_UNMANAGED_OUTPUT) /* gsh_dispatch_decide says so too */
            why = GSH_REASON_NONE;
        draft->out_dtypes[j] = (int)draft->outs[j].dtype;
    }
    return why;
}

/* Changes the launch's shape to that of `out`. The shape must broadcast to it. */
static enum gsh_reason stretch_shape(struct gsh_launch *launch, const struct gsh_view *out)
{
    int shift = out->ndim - launch->ndim;
    for (int i = 0; i < out->ndim; i++)
        if (out->shape[i] == 0 || (i >= shift && launch->shape[i - shift] != 1 &&
                                   launch->shape[i - shift] != out->shape[i]))
            return GSH_REASON_SHAPE;
    if (shift < 0)
        return GSH_REASON_SHAPE;
    launch->ndim = out->ndim;
    for (int i = 0; i < out->ndim; i++)
        launch->shape[i] = out->shape[i];
    return GSH_REASON_NONE;
}

static bool has_shape_of(const struct gsh_view *view, const struct gsh_view *other)
{
    if (view->ndim != other->ndim)
        return false;
    for (int i = 0; i < view->ndim; i++) /* for 0-d arrays the shape may be NULL */
        if (view->shape[i] != other->shape[i])
            return false;
    return true;
}

/* The broadcast shape of inputs and mask, or the shape of the given outputs. */
static enum gsh_reason place_shape(struct draft *draft)
{
    struct gsh_launch *launch = &draft->call.launch;
    enum gsh_reason why = gsh_numpy_describe_broadcast(launch, draft->arguments, draft->count);
    const struct gsh_view *first = NULL;
    for (unsigned j = 0; j < launch->nout && why == GSH_REASON_NONE; j++) {
        if (!draft->request->outs[j])
            continue;
        if (first && !has_shape_of(first, &draft->outs[j]))
            return GSH_REASON_SHAPE;
        first = &draft->outs[j];
        why = stretch_shape(launch, first);
    }
    if (why == GSH_REASON_NONE && !first && launch->ndim == 0)
        return GSH_REASON_SCALAR;
    return why;
}

/* Whether all elements of an integer argument are known to be non-negative. */
static bool is_nonnegative(const struct gsh_argument *argument)
{
    struct gsh_numpy_value value = argument->value;
    union gsh_scalar number = {.words = {0}};
    if (argument->is_array) {
        if (gsh_dtype_kind(argument->view.dtype) != 'i')
            return true;
        PyObject *minimum = gsh_py.PyDict_GetItemString(gsh_np.dict, "minimum");
        PyObject *least = minimum
                              ? gsh_py.PyObject_CallMethod(minimum, "reduce", "OO",
                                                           argument->object, gsh_py._Py_NoneStruct)
                              : NULL;
        bool known = least && gsh_numpy_describe_scalar(least, &value) == GSH_REASON_NONE;
        gsh_python_error_clear();
        if (least)
            gsh_py.Py_DecRef(least);
        if (!known)
            return false;
    }
    return gsh_dtype_kind(value.dtype) != 'i' ||
           (gsh_numpy_describe_cast(&value, GSH_INT64, &number) && number.i64 >= 0);
}

/* A scalar as input k of the launch, cast via the dtype of NumPy's loop. */
static bool cast_scalar(const struct draft *draft, unsigned k, union gsh_scalar *constant)
{
    const struct gsh_launch *launch = &draft->call.launch;
    struct gsh_numpy_value value = {.kind = GSH_VALUE_NUMPY, .dtype = draft->loop->operands[k]};
    return gsh_numpy_describe_cast(&draft->arguments[k].value, value.dtype, &value.scalar) &&
           gsh_numpy_describe_cast(&value, gsh_op_input_dtype(launch->op, launch->loop, k),
                                   constant);
}

/* Whether NumPy's loop sees the one exponent 1/2 as such: its iterator copies nothing whose cast could matter. Integers have neither a
 * minus zero nor an infinity, for which a root differs from a power. */
static bool has_plain_operands(const struct draft *draft)
{
    const struct gsh_argument *base = &draft->arguments[0], *exponent = &draft->arguments[1];
    const enum gsh_dtype loop = draft->call.launch.loop;
    enum gsh_dtype of_base = base->is_array ? base->view.dtype : base->value.dtype;
    return (of_base == loop || gsh_dtype_kind(of_base) != 'f') &&
           (exponent->value.kind != GSH_VALUE_NUMPY || exponent->value.dtype == loop) &&
           (draft->out_dtypes[0] < 0 || draft->out_dtypes[0] == (int)loop);
}

/* Whether all elements of the array are one in memory. */
static bool is_one_number(const struct gsh_view *view)
{
    bool is_one = true;
    for (int d = 0; d < view->ndim; d++)
        is_one &= view->shape[d] == 1 || view->strides[d] == 0;
    return is_one;
}

/* The power of the launch as NumPy computes it, or OPERAND. It refuses negative integer exponents. If the only exponent is 1/2, newer
 * loops take the square root, which treats minus zero and infinity differently. */
static enum gsh_reason choose_power(struct draft *draft)
{
    struct gsh_launch *launch = &draft->call.launch;
    const struct gsh_argument *exponent = &draft->arguments[1];
    union gsh_scalar number;
    if (launch->op != GSH_OP_POWER)
        return GSH_REASON_NONE;
    if (gsh_dtype_kind(launch->loop) == 'i')
        return is_nonnegative(exponent) ? GSH_REASON_NONE : GSH_REASON_OPERAND;
    if (gsh_dtype_kind(launch->loop) != 'f')
        return GSH_REASON_NONE;
    if (exponent->is_array) /* one number in memory is perhaps 1/2 */
        return is_one_number(&exponent->view) ? GSH_REASON_OPERAND : GSH_REASON_NONE;
    if (!gsh_numpy_describe_cast(&exponent->value, GSH_FLOAT64, &number) || number.f64 != 0.5 ||
        !gsh_numpy_version_probe_takes_root(draft->loop))
        return GSH_REASON_NONE;
    launch->op = GSH_OP_ROOT_POWER;
    return has_plain_operands(draft) ? GSH_REASON_NONE : GSH_REASON_OPERAND;
}

/* Declines casts that differ from NumPy's, which go through the loop's dtype, and powers that NumPy refuses. */
static enum gsh_reason check_loop(struct draft *draft)
{
    const struct gsh_launch *launch = &draft->call.launch;
    for (unsigned k = 0; k < launch->nin; k++) {
        const struct gsh_argument *argument = &draft->arguments[k];
        enum gsh_dtype numpys = draft->loop->operands[k];
        if (argument->is_array && numpys != gsh_op_input_dtype(launch->op, launch->loop, k) &&
            !gsh_numpy_describe_can_cast(argument->view.dtype, numpys, GSH_CASTING_SAFE))
            return GSH_REASON_DTYPE;
    }
    /* NumPy casts the contents of a masked output to the loop's dtype and back, and may warn about
     * it. */
    for (unsigned j = 0; j < launch->nout && launch->has_mask; j++)
        if (draft->out_dtypes[j] >= 0 &&
            draft->out_dtypes[j] != (int)draft->loop->operands[launch->nin + j])
            return GSH_REASON_DTYPE;
    return choose_power(draft);
}

static enum gsh_reason place_inputs(struct draft *draft)
{
    struct gsh_launch *launch = &draft->call.launch;
    for (unsigned k = 0; k < launch->nin; k++) {
        const struct gsh_argument *argument = &draft->arguments[k];
        if (argument->is_array) {
            gsh_numpy_describe_place_view(launch, k, &argument->view);
            continue;
        }
        union gsh_scalar constant;
        if (!cast_scalar(draft, k, &constant))
            return GSH_REASON_OPERAND;
        gsh_numpy_describe_place_constant(
            launch, k, gsh_op_input_dtype(launch->op, launch->loop, k), constant);
    }
    if (launch->has_mask)
        gsh_numpy_describe_place_view(launch, launch->nin + launch->nout,
                                      &draft->arguments[launch->nin].view);
    return GSH_REASON_NONE;
}

/* The GSH_NPY_* contiguity flags that all arrays have in common. */
static int common_contiguity(const struct draft *draft)
{
    int flags = GSH_NPY_C_CONTIGUOUS | GSH_NPY_F_CONTIGUOUS;
    for (unsigned k = 0; k < draft->count; k++)
        if (draft->arguments[k].is_array)
            flags &= draft->arguments[k].view.flags;
    for (unsigned j = 0; j < draft->call.launch.nout; j++)
        if (draft->request->outs[j])
            flags &= draft->outs[j].flags;
    return flags;
}

/* The order in which NumPy's iterator walks inputs, given outputs and mask. */
static void follow_iterator(const struct draft *draft, size_t itemsize, struct gsh_layout *layout)
{
    const struct gsh_launch *launch = &draft->call.launch;
    struct gsh_launch walk = {.ndim = launch->ndim};
    unsigned count = 0;
    memcpy(walk.shape, launch->shape, sizeof(walk.shape));
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        if (!gsh_launch_is_output(launch, k) || draft->request->outs[k - launch->nin])
            memcpy(walk.strides[count++], launch->strides[k], sizeof(walk.strides[0]));
    gsh_numpy_output_iterator_order(&walk, count, itemsize, layout);
}

/* The layout of a fresh output. */
static void lay_out(const struct draft *draft, size_t itemsize, struct gsh_layout *layout)
{
    const struct gsh_launch *launch = &draft->call.launch;
    enum gsh_order order = draft->request->order;
    int trivial = 0;
    layout->ndim = launch->ndim;
    memcpy(layout->shape, launch->shape, (size_t)launch->ndim * sizeof(*layout->shape));
    if (launch->ndim > 1 && launch->nout == 1 && !launch->has_mask)
        trivial = gsh_numpy_output_trivial_order(launch, draft->arguments, draft->loop->operands);
    if (launch->ndim <= 1 || order == GSH_ORDER_C)
        gsh_numpy_output_c_order(layout, itemsize);
    else if (order == GSH_ORDER_F || trivial == GSH_NPY_F_CONTIGUOUS)
        gsh_numpy_output_f_order(layout, itemsize);
    else if (trivial != 0)
        gsh_numpy_output_c_order(layout, itemsize);
    else if (order == GSH_ORDER_KEEP)
        follow_iterator(draft, itemsize, layout);
    else if (common_contiguity(draft) & GSH_NPY_F_CONTIGUOUS)
        gsh_numpy_output_f_order(layout, itemsize);
    else
        gsh_numpy_output_c_order(layout, itemsize);
}

static void place_outputs(struct draft *draft)
{
    struct gsh_launch *launch = &draft->call.launch;
    for (unsigned j = 0; j < launch->nout; j++)
        if (draft->request->outs[j])
            gsh_numpy_describe_place_view(launch, launch->nin + j, &draft->outs[j]);
    for (unsigned j = 0; j < launch->nout; j++) {
        if (draft->request->outs[j])
            continue;
        enum gsh_dtype dtype = gsh_launch_result_dtype(launch, j);
        lay_out(draft, gsh_dtype_size(dtype), &draft->layouts[j]);
        launch->operands[launch->nin + j] = (struct gsh_operand){.dtype = dtype};
        memcpy(launch->strides[launch->nin + j], draft->layouts[j].strides,
               sizeof(draft->layouts[j].strides));
    }
}

/* Describes the whole call. */
static enum gsh_reason describe(struct draft *draft)
{
    struct gsh_launch *launch = &draft->call.launch;
    enum gsh_reason why = describe_objects(draft);
    if (why == GSH_REASON_NONE)
        why = place_shape(draft);
    const struct gsh_numpy_loop *loop = NULL;
    if (why == GSH_REASON_NONE)
        why = gsh_numpy_promote(draft->request, draft->arguments, draft->out_dtypes, &loop);
    if (why != GSH_REASON_NONE)
        return why;
    draft->loop = loop;
    launch->loop = loop->dtype;
    why = check_loop(draft);
    if (why == GSH_REASON_NONE)
        why = place_inputs(draft);
    if (why == GSH_REASON_NONE)
        place_outputs(draft);
    return why;
}

/* The stats row of the call; looked up once for each loop and dtype of the first output. */
static unsigned row_of(const struct draft *draft)
{
    static unsigned rows[GSH_OP_COUNT][GSH_DTYPE_COUNT][GSH_DTYPE_COUNT];
    const struct gsh_launch *launch = &draft->call.launch;
    enum gsh_dtype result = launch->operands[launch->nin].dtype;
    unsigned *row = &rows[launch->op][draft->loop->operands[0]][result];
    if (*row == 0)
        *row = gsh_numpy_output_row(gsh_op_info(launch->op)->name, draft->loop->operands,
                                    launch->nin, result);
    return *row;
}

/* The call on several cores of the CPU, or NULL: left to NumPy. */
static PyObject *run_on_host(struct draft *draft, enum gsh_reason *why)
{
    PyObject *result = NULL;
    if (gsh_numpy_parallel_call_try(draft->request, &draft->call, draft->loop, draft->layouts, *why,
                                    &result))
        *why = GSH_REASON_NONE;
    return result;
}

PyObject *gsh_numpy_elementwise_try(const struct gsh_ufunc_call *request, enum gsh_reason *why,
                                    unsigned *row)
{
    struct draft draft;
    draft.request = request;
    draft.count = 0;
    memset(&draft.call, 0, sizeof draft.call);
    memset(draft.outs, 0, sizeof draft.outs);
    struct gsh_launch *launch = &draft.call.launch;
    launch->kind = GSH_LAUNCH_ELEMENTWISE;
    launch->op = (enum gsh_op)request->op;
    launch->nin = (unsigned)request->ufunc->nin;
    launch->nout = (unsigned)request->ufunc->nout;
    *why = describe(&draft);
    if (*why != GSH_REASON_NONE)
        return NULL;
    draft.call.row = *row = row_of(&draft);
    PyObject *results[GSH_MAX_OUTPUTS];
    memcpy(results, request->outs, sizeof(results));
    if (!gsh_numpy_output_run_all(&draft.call, results, draft.layouts, why))
        return run_on_host(&draft, why);
    return launch->nout == 1 ? results[0] : gsh_py.Py_BuildValue("(NN)", results[0], results[1]);
}
