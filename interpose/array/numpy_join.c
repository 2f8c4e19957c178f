/* SPDX-License-Identifier: Apache-2.0
 *
 * concatenate, on which stack, vstack, hstack, block, append and tile are based: one COPY per part
 * into its slice of the result. One decision applies to the whole call. If a part fails after
 * others have run, the original writes all parts again, so the program sees no partial result.
 */
#include "coherence.h"
#include "dispatch.h"
#include "numpy_arguments.h"
#include "numpy_assign.h"
#include "numpy_composed.h"
#include "numpy_errors.h"
#include "numpy_method_patch.h"
#include "python_error.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 64 };

static PyObject *try_concatenate(const struct gsh_method_call *call, enum gsh_reason *why,
                                 unsigned *row);

GSH_METHOD_HOOK(concatenate_hook, .table = GSH_METHOD_MODULE, .name = "concatenate",
                .handler = try_concatenate, .self_test = "m.concatenate((a, b))");

struct join {
    PyObject *objects[MAX_PARTS]; /* borrowed */
    struct gsh_view parts[MAX_PARTS];
    int64_t flat[MAX_PARTS]; /* the extents of flattened parts */
    int count, axis;
    struct gsh_layout layout; /* of the result */
    enum gsh_dtype dtype;
    PyObject *out; /* borrowed, or NULL */
    char *data;    /* of the result */
};

/* The items of the sequence. False: not worth describing. */
static bool find_parts(struct join *join, PyObject *sequence)
{
    bool is_list = gsh_py_type(sequence) == gsh_py.PyList_Type, is_worth = false;
    if (!is_list && gsh_py_type(sequence) != gsh_py.PyTuple_Type)
        return false;
    Py_ssize_t count = is_list ? gsh_py.PyList_Size(sequence) : gsh_py.PyTuple_Size(sequence);
    if (count < 1 || count > MAX_PARTS)
        return false;
    join->count = (int)count;
    for (int i = 0; i < join->count; i++) {
        join->objects[i] =
            is_list ? gsh_py.PyList_GetItem(sequence, i) : gsh_py.PyTuple_GetItem(sequence, i);
        is_worth |= gsh_numpy_method_patch_is_worth(join->objects[i]);
    }
    return is_worth;
}

/* axis=None: the flattened parts, if flattening gives views. 0-d parts are left to NumPy 1.x, which
 * takes their values into account. */
static bool flatten_parts(struct join *join)
{
    for (int i = 0; i < join->count; i++) {
        struct gsh_view *part = &join->parts[i];
        if (part->ndim == 0 || (part->ndim > 1 && !(part->flags & GSH_NPY_C_CONTIGUOUS)))
            return false;
        if (part->ndim == 1)
            continue;
        join->flat[i] = gsh_numpy_describe_size(gsh_numpy_array(join->objects[i]));
        part->strides += part->ndim - 1; /* the step of all elements, unless the last extent is 1 */
        if (part->shape[part->ndim - 1] == 1)
            return false;
        part->ndim = 1;
        part->shape = &join->flat[i];
    }
    join->axis = 0;
    return true;
}

static bool find_axis(struct join *join, PyObject *object)
{
    int64_t axis = 0;
    if (object && gsh_py_is_none(object))
        return flatten_parts(join);
    int ndim = join->parts[0].ndim;
    if (object && !gsh_numpy_arguments_int(object, &axis))
        return false;
    axis += axis < 0 ? ndim : 0;
    join->axis = (int)axis;
    return axis >= 0 && axis < ndim;
}

/* Describes the parts and computes the result's shape. */
static enum gsh_reason describe_parts(struct join *join, PyObject *axis)
{
    struct gsh_layout *layout = &join->layout;
    for (int i = 0; i < join->count; i++) {
        enum gsh_reason why = gsh_numpy_describe_array(join->objects[i], &join->parts[i]);
        if (why != GSH_REASON_NONE)
            return why;
    }
    if (join->parts[0].ndim == 0 || !find_axis(join, axis))
        return GSH_REASON_SHAPE;
    layout->ndim = join->parts[0].ndim;
    memcpy(layout->shape, join->parts[0].shape, (size_t)layout->ndim * sizeof(*layout->shape));
    for (int i = 1; i < join->count; i++) {
        const struct gsh_view *part = &join->parts[i];
        if (part->ndim != layout->ndim)
            return GSH_REASON_SHAPE;
        for (int dim = 0; dim < layout->ndim; dim++)
            if (dim != join->axis && part->shape[dim] != layout->shape[dim])
                return GSH_REASON_SHAPE;
        layout->shape[join->axis] += part->shape[join->axis];
    }
    for (int dim = 0; dim < layout->ndim; dim++)
        if (layout->shape[dim] == 0)
            return GSH_REASON_SHAPE;
    return GSH_REASON_NONE;
}

/* Whether dimension `later` has a larger stride than `earlier` in the parts: 1 yes, -1 no, 0
 * undetermined. Where parts disagree, C order wins. */
static int compare_dims(const struct join *join, int later, int earlier)
{
    int verdict = 0;
    for (int i = 0; i < join->count; i++) {
        const struct gsh_view *part = &join->parts[i];
        if (part->shape[later] == 1 || part->shape[earlier] == 1)
            continue;
        if (llabs(part->strides[later]) <= llabs(part->strides[earlier]))
            verdict = -1;
        else if (verdict == 0)
            verdict = 1;
    }
    return verdict;
}

/* The result's memory order, as PyArray_CreateMultiSortedStridePerm finds it. */
static void lay_out(struct join *join)
{
    struct gsh_layout *layout = &join->layout;
    int dims[GSH_MAX_DIMS] = {0};
    for (int i = 0; i < layout->ndim; i++) {
        int place = i;
        for (int j = i - 1; j >= 0; j--) {
            int verdict = compare_dims(join, i, dims[j]);
            if (verdict < 0)
                break;
            if (verdict > 0)
                place = j;
        }
        memmove(&dims[place + 1], &dims[place], (size_t)(i - place) * sizeof(*dims));
        dims[place] = i;
    }
    int64_t stride = (int64_t)gsh_dtype_size(join->dtype);
    for (int i = layout->ndim - 1; i >= 0; i--) {
        layout->strides[dims[i]] = stride;
        stride *= layout->shape[dims[i]];
    }
}

/* The parts' common dtype, or -1. */
static int find_common(struct join *join)
{
    for (int i = 1; i < join->count; i++) {
        if (join->parts[i].dtype == join->parts[0].dtype)
            continue;
        PyObject *descr = gsh_np.ResultType(join->count, join->objects, 0, NULL);
        int dtype = descr ? gsh_numpy_dtype(descr) : -1;
        if (descr)
            gsh_py.Py_DecRef(descr);
        else
            gsh_python_error_clear();
        return dtype;
    }
    return (int)join->parts[0].dtype;
}

/* Describes the array given as out=. It must have the result's shape and must not overlap a part.
 */
static enum gsh_reason describe_out(struct join *join)
{
    struct gsh_view view;
    struct gsh_layout *layout = &join->layout;
    enum gsh_reason why = gsh_numpy_describe_output(join->out, &view);
    if (why != GSH_REASON_NONE)
        return why;
    if (view.ndim != layout->ndim ||
        memcmp(view.shape, layout->shape, (size_t)view.ndim * sizeof(*view.shape)) != 0)
        return GSH_REASON_SHAPE;
    memcpy(layout->strides, view.strides, (size_t)view.ndim * sizeof(*view.strides));
    join->dtype = view.dtype;
    join->data = view.data;
    char *low, *high, *part_low, *part_high;
    gsh_numpy_describe_extent(gsh_numpy_array(join->out), &low, &high);
    for (int i = 0; i < join->count; i++) {
        gsh_numpy_describe_extent(gsh_numpy_array(join->objects[i]), &part_low, &part_high);
        if (low < part_high && part_low < high)
            return GSH_REASON_OVERLAP;
    }
    return GSH_REASON_NONE;
}

static enum gsh_reason describe_result(struct join *join, PyObject *asked)
{
    if (join->out)
        return gsh_numpy_arguments_is_absent(asked) ? describe_out(join) : GSH_REASON_KEYWORDS;
    int dtype =
        gsh_numpy_arguments_is_absent(asked) ? find_common(join) : gsh_numpy_describe_dtype(asked);
    if (dtype < 0)
        return GSH_REASON_DTYPE;
    join->dtype = (enum gsh_dtype)dtype;
    lay_out(join);
    return GSH_REASON_NONE;
}

static enum gsh_reason check_casts(const struct join *join, enum gsh_casting casting)
{
    for (int i = 0; i < join->count; i++) {
        if (!gsh_numpy_describe_can_cast(join->parts[i].dtype, join->dtype, casting))
            return GSH_REASON_DTYPE;
        enum gsh_reason why = gsh_numpy_assign_check_cast(join->parts[i].dtype, join->dtype);
        if (why != GSH_REASON_NONE)
            return why;
    }
    return GSH_REASON_NONE;
}

/* The copy of part i into the slice that begins at `data` (NULL: not allocated yet). */
static struct gsh_call describe_copy(const struct join *join, int i, char *data, unsigned row)
{
    struct gsh_call call = {.row = row};
    gsh_numpy_describe_copy(&call.launch, &join->parts[i], join->dtype, join->layout.strides);
    call.launch.operands[1].address = (uintptr_t)data;
    return call;
}

/* Decides by the largest part on the device, or by the largest part if none is there. Declines if
 * the parts on the host are larger in total than those on the device. */
static enum gsh_reason decide(const struct join *join, unsigned row)
{
    int64_t bytes[2] = {0}, most[2] = {-1, -1};
    int largest[2] = {0};
    for (int i = 0; i < join->count; i++) {
        const struct gsh_ndarray *array = gsh_numpy_array(join->objects[i]);
        bool is_resident = gsh_coherence_is_resident(array->data);
        int64_t size =
            gsh_numpy_describe_size(array) * (int64_t)gsh_dtype_size(join->parts[i].dtype);
        bytes[is_resident] += size;
        if (size <= most[is_resident])
            continue;
        most[is_resident] = size;
        largest[is_resident] = i;
    }
    bool any_resident = most[1] > 0;
    if (gsh_dispatch_min_elements != 0 && any_resident && bytes[0] > bytes[1])
        return GSH_REASON_DATA_ON_HOST;
    struct gsh_call call = describe_copy(join, largest[any_resident], join->data, row);
    call.fresh[0] = join->out == NULL;
    return gsh_dispatch_decide(&call);
}

/* Copies all parts into `result`. False with *why NONE: a Python exception is set. */
static bool copy_parts(const struct join *join, PyObject *result, unsigned row,
                       enum gsh_reason *why)
{
    bool waits = false;
    char *data = gsh_numpy_array(result)->data;
    for (int i = 0; i < join->count; i++) {
        const struct gsh_view *part = &join->parts[i];
        struct gsh_call call = describe_copy(join, i, data, row);
        bool waits_for_part = false;
        data += part->shape[join->axis] * join->layout.strides[join->axis];
        if (part->shape[join->axis] == 0)
            continue;
        *why = GSH_REASON_ERRSTATE;
        if (!gsh_numpy_errors_request(&call, &waits_for_part) ||
            gsh_dispatch_run(&call, why) != GSH_OK)
            return false;
        waits |= waits_for_part;
    }
    *why = GSH_REASON_NONE;
    return !waits || gsh_numpy_errors_synchronize();
}

static PyObject *run_join(const struct join *join, enum gsh_reason *why, unsigned row)
{
    PyObject *result = join->out;
    *why = decide(join, row);
    if (*why != GSH_REASON_NONE)
        return NULL;
    *why = GSH_REASON_UNMANAGED_OUTPUT;
    if (result)
        gsh_py.Py_IncRef(result);
    else
        result = gsh_numpy_output_create(join->dtype, &join->layout);
    if (!result || copy_parts(join, result, row, why))
        return result;
    gsh_py.Py_DecRef(result);
    return NULL;
}

static PyObject *try_concatenate(const struct gsh_method_call *call, enum gsh_reason *why,
                                 unsigned *row)
{
    enum { ARRAYS, AXIS, OUT, DTYPE, CASTING, PARAMETERS };
    static const char *const names[] = {"", "axis", "out", "dtype", "casting"};
    PyObject *slots[PARAMETERS];
    struct join join;
    enum gsh_casting casting;
    if (call->nargs == 0 || !find_parts(&join, call->args[0]))
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, PARAMETERS, DTYPE, slots) ||
        !gsh_numpy_arguments_casting(slots[CASTING], GSH_CASTING_SAME_KIND, &casting))
        return NULL;
    join.out = gsh_numpy_arguments_is_absent(slots[OUT]) ? NULL : slots[OUT];
    join.data = NULL;
    *why = describe_parts(&join, slots[AXIS]);
    if (*why == GSH_REASON_OPERAND)
        return gsh_numpy_composed_call("concatenate", call, false, why);
    if (*why == GSH_REASON_NONE)
        *why = describe_result(&join, slots[DTYPE]);
    if (*why == GSH_REASON_NONE)
        *why = check_casts(&join, casting);
    if (*why != GSH_REASON_NONE)
        return NULL;
    const enum gsh_dtype dtypes[] = {join.parts[0].dtype, join.parts[join.count - 1].dtype};
    *row = gsh_numpy_output_row("concatenate", dtypes, 2, join.dtype);
    return run_join(&join, why, *row);
}

void gsh_numpy_join_install(void)
{
    gsh_numpy_method_patch_install(&concatenate_hook);
}
