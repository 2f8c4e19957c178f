/* SPDX-License-Identifier: Apache-2.0
 *
 * ufunc.reduce for the ufuncs of reductions.def, as np.sum, ndarray.max and their kin reach it; the
 * other ufunc methods only bring their operands home. The result's dtype is asked of NumPy once per
 * (reduction, dtypes), on one element.
 */
#include "coherence.h"
#include "dispatch.h"
#include "numpy_arguments.h"
#include "numpy_errstate.h"
#include "numpy_method_patch.h"
#include "numpy_scalar.h"
#include "stats.h"

#include <math.h>
#include <string.h>

enum { ARRAY, AXIS, DTYPE, OUT, KEEPDIMS, INITIAL, WHERE, PARAMETERS };
static const char *const parameters[PARAMETERS] = {"array",    "axis",    "dtype", "out",
                                                   "keepdims", "initial", "where"};

static PyObject *try_reduce(const struct gsh_method_call *call, enum gsh_reason *why,
                            unsigned *row);

GSH_METHOD_HOOK(reduce_hook, .table = GSH_METHOD_UFUNC, .name = "reduce", .handler = try_reduce,
                .subject = GSH_METHOD_ASK_BY_FIRST, .self_test = "m.add.reduce(a)");
GSH_METHOD_HOOK(accumulate_hook, .table = GSH_METHOD_UFUNC, .name = "accumulate",
                .self_test = "m.add.accumulate(a)");
GSH_METHOD_HOOK(reduceat_hook, .table = GSH_METHOD_UFUNC, .name = "reduceat",
                .self_test = "m.add.reduceat(a, [0])");
GSH_METHOD_HOOK(outer_hook, .table = GSH_METHOD_UFUNC, .name = "outer",
                .self_test = "m.add.outer(a, b)");
GSH_METHOD_HOOK(at_hook, .table = GSH_METHOD_UFUNC, .name = "at",
                .writes = GSH_METHOD_WRITES_ARG(0), .self_test = "m.add.at(a, [0], 0.0)");

static PyObject
    *ufuncs[GSH_REDUCTION_COUNT]; /* borrowed from NumPy's module, which is never unloaded */

/* What NumPy said of a reduction of dtype `in` with dtype= `asked` (index GSH_DTYPE_COUNT: not
 * given): UNKNOWN, REFUSED or 1 + the result's dtype. Guarded by the GIL. */
enum { UNKNOWN = 0, REFUSED = -1 };
static signed char results[GSH_REDUCTION_COUNT][GSH_DTYPE_COUNT][GSH_DTYPE_COUNT + 1];

static int find_reduction(PyObject *ufunc)
{
    for (int i = 0; i < GSH_REDUCTION_COUNT; i++)
        if (ufuncs[i] == ufunc)
            return i;
    return -1;
}

/* The dtype of ufunc.reduce(one element of `in`, 0, asked), or -1. */
static int probe_result(PyObject *ufunc, enum gsh_dtype in, PyObject *asked)
{
    static const int64_t one = 1;
    PyObject *descr = gsh_np.descrs[in];
    gsh_py.Py_IncRef(descr);
    PyObject *array = gsh_np.NewFromDescr(gsh_np.ndarray_type, descr, 1, &one, NULL, NULL, 0, NULL);
    PyObject *axis = gsh_py.PyLong_FromLongLong(0), *result = NULL;
    if (array && axis) {
        memset(gsh_numpy_array(array)->data, 0, gsh_dtype_size(in));
        PyObject *args[] = {array, axis, asked};
        result = ((PyObject * (*)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *))
                      reduce_hook.original)(ufunc, args, 3, NULL);
    }
    int found = -1;
    for (int i = 0; result && i < GSH_DTYPE_COUNT; i++)
        if (gsh_py_type(result) == gsh_np.scalar_types[i])
            found = i;
    gsh_py.PyErr_Clear();
    if (result)
        gsh_py.Py_DecRef(result);
    if (axis)
        gsh_py.Py_DecRef(axis);
    if (array)
        gsh_py.Py_DecRef(array);
    return found;
}

/* The result's dtype, or -1: NumPy refuses, or it is none of ours. */
static int result_dtype(int reduction, enum gsh_dtype in, PyObject *asked)
{
    int index = GSH_DTYPE_COUNT;
    if (gsh_numpy_arguments_is_absent(asked))
        asked = gsh_py._Py_NoneStruct;
    else if ((index = gsh_numpy_describe_dtype(asked)) < 0)
        return -1;
    signed char *known = &results[reduction][in][index];
    if (*known == UNKNOWN) {
        int found = probe_result(ufuncs[reduction], in, asked);
        *known = (signed char)(found < 0 ? REFUSED : 1 + found);
    }
    return *known == REFUSED ? -1 : *known - 1;
}

/* Whether initial= and where= are absent or say nothing. */
static bool is_plain(PyObject *const *slots)
{
    static PyObject *no_value; /* numpy._NoValue; kept for good */
    if (slots[WHERE] && slots[WHERE] != gsh_py._Py_TrueStruct)
        return false;
    if (!slots[INITIAL])
        return true;
    if (!no_value) {
        PyObject *globals =
            gsh_py.PyDict_GetItemString(gsh_py.PyImport_GetModuleDict(), "numpy._globals");
        no_value = globals ? gsh_py.PyObject_GetAttrString(globals, "_NoValue") : NULL;
        gsh_py.PyErr_Clear();
    }
    return slots[INITIAL] == no_value;
}

/* Shape and strides of the result: the kept axes in the order in which NumPy's iterator walks the
 * operand. */
static void layout_result(const struct gsh_view *in, const bool *reduced, bool keepdims,
                          int64_t itemsize, struct gsh_layout *layout)
{
    struct gsh_launch walk = {.ndim = in->ndim};
    int axes[GSH_MAX_DIMS], at[GSH_MAX_DIMS];
    memcpy(walk.shape, in->shape, (size_t)in->ndim * sizeof(walk.shape[0]));
    gsh_numpy_describe_place_view(&walk, 0, in);
    gsh_numpy_output_axis_order(&walk, 1, axes);
    layout->ndim = 0;
    for (int i = 0; i < in->ndim; i++) {
        at[i] = layout->ndim;
        if (keepdims || !reduced[i])
            layout->shape[layout->ndim++] = reduced[i] ? 1 : in->shape[i];
    }
    int64_t stride = itemsize;
    for (int i = 0; i < in->ndim; i++) {
        int axis = axes[i];
        if (reduced[axis] && !keepdims)
            continue;
        layout->strides[at[axis]] = stride;
        stride *= layout->shape[at[axis]];
    }
}

/* The launch: kept dimensions, then reduced ones; the output's strides are those of `strides` (by
 * result axis). */
static void fill_launch(struct gsh_launch *launch, const struct gsh_view *in, const bool *reduced,
                        bool keepdims, const int64_t *strides)
{
    int kept = 0, result_axis = 0;
    for (int i = 0; i < in->ndim; i++)
        kept += !reduced[i];
    launch->nin = 1;
    launch->ndim = in->ndim;
    launch->nreduce = in->ndim - kept;
    launch->operands[0] = (struct gsh_operand){.dtype = in->dtype, .address = (uintptr_t)in->data};
    for (int i = 0, front = 0, back = kept; i < in->ndim; i++) {
        int at = reduced[i] ? back++ : front++;
        launch->shape[at] = in->shape[i];
        launch->strides[0][at] = in->strides[i];
        launch->strides[1][at] = reduced[i] ? 0 : strides[result_axis];
        result_axis += keepdims || !reduced[i];
    }
}

/* The array given as out= (itself or in a 1-tuple), or NULL: none. False: something else. */
static bool find_out(PyObject *object, PyObject **out)
{
    *out = NULL;
    if (gsh_numpy_arguments_is_absent(object))
        return true;
    if (gsh_py_type(object) == gsh_py.PyTuple_Type) {
        if (gsh_py.PyTuple_Size(object) != 1)
            return false;
        object = gsh_py.PyTuple_GetItem(object, 0);
    }
    *out = gsh_py_is_none(object) ? NULL : object;
    return true;
}

/* NONE where `out` can take the result as it is; places it. */
static enum gsh_reason place_out(struct gsh_call *call, PyObject *out, enum gsh_dtype dtype,
                                 struct gsh_layout *layout)
{
    struct gsh_view view;
    enum gsh_reason reason = gsh_numpy_describe_output(out, &view);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (view.dtype != dtype)
        return GSH_REASON_DTYPE;
    if (view.ndim != layout->ndim ||
        memcmp(view.shape, layout->shape, (size_t)view.ndim * sizeof(view.shape[0])))
        return GSH_REASON_SHAPE;
    memcpy(layout->strides, view.strides, (size_t)view.ndim * sizeof(view.strides[0]));
    call->launch.operands[1].address = (uintptr_t)view.data;
    return GSH_REASON_NONE;
}

/* Whether NumPy may have a warning to give: a sum or product that is not finite. It then computes
 * it once more. */
static bool may_have_overflowed(PyObject *array, enum gsh_reduction reduction, enum gsh_dtype dtype)
{
    const char *data = gsh_numpy_array(array)->data;
    if ((reduction != GSH_REDUCE_SUM && reduction != GSH_REDUCE_PROD) ||
        gsh_dtype_kind(dtype) != 'f')
        return false;
    gsh_coherence_home(data, gsh_dtype_size(dtype), false);
    return !isfinite(dtype == GSH_FLOAT32 ? (double)*(const float *)data : *(const double *)data);
}

static PyObject *run_reduction(int reduction, const struct gsh_view *in, enum gsh_dtype result,
                               const bool *reduced, bool keepdims, PyObject *out,
                               enum gsh_reason *why, unsigned *row)
{
    const struct gsh_reduction_info *info = gsh_reduction_info((enum gsh_reduction)reduction);
    struct gsh_call call = {
        .launch = {.kind = GSH_LAUNCH_REDUCE, .reduction = (enum gsh_reduction)reduction}};
    struct gsh_layout layout;
    *row = call.row = gsh_numpy_output_row(info->name, &in->dtype, 1, result);
    call.launch.loop = info->result == GSH_RESULT_BOOL ? in->dtype : result;
    *why = GSH_REASON_DTYPE;
    if (!(info->dtypes >> call.launch.loop & 1) ||
        !gsh_numpy_describe_can_cast(in->dtype, call.launch.loop, GSH_CASTING_SAME_KIND))
        return NULL;
    *why = GSH_REASON_ERRSTATE;
    if (gsh_dtype_kind(call.launch.loop) == 'f' && !gsh_numpy_errstate_is_quiet())
        return NULL;
    layout_result(in, reduced, keepdims, (int64_t)gsh_dtype_size(result), &layout);
    call.launch.operands[1].dtype = result;
    *why = out ? place_out(&call, out, result, &layout) : GSH_REASON_NONE;
    if (*why != GSH_REASON_NONE)
        return NULL;
    fill_launch(&call.launch, in, reduced, keepdims, layout.strides);
    if (out && !gsh_numpy_describe_is_distinct(&call.launch, 1)) {
        *why = GSH_REASON_LAYOUT;
        return NULL;
    }
    PyObject *array = gsh_numpy_output_run(&call, out, &layout, why);
    if (!array || out || layout.ndim != 0)
        return array;
    if (!may_have_overflowed(array, (enum gsh_reduction)reduction, result))
        return gsh_numpy_scalar_from_array(array);
    gsh_py.Py_DecRef(array);
    *why = GSH_REASON_ERRSTATE;
    return NULL;
}

/* axis= as flags; the first axis where it is not given. False: none is meant, or NumPy must judge.
 */
static bool find_axes(PyObject *axis, int ndim, bool *reduced)
{
    memset(reduced, false, (size_t)ndim);
    reduced[0] = !axis;
    if (axis && !gsh_numpy_arguments_axes(axis, ndim, reduced))
        return false;
    return memchr(reduced, true, (size_t)ndim) != NULL;
}

static PyObject *try_reduce(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    PyObject *slots[PARAMETERS], *out;
    bool reduced[GSH_MAX_DIMS], keepdims;
    struct gsh_view in;
    if (call->nargs == 0)
        return NULL;
    int reduction = find_reduction(call->self);
    *why = GSH_REASON_UNSUPPORTED;
    if (reduction < 0)
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, parameters, PARAMETERS, PARAMETERS, slots) ||
        !is_plain(slots) || !gsh_numpy_arguments_flag(slots[KEEPDIMS], false, &keepdims) ||
        !find_out(slots[OUT], &out))
        return NULL;
    *why = gsh_numpy_describe_array(slots[ARRAY], &in);
    if (*why != GSH_REASON_NONE)
        return NULL;
    *why = GSH_REASON_SHAPE;
    if (in.ndim == 0 || gsh_numpy_describe_size(gsh_numpy_array(slots[ARRAY])) == 0)
        return NULL;
    if (!find_axes(slots[AXIS], in.ndim, reduced))
        return NULL;
    *why = GSH_REASON_DTYPE;
    int result = result_dtype(reduction, in.dtype, slots[DTYPE]);
    if (result < 0)
        return NULL;
    return run_reduction(reduction, &in, (enum gsh_dtype)result, reduced, keepdims, out, why, row);
}

void gsh_numpy_reduce_install(void)
{
    struct gsh_method_hook *const hooks[] = {&reduce_hook, &accumulate_hook, &reduceat_hook,
                                             &outer_hook, &at_hook};
    for (int i = 0; i < GSH_REDUCTION_COUNT; i++)
        ufuncs[i] = gsh_py.PyDict_GetItemString(gsh_np.dict,
                                                gsh_reduction_info((enum gsh_reduction)i)->ufunc);
    for (size_t i = 0; i < GSH_COUNT(hooks); i++)
        gsh_numpy_method_patch_install(hooks[i]);
}
