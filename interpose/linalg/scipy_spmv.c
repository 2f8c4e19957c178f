/* SPDX-License-Identifier: Apache-2.0
 *
 * csr_matvec(rows, columns, starts, indices, numbers, x, y) of scipy.sparse._sparsetools (SciPy 1.17 and 1.18), which CSR matrices
 * call for a product with a vector: y += A x, and None. The function reports no floating-point errors, and checks no sizes. Calls of
 * another form are left to the module, and so is a dtype for which a build of SciPy gives other bits than our loops.
 */
#include "scipy_spmv.h"

#include "host_ops.h"
#include "numpy_arguments.h"
#include "numpy_output.h"
#include "python_error.h"
#include "scipy_module.h"
#include "scipy_probe.h"

#include <math.h>
#include <string.h>

enum { ROWS, WIDTH, FIRST_ARRAY, ARRAYS = GSH_SPMV_INPUTS, ARGUMENTS = FIRST_ARRAY + ARRAYS };

static PyObject *try_csr_matvec(const struct gsh_method_call *call, enum gsh_reason *why,
                                unsigned *row);

GSH_METHOD_HOOK(csr_matvec_hook, .table = GSH_METHOD_SCIPY_SPARSE, .name = "csr_matvec",
                .handler = try_csr_matvec, .writes = GSH_METHOD_WRITES_ARG(ARGUMENTS - 1));

/* Whether the arrays are what SciPy hands over for a matrix of this shape. */
static bool fits(const struct gsh_view *views, int64_t rows, int64_t width)
{
    const int64_t count = views[GSH_SPMV_NUMBERS].shape[0];
    const int64_t lengths[ARRAYS] = {rows + 1, count, count, width, rows};
    bool fits = rows > 0 && width > 0 && count > 0;
    for (unsigned k = 0; k < ARRAYS; k++)
        fits = fits && views[k].shape[0] == lengths[k];
    return fits;
}

static enum gsh_reason describe(PyObject *const *args, struct gsh_view *views)
{
    int64_t rows, width;
    for (unsigned k = 0; k < ARRAYS; k++) {
        enum gsh_reason why = gsh_numpy_describe_array(args[FIRST_ARRAY + k], &views[k]);
        if (why != GSH_REASON_NONE)
            return why;
        if (views[k].ndim != 1)
            return GSH_REASON_SHAPE;
        if (!(views[k].flags & GSH_NPY_C_CONTIGUOUS))
            return GSH_REASON_LAYOUT;
    }
    if (!gsh_numpy_arguments_int(args[ROWS], &rows) ||
        !gsh_numpy_arguments_int(args[WIDTH], &width) || !fits(views, rows, width))
        return GSH_REASON_SHAPE;
    return views[GSH_SPMV_INITIAL].flags & GSH_NPY_WRITEABLE ? GSH_REASON_NONE
                                                             : GSH_REASON_READ_ONLY;
}

/* Whether y shares memory with another array. */
static bool meets(PyObject *const *arrays)
{
    bool meets = false;
    for (unsigned k = 0; k < GSH_SPMV_INITIAL; k++)
        meets |= gsh_numpy_describe_meet(arrays[k], arrays[GSH_SPMV_INITIAL]);
    return meets;
}

/* A product whose output is y. */
static struct gsh_launch launch_of(const struct gsh_view *views)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_SPMV,
                                .loop = views[GSH_SPMV_INITIAL].dtype,
                                .nin = GSH_SPMV_INPUTS,
                                .nout = 1,
                                .ndim = 1,
                                .shape = {views[GSH_SPMV_INITIAL].shape[0]}};
    for (unsigned k = 0; k <= GSH_SPMV_INPUTS; k++) {
        const struct gsh_view *view = &views[GSH_MIN(k, GSH_SPMV_INITIAL)];
        int64_t size = (int64_t)gsh_dtype_size(view->dtype);
        launch.operands[k] =
            (struct gsh_operand){.dtype = view->dtype, .address = (uintptr_t)view->data};
        launch.strides[k][0] = k == GSH_SPMV_STARTS || k >= GSH_SPMV_INITIAL ? size : 0;
        if (k < GSH_SPMV_INITIAL)
            launch.spmv.lines[k] =
                (struct gsh_indexed){size, k == GSH_SPMV_STARTS ? 2 : view->shape[0]};
    }
    return launch;
}

/* ---- what SciPy computes ---- */

enum { PROBE_ROWS = 3, PROBE_WIDTH = 7, PROBE_COUNT = 17 };

static PyObject *make_integers(const int64_t *values, int64_t count, enum gsh_dtype dtype)
{
    struct gsh_layout layout = {.ndim = 1, .shape = {count}};
    gsh_numpy_output_c_order(&layout, gsh_dtype_size(dtype));
    PyObject *array = gsh_numpy_output_allocate(dtype, &layout);
    for (int64_t i = 0; array && i < count; i++) {
        char *data = gsh_numpy_array(array)->data;
        if (dtype == GSH_INT32)
            ((int32_t *)(void *)data)[i] = (int32_t)values[i];
        else
            ((int64_t *)(void *)data)[i] = values[i];
    }
    return array;
}

/* The arguments of a small product, the same ones at each call; the last row ends with an infinity and what it makes. */
static bool make_arguments(enum gsh_dtype dtype, enum gsh_dtype index, PyObject **args)
{
    static const int64_t starts[PROBE_ROWS + 1] = {0, 1, 9, PROBE_COUNT},
                                             lengths[] = {PROBE_COUNT, PROBE_WIDTH, PROBE_ROWS};
    int64_t columns[PROBE_COUNT], parts = gsh_dtype_kind(dtype) == 'c' ? 2 : 1;
    bool is_made = true;
    for (int64_t j = 0; j < PROBE_COUNT; j++)
        columns[j] = j * 5 % PROBE_WIDTH;
    args[ROWS] = gsh_py.PyLong_FromLongLong(PROBE_ROWS);
    args[WIDTH] = gsh_py.PyLong_FromLongLong(PROBE_WIDTH);
    args[FIRST_ARRAY + GSH_SPMV_STARTS] = make_integers(starts, GSH_COUNT(starts), index);
    args[FIRST_ARRAY + GSH_SPMV_COLUMNS] = make_integers(columns, PROBE_COUNT, index);
    for (unsigned k = GSH_SPMV_NUMBERS; k < ARRAYS; k++) {
        const struct gsh_layout layout = {.ndim = 1, .shape = {lengths[k - GSH_SPMV_NUMBERS]}};
        args[FIRST_ARRAY + k] = gsh_scipy_probe_make(&layout, dtype, k);
    }
    for (unsigned k = 0; k < ARGUMENTS; k++)
        is_made &= args[k] != NULL;
    if (is_made)
        gsh_scipy_probe_store(args[FIRST_ARRAY + GSH_SPMV_NUMBERS], dtype,
                              parts * (PROBE_COUNT - 2), INFINITY);
    return is_made;
}

/* Whether our loops on the CPU do to `got` what the module does to `want`. */
static bool has_same_results(const struct gsh_method_call *call, PyObject **got, PyObject **want,
                             enum gsh_dtype dtype)
{
    struct gsh_view views[ARRAYS];
    const struct gsh_method_call small = {.self = call->self, .args = want, .nargs = ARGUMENTS};
    PyObject *result = gsh_numpy_method_patch_call_original(&csr_matvec_hook, &small, call->self);
    bool is_run = result != NULL && describe(got, views) == GSH_REASON_NONE;
    gsh_py_drop(&result, 1);
    if (!is_run)
        return false;
    const struct gsh_launch launch = launch_of(views);
    return gsh_host_ops_run(&launch) == GSH_OK &&
           gsh_scipy_probe_is_same(got[ARGUMENTS - 1], want[ARGUMENTS - 1], dtype);
}

static bool compare(const struct gsh_method_call *call, enum gsh_dtype dtype, enum gsh_dtype index)
{
    PyObject *got[ARGUMENTS], *want[ARGUMENTS];
    bool is_made = make_arguments(dtype, index, got);
    is_made = make_arguments(dtype, index, want) && is_made;
    bool agrees = is_made && has_same_results(call, got, want, dtype);
    gsh_python_error_clear();
    gsh_py_drop(got, ARGUMENTS);
    gsh_py_drop(want, ARGUMENTS);
    return agrees;
}

/* Whether the module gives our loops' bits for the launch's dtypes. Integers have no others. The answer is kept. */
static bool agrees(const struct gsh_method_call *call, const struct gsh_launch *launch)
{
    static enum { NOT_COMPARED, AGREES, DIFFERS } verdicts[GSH_DTYPE_COUNT][GSH_DTYPE_COUNT];
    const enum gsh_dtype dtype = launch->loop, index = launch->operands[GSH_SPMV_STARTS].dtype;
    if ((1u << dtype & (unsigned)GSH_SET_INTEGERS) != 0)
        return true;
    if (verdicts[dtype][index] == NOT_COMPARED)
        verdicts[dtype][index] = compare(call, dtype, index) ? AGREES : DIFFERS;
    return verdicts[dtype][index] == AGREES;
}

/* ---- the call ---- */

/* A y outside of the arena is written after a result that is made there. */
static bool run(struct gsh_call *call, PyObject *y, enum gsh_reason *why)
{
    struct gsh_view view;
    struct gsh_layout layout = {.ndim = 1, .shape = {call->launch.shape[0]}};
    bool is_managed = gsh_numpy_describe_output(y, &view) == GSH_REASON_NONE;
    PyObject *result = is_managed ? y : NULL, *copied = NULL;
    gsh_numpy_output_c_order(&layout, gsh_dtype_size(call->launch.loop));
    if (!is_managed)
        call->launch.operands[call->launch.nin].address = 0;
    if (!gsh_numpy_output_run_all(call, &result, &layout, why))
        return false;
    if (!is_managed)
        copied = gsh_py.PyObject_CallMethod(y, "__setitem__", "()O", result);
    PyObject *const used[] = {result, copied};
    gsh_py_drop(used, GSH_COUNT(used));
    *why = GSH_REASON_NONE;
    return is_managed || copied != NULL;
}

static bool is_worth(PyObject *const *arrays)
{
    return gsh_numpy_method_patch_is_worth(arrays[GSH_SPMV_NUMBERS]) ||
           gsh_numpy_method_patch_is_worth(arrays[GSH_SPMV_VECTOR]);
}

static PyObject *try_csr_matvec(const struct gsh_method_call *call, enum gsh_reason *why,
                                unsigned *row)
{
    struct gsh_view views[ARRAYS];
    struct gsh_call product = {.row = 0};
    if (call->nargs != ARGUMENTS || call->kwnames || call->kwdict ||
        !is_worth(call->args + FIRST_ARRAY))
        return NULL;
    *why = describe(call->args, views);
    if (*why != GSH_REASON_NONE)
        return NULL;
    *why = GSH_REASON_OVERLAP;
    if (meets(call->args + FIRST_ARRAY))
        return NULL;
    product.launch = launch_of(views);
    *why = GSH_REASON_DTYPE;
    if (!gsh_launch_is_spmv(&product.launch))
        return NULL;
    *why = GSH_REASON_UNSUPPORTED;
    if (!agrees(call, &product.launch))
        return NULL;
    const enum gsh_dtype dtypes[] = {views[0].dtype, views[1].dtype, views[2].dtype, views[3].dtype,
                                     views[4].dtype};
    *row = product.row =
        gsh_numpy_output_row("scipy.sparse.csr_matvec", dtypes, ARRAYS, product.launch.loop);
    return run(&product, call->args[ARGUMENTS - 1], why) ? gsh_py_none() : NULL;
}

void gsh_scipy_spmv_adopt_module(const char *path)
{
    static struct gsh_method_hook *const hooks[] = {&csr_matvec_hook};
    static struct gsh_scipy_module module = {hooks, GSH_COUNT(hooks), 0};
    if (strstr(path, "/scipy/sparse/_sparsetools.") != NULL)
        gsh_scipy_module_adopt(&module);
}
