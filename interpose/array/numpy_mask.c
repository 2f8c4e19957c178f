/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The number of selected elements is determined first (numpy_probe.h): it is the
 * size of the result, and NumPy refuses sources of another size.
 */
#include "numpy_mask.h"

#include "numpy_assign.h"
#include "numpy_output.h"
#include "numpy_probe.h"
#include "python_error.h"

#include <stdlib.h>
#include <string.h>

/* Describes both; the mask's shape must equal the array's leading dimensions. */
static enum gsh_reason describe(PyObject *array, PyObject *mask, struct gsh_view *whole,
                                struct gsh_view *chosen)
{
    enum gsh_reason why = gsh_numpy_describe_array(array, whole);
    if (why == GSH_REASON_NONE)
        why = gsh_numpy_describe_array(mask, chosen);
    if (why != GSH_REASON_NONE)
        return why;
    if (chosen->dtype != GSH_BOOL || chosen->ndim == 0 || chosen->ndim > whole->ndim ||
        gsh_numpy_describe_size(gsh_numpy_array(array)) == 0 ||
        memcmp(chosen->shape, whole->shape, (size_t)chosen->ndim * sizeof(*whole->shape)) != 0)
        return GSH_REASON_SHAPE;
    return GSH_REASON_NONE;
}

/* The dimensions after the first `fixed`, sorted by falling |stride|, ties in the original order.
 * This is the order of PyArray_CreateSortedStridePerm for the unindexed dimensions of a fancy
 * index. */
static void order_rest(const struct gsh_view *view, int fixed, int *dims)
{
    for (int i = 0; i < view->ndim; i++) {
        int j = i;
        for (; j > fixed && llabs(view->strides[dims[j - 1]]) < llabs(view->strides[i]); j--)
            dims[j] = dims[j - 1];
        dims[j] = i;
    }
}

/* A launch over the array whose dimension i is the array's dims[i]. Operand k is the array, operand
 * 2 the mask. */
static void place(struct gsh_launch *launch, const struct gsh_view *whole,
                  const struct gsh_view *mask, const int *dims, unsigned k)
{
    launch->ndim = whole->ndim;
    launch->loop = whole->dtype;
    launch->has_mask = true;
    launch->operands[k] =
        (struct gsh_operand){.dtype = whole->dtype, .address = (uintptr_t)whole->data};
    launch->operands[2] = (struct gsh_operand){.dtype = GSH_BOOL, .address = (uintptr_t)mask->data};
    for (int i = 0; i < whole->ndim; i++) {
        launch->shape[i] = whole->shape[dims[i]];
        launch->strides[k][i] = whole->strides[dims[i]];
        launch->strides[2][i] = dims[i] < mask->ndim ? mask->strides[dims[i]] : 0;
    }
}

/* The layout of whole[mask] for `count` true elements. Returns the number of elements of the
 * result. */
static int64_t lay_out(struct gsh_layout *layout, const struct gsh_view *whole, int fixed,
                       const int *dims, int64_t count)
{
    int64_t elements = 1, itemsize = (int64_t)gsh_dtype_size(whole->dtype);
    layout->ndim = whole->ndim - fixed + 1;
    for (int i = whole->ndim - 1; i >= fixed; i--) {
        layout->shape[dims[i] - fixed + 1] = whole->shape[dims[i]];
        layout->strides[dims[i] - fixed + 1] = elements * itemsize;
        elements *= whole->shape[dims[i]];
    }
    layout->shape[0] = count;
    layout->strides[0] = elements * itemsize;
    return elements * count;
}

static PyObject *make_empty(const struct gsh_view *whole, int fixed, enum gsh_reason *why)
{
    int64_t shape[GSH_MAX_DIMS] = {0};
    int ndim = whole->ndim - fixed + 1;
    memcpy(&shape[1], whole->shape + fixed, (size_t)(ndim - 1) * sizeof(*shape));
    gsh_py.Py_IncRef(gsh_np.descrs[whole->dtype]);
    PyObject *array = gsh_np.NewFromDescr(gsh_np.ndarray_type, gsh_np.descrs[whole->dtype], ndim,
                                          shape, NULL, NULL, 0, NULL);
    if (!array)
        gsh_python_error_clear();
    *why = array ? GSH_REASON_NONE : GSH_REASON_MEMORY;
    return array;
}

PyObject *gsh_numpy_mask_extract(PyObject *array, PyObject *mask, enum gsh_reason *why,
                                 unsigned *row)
{
    struct gsh_call call = {
        .launch = {.kind = GSH_LAUNCH_COMPRESS, .op = GSH_OP_COPY, .nin = 1, .nout = 1}};
    struct gsh_view whole, chosen;
    struct gsh_layout layout;
    int dims[GSH_MAX_DIMS] = {0};
    int64_t count;
    *why = describe(array, mask, &whole, &chosen);
    if (*why != GSH_REASON_NONE || !gsh_numpy_probe_count(mask, &count, why))
        return NULL;
    if (count == 0)
        return make_empty(&whole, chosen.ndim, why);
    order_rest(&whole, chosen.ndim, dims);
    place(&call.launch, &whole, &chosen, dims, 0);
    call.launch.operands[1].dtype = whole.dtype;
    call.launch.indexed.stride = (int64_t)gsh_dtype_size(whole.dtype);
    call.launch.indexed.extent = lay_out(&layout, &whole, chosen.ndim, dims, count);
    *row = call.row = gsh_numpy_output_row("compress", &whole.dtype, 1, whole.dtype);
    return gsh_numpy_output_run(&call, NULL, &layout, why);
}

/* The step between elements of the source, taken with dimension `first` outermost and the others behind it in a circle; false:
 * there is none. */
static bool find_step(const struct gsh_view *source, int first, int64_t *step)
{
    int64_t next = 0;
    *step = (int64_t)gsh_dtype_size(source->dtype);
    for (int i = source->ndim - 1; i >= 0; i--) {
        int d = (first + i) % source->ndim;
        if (source->shape[d] == 1)
            continue;
        if (next == 0)
            *step = next = source->strides[d];
        if (source->strides[d] != next)
            return false;
        next *= source->shape[d];
    }
    return true;
}

/* The order of the array's dimensions in which the true elements take the source's values one behind the other, and the step
 * between these. The source's first dimension stands for the `fixed` ones that the mask has. False: there is no such order. */
static bool find_order(const struct gsh_view *whole, int fixed, const struct gsh_view *source,
                       int *dims, int64_t *step)
{
    int first = find_step(source, 0, step) ? 0 : 1;
    if (first != 0 && !find_step(source, first, step))
        return false;
    for (int i = 0; i < whole->ndim; i++)
        dims[i] = (i + first * fixed) % whole->ndim;
    return true;
}

/* Whether NumPy takes the source's rows for the true elements, `count` of them. */
static bool has_rows(const struct gsh_view *whole, int fixed, const struct gsh_view *source,
                     int64_t count)
{
    return source->shape[0] == count &&
           memcmp(source->shape + 1, whole->shape + fixed,
                  (size_t)(source->ndim - 1) * sizeof *source->shape) == 0;
}

/* Distributes one row of the source, or one value, to each true element, in C order. */
static bool expand(PyObject *array, const struct gsh_view *whole, const struct gsh_view *chosen,
                   PyObject *mask, const struct gsh_view *source, enum gsh_reason *why,
                   unsigned *row)
{
    struct gsh_call call = {
        .launch = {.kind = GSH_LAUNCH_EXPAND, .op = GSH_OP_COPY, .nin = 1, .nout = 1}};
    int dims[GSH_MAX_DIMS];
    int64_t count;
    *why = gsh_numpy_assign_check_cast(source->dtype, whole->dtype);
    if (*why != GSH_REASON_NONE || !gsh_numpy_probe_count(mask, &count, why))
        return false;
    *why = has_rows(whole, chosen->ndim, source, count) ? GSH_REASON_NONE : GSH_REASON_SHAPE;
    if (count == 0 || *why != GSH_REASON_NONE)
        return *why == GSH_REASON_NONE;
    *why = GSH_REASON_LAYOUT;
    if (!find_order(whole, chosen->ndim, source, dims, &call.launch.indexed.stride))
        return false;
    place(&call.launch, whole, chosen, dims, 1);
    if (!gsh_launch_is_distinct(&call.launch, 1))
        return false;
    call.launch.operands[0] =
        (struct gsh_operand){.dtype = source->dtype, .address = (uintptr_t)source->data};
    call.launch.indexed.extent = count;
    for (int d = 1; d < source->ndim; d++)
        call.launch.indexed.extent *= source->shape[d];
    *row = call.row = gsh_numpy_output_row("expand", &source->dtype, 1, whole->dtype);
    PyObject *result = gsh_numpy_output_run(&call, array, NULL, why);
    if (result)
        gsh_py.Py_DecRef(result);
    return result != NULL;
}

bool gsh_numpy_mask_assign(PyObject *array, PyObject *mask, PyObject *source, enum gsh_reason *why,
                           unsigned *row)
{
    struct gsh_view whole, chosen, values;
    struct gsh_numpy_value value;
    *why = gsh_numpy_describe_output(array, &whole);
    if (*why == GSH_REASON_NONE)
        *why = describe(array, mask, &whole, &chosen);
    if (*why != GSH_REASON_NONE)
        return false;
    bool is_array = gsh_numpy_is_array(source);
    int row_ndim = whole.ndim - chosen.ndim;
    if (is_array)
        *why = gsh_numpy_describe_array(source, &values);
    else if (gsh_numpy_describe_scalar(source, &value) != GSH_REASON_NONE)
        *why = GSH_REASON_OPERAND;
    if (*why != GSH_REASON_NONE)
        return false;
    *why = GSH_REASON_OVERLAP;
    if (array != mask && gsh_numpy_describe_meet(array, mask))
        return false;
    *why = GSH_REASON_SHAPE;
    if (is_array && values.ndim > row_ndim + 1)
        return false;
    bool is_expanded = is_array && values.ndim == row_ndim + 1 && values.shape[0] != 1;
    *why = GSH_REASON_OVERLAP;
    if (is_expanded && gsh_numpy_describe_meet(array, source))
        return false; /* NumPy would read it while it writes */
    if (is_expanded)
        return expand(array, &whole, &chosen, mask, &values, why, row);
    const struct gsh_assignment request = {.dst = array,
                                           .source = source,
                                           .mask = mask,
                                           .mask_leads = true,
                                           .casting = GSH_CASTING_UNSAFE};
    return gsh_numpy_assign_run(&request, why, row);
}
