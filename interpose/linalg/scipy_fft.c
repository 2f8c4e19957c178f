/* SPDX-License-Identifier: Apache-2.0
 *
 * c2c(a, axes, forward, inorm, out, nthreads), r2c with the same parameters, c2r(a, axes, lastsize,
 * forward, ...). Results are fresh arrays in C order with the precision of `a`. Floating-point
 * errors are not detected. Any other form of a call, including invalid ones, is left to the module.
 */
#include "scipy_fft.h"

#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_method_patch.h"
#include "scipy_module.h"
#include "stats.h"

#include <math.h>
#include <string.h>

static PyObject *try_c2c(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_r2c(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_c2r(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);

enum { ARRAY, AXES, FORWARD, NORM, OUT, THREADS, LAST_SIZE, PARAMETERS };
#define C2R_OUT 5 /* position of `out` in c2r */

GSH_METHOD_HOOK(c2c_hook, .table = GSH_METHOD_SCIPY_FFT, .name = "c2c", .handler = try_c2c,
                .writes = GSH_METHOD_WRITES_ARG(OUT));
GSH_METHOD_HOOK(r2c_hook, .table = GSH_METHOD_SCIPY_FFT, .name = "r2c", .handler = try_r2c,
                .writes = GSH_METHOD_WRITES_ARG(OUT));
GSH_METHOD_HOOK(c2r_hook, .table = GSH_METHOD_SCIPY_FFT, .name = "c2r", .handler = try_c2r,
                .writes = GSH_METHOD_WRITES_ARG(C2R_OUT));

/* One of the functions: its parameters in order and the slot of each. */
struct function {
    enum gsh_fft_type type;
    const char *row;
    unsigned count;
    const char *names[PARAMETERS];
    unsigned slots[PARAMETERS];
};
static const struct function functions[] = {
    [GSH_FFT_C2C] = {GSH_FFT_C2C,
                     "scipy.fft.c2c",
                     6,
                     {"a", "axes", "forward", "inorm", "out", "nthreads"},
                     {ARRAY, AXES, FORWARD, NORM, OUT, THREADS}},
    [GSH_FFT_R2C] = {GSH_FFT_R2C,
                     "scipy.fft.r2c",
                     6,
                     {"a", "axes", "forward", "inorm", "out", "nthreads"},
                     {ARRAY, AXES, FORWARD, NORM, OUT, THREADS}},
    [GSH_FFT_C2R] = {GSH_FFT_C2R,
                     "scipy.fft.c2r",
                     7,
                     {"a", "axes", "lastsize", "forward", "inorm", "out", "nthreads"},
                     {ARRAY, AXES, LAST_SIZE, FORWARD, NORM, OUT, THREADS}},
};

/* A parsed call. */
struct transform {
    const struct function *function;
    struct gsh_view in;
    PyObject *out; /* NULL: a fresh array */
    enum gsh_dtype loop;
    bool is_forward;
    int64_t norm, last_size;
    int rank, axes[GSH_CORE_DIMS];
    struct gsh_layout layout; /* of the result */
};

/* ---- arguments ---- */

static bool parse_axis(PyObject *item, struct transform *transform)
{
    int64_t axis;
    if (!item || !gsh_numpy_arguments_int(item, &axis) || axis < -transform->in.ndim ||
        axis >= transform->in.ndim || transform->rank == GSH_CORE_DIMS)
        return false;
    axis += axis < 0 ? transform->in.ndim : 0;
    for (int d = 0; d < transform->rank; d++)
        if (transform->axes[d] == axis)
            return false;
    transform->axes[transform->rank++] = (int)axis;
    return true;
}

static bool parse_axes(PyObject *axes, struct transform *transform)
{
    bool is_list = axes && gsh_py_type(axes) == gsh_py.PyList_Type;
    if (!axes || (!is_list && gsh_py_type(axes) != gsh_py.PyTuple_Type))
        return false;
    Py_ssize_t count = is_list ? gsh_py.PyList_Size(axes) : gsh_py_size(axes);
    for (Py_ssize_t i = 0; i < count; i++)
        if (!parse_axis(is_list ? gsh_py.PyList_GetItem(axes, i) : gsh_py.PyTuple_GetItem(axes, i),
                        transform))
            return false;
    return transform->rank > 0;
}

static bool parse_number(PyObject *object, int64_t absent, int64_t *number)
{
    *number = absent;
    return !object || gsh_numpy_arguments_int(object, number);
}

/* The loop with the input's precision. False: the function does not take the dtype. */
static bool choose_loop(struct transform *transform)
{
    enum gsh_dtype dtype = transform->in.dtype;
    bool is_complex = gsh_dtype_kind(dtype) == 'c';
    if (dtype != gsh_dtype_real(dtype) && dtype != gsh_dtype_complex(dtype))
        return false;
    transform->loop = gsh_dtype_complex(dtype);
    return transform->function->type == GSH_FFT_C2C ||
           is_complex == (transform->function->type == GSH_FFT_C2R);
}

static enum gsh_reason parse(const struct gsh_method_call *call, struct transform *transform)
{
    const struct function *function = transform->function;
    PyObject *given[PARAMETERS], *slots[PARAMETERS] = {NULL};
    if (!gsh_numpy_method_patch_bind(call, function->names, function->count, function->count,
                                     given))
        return GSH_REASON_KEYWORDS;
    for (unsigned i = 0; i < function->count; i++)
        slots[function->slots[i]] = given[i];
    if (!slots[ARRAY] || !gsh_numpy_method_patch_is_worth(slots[ARRAY]))
        return GSH_REASON_TOO_SMALL;
    enum gsh_reason reason = gsh_numpy_describe_array(slots[ARRAY], &transform->in);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (!choose_loop(transform))
        return GSH_REASON_DTYPE;
    if (!gsh_numpy_arguments_flag(slots[FORWARD], true, &transform->is_forward) ||
        !parse_number(slots[NORM], 0, &transform->norm) || transform->norm < 0 ||
        transform->norm > 2 || !parse_number(slots[LAST_SIZE], 0, &transform->last_size) ||
        !parse_axes(slots[AXES], transform))
        return GSH_REASON_KEYWORDS;
    transform->out = gsh_numpy_arguments_is_absent(slots[OUT]) ? NULL : slots[OUT];
    return GSH_REASON_NONE;
}

/* ---- the launch ---- */

static enum gsh_dtype output_dtype(const struct transform *transform)
{
    if (transform->function->type != GSH_FFT_C2R)
        return transform->loop;
    return gsh_dtype_real(transform->loop);
}

/* Sets lengths, factor and the shape of the result. */
static bool measure(struct transform *transform, struct gsh_fft *fft)
{
    const struct function *function = transform->function;
    struct gsh_layout *layout = &transform->layout;
    int last = transform->axes[transform->rank - 1];
    double points = 1;
    layout->ndim = transform->in.ndim;
    memcpy(layout->shape, transform->in.shape, (size_t)layout->ndim * sizeof(layout->shape[0]));
    if (function->type == GSH_FFT_C2R &&
        (transform->last_size < 1 || transform->last_size / 2 + 1 != layout->shape[last]))
        return false;
    *fft = (struct gsh_fft){.type = function->type,
                            .is_inverse = !transform->is_forward,
                            .rank = transform->rank,
                            .length = {1, 1, 1}};
    for (int d = 0; d < fft->rank; d++)
        fft->length[d] = layout->shape[transform->axes[d]];
    if (function->type == GSH_FFT_C2R)
        layout->shape[last] = fft->length[fft->rank - 1] = transform->last_size;
    if (function->type == GSH_FFT_R2C)
        layout->shape[last] = layout->shape[last] / 2 + 1;
    for (int d = 0; d < fft->rank; d++)
        points *= (double)fft->length[d];
    fft->factor = transform->norm == 0 ? 1 : transform->norm == 1 ? 1 / sqrt(points) : 1 / points;
    gsh_numpy_output_c_order(layout, gsh_dtype_size(output_dtype(transform)));
    return true;
}

static void place(struct gsh_launch *launch, unsigned k, const struct transform *transform,
                  const int64_t *shape, const int64_t *strides)
{
    struct gsh_core *core = &launch->fft.cores[k];
    bool is_core[GSH_MAX_DIMS] = {false};
    *core = (struct gsh_core){.extent = {1, 1, 1}};
    for (int d = 0; d < transform->rank; d++) {
        int axis = transform->axes[d];
        is_core[axis] = true;
        core->extent[d] = shape[axis];
        core->stride[d] = strides[axis];
    }
    launch->ndim = 0;
    for (int d = 0; d < transform->in.ndim; d++) {
        if (is_core[d])
            continue;
        launch->shape[launch->ndim] = shape[d];
        launch->strides[k][launch->ndim++] = strides[d];
    }
}

/* Whether the module would accept the given array as output. */
static bool fits(const struct transform *transform, const struct gsh_view *out)
{
    const struct gsh_layout *layout = &transform->layout;
    return out->dtype == output_dtype(transform) && out->ndim == layout->ndim &&
           memcmp(out->shape, layout->shape, (size_t)layout->ndim * sizeof(layout->shape[0])) == 0;
}

static enum gsh_reason describe(struct transform *transform, struct gsh_call *call)
{
    struct gsh_launch *launch = &call->launch;
    const struct gsh_layout *layout = &transform->layout;
    const int64_t *strides = layout->strides;
    struct gsh_view out;
    launch->kind = GSH_LAUNCH_FFT;
    launch->loop = transform->loop;
    launch->nin = 1;
    launch->nout = 1;
    for (int d = 0; d < transform->in.ndim; d++)
        if (transform->in.shape[d] == 0)
            return GSH_REASON_SHAPE;
    if (!measure(transform, &launch->fft))
        return GSH_REASON_SHAPE;
    launch->operands[0] = (struct gsh_operand){.dtype = transform->in.dtype,
                                               .address = (uintptr_t)transform->in.data};
    launch->operands[1] = (struct gsh_operand){.dtype = output_dtype(transform)};
    if (transform->out) {
        enum gsh_reason reason = gsh_numpy_describe_output(transform->out, &out);
        if (reason != GSH_REASON_NONE)
            return reason;
        if (!fits(transform, &out))
            return GSH_REASON_SHAPE;
        launch->operands[1].address = (uintptr_t)out.data;
        strides = out.strides;
    }
    place(launch, 0, transform, transform->in.shape, transform->in.strides);
    place(launch, 1, transform, layout->shape, strides);
    return GSH_REASON_NONE;
}

/* Of real numbers, in the direction that the device has not (hfft, ihfft). */
static bool is_odd(const struct transform *transform)
{
    return transform->function->type != GSH_FFT_C2C &&
           transform->is_forward != (transform->function->type == GSH_FFT_R2C);
}

static PyObject *try_function(enum gsh_fft_type type, const struct gsh_method_call *from,
                              enum gsh_reason *why, unsigned *row)
{
    struct transform transform = {.function = &functions[type]};
    struct gsh_call call = {0};
    *why = parse(from, &transform);
    if (*why == GSH_REASON_NONE && is_odd(&transform))
        return gsh_numpy_composed_call(type == GSH_FFT_R2C ? "fft_r2c" : "fft_c2r", from, false,
                                       why);
    if (*why == GSH_REASON_TOO_SMALL) {
        *why = GSH_REASON_NONE; /* the decline is not counted */
        return NULL;
    }
    if (*why == GSH_REASON_NONE)
        *why = describe(&transform, &call);
    if (*why != GSH_REASON_NONE) {
        *row = gsh_stats_row(transform.function->row, "");
        return NULL;
    }
    *row = call.row = gsh_numpy_output_row(transform.function->row, &transform.in.dtype, 1,
                                           output_dtype(&transform));
    return gsh_numpy_output_run(&call, transform.out, &transform.layout, why);
}

static PyObject *try_c2c(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    return try_function(GSH_FFT_C2C, call, why, row);
}

static PyObject *try_r2c(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    return try_function(GSH_FFT_R2C, call, why, row);
}

static PyObject *try_c2r(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    return try_function(GSH_FFT_C2R, call, why, row);
}

void gsh_scipy_fft_adopt_module(void)
{
    static struct gsh_method_hook *const hooks[] = {&c2c_hook, &r2c_hook, &c2r_hook};
    static struct gsh_scipy_module module = {hooks, GSH_COUNT(hooks), 0};
    gsh_scipy_module_adopt(&module);
}
