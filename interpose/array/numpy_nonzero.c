/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Also contains the methods nonzero and compress. The index of each dimension is a
 * COMPRESS of 0, 1, 2, ... broadcast over the other dimensions.
 */
#include "numpy_nonzero.h"

#include "numpy_arguments.h"
#include "numpy_mask.h"
#include "numpy_method_patch.h"
#include "numpy_probe.h"
#include "numpy_take.h"
#include "python_error.h"

#include <string.h>

static PyObject *try_nonzero(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row);
static PyObject *try_compress(const struct gsh_method_call *call, enum gsh_reason *why,
                              unsigned *row);

GSH_METHOD_HOOK(nonzero_hook, .table = GSH_METHOD_NDARRAY, .name = "nonzero",
                .handler = try_nonzero, .subject = GSH_METHOD_ASK_BY_SELF,
                .self_test = "a.nonzero()");
GSH_METHOD_HOOK(compress_hook, .table = GSH_METHOD_NDARRAY, .name = "compress",
                .handler = try_compress, .subject = GSH_METHOD_ASK_BY_SELF,
                .self_test = "a.compress([True, False])");

/* The array as truth values: the array itself if it is bool, else a fresh array. A new reference.
 */
static PyObject *make_mask(PyObject *array, const struct gsh_view *view, enum gsh_reason *why)
{
    struct gsh_call call = {.row = 0};
    struct gsh_layout layout = {.ndim = view->ndim};
    if (view->dtype == GSH_BOOL) {
        gsh_py.Py_IncRef(array);
        return array;
    }
    memcpy(layout.shape, view->shape, (size_t)view->ndim * sizeof(*view->shape));
    gsh_numpy_output_c_order(&layout, gsh_dtype_size(GSH_BOOL));
    gsh_numpy_describe_copy(&call.launch, view, GSH_BOOL, layout.strides);
    call.row = gsh_numpy_output_row("nonzero", &view->dtype, 1, GSH_BOOL);
    return gsh_numpy_output_run(&call, NULL, &layout, why);
}

/* 0, 1, 2, ... */
static PyObject *make_range(int64_t count, enum gsh_reason *why)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                       .op = GSH_OP_ARANGE,
                                       .loop = GSH_INT64,
                                       .nin = 2,
                                       .nout = 1,
                                       .ndim = 1,
                                       .shape = {count}}};
    struct gsh_layout layout = {.ndim = 1, .shape = {count}, .strides = {sizeof(int64_t)}};
    gsh_numpy_describe_place_constant(&call.launch, 0, GSH_INT64, (union gsh_scalar){.i64 = 0});
    gsh_numpy_describe_place_constant(&call.launch, 1, GSH_INT64, (union gsh_scalar){.i64 = 1});
    call.launch.operands[2].dtype = GSH_INT64;
    call.launch.strides[2][0] = sizeof(int64_t);
    call.row = gsh_numpy_output_row("nonzero", NULL, 0, GSH_INT64);
    return gsh_numpy_output_run(&call, NULL, &layout, why);
}

/* Writes the index of dimension `dim` into column `dim` of the table, which has `count` rows. */
static bool fill_column(const struct gsh_view *mask, int dim, int64_t count, PyObject *table,
                        enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_COMPRESS,
                                       .op = GSH_OP_COPY,
                                       .loop = GSH_INT64,
                                       .nin = 1,
                                       .nout = 1,
                                       .has_mask = true,
                                       .ndim = mask->ndim,
                                       .indexed = {mask->ndim * (int64_t)sizeof(int64_t), count}}};
    PyObject *range = make_range(mask->shape[dim], why);
    if (!range)
        return false;
    struct gsh_operand *operands = call.launch.operands;
    operands[0] = (struct gsh_operand){.dtype = GSH_INT64,
                                       .address = (uintptr_t)gsh_numpy_array(range)->data};
    operands[1] = (struct gsh_operand){
        .dtype = GSH_INT64,
        .address = (uintptr_t)(gsh_numpy_array(table)->data + (size_t)dim * sizeof(int64_t))};
    operands[2] = (struct gsh_operand){.dtype = GSH_BOOL, .address = (uintptr_t)mask->data};
    memcpy(call.launch.shape, mask->shape, (size_t)mask->ndim * sizeof(*mask->shape));
    memcpy(call.launch.strides[2], mask->strides, (size_t)mask->ndim * sizeof(*mask->strides));
    call.launch.strides[0][dim] = sizeof(int64_t);
    *row = call.row = gsh_numpy_output_row("nonzero", &mask->dtype, 1, GSH_INT64);
    PyObject *result = gsh_numpy_output_run(&call, table, NULL, why);
    gsh_py.Py_DecRef(range);
    if (result)
        gsh_py.Py_DecRef(result);
    return result != NULL;
}

/* A table of one row, of which no column has an element. */
static PyObject *make_unused(struct gsh_layout *layout)
{
    layout->shape[0] = 1;
    gsh_numpy_output_c_order(layout, sizeof(int64_t));
    return gsh_numpy_output_allocate(GSH_INT64, layout);
}

/* The table of the indices of all true elements, of shape (count, ndim). */
static PyObject *make_table(PyObject *mask, int64_t *count, enum gsh_reason *why, unsigned *row)
{
    struct gsh_view view;
    struct gsh_layout layout = {.ndim = 2};
    *why = gsh_numpy_describe_array(mask, &view);
    if (*why != GSH_REASON_NONE || !gsh_numpy_probe_count(mask, count, why))
        return NULL;
    layout.shape[0] = *count;
    layout.shape[1] = view.ndim;
    if (layout.shape[0] == 0)
        return make_unused(&layout);
    gsh_numpy_output_c_order(&layout, sizeof(int64_t));
    PyObject *table = gsh_numpy_output_create(GSH_INT64, &layout);
    if (!table)
        *why = GSH_REASON_UNMANAGED_OUTPUT;
    for (int dim = 0; table && dim < view.ndim; dim++) {
        if (fill_column(&view, dim, layout.shape[0], table, why, row))
            continue;
        gsh_py.Py_DecRef(table);
        table = NULL;
    }
    return table;
}

/* The first `count` elements of column i of the table, as a view. */
static PyObject *make_column(PyObject *table, int64_t count, int i)
{
    PyObject *none = gsh_py._Py_NoneStruct, *stop = gsh_py.PyLong_FromLongLong(count);
    PyObject *slice = stop ? gsh_py.PySlice_New(none, stop, none) : NULL;
    gsh_py_drop(&stop, 1);
    return slice ? gsh_py.PyObject_CallMethod(table, "__getitem__", "((Ni))", slice, i) : NULL;
}

static PyObject *make_columns(PyObject *table, int64_t count)
{
    int ndim = (int)gsh_numpy_array(table)->dimensions[1];
    PyObject *columns = gsh_py.PyTuple_New(ndim);
    for (int i = 0; columns && i < ndim; i++) {
        PyObject *column = make_column(table, count, i);
        if (column) {
            gsh_py.PyTuple_SetItem(columns, i, column); /* steals */
            continue;
        }
        gsh_py.Py_DecRef(columns);
        columns = NULL;
    }
    if (!columns)
        gsh_python_error_clear();
    return columns;
}

PyObject *gsh_numpy_nonzero_find(PyObject *array, enum gsh_reason *why, unsigned *row)
{
    struct gsh_view view;
    *why = gsh_numpy_describe_array(array, &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    *why = GSH_REASON_SHAPE;
    if (view.ndim == 0 || gsh_numpy_describe_size(gsh_numpy_array(array)) == 0)
        return NULL;
    PyObject *mask = make_mask(array, &view, why);
    int64_t count = 0;
    PyObject *table = mask ? make_table(mask, &count, why, row) : NULL;
    PyObject *columns = table ? make_columns(table, count) : NULL;
    if (mask)
        gsh_py.Py_DecRef(mask);
    if (table)
        gsh_py.Py_DecRef(table);
    return columns;
}

PyObject *gsh_numpy_nonzero_positions(PyObject *mask, enum gsh_reason *why)
{
    unsigned row;
    PyObject *columns = gsh_numpy_nonzero_find(mask, why, &row);
    if (!columns)
        return NULL;
    PyObject *positions = gsh_py.PyTuple_GetItem(columns, 0);
    gsh_py.Py_IncRef(positions);
    gsh_py.Py_DecRef(columns);
    return positions;
}

static PyObject *try_nonzero(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row)
{
    if (call->nargs != 0 || call->kwdict || call->kwnames)
        return NULL;
    return gsh_numpy_nonzero_find(call->self, why, row);
}

static bool is_mask(PyObject *object, int64_t size)
{
    if (!gsh_numpy_is_array(object))
        return false;
    const struct gsh_ndarray *array = gsh_numpy_array(object);
    return array->nd == 1 && array->dimensions[0] == size &&
           gsh_numpy_dtype(array->descr) == GSH_BOOL;
}

/* compress computed as take(nonzero(condition)[0]). */
static PyObject *try_compress(const struct gsh_method_call *call, enum gsh_reason *why,
                              unsigned *row)
{
    enum { CONDITION, AXIS, OUT, PARAMETERS };
    static const char *const names[] = {"condition", "axis", "out"};
    PyObject *slots[PARAMETERS];
    struct gsh_view view;
    int axis;
    int64_t flat;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, PARAMETERS, PARAMETERS, slots) ||
        !slots[CONDITION] || !gsh_numpy_arguments_is_absent(slots[OUT]))
        return NULL;
    *why = gsh_numpy_describe_array(call->self, &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    *why = GSH_REASON_SHAPE;
    if (view.ndim == 0 || !gsh_numpy_take_resolve_axis(slots[AXIS], &view, &axis, &flat) ||
        !is_mask(slots[CONDITION], view.shape[axis]))
        return NULL;
    if (gsh_numpy_array(call->self)->nd == 1)
        return gsh_numpy_mask_extract(call->self, slots[CONDITION], why, row);
    PyObject *index = gsh_numpy_nonzero_positions(slots[CONDITION], why);
    if (!index)
        return NULL;
    bool is_empty = gsh_numpy_array(index)->dimensions[0] == 0; /* NumPy reads no element */
    PyObject *result =
        is_empty ? NULL
                 : gsh_numpy_take_gather(&view, axis, index, true, GSH_TAKE_C_ORDER, why, row);
    gsh_py.Py_DecRef(index);
    return result;
}

void gsh_numpy_nonzero_install(void)
{
    gsh_numpy_method_patch_install(&nonzero_hook);
    gsh_numpy_method_patch_install(&compress_hook);
}
