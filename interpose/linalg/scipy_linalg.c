/* SPDX-License-Identifier: Apache-2.0
 *
 * _solve(A, b, structure, lower, transposed, overwrite_a, overwrite_b) and _inv(A, structure,
 * overwrite_a, lower), with positional arguments only. They return the array and a list of
 * warnings. The device returns an empty list, because it declines ill-conditioned and singular
 * matrices. Calls with single matrices, no named structure and no overwriting are taken over;
 * results are fresh arrays in C order. In other calls the module's LAPACK calls are decided one by
 * one.
 */
#include "scipy_linalg.h"

#include "numpy_arguments.h"
#include "python_error.h"
#include "scipy_module.h"

static PyObject *try_solve(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_inv(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);

GSH_METHOD_HOOK(solve_hook, .table = GSH_METHOD_SCIPY_LINALG, .name = "_solve",
                .handler = try_solve);
GSH_METHOD_HOOK(inv_hook, .table = GSH_METHOD_SCIPY_LINALG, .name = "_inv", .handler = try_inv);

/* SciPy's numbers for structures (scipy/linalg/src/_common_array_utils.hh). */
enum { UNKNOWN = -1, GENERAL = 0 };

enum { MATRIX, RIGHT, MOST_ARRAYS };

/* A described call. */
struct problem {
    const char *row;
    enum gsh_lapack_routine routine;
    unsigned arrays;
    struct gsh_view views[MOST_ARRAYS];
    unsigned options;
};

/* Whether the device computes this structure. */
static bool describe_structure(struct problem *problem, PyObject *structure)
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

/* Whether the module accepts the arrays without error: matrices of a LAPACK dtype with matching
 * shapes. */
static bool describe_arrays(struct problem *problem, PyObject *const *objects)
{
    for (unsigned k = 0; k < problem->arrays; k++) {
        const struct gsh_view *view = &problem->views[k], *a = &problem->views[MATRIX];
        if (gsh_numpy_describe_array(objects[k], &problem->views[k]) != GSH_REASON_NONE ||
            view->ndim != 2 || view->dtype != a->dtype || view->shape[0] != a->shape[1] ||
            view->shape[0] == 0 || view->shape[1] == 0)
            return false;
    }
    return ((1u << problem->views[MATRIX].dtype) & (unsigned)GSH_SET_BLAS) != 0;
}

static void place(struct gsh_launch *launch, unsigned k, const int64_t *shape,
                  const int64_t *strides)
{
    launch->lapack.cores[k] =
        (struct gsh_core){.extent = {shape[0], shape[1], 1}, .stride = {strides[0], strides[1], 0}};
}

/* Fills the launch and the layout of its result. */
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
        launch->operands[k] =
            (struct gsh_operand){.dtype = view->dtype, .address = (uintptr_t)view->data};
        place(launch, k, view->shape, view->strides);
    }
    *layout = (struct gsh_layout){.ndim = 2, .shape = {last->shape[0], last->shape[1]}};
    gsh_numpy_output_c_order(layout, gsh_dtype_size(last->dtype));
    launch->operands[launch->nin] = (struct gsh_operand){.dtype = last->dtype};
    place(launch, launch->nin, layout->shape, layout->strides);
}

/* SciPy's return value: the array, which is stolen, and an empty list. */
static PyObject *hand_over(PyObject *array, enum gsh_reason *why)
{
    PyObject *result = gsh_py.Py_BuildValue("N[]", array);
    if (!result) {
        gsh_python_error_clear();
        *why = GSH_REASON_MEMORY;
    }
    return result;
}

/* As gsh_method_handler. */
static PyObject *run(struct problem *problem, enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {0};
    struct gsh_layout layout;
    const enum gsh_dtype dtypes[] = {problem->views[MATRIX].dtype, problem->views[MATRIX].dtype};
    describe(problem, &call, &layout);
    *row = call.row = gsh_numpy_output_row(problem->row, dtypes, problem->arrays, dtypes[0]);
    PyObject *array = gsh_numpy_output_run(&call, NULL, &layout, why);
    return array ? hand_over(array, why) : NULL;
}

/* Leaves the call to the module, whose LAPACK calls are decided one by one. Fetches the arrays to
 * the host. The decline is not counted. */
static PyObject *leave(const struct gsh_method_call *call, unsigned arrays)
{
    for (size_t k = 0; k < GSH_MIN(call->nargs, arrays); k++)
        gsh_numpy_describe_fetch(call->args[k], false);
    return NULL;
}

/* SciPy 1.17.0 has no overwrite parameters. */
static PyObject *try_solve(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    enum { STRUCTURE = 2, TRANSPOSED = 4, LEAST, OVERWRITE_A = LEAST, OVERWRITE_B, MOST };
    struct problem problem = {
        .row = "scipy.linalg.solve", .routine = GSH_LAPACK_SOLVE_CONDITIONED, .arrays = 2};
    bool is_transposed;
    *why = GSH_REASON_NONE;
    if ((call->nargs != LEAST && call->nargs != MOST) || call->kwdict ||
        !gsh_numpy_method_patch_is_worth(call->args[MATRIX]) ||
        !describe_structure(&problem, call->args[STRUCTURE]) ||
        !gsh_numpy_arguments_flag(call->args[TRANSPOSED], false, &is_transposed) ||
        (call->nargs == MOST &&
         !(is_false(call->args[OVERWRITE_A]) && is_false(call->args[OVERWRITE_B]))) ||
        !describe_arrays(&problem, call->args))
        return leave(call, problem.arrays);
    problem.options |= is_transposed ? GSH_LAPACK_TRANSPOSED : 0;
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
        !describe_structure(&problem, call->args[STRUCTURE]) ||
        !is_false(call->args[OVERWRITE_A]) || !describe_arrays(&problem, call->args))
        return leave(call, problem.arrays);
    return run(&problem, why, row);
}

void gsh_scipy_linalg_adopt_module(void)
{
    static struct gsh_method_hook *const hooks[] = {&solve_hook, &inv_hook};
    static struct gsh_scipy_module module = {hooks, GSH_COUNT(hooks), 0};
    gsh_scipy_module_adopt(&module);
}
