/* SPDX-License-Identifier: Apache-2.0
 *
 * ndarray.round, which np.round and np.around call. Rounding floats and complex numbers to decimals
 * other than 0 is one ROUND. Rounding integers to decimals >= 0 is a COPY in versions in which
 * NumPy copies, and to decimals < 0 is composed (numpy_composed_arrays.py). NumPy computes all other
 * cases with ufuncs, which have their own hooks.
 */
#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_method_patch.h"
#include "python_error.h"

#include <math.h>
#include <string.h>

static PyObject *try_round(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);

GSH_METHOD_HOOK(round_hook, .table = GSH_METHOD_NDARRAY, .name = "round", .handler = try_round,
                .subject = GSH_METHOD_ASK_BY_SELF, .self_test = "a.round(2)");

/* The largest power of ten that is exact in a double; NumPy computes larger ones by multiplication.
 * float16 has a lower limit. */
#define MOST_DECIMALS 22
#define MOST_DECIMALS_FLOAT16 4

static bool copies_integers;

static bool is_integer(const struct gsh_view *view)
{
    return (GSH_SET_INTEGERS >> view->dtype & 1) != 0;
}

/* The scale of ROUND, see host_math.h. False: the dtype cannot represent it. */
static bool find_scale(int64_t decimals, enum gsh_dtype dtype, union gsh_scalar *scale)
{
    struct gsh_numpy_value value = {.kind = GSH_VALUE_PY_FLOAT, .dtype = GSH_FLOAT64};
    double size = pow(10, (double)(decimals < 0 ? -decimals : decimals));
    value.scalar.f64 = decimals < 0 ? -size : size;
    return gsh_numpy_describe_cast(&value, dtype, scale);
}

/* C order, or Fortran order for floats in Fortran order only. False: NumPy versions differ in the
 * order for this dtype. */
static bool lay_out(const struct gsh_view *view, struct gsh_layout *layout)
{
    size_t itemsize = gsh_dtype_size(view->dtype);
    bool is_fortran =
        (view->flags & (GSH_NPY_C_CONTIGUOUS | GSH_NPY_F_CONTIGUOUS)) == GSH_NPY_F_CONTIGUOUS;
    gsh_numpy_arguments_lay_out(
        view, is_fortran && gsh_dtype_kind(view->dtype) == 'f' ? GSH_ORDER_F : GSH_ORDER_C,
        itemsize, layout);
    if (gsh_dtype_kind(view->dtype) == 'f')
        return true;
    struct gsh_layout kept;
    gsh_numpy_arguments_lay_out(view, GSH_ORDER_KEEP, itemsize, &kept);
    return memcmp(kept.strides, layout->strides, (size_t)view->ndim * sizeof(layout->strides[0])) ==
           0;
}

static bool has_shape(const struct gsh_view *out, const struct gsh_view *view)
{
    return out->dtype == view->dtype && out->ndim == view->ndim &&
           memcmp(out->shape, view->shape, (size_t)view->ndim * sizeof(view->shape[0])) == 0;
}

/* Rounds integers by a COPY. `out` NULL: a fresh array of this layout. */
static PyObject *run_round(const struct gsh_view *view, union gsh_scalar scale, PyObject *out,
                           const int64_t *strides, const struct gsh_layout *layout,
                           enum gsh_reason *why, unsigned *row)
{
    bool is_copy = is_integer(view);
    unsigned nin = is_copy ? 1 : 2;
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                       .op = is_copy ? GSH_OP_COPY : GSH_OP_ROUND,
                                       .loop = view->dtype,
                                       .nin = nin,
                                       .nout = 1,
                                       .ndim = view->ndim}};
    struct gsh_launch *launch = &call.launch;
    *row = call.row = gsh_numpy_output_row("round", &view->dtype, 1, view->dtype);
    memcpy(launch->shape, view->shape, (size_t)view->ndim * sizeof(launch->shape[0]));
    gsh_numpy_describe_place_view(launch, 0, view);
    if (!is_copy)
        gsh_numpy_describe_place_constant(launch, 1, view->dtype, scale);
    launch->operands[nin] = (struct gsh_operand){
        .dtype = view->dtype, .address = out ? (uintptr_t)gsh_numpy_array(out)->data : 0};
    memcpy(launch->strides[nin], strides, (size_t)view->ndim * sizeof(strides[0]));
    return gsh_numpy_output_run(&call, out, layout, why);
}

/* Whether the call computes or copies anything. */
static bool is_ours(const struct gsh_view *view, int64_t decimals, bool has_out)
{
    if (is_integer(view))
        return copies_integers && decimals >= 0 && !has_out;
    int most = view->dtype == GSH_FLOAT16 ? MOST_DECIMALS_FLOAT16 : MOST_DECIMALS;
    return (GSH_SET_INEXACT >> view->dtype & 1) != 0 && decimals != 0 && decimals >= -most &&
           decimals <= most;
}

/* Declines without a reason, since the ufuncs that NumPy's function calls have their own. */
static PyObject *try_round(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    enum { DECIMALS, OUT, PARAMETERS };
    static const char *const names[] = {"decimals", "out"};
    PyObject *slots[PARAMETERS];
    struct gsh_view view, out_view;
    struct gsh_layout layout;
    union gsh_scalar scale = {.words = {0}};
    int64_t decimals = 0;
    if (!gsh_numpy_method_patch_bind(call, names, PARAMETERS, PARAMETERS, slots) ||
        (slots[DECIMALS] && !gsh_numpy_arguments_int(slots[DECIMALS], &decimals)) ||
        gsh_numpy_describe_array(call->self, &view) != GSH_REASON_NONE || view.ndim == 0 ||
        gsh_numpy_describe_size(gsh_numpy_array(call->self)) == 0)
        return NULL;
    bool has_out = !gsh_numpy_arguments_is_absent(slots[OUT]);
    if (is_integer(&view) && decimals < 0 && decimals >= -MOST_DECIMALS && !has_out)
        return gsh_numpy_composed_call("round_to_tens", call, true, why);
    if (!is_ours(&view, decimals, has_out) || !lay_out(&view, &layout) ||
        (!is_integer(&view) && !find_scale(decimals, view.dtype, &scale)))
        return NULL;
    if (!has_out)
        return run_round(&view, scale, NULL, layout.strides, &layout, why, row);
    if (gsh_numpy_describe_output(slots[OUT], &out_view) != GSH_REASON_NONE ||
        !has_shape(&out_view, &view))
        return NULL;
    return run_round(&view, scale, slots[OUT], out_view.strides, &layout, why, row);
}

/* Older versions of NumPy return an integer array itself instead of a copy. */
static bool probe_integers(void)
{
    static const int64_t one = 1;
    gsh_py.Py_IncRef(gsh_np.descrs[GSH_INT64]); /* NewFromDescr steals one */
    PyObject *array = gsh_np.NewFromDescr(gsh_np.ndarray_type, gsh_np.descrs[GSH_INT64], 1, &one,
                                          NULL, NULL, 0, NULL);
    PyObject *rounded = array ? gsh_py.PyObject_CallMethod(array, "round", NULL) : NULL;
    bool is_copy = rounded && rounded != array;
    gsh_python_error_clear();
    if (rounded)
        gsh_py.Py_DecRef(rounded);
    if (array)
        gsh_py.Py_DecRef(array);
    return is_copy;
}

void gsh_numpy_round_install(void)
{
    copies_integers = probe_integers();
    gsh_numpy_method_patch_install(&round_hook);
}
