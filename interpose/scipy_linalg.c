/* SPDX-License-Identifier: Apache-2.0
 *
 * _solve(A, b, structure, lower, transposed, overwrite_a, overwrite_b) and _inv(A, structure, overwrite_a, lower), all by position: the array and a
 * list of what is to be warned of, of which a device gives an empty one: it declines ill-conditioned and singular matrices. Taken
 * are single matrices without a structure that the caller names, which are not to be overwritten; results are fresh arrays in C
 * order. The module's calls of LAPACK are weighed one by one in any other call.
 */
#include "scipy_linalg.h"

#include "numpy_arguments.h"
#include "python_error.h"
#include "scipy_module.h"
#include "stats.h"

#include <string.h>

static PyObject *try_solve(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_inv(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);

GSH_METHOD_HOOK(solve_hook, .table = GSH_METHOD_SCIPY_LINALG, .name = "_solve",
                .handler = try_solve);
GSH_METHOD_HOOK(inv_hook, .table = GSH_METHOD_SCIPY_LINALG, .name = "_inv", .handler = try_inv);

/* SciPy's numbers for structures (scipy/linalg/src/_common_array_utils.hh). */
enum { UNKNOWN = -1, GENERAL = 0 };

enum { MATRIX, RIGHT, MOST_ARRAYS };

/* A call, parsed. */
struct problem {
    const char *row;
    enum gsh_lapack_routine routine;
    unsigned arrays;
    PyObject *objects[MOST_ARRAYS];
    struct gsh_view views[MOST_ARRAYS];
    bool is_transposed;
    unsigned options;
};

/* Whether the structure is one that the device computes with. */
static bool parse_structure(struct problem *problem, PyObject *structure)
{
    int64_t number;
    if (!gsh_numpy_arguments_int(structure, &number))
        return false;
    problem->options = number == UNKNOWN ? GSH_LAPACK_DENSE : 0;
    return number == UNKNOWN || number == GENERAL;
}

static bool is_false(PyObject *flag)
{
    bool is_set;
    return gsh_numpy_arguments_flag(flag, false, &is_set) && !is_set;
}

static enum gsh_reason describe_arrays(struct problem *problem)
{
    for (unsigned k = 0; k < problem->arrays; k++) {
        enum gsh_reason reason = gsh_numpy_describe_array(problem->objects[k], &problem->views[k]);
        if (reason != GSH_REASON_NONE)
            return reason;
        if (problem->views[k].dtype != problem->views[MATRIX].dtype)
            return GSH_REASON_DTYPE;
        if (problem->views[k].ndim != 2)
            return GSH_REASON_SHAPE;
    }
    const struct gsh_view *a = &problem->views[MATRIX], *b = &problem->views[problem->arrays - 1];
    enum gsh_dtype dtype = a->dtype;
    if (dtype != GSH_FLOAT32 && dtype != GSH_FLOAT64 && dtype != GSH_COMPLEX64 &&
        dtype != GSH_COMPLEX128)
        return GSH_REASON_DTYPE;
    bool is_fit = a->shape[0] == a->shape[1] && b->shape[0] == a->shape[0] && a->shape[0] > 0 &&
                  b->shape[1] > 0;
    return is_fit ? GSH_REASON_NONE : GSH_REASON_SHAPE;
}

static void place(struct gsh_launch *launch, unsigned k, const int64_t *shape,
                  const int64_t *strides)
{
    launch->lapack.cores[k] =
        (struct gsh_core){.extent = {shape[0], shape[1], 1}, .stride = {strides[0], strides[1], 0}};
}

/* The launch, and the layout of its result. */
static void describe(const struct problem *problem, struct gsh_call *call,
                     struct gsh_layout *layout)
{
    const struct gsh_view *last = &problem->views[problem->arrays - 1];
    struct gsh_launch *launch = &call->launch;
    launch->kind = GSH_LAUNCH_LAPACK;
    launch->lapack.routine = problem->routine;
    launch->lapack.options = problem->options;
    launch->loop = last->dtype;
    launch->nin = problem->arrays;
    launch->nout = 1;
    for (unsigned k = 0; k < problem->arrays; k++) {
        const struct gsh_view *view = &problem->views[k];
        bool is_turned = k == MATRIX && problem->is_transposed;
        const int64_t turned[] = {view->strides[1], view->strides[0]};
        launch->operands[k] =
            (struct gsh_operand){.dtype = view->dtype, .address = (uintptr_t)view->data};
        place(launch, k, view->shape, is_turned ? turned : view->strides);
    }
    *layout = (struct gsh_layout){.ndim = 2, .shape = {last->shape[0], last->shape[1]}};
    gsh_numpy_output_c_order(layout, gsh_dtype_size(last->dtype));
    launch->operands[launch->nin] = (struct gsh_operand){.dtype = last->dtype};
    place(launch, launch->nin, layout->shape, layout->strides);
}

/* What SciPy makes of an array, which is given up, and of a list of nothing. */
static PyObject *hand_over(PyObject *array, enum gsh_reason *why)
{
    PyObject *result = gsh_py.Py_BuildValue("N[]", array);
    if (!result) {
        gsh_python_error_clear();
        *why = GSH_REASON_MEMORY;
    }
    return result;
}

static PyObject *run(struct problem *problem, enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {0};
    struct gsh_layout layout;
    *why = describe_arrays(problem);
    if (*why != GSH_REASON_NONE) {
        *row = gsh_stats_row(problem->row, "");
        return NULL;
    }
    const enum gsh_dtype dtypes[] = {problem->views[MATRIX].dtype, problem->views[MATRIX].dtype};
    describe(problem, &call, &layout);
    *row = call.row = gsh_numpy_output_row(problem->row, dtypes, problem->arrays, dtypes[0]);
    PyObject *array = gsh_numpy_output_run(&call, NULL, &layout, why);
    return array ? hand_over(array, why) : NULL;
}

/* As gsh_method_handler. Nobody need know of calls that are not taken. */
static PyObject *try_solve(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    enum { STRUCTURE = 2, TRANSPOSED = 4, OVERWRITE_A, OVERWRITE_B, ARGUMENTS };
    struct problem problem = {
        .row = "scipy.linalg.solve", .routine = GSH_LAPACK_SOLVE_CONDITIONED, .arrays = 2};
    *why = GSH_REASON_NONE;
    if (call->nargs != ARGUMENTS || call->kwdict ||
        !gsh_numpy_method_patch_is_worth(call->args[MATRIX]) ||
        !parse_structure(&problem, call->args[STRUCTURE]) || !is_false(call->args[OVERWRITE_A]) ||
        !is_false(call->args[OVERWRITE_B]) ||
        !gsh_numpy_arguments_flag(call->args[TRANSPOSED], false, &problem.is_transposed))
        return NULL;
    memcpy(problem.objects, call->args, sizeof(problem.objects));
    return run(&problem, why, row);
}

static PyObject *try_inv(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    enum { STRUCTURE = 1, OVERWRITE_A, ARGUMENTS = 4 };
    struct problem problem = {
        .row = "scipy.linalg.inv", .routine = GSH_LAPACK_INV_CONDITIONED, .arrays = 1};
    *why = GSH_REASON_NONE;
    if (call->nargs != ARGUMENTS || call->kwdict ||
        !gsh_numpy_method_patch_is_worth(call->args[MATRIX]) ||
        !parse_structure(&problem, call->args[STRUCTURE]) || !is_false(call->args[OVERWRITE_A]))
        return NULL;
    problem.objects[MATRIX] = call->args[MATRIX];
    return run(&problem, why, row);
}

void gsh_scipy_linalg_adopt_module(void)
{
    static struct gsh_method_hook *const hooks[] = {&solve_hook, &inv_hook};
    static struct gsh_scipy_module module = {hooks, GSH_COUNT(hooks), 0};
    gsh_scipy_module_adopt(&module);
}
