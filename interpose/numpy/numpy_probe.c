/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. No static state.
 */
#include "numpy_probe.h"

#include "coherence.h"
#include "host_casts.h"
#include "mask_count.h"
#include "numpy_output.h"

#include <string.h>

enum { BATCH = 512 };

/* Reduces the whole view into element `place` of the int64 array `out`. */
static PyObject *reduce(const struct gsh_view *view, enum gsh_reduction reduction,
                        enum gsh_dtype loop, PyObject *out, int place, enum gsh_reason *why)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_REDUCE,
                                       .reduction = reduction,
                                       .loop = loop,
                                       .nin = 1,
                                       .nout = 1,
                                       .ndim = view->ndim,
                                       .nreduce = view->ndim}};
    struct gsh_launch *launch = &call.launch;
    memcpy(launch->shape, view->shape, (size_t)view->ndim * sizeof(*view->shape));
    gsh_numpy_describe_place_view(launch, 0, view);
    launch->operands[1].dtype = GSH_INT64;
    launch->operands[1].address =
        (uintptr_t)gsh_numpy_array(out)->data + (size_t)place * sizeof(int64_t);
    call.row =
        gsh_numpy_output_row(gsh_reduction_info(reduction)->name, &view->dtype, 1, GSH_INT64);
    return gsh_numpy_output_run(&call, out, NULL, why);
}

/* Runs the reductions and fetches the results to the host. */
static bool ask_device(const struct gsh_view *view, const enum gsh_reduction *reductions,
                       unsigned count, enum gsh_dtype loop, int64_t *results, enum gsh_reason *why)
{
    struct gsh_layout layout = {.ndim = 1, .shape = {count}, .strides = {sizeof(int64_t)}};
    PyObject *out = gsh_numpy_output_create(GSH_INT64, &layout);
    bool done = out != NULL;
    if (!out)
        *why = GSH_REASON_UNMANAGED_OUTPUT;
    for (unsigned i = 0; i < count && done; i++) {
        PyObject *result = reduce(view, reductions[i], loop, out, (int)i, why);
        done = result != NULL;
        if (result)
            gsh_py.Py_DecRef(result);
    }
    if (done) {
        const char *data = gsh_numpy_array(out)->data;
        gsh_coherence_fetch(data, count * sizeof(int64_t), false);
        memcpy(results, data, count * sizeof(int64_t));
    }
    if (out)
        gsh_py.Py_DecRef(out);
    return done;
}

/* Counts on the device, unless the count is already cached. */
static bool count_on_device(const struct gsh_view *view, int64_t *count, enum gsh_reason *why)
{
    static const enum gsh_reduction sum[] = {GSH_REDUCE_SUM};
    struct gsh_launch mask = {.nin = 1, .ndim = view->ndim};
    struct gsh_mask_count of = {.mask = &mask};
    memcpy(mask.shape, view->shape, (size_t)view->ndim * sizeof(*view->shape));
    gsh_numpy_describe_place_view(&mask, 0, view);
    if (gsh_mask_count_find(&of, count))
        return true;
    if (!ask_device(view, sum, GSH_COUNT(sum), GSH_INT64, count, why))
        return false;
    gsh_mask_count_note(&of, *count);
    return true;
}

bool gsh_numpy_probe_count(PyObject *mask, int64_t *count, enum gsh_reason *why)
{
    struct gsh_view view;
    *why = gsh_numpy_describe_array(mask, &view);
    if (*why != GSH_REASON_NONE)
        return false;
    if (gsh_numpy_describe_size(gsh_numpy_array(mask)) != 0 && gsh_coherence_is_resident(view.data))
        return count_on_device(&view, count, why);
    *count = gsh_np.CountNonzero(mask);
    return true;
}

static void extend(int64_t value, int64_t *least, int64_t *greatest)
{
    *least = GSH_MIN(*least, value);
    *greatest = GSH_MAX(*greatest, value);
}

/* One row of the array; its elements are `stride` bytes apart. */
static void scan_row(const char *row, enum gsh_dtype dtype, int64_t stride, int64_t elements,
                     int64_t *least, int64_t *greatest)
{
    int64_t values[BATCH];
    for (int64_t done = 0; done < elements; done += BATCH) {
        int64_t batch = GSH_MIN(elements - done, (int64_t)BATCH);
        gsh_host_casts_run(values, GSH_INT64, sizeof(int64_t), row + done * stride, dtype, stride,
                           batch);
        for (int64_t i = 0; i < batch; i++)
            extend(values[i], least, greatest);
    }
}

static void scan_view(const struct gsh_view *view, int dim, const char *data, int64_t *least,
                      int64_t *greatest)
{
    int64_t stride = dim < view->ndim ? view->strides[dim] : 0;
    int64_t extent = dim < view->ndim ? view->shape[dim] : 1;
    if (dim + 1 >= view->ndim) {
        scan_row(data, view->dtype, stride, extent, least, greatest);
        return;
    }
    for (int64_t i = 0; i < extent; i++)
        scan_view(view, dim + 1, data + i * stride, least, greatest);
}

/* Elements that are one in memory count once: a broadcast array may have more than can be looked at. `shape` gets the view's. */
static void drop_repeats(struct gsh_view *view, int64_t shape[GSH_MAX_DIMS])
{
    for (int i = 0; i < view->ndim; i++)
        shape[i] = view->strides[i] == 0 ? GSH_MIN(view->shape[i], 1) : view->shape[i];
    view->shape = shape;
}

bool gsh_numpy_probe_range(PyObject *array, int64_t *least, int64_t *greatest, enum gsh_reason *why)
{
    static const enum gsh_reduction ends[] = {GSH_REDUCE_MIN, GSH_REDUCE_MAX};
    struct gsh_view view;
    int64_t results[GSH_COUNT(ends)], shape[GSH_MAX_DIMS];
    *why = gsh_numpy_describe_array(array, &view);
    if (*why != GSH_REASON_NONE)
        return false;
    drop_repeats(&view, shape);
    if (gsh_coherence_is_resident(view.data)) {
        if (!ask_device(&view, ends, GSH_COUNT(ends), view.dtype, results, why))
            return false;
        *least = results[0];
        *greatest = results[1];
        return true;
    }
    *least = INT64_MAX;
    *greatest = INT64_MIN;
    scan_view(&view, 0, view.data, least, greatest);
    return true;
}
