/* SPDX-License-Identifier: Apache-2.0
 *
 * ufunc.at with one array of indices along the first axis, as one PUT. The kernel computes in the
 * array's own dtype, while NumPy may compute in a wider one before it stores. Calls in which this
 * makes a difference are declined.
 */
#include "coherence.h"
#include "dispatch.h"
#include "host_casts.h"
#include "numpy_composed.h"
#include "numpy_output.h"
#include "numpy_probe.h"
#include "numpy_ufunc.h"

#include <stdio.h>
#include <string.h>

#define MOST_REPLACED ((int64_t)1 << 17) /* bytes of a target outside the arena */

static PyObject *try_at(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);

GSH_METHOD_HOOK(at_hook, .table = GSH_METHOD_UFUNC, .name = "at", .handler = try_at,
                .writes = GSH_METHOD_WRITES_ARG(0), .self_test = "m.add.at(a, [0], 0.0)");

/* One call, described. */
struct request {
    enum gsh_op op;
    struct gsh_view target, index;
    PyObject *index_object;
    struct gsh_argument value;
    union gsh_scalar constant; /* the value, cast, where it is a scalar */
};

/* ---- dtypes ---- */

/* Whether the op gives the same result if it is computed in a wider dtype of the same kind and then
 * stored. Sums and products of integers lose only high bits. Those of floats are rounded twice,
 * which is harmless if the wider dtype has more than twice the bits. */
static bool is_width_neutral(enum gsh_op op, enum gsh_dtype dtype)
{
    switch (op) {
    case GSH_OP_ADD:
    case GSH_OP_SUBTRACT:
    case GSH_OP_MULTIPLY:
        return gsh_dtype_kind(dtype) != 'c';
    case GSH_OP_BITWISE_AND:
    case GSH_OP_BITWISE_OR:
    case GSH_OP_BITWISE_XOR:
    case GSH_OP_MAXIMUM:
    case GSH_OP_MINIMUM:
    case GSH_OP_FMAX:
    case GSH_OP_FMIN:
        return true;
    case GSH_OP_DIVIDE:
        return gsh_dtype_kind(dtype) == 'f';
    default:
        return false;
    }
}

/* Whether `constant`, of dtype `to`, equals the value exactly. */
static bool is_exact(const struct gsh_numpy_value *value, enum gsh_dtype to,
                     const union gsh_scalar *constant)
{
    union gsh_scalar back = {.words = {0}};
    gsh_host_casts_run(&back, value->dtype, 16, constant, to, 0, 1);
    return memcmp(&back, &value->scalar, gsh_dtype_size(value->dtype)) == 0;
}

/* Whether a scalar can be used. It counts as an array of its own dtype, which may be wider than the
 * target's. */
static bool may_use_scalar(struct request *request)
{
    const struct gsh_numpy_value *value = &request->value.value;
    enum gsh_dtype to = request->target.dtype;
    if (!gsh_numpy_describe_cast(value, to, &request->constant))
        return false;
    if (gsh_numpy_describe_can_cast(value->dtype, to, GSH_CASTING_SAFE))
        return true;
    char kind = gsh_dtype_kind(to);
    bool meets_in_float = to == GSH_UINT64 && gsh_dtype_kind(value->dtype) == 'i';
    return is_width_neutral(request->op, to) && !meets_in_float &&
           gsh_numpy_describe_can_cast(value->dtype, kind == 'u' ? GSH_INT64 : to,
                                       GSH_CASTING_SAME_KIND) &&
           is_exact(value, to, &request->constant);
}

static enum gsh_reason check_dtypes(struct request *request)
{
    enum gsh_dtype dtype = request->target.dtype;
    const struct gsh_op_info *info = gsh_op_info(request->op);
    bool keeps_dtype = info->results[0] == GSH_RESULT_SAME || dtype == GSH_BOOL;
    if (info->nin != 2 || info->nout != 1 || info->inputs != GSH_INPUTS_SAME || !keeps_dtype ||
        request->op == GSH_OP_POWER || /* which raises ValueError */
        (info->flags & GSH_SPECIAL) != 0)
        return GSH_REASON_UNSUPPORTED;
    if (!gsh_op_has_loop(request->op, dtype) || gsh_dtype_kind(request->index.dtype) == 'b' ||
        !(GSH_SET_INTEGERS >> request->index.dtype & 1))
        return GSH_REASON_DTYPE;
    if (request->op == GSH_OP_MULTIPLY && gsh_dtype_kind(dtype) == 'c') /* the rounding differs */
        return GSH_REASON_UNSUPPORTED;
    bool is_taken = request->value.is_array ? gsh_numpy_describe_can_cast(request->value.view.dtype,
                                                                          dtype, GSH_CASTING_SAFE)
                                            : may_use_scalar(request);
    return is_taken ? GSH_REASON_NONE : GSH_REASON_DTYPE;
}

/* ---- the launch ---- */

/* The index's dimensions, followed by the target's without its first. */
static enum gsh_reason place_shape(const struct request *request, struct gsh_launch *launch)
{
    const struct gsh_view *target = &request->target, *index = &request->index;
    launch->ndim = index->ndim + target->ndim - 1;
    if (launch->ndim > GSH_MAX_DIMS)
        return GSH_REASON_SHAPE;
    for (int i = 0; i < launch->ndim; i++) {
        bool is_index = i < index->ndim;
        int axis = i - index->ndim + 1; /* of the target */
        launch->shape[i] = is_index ? index->shape[i] : target->shape[axis];
        launch->strides[1][i] = is_index ? index->strides[i] : 0;
        launch->strides[2][i] = is_index ? 0 : target->strides[axis];
    }
    launch->operands[1] =
        (struct gsh_operand){.dtype = index->dtype, .address = (uintptr_t)index->data};
    launch->operands[2] =
        (struct gsh_operand){.dtype = target->dtype, .address = (uintptr_t)target->data};
    launch->indexed =
        (struct gsh_indexed){.stride = target->strides[0], .extent = target->shape[0]};
    return GSH_REASON_NONE;
}

static enum gsh_reason place_value(const struct request *request, struct gsh_launch *launch)
{
    if (!request->value.is_array) {
        gsh_numpy_describe_place_constant(launch, 0, request->target.dtype, request->constant);
        return GSH_REASON_NONE;
    }
    const struct gsh_view *value = &request->value.view;
    int shift = launch->ndim - value->ndim;
    for (int i = 0; i < value->ndim; i++)
        if (shift < 0 || (value->shape[i] != 1 && value->shape[i] != launch->shape[i + shift]))
            return GSH_REASON_SHAPE;
    gsh_numpy_describe_place_view(launch, 0, value);
    return GSH_REASON_NONE;
}

/* Checks that every index is valid, since an error must be raised before anything is written. */
static enum gsh_reason check_bounds(const struct request *request)
{
    enum gsh_reason why = GSH_REASON_NONE;
    int64_t least, greatest, extent = request->target.shape[0];
    if (!gsh_numpy_probe_range(request->index_object, &least, &greatest, &why))
        return why;
    return least >= -extent && greatest < extent ? GSH_REASON_NONE : GSH_REASON_SHAPE;
}

/* UNMANAGED_OUTPUT: request->target and index_object are there. */
static enum gsh_reason describe(const struct gsh_method_call *call, struct request *request)
{
    PyObject *index = call->args[1];
    if (gsh_py_type(index) == gsh_py.PyTuple_Type && gsh_py.PyTuple_Size(index) == 1)
        index = gsh_py.PyTuple_GetItem(index, 0);
    request->index_object = index;
    enum gsh_reason why = gsh_numpy_describe_output(call->args[0], &request->target);
    if (why == GSH_REASON_NONE)
        why = gsh_numpy_describe_array(index, &request->index);
    if (why == GSH_REASON_NONE)
        why = gsh_numpy_describe_argument(call->args[2], &request->value);
    if (why != GSH_REASON_NONE)
        return why;
    if (request->target.ndim == 0 || request->index.ndim == 0 ||
        gsh_numpy_describe_size(gsh_numpy_array(call->args[0])) == 0 ||
        gsh_numpy_describe_size(gsh_numpy_array(index)) == 0)
        return GSH_REASON_SHAPE;
    if (!gsh_numpy_describe_is_distinct(
            &request->target)) /* NumPy would process the indices in order */
        return GSH_REASON_OVERLAP;
    return check_dtypes(request);
}

/* Whether NumPy 1.25 and later does not use its one-dimensional loop, which requires that no
 * operand is cast. */
static bool is_general(const struct request *request)
{
    const struct gsh_argument *value = &request->value;
    enum gsh_dtype dtype = value->is_array ? value->view.dtype : value->value.dtype;
    return request->target.ndim > 1 || (value->is_array && value->view.ndim > 1) ||
           dtype != request->target.dtype;
}

static PyObject *run_put(const struct request *request, PyObject *target, enum gsh_reason *why,
                         unsigned *row)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_PUT,
                                       .op = request->op,
                                       .loop = request->target.dtype,
                                       .nin = 2,
                                       .nout = 1},
                            .errors = {.is_general = is_general(request)}};
    const enum gsh_dtype dtypes[] = {request->target.dtype, request->index.dtype};
    char name[32]; /* "add.at" */
    snprintf(name, sizeof(name), "%s.at", gsh_op_info(request->op)->name);
    *row = call.row = gsh_numpy_output_row(name, dtypes, 2, request->target.dtype);
    *why = place_shape(request, &call.launch);
    if (*why == GSH_REASON_NONE)
        *why = place_value(request, &call.launch);
    if (*why == GSH_REASON_NONE)
        *why = check_bounds(request);
    if (*why != GSH_REASON_NONE)
        return NULL;
    PyObject *array = gsh_numpy_output_run(&call, target, NULL, why);
    if (!array)
        return NULL;
    gsh_py.Py_DecRef(array);
    return gsh_py_none();
}

/* ---- targets outside the arena ---- */

static bool is_on_device(PyObject *object)
{
    return gsh_numpy_is_array(object) && gsh_coherence_is_resident(gsh_numpy_array(object)->data);
}

/* Whether a small target outside the arena, as of np.zeros(16), may be kept from bringing large operands to the host. */
static bool may_replace(const struct gsh_method_call *call, const struct request *request)
{
    const struct gsh_view *target = &request->target;
    PyObject *array = call->args[0], *value = call->args[2];
    bool is_worth =
        gsh_dispatch_min_elements == 0 || is_on_device(call->args[1]) || is_on_device(value);
    return is_worth && gsh_numpy_is_array(request->index_object) && target->ndim > 0 &&
           (target->flags & GSH_NPY_C_CONTIGUOUS) &&
           gsh_numpy_describe_size(gsh_numpy_array(array)) *
                   (int64_t)gsh_dtype_size(target->dtype) <=
               MOST_REPLACED &&
           !(gsh_numpy_is_array(value) && gsh_numpy_describe_meet(array, value)) &&
           !gsh_numpy_describe_meet(array, request->index_object);
}

/* A copy of the target in the arena; NULL: there is no room. */
static PyObject *replace(const struct gsh_view *target)
{
    struct gsh_layout layout = {.ndim = target->ndim};
    size_t size = gsh_dtype_size(target->dtype);
    memcpy(layout.shape, target->shape, (size_t)target->ndim * sizeof(layout.shape[0]));
    gsh_numpy_output_c_order(&layout, size);
    PyObject *made = gsh_numpy_output_create(target->dtype, &layout);
    if (!made)
        return NULL;
    gsh_numpy_describe_fetch(made, true);
    memcpy(gsh_numpy_array(made)->data, target->data,
           size * (size_t)gsh_numpy_describe_size(gsh_numpy_array(made)));
    return made;
}

/* The call on a copy of the target in the arena, which is copied back. */
static PyObject *run_replaced(const struct gsh_method_call *call, struct request *request,
                              enum gsh_reason *why, unsigned *row)
{
    struct gsh_view target = request->target;
    PyObject *made = replace(&target), *done = NULL;
    if (!made)
        return NULL;
    PyObject *const args[] = {made, call->args[1], call->args[2]};
    const struct gsh_method_call again = {call->self, args, GSH_COUNT(args), NULL, NULL};
    *why = describe(&again, request);
    if (*why == GSH_REASON_NONE)
        done = run_put(request, made, why, row);
    if (done || *why == GSH_REASON_NONE) { /* written also where a floating-point error is raised */
        gsh_numpy_describe_fetch(made, false);
        memcpy(target.data, gsh_numpy_array(made)->data,
               gsh_dtype_size(target.dtype) *
                   (size_t)gsh_numpy_describe_size(gsh_numpy_array(made)));
    }
    gsh_py.Py_DecRef(made);
    return done;
}

static PyObject *try_at(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    struct request request;
    if (call->nargs != 3 || (!gsh_numpy_method_patch_is_worth(call->args[0]) &&
                             !gsh_numpy_method_patch_is_worth(call->args[1])))
        return NULL;
    int op = gsh_py_type(call->self) == gsh_np.ufunc_type
                 ? gsh_numpy_ufunc_find_op((const struct gsh_ufunc *)call->self)
                 : -1;
    *why = GSH_REASON_UNSUPPORTED;
    if (op < 0)
        return NULL;
    if (gsh_py_type(call->args[1]) == gsh_py.PyTuple_Type && gsh_py_size(call->args[1]) > 1)
        return gsh_numpy_composed_call("at_of_tuple", call, true, why);
    request.op = (enum gsh_op)op;
    *why = describe(call, &request);
    if (*why == GSH_REASON_UNMANAGED_OUTPUT && may_replace(call, &request))
        return run_replaced(call, &request, why, row);
    return *why == GSH_REASON_NONE ? run_put(&request, call->args[0], why, row) : NULL;
}

void gsh_numpy_at_install(void)
{
    gsh_numpy_method_patch_install(&at_hook);
}
