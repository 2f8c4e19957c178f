/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts the Python objects that a hook received to operands of kernels/launch.h. Reads array
 * headers, but no array contents except those of 0-d arrays in plain host memory. Takes no
 * references: a description is valid as long as the caller's arguments. A reason other than NONE
 * means: decline. GIL; sets no Python error.
 */
#pragma once

#include "launch.h"
#include "numpy_abi.h"
#include "reasons.h"

/* An exact ndarray of a supported dtype, in native byte order and aligned. The pointers point into
 * the array. */
struct gsh_view {
    enum gsh_dtype dtype;
    int ndim; /* at most GSH_MAX_DIMS */
    char *data;
    const int64_t *shape;
    const int64_t *strides; /* bytes */
    int flags;              /* GSH_NPY_* */
};

enum gsh_numpy_value_kind {
    GSH_VALUE_PY_BOOL,
    GSH_VALUE_PY_INT,     /* dtype INT64, or UINT64 if the value needs it */
    GSH_VALUE_PY_FLOAT,   /* dtype FLOAT64 */
    GSH_VALUE_PY_COMPLEX, /* dtype COMPLEX128 */
    GSH_VALUE_NUMPY       /* a NumPy scalar, or a 0-d array in plain host memory */
};

/* A scalar of an exact, supported type. */
struct gsh_numpy_value {
    enum gsh_numpy_value_kind kind;
    enum gsh_dtype dtype;
    union gsh_scalar scalar;
};

struct gsh_argument {
    PyObject *object; /* borrowed */
    bool is_array;    /* else `value` */
    union {
        struct gsh_view view;
        struct gsh_numpy_value value;
    };
};

/* OPERAND: not an exact ndarray; DTYPE: not supported; LAYOUT: unaligned; SHAPE: too many
 * dimensions. */
enum gsh_reason gsh_numpy_describe_array(PyObject *object, struct gsh_view *view);
/* As describe_array. In addition the array must be WRITEABLE without WRITEBACKIFCOPY (else
 * READ_ONLY) and its data must be in the arena (else UNMANAGED_OUTPUT). */
enum gsh_reason gsh_numpy_describe_output(PyObject *object, struct gsh_view *view);
/* OPERAND: neither an exact Python bool, int (of at most 64 bits), float or complex nor a NumPy
 * scalar of a supported dtype. */
enum gsh_reason gsh_numpy_describe_scalar(PyObject *object, struct gsh_numpy_value *value);
/* An array or a scalar. A 0-d array that is not resident on the device becomes a value. */
enum gsh_reason gsh_numpy_describe_argument(PyObject *object, struct gsh_argument *argument);

/* The value as `dtype`. False unless NumPy's cast gives no error, no warning and the same result in
 * all versions. */
bool gsh_numpy_describe_cast(const struct gsh_numpy_value *value, enum gsh_dtype dtype,
                             union gsh_scalar *result);

/* Sets launch->ndim and shape to the broadcast shape of the arguments (values count as 0-d). SHAPE:
 * they do not broadcast, need too many dimensions, or have no elements. */
enum gsh_reason gsh_numpy_describe_broadcast(struct gsh_launch *launch,
                                             const struct gsh_argument *arguments, unsigned count);
/* Operand k = the view, broadcast to the launch's shape with strides of 0. The view must broadcast
 * to that shape. */
void gsh_numpy_describe_place_view(struct gsh_launch *launch, unsigned k,
                                   const struct gsh_view *view);
void gsh_numpy_describe_place_constant(struct gsh_launch *launch, unsigned k, enum gsh_dtype dtype,
                                       union gsh_scalar constant);
/* Makes the launch, which is all zero, a COPY of the view with a cast to `dtype`. It iterates over
 * the view's shape; `strides` are the output's over that shape. The output has no address yet. */
void gsh_numpy_describe_copy(struct gsh_launch *launch, const struct gsh_view *view,
                             enum gsh_dtype dtype, const int64_t *strides);

/* The addresses of the first byte and one past the last byte of a view's elements. Empty views: low
 * == high. */
void gsh_numpy_describe_extent(const struct gsh_ndarray *array, char **low, char **high);
/* Whether two arrays may share memory, i.e. their byte ranges overlap. */
bool gsh_numpy_describe_meet(PyObject *array, PyObject *other);
/* Whether no two elements of the view share a byte. */
bool gsh_numpy_describe_is_distinct(const struct gsh_view *view);
/* Elements of an array. */
static inline int64_t gsh_numpy_describe_size(const struct gsh_ndarray *array)
{
    int64_t size = 1;
    for (int i = 0; i < array->nd; i++)
        size *= array->dimensions[i];
    return size;
}

/* The number of elements without the last dimension, which a product with another array contracts (matmul, dot, inner, vdot and
 * the like). Times the other array's size: at least the multiplications of the product. */
static inline int64_t gsh_numpy_describe_kept_size(const struct gsh_ndarray *array)
{
    int64_t size = 1;
    for (int i = 0; i < array->nd - 1; i++)
        size *= array->dimensions[i];
    return size;
}

/* If the object is an ndarray or a subclass with data on the device, fetches the data to the host
 * in one transfer. Other objects are ignored. */
void gsh_numpy_describe_fetch(PyObject *object, bool write);
/* Whether the object is an ndarray or a subclass of it. A subclass is at least as large as its
 * base, which excludes most other objects. */
static inline bool gsh_numpy_describe_is_array_like(PyObject *object)
{
    PyObject *type = gsh_py_type(object);
    return type == gsh_np.ndarray_type ||
           (((struct gsh_pytype *)type)->tp_basicsize >=
                ((struct gsh_pytype *)gsh_np.ndarray_type)->tp_basicsize &&
            gsh_py.PyType_IsSubtype(type, gsh_np.ndarray_type) != 0);
}

/* A list or tuple, and its items (borrowed). */
static inline bool gsh_numpy_describe_is_sequence(PyObject *object)
{
    PyObject *type = gsh_py_type(object);
    return type == gsh_py.PyList_Type || type == gsh_py.PyTuple_Type;
}
static inline PyObject *gsh_numpy_describe_item(PyObject *sequence, Py_ssize_t i)
{
    return gsh_py_type(sequence) == gsh_py.PyList_Type ? gsh_py.PyList_GetItem(sequence, i)
                                                       : gsh_py.PyTuple_GetItem(sequence, i);
}

/* Whether the first item of a list or tuple is an ndarray, or that of the list or tuple which is the first item, and so on. */
bool gsh_numpy_describe_begins_with_array(PyObject *object);
/* What is told of each array; true ends the search. */
typedef bool (*gsh_numpy_array_visitor)(PyObject *array, void *context);
/* Calls `visit` for each ndarray, or instance of a subclass, among the first items of a list or tuple, and in those of its items that
 * begin with an array. Whether it returned true; false for other objects. `visit` runs no Python code. */
bool gsh_numpy_describe_search(PyObject *object, gsh_numpy_array_visitor visit, void *context);

/* The enum gsh_dtype of a dtype argument (type object, dtype, string). -1: None or not supported.
 * May run Python code. */
int gsh_numpy_describe_dtype(PyObject *object);
/* Whether NumPy casts arrays of dtype `from` to `to` under the rule. */
bool gsh_numpy_describe_can_cast(enum gsh_dtype from, enum gsh_dtype to, enum gsh_casting casting);
