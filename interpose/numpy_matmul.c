/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products of float32 or float64 arrays of one or two dimensions: the matmul ufunc, the
 * function dot and the method dot. Each operand needs a unit stride in one dimension, so that any
 * transposition goes without a copy; vectors may have any positive stride. Everything else is
 * NumPy's.
 */
#include "numpy_matmul.h"

#include "dispatch.h"
#include "numpy_arguments.h"
#include "numpy_errstate.h"
#include "numpy_method_patch.h"
#include "numpy_scalar.h"

#include <string.h>

static PyObject *try_dot_function(const struct gsh_method_call *call, enum gsh_reason *why,
                                  unsigned *row);
static PyObject *try_dot_method(const struct gsh_method_call *call, enum gsh_reason *why,
                                unsigned *row);

GSH_METHOD_HOOK(dot_function_hook, .table = GSH_METHOD_MODULE, .name = "dot",
                .handler = try_dot_function, .self_test = "m.dot(a, b)");
GSH_METHOD_HOOK(dot_method_hook, .table = GSH_METHOD_NDARRAY, .name = "dot",
                .handler = try_dot_method, .self_test = "a.dot(b)");
GSH_METHOD_HOOK(inner_hook, .table = GSH_METHOD_MODULE, .name = "inner", .uses_blas = true,
                .self_test = "m.inner(a, b)");

/* Strides in elements. */
struct matrix {
    int64_t rows, columns;
    int64_t row_stride, column_stride;
};

/* Gives extents of 1 a stride that leaves no doubt about the order, and tells whether BLAS can take
 * the rest. */
static bool settle_strides(struct matrix *matrix)
{
    int64_t *row = &matrix->row_stride, *column = &matrix->column_stride;
    if (matrix->rows == 1 && matrix->columns == 1)
        *row = *column = 1;
    else if (matrix->columns == 1)
        *column = *row == 1 ? matrix->rows : 1;
    else if (matrix->rows == 1)
        *row = *column == 1 ? matrix->columns : 1;
    return (*column == 1 && *row >= matrix->columns) || (*row == 1 && *column >= matrix->rows);
}

/* A view of one or two dimensions as a matrix; a vector is a row or a column. */
static bool make_matrix(const struct gsh_view *view, bool vector_is_row, struct matrix *matrix)
{
    int64_t size = (int64_t)gsh_dtype_size(view->dtype);
    if (view->ndim == 2)
        *matrix = (struct matrix){view->shape[0], view->shape[1], view->strides[0] / size,
                                  view->strides[1] / size};
    else if (vector_is_row)
        *matrix = (struct matrix){1, view->shape[0], 1, view->strides[0] / size};
    else
        *matrix = (struct matrix){view->shape[0], 1, view->strides[0] / size, 1};
    return matrix->rows > 0 && matrix->columns > 0 && settle_strides(matrix);
}

/* The result as a matrix over its layout: dimensions that vector operands lack are 1. */
static bool make_result(const struct gsh_layout *layout, int64_t m, int64_t n, bool has_rows,
                        bool has_columns, int64_t size, struct matrix *matrix)
{
    *matrix = (struct matrix){m, n, 1, 1};
    if (has_rows)
        matrix->row_stride = layout->strides[0] / size;
    if (has_columns)
        matrix->column_stride = layout->strides[has_rows] / size;
    return settle_strides(matrix);
}

static bool views_overlap(PyObject *a, PyObject *b)
{
    char *low_a, *high_a, *low_b, *high_b;
    gsh_numpy_describe_extent(gsh_numpy_array(a), &low_a, &high_a);
    gsh_numpy_describe_extent(gsh_numpy_array(b), &low_b, &high_b);
    return low_a < high_b && low_b < high_a;
}

/* Fills the layout from `out` and places it. */
static enum gsh_reason place_out(struct gsh_call *call, PyObject *const *inputs, PyObject *out,
                                 struct gsh_layout *layout)
{
    struct gsh_view view;
    enum gsh_reason reason = gsh_numpy_describe_output(out, &view);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (view.dtype != call->launch.loop)
        return GSH_REASON_DTYPE;
    if (view.ndim != layout->ndim ||
        memcmp(view.shape, layout->shape, (size_t)view.ndim * sizeof(view.shape[0])))
        return GSH_REASON_SHAPE;
    if (views_overlap(out, inputs[0]) || views_overlap(out, inputs[1]))
        return GSH_REASON_OVERLAP;
    memcpy(layout->strides, view.strides, (size_t)view.ndim * sizeof(view.strides[0]));
    call->launch.operands[2].address = (uintptr_t)view.data;
    return GSH_REASON_NONE;
}

/* NONE where both are arrays that a product can be described for. */
static enum gsh_reason describe_inputs(PyObject *const *inputs, struct gsh_view *views)
{
    for (int k = 0; k < 2; k++) {
        enum gsh_reason reason = gsh_numpy_describe_array(inputs[k], &views[k]);
        if (reason != GSH_REASON_NONE)
            return reason;
        if (views[k].ndim < 1 || views[k].ndim > 2)
            return GSH_REASON_SHAPE;
    }
    if (views[0].dtype != views[1].dtype ||
        (views[0].dtype != GSH_FLOAT32 && views[0].dtype != GSH_FLOAT64))
        return GSH_REASON_DTYPE;
    return GSH_REASON_NONE;
}

static void fill_launch(struct gsh_launch *launch, const struct gsh_view *views,
                        const struct matrix *a, const struct matrix *b)
{
    launch->kind = GSH_LAUNCH_GEMM;
    launch->loop = views[0].dtype;
    launch->nin = 2;
    launch->nout = 1;
    for (int k = 0; k < 2; k++)
        launch->operands[k] =
            (struct gsh_operand){.dtype = views[k].dtype, .address = (uintptr_t)views[k].data};
    launch->operands[2].dtype = views[0].dtype;
    launch->gemm = (struct gsh_gemm){
        .m = a->rows,
        .n = b->columns,
        .k = a->columns,
        .a_row = a->row_stride,
        .a_col = a->column_stride,
        .b_row = b->row_stride,
        .b_col = b->column_stride,
        .alpha = 1,
    };
}

/* inputs[0] @ inputs[1], into `out` unless NULL. */
static PyObject *try_product(const char *name, PyObject *const *inputs, PyObject *out,
                             enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {0};
    struct gsh_view views[2];
    struct gsh_layout layout = {0};
    struct matrix a, b, c;
    *why = describe_inputs(inputs, views);
    if (*why != GSH_REASON_NONE)
        return NULL;
    const enum gsh_dtype dtypes[] = {views[0].dtype, views[1].dtype};
    *row = call.row = gsh_numpy_output_row(name, dtypes, 2, views[0].dtype);
    *why = GSH_REASON_ERRSTATE;
    if (!gsh_numpy_errstate_is_quiet())
        return NULL;
    *why = GSH_REASON_LAYOUT;
    if (!make_matrix(&views[0], true, &a) || !make_matrix(&views[1], false, &b))
        return NULL;
    *why = GSH_REASON_SHAPE;
    if (a.columns != b.rows)
        return NULL;
    fill_launch(&call.launch, views, &a, &b);
    bool has_rows = views[0].ndim == 2, has_columns = views[1].ndim == 2;
    if (has_rows)
        layout.shape[layout.ndim++] = a.rows;
    if (has_columns)
        layout.shape[layout.ndim++] = b.columns;
    gsh_numpy_output_c_order(&layout, gsh_dtype_size(views[0].dtype));
    *why = out ? place_out(&call, inputs, out, &layout) : GSH_REASON_NONE;
    if (*why != GSH_REASON_NONE)
        return NULL;
    *why = GSH_REASON_LAYOUT;
    if (!make_result(&layout, a.rows, b.columns, has_rows, has_columns,
                     (int64_t)gsh_dtype_size(views[0].dtype), &c))
        return NULL;
    call.launch.gemm.c_row = c.row_stride;
    call.launch.gemm.c_col = c.column_stride;
    PyObject *result = gsh_numpy_output_run(&call, out, &layout, why);
    return result && !out && layout.ndim == 0 ? gsh_numpy_scalar_from_array(result) : result;
}

PyObject *gsh_numpy_matmul_try(const struct gsh_ufunc_call *call, enum gsh_reason *why,
                               unsigned *row)
{
    *why = GSH_REASON_KEYWORDS;
    return call->is_plain ? try_product("matmul", call->inputs, call->outs[0], why, row) : NULL;
}

static bool is_single(PyObject *object)
{
    return gsh_numpy_is_array(object) && gsh_numpy_describe_size(gsh_numpy_array(object)) == 1;
}

/* Whether a product may be worth anything to the device. False and a reason in *why for one that
 * NumPy might hand to BLAS, and that to the device, though the errstate asks for NumPy's own report
 * of errors. */
static bool is_worth(PyObject *a, PyObject *b, enum gsh_reason *why)
{
    if (gsh_numpy_method_patch_is_worth(a) || gsh_numpy_method_patch_is_worth(b))
        return true;
    int64_t work;
    bool is_small = gsh_numpy_is_array(a) && gsh_numpy_is_array(b) &&
                    !__builtin_mul_overflow(gsh_numpy_describe_size(gsh_numpy_array(a)),
                                            gsh_numpy_describe_size(gsh_numpy_array(b)), &work) &&
                    work < gsh_dispatch_min_elements;
    if (!is_small && !gsh_numpy_errstate_is_quiet())
        *why = GSH_REASON_ERRSTATE;
    return false;
}

/* dot(a, b, out=None) once its operands are known. */
static PyObject *try_dot(PyObject *const *inputs, PyObject *out, enum gsh_reason *why,
                         unsigned *row)
{
    if (gsh_numpy_arguments_is_absent(out))
        out = NULL;
    *why = GSH_REASON_LAYOUT;
    if (out && (!gsh_numpy_is_array(out) || !(gsh_numpy_array(out)->flags & GSH_NPY_C_CONTIGUOUS)))
        return NULL; /* dot refuses what is no C-contiguous array */
    *why = GSH_REASON_SHAPE;
    if (is_single(inputs[0]) || is_single(inputs[1]))
        return NULL; /* dot then multiplies: a zero keeps its sign */
    return try_product("dot", inputs, out, why, row);
}

static PyObject *try_dot_function(const struct gsh_method_call *call, enum gsh_reason *why,
                                  unsigned *row)
{
    static const char *const names[] = {"a", "b", "out"};
    PyObject *slots[3];
    if (call->nargs >= 2 && !is_worth(call->args[0], call->args[1], why))
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, 3, 3, slots) || !slots[0] || !slots[1])
        return NULL;
    return try_dot(slots, slots[2], why, row);
}

static PyObject *try_dot_method(const struct gsh_method_call *call, enum gsh_reason *why,
                                unsigned *row)
{
    static const char *const names[] = {"b", "out"};
    PyObject *slots[2];
    if (call->nargs >= 1 && !is_worth(call->self, call->args[0], why))
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, 2, 2, slots) || !slots[0])
        return NULL;
    PyObject *inputs[] = {call->self, slots[0]};
    return try_dot(inputs, slots[1], why, row);
}

void gsh_numpy_matmul_install(void)
{
    gsh_numpy_method_patch_install(&dot_function_hook);
    gsh_numpy_method_patch_install(&dot_method_hook);
    gsh_numpy_method_patch_install(&inner_hook);
}
