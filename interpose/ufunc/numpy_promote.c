/* SPDX-License-Identifier: Apache-2.0
 *
 * A cache of NumPy's loop selections. The key consists of ufunc, operand dtypes, scalar kinds and
 * keywords, and for the value-based promotion of NumPy 1.x the scalar's value class. Guarded by the
 * GIL.
 */
#include "numpy_promote.h"

#include "hash.h"
#include "host_casts.h"
#include "numpy_keywords.h"
#include "python_error.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CACHE_SIZE = 4096, KEY_BITS = 12, DTYPE_BITS = 4 };
#define HALF_LIMIT 65000.0

_Static_assert(GSH_DTYPE_COUNT < 1 << DTYPE_BITS, "a dtype or none of them");

struct entry {
    PyObject *ufunc; /* NULL: free; NumPy never frees its ufuncs */
    uint64_t inputs, form;
    const struct gsh_numpy_loop *loop; /* NULL: not a loop of the device */
};

static struct entry cache[CACHE_SIZE];
static PyObject *ones[GSH_DTYPE_COUNT];                     /* inputs of a probe; never written */
static PyObject *outputs[GSH_MAX_OUTPUTS][GSH_DTYPE_COUNT]; /* its outputs */
static PyObject *same_kind;
static PyObject *get_promotion_state; /* NULL: promotion cannot be configured */

/* A 1-d array with one element, 1; NULL: out of memory. */
static PyObject *make_one(enum gsh_dtype dtype)
{
    static const int64_t length = 1;
    static const bool truth = true;
    gsh_py.Py_IncRef(gsh_np.descrs[dtype]);
    PyObject *array = gsh_np.NewFromDescr(gsh_np.ndarray_type, gsh_np.descrs[dtype], 1, &length,
                                          NULL, NULL, 0, NULL);
    if (array)
        gsh_host_casts_run(gsh_numpy_array(array)->data, dtype, 0, &truth, GSH_BOOL, 0, 1);
    else
        gsh_python_error_clear();
    return array;
}

bool gsh_numpy_promote_init(void)
{
    bool good = true;
    for (int i = 0; i < GSH_DTYPE_COUNT; i++) {
        ones[i] = make_one((enum gsh_dtype)i);
        good &= ones[i] != NULL;
        for (int j = 0; j < GSH_MAX_OUTPUTS; j++) {
            outputs[j][i] = make_one((enum gsh_dtype)i);
            good &= outputs[j][i] != NULL;
        }
    }
    same_kind = gsh_py.PyUnicode_InternFromString("same_kind");
    if (!same_kind)
        gsh_python_error_clear();
    if (gsh_np.major < 2)
        get_promotion_state = gsh_py.PyDict_GetItemString(gsh_np.dict, "_get_promotion_state");
    return good && same_kind;
}

/* NumPy 1.x promotes by a scalar's value: the smallest type that fits decides. */
static unsigned integer_class(bool negative, uint64_t magnitude)
{
    static const uint64_t highest[] = {INT8_MAX,  UINT8_MAX,  INT16_MAX, UINT16_MAX,
                                       INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    unsigned class = 0;
    while (magnitude - negative > highest[class])
        class ++;
    return 1 + class + (negative ? GSH_COUNT(highest) : 0);
}

static unsigned float_class(double number)
{
    if (!isfinite(number))
        return 1;
    return fabs(number) < HALF_LIMIT ? 2 : fabs(number) < 3.4e38 ? 3 : 4;
}

static unsigned value_class(const struct gsh_numpy_value *value)
{
    int64_t number = 0;
    uint64_t magnitude = 0;
    double parts[2] = {0};
    switch (gsh_dtype_kind(value->dtype)) {
    case 'i':
        gsh_host_casts_run(&number, GSH_INT64, 8, &value->scalar, value->dtype, 0, 1);
        return integer_class(number < 0, number < 0 ? -(uint64_t)number : (uint64_t)number);
    case 'u':
        gsh_host_casts_run(&magnitude, GSH_UINT64, 8, &value->scalar, value->dtype, 0, 1);
        return integer_class(false, magnitude);
    case 'f':
    case 'c':
        gsh_host_casts_run(parts, GSH_COMPLEX128, 16, &value->scalar, value->dtype, 0, 1);
        return GSH_MAX(float_class(parts[0]), float_class(parts[1]));
    default:
        return 0;
    }
}

/* KEY_BITS bits that represent the argument in NumPy's selection. */
static uint32_t argument_key(const struct gsh_argument *argument)
{
    if (argument->is_array)
        return (uint32_t)argument->view.dtype;
    uint32_t key = 16u + 16u * (uint32_t)argument->value.kind + (uint32_t)argument->value.dtype;
    return gsh_np.major >= 2 ? key : key + 128u * value_class(&argument->value);
}

static uint64_t inputs_key(const struct gsh_ufunc_call *call, const struct gsh_argument *arguments)
{
    uint64_t key = 1;
    for (int k = 0; k < call->ufunc->nin; k++)
        key = (key << KEY_BITS) + argument_key(&arguments[k]);
    return key;
}

/* Casting rule, dtypes of given outputs, dtypes named by dtype= or signature=. */
static uint64_t form_key(const struct gsh_ufunc_call *call, const int *outs)
{
    uint64_t key = (uint64_t)call->casting << 1 | (call->signature != NULL);
    for (int j = 0; j < call->ufunc->nout; j++)
        key = (key << DTYPE_BITS) + (uint64_t)(outs[j] + 1);
    for (int i = 0; i < call->ufunc->nargs; i++)
        key = (key << DTYPE_BITS) + (uint64_t)(call->fixed[i] + 1);
    return key;
}

/* The value's magnitude. 0 for infinity and NaN. */
static double finite_size(const struct gsh_numpy_value *value)
{
    double parts[2];
    gsh_host_casts_run(parts, GSH_COMPLEX128, 16, &value->scalar, value->dtype, 0, 1);
    double size = fmax(fabs(parts[0]), fabs(parts[1]));
    return isfinite(size) ? size : 0;
}

/* Whether NumPy could warn about a scalar's cast or read the value of a 0-d array on the device.
 * Applies to a Python number beyond the range of an array's narrow float dtype, and with dtype= or
 * signature= to any number that does not fit float16. */
static bool has_delicate_scalar(const struct gsh_ufunc_call *call,
                                const struct gsh_argument *arguments)
{
    bool is_fixed = call->dtype || call->signature;
    double largest = 0, limit = is_fixed ? HALF_LIMIT : FLT_MAX;
    for (int k = 0; k < call->ufunc->nin; k++) {
        const struct gsh_argument *argument = &arguments[k];
        if (argument->is_array && argument->view.ndim == 0 && gsh_np.major < 2)
            return true;
        if (argument->is_array && argument->view.dtype == GSH_FLOAT16)
            limit = HALF_LIMIT;
        if (argument->is_array || (argument->value.kind == GSH_VALUE_NUMPY && !is_fixed))
            continue;
        largest = fmax(largest, finite_size(&argument->value));
        if (is_fixed && call->casting == GSH_CASTING_UNSAFE &&
            gsh_dtype_kind(argument->value.dtype) != 'b')
            return true;
    }
    return (gsh_np.major >= 2 || is_fixed) && largest > limit;
}

/* Whether a complex operand might be cast to a real one, about which NumPy warns. */
static bool may_discard(const struct gsh_ufunc_call *call, const struct gsh_argument *arguments,
                        const int *outs)
{
    if (call->casting != GSH_CASTING_UNSAFE)
        return false;
    bool has_complex = false, has_real = false;
    for (int k = 0; k < call->ufunc->nin; k++)
        has_complex |= gsh_dtype_kind(arguments[k].is_array ? arguments[k].view.dtype
                                                            : arguments[k].value.dtype) == 'c';
    for (int j = 0; j < call->ufunc->nout; j++)
        has_real |= outs[j] >= 0 && gsh_dtype_kind((enum gsh_dtype)outs[j]) != 'c';
    return has_complex && (has_real || call->dtype || call->signature);
}

/* Appends the keywords of a probe to `args`. Returns a new tuple of names, or NULL without a Python
 * error: none are needed, or out of memory (*good false). Release *tuple together with it. */
static PyObject *add_keywords(const struct gsh_ufunc_call *call, const int *outs, PyObject **args,
                              PyObject **tuple, bool *good)
{
    PyObject *none = gsh_py._Py_NoneStruct, *names[3], *kwnames = NULL, *arrays[GSH_MAX_OUTPUTS];
    int count = 0;
    for (int j = 0; j < call->ufunc->nout; j++)
        arrays[j] = outs[j] < 0 ? none : outputs[j][outs[j]];
    if (outs[0] >= 0 || (call->ufunc->nout > 1 && outs[1] >= 0)) {
        *tuple = call->ufunc->nout == 1 ? gsh_py.Py_BuildValue("(O)", arrays[0])
                                        : gsh_py.Py_BuildValue("(OO)", arrays[0], arrays[1]);
        args[count] = *tuple;
        names[count++] = gsh_numpy_keywords_name(GSH_KEYWORD_OUT);
        *good = *tuple != NULL;
    }
    if (call->dtype || call->signature) {
        args[count] = call->dtype ? call->dtype : call->signature;
        names[count++] =
            gsh_numpy_keywords_name(call->dtype ? GSH_KEYWORD_DTYPE : GSH_KEYWORD_SIGNATURE);
    }
    if (call->casting_name || count > 0) {
        args[count] = call->casting_name ? call->casting_name : same_kind;
        names[count++] = gsh_numpy_keywords_name(GSH_KEYWORD_CASTING);
        static const char *const formats[] = {"(O)", "(OO)", "(OOO)"};
        kwnames =
            *good ? gsh_py.Py_BuildValue(formats[count - 1], names[0], names[1], names[2]) : NULL;
        *good &= kwnames != NULL;
    }
    return kwnames;
}

/* False: NumPy refuses the call. Else *loop is the selected loop. NULL: not a loop of the device.
 */
static bool ask_numpy(const struct gsh_ufunc_call *call, const struct gsh_argument *arguments,
                      const int *outs, const struct gsh_numpy_loop **loop)
{
    size_t nin = (size_t)call->ufunc->nin;
    PyObject *args[GSH_MAX_INPUTS + 3], *tuple = NULL, *result = NULL;
    bool any_array = false, good = true;
    for (size_t k = 0; k < nin; k++) {
        args[k] = arguments[k].is_array ? ones[arguments[k].view.dtype] : arguments[k].object;
        any_array |= arguments[k].is_array;
    }
    PyObject *kwnames = add_keywords(call, outs, &args[nin], &tuple, &good);
    if (good && any_array)
        result = gsh_numpy_loops_probe((PyObject *)call->ufunc, args, nin, kwnames, loop);
    if (!result)
        gsh_python_error_clear();
    PyObject *const made[] = {result, kwnames, tuple};
    for (size_t i = 0; i < GSH_COUNT(made); i++)
        if (made[i])
            gsh_py.Py_DecRef(made[i]);
    return result != NULL;
}

bool gsh_numpy_promote_raise(const struct gsh_ufunc *ufunc, const struct gsh_numpy_loop *loop,
                             int flags)
{
    PyObject *args[GSH_MAX_INPUTS];
    size_t nin = (size_t)ufunc->nin;
    for (size_t k = 0; k < nin; k++)
        args[k] = ones[loop->operands[k]];
    PyObject *result = gsh_numpy_loops_raise((PyObject *)ufunc, args, nin, flags);
    if (result)
        gsh_py.Py_DecRef(result);
    return result != NULL;
}

/* Whether scalars are promoted in the default way. NumPy 1.24 to 1.26 can be configured to promote
 * as NumPy 2 does, or to warn about it. */
static bool is_promotion_usual(const struct gsh_ufunc_call *call,
                               const struct gsh_argument *arguments)
{
    bool has_scalar = false;
    for (int k = 0; k < call->ufunc->nin; k++)
        has_scalar |= !arguments[k].is_array;
    if (!get_promotion_state || !has_scalar)
        return true;
    PyObject *state = gsh_py.PyObject_CallFunction(get_promotion_state, NULL);
    bool usual = state && gsh_py.PyUnicode_CompareWithASCIIString(state, "legacy") == 0;
    if (state)
        gsh_py.Py_DecRef(state);
    else
        gsh_python_error_clear();
    return usual;
}

/* Whether a value may affect the selection beyond its key: a Python int that may not fit the
 * array's dtype. */
static bool has_python_int(const struct gsh_ufunc_call *call, const struct gsh_argument *arguments)
{
    for (int k = 0; k < call->ufunc->nin; k++)
        if (!arguments[k].is_array && arguments[k].value.kind == GSH_VALUE_PY_INT)
            return true;
    return false;
}

/* Whether dtype= names a dtype other than bool for the result of a comparison, about which NumPy 1
 * warns. */
static bool is_odd_dtype(const struct gsh_ufunc_call *call)
{
    signed char result = call->fixed[call->ufunc->nin];
    return result >= 0 && result != GSH_BOOL &&
           gsh_op_info((enum gsh_op)call->op)->results[0] == GSH_RESULT_BOOL;
}

enum gsh_reason gsh_numpy_promote(const struct gsh_ufunc_call *call,
                                  const struct gsh_argument *arguments, const int *outs,
                                  const struct gsh_numpy_loop **loop)
{
    if (has_delicate_scalar(call, arguments) || may_discard(call, arguments, outs) ||
        is_odd_dtype(call) || !is_promotion_usual(call, arguments))
        return GSH_REASON_OPERAND;
    PyObject *ufunc = (PyObject *)call->ufunc;
    uint64_t inputs = inputs_key(call, arguments), form = form_key(call, outs);
    uint64_t hash = gsh_hash_add(gsh_hash_add(inputs, form), (uintptr_t)ufunc >> 4);
    struct entry *entry = &cache[gsh_hash_spread(hash) % CACHE_SIZE];
    if (entry->ufunc != ufunc || entry->inputs != inputs || entry->form != form) {
        if (!ask_numpy(call, arguments, outs, loop))
            return GSH_REASON_OPERAND;
        if (!*loop && has_python_int(call, arguments))
            return GSH_REASON_OPERAND;
        *entry = (struct entry){ufunc, inputs, form, *loop};
    }
    *loop = entry->loop;
    if (!*loop)
        return GSH_REASON_DTYPE;
    return gsh_numpy_loops_is_genuine(*loop) ? GSH_REASON_NONE : GSH_REASON_UNSUPPORTED;
}
