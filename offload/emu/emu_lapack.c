/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The core dimensions of NumPy's loops are the letters of lapack.def, in the order in which a row
 * names them.
 */
#include "emu_lapack.h"

#include "emu_lapack_condition.h"
#include "emu_lapack_symbols.h"
#include "host_group.h"
#include "host_routines.h"
#include "host_walk.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define MAX_LETTERS 4 /* of one row */
#define MAX_STEPS (GSH_LAPACK_OPERANDS * (1 + GSH_CORE_DIMS))

/* The arguments of a loop. */
struct frame {
    unsigned first,
        operands; /* the launch's operands that are passed: the first one, and their number */
    char *args[GSH_LAPACK_OPERANDS];
    int64_t dimensions[1 + MAX_LETTERS];
    int64_t steps[MAX_STEPS];
};

static bool is_conditioned(const struct gsh_launch *launch)
{
    return launch->lapack.routine == GSH_LAPACK_SOLVE_CONDITIONED ||
           launch->lapack.routine == GSH_LAPACK_INV_CONDITIONED;
}

static bool is_mirroring(const struct gsh_launch *launch)
{
    return launch->lapack.routine == GSH_LAPACK_INV_CONDITIONED &&
           (launch->lapack.options & GSH_LAPACK_DENSE) != 0;
}

static const struct gsh_host_loop *inverting_loop(const struct gsh_launch *launch)
{
    return gsh_host_routines_find_loop(gsh_host_routines_lapack(GSH_LAPACK_INV), launch->loop);
}

static const struct gsh_host_loop *find_loop(const struct gsh_launch *launch)
{
    enum gsh_lapack_routine routine = launch->lapack.routine;
    if (is_conditioned(launch))
        routine = routine == GSH_LAPACK_INV_CONDITIONED ? GSH_LAPACK_INV : GSH_LAPACK_SOLVE;
    return gsh_host_routines_find_loop(gsh_host_routines_lapack(routine), launch->loop);
}

bool gsh_emu_lapack_supports(const struct gsh_launch *launch)
{
    bool has_loop = find_loop(launch)->function != NULL &&
                    (!is_conditioned(launch) || inverting_loop(launch)->function != NULL);
    return (has_loop || gsh_emu_lapack_symbols_has(launch)) &&
           launch->ndim + GSH_CORE_DIMS <= GSH_MAX_DIMS;
}

/* Lists the extents of the row's letters, each letter once. */
static void fill_dimensions(const struct gsh_lapack *lapack, unsigned operands, int64_t *dimensions)
{
    const struct gsh_lapack_info *info = gsh_lapack_info(lapack->routine);
    char seen[MAX_LETTERS + 1] = "";
    size_t count = 0;
    for (unsigned k = 0; k < operands; k++)
        for (int d = 0; d < info->operands[k].ndim; d++) {
            char letter = info->operands[k].dims[d];
            if (memchr(seen, letter, count) != NULL)
                continue;
            seen[count] = letter;
            dimensions[count++] = lapack->cores[k].extent[d];
        }
}

/* Whether the loop works with the transpose of operand k. */
static bool is_turned(const struct gsh_launch *launch, unsigned k)
{
    return k == 0 && launch->lapack.routine == GSH_LAPACK_SOLVE_CONDITIONED &&
           (launch->lapack.options & GSH_LAPACK_TRANSPOSED) != 0;
}

/* Fills in everything but the batch's addresses, which change. `inner`: the batch's dimension that the loop runs
 * over; -1: there is none. */
static void fill_frame(const struct gsh_launch *launch, int inner, struct frame *frame)
{
    const struct gsh_lapack *lapack = &launch->lapack;
    const struct gsh_lapack_info *info = gsh_lapack_info(lapack->routine);
    unsigned count = 0;
    frame->first =
        lapack->routine == GSH_LAPACK_QR_R_RAW ? 1 : 0; /* it works in place, in its first output */
    frame->operands = info->nin + info->nout - frame->first;
    frame->dimensions[0] = inner < 0 ? 1 : launch->shape[inner];
    fill_dimensions(lapack, info->nin + info->nout, frame->dimensions + 1);
    for (unsigned k = frame->first; k < frame->first + frame->operands; k++)
        frame->steps[count++] = inner < 0 ? 0 : launch->strides[k][inner];
    for (unsigned k = frame->first; k < frame->first + frame->operands; k++)
        for (int d = 0; d < info->operands[k].ndim; d++)
            frame->steps[count++] = lapack->cores[k].stride[is_turned(launch, k) ? 1 - d : d];
}

/* Calls the loop for each index of the dimensions before the innermost one. */
static void call_loops(const struct gsh_launch *launch)
{
    const struct gsh_host_loop *loop = find_loop(launch);
    struct frame frame;
    int inner = launch->ndim - 1;
    struct gsh_host_walk walk = gsh_host_walk_begin(launch, 0, inner);
    fill_frame(launch, inner, &frame);
    int64_t left = gsh_launch_elements(launch) / frame.dimensions[0];
    for (; left > 0; left--, gsh_host_walk_step(&walk, 1)) {
        memcpy(frame.args, walk.address + frame.first, frame.operands * sizeof(*frame.args));
        loop->function(frame.args, frame.dimensions, frame.steps, loop->data);
    }
}

/* Whether an eigenvalue is NaN. NumPy's loops call ?syevd, which reports no error for a matrix of NaN (LAPACK 3.11,
 * more than 25 rows); ?syev and ?syevr do not converge on it. */
static bool has_nan_values(const struct gsh_launch *launch)
{
    const struct gsh_core *values = &launch->lapack.cores[launch->nin];
    struct gsh_host_walk walk = gsh_host_walk_begin(launch, 0, launch->ndim);
    int64_t left = gsh_launch_elements(launch);
    bool found = false;
    for (; left > 0 && !found; left--, gsh_host_walk_step(&walk, 1))
        for (int64_t i = 0; i < values->extent[0] && !found; i++) {
            const void *value = walk.address[launch->nin] + i * values->stride[0];
            found = gsh_dtype_is_single(launch->loop) ? isnan(*(const float *)value)
                                                      : isnan(*(const double *)value);
        }
    return found;
}

static bool is_for_eigenvectors(const struct gsh_launch *launch)
{
    return launch->lapack.routine == GSH_LAPACK_EIGH_LO ||
           launch->lapack.routine == GSH_LAPACK_EIGH_UP;
}

/* Copies the input to the first output. */
static enum gsh_status copy_input(const struct gsh_launch *launch)
{
    struct gsh_launch copy = {.kind = GSH_LAUNCH_ELEMENTWISE,
                              .op = GSH_OP_COPY,
                              .loop = launch->loop,
                              .nin = 1,
                              .nout = 1,
                              .ndim = launch->ndim + GSH_CORE_DIMS};
    memcpy(copy.shape, launch->shape, (size_t)launch->ndim * sizeof(*copy.shape));
    memcpy(copy.shape + launch->ndim, launch->lapack.cores[0].extent,
           sizeof(launch->lapack.cores[0].extent));
    for (unsigned k = 0; k < 2; k++) {
        copy.operands[k] = launch->operands[k];
        memcpy(copy.strides[k], launch->strides[k], (size_t)launch->ndim * sizeof(int64_t));
        memcpy(copy.strides[k] + launch->ndim, launch->lapack.cores[k].stride,
               sizeof(launch->lapack.cores[k].stride));
    }
    gsh_launch_collapse(&copy);
    return gsh_host_group_run_launch(&copy);
}

enum gsh_status gsh_emu_lapack_run(const struct gsh_launch *launch)
{
    enum { ERRORS = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };
    fexcept_t flags;
    enum gsh_status status = GSH_OK;
    if (gsh_emu_lapack_symbols_has(launch))
        return gsh_emu_lapack_symbols_run(launch);
    if (launch->lapack.routine == GSH_LAPACK_QR_R_RAW)
        GSH_TRY(copy_input(launch));
    fegetexceptflag(&flags, FE_ALL_EXCEPT);
    feclearexcept(FE_ALL_EXCEPT);
    if (is_conditioned(launch))
        status = gsh_emu_lapack_condition_check(launch, inverting_loop(launch)->function,
                                                inverting_loop(launch)->data);
    if (status == GSH_OK)
        call_loops(launch);
    if (status == GSH_OK && is_mirroring(launch))
        gsh_emu_lapack_condition_mirror(launch);
    bool is_doubtful = fetestexcept(ERRORS) != 0;
    fesetexceptflag(&flags, FE_ALL_EXCEPT);
    is_doubtful |= status == GSH_OK && is_for_eigenvectors(launch) && has_nan_values(launch);
    return status == GSH_OK && is_doubtful ? GSH_DECLINED : status;
}
