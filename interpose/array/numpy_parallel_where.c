/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The outermost axis is cut.
 */
#include "numpy_parallel_where.h"

#include "dispatch.h"
#include "host_elementwise.h"
#include "numpy_parallel.h"
#include "parallel_loop.h"
#include "stack_pool.h"
#include "stats.h"

#define ELEMENT_NS 0.5
#define MOST_BYTES 8 /* of an element: wider ones are not moved as integers */

struct work {
    struct gsh_launch launch;
    int axis;
    int64_t rows_of_part; /* along the axis */
    int64_t parts;
};

static bool is_possible(const struct gsh_launch *launch, enum gsh_reason why)
{
    const struct gsh_operand *operands = launch->operands;
    size_t size = gsh_dtype_size(launch->loop);
    return gsh_numpy_parallel_is_on() && why != GSH_REASON_NONE && why != GSH_REASON_NESTED &&
           operands[0].dtype == GSH_BOOL && operands[1].dtype == launch->loop &&
           operands[2].dtype == launch->loop && size <= MOST_BYTES &&
           launch->strides[3][launch->ndim - 1] == (int64_t)size &&
           gsh_host_elementwise_supports(launch);
}

static double seconds_of(const struct gsh_launch *launch)
{
    double elements = (double)gsh_launch_elements(launch), bytes = 0;
    for (unsigned k = 0; k < 4; k++)
        bytes += launch->operands[k].is_constant
                     ? 0
                     : elements * (double)gsh_dtype_size(launch->operands[k].dtype);
    return gsh_parallel_loop_seconds(bytes, elements, ELEMENT_NS);
}

static bool plan(struct work *work, unsigned threads)
{
    const struct gsh_launch *launch = &work->launch;
    size_t bytes = 3 * gsh_dtype_size(launch->loop);
    int64_t elements = gsh_launch_elements(launch);
    work->axis = 0;
    for (int d = 1; d < launch->ndim; d++)
        if (launch->shape[work->axis] == 1 ||
            (launch->shape[d] > 1 && launch->strides[3][d] > launch->strides[3][work->axis]))
            work->axis = d;
    int64_t rows = launch->shape[work->axis];
    int64_t piece = gsh_parallel_loop_piece(elements, bytes, threads);
    work->rows_of_part = GSH_MAX(GSH_MIN(piece / (elements / rows), rows), 1);
    work->parts = (rows - 1) / work->rows_of_part + 1;
    return threads > 1 && work->parts > 1;
}

static void run_launch(void *launch)
{
    gsh_host_elementwise_run(launch);
}

/* Its buffers may need more stack than a program's thread has. */
static void compute_part(void *context, int64_t part)
{
    const struct work *work = context;
    struct gsh_launch launch = work->launch;
    int64_t begin = part * work->rows_of_part;
    launch.shape[work->axis] = GSH_MIN(work->rows_of_part, launch.shape[work->axis] - begin);
    for (unsigned k = 0; k < 4; k++)
        if (!launch.operands[k].is_constant)
            launch.operands[k].address += (uint64_t)(begin * launch.strides[k][work->axis]);
    gsh_stack_pool_run(run_launch, &launch);
}

/* False: there were no threads for it. */
static bool run(struct work *work, const struct gsh_call *call, double seconds, enum gsh_reason why)
{
    uint64_t begin = gsh_numpy_output_host_begin();
    void *state = gsh_py.PyEval_SaveThread();
    bool is_done = gsh_numpy_parallel_do(compute_part, work, work->parts, seconds);
    gsh_py.PyEval_RestoreThread(state);
    if (is_done) {
        gsh_numpy_output_host_end(begin, call->row, why);
        gsh_stats_parallel_call(call->row);
    } else {
        gsh_numpy_output_host_abandon();
    }
    return is_done;
}

bool gsh_numpy_parallel_where_may(int64_t elements)
{
    double count = (double)elements;
    return gsh_numpy_parallel_threads(
               gsh_parallel_loop_seconds(count * MOST_BYTES, count, ELEMENT_NS)) > 1;
}

PyObject *gsh_numpy_parallel_where_try(const struct gsh_call *call, const struct gsh_layout *layout,
                                       enum gsh_reason why)
{
    struct work work = {.launch = call->launch};
    if (!is_possible(&call->launch, why) || gsh_launch_elements(&call->launch) == 0)
        return NULL;
    double seconds = seconds_of(&call->launch);
    if (!plan(&work, gsh_numpy_parallel_threads(seconds)))
        return NULL;
    gsh_dispatch_fetch(call);
    PyObject *array = gsh_numpy_output_allocate(call->launch.loop, layout);
    if (array == NULL)
        return NULL;
    work.launch.operands[3].address = (uintptr_t)gsh_numpy_array(array)->data;
    if (run(&work, call, seconds, why))
        return array;
    gsh_py.Py_DecRef(array);
    return NULL;
}
