/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The host reads the singular values. The residuals are summed on the device where their rows are many, else
 * by the host in NumPy's order. The solution stays on the device.
 */
#include "numpy_lstsq.h"

#include "decide.h"
#include "host_routines.h"
#include "mangling.h"
#include "numpy_composed.h"
#include "python_error.h"

#include <math.h>

const struct gsh_lapack_operand
    gsh_numpy_lstsq_operands[GSH_NUMPY_LSTSQ_INPUTS + GSH_NUMPY_LSTSQ_OUTPUTS] = {
        {.dtype = 'T'}, {.dtype = 'T'}, {.dtype = 'R'}, {.dtype = 'T'},
        {.dtype = 'R'}, {.dtype = 'I'}, {.dtype = 'R'}};

void gsh_numpy_lstsq_register(void)
{
    static struct {
        enum gsh_dtype loop;
        const char *name;
        void *found;
        int bits;
    } functions[] = {{GSH_FLOAT32, "sgelsd_", NULL, 0},
                     {GSH_FLOAT64, "dgelsd_", NULL, 0},
                     {GSH_COMPLEX64, "cgelsd_", NULL, 0},
                     {GSH_COMPLEX128, "zgelsd_", NULL, 0}};
    for (size_t i = 0; i < GSH_COUNT(functions); i++) {
        if (!functions[i].found)
            functions[i].found =
                gsh_mangling_find_blas(functions[i].name, gsh_np.library, &functions[i].bits);
        if (functions[i].found)
            gsh_host_routines_register(
                gsh_host_routines_lapack(GSH_LAPACK_LSTSQ), functions[i].loop,
                (gsh_host_routines_function *)functions[i].found, functions[i].bits);
    }
}

enum gsh_reason gsh_numpy_lstsq_tolerance(PyObject *rcond, enum gsh_dtype loop, double *tolerance)
{
    struct gsh_argument argument;
    union gsh_scalar value;
    enum gsh_reason reason = gsh_numpy_describe_argument(rcond, &argument);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (argument.is_array)
        return GSH_REASON_OPERAND;
    if (!gsh_numpy_describe_cast(&argument.value, gsh_dtype_real(loop), &value))
        return GSH_REASON_DTYPE;
    *tolerance = gsh_dtype_is_single(loop) ? (double)value.f32 : value.f64;
    return GSH_REASON_NONE;
}

/* Makes the array readable on the host and returns its elements. */
static const void *read_array(PyObject *array)
{
    gsh_numpy_describe_fetch(array, false);
    return gsh_numpy_array(array)->data;
}

/* ---- rank and residuals ---- */

/* The sum of squares of rows [from, to) in each column of B. An element consists of `parts`
 * numbers. */
#define DEFINE_SQUARES(name, real)                                                                 \
    static void name##_squares(const void *b, int64_t from, int64_t to, int64_t columns,           \
                               int parts, void *sums)                                              \
    {                                                                                              \
        for (int64_t j = 0; j < columns; j++) {                                                    \
            real sum = 0;                                                                          \
            for (int64_t i = from; i < to; i++) {                                                  \
                const real *x = (const real *)b + (i * columns + j) * parts;                       \
                sum += parts == 2 ? x[0] * x[0] + x[1] * x[1] : x[0] * x[0];                       \
            }                                                                                      \
            ((real *)sums)[j] = sum;                                                               \
        }                                                                                          \
    }
DEFINE_SQUARES(single, float)
DEFINE_SQUARES(twofold, double)

static int count_rank(const struct gsh_launch *launch, PyObject *values)
{
    return (int)gsh_lapack_rank(read_array(values), launch->lapack.cores[3].extent[0],
                                launch->lapack.tolerance, launch->loop);
}

/* A new array that the host will use, or NULL. */
static PyObject *make_array(enum gsh_dtype dtype, int ndim, const int64_t *shape)
{
    gsh_py.Py_IncRef(gsh_np.descrs[dtype]); /* stolen below */
    return gsh_np.NewFromDescr(gsh_np.ndarray_type, gsh_np.descrs[dtype], ndim, shape, NULL, NULL,
                               0, NULL);
}

/* The sums of squares of the columns of B from row n on. NULL: not computed on the device. */
static PyObject *make_squares(PyObject *solved, int64_t n)
{
    enum gsh_reason why;
    PyObject *first = gsh_py.PyLong_FromLongLong(n);
    const struct gsh_method_call call = {solved, &first, 1, NULL, NULL};
    PyObject *sums = first ? gsh_numpy_composed_call("squares", &call, true, &why) : NULL;
    gsh_py_drop(&first, 1);
    if (!first)
        gsh_python_error_clear();
    return sums;
}

/* The residuals of the columns of B, from the rows beyond the solution's. NaN if they are not
 * defined. */
static PyObject *make_residuals(const struct gsh_launch *launch, PyObject *solved, int rank)
{
    int64_t m = launch->lapack.cores[0].extent[0], n = launch->lapack.cores[0].extent[1];
    int64_t columns = launch->lapack.cores[1].extent[1];
    bool is_known = m >= n && rank == n, is_narrow = gsh_dtype_is_single(launch->loop);
    bool are_many = (m - n) * columns >= GSH_DECIDE_LEAST_ELEMENTS;
    PyObject *made = is_known && are_many ? make_squares(solved, n) : NULL;
    if (made)
        return made;
    made = make_array(gsh_dtype_real(launch->loop), 1, &columns);
    if (!made)
        return NULL;
    void *sums = gsh_numpy_array(made)->data;
    const void *b = is_known && m > n ? read_array(solved) : NULL;
    (is_narrow ? single_squares : twofold_squares)(
        b, n, is_known ? m : n, columns, gsh_dtype_kind(launch->loop) == 'c' ? 2 : 1, sums);
    for (int64_t j = 0; j < columns && !is_known; j++) {
        if (is_narrow)
            ((float *)sums)[j] = NAN;
        else
            ((double *)sums)[j] = (double)NAN;
    }
    return made;
}

static PyObject *make_rank(int rank)
{
    return gsh_np.Scalar(&rank, gsh_np.descrs[GSH_INT32], NULL);
}

/* ---- the solution ---- */

/* The first n rows of the solved B, as a separate array. */
static PyObject *cut_solution(const struct gsh_call *solved, PyObject *whole, enum gsh_reason *why)
{
    const struct gsh_core *cores = solved->launch.lapack.cores;
    struct gsh_layout layout = {.ndim = 2, .shape = {cores[0].extent[1], cores[2].extent[1]}};
    if (cores[2].extent[0] == layout.shape[0]) {
        gsh_py.Py_IncRef(whole);
        return whole;
    }
    enum gsh_dtype loop = solved->launch.loop;
    gsh_numpy_output_c_order(&layout, gsh_dtype_size(loop));
    struct gsh_call call = {.row = gsh_numpy_output_row("copy", &loop, 1, loop)};
    const struct gsh_view rows = {.dtype = loop,
                                  .ndim = 2,
                                  .data = gsh_numpy_array(whole)->data,
                                  .shape = layout.shape,
                                  .strides = cores[2].stride};
    gsh_numpy_describe_copy(&call.launch, &rows, loop, layout.strides);
    return gsh_numpy_output_run(&call, NULL, &layout, why);
}

PyObject *gsh_numpy_lstsq_finish(const struct gsh_call *call, PyObject *const *outs,
                                 enum gsh_reason *why)
{
    PyObject *parts[GSH_NUMPY_LSTSQ_OUTPUTS] = {NULL}, *tuple = NULL;
    int rank = count_rank(&call->launch, outs[1]);
    parts[0] = cut_solution(call, outs[0], why);
    if (parts[0])
        *why = GSH_REASON_MEMORY;
    parts[1] = make_residuals(&call->launch, outs[0], rank);
    parts[2] = make_rank(rank);
    parts[3] = outs[1];
    if (parts[0] && parts[1] && parts[2])
        tuple = gsh_py_tuple(parts, GSH_NUMPY_LSTSQ_OUTPUTS);
    gsh_py.Py_DecRef(outs[0]);
    if (!tuple) {
        gsh_python_error_clear();
        gsh_py_drop(parts, GSH_NUMPY_LSTSQ_OUTPUTS);
    }
    return tuple;
}
