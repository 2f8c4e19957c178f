/* SPDX-License-Identifier: Apache-2.0
 *
 * An elementwise ufunc call from Python objects to a launch: operands, broadcast shape, loop dtype,
 * output. Takes no decision of its own but to decline what it cannot describe. GIL.
 */
#include "numpy_elementwise.h"

#include "numpy_loops.h"
#include "numpy_promote.h"

#include <string.h>

/* The inputs' broadcast shape, or out's where one is given and they fit into it. */
static enum gsh_reason place_shape(struct gsh_launch *launch, const struct gsh_argument *arguments,
                                   const struct gsh_view *out)
{
    enum gsh_reason why = gsh_numpy_describe_broadcast(launch, arguments, launch->nin);
    if (why != GSH_REASON_NONE)
        return why;
    if (!out)
        return launch->ndim == 0 ? GSH_REASON_SCALAR : GSH_REASON_NONE;
    int shift = out->ndim - launch->ndim;
    for (int i = 0; i < out->ndim; i++)
        if (out->shape[i] == 0 || (i >= shift && launch->shape[i - shift] != 1 &&
                                   launch->shape[i - shift] != out->shape[i]))
            return GSH_REASON_SHAPE;
    if (shift < 0)
        return GSH_REASON_SHAPE;
    launch->ndim = out->ndim;
    memcpy(launch->shape, out->shape, (size_t)out->ndim * sizeof(*launch->shape));
    return GSH_REASON_NONE;
}

static enum gsh_reason place_inputs(struct gsh_launch *launch, const struct gsh_argument *arguments)
{
    for (unsigned k = 0; k < launch->nin; k++) {
        if (arguments[k].is_array) {
            gsh_numpy_describe_place_view(launch, k, &arguments[k].view);
            continue;
        }
        union gsh_scalar constant;
        if (!gsh_numpy_describe_cast(&arguments[k].value, launch->loop, &constant))
            return GSH_REASON_OPERAND;
        gsh_numpy_describe_place_constant(launch, k, launch->loop, constant);
    }
    return GSH_REASON_NONE;
}

/* Row of the op with this loop, and output; looked up once. */
static unsigned row_of(const struct gsh_launch *launch, enum gsh_dtype result)
{
    static unsigned rows[GSH_OP_COUNT][GSH_DTYPE_COUNT][GSH_DTYPE_COUNT];
    unsigned *row = &rows[launch->op][launch->loop][result];
    if (*row == 0) {
        const enum gsh_dtype dtypes[GSH_MAX_OPERANDS] = {launch->loop, launch->loop, launch->loop};
        *row = gsh_numpy_output_row(gsh_op_info(launch->op)->name, dtypes, launch->nin, result);
    }
    return *row;
}

/* Describes the inputs, shape and loop of an elementwise call. */
static enum gsh_reason describe(const struct gsh_ufunc_call *call, struct gsh_launch *launch,
                                struct gsh_argument *arguments, struct gsh_view *out)
{
    enum gsh_reason why = GSH_REASON_NONE;
    for (unsigned k = 0; k < launch->nin && why == GSH_REASON_NONE; k++)
        why = gsh_numpy_describe_argument(call->inputs[k], &arguments[k]);
    if (why == GSH_REASON_NONE && call->out)
        why = gsh_numpy_describe_output(call->out, out);
    if (why == GSH_REASON_NONE)
        why = place_shape(launch, arguments, call->out ? out : NULL);
    if (why == GSH_REASON_NONE)
        why = gsh_numpy_promote((PyObject *)call->ufunc, launch->op, arguments, &launch->loop);
    if (why == GSH_REASON_NONE && !gsh_numpy_loops_is_genuine(launch->op, launch->loop))
        why = GSH_REASON_UNSUPPORTED;
    return why == GSH_REASON_NONE ? place_inputs(launch, arguments) : why;
}

PyObject *gsh_numpy_elementwise_try(const struct gsh_ufunc_call *request, enum gsh_reason *why,
                                    unsigned *row)
{
    struct gsh_call call = {.row = 0};
    struct gsh_launch *launch = &call.launch;
    struct gsh_argument arguments[GSH_MAX_OPERANDS];
    struct gsh_view out;
    struct gsh_layout layout;
    launch->kind = GSH_LAUNCH_ELEMENTWISE;
    launch->op = (enum gsh_op)gsh_numpy_ufunc_find_op(request->ufunc);
    launch->nin = (unsigned)request->ufunc->nin;
    *why = describe(request, launch, arguments, &out);
    if (*why != GSH_REASON_NONE)
        return NULL;
    enum gsh_dtype result = gsh_launch_result_dtype(launch);
    if (request->out) {
        if (!gsh_numpy_describe_can_cast(result, out.dtype, request->casting)) {
            *why = GSH_REASON_DTYPE;
            return NULL;
        }
        gsh_numpy_describe_place_view(launch, launch->nin, &out);
        result = out.dtype;
    } else {
        gsh_numpy_output_k_order(launch, arguments, gsh_dtype_size(result), &layout);
        launch->operands[launch->nin] = (struct gsh_operand){.dtype = result};
        memcpy(launch->strides[launch->nin], layout.strides, sizeof(layout.strides));
    }
    call.row = *row = row_of(launch, result);
    return gsh_numpy_output_run(&call, request->out, &layout, why);
}
