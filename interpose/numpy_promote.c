/* SPDX-License-Identifier: Apache-2.0
 *
 * The cache of NumPy's decisions on loop dtypes, keyed by ufunc, operand dtypes, scalar kinds and,
 * for the value-based promotion of NumPy 1.x, the scalar's value class. GIL guards it.
 */
#include "numpy_promote.h"

#include "numpy_ufunc.h"

#include <float.h>
#include <math.h>

enum { CACHE_SIZE = 1024, KEY_BITS = 12 };

struct entry {
    PyObject *ufunc; /* NULL: free; ufuncs of NumPy live for good */
    uint32_t key;
    signed char loop; /* enum gsh_dtype, or -1 */
};

static struct entry cache[CACHE_SIZE];
static PyObject *empty[GSH_DTYPE_COUNT];
static PyObject *maximum; /* stands in for comparisons, whose result does not tell the loop */

bool gsh_numpy_promote_init(void)
{
    const struct gsh_layout none = {.ndim = 1};
    for (int i = 0; i < GSH_DTYPE_COUNT; i++) {
        gsh_py.Py_IncRef(gsh_np.descrs[i]);
        empty[i] = gsh_np.NewFromDescr(gsh_np.ndarray_type, gsh_np.descrs[i], none.ndim, none.shape,
                                       NULL, NULL, 0, NULL);
        if (!empty[i]) {
            gsh_py.PyErr_Clear();
            return false;
        }
    }
    maximum = gsh_py.PyDict_GetItemString(gsh_np.dict, "maximum");
    return maximum != NULL;
}

/* NumPy 1.x looks at a scalar's value: the smallest type it fits decides. */
static unsigned integer_class(int64_t number)
{
    static const int64_t lowest[] = {0, INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN};
    static const int64_t highest[] = {INT8_MAX,  UINT8_MAX,  INT16_MAX, UINT16_MAX,
                                      INT32_MAX, UINT32_MAX, INT64_MAX};
    unsigned class = 1;
    if (number < 0) {
        while (number < lowest[class])
            class ++;
        return class + GSH_COUNT(highest);
    }
    while (number > highest[class - 1])
        class ++;
    return class;
}

static unsigned float_class(double number)
{
    if (!isfinite(number))
        return 1;
    return fabs(number) < 65000 ? 2 : fabs(number) < 3.4e38 ? 3 : 4;
}

static unsigned value_class(const struct gsh_numpy_value *value)
{
    switch (value->dtype) {
    case GSH_INT32:
        return integer_class(value->scalar.i32);
    case GSH_INT64:
        return integer_class(value->scalar.i64);
    case GSH_FLOAT32:
        return float_class((double)value->scalar.f32);
    case GSH_FLOAT64:
        return float_class(value->scalar.f64);
    default:
        return 0;
    }
}

/* KEY_BITS bits that stand for the argument in NumPy's decision. */
static uint32_t argument_key(const struct gsh_argument *argument)
{
    if (argument->is_array)
        return (uint32_t)argument->view.dtype;
    uint32_t key = 8u + 16u * (uint32_t)argument->value.kind + (uint32_t)argument->value.dtype;
    return gsh_np.major >= 2 ? key : key + 64u * value_class(&argument->value);
}

/* Whether asking NumPy could warn or depends on more than the key: a Python float beyond float32's
 * range next to a float32 array; a 0-d array on the device, whose value NumPy 1.x would read. */
static bool is_delicate(const struct gsh_argument *arguments, unsigned nin)
{
    for (unsigned k = 0; k < nin; k++) {
        const struct gsh_argument *argument = &arguments[k];
        if (argument->is_array && argument->view.ndim == 0 && gsh_np.major < 2)
            return true;
        if (!argument->is_array && argument->value.kind == GSH_VALUE_PY_FLOAT &&
            gsh_np.major >= 2 && isfinite(argument->value.scalar.f64) &&
            fabs(argument->value.scalar.f64) > (double)FLT_MAX)
            return true;
    }
    return false;
}

/* The dtype of the original's result on empty arrays; -1: not one of ours, or NumPy refuses. *error
 * tells that it refused. */
static int ask_numpy(PyObject *ufunc, const struct gsh_argument *arguments, unsigned nin,
                     bool *error)
{
    PyObject *objects[GSH_MAX_OPERANDS];
    bool any_array = false;
    for (unsigned k = 0; k < nin; k++) {
        objects[k] = arguments[k].is_array ? empty[arguments[k].view.dtype] : arguments[k].object;
        any_array |= arguments[k].is_array;
    }
    *error = !any_array;
    if (!any_array)
        return -1;
    PyObject *result = gsh_numpy_ufunc_original(ufunc, objects, nin, NULL);
    int dtype = -1;
    if (result) {
        if (gsh_numpy_is_array(result))
            dtype = gsh_numpy_dtype(gsh_numpy_array(result)->descr);
        gsh_py.Py_DecRef(result);
    } else {
        *error = true;
        gsh_py.PyErr_Clear();
    }
    return dtype;
}

static int decide(PyObject *ufunc, const struct gsh_op_info *info,
                  const struct gsh_argument *arguments, bool *error)
{
    *error = false;
    if (info->result == GSH_RESULT_SAME)
        return ask_numpy(ufunc, arguments, info->nin, error);
    if (info->nin == 2)
        return ask_numpy(maximum, arguments, info->nin, error);
    return arguments[0].is_array ? (int)arguments[0].view.dtype : -1;
}

enum gsh_reason gsh_numpy_promote(PyObject *ufunc, enum gsh_op op,
                                  const struct gsh_argument *arguments, enum gsh_dtype *loop)
{
    const struct gsh_op_info *info = gsh_op_info(op);
    if (is_delicate(arguments, info->nin))
        return GSH_REASON_OPERAND;
    uint32_t key = 1;
    for (unsigned k = 0; k < info->nin; k++)
        key = (key << KEY_BITS) + argument_key(&arguments[k]);
    size_t slot = (((uintptr_t)ufunc >> 4) * 31 + (uint64_t)key * 2654435761u) % CACHE_SIZE;
    struct entry *entry = &cache[slot];
    if (entry->ufunc != ufunc || entry->key != key) {
        bool error;
        int dtype = decide(ufunc, info, arguments, &error);
        if (error)
            return GSH_REASON_OPERAND;
        *entry = (struct entry){.ufunc = ufunc, .key = key, .loop = (signed char)dtype};
    }
    if (entry->loop < 0)
        return GSH_REASON_DTYPE;
    *loop = (enum gsh_dtype)entry->loop;
    return info->dtypes & (1u << *loop) ? GSH_REASON_NONE : GSH_REASON_UNSUPPORTED;
}
