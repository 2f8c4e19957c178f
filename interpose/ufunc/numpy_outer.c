/* SPDX-License-Identifier: Apache-2.0
 *
 * ufunc.outer(a, b) is computed as NumPy does: the ufunc of b and of a view of a with one unit axis
 * appended for each dimension of b. GIL.
 */
#include "arena.h"
#include "dispatch.h"
#include "numpy_method_patch.h"
#include "numpy_ufunc.h"
#include "python_error.h"

#include <string.h>

#define MAX_KEYWORDS 8u

static PyObject *try_outer(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);

GSH_METHOD_HOOK(outer_hook, .table = GSH_METHOD_UFUNC, .name = "outer", .handler = try_outer,
                .subject = GSH_METHOD_ASK_ALWAYS, .self_test = "m.add.outer(a, b)");

/* A new array on the same memory with `extra` unit axes at the end. The object must outlive it.
 * NULL: out of memory. */
static PyObject *append_axes(PyObject *object, int extra)
{
    const struct gsh_ndarray *array = gsh_numpy_array(object);
    int64_t shape[GSH_MAX_DIMS], strides[GSH_MAX_DIMS];
    for (int i = 0; i < array->nd + extra; i++) {
        shape[i] = i < array->nd ? array->dimensions[i] : 1;
        strides[i] = i < array->nd ? array->strides[i] : gsh_numpy_abi_elsize(array->descr);
    }
    gsh_py.Py_IncRef(array->descr);
    PyObject *view = gsh_np.NewFromDescr(gsh_np.ndarray_type, array->descr, array->nd + extra,
                                         shape, strides, array->data, array->flags, NULL);
    if (!view)
        gsh_python_error_clear();
    return view;
}

/* Whether the result may be large enough for the device. */
static bool is_worth(PyObject *a, PyObject *b)
{
    int64_t elements = 1;
    PyObject *const operands[] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (gsh_numpy_method_patch_is_worth(operands[i]))
            return true;
        if (gsh_numpy_is_array(operands[i]) &&
            __builtin_mul_overflow(elements, gsh_numpy_describe_size(gsh_numpy_array(operands[i])),
                                   &elements))
            return true;
    }
    return elements >= gsh_dispatch_min_elements;
}

static PyObject *try_outer(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    PyObject *args[2 + MAX_KEYWORDS];
    size_t keywords = call->kwnames ? (size_t)gsh_py_size(call->kwnames) : 0;
    if (call->nargs != 2 || call->kwdict || !is_worth(call->args[0], call->args[1]))
        return NULL;
    *why = GSH_REASON_OPERAND; /* an array of a Python scalar is not weakly promoted */
    if (!gsh_numpy_is_array(call->args[0]) || !gsh_numpy_is_array(call->args[1]))
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (keywords > MAX_KEYWORDS)
        return NULL;
    int extra = gsh_numpy_array(call->args[1])->nd;
    *why = GSH_REASON_SHAPE;
    if (gsh_numpy_array(call->args[0])->nd + extra > GSH_MAX_DIMS)
        return NULL;
    memcpy(args, call->args, (2 + keywords) * sizeof(*args));
    args[0] = append_axes(call->args[0], extra);
    if (!args[0])
        return NULL;
    PyObject *result = gsh_numpy_ufunc_try(call->self, args, 2, call->kwnames, why, row);
    gsh_py.Py_DecRef(args[0]);
    return result;
}

void gsh_numpy_outer_install(void)
{
    gsh_numpy_method_patch_install(&outer_hook);
}
