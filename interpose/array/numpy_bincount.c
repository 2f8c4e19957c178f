/* SPDX-License-Identifier: Apache-2.0
 *
 * bincount: zeros, to which a PUT adds one at each number. Weights: numpy_composed_order.py, where no sum is rounded; others are
 * left to NumPy, which adds them in their order. The arguments are those of NumPy 1.22 to 2.5.
 */
#include "coherence.h"
#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_method_patch.h"
#include "numpy_probe.h"

#include <string.h>

#define MOST_EMPTY ((int64_t)1 << 20) /* bins, where there are fewer numbers */
#define MOST_ZEROED ((int64_t)4096)   /* bins that the host zeroes */

static PyObject *try_bincount(const struct gsh_method_call *call, enum gsh_reason *why,
                              unsigned *row);

GSH_METHOD_HOOK(bincount_hook, .table = GSH_METHOD_MODULE, .name = "bincount",
                .handler = try_bincount, .subject = GSH_METHOD_ASK_BY_FIRST,
                .self_test = "m.bincount([0])");

/* Whether there are weights, and minlength=; false: not in their common forms. */
static bool bind(const struct gsh_method_call *call, bool *has_weights, int64_t *least_bins)
{
    enum { X, WEIGHTS, MINLENGTH, PARAMETERS };
    static const char *const names[] = {"x", "weights", "minlength"};
    PyObject *slots[PARAMETERS];
    *least_bins = 0;
    if (call->nargs == 0 ||
        !gsh_numpy_method_patch_bind(call, names, PARAMETERS, PARAMETERS, slots))
        return false;
    *has_weights = !gsh_numpy_arguments_is_absent(slots[WEIGHTS]);
    return (!slots[MINLENGTH] || gsh_numpy_arguments_int(slots[MINLENGTH], least_bins)) &&
           *least_bins >= 0;
}

static enum gsh_reason describe_numbers(PyObject *x, struct gsh_view *view)
{
    enum gsh_reason why = gsh_numpy_describe_array(x, view);
    if (why != GSH_REASON_NONE)
        return why;
    if (!(GSH_SET_INTEGERS >> view->dtype & 1) || view->dtype == GSH_UINT64)
        return GSH_REASON_DTYPE;
    return view->ndim == 1 && view->shape[0] > 0 ? GSH_REASON_NONE : GSH_REASON_SHAPE;
}

/* How many bins the result has. */
static bool count_bins(PyObject *x, const struct gsh_view *view, int64_t least_bins, int64_t *bins,
                       enum gsh_reason *why)
{
    int64_t least, greatest, most = GSH_MAX(view->shape[0], MOST_EMPTY);
    if (!gsh_numpy_probe_range(x, &least, &greatest, why))
        return false;
    *why = GSH_REASON_SHAPE;
    if (least < 0 || greatest >= most || least_bins > most)
        return false;
    *bins = GSH_MAX(greatest + 1, least_bins);
    return true;
}

/* Few zeros are written by the host. */
static PyObject *zero_on_host(const struct gsh_layout *layout, enum gsh_reason *why)
{
    PyObject *array = gsh_numpy_output_create(GSH_INT64, layout);
    *why = GSH_REASON_UNMANAGED_OUTPUT;
    if (!array)
        return NULL;
    gsh_numpy_describe_fetch(array, true);
    memset(gsh_numpy_array(array)->data, 0, (size_t)layout->shape[0] * sizeof(int64_t));
    return array;
}

static PyObject *make_zeros(int64_t count, unsigned row, enum gsh_reason *why)
{
    struct gsh_layout layout = {.ndim = 1, .shape = {count}, .strides = {sizeof(int64_t)}};
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                       .op = GSH_OP_COPY,
                                       .loop = GSH_INT64,
                                       .nin = 1,
                                       .nout = 1,
                                       .ndim = 1,
                                       .shape = {count}},
                            .row = row};
    if (count <= MOST_ZEROED)
        return zero_on_host(&layout, why);
    gsh_numpy_describe_place_constant(&call.launch, 0, GSH_INT64, (union gsh_scalar){.i64 = 0});
    call.launch.operands[1].dtype = GSH_INT64;
    call.launch.strides[1][0] = sizeof(int64_t);
    return gsh_numpy_output_run(&call, NULL, &layout, why);
}

/* counts[x[i]] += 1 */
static PyObject *run_count(const struct gsh_view *view, PyObject *counts, unsigned row,
                           enum gsh_reason *why)
{
    int64_t bins = gsh_numpy_array(counts)->dimensions[0];
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_PUT,
                                       .op = GSH_OP_ADD,
                                       .loop = GSH_INT64,
                                       .nin = 2,
                                       .nout = 1,
                                       .ndim = 1,
                                       .shape = {view->shape[0]},
                                       .indexed = {.stride = sizeof(int64_t), .extent = bins}},
                            .errors = {.is_unwanted = true},
                            .row = row};
    gsh_numpy_describe_place_constant(&call.launch, 0, GSH_INT64, (union gsh_scalar){.i64 = 1});
    gsh_numpy_describe_place_view(&call.launch, 1, view);
    call.launch.operands[2] = (struct gsh_operand){
        .dtype = GSH_INT64, .address = (uintptr_t)gsh_numpy_array(counts)->data};
    return gsh_numpy_output_run(&call, counts, NULL, why);
}

static PyObject *try_bincount(const struct gsh_method_call *call, enum gsh_reason *why,
                              unsigned *row)
{
    struct gsh_view view;
    int64_t least_bins, bins;
    bool has_weights;
    *why = GSH_REASON_KEYWORDS;
    if (!bind(call, &has_weights, &least_bins))
        return NULL;
    if (has_weights)
        return gsh_numpy_composed_call("bincount", call, false, why);
    *why = describe_numbers(call->args[0], &view);
    if (*why != GSH_REASON_NONE || !count_bins(call->args[0], &view, least_bins, &bins, why))
        return NULL;
    *row = gsh_numpy_output_row("bincount", &view.dtype, 1, GSH_INT64);
    PyObject *zeros = make_zeros(bins, *row, why);
    PyObject *counts = zeros ? run_count(&view, zeros, *row, why) : NULL;
    if (zeros)
        gsh_py.Py_DecRef(zeros);
    return counts;
}

void gsh_numpy_bincount_install(void)
{
    gsh_numpy_method_patch_install(&bincount_hook);
}
