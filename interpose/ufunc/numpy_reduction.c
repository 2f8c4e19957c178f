/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. NumPy's rules for the dtypes of a reduction differ between versions and are in
 * one function of NumPy: sums and products widen integers, but not with out=; logical reductions
 * are in bool. Therefore NumPy is asked, and its answers are cached.
 */
#include "numpy_reduction.h"

#include "numpy_arguments.h"
#include "numpy_promote.h"
#include "numpy_ufunc.h"
#include "python_error.h"

#include <string.h>

#define ABSENT GSH_DTYPE_COUNT

static PyObject *ufuncs[GSH_REDUCTION_COUNT]; /* borrowed; NumPy's module stays loaded */
static const struct gsh_method_hook *hooks[GSH_REDUCTION_METHODS];

/* The loop of each key: UNKNOWN, REFUSED or 1 + its dtype. Guarded by the GIL. */
enum { UNKNOWN = 0, REFUSED = -1 };
static signed char loops[GSH_REDUCTION_METHODS][GSH_REDUCTION_COUNT][GSH_DTYPE_COUNT]
                        [GSH_DTYPE_COUNT + 1][GSH_DTYPE_COUNT + 1];
static bool is_unanswered; /* a probe was interrupted by an exception of the program */

void gsh_numpy_reduction_init(enum gsh_reduction_method method, const struct gsh_method_hook *hook)
{
    hooks[method] = hook;
    for (int i = 0; i < GSH_REDUCTION_COUNT; i++) {
        const char *name = gsh_reduction_info((enum gsh_reduction)i)->ufunc;
        ufuncs[i] = name[0] ? gsh_py.PyDict_GetItemString(gsh_np.dict, name) : NULL;
    }
}

int gsh_numpy_reduction_find(PyObject *ufunc)
{
    for (int i = 0; i < GSH_REDUCTION_COUNT; i++)
        if (ufuncs[i] == ufunc)
            return i;
    return -1;
}

int gsh_numpy_reduction_bind(const struct gsh_method_call *call, const char *const *names,
                             unsigned count, PyObject **slots, enum gsh_reason *why)
{
    if (call->nargs == 0)
        return -1;
    int reduction = gsh_numpy_reduction_find(call->self);
    *why = GSH_REASON_UNSUPPORTED;
    if (reduction < 0)
        return -1;
    *why = GSH_REASON_KEYWORDS;
    return gsh_numpy_method_patch_bind(call, names, count, count, slots) ? reduction : -1;
}

/* A fresh array of zeros with at most one dimension, of extent 1. */
static PyObject *make_probe(enum gsh_dtype dtype, int ndim)
{
    static const int64_t one = 1;
    gsh_py.Py_IncRef(gsh_np.descrs[dtype]); /* NewFromDescr steals one */
    PyObject *array = gsh_np.NewFromDescr(gsh_np.ndarray_type, gsh_np.descrs[dtype], ndim, &one,
                                          NULL, NULL, 0, NULL);
    if (array)
        memset(gsh_numpy_array(array)->data, 0, gsh_dtype_size(dtype));
    return array;
}

static int dtype_of_result(PyObject *result)
{
    if (gsh_numpy_is_array(result))
        return gsh_numpy_dtype(gsh_numpy_array(result)->descr);
    for (int i = 0; i < GSH_DTYPE_COUNT; i++)
        if (gsh_py_type(result) == gsh_np.scalar_types[i])
            return i;
    return -1;
}

/* The dtype of the method's result on one element of `in`; `out` may be ABSENT. -1: NumPy refuses,
 * or the dtype is not supported. */
static int probe_method(enum gsh_reduction_method method, PyObject *ufunc, enum gsh_dtype in,
                        PyObject *asked, int out)
{
    typedef PyObject *(*fastcall)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
    PyObject *args[4] = {make_probe(in, 1), gsh_py.PyLong_FromLongLong(0), asked};
    Py_ssize_t count = 3;
    bool accumulates = method == GSH_REDUCTION_ACCUMULATE;
    if (out != ABSENT)
        args[count++] = make_probe((enum gsh_dtype)out, accumulates);
    PyObject *result = NULL;
    if (args[0] && args[1] && args[count - 1])
        result = ((fastcall)hooks[method]->original)(ufunc, args, count, NULL);
    int dtype = result ? dtype_of_result(result) : -1;
    is_unanswered |= !gsh_python_error_clear();
    PyObject *const owned[] = {result, args[0], args[1], args[3]};
    for (size_t i = 0; i < GSH_COUNT(owned); i++)
        if (owned[i])
            gsh_py.Py_DecRef(owned[i]);
    return dtype;
}

/* The loop of ufunc(array of `first`, array of `second`), or -1. */
static int probe_call(PyObject *ufunc, enum gsh_dtype first, enum gsh_dtype second)
{
    PyObject *args[] = {make_probe(first, 1), make_probe(second, 1)}, *result = NULL;
    if (args[0] && args[1])
        result = gsh_np.call_ufunc(ufunc, args, 2, NULL);
    int dtype = result ? dtype_of_result(result) : -1;
    is_unanswered |= !gsh_python_error_clear();
    if (result)
        gsh_py.Py_DecRef(result);
    for (size_t i = 0; i < GSH_COUNT(args); i++)
        if (args[i])
            gsh_py.Py_DecRef(args[i]);
    return dtype;
}

/* The loop's dtype, or -1. Without dtype=, NumPy selects the loop by the dtype of out= as the
 * accumulator's. */
static int find_loop(enum gsh_reduction_method method, int reduction, enum gsh_dtype in,
                     PyObject *asked, int out)
{
    const struct gsh_reduction_info *info = gsh_reduction_info((enum gsh_reduction)reduction);
    PyObject *ufunc = ufuncs[reduction];
    if (out != ABSENT && probe_method(method, ufunc, in, asked, out) < 0)
        return -1;
    if (info->result == GSH_RESULT_BOOL) {
        bool is_bool = probe_method(method, ufunc, in, asked, ABSENT) == GSH_BOOL;
        return is_bool ? GSH_BOOL : -1;
    }
    if (out == ABSENT || !gsh_py_is_none(asked))
        return probe_method(method, ufunc, in, asked, ABSENT);
    return probe_call(ufunc, (enum gsh_dtype)out, in);
}

static bool is_complex(int dtype)
{
    return dtype != ABSENT && gsh_dtype_kind((enum gsh_dtype)dtype) == 'c';
}

/* Whether a cast from `from` to `to` drops imaginary parts, about which NumPy warns. */
static bool drops_parts(int from, int to)
{
    return is_complex(from) && to != ABSENT && to != GSH_BOOL && !is_complex(to);
}

/* Whether results may be stored as `to`. NumPy stores and reloads partial results for each buffer,
 * so the result is determined by the elements alone only if a store loses no more than a rounding.
 */
static bool may_store(enum gsh_dtype from, enum gsh_dtype to)
{
    char kind = gsh_dtype_kind(from);
    return gsh_numpy_describe_can_cast(from, to, GSH_CASTING_SAFE) ||
           (kind == gsh_dtype_kind(to) && (kind == 'f' || kind == 'c'));
}

enum gsh_reason gsh_numpy_reduction_resolve(enum gsh_reduction_method method, int reduction,
                                            enum gsh_dtype in, PyObject *asked,
                                            const struct gsh_view *out,
                                            struct gsh_reduction_dtypes *dtypes)
{
    int asked_dtype = ABSENT, out_dtype = out ? (int)out->dtype : ABSENT;
    if (gsh_numpy_arguments_is_absent(asked))
        asked = gsh_py._Py_NoneStruct;
    else if ((asked_dtype = gsh_numpy_describe_dtype(asked)) < 0)
        return GSH_REASON_DTYPE;
    /* out= is also loaded, as the accumulator */
    if (drops_parts((int)in, asked_dtype) || drops_parts((int)in, out_dtype) ||
        drops_parts(out_dtype, asked_dtype) || drops_parts(asked_dtype, out_dtype))
        return GSH_REASON_DTYPE;
    /* NumPy 1.x promotes by the value of a 0-d array if another operand has dimensions */
    if (out && out->ndim == 0 && gsh_np.major < 2 && asked_dtype == ABSENT && out->dtype != in)
        return GSH_REASON_DTYPE;
    signed char *known = &loops[method][reduction][in][asked_dtype][out_dtype];
    if (*known == UNKNOWN) {
        is_unanswered = false;
        int loop = find_loop(method, reduction, in, asked, out_dtype);
        if (is_unanswered)
            return GSH_REASON_DTYPE;
        *known = (signed char)(loop < 0 ? REFUSED : 1 + loop);
    }
    if (*known == REFUSED)
        return GSH_REASON_DTYPE;
    dtypes->loop = (enum gsh_dtype)(*known - 1);
    dtypes->result = out ? out->dtype : dtypes->loop;
    bool is_logical = gsh_reduction_info((enum gsh_reduction)reduction)->result == GSH_RESULT_BOOL;
    if (!gsh_reduction_has_loop((enum gsh_reduction)reduction, dtypes->loop) ||
        !may_store(dtypes->loop, dtypes->result) ||
        (!is_logical && !gsh_numpy_describe_can_cast(in, dtypes->loop, GSH_CASTING_SAME_KIND)))
        return GSH_REASON_DTYPE;
    return GSH_REASON_NONE;
}

bool gsh_numpy_reduction_find_out(PyObject *object, bool is_keyword, PyObject **out)
{
    *out = NULL;
    if (gsh_numpy_arguments_is_absent(object))
        return true;
    if (gsh_py_type(object) == gsh_py.PyTuple_Type) {
        if (!is_keyword || gsh_py.PyTuple_Size(object) != 1)
            return false;
        object = gsh_py.PyTuple_GetItem(object, 0);
    }
    *out = gsh_py_is_none(object) ? NULL : object;
    return true;
}

bool gsh_numpy_reduction_fits(const struct gsh_view *out, struct gsh_layout *layout)
{
    size_t bytes = (size_t)out->ndim * sizeof(out->shape[0]);
    if (out->ndim != layout->ndim || memcmp(out->shape, layout->shape, bytes) != 0)
        return false;
    memcpy(layout->strides, out->strides, bytes);
    return true;
}

void gsh_numpy_reduction_shape(const struct gsh_view *in, const bool *reduced, bool keepdims,
                               struct gsh_layout *layout)
{
    layout->ndim = 0;
    for (int i = 0; i < in->ndim; i++)
        if (keepdims || !reduced[i])
            layout->shape[layout->ndim++] = reduced[i] ? 1 : in->shape[i];
}

void gsh_numpy_reduction_fill(struct gsh_launch *launch, const struct gsh_view *in,
                              const struct gsh_view *mask, const bool *reduced, bool keepdims,
                              const struct gsh_layout *layout)
{
    struct gsh_launch whole = {.ndim = in->ndim}; /* over the operand's own dimensions */
    memcpy(whole.shape, in->shape, (size_t)in->ndim * sizeof(whole.shape[0]));
    gsh_numpy_describe_place_view(&whole, 0, in);
    if (mask)
        gsh_numpy_describe_place_view(&whole, 2, mask);
    int kept = 0, result_axis = 0;
    for (int i = 0; i < in->ndim; i++)
        kept += !reduced[i];
    launch->nin = 1;
    launch->nout = 1;
    launch->has_mask = mask != NULL;
    launch->ndim = in->ndim;
    launch->nreduce = in->ndim - kept;
    launch->operands[0] = whole.operands[0];
    launch->operands[2] = whole.operands[2];
    for (int i = 0, front = 0, back = kept; i < in->ndim; i++) {
        int at = reduced[i] ? back++ : front++;
        launch->shape[at] = in->shape[i];
        launch->strides[0][at] = whole.strides[0][i];
        launch->strides[1][at] = reduced[i] ? 0 : layout->strides[result_axis];
        launch->strides[2][at] = whole.strides[2][i];
        result_axis += keepdims || !reduced[i];
    }
}
