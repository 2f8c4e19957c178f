/* SPDX-License-Identifier: Apache-2.0
 *
 * Results: memory order, allocation and computation. Also the accounting around an original that
 * runs instead. The order rules are NumPy's own (nditer_constr.c, ufunc_object.c, ctors.c; the same
 * in 1.22-2.5). tests/conformance/k_order.py compares them with the running NumPy.
 */
#include "numpy_output.h"

#include "arena.h"
#include "arena_hint.h"
#include "backend.h"
#include "clock.h"
#include "dispatch.h"
#include "host_calibration.h"
#include "numpy_errors.h"
#include "pages.h"
#include "python_error.h"
#include "stats.h"
#include "trace.h"
#include "wall_time.h"

#include <stdlib.h>
#include <string.h>

/* The depth of originals in this thread whose call was priced and declined. */
static _Thread_local unsigned host_depth;
static _Thread_local int part_before; /* of the wall time, where host_depth is more than 0 */

void gsh_numpy_output_c_order(struct gsh_layout *layout, size_t itemsize)
{
    int64_t stride = (int64_t)itemsize;
    for (int i = layout->ndim - 1; i >= 0; i--) {
        layout->strides[i] = stride;
        stride *= layout->shape[i];
    }
}

void gsh_numpy_output_f_order(struct gsh_layout *layout, size_t itemsize)
{
    int64_t stride = (int64_t)itemsize;
    for (int i = 0; i < layout->ndim; i++) {
        layout->strides[i] = stride;
        stride *= layout->shape[i];
    }
}

/* Compares two axes over all operands as npyiter_find_best_axis_ordering does: 0 undetermined, 1
 * `axis` must be inside `other`, -1 it stays outside. Broadcast and unit axes have stride 0 and are
 * ignored. */
static int compare_axes(const struct gsh_launch *launch, unsigned count, int axis, int other)
{
    int verdict = 0;
    for (unsigned k = 0; k < count; k++) {
        int64_t stride = llabs(launch->strides[k][axis]),
                other_stride = llabs(launch->strides[k][other]);
        if (stride == 0 || other_stride == 0)
            continue;
        if (other_stride <= stride)
            verdict = -1; /* if operands disagree, C order wins */
        else if (verdict == 0)
            verdict = 1;
    }
    return verdict;
}

void gsh_numpy_output_axis_order(const struct gsh_launch *launch, unsigned count, int *axes)
{
    int ndim = launch->ndim;
    for (int i = 0; i < ndim; i++)
        axes[i] = ndim - 1 - i;
    for (int i = 1; i < ndim; i++) {
        int axis = axes[i], position = i;
        for (int j = i - 1; j >= 0; j--) {
            int verdict = compare_axes(launch, count, axis, axes[j]);
            if (verdict < 0)
                break;
            if (verdict > 0)
                position = j;
        }
        memmove(&axes[position + 1], &axes[position], (size_t)(i - position) * sizeof(*axes));
        axes[position] = axis;
    }
}

int gsh_numpy_output_trivial_order(const struct gsh_launch *launch,
                                   const struct gsh_argument *arguments,
                                   const enum gsh_dtype *dtypes)
{
    int order = 0;
    for (unsigned k = 0; k < launch->nin; k++) {
        const struct gsh_view *view = &arguments[k].view;
        if (!arguments[k].is_array || view->ndim == 0)
            continue;
        int contiguous = view->flags & (GSH_NPY_C_CONTIGUOUS | GSH_NPY_F_CONTIGUOUS);
        if (view->dtype != dtypes[k] || view->ndim != launch->ndim || contiguous == 0 ||
            (order != 0 && order != contiguous) ||
            memcmp(view->shape, launch->shape, (size_t)launch->ndim * sizeof(*view->shape)) != 0)
            return 0;
        order = contiguous;
    }
    return order;
}

void gsh_numpy_output_iterator_order(const struct gsh_launch *launch, unsigned count,
                                     size_t itemsize, struct gsh_layout *layout)
{
    int axes[GSH_MAX_DIMS];
    layout->ndim = launch->ndim;
    memcpy(layout->shape, launch->shape, (size_t)launch->ndim * sizeof(*layout->shape));
    gsh_numpy_output_axis_order(launch, count, axes);
    int64_t stride = (int64_t)itemsize;
    for (int i = 0; i < launch->ndim; i++) {
        layout->strides[axes[i]] = stride;
        stride *= layout->shape[axes[i]];
    }
}

void gsh_numpy_output_like(const struct gsh_view *view, size_t itemsize, struct gsh_layout *layout)
{
    layout->ndim = view->ndim;
    memcpy(layout->shape, view->shape, (size_t)view->ndim * sizeof(*layout->shape));
    if (view->ndim <= 1 || (view->flags & GSH_NPY_C_CONTIGUOUS)) {
        gsh_numpy_output_c_order(layout, itemsize);
        return;
    }
    if (view->flags & GSH_NPY_F_CONTIGUOUS) {
        gsh_numpy_output_f_order(layout, itemsize);
        return;
    }
    /* The axes by falling |stride|, ties in the original order. The last one is innermost. */
    int axes[GSH_MAX_DIMS];
    for (int i = 0; i < view->ndim; i++) {
        int j = i;
        for (; j > 0 && llabs(view->strides[axes[j - 1]]) < llabs(view->strides[i]); j--)
            axes[j] = axes[j - 1];
        axes[j] = i;
    }
    int64_t stride = (int64_t)itemsize;
    for (int i = view->ndim - 1; i >= 0; i--) {
        layout->strides[axes[i]] = stride;
        stride *= layout->shape[axes[i]];
    }
}

bool gsh_numpy_output_is_possible(const struct gsh_layout *layout, size_t itemsize)
{
    size_t bytes = itemsize;
    for (int d = 0; d < layout->ndim; d++)
        if (!gsh_mul(bytes, (size_t)layout->shape[d], &bytes))
            return false;
    return gsh_pages_are_granted(bytes);
}

PyObject *gsh_numpy_output_allocate(enum gsh_dtype dtype, const struct gsh_layout *layout)
{
    PyObject *descr = gsh_np.descrs[dtype];
    gsh_py.Py_IncRef(descr); /* NewFromDescr steals one */
    PyObject *array = gsh_np.NewFromDescr(gsh_np.ndarray_type, descr, layout->ndim, layout->shape,
                                          layout->strides, NULL, 0, NULL);
    if (!array)
        gsh_python_error_clear();
    return array;
}

PyObject *gsh_numpy_output_create(enum gsh_dtype dtype, const struct gsh_layout *layout)
{
    gsh_arena_hint_begin();
    PyObject *array = gsh_numpy_output_allocate(dtype, layout);
    gsh_arena_hint_end();
    if (!array)
        return NULL;
    if (!gsh_arena_contains(gsh_numpy_array(array)->data)) {
        gsh_py.Py_DecRef(array);
        return NULL;
    }
    return array;
}

/* Releases what make_outputs created. */
static void drop_outputs(struct gsh_call *call, PyObject *const *made)
{
    for (unsigned j = 0; j < call->launch.nout; j++) {
        if (made[j])
            gsh_py.Py_DecRef(made[j]);
        if (call->fresh[j])
            call->launch.operands[call->launch.nin + j].address = 0;
    }
}

static bool make_outputs(struct gsh_call *call, PyObject *const *outs,
                         const struct gsh_layout *layouts, PyObject **made)
{
    for (unsigned j = 0; j < call->launch.nout; j++) {
        struct gsh_operand *result = &call->launch.operands[call->launch.nin + j];
        if (outs[j]) {
            gsh_py.Py_IncRef(outs[j]);
            made[j] = outs[j];
            continue;
        }
        made[j] = gsh_numpy_output_create(result->dtype, &layouts[j]);
        if (!made[j])
            return false;
        result->address = (uintptr_t)gsh_numpy_array(made[j])->data;
    }
    return true;
}

/* Runs a call that waits for the device without the GIL, so that other Python threads run meanwhile,
 * as during NumPy's own LAPACK calls. */
static enum gsh_status run_beside(const struct gsh_call *call, enum gsh_reason *why)
{
    if (!gsh_launch_has(&call->launch, GSH_TRAIT_REFUSES_LATE) || gsh_backend_get()->calls_python)
        return gsh_dispatch_run(call, why);
    void *state = gsh_py.PyEval_SaveThread();
    enum gsh_status status = gsh_dispatch_run(call, why);
    gsh_py.PyEval_RestoreThread(state);
    return status;
}

static void find_extent(const struct gsh_launch *launch, unsigned k, uint64_t *low, uint64_t *high)
{
    int64_t below = 0, above = 0;
    gsh_launch_extent(launch, k, &below, &above);
    *low = launch->operands[k].address + (uint64_t)below;
    *high = launch->operands[k].address + (uint64_t)above;
}

/* Whether a given output overlaps an input without being the same view. NumPy then computes into a
 * temporary, so after an exception the output is unchanged. */
static bool is_buffered(const struct gsh_launch *launch, PyObject *const *outs)
{
    uint64_t low[2], high[2];
    if (gsh_launch_is_batch(launch))
        return false;
    for (unsigned out = launch->nin; out < launch->nin + launch->nout; out++) {
        if (outs[out - launch->nin] == NULL)
            continue;
        find_extent(launch, out, &low[0], &high[0]);
        for (unsigned k = 0; k < launch->nin; k++) {
            if (launch->operands[k].is_constant || gsh_launch_is_same_view(launch, k, out))
                continue;
            find_extent(launch, k, &low[1], &high[1]);
            if (low[0] < high[1] && low[1] < high[0])
                return true;
        }
    }
    return false;
}

bool gsh_numpy_output_run_all(struct gsh_call *call, PyObject **outs,
                              const struct gsh_layout *layouts, enum gsh_reason *why)
{
    PyObject *made[GSH_MAX_OUTPUTS] = {NULL};
    bool waits = false;
    for (unsigned j = 0; j < call->launch.nout; j++)
        call->fresh[j] = outs[j] == NULL;
    *why = GSH_REASON_ERRSTATE;
    if (!gsh_numpy_errors_request(call, &waits))
        return false;
    *why = gsh_dispatch_decide(call);
    if (*why == GSH_REASON_NONE && waits && gsh_numpy_errors_may_raise(call) &&
        is_buffered(&call->launch, outs))
        *why = GSH_REASON_OVERLAP;
    if (*why != GSH_REASON_NONE)
        return false;
    if (!make_outputs(call, outs, layouts, made)) {
        *why = GSH_REASON_UNMANAGED_OUTPUT;
    } else if (run_beside(call, why) == GSH_OK) {
        bool is_bad = call->errors.checks_index && gsh_numpy_errors_met_one();
        if (is_bad || (waits && !gsh_numpy_errors_synchronize())) {
            drop_outputs(call, made);
            *why = is_bad ? GSH_REASON_OPERAND : GSH_REASON_NONE;
            return false;
        }
        memcpy(outs, made, call->launch.nout * sizeof(*outs));
        return true;
    }
    drop_outputs(call, made);
    return false;
}

PyObject *gsh_numpy_output_run(struct gsh_call *call, PyObject *out,
                               const struct gsh_layout *layout, enum gsh_reason *why)
{
    return gsh_numpy_output_run_all(call, &out, layout, why) ? out : NULL;
}

uint64_t gsh_numpy_output_host_begin(void)
{
    if (host_depth++ == 0)
        part_before = gsh_wall_time_enter_sigsafe(GSH_WALL_CPU);
    gsh_host_calibration_begin();
    return gsh_stats_report_is_wanted() ? gsh_clock_ns() : 0;
}

static void leave_host(void)
{
    if (--host_depth == 0)
        gsh_wall_time_leave_sigsafe(part_before);
}

void gsh_numpy_output_host_end(uint64_t begin, unsigned row, enum gsh_reason why)
{
    leave_host();
    gsh_host_calibration_end(gsh_host_calibration_is_expected(row) &&
                             gsh_py.PyErr_Occurred() == NULL);
    gsh_stats_host_call(row, (unsigned)why, begin ? gsh_clock_ns() - begin : 0);
    if (GSH_UNLIKELY(gsh_trace_is_on))
        GSH_TRACE_END(begin, CALLS, .row = row, .reason = why);
}

void gsh_numpy_output_host_abandon(void)
{
    leave_host();
    gsh_host_calibration_end(false);
}

bool gsh_numpy_output_host_is_inside(void)
{
    return host_depth != 0;
}

unsigned gsh_numpy_output_row(const char *name, const enum gsh_dtype *dtypes, unsigned nin,
                              enum gsh_dtype result)
{
    char signature[2 * GSH_MAX_OPERANDS + 4];
    size_t length = 0;
    for (unsigned k = 0; k < nin && k < GSH_MAX_OPERANDS; k++)
        signature[length++] = gsh_dtype_numpy_char(dtypes[k]);
    signature[length++] = '-';
    signature[length++] = '>';
    signature[length++] = gsh_dtype_numpy_char(result);
    signature[length] = 0;
    return gsh_stats_row(name, signature);
}
