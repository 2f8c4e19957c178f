/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods and functions that copy an array (copy, astype, array, ascontiguousarray, asfortranarray,
 * flatten, ravel), as one COPY with a cast. Also a table of methods that read whole arrays on the
 * CPU: their operands are fetched to the host in one transfer instead of page by page. Methods
 * without a row work through page faults.
 */
#include "coherence.h"
#include "dispatch.h"
#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_copy.h"
#include "numpy_method_patch.h"
#include "python_error.h"

#include <string.h>

static PyObject *try_copy(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_shallow_copy(const struct gsh_method_call *call, enum gsh_reason *why,
                                  unsigned *row);
static PyObject *try_deep_copy(const struct gsh_method_call *call, enum gsh_reason *why,
                               unsigned *row);
static PyObject *try_astype(const struct gsh_method_call *call, enum gsh_reason *why,
                            unsigned *row);
static PyObject *try_array(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_asarray(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row);
static PyObject *try_ascontiguous(const struct gsh_method_call *call, enum gsh_reason *why,
                                  unsigned *row);
static PyObject *try_asfortran(const struct gsh_method_call *call, enum gsh_reason *why,
                               unsigned *row);
static PyObject *try_flatten(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row);
static PyObject *try_ravel(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);

/* X(id, table, name, handler, operand that decides by its size, self-test) */
#define COPIERS(X)                                                                                 \
    X(copy, NDARRAY, "copy", try_copy, KIN, "a.copy()")                                            \
    X(shallow_copy, NDARRAY, "__copy__", try_shallow_copy, SELF, "a.__copy__()")                   \
    X(deep_copy, NDARRAY, "__deepcopy__", try_deep_copy, SELF, "a.__deepcopy__({})")               \
    X(astype, NDARRAY, "astype", try_astype, SELF, "a.astype('f4')")                               \
    X(flatten, NDARRAY, "flatten", try_flatten, SELF, "a.flatten()")                               \
    X(ravel, NDARRAY, "ravel", try_ravel, SELF, "a.ravel()")                                       \
    X(array, MODULE, "array", try_array, ITEMS, "m.array(a)")                                      \
    X(asarray, MODULE, "asarray", try_asarray, ITEMS, "m.asarray(a)")                              \
    X(asanyarray, MODULE, "asanyarray", try_asarray, ITEMS, "m.asanyarray(a)")                     \
    X(ascontiguousarray, MODULE, "ascontiguousarray", try_ascontiguous, FIRST,                     \
      "m.ascontiguousarray(a)")                                                                    \
    X(asfortranarray, MODULE, "asfortranarray", try_asfortran, FIRST, "m.asfortranarray(a)")

#define WRITES_NONE 0
#define WRITES_SELF GSH_METHOD_WRITES_SELF
#define WRITES_FIRST GSH_METHOD_WRITES_ARG(0)

/* X(id, table, name, operands that the original writes in place, self-test or NULL) */
#define READERS(X)                                                                                 \
    X(dump, NDARRAY, "dump", NONE, NULL)                                                           \
    X(dumps, NDARRAY, "dumps", NONE, NULL)                                                         \
    X(reduce, NDARRAY, "__reduce__", NONE, "a.__reduce__()")                                       \
    X(reduce_ex, NDARRAY, "__reduce_ex__", NONE, "a.__reduce_ex__(2)")                             \
    X(tobytes, NDARRAY, "tobytes", NONE, "a.tobytes()")                                            \
    X(tofile, NDARRAY, "tofile", NONE, NULL)                                                       \
    X(tolist, NDARRAY, "tolist", NONE, "a.tolist()")                                               \
    X(tostring, NDARRAY, "tostring", NONE, NULL)

#define X(id, kind, method, function, asked, test)                                                 \
    GSH_METHOD_HOOK(id##_hook, .table = GSH_METHOD_##kind, .name = method, .handler = function,    \
                    .subject = GSH_METHOD_ASK_BY_##asked, .uses_cores = true, .self_test = test);
COPIERS(X)
#undef X
#define X(id, kind, method, written, test)                                                         \
    GSH_METHOD_HOOK(id##_hook, .table = GSH_METHOD_##kind, .name = method,                         \
                    .writes = WRITES_##written, .self_test = test);
READERS(X)
#undef X

/* An instance of a subclass. */
static bool is_kin(PyObject *object)
{
    return !gsh_numpy_is_array(object) && gsh_numpy_describe_is_array_like(object);
}

/* A copy of an instance of a subclass, as one. */
static PyObject *copy_kin(PyObject *object, enum gsh_order order, enum gsh_reason *why)
{
    static const char *const letters[] = {
        [GSH_ORDER_C] = "C", [GSH_ORDER_F] = "F", [GSH_ORDER_ANY] = "A", [GSH_ORDER_KEEP] = "K"};
    PyObject *plain =
        gsh_py.PyObject_CallMethod(gsh_np.ndarray_type, "view", "OO", object, gsh_np.ndarray_type);
    PyObject *letter = gsh_py.Py_BuildValue("s", letters[order]), *made = NULL;
    PyObject *const args[] = {object, plain, letter};
    const struct gsh_method_call call = {NULL, args, GSH_COUNT(args), NULL, NULL};
    if (plain && letter)
        made = gsh_numpy_composed_call("copy_of_kin", &call, false, why);
    else
        gsh_python_error_clear();
    gsh_py_drop(&args[1], GSH_COUNT(args) - 1);
    return made;
}

static PyObject *try_copy(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    static const char *const names[] = {"order"};
    PyObject *slots[1];
    struct gsh_view view;
    enum gsh_order order;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, 1, 1, slots) ||
        !gsh_numpy_arguments_order(slots[0], GSH_ORDER_C, &order))
        return NULL;
    if (!gsh_numpy_is_array(call->self))
        return copy_kin(call->self, order, why);
    *why = gsh_numpy_describe_array(call->self, &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    return gsh_numpy_copy_in_order("copy", &view, view.dtype, order, why, row);
}

static PyObject *try_same_order(const struct gsh_method_call *call, int64_t nargs,
                                enum gsh_reason *why, unsigned *row)
{
    struct gsh_view view;
    if ((int64_t)call->nargs != nargs || call->kwnames || call->kwdict)
        return NULL;
    *why = gsh_numpy_describe_array(call->self, &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    return gsh_numpy_copy_in_order("copy", &view, view.dtype, GSH_ORDER_KEEP, why, row);
}

static PyObject *try_shallow_copy(const struct gsh_method_call *call, enum gsh_reason *why,
                                  unsigned *row)
{
    return try_same_order(call, 0, why, row);
}

static PyObject *try_deep_copy(const struct gsh_method_call *call, enum gsh_reason *why,
                               unsigned *row)
{
    return try_same_order(call, 1, why, row);
}

static PyObject *try_astype(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    enum { DTYPE, ORDER, CASTING, SUBOK, COPY, PARAMETERS };
    static const char *const names[] = {"dtype", "order", "casting", "subok", "copy"};
    PyObject *slots[PARAMETERS];
    struct gsh_view view;
    enum gsh_order order;
    enum gsh_casting casting;
    bool subok, copy;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_method_patch_bind(call, names, PARAMETERS, PARAMETERS, slots) || !slots[DTYPE] ||
        !gsh_numpy_arguments_order(slots[ORDER], GSH_ORDER_KEEP, &order) ||
        !gsh_numpy_arguments_casting(slots[CASTING], GSH_CASTING_UNSAFE, &casting) ||
        !gsh_numpy_arguments_flag(slots[SUBOK], true, &subok) ||
        !gsh_numpy_arguments_flag(slots[COPY], true, &copy))
        return NULL;
    *why = gsh_numpy_describe_array(call->self, &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    int dtype = gsh_numpy_describe_dtype(slots[DTYPE]);
    *why = GSH_REASON_DTYPE;
    if (dtype < 0 || !gsh_numpy_describe_can_cast(view.dtype, (enum gsh_dtype)dtype, casting))
        return NULL;
    if ((enum gsh_dtype)dtype == view.dtype && !copy) {
        *why = GSH_REASON_NONE; /* usually returns the array itself */
        return NULL;
    }
    return gsh_numpy_copy_in_order("astype", &view, (enum gsh_dtype)dtype, order, why, row);
}

/* NULL or None: that of the array. Negative: of no kind that devices compute. */
static int dtype_asked(PyObject *asked, const struct gsh_view *view)
{
    return gsh_numpy_arguments_is_absent(asked) ? (int)view->dtype
                                                : gsh_numpy_describe_dtype(asked);
}

static bool is_as_asked(const struct gsh_view *view, int dtype, enum gsh_order order)
{
    int contiguous = order == GSH_ORDER_F ? GSH_NPY_F_CONTIGUOUS : GSH_NPY_C_CONTIGUOUS;
    return dtype == (int)view->dtype && (order >= GSH_ORDER_ANY || (view->flags & contiguous));
}

/* Converts `object` to the given dtype and order. If `always` is false, copies only if dtype or order differ. */
static PyObject *convert(const char *name, PyObject *object, PyObject *asked, enum gsh_order order,
                         bool always, enum gsh_reason *why, unsigned *row)
{
    struct gsh_view view;
    *why = gsh_numpy_describe_array(object, &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    int dtype = dtype_asked(asked, &view);
    if (!always && is_as_asked(&view, dtype, order))
        return NULL; /* the array itself */
    *why = GSH_REASON_DTYPE;
    if (dtype < 0 || order == GSH_ORDER_ANY || (!always && view.ndim == 0))
        return NULL;
    return gsh_numpy_copy_in_order(name, &view, (enum gsh_dtype)dtype, order, why, row);
}

/* order= of array and similar functions: None is the default. */
static bool parse_order(PyObject *object, enum gsh_order *order)
{
    *order = GSH_ORDER_KEEP;
    return gsh_numpy_arguments_is_absent(object) ||
           gsh_numpy_arguments_order(object, GSH_ORDER_KEEP, order);
}

enum {
    ARRAY_OBJECT,
    ARRAY_DTYPE,
    ARRAY_COPY,
    ARRAY_ORDER,
    ARRAY_SUBOK,
    ARRAY_NDMIN,
    ARRAY_PARAMETERS
};

/* array() of an instance of a subclass; NULL and *why NONE: not as one of that subclass, or with another dtype. */
static PyObject *array_of_kin(PyObject *const *slots, enum gsh_reason *why)
{
    const struct gsh_ndarray *array = gsh_numpy_array(slots[ARRAY_OBJECT]);
    enum gsh_order order;
    int64_t least = 0;
    bool subok;
    if (!parse_order(slots[ARRAY_ORDER], &order) ||
        !gsh_numpy_arguments_flag(slots[ARRAY_SUBOK], false, &subok) || !subok ||
        (slots[ARRAY_NDMIN] && !gsh_numpy_arguments_int(slots[ARRAY_NDMIN], &least)) ||
        least > array->nd)
        return NULL;
    bool has_dtype = !gsh_numpy_arguments_is_absent(slots[ARRAY_DTYPE]);
    if (has_dtype && gsh_numpy_describe_dtype(slots[ARRAY_DTYPE]) != gsh_numpy_dtype(array->descr))
        return NULL;
    return copy_kin(slots[ARRAY_OBJECT], order, why);
}

/* Whether array() copies only if it must: by copy=None, copy=False before NumPy 2, or _CopyMode.IF_NEEDED. */
static bool copies_if_needed(PyObject *object)
{
    if (!object || object == gsh_py._Py_TrueStruct || object == gsh_py._Py_FalseStruct)
        return gsh_np.major < 2 && object == gsh_py._Py_FalseStruct;
    return gsh_py_is_none(object) ? gsh_np.major >= 2 : object == gsh_numpy_arguments_if_needed();
}

/* Whether array() of a plain array that copies only if it must gives that array, or with ndmin= a view. */
static bool needs_no_copy(PyObject *const *slots)
{
    struct gsh_view view;
    enum gsh_order order;
    return slots[ARRAY_OBJECT] && parse_order(slots[ARRAY_ORDER], &order) &&
           gsh_numpy_describe_array(slots[ARRAY_OBJECT], &view) == GSH_REASON_NONE &&
           is_as_asked(&view, dtype_asked(slots[ARRAY_DTYPE], &view), order);
}

static PyObject *try_array(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    static const char *const names[] = {"object", "dtype", "copy", "order", "subok", "ndmin"};
    PyObject *slots[ARRAY_PARAMETERS];
    enum gsh_order order;
    bool copy = false, subok;
    if (call->nargs == 0 ||
        !gsh_numpy_method_patch_bind(call, names, ARRAY_PARAMETERS, ARRAY_DTYPE + 1, slots))
        return NULL;
    bool if_needed = copies_if_needed(slots[ARRAY_COPY]);
    if (!if_needed && (!gsh_numpy_arguments_flag(slots[ARRAY_COPY], true, &copy) || !copy))
        return NULL; /* a view: no contents are read */
    if (if_needed && needs_no_copy(slots))
        return NULL;
    if (slots[ARRAY_OBJECT] && is_kin(slots[ARRAY_OBJECT]))
        return if_needed ? NULL : array_of_kin(slots, why);
    if (slots[ARRAY_NDMIN] ||
        (slots[ARRAY_OBJECT] && gsh_numpy_describe_begins_with_array(slots[ARRAY_OBJECT])))
        return gsh_numpy_composed_call("array", call, false, why);
    *why = GSH_REASON_KEYWORDS;
    if (!slots[ARRAY_OBJECT] || !parse_order(slots[ARRAY_ORDER], &order) ||
        order == GSH_ORDER_ANY || !gsh_numpy_arguments_flag(slots[ARRAY_SUBOK], false, &subok))
        return NULL;
    return convert("array", slots[ARRAY_OBJECT], slots[ARRAY_DTYPE], order, !if_needed, why, row);
}

static PyObject *try_asarray(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row)
{
    enum { OBJECT, DTYPE, ORDER, DEVICE, COPY, LIKE, PARAMETERS };
    static const char *const names[] = {"a", "dtype", "order", "device", "copy", "like"};
    PyObject *slots[PARAMETERS];
    enum gsh_order order;
    if (call->nargs == 0 ||
        !gsh_numpy_method_patch_bind(call, names, PARAMETERS, ORDER + 1, slots) ||
        !gsh_numpy_arguments_is_absent(slots[DEVICE]) ||
        !gsh_numpy_arguments_is_absent(slots[COPY]) ||
        !gsh_numpy_arguments_is_absent(slots[LIKE]) || !parse_order(slots[ORDER], &order))
        return NULL;
    if (is_kin(slots[OBJECT])) /* a view, mostly */
        return NULL;
    if (gsh_numpy_describe_begins_with_array(slots[OBJECT]))
        return gsh_numpy_composed_call("asarray", call, false, why);
    return convert("asarray", slots[OBJECT], slots[DTYPE], order, false, why, row);
}

/* ascontiguousarray and asfortranarray: a copy unless the array already has the layout. */
static PyObject *try_contiguous(const struct gsh_method_call *call, const char *name, int flag,
                                enum gsh_order order, enum gsh_reason *why, unsigned *row)
{
    enum { OBJECT, DTYPE, PARAMETERS };
    static const char *const names[] = {"a", "dtype"};
    PyObject *slots[PARAMETERS];
    struct gsh_view view;
    if (call->nargs == 0 ||
        !gsh_numpy_method_patch_bind(call, names, PARAMETERS, PARAMETERS, slots))
        return NULL;
    *why = gsh_numpy_describe_array(slots[OBJECT], &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    int dtype = dtype_asked(slots[DTYPE], &view);
    *why = GSH_REASON_DTYPE;
    if (dtype < 0)
        return NULL;
    if (view.ndim == 0 || ((view.flags & flag) && (enum gsh_dtype)dtype == view.dtype)) {
        *why = GSH_REASON_NONE;
        return NULL;
    }
    return gsh_numpy_copy_in_order(name, &view, (enum gsh_dtype)dtype, order, why, row);
}

static PyObject *try_ascontiguous(const struct gsh_method_call *call, enum gsh_reason *why,
                                  unsigned *row)
{
    return try_contiguous(call, "ascontiguousarray", GSH_NPY_C_CONTIGUOUS, GSH_ORDER_C, why, row);
}

static PyObject *try_asfortran(const struct gsh_method_call *call, enum gsh_reason *why,
                               unsigned *row)
{
    return try_contiguous(call, "asfortranarray", GSH_NPY_F_CONTIGUOUS, GSH_ORDER_F, why, row);
}

/* A 1-d copy in C or Fortran order. */
static PyObject *try_flat(const struct gsh_method_call *call, const char *name,
                          bool view_if_contiguous, enum gsh_reason *why, unsigned *row)
{
    static const char *const names[] = {"order"};
    PyObject *slots[1];
    struct gsh_view view;
    enum gsh_order order;
    if (!gsh_numpy_method_patch_bind(call, names, 1, 1, slots))
        return NULL;
    if (!gsh_numpy_arguments_order(slots[0], GSH_ORDER_C, &order) || order > GSH_ORDER_F)
        return NULL; /* possibly a view */
    *why = gsh_numpy_describe_array(call->self, &view);
    if (*why != GSH_REASON_NONE)
        return NULL;
    int contiguous = order == GSH_ORDER_F ? GSH_NPY_F_CONTIGUOUS : GSH_NPY_C_CONTIGUOUS;
    if (view.ndim == 0 || (view_if_contiguous && (view.flags & contiguous)))
        return NULL;
    struct gsh_layout walk = {.ndim = view.ndim}, flat = {.ndim = 1};
    size_t itemsize = gsh_dtype_size(view.dtype);
    memcpy(walk.shape, view.shape, (size_t)view.ndim * sizeof(walk.shape[0]));
    if (order == GSH_ORDER_F)
        gsh_numpy_output_f_order(&walk, itemsize);
    else
        gsh_numpy_output_c_order(&walk, itemsize);
    flat.shape[0] = gsh_numpy_describe_size(gsh_numpy_array(call->self));
    flat.strides[0] = (int64_t)itemsize;
    return gsh_numpy_copy_run(name, &view, view.dtype, &flat, walk.strides, why, row);
}

static PyObject *try_flatten(const struct gsh_method_call *call, enum gsh_reason *why,
                             unsigned *row)
{
    return try_flat(call, "flatten", false, why, row);
}

static PyObject *try_ravel(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    return try_flat(call, "ravel", true, why, row);
}

static void install(struct gsh_method_hook *const *hooks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        gsh_numpy_method_patch_install(hooks[i]);
}

#define X(id, ...) &id##_hook,
static struct gsh_method_hook *const copiers[] = {COPIERS(X)};
static struct gsh_method_hook *const readers[] = {READERS(X)};
#undef X

void gsh_numpy_methods_install_without_device(void)
{
    install(copiers, GSH_COUNT(copiers));
}

void gsh_numpy_methods_install(void)
{
    install(copiers, GSH_COUNT(copiers));
    install(readers, GSH_COUNT(readers));
}
