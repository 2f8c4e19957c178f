/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Also contains the functions that store one value per element: copyto, putmask,
 * _place and the method fill. a[key] = x is in numpy_index.c.
 */
#include "numpy_assign.h"

#include "coherence.h"
#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_fallback.h"
#include "numpy_method_patch.h"
#include "numpy_parallel_copy.h"
#include "python_error.h"
#include "read_back.h"
#include "stats.h"

#include <string.h>

enum { DST, SRC, CASTING, WHERE, COPYTO_PARAMETERS };
static const char *const copyto_parameters[] = {"dst", "src", "casting", "where"};

static PyObject *try_copyto(const struct gsh_method_call *call, enum gsh_reason *why,
                            unsigned *row);
static PyObject *try_putmask(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row);
static PyObject *try_place(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_fill(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);

GSH_METHOD_HOOK(copyto_hook, .table = GSH_METHOD_MODULE, .name = "copyto", .handler = try_copyto,
                .subject = GSH_METHOD_ASK_BY_FIRST, .writes = GSH_METHOD_WRITES_ARG(0),
                .uses_cores = true, .self_test = "m.copyto(a, b)");
GSH_METHOD_HOOK(putmask_hook, .table = GSH_METHOD_MODULE, .name = "putmask", .handler = try_putmask,
                .subject = GSH_METHOD_ASK_BY_FIRST, .writes = GSH_METHOD_WRITES_ARG(0),
                .self_test = "m.putmask(a, [True, False], 0.0)");
GSH_METHOD_HOOK(place_hook, .table = GSH_METHOD_MODULE, .name = "_place", .handler = try_place,
                .subject = GSH_METHOD_ASK_BY_FIRST, .writes = GSH_METHOD_WRITES_ARG(0));
/* _place before NumPy 1.24 */
GSH_METHOD_HOOK(insert_hook, .table = GSH_METHOD_MODULE, .name = "_insert", .handler = try_place,
                .subject = GSH_METHOD_ASK_BY_FIRST, .writes = GSH_METHOD_WRITES_ARG(0));
GSH_METHOD_HOOK(fill_hook, .table = GSH_METHOD_NDARRAY, .name = "fill", .handler = try_fill,
                .subject = GSH_METHOD_ASK_BY_SELF, .writes = GSH_METHOD_WRITES_SELF,
                .self_test = "a.fill(0.0)");

bool gsh_numpy_assign_find_value(PyObject *source, struct gsh_numpy_value *value)
{
    struct gsh_view view;
    if (!gsh_numpy_is_array(source))
        return gsh_numpy_describe_scalar(source, value) == GSH_REASON_NONE;
    const struct gsh_ndarray *array = gsh_numpy_array(source);
    if (gsh_numpy_describe_size(array) != 1 || gsh_coherence_is_resident(array->data) ||
        gsh_numpy_describe_array(source, &view) != GSH_REASON_NONE)
        return false;
    *value = (struct gsh_numpy_value){.kind = GSH_VALUE_NUMPY, .dtype = view.dtype};
    memcpy(&value->scalar, view.data, gsh_dtype_size(view.dtype));
    return true;
}

PyObject *gsh_numpy_assign_list(PyObject *source, PyObject *descr)
{
    bool is_list = gsh_py_type(source) == gsh_py.PyList_Type, all_ints = true;
    int dtype = gsh_numpy_dtype(descr);
    int64_t integer;
    if (!is_list && gsh_py_type(source) != gsh_py.PyTuple_Type)
        return NULL;
    Py_ssize_t count = is_list ? gsh_py.PyList_Size(source) : gsh_py.PyTuple_Size(source);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item =
            is_list ? gsh_py.PyList_GetItem(source, i) : gsh_py.PyTuple_GetItem(source, i);
        if (gsh_py_type(item) == gsh_py.PyFloat_Type)
            all_ints = false;
        else if (!gsh_numpy_arguments_int(item, &integer))
            return NULL;
    }
    if (count == 0 ||
        !(dtype == GSH_FLOAT64 || dtype == GSH_COMPLEX128 || (dtype == GSH_INT64 && all_ints)))
        return NULL;
    PyObject *items = gsh_np.FromAny(source, NULL, 1, 1, 0, NULL);
    if (!items)
        gsh_python_error_clear();
    return items;
}

/* Whether every supported NumPy version casts the value under the rule. Some versions and rules
 * decide by the type, others by the value; both accept a cast to the same or a higher kind. */
static bool may_cast_value(const struct gsh_numpy_value *value, enum gsh_dtype dtype,
                           enum gsh_casting casting)
{
    static const char kinds[] = "buifc";
    if (casting == GSH_CASTING_UNSAFE || value->dtype == dtype)
        return true;
    if (casting != GSH_CASTING_SAME_KIND)
        return gsh_numpy_describe_can_cast(value->dtype, dtype, casting);
    return strchr(kinds, gsh_dtype_kind(value->dtype)) <= strchr(kinds, gsh_dtype_kind(dtype));
}

enum gsh_reason gsh_numpy_assign_check_cast(enum gsh_dtype from, enum gsh_dtype to)
{
    bool warns = gsh_dtype_kind(from) == 'c' && gsh_dtype_kind(to) != 'c' && to != GSH_BOOL;
    return warns ? GSH_REASON_DTYPE : GSH_REASON_NONE;
}

static enum gsh_reason place_array(struct gsh_launch *launch, PyObject *source,
                                   enum gsh_casting casting)
{
    struct gsh_view view;
    enum gsh_reason reason = gsh_numpy_describe_array(source, &view);
    if (reason != GSH_REASON_NONE)
        return reason;
    for (; view.ndim > launch->ndim && view.shape[0] == 1; view.ndim--)
        view.shape++, view.strides++;
    int shift = launch->ndim - view.ndim;
    if (shift < 0)
        return GSH_REASON_SHAPE;
    for (int i = 0; i < view.ndim; i++)
        if (view.shape[i] != 1 && view.shape[i] != launch->shape[shift + i])
            return GSH_REASON_SHAPE;
    if (!gsh_numpy_describe_can_cast(view.dtype, launch->loop, casting))
        return GSH_REASON_DTYPE;
    gsh_numpy_describe_place_view(launch, 0, &view);
    return gsh_numpy_assign_check_cast(view.dtype, launch->loop);
}

enum gsh_reason gsh_numpy_assign_place_source(struct gsh_launch *launch, PyObject *source,
                                              enum gsh_casting casting)
{
    struct gsh_numpy_value value;
    union gsh_scalar constant;
    if (!gsh_numpy_assign_find_value(source, &value))
        return place_array(launch, source, casting);
    if (!may_cast_value(&value, launch->loop, casting) ||
        !gsh_numpy_describe_cast(&value, launch->loop, &constant))
        return GSH_REASON_DTYPE;
    gsh_numpy_describe_place_constant(launch, 0, launch->loop, constant);
    return GSH_REASON_NONE;
}

/* Operand 2 = the mask over the launch's shape. A mask that shares memory with the output is
 * accepted only if it is the output itself. */
static enum gsh_reason place_mask(struct gsh_launch *launch, const struct gsh_assignment *request)
{
    struct gsh_view mask;
    enum gsh_reason reason = gsh_numpy_describe_array(request->mask, &mask);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (mask.dtype != GSH_BOOL || mask.ndim > launch->ndim)
        return GSH_REASON_SHAPE;
    int first = request->mask_leads ? 0 : launch->ndim - mask.ndim;
    launch->has_mask = true;
    launch->operands[2] = (struct gsh_operand){.dtype = GSH_BOOL, .address = (uintptr_t)mask.data};
    memset(launch->strides[2], 0, sizeof(launch->strides[2]));
    for (int i = 0; i < mask.ndim; i++) {
        bool is_stretched = mask.shape[i] == 1;
        if ((!is_stretched || request->mask_leads) && mask.shape[i] != launch->shape[first + i])
            return GSH_REASON_SHAPE;
        launch->strides[2][first + i] = is_stretched ? 0 : mask.strides[i];
    }
    char *low[2], *high[2];
    gsh_numpy_describe_extent(gsh_numpy_array(request->mask), &low[0], &high[0]);
    gsh_numpy_describe_extent(gsh_numpy_array(request->dst), &low[1], &high[1]);
    bool is_apart = high[0] <= low[1] || high[1] <= low[0];
    return is_apart || request->mask == request->dst ? GSH_REASON_NONE : GSH_REASON_OVERLAP;
}

/* Shape, loop and output of the launch. */
static enum gsh_reason place_output(struct gsh_launch *launch, PyObject *dst)
{
    struct gsh_view view;
    enum gsh_reason reason = gsh_numpy_describe_output(dst, &view);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (gsh_numpy_describe_size(gsh_numpy_array(dst)) == 0)
        return GSH_REASON_SHAPE;
    launch->loop = view.dtype;
    launch->ndim = view.ndim;
    memcpy(launch->shape, view.shape, (size_t)view.ndim * sizeof(view.shape[0]));
    gsh_numpy_describe_place_view(launch, 1, &view);
    return gsh_launch_is_distinct(launch, 1) ? GSH_REASON_NONE : GSH_REASON_LAYOUT;
}

static unsigned row_of(const struct gsh_launch *launch, const char *name)
{
    const struct gsh_operand *source = &launch->operands[0];
    bool is_fill = source->is_constant;
    if (name == NULL && is_fill)
        name = launch->has_mask ? "fill where" : "fill";
    if (name == NULL)
        name = launch->has_mask ? "assign where" : "assign";
    return gsh_numpy_output_row(name, &source->dtype, is_fill ? 0 : 1, launch->loop);
}

/* Whether two views that meet, and whose elements have one size and lie at its multiples, are read back. True for others. */
static bool is_read_back_by_elements(const struct gsh_ndarray *dst, int64_t to_stride,
                                     const struct gsh_ndarray *source, int64_t from_stride)
{
    int64_t size = gsh_numpy_abi_elsize(dst->descr), to = (int64_t)(uintptr_t)dst->data,
            from = (int64_t)(uintptr_t)source->data;
    if (gsh_numpy_abi_elsize(source->descr) != size || source->nd != 1 ||
        source->dimensions[0] != dst->dimensions[0] || (from - to) % size != 0 ||
        to_stride % size != 0 || from_stride % size != 0)
        return true;
    return gsh_read_back_happens(0, to_stride / size, (from - to) / size, from_stride / size,
                                 dst->dimensions[0]);
}

/* Whether NumPy reads elements that the same assignment has already written (read_back.h). It does so for one-dimensional
 * views whose strides have the same sign and differ. In all other cases the result is that of separate arrays. */
static bool is_read_back(PyObject *dst, PyObject *source)
{
    if (!gsh_numpy_is_array(source) || gsh_numpy_array(dst)->nd != 1 ||
        gsh_numpy_array(source)->nd == 0)
        return false;
    const struct gsh_ndarray *to = gsh_numpy_array(dst), *from = gsh_numpy_array(source);
    int64_t to_stride = to->strides[0], from_stride = from->strides[from->nd - 1];
    return to_stride != from_stride && (to_stride < 0) == (from_stride < 0) &&
           gsh_numpy_describe_meet(dst, source) &&
           is_read_back_by_elements(to, to_stride, from, from_stride);
}

static enum gsh_reason describe(struct gsh_call *call, const struct gsh_assignment *request)
{
    struct gsh_launch *launch = &call->launch;
    *call = (struct gsh_call){
        .launch = {.kind = GSH_LAUNCH_ELEMENTWISE, .op = GSH_OP_COPY, .nin = 1, .nout = 1}};
    enum gsh_reason why = place_output(launch, request->dst);
    if (why == GSH_REASON_NONE && is_read_back(request->dst, request->source))
        why = GSH_REASON_OVERLAP;
    if (why == GSH_REASON_NONE)
        why = gsh_numpy_assign_place_source(launch, request->source, request->casting);
    if (why == GSH_REASON_NONE && request->mask)
        why = place_mask(launch, request);
    if (why == GSH_REASON_NONE)
        call->row = row_of(launch, request->name);
    return why;
}

bool gsh_numpy_assign_on_cores(PyObject *dst, PyObject *source, enum gsh_reason why)
{
    struct gsh_call call;
    const struct gsh_assignment request = {
        .dst = dst, .source = source, .casting = GSH_CASTING_UNSAFE};
    return describe(&call, &request) == GSH_REASON_NONE &&
           gsh_numpy_parallel_copy_try(&call, dst, source, why);
}

bool gsh_numpy_assign_run(const struct gsh_assignment *request, enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call;
    *why = describe(&call, request);
    if (*why != GSH_REASON_NONE)
        return false;
    *row = call.row;
    PyObject *result = gsh_numpy_output_run(&call, request->dst, NULL, why);
    if (!result)
        return gsh_numpy_parallel_copy_try(&call, request->dst, request->source, *why);
    gsh_py.Py_DecRef(result);
    return true;
}

int gsh_numpy_assign_original(int (*original)(PyObject *, PyObject *, PyObject *), PyObject *self,
                              PyObject *key, PyObject *value, unsigned row, enum gsh_reason why)
{
    if (row == 0)
        row = gsh_stats_row("assign", "");
    uint64_t begin = gsh_numpy_output_host_begin();
    int outcome = original(self, key, value);
    gsh_numpy_output_host_end(begin, row, why);
    return gsh_numpy_fallback_allows(row, why, &self, 1) ? outcome : -1;
}

static PyObject *none_or_declined(bool done)
{
    if (!done)
        return NULL;
    return gsh_py_none();
}

static PyObject *try_copyto(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    PyObject *slots[COPYTO_PARAMETERS];
    enum gsh_casting casting;
    if (!gsh_numpy_method_patch_bind(call, copyto_parameters, COPYTO_PARAMETERS, COPYTO_PARAMETERS,
                                     slots) ||
        !slots[DST] || !slots[SRC])
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_arguments_casting(slots[CASTING], GSH_CASTING_SAME_KIND, &casting))
        return NULL;
    PyObject *mask = slots[WHERE] == gsh_py._Py_TrueStruct ? NULL : slots[WHERE];
    const struct gsh_assignment request = {
        .dst = slots[DST], .source = slots[SRC], .mask = mask, .casting = casting};
    return none_or_declined(gsh_numpy_assign_run(&request, why, row));
}

static bool is_same_shape(PyObject *x, PyObject *y)
{
    const struct gsh_ndarray *a = gsh_numpy_array(x), *b = gsh_numpy_array(y);
    return a->nd == b->nd &&
           memcmp(a->dimensions, b->dimensions, (size_t)a->nd * sizeof(*a->dimensions)) == 0;
}

/* putmask and _place with a mask of the array's shape and either one value or one value per
 * element. */
static PyObject *run_masked(const struct gsh_assignment *request, bool whole_source,
                            enum gsh_reason *why, unsigned *row)
{
    struct gsh_numpy_value value;
    PyObject *dst = request->dst, *source = request->source;
    *why = GSH_REASON_SHAPE;
    bool is_value = gsh_numpy_assign_find_value(source, &value);
    if (!is_same_shape(dst, request->mask) ||
        (!is_value && !(whole_source && gsh_numpy_is_array(source) && is_same_shape(dst, source))))
        return NULL;
    return none_or_declined(gsh_numpy_assign_run(request, why, row));
}

static PyObject *try_masked(const struct gsh_method_call *call, bool whole_source,
                            enum gsh_reason *why, unsigned *row)
{
    static const char *const names[] = {"", "mask", "values"};
    PyObject *slots[3];
    *why = GSH_REASON_KEYWORDS;
    if (call->nargs != 3 || !gsh_numpy_method_patch_bind(call, names, 3, 3, slots))
        return NULL;
    *why = GSH_REASON_OPERAND;
    if (!gsh_numpy_is_array(call->args[0]) || !gsh_numpy_is_array(call->args[1]))
        return NULL;
    PyObject *source = call->args[2];
    PyObject *items = gsh_numpy_assign_list(source, gsh_numpy_array(call->args[0])->descr);
    const struct gsh_assignment request = {.dst = call->args[0],
                                           .source = items ? items : source,
                                           .mask = call->args[1],
                                           .casting = items ? GSH_CASTING_UNSAFE
                                                      : gsh_numpy_is_array(source)
                                                          ? GSH_CASTING_SAFE
                                                          : GSH_CASTING_SAME_KIND};
    PyObject *result = run_masked(&request, whole_source, why, row);
    if (items)
        gsh_py.Py_DecRef(items);
    return result;
}

/* Values that are neither one nor one for each element: NumPy repeats them. */
static PyObject *try_composed(const char *name, const struct gsh_method_call *call,
                              enum gsh_reason *why)
{
    PyObject *result = gsh_numpy_composed_call(name, call, false, why);
    *why = *why == GSH_REASON_NONE ? GSH_REASON_SHAPE : *why;
    return result;
}

static PyObject *try_putmask(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row)
{
    PyObject *result = try_masked(call, true, why, row);
    return result || *why != GSH_REASON_SHAPE ? result : try_composed("putmask", call, why);
}

static PyObject *try_place(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    PyObject *result = try_masked(call, false, why, row);
    return result || *why != GSH_REASON_SHAPE ? result : try_composed("_place", call, why);
}

static PyObject *try_fill(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    struct gsh_numpy_value value;
    if (call->nargs != 1 || call->kwdict || call->kwnames)
        return NULL;
    *why = GSH_REASON_OPERAND;
    if (gsh_numpy_is_array(call->args[0]) || !gsh_numpy_assign_find_value(call->args[0], &value))
        return NULL; /* for arrays the result depends on the version and the dtype */
    const struct gsh_assignment request = {
        .dst = call->self, .source = call->args[0], .casting = GSH_CASTING_UNSAFE};
    return none_or_declined(gsh_numpy_assign_run(&request, why, row));
}

void gsh_numpy_assign_install_without_device(void)
{
    gsh_numpy_method_patch_install(&copyto_hook);
}

void gsh_numpy_assign_install(void)
{
    gsh_numpy_method_patch_install(&copyto_hook);
    gsh_numpy_method_patch_install(&putmask_hook);
    gsh_numpy_method_patch_install(&place_hook);
    gsh_numpy_method_patch_install(&insert_hook);
    gsh_numpy_method_patch_install(&fill_hook);
}
