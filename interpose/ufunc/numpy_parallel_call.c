/* SPDX-License-Identifier: Apache-2.0
 *
 * The bits of a result may depend on whether NumPy's loop meets contiguous operands, which its buffers are. So an operation that
 * is not exact is computed only where the rows are contiguous too.
 */
#include "numpy_parallel_call.h"

#include "dispatch.h"
#include "numpy_fallback.h"
#include "numpy_parallel.h"
#include "numpy_parallel_buffered.h"
#include "stats.h"

#include <fenv.h>
#include <string.h>

enum { LEAST_ROW_BYTES = 256 }; /* calling a loop for fewer takes longer than copying them */

/* An input may be of another dtype, which NumPy's iterator casts without an error. */
static bool is_castable(const struct gsh_launch *launch, const struct gsh_numpy_loop *loop,
                        unsigned k)
{
    return k < launch->nin && !launch->operands[k].is_constant &&
           gsh_numpy_describe_can_cast(launch->operands[k].dtype, loop->operands[k],
                                       GSH_CASTING_SAFE);
}

static bool are_dtypes_possible(const struct gsh_launch *launch, const struct gsh_numpy_loop *loop)
{
    for (unsigned k = 0; k < loop->count; k++)
        if (launch->operands[k].dtype != loop->operands[k] && !is_castable(launch, loop, k))
            return false;
    return true;
}

static bool has_casts(const struct gsh_launch *launch, const struct gsh_numpy_loop *loop)
{
    for (unsigned k = 0; k < loop->count; k++)
        if (launch->operands[k].dtype != loop->operands[k])
            return true;
    return false;
}

static bool meet(const struct gsh_launch *launch, unsigned a, unsigned b)
{
    int64_t low[2], high[2];
    gsh_launch_extent(launch, a, &low[0], &high[0]);
    gsh_launch_extent(launch, b, &low[1], &high[1]);
    uint64_t x = launch->operands[a].address, y = launch->operands[b].address;
    return x + (uint64_t)low[0] < y + (uint64_t)high[1] &&
           y + (uint64_t)low[1] < x + (uint64_t)high[0];
}

/* Whether each given output is a view of its own, or exactly an input. */
static bool are_outputs_apart(const struct gsh_launch *launch)
{
    unsigned end = launch->nin + launch->nout;
    for (unsigned out = launch->nin; out < end; out++)
        for (unsigned k = 0; k < end && launch->operands[out].address != 0; k++)
            if (k != out && !launch->operands[k].is_constant && launch->operands[k].address != 0 &&
                !(k < launch->nin && gsh_launch_is_same_view(launch, k, out)) &&
                meet(launch, k, out))
                return false;
    return true;
}

/* Which of 0.0 and -0.0 fmax and fmin give depends on where in its loop NumPy 2.4 meets them. */
static bool depends_on_place(const struct gsh_numpy_loop *loop)
{
    return (loop->op == GSH_OP_FMAX || loop->op == GSH_OP_FMIN) &&
           gsh_dtype_kind(loop->dtype) == 'f';
}

static bool is_possible(const struct gsh_ufunc_call *request, const struct gsh_launch *launch,
                        const struct gsh_numpy_loop *loop, enum gsh_reason why)
{
    return gsh_numpy_parallel_is_on() && why != GSH_REASON_NONE && why != GSH_REASON_NESTED &&
           request->is_plain && !launch->has_mask && !gsh_numpy_loops_may_raise(loop) &&
           !depends_on_place(loop) && are_dtypes_possible(launch, loop) &&
           (launch->ndim > 1 || has_casts(launch, loop)) && gsh_launch_output_is_distinct(launch) &&
           are_outputs_apart(launch);
}

/* ---- the order of the elements ---- */

/* The axes from innermost to outermost, in the order in which NumPy's iterator walks the given operands. */
static void order_axes(const struct gsh_launch *launch, int *axes)
{
    struct gsh_launch walk = {.ndim = launch->ndim};
    unsigned count = 0;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        if (launch->operands[k].address != 0)
            memcpy(walk.strides[count++], launch->strides[k], sizeof(walk.strides[0]));
    memcpy(walk.shape, launch->shape, sizeof(walk.shape));
    gsh_numpy_output_axis_order(&walk, count, axes);
}

/* Whether an axis continues the space's outermost dimension in all operands. */
static bool continues(const struct gsh_numpy_space *space, const struct gsh_launch *launch,
                      int axis)
{
    int last = space->ndim - 1;
    for (unsigned k = 0; k < space->loop->count; k++)
        if (launch->strides[k][axis] != space->strides[k][last] * space->shape[last])
            return false;
    return true;
}

static void append_axis(struct gsh_numpy_space *space, const struct gsh_launch *launch, int axis)
{
    for (unsigned k = 0; k < space->loop->count; k++)
        space->strides[k][space->ndim] = launch->strides[k][axis];
    space->shape[space->ndim++] = launch->shape[axis];
}

/* The dimensions of the call, joined where all operands step as one. */
static void find_space(struct gsh_numpy_space *space, const struct gsh_launch *launch)
{
    int axes[GSH_MAX_DIMS];
    for (unsigned k = 0; k < space->loop->count; k++)
        space->given[k] = launch->operands[k].dtype;
    order_axes(launch, axes);
    for (int i = 0; i < launch->ndim; i++) {
        if (launch->shape[axes[i]] == 1)
            continue;
        if (space->ndim > 0 && continues(space, launch, axes[i]))
            space->shape[space->ndim - 1] *= launch->shape[axes[i]];
        else
            append_axis(space, launch, axes[i]);
    }
}

static bool has_contiguous_rows(const struct gsh_numpy_space *space)
{
    for (unsigned k = 0; k < space->loop->count; k++)
        if (space->strides[k][0] != (int64_t)gsh_dtype_size(space->loop->operands[k]))
            return false;
    return true;
}

static bool is_exact(const struct gsh_numpy_loop *loop)
{
    return gsh_op_max_ulp(loop->op, loop->dtype) == 0;
}

/* Which NaN a complex result is depends on the loop's steps even where the operation is exact. */
static bool has_same_bits(const struct gsh_numpy_space *space)
{
    bool is_complex = gsh_dtype_kind(space->loop->dtype) == 'c', exact = is_exact(space->loop);
    bool is_free = exact && !is_complex, is_never = !exact && is_complex;
    return is_free || (!is_never && has_contiguous_rows(space));
}

enum way { LEFT_TO_NUMPY, BY_ROWS, BY_BUFFERS };

/* Where NumPy itself copies to buffers, the bits are its in any case. */
static enum way find_way(const struct gsh_numpy_space *space, bool is_cast)
{
    int64_t row_bytes = space->shape[0] * (int64_t)gsh_dtype_size(space->loop->dtype);
    if (space->ndim == 0 || (space->ndim == 1 && !is_cast))
        return LEFT_TO_NUMPY;
    if (row_bytes >= LEAST_ROW_BYTES && !is_cast && has_same_bits(space))
        return gsh_numpy_parallel_pays(space) ? BY_ROWS : LEFT_TO_NUMPY;
    return gsh_numpy_parallel_buffered_takes(space) && gsh_numpy_parallel_buffered_pays(space)
               ? BY_BUFFERS
               : LEFT_TO_NUMPY;
}

/* ---- the results ---- */

static bool make_results(const struct gsh_ufunc_call *request, struct gsh_launch *launch,
                         const struct gsh_layout *layouts, PyObject **results)
{
    for (unsigned j = 0; j < launch->nout; j++) {
        struct gsh_operand *output = &launch->operands[launch->nin + j];
        results[j] = request->outs[j] ? request->outs[j]
                                      : gsh_numpy_output_allocate(output->dtype, &layouts[j]);
        if (!results[j]) {
            gsh_py_drop(results, GSH_OP_OUTPUTS);
            return false;
        }
        if (request->outs[j])
            gsh_py.Py_IncRef(results[j]);
        output->address = (uintptr_t)gsh_numpy_array(results[j])->data;
    }
    return true;
}

static void place_operands(struct gsh_numpy_space *space, struct gsh_launch *launch)
{
    for (unsigned k = 0; k < space->loop->count; k++) {
        struct gsh_operand *operand = &launch->operands[k];
        space->first[k] =
            operand->is_constant ? (char *)&operand->constant : (char *)(uintptr_t)operand->address;
    }
}

/* Returns the floating-point flags that were raised. */
static int compute(const struct gsh_numpy_space *space, enum way way, unsigned row)
{
    uint64_t parallel = gsh_numpy_parallel_count();
    void *state = gsh_py.PyEval_SaveThread();
    feclearexcept(FE_ALL_EXCEPT);
    if (way == BY_BUFFERS)
        gsh_numpy_parallel_buffered_compute(space);
    else
        gsh_numpy_parallel_compute(space);
    int raised = fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
    gsh_py.PyEval_RestoreThread(state);
    if (gsh_numpy_parallel_count() != parallel)
        gsh_stats_parallel_call(row);
    return raised;
}

static PyObject *finish(const struct gsh_ufunc_call *request, const struct gsh_numpy_loop *loop,
                        int raised, PyObject **results)
{
    if (raised != 0 && !gsh_numpy_promote_raise(request->ufunc, loop, raised)) {
        gsh_py_drop(results, GSH_OP_OUTPUTS);
        return NULL;
    }
    return request->ufunc->nout == 1 ? results[0]
                                     : gsh_py.Py_BuildValue("(NN)", results[0], results[1]);
}

bool gsh_numpy_parallel_call_try(const struct gsh_ufunc_call *request, struct gsh_call *call,
                                 const struct gsh_numpy_loop *loop,
                                 const struct gsh_layout *layouts, enum gsh_reason why,
                                 PyObject **result)
{
    PyObject *results[GSH_OP_OUTPUTS] = {NULL};
    struct gsh_numpy_space space = {.loop = loop};
    struct gsh_launch *launch = &call->launch;
    if (!is_possible(request, launch, loop, why))
        return false;
    find_space(&space, launch);
    enum way way = find_way(&space, has_casts(launch, loop));
    if (way == LEFT_TO_NUMPY)
        return false;
    gsh_dispatch_fetch(call);
    if (!make_results(request, launch, layouts, results))
        return false;
    place_operands(&space, launch);
    uint64_t begin = gsh_numpy_output_host_begin();
    int raised = compute(&space, way, call->row);
    gsh_numpy_output_host_end(begin, call->row, why);
    *result =
        gsh_numpy_fallback_pass(finish(request, loop, raised, results), call->row, why, NULL, 0);
    return true;
}
