/* SPDX-License-Identifier: Apache-2.0
 *
 * The launch itself casts, pads and crops the input (offload/fft/fft_run.h). NumPy 2 transforms
 * single-precision arrays in double precision if the factor is not float32; here they stay in
 * single precision. Floating-point errors are not detected: if np.errstate asks for more than
 * "warn", the call is left to NumPy, as for products.
 */
#include "numpy_fft.h"

#include "numpy_errstate.h"
#include "numpy_method_patch.h"
#include "stats.h"

#include <string.h>

static PyObject *try_execute(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row);

GSH_METHOD_HOOK(execute_hook, .table = GSH_METHOD_FFT_MODULE, .name = "execute",
                .handler = try_execute, .subject = GSH_METHOD_ASK_ALWAYS);

/* One of the transforms. */
struct kind {
    const char *gufunc;
    const char *row; /* its name in the report, as in np.fft */
    enum gsh_fft_type type;
    bool is_inverse;
    int odd; /* R2C: an output of k numbers belongs to 2 * (k - 1) + odd inputs */
};
enum { FFT, IFFT, RFFT, RFFT_ODD, IRFFT };
static const struct kind kinds[] = {
    [FFT] = {"fft", "fft", GSH_FFT_C2C, false, 0},
    [IFFT] = {"ifft", "ifft", GSH_FFT_C2C, true, 0},
    [RFFT] = {"rfft_n_even", "rfft", GSH_FFT_R2C, false, 0},
    [RFFT_ODD] = {"rfft_n_odd", "rfft", GSH_FFT_R2C, false, 1},
    [IRFFT] = {"irfft", "irfft", GSH_FFT_C2R, true, 0},
};

/* An array and its transformed dimension. */
struct lines {
    enum gsh_dtype dtype;
    int ndim, axis;
    const int64_t *shape, *strides;
    char *data;
};

static const struct kind *find_kind(const char *gufunc)
{
    for (size_t i = 0; i < GSH_COUNT(kinds); i++)
        if (strcmp(kinds[i].gufunc, gufunc) == 0)
            return &kinds[i];
    return NULL;
}

/* ---- the launch ---- */

static enum gsh_dtype input_dtype(const struct kind *kind, enum gsh_dtype loop)
{
    return kind->type == GSH_FFT_R2C ? gsh_dtype_real(loop) : loop;
}

static enum gsh_dtype output_dtype(const struct kind *kind, enum gsh_dtype loop)
{
    return kind->type == GSH_FFT_C2R ? gsh_dtype_real(loop) : loop;
}

static void place_operand(struct gsh_launch *launch, unsigned k, const struct lines *lines)
{
    struct gsh_core *core = &launch->fft.cores[k];
    launch->operands[k] =
        (struct gsh_operand){.dtype = lines->dtype, .address = (uintptr_t)lines->data};
    *core = (struct gsh_core){.extent = {lines->shape[lines->axis], 1, 1},
                              .stride = {lines->strides[lines->axis], 0, 0}};
    for (int d = 0, batch = 0; d < lines->ndim; d++)
        if (d != lines->axis)
            launch->strides[k][batch++] = lines->strides[d];
}

/* The batch: all dimensions except the transformed one. They must agree. */
static bool place_batch(struct gsh_launch *launch, const struct lines *in, const struct lines *out)
{
    if (in->ndim != out->ndim || in->ndim + 1 > GSH_MAX_DIMS)
        return false;
    for (int d = 0; d < in->ndim; d++) {
        if (in->shape[d] == 0 || out->shape[d] == 0)
            return false;
        if (d != in->axis)
            launch->shape[launch->ndim++] = in->shape[d];
    }
    for (int d = 0, batch = 0; d < out->ndim; d++)
        if (d != out->axis && out->shape[d] != launch->shape[batch++])
            return false;
    return true;
}

static enum gsh_reason describe(const struct kind *kind, const struct lines *in,
                                const struct lines *out, enum gsh_dtype loop, double factor,
                                struct gsh_call *call)
{
    struct gsh_launch *launch = &call->launch;
    int64_t last = out->shape[out->axis];
    launch->kind = GSH_LAUNCH_FFT;
    launch->loop = loop;
    launch->nin = 1;
    launch->nout = 1;
    if (out->dtype != output_dtype(kind, loop) ||
        !gsh_numpy_describe_can_cast(in->dtype, input_dtype(kind, loop), GSH_CASTING_SAFE))
        return GSH_REASON_DTYPE;
    if (!place_batch(launch, in, out))
        return GSH_REASON_SHAPE;
    launch->fft = (struct gsh_fft){
        .type = kind->type,
        .is_inverse = kind->is_inverse,
        .rank = 1,
        .length = {kind->type == GSH_FFT_R2C ? 2 * (last - 1) + kind->odd : last, 1, 1},
        .factor = factor,
    };
    place_operand(launch, 0, in);
    place_operand(launch, 1, out);
    return launch->fft.length[0] < 1 ? GSH_REASON_SHAPE : GSH_REASON_NONE;
}

/* ---- NumPy 2 ---- */

/* The dimension that one item of axes= names: a tuple of one number. */
static bool parse_axis(PyObject *item, int ndim, int *axis)
{
    int64_t value;
    if (gsh_py_type(item) != gsh_py.PyTuple_Type || gsh_py_size(item) != 1 ||
        !gsh_numpy_arguments_int(gsh_py.PyTuple_GetItem(item, 0), &value) || value < -ndim ||
        value >= ndim)
        return false;
    *axis = (int)(value < 0 ? value + ndim : value);
    return true;
}

/* axes=[(axis,), (), (axis,)]; without it, the last dimension. */
static bool parse_axes(PyObject *axes, struct lines *in, struct lines *out)
{
    in->axis = in->ndim - 1;
    out->axis = out->ndim - 1;
    if (!axes)
        return true;
    return gsh_py_type(axes) == gsh_py.PyList_Type && gsh_py.PyList_Size(axes) == 3 &&
           gsh_py_type(gsh_py.PyList_GetItem(axes, 1)) == gsh_py.PyTuple_Type &&
           gsh_py_size(gsh_py.PyList_GetItem(axes, 1)) == 0 &&
           parse_axis(gsh_py.PyList_GetItem(axes, 0), in->ndim, &in->axis) &&
           parse_axis(gsh_py.PyList_GetItem(axes, 2), out->ndim, &out->axis);
}

static bool parse_factor(PyObject *object, double *factor)
{
    struct gsh_numpy_value value;
    union gsh_scalar scalar;
    if (gsh_numpy_describe_scalar(object, &value) != GSH_REASON_NONE ||
        gsh_dtype_kind(value.dtype) == 'c' ||
        !gsh_numpy_describe_cast(&value, GSH_FLOAT64, &scalar))
        return false;
    *factor = scalar.f64;
    return true;
}

/* Whether all keywords are among those that np.fft passes, or have default values. */
static bool is_understood(const struct gsh_ufunc_call *from)
{
    return from->outs[0] && !from->where && !from->dtype && !from->signature && !from->extobj &&
           from->order == GSH_ORDER_KEEP && from->casting == GSH_CASTING_SAME_KIND;
}

static struct lines lines_of(const struct gsh_view *view)
{
    return (struct lines){.dtype = view->dtype,
                          .ndim = view->ndim,
                          .shape = view->shape,
                          .strides = view->strides,
                          .data = view->data};
}

static enum gsh_reason describe_gufunc(const struct gsh_ufunc_call *from, const struct kind *kind,
                                       struct gsh_call *call, unsigned *row)
{
    struct gsh_view in_view, out_view;
    double factor;
    if (!is_understood(from) || !parse_factor(from->inputs[1], &factor))
        return GSH_REASON_KEYWORDS;
    enum gsh_reason reason = gsh_numpy_describe_array(from->inputs[0], &in_view);
    if (reason == GSH_REASON_NONE)
        reason = gsh_numpy_describe_output(from->outs[0], &out_view);
    if (reason != GSH_REASON_NONE)
        return reason;
    *row = call->row = gsh_numpy_output_row(kind->row, &in_view.dtype, 1, out_view.dtype);
    struct lines in = lines_of(&in_view), out = lines_of(&out_view);
    if (in.ndim == 0 || out.ndim == 0)
        return GSH_REASON_SHAPE;
    if (!parse_axes(from->axes, &in, &out))
        return GSH_REASON_KEYWORDS;
    if (!gsh_numpy_errstate_ignores_or_warns())
        return GSH_REASON_ERRSTATE;
    return describe(kind, &in, &out, gsh_dtype_complex(out.dtype), factor, call);
}

/* As gsh_ufunc_handler. */
static PyObject *try_gufunc(const struct gsh_ufunc_call *from, enum gsh_reason *why, unsigned *row)
{
    const struct kind *kind = find_kind(from->ufunc->name);
    struct gsh_call call = {0};
    *row = gsh_stats_row(kind->row, "");
    *why = describe_gufunc(from, kind, &call, row);
    return *why == GSH_REASON_NONE ? gsh_numpy_output_run(&call, from->outs[0], NULL, why) : NULL;
}

gsh_ufunc_handler gsh_numpy_fft_offer(const struct gsh_ufunc *ufunc)
{
    return ufunc->nin == 2 && ufunc->nout == 1 && find_kind(ufunc->name) ? try_gufunc : NULL;
}

/* ---- NumPy 1 ---- */

/* execute(a, is_real, is_forward, fct): transforms the last dimension in double precision into a
 * fresh array in C order. */
struct execution {
    struct gsh_view view;
    const struct kind *kind;
    double factor;
};

static enum gsh_reason parse_execution(const struct gsh_method_call *call,
                                       struct execution *execution)
{
    bool is_real, is_forward;
    if (call->nargs != 4 || call->kwdict ||
        !gsh_numpy_arguments_flag(call->args[1], false, &is_real) ||
        !gsh_numpy_arguments_flag(call->args[2], false, &is_forward) ||
        !parse_factor(call->args[3], &execution->factor))
        return GSH_REASON_KEYWORDS;
    enum gsh_reason reason = gsh_numpy_describe_array(call->args[0], &execution->view);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (execution->view.ndim == 0)
        return GSH_REASON_SHAPE;
    bool is_odd = execution->view.shape[execution->view.ndim - 1] % 2 != 0;
    if (is_real)
        execution->kind = &kinds[!is_forward ? IRFFT : is_odd ? RFFT_ODD : RFFT];
    else
        execution->kind = &kinds[is_forward ? FFT : IFFT];
    return GSH_REASON_NONE;
}

static PyObject *try_execute(const struct gsh_method_call *from, enum gsh_reason *why,
                             unsigned *row)
{
    struct execution execution;
    struct gsh_call call = {0};
    *why = parse_execution(from, &execution);
    if (*why != GSH_REASON_NONE)
        return NULL;
    enum gsh_dtype dtype = output_dtype(execution.kind, GSH_COMPLEX128);
    struct gsh_layout layout = {.ndim = execution.view.ndim};
    int64_t *length = &layout.shape[layout.ndim - 1];
    memcpy(layout.shape, execution.view.shape, (size_t)layout.ndim * sizeof(*layout.shape));
    if (execution.kind->type == GSH_FFT_R2C)
        *length = *length / 2 + 1;
    gsh_numpy_output_c_order(&layout, gsh_dtype_size(dtype));
    struct lines in = lines_of(&execution.view);
    struct lines out = {
        .dtype = dtype, .ndim = layout.ndim, .shape = layout.shape, .strides = layout.strides};
    in.axis = out.axis = layout.ndim - 1;
    *row = call.row = gsh_numpy_output_row(execution.kind->row, &in.dtype, 1, dtype);
    *why = describe(execution.kind, &in, &out, GSH_COMPLEX128, execution.factor, &call);
    return *why == GSH_REASON_NONE ? gsh_numpy_output_run(&call, NULL, &layout, why) : NULL;
}

void gsh_numpy_fft_adopt_module(void)
{
    if (gsh_np.major == 1 && gsh_np.call_ufunc && !execute_hook.original)
        gsh_numpy_method_patch_install(&execute_hook);
}
