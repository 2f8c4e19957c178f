/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads array headers and scalars. It reads contents only of scalars and of 0-d arrays in plain
 * host memory. GIL; keeps the Python error state.
 */
#include "numpy_describe.h"

#include "arena.h"
#include "coherence.h"
#include "host_casts.h"
#include "python_error.h"
#include "python_text.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond 2^53 an int64 is not exact as a double, and NumPy versions differ in how often they round.
 */
#define EXACT_IN_DOUBLE (UINT64_C(1) << 53)
/* Integers up to this bound are rounded only once on the way to float16, whatever the intermediate
 * type. */
#define EXACT_IN_FLOAT (UINT64_C(1) << 24)
#define HALF_LIMIT 65504.0

static bool has_attribute(PyObject *descr, const char *name)
{
    PyObject *value = gsh_py.PyObject_GetAttrString(descr, name);
    bool present = !value || !gsh_py_is_none(value);
    if (value)
        gsh_py.Py_DecRef(value);
    else
        gsh_python_error_clear();
    return present;
}

/* Whether a dtype object has properties beyond its type number, such as metadata or fields of an
 * integer. This is possible if it is not the shared object (e.g. from pickle). Such dtypes are left
 * to NumPy. */
static bool is_special(PyObject *descr, enum gsh_dtype dtype)
{
    return descr != gsh_np.descrs[dtype] &&
           (has_attribute(descr, "metadata") || has_attribute(descr, "fields"));
}

enum gsh_reason gsh_numpy_describe_array(PyObject *object, struct gsh_view *view)
{
    if (!gsh_numpy_is_array(object))
        return GSH_REASON_OPERAND;
    const struct gsh_ndarray *array = gsh_numpy_array(object);
    int dtype = gsh_numpy_dtype(array->descr);
    if (dtype < 0 || is_special(array->descr, (enum gsh_dtype)dtype))
        return GSH_REASON_DTYPE;
    if (!(array->flags & GSH_NPY_ALIGNED))
        return GSH_REASON_LAYOUT;
    if (array->nd > GSH_MAX_DIMS)
        return GSH_REASON_SHAPE;
    *view = (struct gsh_view){
        .dtype = (enum gsh_dtype)dtype,
        .ndim = array->nd,
        .data = array->data,
        .shape = array->dimensions,
        .strides = array->strides,
        .flags = array->flags,
    };
    return GSH_REASON_NONE;
}

/* NumPy warns if such an array is written (a result of broadcast_arrays). */
#define NPY_WARN_ON_WRITE ((int)(1u << 31))

enum gsh_reason gsh_numpy_describe_output(PyObject *object, struct gsh_view *view)
{
    enum gsh_reason why = gsh_numpy_describe_array(object, view);
    if (why != GSH_REASON_NONE)
        return why;
    if (!(view->flags & GSH_NPY_WRITEABLE) ||
        (view->flags & (GSH_NPY_WRITEBACKIFCOPY | NPY_WARN_ON_WRITE)))
        return GSH_REASON_READ_ONLY;
    return gsh_arena_contains(view->data) ? GSH_REASON_NONE : GSH_REASON_UNMANAGED_OUTPUT;
}

/* An element in host memory as a scalar. */
static union gsh_scalar load_scalar(const void *element, enum gsh_dtype dtype)
{
    union gsh_scalar scalar = {.words = {0}};
    memcpy(&scalar, element, gsh_dtype_size(dtype));
    return scalar;
}

static enum gsh_reason describe_python_int(PyObject *object, struct gsh_numpy_value *value)
{
    int overflow;
    long long number = gsh_py.PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow > 0) {
        unsigned long long large = gsh_py.PyLong_AsUnsignedLongLong(object);
        if (large == ULLONG_MAX) { /* out of range, or exactly this value */
            gsh_python_error_clear();
            return GSH_REASON_OPERAND;
        }
        *value = (struct gsh_numpy_value){GSH_VALUE_PY_INT, GSH_UINT64, {.u64 = large}};
        return GSH_REASON_NONE;
    }
    if (overflow != 0)
        return GSH_REASON_OPERAND;
    *value = (struct gsh_numpy_value){GSH_VALUE_PY_INT, GSH_INT64, {.i64 = number}};
    return GSH_REASON_NONE;
}

/* The address of a scalar's value, which follows the object header in all supported types: float64
 * extends Python's float and complex128 Python's complex. */
static const char *after_header(PyObject *object)
{
    return (const char *)object + 16;
}

enum gsh_reason gsh_numpy_describe_scalar(PyObject *object, struct gsh_numpy_value *value)
{
    PyObject *type = gsh_py_type(object);
    if (type == gsh_py.PyFloat_Type) {
        *value = (struct gsh_numpy_value){
            GSH_VALUE_PY_FLOAT, GSH_FLOAT64, {.f64 = gsh_py_float_value(object)}};
        return GSH_REASON_NONE;
    }
    if (type == gsh_py.PyLong_Type)
        return describe_python_int(object, value);
    if (type == gsh_py.PyBool_Type) {
        *value = (struct gsh_numpy_value){
            GSH_VALUE_PY_BOOL, GSH_BOOL, {.b = object == gsh_py._Py_TrueStruct}};
        return GSH_REASON_NONE;
    }
    if (type == gsh_py.PyComplex_Type) {
        *value = (struct gsh_numpy_value){GSH_VALUE_PY_COMPLEX, GSH_COMPLEX128,
                                          load_scalar(after_header(object), GSH_COMPLEX128)};
        return GSH_REASON_NONE;
    }
    for (int i = 0; i < GSH_DTYPE_COUNT; i++) {
        if (type != gsh_np.scalar_types[i])
            continue;
        const char *element = after_header(object);
        *value = (struct gsh_numpy_value){GSH_VALUE_NUMPY, (enum gsh_dtype)i,
                                          load_scalar(element, (enum gsh_dtype)i)};
        return GSH_REASON_NONE;
    }
    return GSH_REASON_OPERAND;
}

enum gsh_reason gsh_numpy_describe_argument(PyObject *object, struct gsh_argument *argument)
{
    argument->object = object;
    argument->is_array = gsh_numpy_is_array(object);
    if (!argument->is_array)
        return gsh_numpy_describe_scalar(object, &argument->value);
    struct gsh_view view;
    enum gsh_reason why = gsh_numpy_describe_array(object, &view);
    if (why != GSH_REASON_NONE)
        return why;
    if (view.ndim == 0 && !gsh_coherence_is_resident(view.data)) {
        argument->is_array = false;
        argument->value = (struct gsh_numpy_value){GSH_VALUE_NUMPY, view.dtype,
                                                   load_scalar(view.data, view.dtype)};
        return GSH_REASON_NONE;
    }
    argument->view = view;
    return GSH_REASON_NONE;
}

/* Whether an integer (negative or not) of this magnitude fits the integer dtype. */
static bool integer_fits(bool negative, uint64_t magnitude, enum gsh_dtype dtype)
{
    unsigned bits = (unsigned)gsh_dtype_size(dtype) * 8;
    bool is_signed = gsh_dtype_kind(dtype) == 'i';
    if (negative)
        return is_signed && magnitude <= UINT64_C(1) << (bits - 1);
    return magnitude <= UINT64_MAX >> (64 - bits + is_signed);
}

static bool may_cast_integer(bool negative, uint64_t magnitude, enum gsh_dtype dtype)
{
    switch (gsh_dtype_kind(dtype)) {
    case 'b':
        return magnitude <= INT64_MAX; /* NumPy stores a Python int via a C long */
    case 'i':
    case 'u':
        return integer_fits(negative, magnitude, dtype);
    default:
        break;
    }
    return magnitude <= (dtype == GSH_FLOAT16 ? EXACT_IN_FLOAT : EXACT_IN_DOUBLE) &&
           (dtype != GSH_FLOAT16 || (double)magnitude < HALF_LIMIT);
}

/* The largest finite value of a float dtype, or of a complex dtype's parts, plus the margin that
 * rounds to it. */
static double greatest(enum gsh_dtype dtype)
{
    if (dtype == GSH_FLOAT16)
        return HALF_LIMIT;
    return gsh_dtype_is_single(dtype) ? (double)FLT_MAX : DBL_MAX;
}

static bool may_cast_float(double number, enum gsh_dtype dtype)
{
    switch (gsh_dtype_kind(dtype)) {
    case 'b':
        return !isnan(number);
    case 'i':
    case 'u':
        return fabs(number) < 0x1p63 &&
               integer_fits(number <= -1, (uint64_t)fabs(trunc(number)), dtype);
    default:
        return !isfinite(number) || fabs(number) <= greatest(dtype);
    }
}

static double as_double(const struct gsh_numpy_value *value)
{
    double number;
    gsh_host_casts_run(&number, GSH_FLOAT64, 8, &value->scalar, value->dtype, 0, 1);
    return number;
}

static bool may_cast_complex(const struct gsh_numpy_value *value, enum gsh_dtype dtype)
{
    double parts[2];
    gsh_host_casts_run(parts, GSH_COMPLEX128, 16, &value->scalar, value->dtype, 0, 1);
    return gsh_dtype_kind(dtype) == 'c' && may_cast_float(parts[0], dtype) &&
           may_cast_float(parts[1], dtype);
}

static bool may_cast(const struct gsh_numpy_value *value, enum gsh_dtype dtype)
{
    int64_t number = 0;
    switch (gsh_dtype_kind(value->dtype)) {
    case 'f':
        return may_cast_float(as_double(value), dtype);
    case 'c':
        return may_cast_complex(value, dtype);
    case 'u':
        break;
    default:
        gsh_host_casts_run(&number, GSH_INT64, 8, &value->scalar, value->dtype, 0, 1);
        return may_cast_integer(number < 0, number < 0 ? -(uint64_t)number : (uint64_t)number,
                                dtype);
    }
    uint64_t magnitude = 0;
    gsh_host_casts_run(&magnitude, GSH_UINT64, 8, &value->scalar, value->dtype, 0, 1);
    return may_cast_integer(false, magnitude, dtype);
}

/* Whether NumPy's cast to a narrower type may report an underflow. */
static bool underflows(const struct gsh_numpy_value *value, enum gsh_dtype dtype)
{
    static const double least[GSH_DTYPE_COUNT] = {
        [GSH_FLOAT16] = 0x1p-14, [GSH_FLOAT32] = FLT_MIN, [GSH_COMPLEX64] = FLT_MIN};
    double parts[2] = {0, 0};
    char from = gsh_dtype_kind(value->dtype);
    if ((from != 'f' && from != 'c') || least[dtype] == 0)
        return false;
    gsh_host_casts_run(parts, from == 'c' ? GSH_COMPLEX128 : GSH_FLOAT64, 0, &value->scalar,
                       value->dtype, 0, 1);
    return (parts[0] != 0 && fabs(parts[0]) < least[dtype]) ||
           (parts[1] != 0 && fabs(parts[1]) < least[dtype]);
}

bool gsh_numpy_describe_cast(const struct gsh_numpy_value *value, enum gsh_dtype dtype,
                             union gsh_scalar *result)
{
    *result = (union gsh_scalar){.words = {0}};
    if (value->dtype == dtype) {
        *result = value->scalar;
        return true;
    }
    if (!may_cast(value, dtype))
        return false;
    gsh_host_casts_run(result, dtype, (int64_t)gsh_dtype_size(dtype), &value->scalar, value->dtype,
                       0, 1);
    return !underflows(value, dtype);
}

enum gsh_reason gsh_numpy_describe_broadcast(struct gsh_launch *launch,
                                             const struct gsh_argument *arguments, unsigned count)
{
    launch->ndim = 0;
    for (unsigned k = 0; k < count; k++)
        if (arguments[k].is_array)
            launch->ndim = GSH_MAX(launch->ndim, arguments[k].view.ndim);
    for (int i = 0; i < launch->ndim; i++)
        launch->shape[i] = 1;
    for (unsigned k = 0; k < count; k++) {
        const struct gsh_view *view = &arguments[k].view;
        int shift = arguments[k].is_array ? launch->ndim - view->ndim : launch->ndim;
        for (int i = shift; i < launch->ndim; i++) {
            int64_t extent = view->shape[i - shift];
            if (extent == 0 || (extent != 1 && launch->shape[i] != 1 && extent != launch->shape[i]))
                return GSH_REASON_SHAPE;
            if (extent != 1)
                launch->shape[i] = extent;
        }
    }
    return GSH_REASON_NONE;
}

void gsh_numpy_describe_place_view(struct gsh_launch *launch, unsigned k,
                                   const struct gsh_view *view)
{
    int shift = launch->ndim - view->ndim;
    launch->operands[k] =
        (struct gsh_operand){.dtype = view->dtype, .address = (uintptr_t)view->data};
    for (int i = 0; i < launch->ndim; i++)
        launch->strides[k][i] =
            i >= shift && view->shape[i - shift] != 1 ? view->strides[i - shift] : 0;
}

void gsh_numpy_describe_place_constant(struct gsh_launch *launch, unsigned k, enum gsh_dtype dtype,
                                       union gsh_scalar constant)
{
    launch->operands[k] =
        (struct gsh_operand){.dtype = dtype, .is_constant = true, .constant = constant};
    memset(launch->strides[k], 0, sizeof(launch->strides[k]));
}

void gsh_numpy_describe_copy(struct gsh_launch *launch, const struct gsh_view *view,
                             enum gsh_dtype dtype, const int64_t *strides)
{
    size_t bytes = (size_t)view->ndim * sizeof(int64_t);
    launch->kind = GSH_LAUNCH_ELEMENTWISE;
    launch->op = GSH_OP_COPY;
    launch->loop = dtype;
    launch->nin = launch->nout = 1;
    launch->ndim = view->ndim;
    memcpy(launch->shape, view->shape, bytes);
    gsh_numpy_describe_place_view(launch, 0, view);
    launch->operands[1].dtype = dtype;
    memcpy(launch->strides[1], strides, bytes);
}

void gsh_numpy_describe_extent(const struct gsh_ndarray *array, char **low, char **high)
{
    *low = *high = array->data;
    if (gsh_numpy_describe_size(array) == 0)
        return;
    for (int i = 0; i < array->nd; i++) {
        int64_t reach = (array->dimensions[i] - 1) * array->strides[i];
        if (reach < 0)
            *low += reach;
        else
            *high += reach;
    }
    *high += gsh_numpy_abi_elsize(array->descr);
}

bool gsh_numpy_describe_meet(PyObject *array, PyObject *other)
{
    char *low[2], *high[2];
    gsh_numpy_describe_extent(gsh_numpy_array(array), &low[0], &high[0]);
    gsh_numpy_describe_extent(gsh_numpy_array(other), &low[1], &high[1]);
    return low[0] < high[1] && low[1] < high[0];
}

bool gsh_numpy_describe_is_distinct(const struct gsh_view *view)
{
    struct gsh_launch launch = {.ndim = view->ndim};
    memcpy(launch.shape, view->shape, (size_t)view->ndim * sizeof(*view->shape));
    gsh_numpy_describe_place_view(&launch, 0, view);
    return gsh_launch_is_distinct(&launch, 0);
}

void gsh_numpy_describe_fetch(PyObject *object, bool write)
{
    if (!gsh_numpy_describe_is_array_like(object))
        return;
    const struct gsh_ndarray *array = gsh_numpy_array(object);
    if (!gsh_coherence_is_resident(array->data))
        return;
    char *low, *high;
    gsh_numpy_describe_extent(array, &low, &high);
    if (low != high)
        gsh_coherence_fetch(low, (size_t)(high - low), write);
}

#define MOST_ITEMS 64 /* of a list, that are looked at */
#define MOST_LEVELS 4 /* of lists in lists */

bool gsh_numpy_describe_begins_with_array(PyObject *object)
{
    for (int level = 0; level < MOST_LEVELS && gsh_numpy_describe_is_sequence(object); level++) {
        if (gsh_py_size(object) == 0)
            return false;
        object = gsh_numpy_describe_item(object, 0);
        if (gsh_numpy_is_array(object))
            return true;
    }
    return false;
}

static bool search(PyObject *object, int levels, gsh_numpy_array_visitor visit, void *context)
{
    Py_ssize_t size =
        gsh_numpy_describe_is_sequence(object) ? GSH_MIN(gsh_py_size(object), MOST_ITEMS) : 0;
    bool is_found = false;
    for (Py_ssize_t i = 0; !is_found && i < size; i++) {
        PyObject *item = gsh_numpy_describe_item(object, i);
        if (gsh_numpy_describe_is_array_like(item))
            is_found = visit(item, context);
        else if (levels > 1 && gsh_numpy_describe_begins_with_array(item))
            is_found = search(item, levels - 1, visit, context);
    }
    return is_found;
}

bool gsh_numpy_describe_search(PyObject *object, gsh_numpy_array_visitor visit, void *context)
{
    return search(object, MOST_LEVELS, visit, context);
}

/* Whether NumPy can convert the object to a dtype without running Python code, either its own
 * (strings with commas, ctypes) or the program's. */
static bool is_plain_name(PyObject *object)
{
    PyObject *type = gsh_py_type(object);
    if (type != gsh_py.PyUnicode_Type)
        return type == gsh_py.PyType_Type || gsh_py.PyType_IsSubtype(type, gsh_np.descr_type);
    const char *text = gsh_python_text_utf8(object);
    return text && !strchr(text, ',');
}

int gsh_numpy_describe_dtype(PyObject *object)
{
    if (gsh_py_is_none(object))
        return -1;
    if (gsh_py_type(object) == gsh_py.PyType_Type) {
        for (int i = 0; i < GSH_DTYPE_COUNT; i++)
            if (object == gsh_np.scalar_types[i])
                return i;
    }
    if (!is_plain_name(object))
        return -1;
    PyObject *descr = NULL;
    if (!gsh_np.DescrConverter(object, &descr) || !descr) {
        gsh_python_error_clear();
        return -1;
    }
    int dtype = gsh_numpy_dtype(descr);
    if (dtype >= 0 && is_special(descr, (enum gsh_dtype)dtype))
        dtype = -1;
    gsh_py.Py_DecRef(descr);
    return dtype;
}

bool gsh_numpy_describe_can_cast(enum gsh_dtype from, enum gsh_dtype to, enum gsh_casting casting)
{
    return from == to || gsh_np.CanCastTypeTo(gsh_np.descrs[from], gsh_np.descrs[to], (int)casting);
}
