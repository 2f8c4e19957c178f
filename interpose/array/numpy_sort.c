/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. SORT takes contiguous rows. So an array in another order, or sorted along another axis, is copied to an array
 * whose last axis is the sorted one, and the result is copied back. Also contains the methods sort, argsort, partition and
 * argpartition. All are stable sorts: of equal elements NumPy fixes the order for kind='stable' only, and of a partition only
 * what stands at kth and on which side of it.
 */
#include "numpy_sort.h"

#include "coherence.h"
#include "numpy_copy.h"
#include "numpy_method_patch.h"
#include "numpy_take.h"

#include <string.h>

static PyObject *try_sort(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_argsort(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row);
static PyObject *try_partition(const struct gsh_method_call *call, enum gsh_reason *why,
                               unsigned *row);
static PyObject *try_argpartition(const struct gsh_method_call *call, enum gsh_reason *why,
                                  unsigned *row);

static PyObject *sort_stably(const struct gsh_method_call *call);
static PyObject *argsort_stably(const struct gsh_method_call *call);
static PyObject *partition_stably(const struct gsh_method_call *call);
static PyObject *argpartition_stably(const struct gsh_method_call *call);

GSH_METHOD_HOOK(sort_hook, .table = GSH_METHOD_NDARRAY, .name = "sort", .handler = try_sort,
                .reference = sort_stably, .subject = GSH_METHOD_ASK_BY_SELF,
                .writes = GSH_METHOD_WRITES_SELF, .self_test = "a.sort()");
GSH_METHOD_HOOK(argsort_hook, .table = GSH_METHOD_NDARRAY, .name = "argsort",
                .handler = try_argsort, .reference = argsort_stably,
                .subject = GSH_METHOD_ASK_BY_SELF, .self_test = "a.argsort()");
GSH_METHOD_HOOK(partition_hook, .table = GSH_METHOD_NDARRAY, .name = "partition",
                .handler = try_partition, .reference = partition_stably,
                .subject = GSH_METHOD_ASK_BY_SELF, .writes = GSH_METHOD_WRITES_SELF,
                .self_test = "a.partition(0)");
GSH_METHOD_HOOK(argpartition_hook, .table = GSH_METHOD_NDARRAY, .name = "argpartition",
                .handler = try_argpartition, .reference = argpartition_stably,
                .subject = GSH_METHOD_ASK_BY_SELF, .self_test = "a.argpartition(0)");

/* ---- launches ---- */

/* C order over the view's shape with `axis` behind the others; strides: of the view's dimensions in it. */
static void lay_out_moved(const struct gsh_view *view, int axis, size_t itemsize,
                          struct gsh_layout *layout, int64_t *strides)
{
    int at = 0;
    layout->ndim = view->ndim;
    for (int d = 0; d < view->ndim; d++)
        if (d != axis)
            layout->shape[at++] = view->shape[d];
    layout->shape[at] = view->shape[axis];
    gsh_numpy_output_c_order(layout, itemsize);
    at = 0;
    for (int d = 0; d < view->ndim; d++)
        strides[d] = layout->strides[d == axis ? view->ndim - 1 : at++];
}

static bool has_rows(const struct gsh_view *view, int axis)
{
    return axis == view->ndim - 1 && (view->flags & GSH_NPY_C_CONTIGUOUS);
}

/* Sorts the rows of a contiguous array, into `out`, which may be that array, or a fresh array of its shape. */
static PyObject *run_sort(const char *name, const struct gsh_view *rows, bool gives_order,
                          PyObject *out, enum gsh_reason *why, unsigned *row)
{
    enum gsh_dtype result = gives_order ? GSH_INT64 : rows->dtype;
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_SORT,
                                       .loop = rows->dtype,
                                       .nin = 1,
                                       .nout = 1,
                                       .ndim = rows->ndim,
                                       .sort = {.gives_order = gives_order}}};
    struct gsh_layout layout = {.ndim = rows->ndim};
    memcpy(layout.shape, rows->shape, (size_t)rows->ndim * sizeof(layout.shape[0]));
    memcpy(call.launch.shape, rows->shape, (size_t)rows->ndim * sizeof(layout.shape[0]));
    gsh_numpy_output_c_order(&layout, gsh_dtype_size(result));
    gsh_numpy_describe_place_view(&call.launch, 0, rows);
    call.launch.operands[1] = (struct gsh_operand){
        .dtype = result, .address = out ? (uintptr_t)gsh_numpy_array(out)->data : 0};
    memcpy(call.launch.strides[1], layout.strides, sizeof(layout.strides));
    *row = call.row = gsh_numpy_output_row(name, &rows->dtype, 1, result);
    return gsh_numpy_output_run(&call, out, &layout, why);
}

/* A copy of the view as contiguous rows along the axis; `moved` describes it. */
static PyObject *copy_rows(const struct gsh_view *view, int axis, struct gsh_view *moved,
                           enum gsh_reason *why, unsigned *row)
{
    struct gsh_layout layout;
    int64_t strides[GSH_MAX_DIMS];
    lay_out_moved(view, axis, gsh_dtype_size(view->dtype), &layout, strides);
    PyObject *copy = gsh_numpy_copy_run("copy", view, view->dtype, &layout, strides, why, row);
    if (!copy)
        return NULL;
    *why = gsh_numpy_describe_array(copy, moved);
    if (*why == GSH_REASON_NONE)
        return copy;
    gsh_py.Py_DecRef(copy);
    return NULL;
}

/* The array of rows along the axis, seen in the axes of `view`. `strides`: memory for its strides. */
static struct gsh_view turn_back(PyObject *rows, enum gsh_dtype dtype, const struct gsh_view *view,
                                 int axis, int64_t *strides)
{
    struct gsh_layout layout;
    lay_out_moved(view, axis, gsh_dtype_size(dtype), &layout, strides);
    return (struct gsh_view){.dtype = dtype,
                             .ndim = view->ndim,
                             .data = gsh_numpy_array(rows)->data,
                             .shape = view->shape,
                             .strides = strides};
}

static PyObject *order_of_copy(const char *name, const struct gsh_view *view, int axis,
                               enum gsh_reason *why, unsigned *row)
{
    struct gsh_view moved;
    struct gsh_layout layout = {.ndim = view->ndim};
    int64_t strides[GSH_MAX_DIMS];
    PyObject *rows = copy_rows(view, axis, &moved, why, row);
    PyObject *order = rows ? run_sort(name, &moved, true, NULL, why, row) : NULL;
    if (rows)
        gsh_py.Py_DecRef(rows);
    if (!order || axis == view->ndim - 1)
        return order;
    struct gsh_view turned = turn_back(order, GSH_INT64, view, axis, strides);
    memcpy(layout.shape, view->shape, (size_t)view->ndim * sizeof(layout.shape[0]));
    gsh_numpy_output_c_order(&layout, sizeof(int64_t));
    PyObject *result =
        gsh_numpy_copy_run("copy", &turned, GSH_INT64, &layout, layout.strides, why, row);
    gsh_py.Py_DecRef(order);
    return result;
}

PyObject *gsh_numpy_sort_order(const char *name, const struct gsh_view *view, int axis,
                               enum gsh_reason *why, unsigned *row)
{
    return has_rows(view, axis) ? run_sort(name, view, true, NULL, why, row)
                                : order_of_copy(name, view, axis, why, row);
}

/* array[...] = rows, which are along the axis. */
static PyObject *copy_back(PyObject *array, const struct gsh_view *view, int axis, PyObject *rows,
                           enum gsh_reason *why)
{
    int64_t strides[GSH_MAX_DIMS];
    struct gsh_call call = {.row = gsh_numpy_output_row("copy", &view->dtype, 1, view->dtype)};
    struct gsh_view turned = turn_back(rows, view->dtype, view, axis, strides);
    gsh_numpy_describe_copy(&call.launch, &turned, view->dtype, view->strides);
    call.launch.operands[1].address = (uintptr_t)view->data;
    return gsh_numpy_output_run(&call, array, NULL, why);
}

static PyObject *sort_by_copy(const char *name, PyObject *array, const struct gsh_view *view,
                              int axis, enum gsh_reason *why, unsigned *row)
{
    struct gsh_view moved;
    PyObject *rows = copy_rows(view, axis, &moved, why, row);
    PyObject *sorted = rows ? run_sort(name, &moved, false, rows, why, row) : NULL;
    PyObject *result = sorted ? copy_back(array, view, axis, sorted, why) : NULL;
    if (rows)
        gsh_py.Py_DecRef(rows);
    if (sorted)
        gsh_py.Py_DecRef(sorted);
    return result;
}

bool gsh_numpy_sort_in_place(const char *name, PyObject *array, int axis, enum gsh_reason *why,
                             unsigned *row)
{
    struct gsh_view view;
    *why = gsh_numpy_describe_output(array, &view);
    if (*why == GSH_REASON_NONE && !gsh_numpy_describe_is_distinct(&view))
        *why = GSH_REASON_OVERLAP;
    if (*why != GSH_REASON_NONE)
        return false;
    PyObject *result = has_rows(&view, axis) ? run_sort(name, &view, false, array, why, row)
                                             : sort_by_copy(name, array, &view, axis, why, row);
    if (result)
        gsh_py.Py_DecRef(result);
    return result != NULL;
}

/* ---- arguments ---- */

/* One of NumPy's names, or not given. */
static bool is_name_of(PyObject *object, const char *const *names, size_t count)
{
    if (gsh_numpy_arguments_is_absent(object))
        return true;
    if (gsh_py_type(object) != gsh_py.PyUnicode_Type)
        return false;
    for (size_t i = 0; i < count; i++)
        if (gsh_py.PyUnicode_CompareWithASCIIString(object, names[i]) == 0)
            return true;
    return false;
}

/* kind= and stable=, of which NumPy takes one. */
static bool is_kind(PyObject *kind, PyObject *stable)
{
    static const char *const names[] = {"quicksort", "mergesort", "heapsort", "stable"};
    bool flag;
    if (gsh_numpy_arguments_is_absent(stable))
        return is_name_of(kind, names, GSH_COUNT(names));
    return gsh_numpy_arguments_is_absent(kind) && gsh_numpy_arguments_flag(stable, false, &flag);
}

/* An axis that is not given is the last. */
static bool find_axis(PyObject *object, const struct gsh_view *view, int *axis)
{
    int64_t number = -1;
    if (object && !gsh_numpy_arguments_int(object, &number))
        return false;
    number += number < 0 ? view->ndim : 0;
    *axis = (int)number;
    return number >= 0 && number < view->ndim;
}

/* The array, and the axis; with `flattens` an axis of None is the only one of the flattened array, for which `flat` is memory. */
static bool find_operand(PyObject *self, PyObject *axis_object, int64_t *flat,
                         struct gsh_view *view, int *axis, enum gsh_reason *why)
{
    *why = gsh_numpy_describe_array(self, view);
    if (*why != GSH_REASON_NONE)
        return false;
    *why = GSH_REASON_SHAPE;
    if (view->ndim == 0)
        return false;
    return flat && axis_object && gsh_py_is_none(axis_object)
               ? gsh_numpy_take_resolve_axis(axis_object, view, axis, flat)
               : find_axis(axis_object, view, axis);
}

enum { AXIS, KIND, ORDER, STABLE, SORT_PARAMETERS };

/* The arguments of sort and argsort, of which the first three may be given by position; NumPy 1 has no stable=. */
static bool bind_sort(const struct gsh_method_call *call, PyObject **slots)
{
    static const char *const names[] = {"axis", "kind", "order", "stable"};
    slots[STABLE] = NULL;
    return gsh_numpy_method_patch_bind(call, names, gsh_np.major >= 2 ? SORT_PARAMETERS : STABLE,
                                       STABLE, slots) &&
           is_kind(slots[KIND], slots[STABLE]) && gsh_numpy_arguments_is_absent(slots[ORDER]);
}

static PyObject *try_sort(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    PyObject *slots[SORT_PARAMETERS];
    struct gsh_view view;
    int axis;
    *why = GSH_REASON_KEYWORDS;
    if (!bind_sort(call, slots) || !find_operand(call->self, slots[AXIS], NULL, &view, &axis, why))
        return NULL;
    return gsh_numpy_sort_in_place("sort", call->self, axis, why, row) ? gsh_py_none() : NULL;
}

static PyObject *try_argsort(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row)
{
    PyObject *slots[SORT_PARAMETERS];
    struct gsh_view view;
    int axis;
    int64_t flat;
    *why = GSH_REASON_KEYWORDS;
    if (!bind_sort(call, slots) || !find_operand(call->self, slots[AXIS], &flat, &view, &axis, why))
        return NULL;
    return gsh_numpy_sort_order("argsort", &view, axis, why, row);
}

/* ---- partition ---- */

static bool is_place(int64_t kth, int64_t length)
{
    return kth >= -length && kth < length;
}

static bool are_places(const struct gsh_view *kth, int64_t length)
{
    if (kth->dtype != GSH_INT64 || kth->ndim > 1)
        return false;
    int64_t count = kth->ndim == 0 ? 1 : kth->shape[0], step = kth->ndim == 0 ? 0 : kth->strides[0];
    if (count > 1 && step != (int64_t)sizeof(int64_t))
        return false;
    gsh_coherence_fetch(kth->data, (size_t)count * sizeof(int64_t), false);
    for (int64_t i = 0; i < count; i++)
        if (!is_place(((const int64_t *)kth->data)[i], length))
            return false;
    return true;
}

/* kth= in its common forms, within the bounds. */
static bool check_kth(PyObject *object, int64_t length)
{
    struct gsh_view view;
    int64_t kth;
    if (gsh_numpy_is_array(object))
        return gsh_numpy_describe_array(object, &view) == GSH_REASON_NONE &&
               are_places(&view, length);
    bool is_list = gsh_py_type(object) == gsh_py.PyList_Type;
    if (!is_list && gsh_py_type(object) != gsh_py.PyTuple_Type)
        return gsh_numpy_arguments_int(object, &kth) && is_place(kth, length);
    Py_ssize_t count = is_list ? gsh_py.PyList_Size(object) : gsh_py.PyTuple_Size(object);
    for (Py_ssize_t i = 0; i < count; i++)
        if (!gsh_numpy_arguments_int(is_list ? gsh_py.PyList_GetItem(object, i)
                                             : gsh_py.PyTuple_GetItem(object, i),
                                     &kth) ||
            !is_place(kth, length))
            return false;
    return count > 0;
}

/* The arguments of both methods. */
enum { KTH, KTH_AXIS, KTH_KIND, KTH_ORDER, PARTITION_PARAMETERS };

static bool bind_kth(const struct gsh_method_call *call, PyObject **slots)
{
    static const char *const names[] = {"kth", "axis", "kind", "order"};
    return gsh_numpy_method_patch_bind(call, names, PARTITION_PARAMETERS, PARTITION_PARAMETERS,
                                       slots) &&
           slots[KTH];
}

static bool bind_partition(const struct gsh_method_call *call, int64_t *flat, struct gsh_view *view,
                           int *axis, enum gsh_reason *why)
{
    static const char *const kinds[] = {"introselect"};
    PyObject *slots[PARTITION_PARAMETERS];
    *why = GSH_REASON_KEYWORDS;
    if (!bind_kth(call, slots) || !is_name_of(slots[KTH_KIND], kinds, GSH_COUNT(kinds)) ||
        !gsh_numpy_arguments_is_absent(slots[KTH_ORDER]) ||
        !find_operand(call->self, slots[KTH_AXIS], flat, view, axis, why))
        return false;
    *why = GSH_REASON_OPERAND;
    return check_kth(slots[KTH], view->shape[*axis]);
}

static PyObject *try_partition(const struct gsh_method_call *call, enum gsh_reason *why,
                               unsigned *row)
{
    struct gsh_view view;
    int axis;
    if (!bind_partition(call, NULL, &view, &axis, why))
        return NULL;
    return gsh_numpy_sort_in_place("partition", call->self, axis, why, row) ? gsh_py_none() : NULL;
}

static PyObject *try_argpartition(const struct gsh_method_call *call, enum gsh_reason *why,
                                  unsigned *row)
{
    struct gsh_view view;
    int axis;
    int64_t flat;
    if (!bind_partition(call, &flat, &view, &axis, why))
        return NULL;
    return gsh_numpy_sort_order("argpartition", &view, axis, why, row);
}

/* ---- what verifications compare with ---- */

/* The original sort or argsort, by a stable sort. */
static PyObject *call_stably(const struct gsh_method_hook *hook, PyObject *self, PyObject *axis)
{
    PyObject *arguments = gsh_py.Py_BuildValue("(Os)", axis, "stable"), *result = NULL;
    if (!arguments)
        return NULL;
    PyObject *values[] = {gsh_py.PyTuple_GetItem(arguments, 0),
                          gsh_py.PyTuple_GetItem(arguments, 1)};
    const struct gsh_method_call call = {self, values, GSH_COUNT(values), NULL, NULL};
    result = gsh_numpy_method_patch_call_original(hook, &call, self);
    gsh_py.Py_DecRef(arguments);
    return result;
}

/* The same where the axis may not be given. */
static PyObject *call_along(const struct gsh_method_hook *hook, PyObject *self, PyObject *axis)
{
    PyObject *last = axis ? NULL : gsh_py.PyLong_FromLongLong(-1);
    if (!axis && !last)
        return NULL;
    PyObject *result = call_stably(hook, self, axis ? axis : last);
    if (last)
        gsh_py.Py_DecRef(last);
    return result;
}

static PyObject *by_sort(const struct gsh_method_hook *hook, const struct gsh_method_call *call)
{
    PyObject *slots[SORT_PARAMETERS];
    return bind_sort(call, slots) ? call_along(hook, call->self, slots[AXIS]) : NULL;
}

static PyObject *by_partition(const struct gsh_method_hook *hook,
                              const struct gsh_method_call *call)
{
    PyObject *slots[PARTITION_PARAMETERS];
    return bind_kth(call, slots) ? call_along(hook, call->self, slots[KTH_AXIS]) : NULL;
}

static PyObject *sort_stably(const struct gsh_method_call *call)
{
    return by_sort(&sort_hook, call);
}

static PyObject *argsort_stably(const struct gsh_method_call *call)
{
    return by_sort(&argsort_hook, call);
}

static PyObject *partition_stably(const struct gsh_method_call *call)
{
    return by_partition(&sort_hook, call);
}

static PyObject *argpartition_stably(const struct gsh_method_call *call)
{
    return by_partition(&argsort_hook, call);
}

void gsh_numpy_sort_install(void)
{
    gsh_numpy_method_patch_install(&sort_hook);
    gsh_numpy_method_patch_install(&argsort_hook);
    gsh_numpy_method_patch_install(&partition_hook);
    gsh_numpy_method_patch_install(&argpartition_hook);
}
