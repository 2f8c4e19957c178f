/* SPDX-License-Identifier: Apache-2.0
 *
 * np.where. With three arguments: a SELECT in the common dtype of the last two, which NumPy's own
 * result_type determines, in the memory order of NumPy's iterator. With one argument: nonzero.
 */
#include "dispatch.h"
#include "numpy_composed.h"
#include "numpy_method_patch.h"
#include "numpy_nonzero.h"
#include "numpy_output.h"
#include "numpy_parallel_where.h"
#include "python_error.h"

#include <string.h>

static PyObject *try_where(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);

GSH_METHOD_HOOK(where_hook, .table = GSH_METHOD_MODULE, .name = "where", .handler = try_where,
                .uses_cores = true, .self_test = "m.where([True, False], a, b)");

static PyObject *result_type;              /* borrowed from NumPy's module; NULL: none */
static PyObject *samples[GSH_DTYPE_COUNT]; /* empty arrays */

/* An object that replaces the argument in result_type, where only the dtype matters. */
static PyObject *sample_of(const struct gsh_argument *argument)
{
    static const int64_t none = 0;
    if (!argument->is_array)
        return argument->object;
    enum gsh_dtype dtype = argument->view.dtype;
    if (!samples[dtype]) {
        gsh_py.Py_IncRef(gsh_np.descrs[dtype]);
        samples[dtype] = gsh_np.NewFromDescr(gsh_np.ndarray_type, gsh_np.descrs[dtype], 1, &none,
                                             NULL, NULL, 0, NULL);
    }
    return samples[dtype];
}

/* The dtype of where(..., x, y), or -1. */
static int find_common(const struct gsh_argument *x, const struct gsh_argument *y)
{
    if (x->is_array && y->is_array && x->view.dtype == y->view.dtype)
        return (int)x->view.dtype;
    PyObject *first = sample_of(x), *second = sample_of(y);
    PyObject *descr = first && second && result_type
                          ? gsh_py.PyObject_CallFunction(result_type, "OO", first, second)
                          : NULL;
    if (!descr) {
        gsh_python_error_clear();
        return -1;
    }
    int dtype = gsh_numpy_dtype(descr);
    gsh_py.Py_DecRef(descr);
    return dtype;
}

/* Operand k. An array is cast in the kernel, a scalar here. */
static enum gsh_reason place(struct gsh_launch *launch, unsigned k,
                             const struct gsh_argument *argument, enum gsh_dtype dtype)
{
    union gsh_scalar constant;
    if (argument->is_array) {
        gsh_numpy_describe_place_view(launch, k, &argument->view);
        return GSH_REASON_NONE;
    }
    if (!gsh_numpy_describe_cast(&argument->value, dtype, &constant))
        return GSH_REASON_OPERAND;
    gsh_numpy_describe_place_constant(launch, k, dtype, constant);
    return GSH_REASON_NONE;
}

/* Whether the value of a 0-d array that is only on the device would affect promotion: NumPy 1.x
 * promotes by the value. */
static bool is_hidden_scalar(const struct gsh_argument *argument)
{
    return argument->is_array && argument->view.ndim == 0 && gsh_np.major < 2;
}

static enum gsh_reason describe(PyObject *const *objects, struct gsh_launch *launch)
{
    struct gsh_argument arguments[3];
    enum gsh_reason why = GSH_REASON_NONE;
    for (unsigned k = 0; k < 3 && why == GSH_REASON_NONE; k++)
        why = gsh_numpy_describe_argument(objects[k], &arguments[k]);
    if (why == GSH_REASON_NONE)
        why = gsh_numpy_describe_broadcast(launch, arguments, 3);
    if (why != GSH_REASON_NONE)
        return why;
    if (launch->ndim == 0)
        return GSH_REASON_SCALAR;
    if (is_hidden_scalar(&arguments[1]) || is_hidden_scalar(&arguments[2]))
        return GSH_REASON_OPERAND;
    int dtype = find_common(&arguments[1], &arguments[2]);
    if (dtype < 0)
        return GSH_REASON_DTYPE;
    launch->loop = (enum gsh_dtype)dtype;
    why = place(launch, 0, &arguments[0], GSH_BOOL);
    for (unsigned k = 1; k < 3 && why == GSH_REASON_NONE; k++)
        why = place(launch, k, &arguments[k], launch->loop);
    return why;
}

static PyObject *run_where(PyObject *const *objects, enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {
        .launch = {.kind = GSH_LAUNCH_ELEMENTWISE, .op = GSH_OP_SELECT, .nin = 3, .nout = 1}};
    struct gsh_launch *launch = &call.launch;
    struct gsh_layout layout;
    *why = describe(objects, launch);
    if (*why != GSH_REASON_NONE)
        return NULL;
    gsh_numpy_output_iterator_order(launch, 3, gsh_dtype_size(launch->loop), &layout);
    launch->operands[3] = (struct gsh_operand){.dtype = launch->loop};
    memcpy(launch->strides[3], layout.strides, sizeof(layout.strides));
    const enum gsh_dtype dtypes[] = {launch->operands[0].dtype, launch->operands[1].dtype,
                                     launch->operands[2].dtype};
    *row = call.row = gsh_numpy_output_row("where", dtypes, 3, launch->loop);
    PyObject *result = gsh_numpy_output_run(&call, NULL, &layout, why);
    return result ? result : gsh_numpy_parallel_where_try(&call, &layout, *why);
}

/* Whether several cores might compute a call that no device can: the largest operand decides. */
static bool may_share(const struct gsh_method_call *call)
{
    int64_t most = 0;
    for (size_t k = 0; k < call->nargs; k++)
        if (gsh_numpy_is_array(call->args[k]))
            most = GSH_MAX(most, gsh_numpy_describe_size(gsh_numpy_array(call->args[k])));
    return gsh_numpy_parallel_where_may(most);
}

static PyObject *try_where(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    bool is_worth = false;
    for (size_t k = 0; k < call->nargs; k++)
        is_worth |= gsh_numpy_method_patch_is_worth(call->args[k]);
    bool is_live = gsh_dispatch_is_live();
    if (!is_worth || (!is_live && !(call->nargs == 3 && may_share(call))))
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (call->kwnames || call->kwdict)
        return NULL;
    if (call->nargs == 1)
        return gsh_numpy_nonzero_find(call->args[0], why, row);
    PyObject *result = call->nargs == 3 ? run_where(call->args, why, row) : NULL;
    return result || *why != GSH_REASON_OPERAND || !is_live
               ? result
               : gsh_numpy_composed_call("where", call, false, why);
}

void gsh_numpy_where_install_without_device(void)
{
    gsh_numpy_where_install();
}

void gsh_numpy_where_install(void)
{
    result_type = gsh_py.PyDict_GetItemString(gsh_np.dict, "result_type");
    gsh_numpy_method_patch_install(&where_hook);
}
