/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything that stores into an existing array: a[key] = x (the mapping slot of ndarray), copyto,
 * and the method fill. All become one COPY with a cast. a[key] = x looks at the destination's
 * address first: arrays outside the arena, where all small host arrays live, go on to NumPy after
 * two compares.
 */
#include "arena.h"
#include "coherence.h"
#include "dispatch.h"
#include "numpy_arguments.h"
#include "numpy_errstate.h"
#include "numpy_method_patch.h"
#include "stats.h"

#include <string.h>

enum { DST, SRC, CASTING, WHERE, COPYTO_PARAMETERS };
static const char *const copyto_parameters[] = {"dst", "src", "casting", "where"};

static PyObject *try_copyto(const struct gsh_method_call *call, enum gsh_reason *why,
                            unsigned *row);
static PyObject *try_fill(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);

GSH_METHOD_HOOK(copyto_hook, .table = GSH_METHOD_MODULE, .name = "copyto", .handler = try_copyto,
                .subject = GSH_METHOD_ASK_BY_FIRST, .writes = GSH_METHOD_WRITES_ARG(0),
                .self_test = "m.copyto(a, b)");
GSH_METHOD_HOOK(fill_hook, .table = GSH_METHOD_NDARRAY, .name = "fill", .handler = try_fill,
                .subject = GSH_METHOD_ASK_BY_SELF, .writes = GSH_METHOD_WRITES_SELF,
                .self_test = "a.fill(0.0)");

static int (*original_assign)(PyObject *, PyObject *, PyObject *);
static PyObject *(*original_subscript)(PyObject *, PyObject *);
static struct gsh_hook *assign_row;

/* The value of `source` where it is one element on the host side: a scalar or an array of size 1.
 */
static bool find_value(PyObject *source, struct gsh_numpy_value *value)
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

/* Whether NumPy would cast the value under the rule, whatever its version: it goes by the type or,
 * for some versions and rules, by the value; what both allow is a kind that does not sink. */
static bool may_cast_value(const struct gsh_numpy_value *value, enum gsh_dtype dtype,
                           enum gsh_casting casting)
{
    static const char kinds[] = "bif";
    if (casting == GSH_CASTING_UNSAFE || value->dtype == dtype)
        return true;
    if (casting != GSH_CASTING_SAME_KIND)
        return false;
    return strchr(kinds, gsh_dtype_kind(value->dtype)) <= strchr(kinds, gsh_dtype_kind(dtype));
}

/* Places an array as the source, its leading extents of 1 dropped as PyArray_AssignArray does. */
static enum gsh_reason place_source(struct gsh_launch *launch, PyObject *source,
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
    if (gsh_numpy_arguments_cast_may_warn(view.dtype, launch->loop) &&
        !gsh_numpy_errstate_is_quiet())
        return GSH_REASON_ERRSTATE;
    gsh_numpy_describe_place_view(launch, 0, &view);
    return GSH_REASON_NONE;
}

/* dst[...] = source on the device. False and *why: declined, nothing touched. */
static bool run_assign(PyObject *dst, PyObject *source, enum gsh_casting casting,
                       enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {
        .launch = {.kind = GSH_LAUNCH_ELEMENTWISE, .op = GSH_OP_COPY, .nin = 1}};
    struct gsh_launch *launch = &call.launch;
    struct gsh_view view;
    struct gsh_numpy_value value;
    union gsh_scalar constant;
    *why = gsh_numpy_describe_output(dst, &view);
    if (*why != GSH_REASON_NONE)
        return false;
    *why = GSH_REASON_SHAPE;
    if (gsh_numpy_describe_size(gsh_numpy_array(dst)) == 0)
        return false;
    launch->loop = view.dtype;
    launch->ndim = view.ndim;
    memcpy(launch->shape, view.shape, (size_t)view.ndim * sizeof(view.shape[0]));
    gsh_numpy_describe_place_view(launch, 1, &view);
    *why = GSH_REASON_LAYOUT;
    if (!gsh_numpy_describe_is_distinct(launch, 1))
        return false;
    if (find_value(source, &value)) {
        *why = GSH_REASON_DTYPE;
        if (!may_cast_value(&value, view.dtype, casting) ||
            !gsh_numpy_describe_cast(&value, view.dtype, &constant))
            return false;
        gsh_numpy_describe_place_constant(launch, 0, view.dtype, constant);
        *row = call.row = gsh_numpy_output_row("fill", NULL, 0, view.dtype);
    } else {
        *why = place_source(launch, source, casting);
        if (*why != GSH_REASON_NONE)
            return false;
        *row = call.row = gsh_numpy_output_row("assign", &launch->operands[0].dtype, 1, view.dtype);
    }
    PyObject *result = gsh_numpy_output_run(&call, dst, NULL, why);
    if (result)
        gsh_py.Py_DecRef(result);
    return result != NULL;
}

static PyObject *none_or_declined(bool done)
{
    if (!done)
        return NULL;
    gsh_py.Py_IncRef(gsh_py._Py_NoneStruct);
    return gsh_py._Py_NoneStruct;
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
    if ((slots[WHERE] && slots[WHERE] != gsh_py._Py_TrueStruct) ||
        !gsh_numpy_arguments_casting(slots[CASTING], GSH_CASTING_SAME_KIND, &casting))
        return NULL;
    return none_or_declined(run_assign(slots[DST], slots[SRC], casting, why, row));
}

static PyObject *try_fill(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    struct gsh_numpy_value value;
    if (call->nargs != 1 || call->kwdict || call->kwnames)
        return NULL;
    *why = GSH_REASON_OPERAND;
    if (gsh_numpy_is_array(call->args[0]) || !find_value(call->args[0], &value))
        return NULL; /* an array as the value is an error in some versions, depending on its dtype */
    return none_or_declined(run_assign(call->self, call->args[0], GSH_CASTING_UNSAFE, why, row));
}

/* a[key] = x */

enum key_kind {
    KEY_ELEMENT, /* names one element: never worth a look */
    KEY_VIEW,    /* basic indexing: the destination is a view */
    KEY_FANCY    /* an index array, a sequence that becomes one, or bounds that run code */
};

/* PySliceObject, the same in CPython 3.9-3.14. */
struct slice_object {
    char head[16];
    PyObject *start, *stop, *step;
};

/* None or an exact integer: nothing that runs a program's code to become an index. */
static bool is_plain_bound(PyObject *bound)
{
    PyObject *type = gsh_py_type(bound);
    return gsh_py_is_none(bound) || type == gsh_py.PyLong_Type ||
           type == gsh_np.scalar_types[GSH_INT64];
}

static bool is_plain_slice(PyObject *key)
{
    const struct slice_object *slice = (const struct slice_object *)key;
    return is_plain_bound(slice->start) && is_plain_bound(slice->stop) &&
           is_plain_bound(slice->step);
}

/* What the items of a key name. A view's key is evaluated twice where the device declines, so that
 * it must not run code. */
static enum key_kind classify_items(const struct gsh_ndarray *array, PyObject *const *items,
                                    Py_ssize_t count)
{
    int integers = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *type = gsh_py_type(items[i]);
        if (gsh_numpy_is_array(items[i]) || type == gsh_py.PyList_Type)
            return KEY_FANCY;
        if (type == gsh_py.PySlice_Type && !is_plain_slice(items[i]))
            return KEY_FANCY;
        if (type == gsh_py.PyLong_Type)
            integers++;
        else if (type != gsh_py.PySlice_Type && items[i] != gsh_py._Py_EllipsisObject &&
                 !gsh_py_is_none(items[i]))
            return KEY_ELEMENT; /* a NumPy integer, most often; whatever it is, page faults serve it
                                 */
    }
    return integers == array->nd ? KEY_ELEMENT : KEY_VIEW;
}

static enum key_kind classify_key(const struct gsh_ndarray *array, PyObject *key)
{
    PyObject *items[GSH_MAX_DIMS + 2];
    if (gsh_py_type(key) != gsh_py.PyTuple_Type)
        return classify_items(array, &key, 1);
    Py_ssize_t count = gsh_py.PyTuple_Size(key);
    if (count > (Py_ssize_t)GSH_COUNT(items))
        return KEY_ELEMENT;
    for (Py_ssize_t i = 0; i < count; i++)
        items[i] = gsh_py.PyTuple_GetItem(key, i);
    return classify_items(array, items, count);
}

/* [...] or [:] */
static bool is_whole(PyObject *key)
{
    const struct slice_object *slice = (const struct slice_object *)key;
    return key == gsh_py._Py_EllipsisObject ||
           (gsh_py_type(key) == gsh_py.PySlice_Type && gsh_py_is_none(slice->start) &&
            gsh_py_is_none(slice->stop) && gsh_py_is_none(slice->step));
}

static bool is_resident_array(PyObject *object)
{
    return gsh_numpy_is_array(object) && gsh_coherence_is_resident(gsh_numpy_array(object)->data);
}

/* Whether a store into an array that is not on the device may pay: all of it is overwritten, or the
 * device holds the source. A part of it with a source on the host never does: the rest would have
 * to go up first. */
static bool may_pay_from_host(PyObject *self, PyObject *key, PyObject *value)
{
    if (gsh_dispatch_min_elements == 0) /* force mode, or limits set by hand */
        return true;
    if (is_whole(key))
        return gsh_numpy_describe_size(gsh_numpy_array(self)) >= gsh_dispatch_min_elements;
    return is_resident_array(value) &&
           gsh_numpy_describe_size(gsh_numpy_array(value)) >= gsh_dispatch_min_elements;
}

/* Tries a[key] = value, key being a view's, on the device. */
static bool try_assign_view(PyObject *self, PyObject *key, PyObject *value, enum gsh_reason *why,
                            unsigned *row)
{
    PyObject *view = original_subscript(self, key);
    if (!view)
        gsh_py.PyErr_Clear();
    *why = GSH_REASON_OPERAND;
    bool done =
        view && gsh_numpy_is_array(view) && run_assign(view, value, GSH_CASTING_UNSAFE, why, row);
    if (view && !done && *why != GSH_REASON_NONE) {
        gsh_numpy_describe_home(view, true);
        gsh_numpy_describe_home(value, false);
    }
    if (view)
        gsh_py.Py_DecRef(view);
    return done;
}

/* The original, the value brought home first. */
static int assign_at_home(PyObject *self, PyObject *key, PyObject *value)
{
    if (value && gsh_py_type(value) != gsh_py.PyFloat_Type &&
        gsh_py_type(value) != gsh_py.PyLong_Type)
        gsh_numpy_describe_home(value, false);
    return original_assign(self, key, value);
}

/* The part of the hook for arrays in the arena; kept out of the way of all others. */
static __attribute__((noinline)) int assign_in_arena(PyObject *self, PyObject *key, PyObject *value)
{
    const struct gsh_ndarray *array = gsh_numpy_array(self);
    enum gsh_reason why = GSH_REASON_NONE;
    unsigned row = 0;
    bool is_resident = gsh_coherence_is_resident(array->data);
    if (!is_resident && !may_pay_from_host(self, key, value))
        return assign_at_home(self, key, value);
    enum key_kind kind = classify_key(array, key);
    if (kind == KEY_FANCY && is_resident)
        gsh_numpy_describe_home(self, true);
    if (kind != KEY_VIEW || array->nd == 0 || value == self ||
        !(array->flags & GSH_NPY_WRITEABLE) || !gsh_dispatch_is_live())
        return assign_at_home(self, key, value);
    if (try_assign_view(self, key, value, &why, &row))
        return 0;
    if (row == 0)
        row = gsh_stats_row("assign", "");
    uint64_t begin = gsh_numpy_output_host_begin();
    int outcome = original_assign(self, key, value);
    gsh_numpy_output_host_end(begin, row, why);
    return outcome;
}

static int assign_subscript(PyObject *self, PyObject *key, PyObject *value)
{
    gsh_numpy_hooks_hit(assign_row);
    if (GSH_LIKELY(!gsh_numpy_is_array(self) || !value ||
                   !gsh_arena_contains(gsh_numpy_array(self)->data)))
        return assign_at_home(self, key, value);
    return assign_in_arena(self, key, value);
}

void gsh_numpy_assign_install(void)
{
    gsh_numpy_method_patch_install(&copyto_hook);
    gsh_numpy_method_patch_install(&fill_hook);
    struct gsh_pymapping *mapping = ((struct gsh_pytype *)gsh_np.ndarray_type)->tp_as_mapping;
    if (!mapping || !mapping->mp_subscript || !mapping->mp_ass_subscript)
        return;
    original_subscript = mapping->mp_subscript;
    original_assign = mapping->mp_ass_subscript;
    assign_row = gsh_numpy_hooks_add("mapping", "ndarray.__setitem__", "a[0:1] = 0.0");
    __atomic_store_n(&mapping->mp_ass_subscript, assign_subscript, __ATOMIC_RELEASE);
}
