/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The elements' order is plain: the compositions see to that.
 */
#include "scipy_select.h"

#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_output.h"

enum { PADDED, OFFSETS, RANK, OUTPUT, ARGUMENTS };

struct request {
    struct gsh_view padded, output;
    PyObject *offsets; /* a list */
    int count;
    int64_t rank;
};

static bool describe(PyObject *const *arguments, struct request *request)
{
    const struct gsh_view *padded = &request->padded, *output = &request->output;
    request->offsets = arguments[OFFSETS];
    if (gsh_py_type(request->offsets) != gsh_py.PyList_Type ||
        gsh_py_size(request->offsets) > GSH_SELECTION_MOST ||
        !gsh_numpy_arguments_int(arguments[RANK], &request->rank) ||
        gsh_numpy_describe_array(arguments[PADDED], &request->padded) != GSH_REASON_NONE ||
        gsh_numpy_describe_output(arguments[OUTPUT], &request->output) != GSH_REASON_NONE)
        return false;
    request->count = (int)gsh_py_size(request->offsets);
    return padded->dtype == output->dtype && padded->ndim == output->ndim &&
           (padded->flags & GSH_NPY_C_CONTIGUOUS) != 0 && request->rank >= 0 &&
           request->rank < request->count &&
           !gsh_numpy_describe_meet(arguments[PADDED], arguments[OUTPUT]);
}

/* How many elements of `padded` an offset may step over so that no window leaves it; 0: none. */
static int64_t room_of(const struct request *request)
{
    const struct gsh_view *padded = &request->padded, *output = &request->output;
    int64_t elements = 1, last = 0;
    for (int d = 0; d < padded->ndim; d++) {
        if (output->shape[d] < 1 || output->shape[d] > padded->shape[d])
            return 0;
        elements *= padded->shape[d];
        last += (output->shape[d] - 1) * padded->strides[d];
    }
    return elements - last / (int64_t)gsh_dtype_size(padded->dtype);
}

/* The list's numbers, all below `room`. NULL: they are not, or there is no memory. */
static PyObject *make_offsets(const struct request *request, int64_t room)
{
    struct gsh_layout layout = {.ndim = 1, .shape = {request->count}};
    gsh_numpy_output_c_order(&layout, sizeof(int64_t));
    PyObject *array = gsh_numpy_output_allocate(GSH_INT64, &layout);
    bool fits = array != NULL;
    for (int k = 0; k < request->count && fits; k++) {
        int64_t offset = -1;
        fits = gsh_numpy_arguments_int(gsh_py.PyList_GetItem(request->offsets, k), &offset) &&
               offset >= 0 && offset < room;
        ((int64_t *)gsh_numpy_array(array)->data)[k] = offset;
    }
    if (!fits && array)
        gsh_py.Py_DecRef(array);
    return fits ? array : NULL;
}

static void fill(const struct request *request, PyObject *offsets, int64_t room,
                 struct gsh_launch *launch)
{
    const enum gsh_dtype dtype = request->padded.dtype;
    *launch = (struct gsh_launch){
        .kind = GSH_LAUNCH_SELECT,
        .loop = dtype,
        .nin = 2,
        .nout = 1,
        .ndim = request->output.ndim,
        .selection = {{(int64_t)gsh_dtype_size(dtype), room}, request->count, (int)request->rank}};
    launch->operands[1] = (struct gsh_operand){
        .dtype = GSH_INT64, .address = (uintptr_t)gsh_numpy_array(offsets)->data};
    for (int d = 0; d < launch->ndim; d++)
        launch->shape[d] = request->output.shape[d];
    gsh_numpy_describe_place_view(launch, 0, &request->padded);
    gsh_numpy_describe_place_view(launch, 2, &request->output);
}

static bool run(const struct request *request, PyObject *output)
{
    struct gsh_call call = {.row = 0};
    int64_t room = room_of(request);
    PyObject *offsets = make_offsets(request, room), *result = NULL;
    if (offsets) {
        const enum gsh_dtype dtypes[] = {request->padded.dtype, GSH_INT64};
        enum gsh_reason why;
        fill(request, offsets, room, &call.launch);
        call.row = gsh_numpy_output_row("rank filter", dtypes, 2, request->padded.dtype);
        if (gsh_launch_is_selection(&call.launch))
            result = gsh_numpy_output_run(&call, output, NULL, &why);
        gsh_py.Py_DecRef(offsets);
    }
    if (result)
        gsh_py.Py_DecRef(result);
    return result != NULL;
}

static PyObject *select_ranked(PyObject *self, PyObject *arguments)
{
    PyObject *items[ARGUMENTS];
    struct request request;
    (void)self;
    bool is_done = gsh_py_size(arguments) == ARGUMENTS;
    for (int i = 0; i < ARGUMENTS && is_done; i++)
        items[i] = gsh_py.PyTuple_GetItem(arguments, i);
    is_done = is_done && describe(items, &request) && run(&request, items[OUTPUT]);
    return gsh_py.Py_BuildValue("i", is_done);
}

bool gsh_scipy_select_offer(void)
{
    static struct gsh_pymethoddef definition = {"select_ranked", (void *)select_ranked,
                                                GSH_METH_VARARGS, NULL};
    return gsh_numpy_composed_offer(&definition, 1);
}
