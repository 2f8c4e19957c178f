/* SPDX-License-Identifier: Apache-2.0
 *
 * One handler for every row of lapack.def. If the device detects a numerical problem it declines,
 * and NumPy computes the call again and reports it (LinAlgError through the errstate's callback, or
 * an overflow warning). Inputs that NumPy would cast in its iterator are cast by a launch of their
 * own.
 */
#include "numpy_linalg.h"

#include "dispatch.h"
#include "host_routines.h"
#include "numpy_errstate.h"
#include "numpy_lstsq.h"
#include "numpy_scalar.h"
#include "python_error.h"
#include "stats.h"

#include <string.h>

#define LETTERS 26

/* A call that is being described as a launch. */
struct problem {
    const struct gsh_ufunc_call *from;
    const struct gsh_lapack_info *info;
    struct gsh_call call;
    struct gsh_view views[GSH_MAX_INPUTS]; /* as given */
    PyObject *casts[GSH_MAX_INPUTS];       /* the cast copy of an input of another dtype, or NULL */
    int64_t extents[LETTERS];              /* of lapack.def's dimensions, by letter; 0: unknown */
    struct gsh_layout layouts[GSH_MAX_OUTPUTS];
    PyObject *outs[GSH_MAX_OUTPUTS];
};

static bool is_lstsq(const struct gsh_lapack_info *info)
{
    return info == gsh_lapack_info(GSH_LAPACK_LSTSQ);
}

/* The row's operand for NumPy's operand k (inputs, then outputs). qr_r_raw overwrites its input,
 * which is not an output in NumPy. */
static const struct gsh_lapack_operand *operand_of(const struct gsh_lapack_info *info,
                                                   const struct gsh_ufunc *ufunc, int k)
{
    if (is_lstsq(info))
        return &gsh_numpy_lstsq_operands[k];
    int hidden = (int)info->nout - ufunc->nout;
    return &info->operands[k < ufunc->nin ? k : k + hidden];
}

/* The dtype of loop i, or -1 if it does not match the routine's operands. */
static int dtype_of_loop(const struct gsh_lapack_info *info, const struct gsh_ufunc *ufunc, int i)
{
    const char *types = ufunc->types + (ptrdiff_t)i * ufunc->nargs;
    int dtype = gsh_numpy_dtype_of_type(types[0]);
    for (int k = 0; k < ufunc->nargs && dtype >= 0; k++)
        if (gsh_numpy_dtype_of_type(types[k]) !=
            (int)gsh_lapack_dtype(operand_of(info, ufunc, k), (enum gsh_dtype)dtype))
            dtype = -1;
    return dtype;
}

/* Whether NumPy takes loop i: the loop that the signature names, else the first loop to which all
 * inputs cast safely. */
static bool takes_loop(const struct problem *problem, int i)
{
    const struct gsh_ufunc_call *from = problem->from;
    const char *types = from->ufunc->types + (ptrdiff_t)i * from->ufunc->nargs;
    for (int k = 0; k < from->ufunc->nargs; k++) {
        int dtype = gsh_numpy_dtype_of_type(types[k]);
        if (dtype < 0 || (from->signature && from->fixed[k] != dtype))
            return false;
        if (k < (int)problem->info->nin &&
            !gsh_numpy_describe_can_cast(problem->views[k].dtype, (enum gsh_dtype)dtype,
                                         GSH_CASTING_SAFE))
            return false;
    }
    return true;
}

static enum gsh_reason find_loop(struct problem *problem)
{
    const struct gsh_ufunc *ufunc = problem->from->ufunc;
    for (int i = 0; i < ufunc->ntypes; i++) {
        if (!takes_loop(problem, i))
            continue;
        int dtype = dtype_of_loop(problem->info, ufunc, i);
        problem->call.launch.loop = (enum gsh_dtype)dtype;
        return dtype < 0 ? GSH_REASON_DTYPE : GSH_REASON_NONE;
    }
    return GSH_REASON_DTYPE;
}

/* Whether the keywords specify nothing but the loop. */
static bool is_understood(const struct gsh_ufunc_call *from)
{
    bool has_out = false;
    for (int j = 0; j < from->ufunc->nout; j++)
        has_out |= from->outs[j] != NULL;
    return !has_out && !from->where && !from->dtype && !from->axes &&
           from->order == GSH_ORDER_KEEP && from->casting == GSH_CASTING_SAME_KIND;
}

/* Whether underflow is ignored. It is the one error that the device does not detect. */
static bool ignores_underflow(const struct gsh_ufunc_call *from)
{
    int mask = from->extobj ? gsh_numpy_errstate_mask_of(from->extobj) : gsh_numpy_errstate_mask();
    return mask >= 0 &&
           gsh_numpy_errstate_mode((unsigned)mask, GSH_ERRSTATE_UNDER) == GSH_ERRSTATE_IGNORE;
}

static int64_t *extent_of(struct problem *problem, char letter)
{
    return &problem->extents[letter - 'a'];
}

/* Sets the letters' extents from the inputs' last dimensions. False: they conflict, or one is 0. */
static bool bind_extents(struct problem *problem)
{
    const struct gsh_lapack_info *info = problem->info;
    for (unsigned k = 0; k < info->nin; k++) {
        const struct gsh_lapack_operand *operand = &info->operands[k];
        const struct gsh_view *view = &problem->views[k];
        if (view->ndim < operand->ndim)
            return false;
        for (int d = 0; d < operand->ndim; d++) {
            int64_t *bound = extent_of(problem, operand->dims[d]);
            int64_t extent = view->shape[view->ndim - operand->ndim + d];
            if (extent == 0 || (*bound != 0 && *bound != extent))
                return false;
            *bound = extent;
        }
    }
    return true;
}

/* Sets p and k to the smaller extent and q to the larger. False: tau is longer than possible (left
 * to NumPy). */
static bool bind_derived(struct problem *problem)
{
    int64_t m = *extent_of(problem, 'm'), n = *extent_of(problem, 'n');
    int64_t *p = extent_of(problem, 'p'), *k = extent_of(problem, 'k');
    int64_t least = n == 0 ? m : GSH_MIN(m, n);
    if ((*p != 0 && *p != least) ||
        (problem->call.launch.lapack.routine == GSH_LAPACK_QR_COMPLETE && n > m))
        return false;
    *p = *k = least;
    *extent_of(problem, 'q') = GSH_MAX(m, n);
    return true;
}

/* The batch: the broadcast dimensions before the core dimensions. */
static enum gsh_reason place_inputs(struct problem *problem)
{
    struct gsh_launch *launch = &problem->call.launch;
    struct gsh_argument arguments[GSH_MAX_INPUTS];
    for (unsigned k = 0; k < launch->nin; k++) {
        arguments[k] = (struct gsh_argument){.is_array = true, .view = problem->views[k]};
        arguments[k].view.ndim -= problem->info->operands[k].ndim;
    }
    enum gsh_reason reason = gsh_numpy_describe_broadcast(launch, arguments, launch->nin);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (launch->ndim + GSH_CORE_DIMS > GSH_MAX_DIMS)
        return GSH_REASON_SHAPE;
    for (unsigned k = 0; k < launch->nin; k++)
        gsh_numpy_describe_place_view(launch, k, &arguments[k].view);
    return GSH_REASON_NONE;
}

/* Operand k's core dimensions with the given strides. */
static void fill_core(struct problem *problem, unsigned k, const int64_t *strides)
{
    const struct gsh_lapack_operand *operand = &problem->info->operands[k];
    struct gsh_core *core = &problem->call.launch.lapack.cores[k];
    *core = (struct gsh_core){.extent = {1, 1, 1}};
    for (int d = 0; d < operand->ndim; d++) {
        core->extent[d] = *extent_of(problem, operand->dims[d]);
        core->stride[d] = strides[d];
    }
}

/* The layout of a fresh output as NumPy's iterator chooses it: the batch in the order of the
 * inputs', each matrix in C order. */
static void lay_out(struct problem *problem, unsigned j)
{
    struct gsh_launch *launch = &problem->call.launch;
    unsigned k = launch->nin + j;
    const struct gsh_lapack_operand *operand = &problem->info->operands[k];
    struct gsh_layout *layout = &problem->layouts[j], matrix = {.ndim = operand->ndim};
    size_t size = gsh_dtype_size(launch->operands[k].dtype), bytes = size;
    for (int d = 0; d < matrix.ndim; d++) {
        matrix.shape[d] = *extent_of(problem, operand->dims[d]);
        bytes *= (size_t)matrix.shape[d];
    }
    gsh_numpy_output_c_order(&matrix, size);
    gsh_numpy_output_iterator_order(launch, launch->nin, bytes, layout);
    for (int d = 0; d < launch->ndim; d++)
        launch->strides[k][d] = layout->strides[d];
    for (int d = 0; d < matrix.ndim; d++, layout->ndim++) {
        layout->shape[layout->ndim] = matrix.shape[d];
        layout->strides[layout->ndim] = matrix.strides[d];
    }
    fill_core(problem, k, matrix.strides);
}

/* Places the output of qr_r_raw in its input, which np.linalg.qr created for the call. */
static enum gsh_reason place_raw(struct problem *problem)
{
    struct gsh_launch *launch = &problem->call.launch;
    struct gsh_view view;
    enum gsh_reason reason = gsh_numpy_describe_output(problem->from->inputs[0], &view);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (view.dtype != launch->loop)
        return GSH_REASON_DTYPE;
    problem->outs[0] = problem->from->inputs[0];
    launch->operands[1].address = launch->operands[0].address;
    memcpy(launch->strides[1], launch->strides[0], sizeof(launch->strides[0]));
    launch->lapack.cores[1] = launch->lapack.cores[0];
    return GSH_REASON_NONE;
}

static enum gsh_reason place_outputs(struct problem *problem)
{
    struct gsh_launch *launch = &problem->call.launch;
    bool is_raw = launch->lapack.routine == GSH_LAPACK_QR_R_RAW;
    for (unsigned j = is_raw ? 1 : 0; j < launch->nout; j++)
        lay_out(problem, j);
    return is_raw ? place_raw(problem) : GSH_REASON_NONE;
}

/* Describes the inputs as if they already had the loop's dtypes. */
static enum gsh_reason describe_inputs(struct problem *problem)
{
    const struct gsh_lapack_info *info = problem->info;
    struct gsh_launch *launch = &problem->call.launch;
    enum gsh_reason reason = place_inputs(problem);
    for (unsigned k = 0; k < info->nin && reason == GSH_REASON_NONE; k++) {
        const struct gsh_view *view = &problem->views[k];
        launch->operands[k].dtype = gsh_lapack_dtype(&info->operands[k], launch->loop);
        fill_core(problem, k, view->strides + view->ndim - info->operands[k].ndim);
    }
    return reason;
}

/* Describes everything except the addresses of fresh outputs. */
static enum gsh_reason describe(struct problem *problem)
{
    const struct gsh_lapack_info *info = problem->info;
    struct gsh_launch *launch = &problem->call.launch;
    launch->kind = GSH_LAUNCH_LAPACK;
    launch->nin = info->nin;
    launch->nout = info->nout;
    if (!bind_extents(problem) || !bind_derived(problem))
        return GSH_REASON_SHAPE;
    enum gsh_reason reason = describe_inputs(problem);
    if (reason != GSH_REASON_NONE)
        return reason;
    for (unsigned k = info->nin; k < info->nin + info->nout; k++)
        launch->operands[k].dtype = gsh_lapack_dtype(&info->operands[k], launch->loop);
    return place_outputs(problem);
}

/* Casts input k to the loop's dtype, in its own memory order. */
static bool cast_input(struct problem *problem, unsigned k, enum gsh_reason *why)
{
    const struct gsh_view *view = &problem->views[k];
    enum gsh_dtype dtype = problem->call.launch.operands[k].dtype;
    struct gsh_layout layout;
    struct gsh_call call = {.row = gsh_numpy_output_row("astype", &view->dtype, 1, dtype)};
    gsh_numpy_output_like(view, gsh_dtype_size(dtype), &layout);
    gsh_numpy_describe_copy(&call.launch, view, dtype, layout.strides);
    problem->casts[k] = gsh_numpy_output_run(&call, NULL, &layout, why);
    return problem->casts[k] != NULL &&
           gsh_numpy_describe_array(problem->casts[k], &problem->views[k]) == GSH_REASON_NONE;
}

static bool has_loop_dtype(const struct problem *problem, unsigned k)
{
    return problem->views[k].dtype == problem->call.launch.operands[k].dtype;
}

/* Casts the inputs that need it, after the device was chosen. */
static bool cast_inputs(struct problem *problem, enum gsh_reason *why)
{
    struct gsh_launch *launch = &problem->call.launch;
    bool needs_none = true;
    for (unsigned k = 0; k < launch->nin; k++)
        needs_none &= has_loop_dtype(problem, k);
    if (needs_none)
        return true;
    *why = gsh_dispatch_decide(&problem->call);
    if (*why != GSH_REASON_NONE)
        return false;
    for (unsigned k = 0; k < launch->nin; k++)
        if (!has_loop_dtype(problem, k) && !cast_input(problem, k, why))
            return false;
    *why = describe_inputs(problem);
    return *why == GSH_REASON_NONE;
}

/* The ufunc's return value; arrays without dimensions become scalars. Steals the outputs. */
static PyObject *hand_over(PyObject **outs, unsigned count, enum gsh_reason *why)
{
    bool is_complete = true;
    *why = GSH_REASON_MEMORY;
    for (unsigned j = 0; j < count; j++) {
        if (gsh_numpy_array(outs[j])->nd == 0)
            outs[j] = gsh_numpy_scalar_from_array(outs[j]);
        is_complete &= outs[j] != NULL;
    }
    if (is_complete && count == 1)
        return outs[0];
    PyObject *tuple = is_complete ? gsh_py_tuple(outs, count) : NULL;
    if (!tuple) {
        gsh_python_error_clear();
        gsh_py_drop(outs, count);
    }
    return tuple;
}

/* Returns the outputs that the ufunc has. */
static PyObject *collect(struct problem *problem, enum gsh_reason *why)
{
    if (is_lstsq(problem->info))
        return gsh_numpy_lstsq_finish(&problem->call, problem->outs, why);
    unsigned nout = problem->info->nout, visible = (unsigned)problem->from->ufunc->nout;
    gsh_py_drop(problem->outs, nout - visible);
    if (!gsh_py.PyErr_Occurred())
        return hand_over(problem->outs + (nout - visible), visible, why);
    gsh_py_drop(problem->outs + (nout - visible), visible); /* a borrowed loop ran out of memory */
    *why = GSH_REASON_NONE;
    return NULL;
}

static PyObject *run(struct problem *problem, enum gsh_reason *why)
{
    PyObject *result = NULL;
    if (cast_inputs(problem, why) &&
        gsh_numpy_output_run_all(&problem->call, problem->outs, problem->layouts, why))
        result = collect(problem, why);
    gsh_py_drop(problem->casts, problem->info->nin);
    return result;
}

/* np.linalg passes a single matrix, and a signature with the dtypes. Other calls are declined. */
static enum gsh_reason describe_lstsq(struct problem *problem)
{
    const struct gsh_ufunc_call *from = problem->from;
    struct gsh_launch *launch = &problem->call.launch;
    if (launch->ndim != 0)
        return GSH_REASON_SHAPE;
    if (!from->signature)
        return GSH_REASON_KEYWORDS;
    gsh_numpy_lstsq_register();
    return gsh_numpy_lstsq_tolerance(from->inputs[GSH_NUMPY_LSTSQ_RCOND], launch->loop,
                                     &launch->lapack.tolerance);
}

/* The report's row has the name of np.linalg's function: the gufunc's without its variant ("svd_s",
 * "solve1"). It has no dtypes until the loop is known. */
static unsigned find_row(const struct problem *problem, bool knows_loop)
{
    const struct gsh_lapack_info *info = problem->info;
    enum gsh_dtype dtypes[GSH_LAPACK_OPERANDS], loop = problem->call.launch.loop;
    char name[16] = "";
    memcpy(name, info->name, GSH_MIN(strcspn(info->name, "_0123456789"), sizeof(name) - 1));
    for (unsigned k = 0; k <= info->nin; k++)
        dtypes[k] = gsh_lapack_dtype(&info->operands[k], loop);
    return knows_loop ? gsh_numpy_output_row(name, dtypes, info->nin, dtypes[info->nin])
                      : gsh_stats_row(name, "");
}

/* As gsh_ufunc_handler. */
static PyObject *try_call(const struct gsh_ufunc_call *from, enum gsh_reason *why, unsigned *row)
{
    enum gsh_lapack_routine routine = (enum gsh_lapack_routine)gsh_lapack_find(from->ufunc->name);
    struct problem problem = {.from = from, .info = gsh_lapack_info(routine)};
    problem.call.launch.lapack.routine = routine;
    *row = find_row(&problem, false);
    *why = GSH_REASON_KEYWORDS;
    if (!is_understood(from))
        return NULL;
    for (unsigned k = 0; k < problem.info->nin; k++) {
        *why = gsh_numpy_describe_array(from->inputs[k], &problem.views[k]);
        if (*why != GSH_REASON_NONE)
            return NULL;
    }
    *why = find_loop(&problem);
    if (*why != GSH_REASON_NONE)
        return NULL;
    *row = problem.call.row = find_row(&problem, true);
    *why = GSH_REASON_ERRSTATE;
    if (!ignores_underflow(from))
        return NULL;
    *why = describe(&problem);
    if (*why == GSH_REASON_NONE && routine == GSH_LAPACK_LSTSQ)
        *why = describe_lstsq(&problem);
    return *why == GSH_REASON_NONE ? run(&problem, why) : NULL;
}

/* Whether the gufunc's operands match the routine in lapack.def. */
static bool matches(const struct gsh_lapack_info *info, const struct gsh_ufunc *ufunc,
                    enum gsh_lapack_routine routine)
{
    int hidden = routine == GSH_LAPACK_QR_R_RAW ? 1 : 0;
    if (routine == GSH_LAPACK_LSTSQ)
        return ufunc->nin == GSH_NUMPY_LSTSQ_INPUTS && ufunc->nout == GSH_NUMPY_LSTSQ_OUTPUTS;
    return ufunc->nin == (int)info->nin && ufunc->nout + hidden == (int)info->nout;
}

gsh_ufunc_handler gsh_numpy_linalg_offer(const struct gsh_ufunc *ufunc)
{
    int routine = gsh_lapack_find(ufunc->name);
    if (routine < 0)
        return NULL;
    const struct gsh_lapack_info *info = gsh_lapack_info((enum gsh_lapack_routine)routine);
    if (!matches(info, ufunc, (enum gsh_lapack_routine)routine))
        return NULL;
    for (int i = 0; i < ufunc->ntypes && routine != GSH_LAPACK_LSTSQ; i++) {
        int dtype = dtype_of_loop(info, ufunc, i);
        if (dtype >= 0)
            gsh_host_routines_register_loop(
                gsh_host_routines_lapack((enum gsh_lapack_routine)routine), (enum gsh_dtype)dtype,
                ufunc->functions[i], ufunc->data ? ufunc->data[i] : NULL);
    }
    return try_call;
}
