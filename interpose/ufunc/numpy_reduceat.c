/* SPDX-License-Identifier: Apache-2.0
 *
 * ufunc.reduceat with a few segments: one REDUCE for each, into the segment's place in the result.
 * Calls with many segments are composed (numpy_composed_*.py).
 */
#include "host_casts.h"
#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_reduction.h"
#include "python_error.h"

#include <stdio.h>
#include <string.h>

#define MAX_SEGMENTS 64

enum { ARRAY, INDICES, AXIS, DTYPE, OUT, PARAMETERS };
static const char *const parameters[PARAMETERS] = {"array", "indices", "axis", "dtype", "out"};

static PyObject *try_reduceat(const struct gsh_method_call *call, enum gsh_reason *why,
                              unsigned *row);

GSH_METHOD_HOOK(reduceat_hook, .table = GSH_METHOD_UFUNC, .name = "reduceat",
                .handler = try_reduceat, .subject = GSH_METHOD_ASK_BY_FIRST,
                .self_test = "m.add.reduceat(a, [0])");

/* One call, described. */
struct request {
    int reduction, axis;
    struct gsh_view in;
    PyObject *out; /* borrowed; NULL: none given */
    struct gsh_view out_view;
    struct gsh_reduction_dtypes dtypes;
    int64_t starts[MAX_SEGMENTS];
    int64_t count;
};

/* ---- arguments ---- */

static bool read_sequence(PyObject *object, bool is_list, struct request *request)
{
    for (int64_t i = 0; i < request->count; i++)
        if (!gsh_numpy_arguments_int(is_list ? gsh_py.PyList_GetItem(object, i)
                                             : gsh_py.PyTuple_GetItem(object, i),
                                     &request->starts[i]))
            return false;
    return true;
}

/* Reads an integer array, or a list or tuple of Python ints. */
static enum gsh_reason read_indices(PyObject *object, struct request *request)
{
    struct gsh_view view;
    bool is_list = gsh_py_type(object) == gsh_py.PyList_Type, read = true;
    if (is_list || gsh_py_type(object) == gsh_py.PyTuple_Type) {
        request->count = is_list ? gsh_py.PyList_Size(object) : gsh_py.PyTuple_Size(object);
        if (request->count > MAX_SEGMENTS)
            return GSH_REASON_UNSUPPORTED;
        read = read_sequence(object, is_list, request);
    } else {
        enum gsh_reason why = gsh_numpy_describe_array(object, &view);
        if (why != GSH_REASON_NONE)
            return why;
        if (view.ndim != 1 || view.dtype == GSH_BOOL ||
            !gsh_numpy_describe_can_cast(view.dtype, GSH_INT64, GSH_CASTING_SAFE))
            return GSH_REASON_DTYPE;
        request->count = view.shape[0];
        if (request->count > MAX_SEGMENTS)
            return GSH_REASON_UNSUPPORTED;
        gsh_numpy_describe_fetch(object, false);
        gsh_host_casts_run(request->starts, GSH_INT64, sizeof(int64_t), view.data, view.dtype,
                           view.strides[0], request->count);
    }
    for (int64_t i = 0; read && i < request->count; i++)
        read = request->starts[i] >= 0 && request->starts[i] < request->in.shape[request->axis];
    return read && request->count > 0 ? GSH_REASON_NONE : GSH_REASON_SHAPE;
}

static enum gsh_reason describe_out(PyObject *const *slots, bool is_keyword,
                                    struct request *request)
{
    if (!gsh_numpy_reduction_find_out(slots[OUT], is_keyword, &request->out))
        return GSH_REASON_KEYWORDS;
    if (!request->out)
        return GSH_REASON_NONE;
    enum gsh_reason why = gsh_numpy_describe_output(request->out, &request->out_view);
    if (why != GSH_REASON_NONE)
        return why;
    /* a segment is written before the next ones are read */
    bool meets = gsh_numpy_describe_meet(slots[ARRAY], request->out) ||
                 !gsh_numpy_describe_is_distinct(&request->out_view);
    return meets ? GSH_REASON_OVERLAP : GSH_REASON_NONE;
}

static enum gsh_reason describe(const struct gsh_method_call *call, PyObject *const *slots,
                                struct request *request)
{
    int64_t axis = 0;
    enum gsh_reason why = gsh_numpy_describe_array(slots[ARRAY], &request->in);
    if (why != GSH_REASON_NONE)
        return why;
    int ndim = request->in.ndim;
    if (!slots[INDICES] || (slots[AXIS] && !gsh_numpy_arguments_int(slots[AXIS], &axis)))
        return GSH_REASON_KEYWORDS;
    if (ndim == 0 || gsh_numpy_describe_size(gsh_numpy_array(slots[ARRAY])) == 0 || axis < -ndim ||
        axis >= ndim)
        return GSH_REASON_SHAPE;
    request->axis = (int)(axis < 0 ? axis + ndim : axis);
    why = read_indices(slots[INDICES], request);
    if (why == GSH_REASON_NONE)
        why = describe_out(slots, call->nargs <= OUT, request);
    if (why != GSH_REASON_NONE)
        return why;
    return gsh_numpy_reduction_resolve(GSH_REDUCTION_ACCUMULATE, request->reduction,
                                       request->in.dtype, slots[DTYPE],
                                       request->out ? &request->out_view : NULL, &request->dtypes);
}

/* ---- the result ---- */

/* The operand's shape with the segments in place of the axis. The order is that of NumPy's iterator
 * over the operand without the axis and the indices. */
static void layout_result(const struct request *request, struct gsh_layout *layout)
{
    const struct gsh_view *in = &request->in;
    struct gsh_launch walk = {.ndim = in->ndim};
    memcpy(walk.shape, in->shape, (size_t)in->ndim * sizeof(walk.shape[0]));
    gsh_numpy_describe_place_view(&walk, 0, in);
    walk.shape[request->axis] = request->count;
    walk.strides[0][request->axis] = 0;
    walk.strides[1][request->axis] = request->count > 1 ? (int64_t)sizeof(int64_t) : 0;
    gsh_numpy_output_iterator_order(&walk, 2, gsh_dtype_size(request->dtypes.result), layout);
}

/* Makes the launch a copy: combining a single element with a neutral value might change its sign.
 */
static void copy_instead(struct gsh_launch *launch)
{
    launch->kind = GSH_LAUNCH_ELEMENTWISE;
    launch->op = GSH_OP_COPY;
    launch->ndim--; /* the reduced dimension, of extent 1, comes last */
    launch->nreduce = 0;
}

/* Reduces segment i into its place in `array`, which has the given layout. */
static bool run_segment(const struct request *request, int64_t i, PyObject *array,
                        const struct gsh_layout *layout, unsigned row, enum gsh_reason *why)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_REDUCE,
                                       .reduction = (enum gsh_reduction)request->reduction,
                                       .loop = request->dtypes.loop},
                            .errors = {.is_unwanted = true},
                            .row = row};
    struct gsh_view part = request->in;
    struct gsh_layout kept = {.ndim = 0};
    bool reduced[GSH_MAX_DIMS] = {false};
    int axis = request->axis;
    int64_t shape[GSH_MAX_DIMS], start = request->starts[i];
    int64_t end = i + 1 < request->count ? request->starts[i + 1] : part.shape[axis];
    memcpy(shape, part.shape, (size_t)part.ndim * sizeof(shape[0]));
    shape[axis] = GSH_MAX(end - start, 1);
    part.shape = shape;
    part.data += start * part.strides[axis];
    reduced[axis] = true;
    for (int d = 0; d < layout->ndim; d++)
        if (d != axis)
            kept.strides[kept.ndim++] = layout->strides[d];
    gsh_numpy_reduction_fill(&call.launch, &part, NULL, reduced, false, &kept);
    if (shape[axis] == 1)
        copy_instead(&call.launch);
    call.launch.operands[1] = (struct gsh_operand){
        .dtype = request->dtypes.result,
        .address = (uintptr_t)(gsh_numpy_array(array)->data + i * layout->strides[axis])};
    PyObject *same = gsh_numpy_output_run(&call, array, NULL, why);
    if (same)
        gsh_py.Py_DecRef(same);
    return same != NULL;
}

/* Whether all elements of an array are true. Steals the array, which may be NULL. */
static bool is_true_throughout(PyObject *array)
{
    PyObject *logical_and = gsh_py.PyDict_GetItemString(gsh_np.dict, "logical_and");
    PyObject *all = array && logical_and ? gsh_py.PyObject_CallMethod(logical_and, "reduce", "OO",
                                                                      array, gsh_py._Py_NoneStruct)
                                         : NULL;
    bool is_true = all && gsh_py.PyObject_IsTrue(all) == 1;
    if (all)
        gsh_py.Py_DecRef(all);
    if (array)
        gsh_py.Py_DecRef(array);
    gsh_python_error_clear();
    return is_true;
}

/* Calls a function of NumPy's C module. `other` NULL: with one operand. NULL where an operand is missing or the call fails. */
static PyObject *call_numpy(const char *name, PyObject *one, PyObject *other)
{
    if (!one)
        return NULL;
    return other ? gsh_py.PyObject_CallMethod(gsh_np.module, name, "OO", one, other)
                 : gsh_py.PyObject_CallMethod(gsh_np.module, name, "O", one);
}

/* Of each segment, whether its first element is other than -0.0 in this part: "real" or "imag". */
static PyObject *begin_surely(PyObject *const *slots, int axis, const char *part)
{
    PyObject *first = gsh_py.PyObject_CallMethod(slots[ARRAY], "take", "Oi", slots[INDICES], axis);
    PyObject *of_part = first ? gsh_py.PyObject_GetAttrString(first, part) : NULL;
    PyObject *sign = call_numpy("signbit", of_part, NULL);
    PyObject *unsigned_ones = call_numpy("logical_not", sign, NULL);
    PyObject *sure = unsigned_ones ? call_numpy("logical_or", of_part, unsigned_ones) : NULL;
    PyObject *const dropped[] = {first, of_part, sign, unsigned_ones};
    gsh_py_drop(dropped, GSH_COUNT(dropped));
    return sure;
}

/* Whether the zeros in a sum have NumPy's signs. A zero is negative only if all elements of the
 * segment are, including the first. In that case NumPy's result depends on its version and on the
 * number of elements (pairwise_sum's initial value). */
static bool has_numpys_zeros(PyObject *const *slots, int axis, PyObject *array, const char *part)
{
    PyObject *of_part = gsh_py.PyObject_GetAttrString(array, part);
    PyObject *sure = begin_surely(slots, axis, part);
    PyObject *either = sure ? call_numpy("logical_or", of_part, sure) : NULL;
    PyObject *const dropped[] = {of_part, sure};
    gsh_py_drop(dropped, GSH_COUNT(dropped));
    return is_true_throughout(either);
}

/* Whether the result needs no error report and its zeros have NumPy's signs. NumPy reports errors
 * once per call, under this method's name. Any error in a sum leaves a result that is not finite.
 */
static bool is_as_numpys(const struct request *request, PyObject *const *slots, PyObject *array)
{
    enum gsh_dtype loop = request->dtypes.loop;
    if (!(GSH_SET_INEXACT >> loop & 1))
        return true;
    if (!is_true_throughout(gsh_py.PyObject_CallMethod(gsh_np.module, "isfinite", "O", array)))
        return false;
    return request->reduction != GSH_REDUCE_SUM ||
           (has_numpys_zeros(slots, request->axis, array, "real") &&
            (gsh_dtype_kind(loop) != 'c' || has_numpys_zeros(slots, request->axis, array, "imag")));
}

static PyObject *run_segments(const struct request *request, PyObject *const *slots,
                              enum gsh_reason *why, unsigned *row)
{
    struct gsh_layout layout;
    char name[32]; /* "sum.at", as in reduceat */
    snprintf(name, sizeof(name), "%s.at",
             gsh_reduction_info((enum gsh_reduction)request->reduction)->name);
    *row = gsh_numpy_output_row(name, &request->in.dtype, 1, request->dtypes.result);
    layout_result(request, &layout);
    *why = GSH_REASON_SHAPE;
    if (request->out && !gsh_numpy_reduction_fits(&request->out_view, &layout))
        return NULL;
    PyObject *array = request->out;
    *why = GSH_REASON_UNMANAGED_OUTPUT;
    if (array)
        gsh_py.Py_IncRef(array);
    else if (!(array = gsh_numpy_output_create(request->dtypes.result, &layout)))
        return NULL;
    for (int64_t i = 0; i < request->count; i++)
        if (!run_segment(request, i, array, &layout, *row, why)) {
            gsh_py.Py_DecRef(array);
            return NULL;
        }
    if (is_as_numpys(request, slots, array))
        return array;
    *why = GSH_REASON_ERRSTATE;
    gsh_py.Py_DecRef(array);
    return NULL;
}

static PyObject *try_reduceat(const struct gsh_method_call *call, enum gsh_reason *why,
                              unsigned *row)
{
    PyObject *slots[PARAMETERS];
    struct request request;
    request.reduction = gsh_numpy_reduction_bind(call, parameters, PARAMETERS, slots, why);
    if (request.reduction < 0)
        return NULL;
    *why = describe(call, slots, &request);
    if (*why == GSH_REASON_UNSUPPORTED && !slots[DTYPE] && !slots[OUT])
        return gsh_numpy_composed_call("reduceat", call, true, why);
    return *why == GSH_REASON_NONE ? run_segments(&request, slots, why, row) : NULL;
}

void gsh_numpy_reduceat_install(void)
{
    gsh_numpy_method_patch_install(&reduceat_hook);
}
