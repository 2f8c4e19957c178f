/* SPDX-License-Identifier: Apache-2.0
 *
 * ndarray.argmax and argmin, and count_nonzero: reductions that NumPy computes without a ufunc. An
 * argmax is one REDUCE that returns indices. A count is the sum of truth values; for an array that
 * is not bool a COPY makes them first.
 */
#include "coherence.h"
#include "numpy_arguments.h"
#include "numpy_reduction.h"
#include "numpy_scalar.h"
#include "python_error.h"

#include <string.h>

static PyObject *try_argmax(const struct gsh_method_call *call, enum gsh_reason *why,
                            unsigned *row);
static PyObject *try_argmin(const struct gsh_method_call *call, enum gsh_reason *why,
                            unsigned *row);
static PyObject *try_count(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);

GSH_METHOD_HOOK(argmax_hook, .table = GSH_METHOD_NDARRAY, .name = "argmax", .handler = try_argmax,
                .subject = GSH_METHOD_ASK_BY_SELF, .self_test = "a.argmax()");
GSH_METHOD_HOOK(argmin_hook, .table = GSH_METHOD_NDARRAY, .name = "argmin", .handler = try_argmin,
                .subject = GSH_METHOD_ASK_BY_SELF, .self_test = "a.argmin()");
GSH_METHOD_HOOK(count_hook, .table = GSH_METHOD_MODULE, .name = "count_nonzero",
                .handler = try_count, .subject = GSH_METHOD_ASK_BY_FIRST,
                .self_test = "m.count_nonzero(a)");

static bool counts_are_python_ints; /* before NumPy 2.4; determined when the hook is installed */

static void count_row(struct gsh_call *call, const char *name, enum gsh_dtype in, unsigned *row)
{
    *row = call->row = gsh_numpy_output_row(name, &in, 1, GSH_INT64);
}

/* ---- argmax, argmin ---- */

/* axis=: None for all axes, or one axis. False: leave the call to NumPy. */
static bool find_axis(PyObject *object, int ndim, bool *reduced)
{
    if (!object || gsh_py_is_none(object))
        object = gsh_py._Py_NoneStruct;
    else if (gsh_py_type(object) != gsh_py.PyLong_Type)
        return false;
    return gsh_numpy_arguments_axes(object, ndim, reduced);
}

/* Places out= if given. A call in which NumPy would have to cast is left to it. */
static enum gsh_reason place_out(PyObject *out, struct gsh_layout *layout,
                                 struct gsh_operand *operand)
{
    struct gsh_view view;
    enum gsh_reason why = gsh_numpy_describe_output(out, &view);
    if (why != GSH_REASON_NONE)
        return why;
    if (view.dtype != GSH_INT64)
        return GSH_REASON_DTYPE;
    if (!gsh_numpy_reduction_fits(&view, layout))
        return GSH_REASON_SHAPE;
    operand->address = (uintptr_t)view.data;
    return GSH_REASON_NONE;
}

static PyObject *run_places(const struct gsh_view *in, enum gsh_reduction reduction,
                            const bool *reduced, bool keepdims, PyObject *out, enum gsh_reason *why,
                            unsigned *row)
{
    struct gsh_call call = {
        .launch = {.kind = GSH_LAUNCH_REDUCE, .reduction = reduction, .loop = in->dtype}};
    struct gsh_layout layout;
    struct gsh_operand result = {.dtype = GSH_INT64};
    count_row(&call, gsh_reduction_info(reduction)->name, in->dtype, row);
    gsh_numpy_reduction_shape(in, reduced, keepdims, &layout);
    gsh_numpy_output_c_order(&layout, sizeof(int64_t));
    *why = out ? place_out(out, &layout, &result) : GSH_REASON_NONE;
    if (*why != GSH_REASON_NONE)
        return NULL;
    gsh_numpy_reduction_fill(&call.launch, in, NULL, reduced, keepdims, &layout);
    call.launch.operands[1] = result;
    call.is_read_next = !out && layout.ndim == 0;
    PyObject *array = gsh_numpy_output_run(&call, out, &layout, why);
    return array && call.is_read_next ? gsh_numpy_scalar_from_array(array) : array;
}

static PyObject *try_places(const struct gsh_method_call *call, enum gsh_reduction reduction,
                            enum gsh_reason *why, unsigned *row)
{
    enum { AXIS, OUT, KEEPDIMS, PARAMETERS };
    static const char *const names[] = {"axis", "out", "keepdims"};
    PyObject *slots[PARAMETERS];
    struct gsh_view in;
    bool reduced[GSH_MAX_DIMS], keepdims;
    *why = gsh_numpy_describe_array(call->self, &in);
    if (*why != GSH_REASON_NONE)
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, PARAMETERS, OUT + 1, slots) ||
        !gsh_numpy_arguments_flag(slots[KEEPDIMS], false, &keepdims))
        return NULL;
    *why = GSH_REASON_SHAPE;
    if (in.ndim == 0 || gsh_numpy_describe_size(gsh_numpy_array(call->self)) == 0 ||
        !find_axis(slots[AXIS], in.ndim, reduced))
        return NULL;
    PyObject *out = gsh_numpy_arguments_is_absent(slots[OUT]) ? NULL : slots[OUT];
    return run_places(&in, reduction, reduced, keepdims, out, why, row);
}

static PyObject *try_argmax(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    return try_places(call, GSH_REDUCE_ARGMAX, why, row);
}

static PyObject *try_argmin(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    return try_places(call, GSH_REDUCE_ARGMIN, why, row);
}

/* ---- count_nonzero ---- */

/* A fresh array of the view's truth values. */
static PyObject *make_truths(const struct gsh_view *in, enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {.row = 0};
    struct gsh_layout layout;
    gsh_numpy_output_like(in, sizeof(bool), &layout);
    gsh_numpy_describe_copy(&call.launch, in, GSH_BOOL, layout.strides);
    count_row(&call, "count_nonzero", in->dtype, row);
    return gsh_numpy_output_run(&call, NULL, &layout, why);
}

/* The sum of an array of bool, as a 0-d array. */
static PyObject *sum_truths(const struct gsh_view *in, enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {.launch = {
                                .kind = GSH_LAUNCH_REDUCE,
                                .reduction = GSH_REDUCE_SUM,
                                .loop = GSH_INT64,
                            }};
    struct gsh_layout layout;
    bool reduced[GSH_MAX_DIMS];
    memset(reduced, true, sizeof(reduced));
    gsh_numpy_reduction_shape(in, reduced, false, &layout);
    gsh_numpy_reduction_fill(&call.launch, in, NULL, reduced, false, &layout);
    call.launch.operands[1] = (struct gsh_operand){.dtype = GSH_INT64};
    call.is_read_next = true;
    count_row(&call, "count_nonzero", in->dtype, row);
    return gsh_numpy_output_run(&call, NULL, &layout, why);
}

static PyObject *count_from_array(PyObject *array)
{
    if (!counts_are_python_ints)
        return gsh_numpy_scalar_from_array(array);
    const char *data = gsh_numpy_array(array)->data;
    int64_t count;
    if (!gsh_coherence_peek(&count, data, sizeof(count))) {
        gsh_coherence_fetch(data, sizeof(count), false);
        memcpy(&count, data, sizeof(count));
    }
    gsh_py.Py_DecRef(array);
    return gsh_py.PyLong_FromLongLong(count);
}

static PyObject *try_count(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    static const char *const names[] = {""};
    PyObject *slots[1], *truths = NULL;
    struct gsh_view in;
    if (call->nargs != 1 || !gsh_numpy_method_patch_bind(call, names, 1, 1, slots) ||
        !gsh_numpy_method_patch_is_worth(slots[0]))
        return NULL;
    *why = gsh_numpy_describe_array(slots[0], &in);
    if (*why != GSH_REASON_NONE)
        return NULL;
    if (in.ndim == 0 || gsh_numpy_describe_size(gsh_numpy_array(slots[0])) == 0) {
        *why = GSH_REASON_SHAPE;
        return NULL;
    }
    if (in.dtype != GSH_BOOL) {
        truths = make_truths(&in, why, row);
        if (!truths)
            return NULL;
        *why = gsh_numpy_describe_array(truths, &in);
    }
    PyObject *sum = *why == GSH_REASON_NONE ? sum_truths(&in, why, row) : NULL;
    if (truths)
        gsh_py.Py_DecRef(truths);
    return sum ? count_from_array(sum) : NULL;
}

/* Determines the type that count_nonzero returns. */
static void probe_count(void)
{
    static const int64_t one = 1;
    gsh_py.Py_IncRef(gsh_np.descrs[GSH_BOOL]); /* NewFromDescr steals one */
    PyObject *array = gsh_np.NewFromDescr(gsh_np.ndarray_type, gsh_np.descrs[GSH_BOOL], 1, &one,
                                          NULL, NULL, 0, NULL);
    PyObject *count =
        array ? gsh_py.PyObject_CallMethod(gsh_np.module, "count_nonzero", "O", array) : NULL;
    counts_are_python_ints = count && gsh_py_type(count) == gsh_py.PyLong_Type;
    gsh_python_error_clear();
    if (count)
        gsh_py.Py_DecRef(count);
    if (array)
        gsh_py.Py_DecRef(array);
}

void gsh_numpy_argreduce_install(void)
{
    probe_count();
    gsh_numpy_method_patch_install(&argmax_hook);
    gsh_numpy_method_patch_install(&argmin_hook);
    gsh_numpy_method_patch_install(&count_hook);
}
