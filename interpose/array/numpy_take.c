/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Also contains the methods ndarray.take and ndarray.repeat. The layout rules are
 * those of PyArray_MapIterNew and PyArray_TakeFrom, which are the same in NumPy 1.22-2.5.
 */
#include "numpy_take.h"

#include "coherence.h"
#include "host_casts.h"
#include "numpy_arguments.h"
#include "numpy_assign.h"
#include "numpy_composed.h"
#include "numpy_copy.h"
#include "numpy_method_patch.h"
#include "numpy_probe.h"
#include "numpy_scalar.h"
#include "python_error.h"

#include <stdlib.h>
#include <string.h>

#define MOST_REPEATS (INT64_C(1) << 20) /* the product with an extent cannot overflow */

static PyObject *try_take(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_repeat(const struct gsh_method_call *call, enum gsh_reason *why,
                            unsigned *row);

GSH_METHOD_HOOK(take_hook, .table = GSH_METHOD_NDARRAY, .name = "take", .handler = try_take,
                .subject = GSH_METHOD_ASK_BY_EITHER, .self_test = "a.take([0])");
GSH_METHOD_HOOK(repeat_hook, .table = GSH_METHOD_NDARRAY, .name = "repeat", .handler = try_repeat,
                .subject = GSH_METHOD_ASK_BY_SELF, .self_test = "a.repeat(2)");

static bool holds_ints(PyObject *list, Py_ssize_t count)
{
    int64_t value;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!gsh_numpy_arguments_int(gsh_py.PyList_GetItem(list, i), &value))
            return false;
    return true;
}

PyObject *gsh_numpy_take_index(PyObject *key)
{
    if (gsh_numpy_is_array(key)) {
        gsh_py.Py_IncRef(key);
        return key;
    }
    if (gsh_py_type(key) != gsh_py.PyList_Type)
        return NULL;
    Py_ssize_t count = gsh_py.PyList_Size(key);
    if (count == 0 || !holds_ints(key, count))
        return NULL;
    gsh_py.Py_IncRef(gsh_np.descrs[GSH_INT64]); /* FromAny steals one */
    PyObject *index = gsh_np.FromAny(key, gsh_np.descrs[GSH_INT64], 1, 1, 0, NULL);
    if (!index)
        gsh_python_error_clear();
    return index;
}

PyObject *gsh_numpy_take_apply(const char *function, PyObject *x, PyObject *y)
{
    PyObject *callable = gsh_py.PyDict_GetItemString(gsh_np.dict, function), *result = NULL;
    if (x && y && callable)
        result = gsh_py.PyObject_CallFunction(callable, "OO", x, y);
    if (x)
        gsh_py.Py_DecRef(x);
    if (y)
        gsh_py.Py_DecRef(y);
    if (!result)
        gsh_python_error_clear();
    return result;
}

PyObject *gsh_numpy_take_widen(PyObject *index)
{
    PyObject *wide = gsh_py.PyObject_CallMethod(index, "astype", "s", "l");
    gsh_py.Py_DecRef(index);
    if (!wide)
        gsh_python_error_clear();
    return wide;
}

static bool may_index(enum gsh_dtype dtype)
{
    char kind = gsh_dtype_kind(dtype);
    return (kind == 'i' || kind == 'u') && dtype != GSH_UINT64;
}

static enum gsh_reason describe_index(PyObject *index, struct gsh_view *view)
{
    enum gsh_reason why = gsh_numpy_describe_array(index, view);
    if (why != GSH_REASON_NONE)
        return why;
    if (!may_index(view->dtype))
        return GSH_REASON_DTYPE;
    bool has_elements = view->ndim > 0 && gsh_numpy_describe_size(gsh_numpy_array(index)) != 0;
    return has_elements ? GSH_REASON_NONE : GSH_REASON_SHAPE;
}

/* NONE if all indices are in [-extent, extent). */
static enum gsh_reason check_bounds(PyObject *index, int64_t extent)
{
    int64_t least, greatest;
    enum gsh_reason why;
    if (!gsh_numpy_probe_range(index, &least, &greatest, &why))
        return why;
    return least >= -extent && greatest < extent ? GSH_REASON_NONE : GSH_REASON_OPERAND;
}

/* Shape of the launch; strides of the indexed operand k and of the index (operand 1). */
static enum gsh_reason place(struct gsh_launch *launch, const struct gsh_view *view, int axis,
                             const struct gsh_view *index, unsigned k)
{
    launch->ndim = view->ndim - 1 + index->ndim;
    if (launch->ndim > GSH_MAX_DIMS)
        return GSH_REASON_SHAPE;
    launch->loop = view->dtype;
    launch->indexed = (struct gsh_indexed){view->strides[axis], view->shape[axis]};
    launch->operands[k] =
        (struct gsh_operand){.dtype = view->dtype, .address = (uintptr_t)view->data};
    launch->operands[1] =
        (struct gsh_operand){.dtype = index->dtype, .address = (uintptr_t)index->data};
    for (int i = 0; i < launch->ndim; i++) {
        bool is_indexed = i >= axis && i < axis + index->ndim;
        int dim = i < axis ? i : i - index->ndim + 1;
        launch->shape[i] = is_indexed ? index->shape[i - axis] : view->shape[dim];
        launch->strides[k][i] = is_indexed ? 0 : view->strides[dim];
        launch->strides[1][i] = is_indexed ? index->strides[i - axis] : 0;
        if (launch->shape[i] == 0)
            return GSH_REASON_SHAPE;
    }
    return GSH_REASON_NONE;
}

/* The launch's dimensions from outermost to innermost in the memory of a[index]: first the
 * dimensions of the index, in C order if there are others, else as NumPy's iterator walks the index; then the others by falling
 * |stride|, ties in the original order. */
static void order_dims(const struct gsh_launch *launch, int axis, int index_ndim, int *dims)
{
    struct gsh_launch walk = {.ndim = index_ndim};
    int count = 0, axes[GSH_MAX_DIMS];
    for (int i = 0; i < index_ndim; i++) {
        walk.shape[i] = launch->shape[axis + i];
        walk.strides[0][i] = walk.shape[i] == 1 ? 0 : launch->strides[1][axis + i];
    }
    gsh_numpy_output_axis_order(&walk, launch->ndim == index_ndim ? 1 : 0, axes);
    while (count < index_ndim) {
        dims[count] = axis + axes[index_ndim - 1 - count];
        count++;
    }
    for (int i = 0; i < launch->ndim; i++) {
        if (i >= axis && i < axis + index_ndim)
            continue;
        int j = count++;
        for (; j > index_ndim &&
               llabs(launch->strides[0][dims[j - 1]]) < llabs(launch->strides[0][i]);
             j--)
            dims[j] = dims[j - 1];
        dims[j] = i;
    }
}

static void lay_out(const struct gsh_launch *launch, int axis, int index_ndim,
                    enum gsh_take_order order, struct gsh_layout *layout)
{
    int dims[GSH_MAX_DIMS];
    int64_t stride = (int64_t)gsh_dtype_size(launch->loop);
    layout->ndim = launch->ndim;
    memcpy(layout->shape, launch->shape, (size_t)launch->ndim * sizeof(*layout->shape));
    if (order == GSH_TAKE_C_ORDER) {
        gsh_numpy_output_c_order(layout, (size_t)stride);
        return;
    }
    order_dims(launch, axis, index_ndim, dims);
    for (int i = launch->ndim - 1; i >= 0; i--) {
        layout->strides[dims[i]] = stride;
        stride *= layout->shape[dims[i]];
    }
}

/* Converts a result to the memory layout of NumPy's a[:, index], which is a transposed view of an
 * array with the index dimensions first. `result` has its axes in a's order; its shape is changed
 * to put the index dimensions first, and a view with a's axis order is returned. Steals `result`.
 * NULL: out of memory. */
static PyObject *turn(PyObject *result, int axis, int index_ndim)
{
    struct gsh_ndarray *array = gsh_numpy_array(result);
    int64_t shape[GSH_MAX_DIMS], strides[GSH_MAX_DIMS], axes[GSH_MAX_DIMS];
    for (int i = 0; i < array->nd; i++) {
        bool is_indexed = i >= axis && i < axis + index_ndim;
        axes[i] = is_indexed ? i - axis : i < axis ? index_ndim + i : i;
        shape[axes[i]] = array->dimensions[i];
        strides[axes[i]] = array->strides[i];
    }
    memcpy(array->dimensions, shape, (size_t)array->nd * sizeof(*shape));
    memcpy(array->strides, strides, (size_t)array->nd * sizeof(*strides));
    gsh_np.UpdateFlags(result, GSH_NPY_C_CONTIGUOUS | GSH_NPY_F_CONTIGUOUS);
    struct gsh_numpy_dims order = {axes, array->nd};
    PyObject *view = gsh_np.Transpose(result, &order);
    gsh_py.Py_DecRef(result);
    if (!view)
        gsh_python_error_clear();
    return view;
}

PyObject *gsh_numpy_take_gather(const struct gsh_view *view, int axis, PyObject *index,
                                bool is_safe, enum gsh_take_order order, enum gsh_reason *why,
                                unsigned *row)
{
    struct gsh_call call = {
        .launch = {.kind = GSH_LAUNCH_TAKE, .op = GSH_OP_COPY, .nin = 2, .nout = 1}};
    struct gsh_view positions;
    struct gsh_layout layout;
    *why = describe_index(index, &positions);
    if (*why == GSH_REASON_NONE)
        *why = place(&call.launch, view, axis, &positions, 0);
    if (*why != GSH_REASON_NONE)
        return NULL;
    lay_out(&call.launch, axis, positions.ndim, order, &layout);
    if (!gsh_numpy_output_is_possible(&layout, gsh_dtype_size(view->dtype)))
        *why = GSH_REASON_MEMORY;
    else if (!is_safe && gsh_coherence_is_resident(positions.data))
        call.errors.checks_index = true;
    else if (!is_safe)
        *why = check_bounds(index, view->shape[axis]);
    if (*why != GSH_REASON_NONE)
        return NULL;
    call.launch.operands[2].dtype = view->dtype;
    memcpy(call.launch.strides[2], layout.strides, sizeof(layout.strides));
    *row = call.row = gsh_numpy_output_row("take", &view->dtype, 1, view->dtype);
    PyObject *result = gsh_numpy_output_run(&call, NULL, &layout, why);
    if (!result || order != GSH_TAKE_INDEX_ORDER || axis == 0)
        return result;
    result = turn(result, axis, positions.ndim);
    *why = result ? GSH_REASON_NONE : GSH_REASON_MEMORY;
    return result;
}

bool gsh_numpy_take_scatter(PyObject *array, const struct gsh_view *view, int axis, PyObject *index,
                            bool is_safe, PyObject *source, enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {
        .launch = {.kind = GSH_LAUNCH_PUT, .op = GSH_OP_COPY, .nin = 2, .nout = 1}};
    struct gsh_view whole, positions;
    *why = gsh_numpy_describe_output(array, &whole);
    /* NumPy 1 reads an overlapping source while it writes */
    bool meets_source =
        gsh_np.major < 2 && gsh_numpy_is_array(source) && gsh_numpy_describe_meet(array, source);
    if (*why == GSH_REASON_NONE && (gsh_numpy_describe_meet(array, index) || meets_source))
        *why = GSH_REASON_OVERLAP;
    if (*why == GSH_REASON_NONE && !gsh_numpy_describe_is_distinct(&whole))
        *why = GSH_REASON_LAYOUT;
    if (*why == GSH_REASON_NONE)
        *why = describe_index(index, &positions);
    if (*why == GSH_REASON_NONE)
        *why = place(&call.launch, view, axis, &positions, 2);
    if (*why == GSH_REASON_NONE)
        *why = gsh_numpy_assign_place_source(&call.launch, source, GSH_CASTING_UNSAFE);
    if (*why == GSH_REASON_NONE && !is_safe)
        *why = check_bounds(index, view->shape[axis]);
    if (*why != GSH_REASON_NONE)
        return false;
    *row = call.row = gsh_numpy_output_row("put", &call.launch.operands[0].dtype, 1, view->dtype);
    PyObject *result = gsh_numpy_output_run(&call, array, NULL, why);
    if (result)
        gsh_py.Py_DecRef(result);
    return result != NULL;
}

bool gsh_numpy_take_resolve_axis(PyObject *object, struct gsh_view *view, int *axis, int64_t *flat)
{
    static const int64_t strides[GSH_DTYPE_COUNT] = {
#define X(name, c_type, c_stored, ...) [GSH_##name] = sizeof(c_stored),
#include "dtypes.def"
#undef X
    };
    int64_t number = 0;
    if (!gsh_numpy_arguments_is_absent(object)) {
        if (!gsh_numpy_arguments_int(object, &number))
            return false;
        number += number < 0 ? view->ndim : 0;
        *axis = (int)number;
        return number >= 0 && number < view->ndim;
    }
    *axis = 0;
    if (view->ndim == 1)
        return true;
    if (!(view->flags & GSH_NPY_C_CONTIGUOUS))
        return false;
    *flat = 1;
    for (int i = 0; i < view->ndim; i++)
        *flat *= view->shape[i];
    view->ndim = 1;
    view->shape = flat;
    view->strides = &strides[view->dtype];
    return true;
}

enum take_mode { RAISE, WRAP, CLIP, TAKE_MODES };

static bool parse_mode(PyObject *object, enum take_mode *mode)
{
    static const char *const names[TAKE_MODES] = {"raise", "wrap", "clip"};
    *mode = RAISE;
    if (!object)
        return true;
    if (gsh_py_type(object) != gsh_py.PyUnicode_Type)
        return false;
    for (int i = 0; i < TAKE_MODES; i++) {
        *mode = (enum take_mode)i;
        if (gsh_py.PyUnicode_CompareWithASCIIString(object, names[i]) == 0)
            return true;
    }
    return false;
}

/* Brings the indices into bounds as the mode requires. Steals the index. NULL and *why: declined.
 */
static PyObject *apply_mode(PyObject *index, enum take_mode mode, int64_t extent,
                            enum gsh_reason *why)
{
    struct gsh_view view;
    if (mode == RAISE)
        return index;
    *why = extent == 0 ? GSH_REASON_SHAPE : describe_index(index, &view);
    if (*why != GSH_REASON_NONE) {
        gsh_py.Py_DecRef(index);
        return NULL;
    }
    *why = GSH_REASON_OPERAND;
    PyObject *wide = gsh_numpy_take_widen(index);
    if (mode == WRAP)
        return gsh_numpy_take_apply("remainder", wide, gsh_py.PyLong_FromLongLong(extent));
    wide = gsh_numpy_take_apply("maximum", wide, gsh_py.PyLong_FromLongLong(0));
    return gsh_numpy_take_apply("minimum", wide, gsh_py.PyLong_FromLongLong(extent - 1));
}

bool gsh_numpy_take_is_place(PyObject *object, int64_t *at)
{
    struct gsh_view view;
    if (!gsh_numpy_is_array(object))
        return gsh_numpy_arguments_int(object, at);
    if (gsh_numpy_array(object)->nd != 0 ||
        gsh_numpy_describe_array(object, &view) != GSH_REASON_NONE || !may_index(view.dtype))
        return false;
    gsh_numpy_describe_fetch(object, false);
    gsh_host_casts_run(at, GSH_INT64, 0, view.data, view.dtype, 0, 1);
    return true;
}

PyObject *gsh_numpy_take_one(const struct gsh_view *view, int axis, int64_t at,
                             enum gsh_order order, enum gsh_reason *why, unsigned *row)
{
    int64_t shape[GSH_MAX_DIMS], strides[GSH_MAX_DIMS], extent = view->shape[axis];
    *why = GSH_REASON_OPERAND;
    if (at < -extent || at >= extent)
        return NULL;
    at += at < 0 ? extent : 0;
    struct gsh_view part = {.dtype = view->dtype,
                            .data = view->data + at * view->strides[axis],
                            .shape = shape,
                            .strides = strides};
    for (int i = 0; i < view->ndim; i++) {
        if (i == axis)
            continue;
        shape[part.ndim] = view->shape[i];
        strides[part.ndim++] = view->strides[i];
    }
    PyObject *result = gsh_numpy_copy_in_order("take", &part, view->dtype, order, why, row);
    return result && part.ndim == 0 ? gsh_numpy_scalar_from_array(result) : result;
}

bool gsh_numpy_take_is_empty(PyObject *object)
{
    return gsh_numpy_is_array(object)
               ? gsh_numpy_describe_size(gsh_numpy_array(object)) == 0
               : gsh_py_type(object) == gsh_py.PyList_Type && gsh_py_size(object) == 0;
}

static PyObject *try_take(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    enum { INDICES, AXIS, OUT, MODE, PARAMETERS };
    static const char *const names[] = {"indices", "axis", "out", "mode"};
    PyObject *slots[PARAMETERS];
    struct gsh_view view;
    int axis;
    int64_t flat, number;
    enum take_mode mode;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, PARAMETERS, PARAMETERS, slots) ||
        !slots[INDICES] || !gsh_numpy_arguments_is_absent(slots[OUT]) ||
        !parse_mode(slots[MODE], &mode))
        return NULL;
    *why = gsh_numpy_describe_array(call->self, &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    *why = GSH_REASON_LAYOUT;
    if (!gsh_numpy_take_resolve_axis(slots[AXIS], &view, &axis, &flat))
        return NULL;
    if (mode == RAISE && gsh_numpy_take_is_place(slots[INDICES], &number))
        return gsh_numpy_take_one(&view, axis, number, GSH_ORDER_C, why, row);
    *why = GSH_REASON_OPERAND;
    if (gsh_numpy_take_is_empty(slots[INDICES])) {
        *why = GSH_REASON_NONE; /* NumPy reads no element */
        return NULL;
    }
    PyObject *index = gsh_numpy_take_index(slots[INDICES]);
    if (index)
        index = apply_mode(index, mode, view.shape[axis], why);
    if (!index)
        return NULL;
    PyObject *result =
        gsh_numpy_take_gather(&view, axis, index, mode != RAISE, GSH_TAKE_C_ORDER, why, row);
    gsh_py.Py_DecRef(index);
    return result;
}

/* The view with a broadcast dimension of `count` elements inserted after `axis`, copied in C order.
 */
static PyObject *run_repeat(const struct gsh_view *view, int axis, int64_t count,
                            enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {.row = gsh_numpy_output_row("repeat", &view->dtype, 1, view->dtype)};
    struct gsh_layout walk = {.ndim = view->ndim + 1}, layout = {.ndim = view->ndim};
    int64_t strides[GSH_MAX_DIMS];
    *why = GSH_REASON_SHAPE;
    if (walk.ndim > GSH_MAX_DIMS)
        return NULL;
    for (int i = 0; i < walk.ndim; i++) {
        int dim = i <= axis ? i : i - 1;
        walk.shape[i] = i == axis + 1 ? count : view->shape[dim];
        strides[i] = i == axis + 1 ? 0 : view->strides[dim];
        layout.shape[dim] = dim == axis ? view->shape[dim] * count : view->shape[dim];
        if (walk.shape[i] == 0)
            return NULL;
    }
    gsh_numpy_output_c_order(&walk, gsh_dtype_size(view->dtype));
    gsh_numpy_output_c_order(&layout, gsh_dtype_size(view->dtype));
    const struct gsh_view repeated = {.dtype = view->dtype,
                                      .ndim = walk.ndim,
                                      .data = view->data,
                                      .shape = walk.shape,
                                      .strides = strides};
    gsh_numpy_describe_copy(&call.launch, &repeated, view->dtype, walk.strides);
    *row = call.row;
    return gsh_numpy_output_run(&call, NULL, &layout, why);
}

static PyObject *try_repeat(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    enum { REPEATS, AXIS, PARAMETERS };
    static const char *const names[] = {"repeats", "axis"};
    PyObject *slots[PARAMETERS];
    struct gsh_view view;
    int axis;
    int64_t flat, count;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, PARAMETERS, PARAMETERS, slots) || !slots[REPEATS])
        return NULL;
    if (!gsh_numpy_arguments_int(slots[REPEATS], &count))
        return gsh_numpy_composed_call("repeat", call, true, why);
    if (count < 1 || count > MOST_REPEATS)
        return NULL;
    *why = gsh_numpy_describe_array(call->self, &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    *why = GSH_REASON_SHAPE;
    if (view.ndim == 0 || !gsh_numpy_take_resolve_axis(slots[AXIS], &view, &axis, &flat))
        return NULL;
    return run_repeat(&view, axis, count, why, row);
}

void gsh_numpy_take_install(void)
{
    gsh_numpy_method_patch_install(&take_hook);
    gsh_numpy_method_patch_install(&repeat_hook);
}
