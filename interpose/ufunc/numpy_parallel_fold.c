/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy's reduce (reduction.c) calls the inner loop with the accumulators as output and first input. Along reduced axes their step is
 * 0 and the call has one accumulator; along kept axes it has one for each element. All noted calls have one form: the same count and
 * steps, and accumulators that are the same for two calls or apart; a call of another form begins anew.
 *
 * NumPy's iterator copies accumulators to buffers of its own, and back, where it has to join rows: before NumPy 2.3 for some arrays that
 * are not contiguous. Such arrays are left alone; should it happen elsewhere, a call beyond the array and its result shows it, and NumPy's
 * reduce runs again as it would have.
 */
#include "numpy_parallel_fold.h"

#include "cost_model.h"
#include "dispatch.h"
#include "numpy_fallback.h"
#include "numpy_parallel.h"
#include "parallel_loop.h"
#include "stats.h"

#include <fenv.h>
#include <stdlib.h>

#define CALL_NS 8e-9 /* s of a call of a loop */

enum {
    CALLS_MOST = 4096,
    LEAST_RUN =
        256, /* elements of an innermost axis: noting a call takes as long as a third of computing so many */
    PARTS_OF_THREAD = 2, /* each looks through the calls */
    ERRORS = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID
};

struct noted {
    char *accumulator, *in;
};

struct extent {
    const char *low, *high;
};

/* What a thread's reduce has noted. */
struct fold {
    const struct gsh_numpy_loop *loop;
    struct extent in, out;
    int64_t left;    /* elements that NumPy has not passed to the loop yet */
    int64_t results; /* elements of the result: extrema begin with so many */
    struct noted *calls;
    unsigned count;
    bool is_sorted; /* by accumulator */
    bool is_spoilt; /* NumPy may have read results of calls that were not made yet */
    /* the form of the noted calls */
    int64_t elements, step, in_step;
    int64_t pitch; /* bytes between accumulators of calls, or a multiple of it */
    /* how they are divided, by accumulator and by element */
    const char *first;
    int64_t rows, row_parts, cuts, cut;
};

static _Thread_local struct fold *here; /* NULL: nothing is being noted */

/* ---- in each thread ---- */

static void call_loop(const struct fold *fold, const struct noted *call, int64_t begin, int64_t end)
{
    int64_t count = end - begin, steps[] = {fold->step, fold->in_step, fold->step};
    char *accumulator = call->accumulator + begin * fold->step;
    char *args[] = {accumulator, call->in + begin * fold->in_step, accumulator};
    fold->loop->function(args, &count, steps, fold->loop->data);
}

/* The number of the first call whose accumulator is not below. */
static unsigned find_call(const struct fold *fold, const char *low)
{
    unsigned begin = 0, end = fold->is_sorted ? fold->count : 0;
    while (begin < end) {
        unsigned middle = (begin + end) / 2;
        if (fold->calls[middle].accumulator < low)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static void compute_part(void *context, int64_t part)
{
    const struct fold *fold = context;
    int64_t rows = part / fold->cuts, begin = part % fold->cuts * fold->cut;
    int64_t end = GSH_MIN(begin + fold->cut, fold->elements);
    const char *low = fold->first + fold->rows * rows / fold->row_parts * fold->pitch;
    const char *high = fold->first + fold->rows * (rows + 1) / fold->row_parts * fold->pitch;
    for (unsigned k = find_call(fold, low); k < fold->count; k++) {
        const struct noted *call = &fold->calls[k];
        if (call->accumulator >= low && call->accumulator < high)
            call_loop(fold, call, begin, end);
        else if (fold->is_sorted)
            return;
    }
}

/* ---- the noted calls ---- */

static void find_rows(struct fold *fold)
{
    const char *low = fold->calls[0].accumulator, *high = low;
    for (unsigned k = 1; k < fold->count; k++) {
        low = GSH_MIN(low, fold->calls[k].accumulator);
        high = GSH_MAX(high, fold->calls[k].accumulator);
    }
    fold->first = low;
    fold->rows = (high - low) / fold->pitch + 1;
}

static int64_t divide(struct fold *fold, unsigned threads)
{
    int64_t wanted = (int64_t)threads * PARTS_OF_THREAD;
    find_rows(fold);
    fold->row_parts = GSH_MIN(fold->rows, wanted);
    int64_t cuts = fold->step == 0 ? 1 : GSH_MAX(wanted / fold->row_parts, 1);
    fold->cut = fold->elements;
    if (cuts > 1)
        fold->cut =
            (fold->elements / cuts / GSH_PARALLEL_LOOP_ALIGNMENT + 1) * GSH_PARALLEL_LOOP_ALIGNMENT;
    fold->cuts = (fold->elements - 1) / fold->cut + 1;
    return fold->row_parts * fold->cuts;
}

static double seconds_of(double elements, size_t size)
{
    return gsh_parallel_loop_seconds(elements * (double)size, elements, GSH_COST_REDUCE_NS);
}

/* Makes the noted calls. */
static void make_calls(struct fold *fold)
{
    if (fold->count == 0)
        return;
    double elements = (double)fold->count * (double)fold->elements;
    double seconds =
        seconds_of(elements, gsh_dtype_size(fold->loop->dtype)) + fold->count * CALL_NS;
    unsigned threads = gsh_numpy_parallel_threads(seconds);
    int64_t parts = threads > 1 ? divide(fold, threads) : 1;
    if (parts < 2 || !gsh_numpy_parallel_do(compute_part, fold, parts, seconds))
        for (unsigned k = 0; k < fold->count; k++)
            call_loop(fold, &fold->calls[k], 0, fold->elements);
    fold->count = 0;
}

/* ---- noting ---- */

static bool is_inside(const struct extent *extent, const char *first, int64_t count, int64_t step,
                      size_t size)
{
    const char *last = first + (count - 1) * step;
    return GSH_MIN(first, last) >= extent->low && GSH_MAX(first, last) + size <= extent->high;
}

static bool is_own(const struct fold *fold, char **args, int64_t count, const int64_t *steps,
                   const struct gsh_numpy_loop *loop)
{
    size_t size = gsh_dtype_size(loop->dtype);
    return loop == fold->loop && count > 0 && args[0] == args[2] && steps[0] == steps[2] &&
           is_inside(&fold->out, args[0], count, steps[0], size) &&
           is_inside(&fold->in, args[1], count, steps[1], size);
}

static void begin_form(struct fold *fold, int64_t count, const int64_t *steps)
{
    int64_t size = (int64_t)gsh_dtype_size(fold->loop->dtype);
    fold->elements = count;
    fold->step = steps[0];
    fold->in_step = steps[1];
    fold->pitch = steps[0] == 0 ? size : llabs(steps[0]) * count;
    fold->is_sorted = true;
}

static bool has_form(const struct fold *fold, const char *accumulator, int64_t count,
                     const int64_t *steps)
{
    const char *last = fold->calls[fold->count - 1].accumulator;
    return count == fold->elements && steps[0] == fold->step && steps[1] == fold->in_step &&
           (accumulator == last || (accumulator - last) % fold->pitch == 0);
}

static void note(struct fold *fold, char **args, int64_t count, const int64_t *steps)
{
    if (fold->count == CALLS_MOST || (fold->count > 0 && !has_form(fold, args[0], count, steps)))
        make_calls(fold);
    if (fold->count == 0)
        begin_form(fold, count, steps);
    else if (args[0] < fold->calls[fold->count - 1].accumulator)
        fold->is_sorted = false;
    fold->calls[fold->count++] = (struct noted){.accumulator = args[0], .in = args[1]};
    fold->left -= count;
    if (fold->left == 0 || fold->left == fold->results) /* the last, or what may be the last */
        make_calls(fold);
}

/* In place of the loop. Calls of other threads, and of Python code that runs before NumPy's reduce does, are none of ours. */
static void note_hook(char **args, const int64_t *dimensions, const int64_t *steps, void *data)
{
    struct fold *fold = here;
    if (fold != NULL && is_own(fold, args, dimensions[0], steps, data)) {
        note(fold, args, dimensions[0], steps);
        return;
    }
    if (fold != NULL)
        fold->is_spoilt |= fold->count > 0;
    gsh_numpy_loops_call(args, dimensions, steps, data);
}

/* ---- the call ---- */

/* The extent of the axis along which the elements lie closest. */
static int64_t innermost(const struct gsh_launch *launch)
{
    int64_t step = INT64_MAX, extent = 1;
    for (int d = 0; d < launch->ndim; d++) {
        int64_t stride = llabs(launch->strides[0][d]);
        if (launch->shape[d] > 1 && stride < step) {
            step = stride;
            extent = launch->shape[d];
        }
    }
    return extent;
}

/* Of NumPy 2.3. */
static bool has_new_iterator(void)
{
    char *end = gsh_np.version;
    long major = strtol(end, &end, 10), minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major > 2 || (major == 2 && minor >= 3);
}

/* A given result changes the order in which NumPy walks an array with negative steps. */
static bool is_walked_in_place(PyObject *object)
{
    const struct gsh_ndarray *array = gsh_numpy_array(object);
    if ((array->flags & (GSH_NPY_C_CONTIGUOUS | GSH_NPY_F_CONTIGUOUS)) != 0)
        return true;
    for (int d = 0; d < array->nd; d++)
        if (array->strides[d] < 0)
            return false;
    return has_new_iterator();
}

static bool is_possible(const struct gsh_numpy_fold *fold, const struct gsh_launch *launch,
                        enum gsh_reason why)
{
    const struct gsh_numpy_loop *loop = fold->loop;
    return gsh_numpy_parallel_is_on() && why != GSH_REASON_NONE && why != GSH_REASON_NESTED &&
           loop != NULL && loop->count == 3 && fold->layout->ndim > 0 &&
           launch->operands[0].dtype == loop->dtype && launch->operands[1].dtype == loop->dtype &&
           loop->operands[0] == loop->dtype && loop->operands[2] == loop->dtype &&
           gsh_dtype_kind(loop->dtype) != 'c' && gsh_op_max_ulp(loop->op, loop->dtype) == 0 &&
           !gsh_numpy_loops_may_raise(loop) && innermost(launch) >= LEAST_RUN &&
           is_walked_in_place(fold->args[0]);
}

/* NumPy's reduce, whose calls of the loop are noted. */
static PyObject *reduce(struct gsh_numpy_fold *request, struct fold *fold)
{
    if (!gsh_numpy_loops_divert(request->loop, note_hook))
        return request->reduce(request->ufunc, request->args, GSH_COUNT(request->args), NULL);
    here = fold;
    PyObject *result =
        request->reduce(request->ufunc, request->args, GSH_COUNT(request->args), NULL);
    here = NULL;
    gsh_numpy_loops_end_diversion(request->loop, note_hook);
    return result;
}

/* Where NumPy has ended before the last call was made, it has not seen the errors. Whether there were none. */
static bool is_complete(struct fold *fold)
{
    if (fold->is_spoilt || fold->count == 0)
        return !fold->is_spoilt;
    feclearexcept(FE_ALL_EXCEPT);
    make_calls(fold);
    return fetestexcept(ERRORS) == 0;
}

static PyObject *run(struct gsh_numpy_fold *request, struct fold *fold, PyObject *out)
{
    request->args[GSH_NUMPY_FOLD_OUT] = out;
    gsh_numpy_describe_extent(gsh_numpy_array(out), (char **)&fold->out.low,
                              (char **)&fold->out.high);
    gsh_numpy_describe_extent(gsh_numpy_array(request->args[0]), (char **)&fold->in.low,
                              (char **)&fold->in.high);
    fold->results = gsh_numpy_describe_size(gsh_numpy_array(out));
    fold->left = gsh_numpy_describe_size(gsh_numpy_array(request->args[0]));
    PyObject *result = reduce(request, fold);
    if (result == NULL || is_complete(fold))
        return result;
    gsh_py.Py_DecRef(result);
    return request->reduce(request->ufunc, request->args, GSH_COUNT(request->args), NULL);
}

static PyObject *run_and_count(struct gsh_numpy_fold *request, struct fold *fold, unsigned row,
                               enum gsh_reason why)
{
    PyObject *out = gsh_numpy_output_allocate(request->loop->dtype, request->layout);
    if (out == NULL)
        return NULL;
    uint64_t parallel = gsh_numpy_parallel_count();
    uint64_t begin = gsh_numpy_output_host_begin();
    PyObject *result = run(request, fold, out);
    gsh_numpy_output_host_end(begin, row, why);
    gsh_py.Py_DecRef(out);
    if (gsh_numpy_parallel_count() != parallel)
        gsh_stats_parallel_call(row);
    return gsh_numpy_fallback_pass(result, row, why, NULL, 0);
}

bool gsh_numpy_parallel_fold_may(PyObject *object)
{
    const struct gsh_ndarray *array = gsh_numpy_array(object);
    int dtype = array->nd > 1 ? gsh_numpy_dtype(array->descr) : -1;
    return dtype >= 0 &&
           gsh_numpy_parallel_threads(seconds_of((double)gsh_numpy_describe_size(array),
                                                 gsh_dtype_size((enum gsh_dtype)dtype))) > 1;
}

PyObject *gsh_numpy_parallel_fold_try(struct gsh_numpy_fold *request, const struct gsh_call *call,
                                      enum gsh_reason why)
{
    struct fold fold = {.loop = request->loop};
    if (!is_possible(request, &call->launch, why) || !gsh_numpy_parallel_fold_may(request->args[0]))
        return NULL;
    fold.calls = malloc(CALLS_MOST * sizeof(*fold.calls));
    if (fold.calls == NULL)
        return NULL;
    gsh_dispatch_fetch(call);
    PyObject *result = run_and_count(request, &fold, call->row, why);
    free(fold.calls);
    return result;
}
