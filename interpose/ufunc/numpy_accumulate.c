/* SPDX-License-Identifier: Apache-2.0
 *
 * ufunc.accumulate for the ufuncs of reductions.def, which np.cumsum, ndarray.cumprod and similar
 * functions call: one SCAN along the axis. cumsum and cumprod themselves are hooked for one case,
 * in which NumPy would first copy on the CPU: all elements of an array that is not contiguous.
 */
#include "numpy_arguments.h"
#include "numpy_reduction.h"

#include <stdio.h>
#include <string.h>

enum { ARRAY, AXIS, DTYPE, OUT, PARAMETERS };
static const char *const parameters[PARAMETERS] = {"array", "axis", "dtype", "out"};

static PyObject *try_accumulate(const struct gsh_method_call *call, enum gsh_reason *why,
                                unsigned *row);

GSH_METHOD_HOOK(accumulate_hook, .table = GSH_METHOD_UFUNC, .name = "accumulate",
                .handler = try_accumulate, .subject = GSH_METHOD_ASK_BY_FIRST,
                .self_test = "m.add.accumulate(a)");

static PyObject *try_cumsum(const struct gsh_method_call *call, enum gsh_reason *why,
                            unsigned *row);
static PyObject *try_cumprod(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row);

GSH_METHOD_HOOK(cumsum_hook, .table = GSH_METHOD_NDARRAY, .name = "cumsum", .handler = try_cumsum,
                .subject = GSH_METHOD_ASK_BY_SELF, .self_test = "a.cumsum()");
GSH_METHOD_HOOK(cumprod_hook, .table = GSH_METHOD_NDARRAY, .name = "cumprod",
                .handler = try_cumprod, .subject = GSH_METHOD_ASK_BY_SELF,
                .self_test = "a.cumprod()");

/* One call, described. */
struct request {
    int reduction, axis;
    struct gsh_view in;
    PyObject *out; /* borrowed; NULL: none given */
    struct gsh_view out_view;
    struct gsh_reduction_dtypes dtypes;
};

/* The axis. False: leave the call to NumPy. */
static bool find_axis(PyObject *object, int ndim, int *axis)
{
    int64_t value = 0;
    if (object && !(gsh_py_is_none(object) && ndim == 1) &&
        !gsh_numpy_arguments_int(object, &value))
        return false;
    if (value < -ndim || value >= ndim)
        return false;
    *axis = (int)(value < 0 ? value + ndim : value);
    return true;
}

static enum gsh_reason describe(const struct gsh_method_call *call, PyObject *const *slots,
                                struct request *request)
{
    enum gsh_reason why = gsh_numpy_describe_array(slots[ARRAY], &request->in);
    if (why != GSH_REASON_NONE)
        return why;
    if (request->in.ndim == 0 || gsh_numpy_describe_size(gsh_numpy_array(slots[ARRAY])) == 0)
        return GSH_REASON_SHAPE;
    if (!find_axis(slots[AXIS], request->in.ndim, &request->axis) ||
        !gsh_numpy_reduction_find_out(slots[OUT], call->nargs <= OUT, &request->out))
        return GSH_REASON_KEYWORDS;
    if (request->out) {
        why = gsh_numpy_describe_output(request->out, &request->out_view);
        if (why != GSH_REASON_NONE)
            return why;
    }
    return gsh_numpy_reduction_resolve(GSH_REDUCTION_ACCUMULATE, request->reduction,
                                       request->in.dtype, slots[DTYPE],
                                       request->out ? &request->out_view : NULL, &request->dtypes);
}

/* The operand's shape in the order in which NumPy's iterator walks it. */
static void layout_result(const struct request *request, struct gsh_layout *layout)
{
    struct gsh_launch walk = {.ndim = request->in.ndim};
    memcpy(walk.shape, request->in.shape, (size_t)walk.ndim * sizeof(walk.shape[0]));
    gsh_numpy_describe_place_view(&walk, 0, &request->in);
    gsh_numpy_output_iterator_order(&walk, 1, gsh_dtype_size(request->dtypes.result), layout);
}

/* Fills the launch; the scanned dimension is the last. */
static void fill_launch(const struct request *request, const int64_t *strides,
                        struct gsh_launch *launch)
{
    const struct gsh_view *in = &request->in;
    launch->nin = 1;
    launch->nout = 1;
    launch->ndim = in->ndim;
    launch->operands[0] = (struct gsh_operand){.dtype = in->dtype, .address = (uintptr_t)in->data};
    launch->operands[1].dtype = request->dtypes.result;
    if (request->out)
        launch->operands[1].address = (uintptr_t)request->out_view.data;
    for (int i = 0; i < in->ndim; i++) {
        int at = i == request->axis ? in->ndim - 1 : i - (i > request->axis);
        launch->shape[at] = in->shape[i];
        launch->strides[0][at] = in->strides[i];
        launch->strides[1][at] = strides[i];
    }
}

/* Whether the combining operation rounds (hypot, logaddexp): every prefix would then depend on the
 * order of evaluation. */
static bool is_rounded(enum gsh_reduction reduction)
{
    return gsh_op_max_ulp(gsh_reduction_info(reduction)->combine, GSH_FLOAT64) != 0;
}

static PyObject *run_scan(const struct request *request, enum gsh_reason *why, unsigned *row)
{
    enum gsh_reduction reduction = (enum gsh_reduction)request->reduction;
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_SCAN, .reduction = reduction}};
    struct gsh_layout layout;
    char name[32]; /* "cumsum", "cummax" */
    snprintf(name, sizeof(name), "cum%s", gsh_reduction_info(reduction)->name);
    *row = call.row = gsh_numpy_output_row(name, &request->in.dtype, 1, request->dtypes.result);
    call.launch.loop = request->dtypes.loop;
    layout_result(request, &layout);
    *why = GSH_REASON_SHAPE;
    if (request->out && !gsh_numpy_reduction_fits(&request->out_view, &layout))
        return NULL;
    fill_launch(request, layout.strides, &call.launch);
    return gsh_numpy_output_run(&call, request->out, &layout, why);
}

static PyObject *try_accumulate(const struct gsh_method_call *call, enum gsh_reason *why,
                                unsigned *row)
{
    PyObject *slots[PARAMETERS];
    struct request request;
    if (call->nargs == 0)
        return NULL;
    request.reduction = gsh_numpy_reduction_find(call->self);
    *why = GSH_REASON_UNSUPPORTED;
    if (request.reduction < 0 || is_rounded((enum gsh_reduction)request.reduction))
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, parameters, PARAMETERS, PARAMETERS, slots))
        return NULL;
    *why = describe(call, slots, &request);
    return *why == GSH_REASON_NONE ? run_scan(&request, why, row) : NULL;
}

/* ---- cumsum, cumprod ---- */

/* Calls the method on a flat copy, which the device makes. */
static PyObject *try_flat(const struct gsh_method_call *call, const char *method,
                          enum gsh_reason *why)
{
    enum { FLAT_AXIS, FLAT_DTYPE, FLAT_OUT, FLAT_PARAMETERS };
    static const char *const names[] = {"axis", "dtype", "out"};
    PyObject *slots[FLAT_PARAMETERS];
    if (!gsh_numpy_is_array(call->self))
        return NULL;
    const struct gsh_ndarray *array = gsh_numpy_array(call->self);
    if (array->nd < 2 || (array->flags & GSH_NPY_C_CONTIGUOUS) ||
        !gsh_numpy_method_patch_bind(call, names, FLAT_PARAMETERS, FLAT_PARAMETERS, slots) ||
        !gsh_numpy_arguments_is_absent(slots[FLAT_AXIS]))
        return NULL;
    for (int i = 0; i < FLAT_PARAMETERS; i++)
        if (!slots[i])
            slots[i] = gsh_py._Py_NoneStruct;
    PyObject *flat = gsh_py.PyObject_CallMethod(call->self, "flatten", NULL);
    if (!flat)
        return NULL;
    PyObject *result = gsh_py.PyObject_CallMethod(flat, method, "OOO", slots[FLAT_AXIS],
                                                  slots[FLAT_DTYPE], slots[FLAT_OUT]);
    gsh_py.Py_DecRef(flat);
    *why = GSH_REASON_NONE;
    return result;
}

static PyObject *try_cumsum(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    (void)row; /* the two calls inside have their own rows */
    return try_flat(call, "cumsum", why);
}

static PyObject *try_cumprod(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row)
{
    (void)row;
    return try_flat(call, "cumprod", why);
}

void gsh_numpy_accumulate_install(void)
{
    gsh_numpy_method_patch_install(&cumsum_hook);
    gsh_numpy_method_patch_install(&cumprod_hook);
    gsh_numpy_method_patch_install(&accumulate_hook);
    gsh_numpy_reduction_init(GSH_REDUCTION_ACCUMULATE, &accumulate_hook);
}
