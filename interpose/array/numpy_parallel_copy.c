/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_parallel_copy.h"

#include "arena.h"
#include "dispatch.h"
#include "host_copy.h"
#include "numpy_errstate.h"
#include "parallel_loop.h"
#include "stats.h"

#include <fenv.h>

enum { MOST_BASES = 4 }; /* views of views, which NumPy rarely makes */

/* The copy in parts of some blocks. */
struct work {
    struct gsh_host_copy copy;
    int64_t blocks, blocks_of_part, parts;
    double seconds; /* of one core */
};

/* ---- whether ---- */

/* Whether NumPy, or this library for it, allocated the memory that the array is a view of. */
static bool is_own_memory(PyObject *object)
{
    for (int i = 0; i < MOST_BASES && object && gsh_numpy_is_array(object); i++) {
        const struct gsh_ndarray *array = gsh_numpy_array(object);
        if (gsh_arena_contains(array->data) || (array->flags & GSH_NPY_OWNDATA))
            return true;
        object = array->base;
    }
    return false;
}

static bool is_in_arena(const struct gsh_launch *launch, unsigned k)
{
    return gsh_arena_contains((const void *)(uintptr_t)launch->operands[k].address);
}

/* Whether the flags of the casting instructions are those by which NumPy tells of errors. float16 is converted without such
 * instructions. */
static bool shows_errors(const struct gsh_launch *launch)
{
    enum gsh_dtype from = launch->operands[0].dtype, to = launch->operands[1].dtype;
    return to != GSH_FLOAT16 || from == to ||
           gsh_numpy_describe_can_cast(from, to, GSH_CASTING_SAFE);
}

static bool is_possible(const struct gsh_launch *launch, enum gsh_reason why)
{
    return gsh_numpy_parallel_is_on() && why != GSH_REASON_NONE && why != GSH_REASON_NESTED &&
           !launch->has_mask && !launch->operands[0].is_constant && shows_errors(launch) &&
           gsh_launch_elements(launch) >= GSH_PARALLEL_COPY_LEAST &&
           gsh_launch_is_distinct(launch, 1);
}

static double far_seconds(const struct gsh_launch *launch)
{
    double seconds = 0;
    for (unsigned k = 0; k < 2; k++)
        seconds += gsh_parallel_loop_far_seconds(launch->ndim, launch->shape, launch->strides[k],
                                                 gsh_dtype_size(launch->loop));
    return seconds;
}

/* Describes the work. Whether several threads do it sooner than one. */
static bool plan(struct work *work, const struct gsh_launch *launch)
{
    gsh_host_copy_init(&work->copy, launch);
    size_t traffic = gsh_host_copy_traffic(&work->copy);
    int64_t elements = gsh_launch_elements(launch);
    work->seconds = gsh_parallel_loop_copy_seconds(
        (double)elements * (double)traffic, (double)elements, gsh_host_copy_has_runs(&work->copy));
    work->seconds += far_seconds(launch);
    unsigned wanted = gsh_numpy_parallel_threads(work->seconds);
    int64_t piece = gsh_parallel_loop_piece(elements, traffic, wanted);
    work->blocks = gsh_host_copy_divide(&work->copy, piece);
    work->blocks_of_part = GSH_MAX(work->blocks / GSH_MAX(elements / piece, 1), 1);
    work->parts = (work->blocks - 1) / work->blocks_of_part + 1;
    return wanted > 1;
}

/* ---- how ---- */

static void copy_part(void *context, int64_t part)
{
    const struct work *work = context;
    int64_t begin = part * work->blocks_of_part, end = begin + work->blocks_of_part;
    for (int64_t number = begin; number < GSH_MIN(end, work->blocks); number++)
        gsh_host_copy_block(&work->copy, number);
}

/* Whether NumPy would tell of errors of a cast with these floating-point flags. */
static bool has_errors(int raised)
{
    int mask = raised == FE_UNDERFLOW ? gsh_numpy_errstate_mask() : -1;
    return raised != 0 &&
           (mask < 0 ||
            gsh_numpy_errstate_mode((unsigned)mask, GSH_ERRSTATE_UNDER) != GSH_ERRSTATE_IGNORE);
}

/* False: nothing was copied, because there are no cores for it and NumPy does it as soon on one. */
static bool copy_all(struct work *work)
{
    if (gsh_numpy_parallel_do(copy_part, work, work->parts, work->seconds))
        return true;
    if (!gsh_host_copy_is_slow(&work->copy))
        return false;
    for (int64_t part = 0; part < work->parts; part++)
        copy_part(work, part);
    return true;
}

static bool run(struct work *work, const struct gsh_call *call, enum gsh_reason why)
{
    uint64_t parallel = gsh_numpy_parallel_count();
    work->copy.dst = (char *)(uintptr_t)call->launch.operands[1].address;
    gsh_dispatch_fetch(call);
    uint64_t begin = gsh_numpy_output_host_begin();
    void *state = gsh_py.PyEval_SaveThread();
    feclearexcept(FE_ALL_EXCEPT);
    bool is_copied = copy_all(work);
    int raised = fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
    gsh_py.PyEval_RestoreThread(state);
    is_copied = is_copied && !has_errors(raised); /* else NumPy casts again, and tells */
    if (is_copied)
        gsh_numpy_output_host_end(begin, call->row, why);
    else
        gsh_numpy_output_host_abandon();
    if (gsh_numpy_parallel_count() != parallel)
        gsh_stats_parallel_call(call->row);
    return is_copied;
}

bool gsh_numpy_parallel_copy_try(const struct gsh_call *call, PyObject *dst, PyObject *source,
                                 enum gsh_reason why)
{
    struct work work;
    const struct gsh_launch *launch = &call->launch;
    if (!is_possible(launch, why) || !is_in_arena(launch, 1) || !is_own_memory(source) ||
        gsh_numpy_describe_meet(dst, source) ||
        (!plan(&work, launch) && !gsh_host_copy_is_slow(&work.copy)))
        return false;
    return run(&work, call, why);
}

PyObject *gsh_numpy_parallel_copy_new(struct gsh_call *call, const struct gsh_layout *layout,
                                      enum gsh_reason why)
{
    struct work work;
    struct gsh_launch *launch = &call->launch;
    if (!is_possible(launch, why) || !is_in_arena(launch, 0) || !plan(&work, launch))
        return NULL;
    PyObject *array = gsh_numpy_output_allocate(launch->operands[1].dtype, layout);
    if (!array)
        return NULL;
    launch->operands[1].address = (uintptr_t)gsh_numpy_array(array)->data;
    if (run(&work, call, why))
        return array;
    gsh_py.Py_DecRef(array);
    return NULL;
}
