/* SPDX-License-Identifier: Apache-2.0
 *
 * searchsorted, and what calls it, as digitize. Both arrays are cast to the dtype that NumPy promotes theirs to. With sorter=
 * the line is gathered first. Of an array that is not sorted NumPy promises no result, and ours may be another than its own.
 */
#include "coherence.h"
#include "dispatch.h"
#include "numpy_copy.h"
#include "numpy_method_patch.h"
#include "numpy_probe.h"
#include "numpy_scalar.h"
#include "numpy_take.h"

#include <string.h>

static PyObject *try_searchsorted(const struct gsh_method_call *call, enum gsh_reason *why,
                                  unsigned *row);

GSH_METHOD_HOOK(searchsorted_hook, .table = GSH_METHOD_NDARRAY, .name = "searchsorted",
                .handler = try_searchsorted, .subject = GSH_METHOD_ASK_BY_PRODUCT,
                .self_test = "a.searchsorted(0.0)");

/* What is searched, and for what. `kept`: arrays that were made for it. */
struct request {
    struct gsh_view line;
    struct gsh_argument values;
    enum gsh_dtype dtype; /* of the comparison */
    union gsh_scalar constant;
    bool is_right;
    PyObject *kept[3];
    int kept_count;
};

/* The dtype to which NumPy promotes the two, where one of them holds both. */
static bool find_dtype(enum gsh_dtype a, enum gsh_dtype b, enum gsh_dtype *common)
{
    bool is_first = gsh_numpy_describe_can_cast(b, a, GSH_CASTING_SAFE);
    *common = is_first ? a : b;
    return is_first || gsh_numpy_describe_can_cast(a, b, GSH_CASTING_SAFE);
}

static bool find_side(PyObject *side, bool *is_right)
{
    *is_right = false;
    if (!side)
        return true;
    if (gsh_py_type(side) != gsh_py.PyUnicode_Type)
        return false;
    *is_right = gsh_py.PyUnicode_CompareWithASCIIString(side, "right") == 0;
    return *is_right || gsh_py.PyUnicode_CompareWithASCIIString(side, "left") == 0;
}

/* Takes over an array that was made for the request, and describes it. */
static bool keep(struct request *request, PyObject *array, struct gsh_view *view,
                 enum gsh_reason *why)
{
    if (!array)
        return false;
    request->kept[request->kept_count++] = array;
    *why = gsh_numpy_describe_array(array, view);
    return *why == GSH_REASON_NONE;
}

/* Casts the view to the common dtype where it has another, or where it must be contiguous and is not. */
static bool cast(struct request *request, bool is_contiguous, struct gsh_view *view,
                 enum gsh_reason *why, unsigned *row)
{
    bool is_copied =
        view->dtype != request->dtype || (is_contiguous && !(view->flags & GSH_NPY_C_CONTIGUOUS));
    return !is_copied ||
           keep(request,
                gsh_numpy_copy_in_order("copy", view, request->dtype, GSH_ORDER_C, why, row), view,
                why);
}

/* The line in the order of `sorter`. */
static bool arrange(struct request *request, PyObject *sorter, enum gsh_reason *why, unsigned *row)
{
    struct gsh_view view;
    int64_t least, greatest, length = request->line.shape[0];
    if (gsh_numpy_arguments_is_absent(sorter))
        return true;
    *why = gsh_numpy_describe_array(sorter, &view);
    if (*why != GSH_REASON_NONE)
        return false;
    *why = GSH_REASON_OPERAND;
    if (view.dtype != GSH_INT64 || view.ndim != 1 || view.shape[0] != length ||
        !gsh_numpy_probe_range(sorter, &least, &greatest, why))
        return false;
    *why = GSH_REASON_OPERAND;
    if (least < 0 || greatest >= length)
        return false;
    return keep(request,
                gsh_numpy_take_gather(&request->line, 0, sorter, true, GSH_TAKE_C_ORDER, why, row),
                &request->line, why);
}

static bool describe(const struct gsh_method_call *call, struct request *request,
                     enum gsh_reason *why)
{
    *why = gsh_numpy_describe_array(call->self, &request->line);
    if (*why == GSH_REASON_NONE)
        *why = gsh_numpy_describe_argument(call->args[0], &request->values);
    if (*why != GSH_REASON_NONE)
        return false;
    const struct gsh_argument *values = &request->values;
    *why = GSH_REASON_SHAPE;
    if (request->line.ndim != 1 || request->line.shape[0] == 0 ||
        (values->is_array && gsh_numpy_describe_size(gsh_numpy_array(call->args[0])) == 0))
        return false;
    *why = GSH_REASON_DTYPE;
    return find_dtype(request->line.dtype,
                      values->is_array ? values->view.dtype : values->value.dtype,
                      &request->dtype) &&
           (values->is_array ||
            gsh_numpy_describe_cast(&values->value, request->dtype, &request->constant));
}

static void place(const struct request *request, struct gsh_launch *launch,
                  struct gsh_layout *layout)
{
    const struct gsh_view *line = &request->line, *view = &request->values.view;
    *launch =
        (struct gsh_launch){.kind = GSH_LAUNCH_SEARCH,
                            .loop = request->dtype,
                            .nin = 2,
                            .nout = 1,
                            .search = {{line->strides[0], line->shape[0]}, request->is_right}};
    launch->operands[0] =
        (struct gsh_operand){.dtype = request->dtype, .address = (uintptr_t)line->data};
    launch->operands[2].dtype = GSH_INT64;
    layout->ndim = launch->ndim = request->values.is_array ? view->ndim : 0;
    for (int i = 0; i < layout->ndim; i++)
        layout->shape[i] = launch->shape[i] = view->shape[i];
    gsh_numpy_output_c_order(layout, sizeof(int64_t));
    memcpy(launch->strides[2], layout->strides, (size_t)layout->ndim * sizeof(int64_t));
    if (request->values.is_array)
        gsh_numpy_describe_place_view(launch, 1, view);
    else
        gsh_numpy_describe_place_constant(launch, 1, request->dtype, request->constant);
}

static PyObject *run(const struct request *request, enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {.row = 0};
    struct gsh_layout layout;
    place(request, &call.launch, &layout);
    const enum gsh_dtype dtypes[] = {request->dtype, request->dtype};
    *row = call.row = gsh_numpy_output_row("searchsorted", dtypes, 2, GSH_INT64);
    PyObject *result = gsh_numpy_output_run(&call, NULL, &layout, why);
    return result && layout.ndim == 0 ? gsh_numpy_scalar_from_array(result) : result;
}

/* Whether one number is sought in a line on the host. */
static bool is_small(const struct gsh_method_call *call)
{
    return !gsh_numpy_is_array(call->args[0]) && gsh_dispatch_min_elements > 1 &&
           !gsh_coherence_is_resident(gsh_numpy_array(call->self)->data);
}

static PyObject *try_searchsorted(const struct gsh_method_call *call, enum gsh_reason *why,
                                  unsigned *row)
{
    enum { VALUES, SIDE, SORTER, PARAMETERS };
    static const char *const names[] = {"v", "side", "sorter"};
    PyObject *slots[PARAMETERS], *result = NULL;
    struct request request = {.kept_count = 0};
    if (call->nargs == 0 || is_small(call))
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, PARAMETERS, PARAMETERS, slots) ||
        !find_side(slots[SIDE], &request.is_right) || !describe(call, &request, why))
        return NULL;
    if (arrange(&request, slots[SORTER], why, row) &&
        cast(&request, false, &request.line, why, row) &&
        (!request.values.is_array || cast(&request, true, &request.values.view, why, row)))
        result = run(&request, why, row);
    for (int i = 0; i < request.kept_count; i++)
        gsh_py.Py_DecRef(request.kept[i]);
    return result;
}

void gsh_numpy_search_install(void)
{
    gsh_numpy_method_patch_install(&searchsorted_hook);
}
