/* SPDX-License-Identifier: Apache-2.0
 *
 * arange, zeros, empty and empty_like, created on the device or the host depending on the expected
 * use. The length and the first two values of arange are computed as PyArray_ArangeObj does with
 * Python numbers. If 64-bit arithmetic might round differently, the call is declined. Memory from
 * empty has undefined contents: a device call that writes a part of it need not upload the rest.
 * The first host access to it makes it host memory.
 */
#include "device.h"
#include "dispatch.h"
#include "numpy_arguments.h"
#include "numpy_method_patch.h"

#include <math.h>

/* Up to this bound integers, their sums and their quotients are the same in Python and in a double.
 */
#define EXACT_IN_DOUBLE (INT64_C(1) << 53)
#define MOST_ELEMENTS (INT64_C(1) << 40)
#define LEAST_SHARE 4 /* largest ratio of a prototype's size to its copy's of another shape */

enum { START, STOP, STEP, ARANGE_DTYPE, ARANGE_DEVICE, ARANGE_LIKE, ARANGE_PARAMETERS };
static const char *const arange_parameters[] = {"start", "stop", "step", "dtype", "device", "like"};
enum { SHAPE, ZEROS_DTYPE, ORDER, ZEROS_DEVICE, ZEROS_LIKE, ZEROS_PARAMETERS };
static const char *const zeros_parameters[] = {"shape", "dtype", "order", "device", "like"};
enum { PROTOTYPE, LIKE_DTYPE, LIKE_ORDER, LIKE_SUBOK, LIKE_SHAPE, LIKE_DEVICE, LIKE_PARAMETERS };
static const char *const like_parameters[] = {"prototype", "dtype", "order",
                                              "subok",     "shape", "device"};

static PyObject *try_arange(const struct gsh_method_call *call, enum gsh_reason *why,
                            unsigned *row);
static PyObject *try_zeros(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_empty(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row);
static PyObject *try_empty_like(const struct gsh_method_call *call, enum gsh_reason *why,
                                unsigned *row);

GSH_METHOD_HOOK(arange_hook, .table = GSH_METHOD_MODULE, .name = "arange", .handler = try_arange,
                .self_test = "m.arange(2)");
GSH_METHOD_HOOK(zeros_hook, .table = GSH_METHOD_MODULE, .name = "zeros", .handler = try_zeros,
                .self_test = "m.zeros(2)");
GSH_METHOD_HOOK(empty_hook, .table = GSH_METHOD_MODULE, .name = "empty", .handler = try_empty,
                .self_test = "m.empty(2)");
GSH_METHOD_HOOK(empty_like_hook, .table = GSH_METHOD_MODULE, .name = "empty_like",
                .handler = try_empty_like, .subject = GSH_METHOD_ASK_BY_FIRST,
                .self_test = "m.empty_like(a)");

/* A Python int (within +-2^53) or float, or NumPy's int64 or float64, and arithmetic on them. */
struct number {
    bool is_float;
    int64_t integer;
    double real; /* the value in either case */
};

static struct number make_integer(int64_t value)
{
    return (struct number){false, value, (double)value};
}

static bool parse_number(PyObject *object, struct number *number)
{
    int64_t value;
    struct gsh_numpy_value scalar;
    if (gsh_py_type(object) == gsh_py.PyFloat_Type) {
        *number = (struct number){true, 0, gsh_py_float_value(object)};
        return isfinite(number->real);
    }
    if (gsh_py_type(object) == gsh_np.scalar_types[GSH_FLOAT64] &&
        gsh_numpy_describe_scalar(object, &scalar) == GSH_REASON_NONE) {
        *number = (struct number){true, 0, scalar.scalar.f64};
        return isfinite(number->real);
    }
    if (!gsh_numpy_arguments_int(object, &value) || value > EXACT_IN_DOUBLE ||
        value < -EXACT_IN_DOUBLE)
        return false;
    *number = make_integer(value);
    return true;
}

static bool add_numbers(struct number a, struct number b, int sign, struct number *sum)
{
    if (a.is_float || b.is_float) {
        *sum = (struct number){true, 0, a.real + sign * b.real};
        return isfinite(sum->real);
    }
    *sum = make_integer(a.integer + sign * b.integer);
    return sum->integer <= EXACT_IN_DOUBLE && sum->integer >= -EXACT_IN_DOUBLE;
}

struct range {
    struct number first, second;
    int64_t length;
    bool any_float;
};

/* start, stop, step -> length and the first two values. False: leave the call to NumPy. */
static bool compute_range(PyObject *const *slots, struct range *range)
{
    struct number start = make_integer(0), stop, step = make_integer(1), distance;
    bool only_stop = gsh_numpy_arguments_is_absent(slots[STOP]);
    if (!slots[START] || gsh_py_is_none(slots[START]) ||
        !parse_number(slots[only_stop ? START : STOP], &stop))
        return false;
    if (!only_stop && !parse_number(slots[START], &start))
        return false;
    if (!gsh_numpy_arguments_is_absent(slots[STEP]) && !parse_number(slots[STEP], &step))
        return false;
    if (step.real == 0 || !add_numbers(stop, start, -1, &distance) ||
        !add_numbers(start, step, 1, &range->second))
        return false;
    double length = ceil(distance.real / step.real);
    if (!(length >= 3 &&
          length <= (double)MOST_ELEMENTS)) /* fewer: no fill, other underflow rule */
        return false;
    range->length = (int64_t)length;
    range->first = start;
    range->any_float = start.is_float || stop.is_float || step.is_float;
    return true;
}

/* Converts the value as NumPy's setitem does. False: out of range, or a float would be rounded to
 * an integer. */
static bool store_number(struct number number, enum gsh_dtype dtype, union gsh_scalar *stored)
{
    char kind = gsh_dtype_kind(dtype);
    if (number.is_float && kind != 'f' && kind != 'c')
        return false;
    struct gsh_numpy_value value = {GSH_VALUE_PY_INT, GSH_INT64, {.i64 = number.integer}};
    if (number.is_float)
        value = (struct gsh_numpy_value){GSH_VALUE_PY_FLOAT, GSH_FLOAT64, {.f64 = number.real}};
    return gsh_numpy_describe_cast(&value, dtype, stored);
}

static PyObject *run_arange(const struct range *range, enum gsh_dtype dtype, enum gsh_reason *why,
                            unsigned *row)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                       .op = GSH_OP_ARANGE,
                                       .loop = dtype,
                                       .nin = 2,
                                       .nout = 1}};
    struct gsh_layout layout = {.ndim = 1, .shape = {range->length}};
    union gsh_scalar first, second;
    *why = GSH_REASON_OPERAND;
    if (!store_number(range->first, dtype, &first) || !store_number(range->second, dtype, &second))
        return NULL;
    *row = call.row = gsh_numpy_output_row("arange", NULL, 0, dtype);
    call.launch.ndim = 1;
    call.launch.shape[0] = range->length;
    gsh_numpy_describe_place_constant(&call.launch, 0, dtype, first);
    gsh_numpy_describe_place_constant(&call.launch, 1, dtype, second);
    gsh_numpy_output_c_order(&layout, gsh_dtype_size(dtype));
    call.launch.operands[2].dtype = dtype;
    call.launch.strides[2][0] = layout.strides[0];
    return gsh_numpy_output_run(&call, NULL, &layout, why);
}

static PyObject *try_arange(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    PyObject *slots[ARANGE_PARAMETERS];
    struct range range;
    int64_t stop;
    if (call->nargs == 0) /* start= alone is an error */
        return NULL;
    if (call->nargs == 1 && gsh_numpy_arguments_int(call->args[0], &stop) &&
        stop < gsh_dispatch_min_elements)
        return NULL;
    if (!gsh_numpy_method_patch_bind(call, arange_parameters, ARANGE_PARAMETERS, ARANGE_DTYPE + 1,
                                     slots) ||
        !compute_range(slots, &range) || range.length < gsh_dispatch_min_elements)
        return NULL;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_arguments_is_absent(slots[ARANGE_DEVICE]) ||
        !gsh_numpy_arguments_is_absent(slots[ARANGE_LIKE]))
        return NULL;
    int dtype = range.any_float ? GSH_FLOAT64 : GSH_INT64;
    if (!gsh_numpy_arguments_is_absent(slots[ARANGE_DTYPE]))
        dtype = gsh_numpy_describe_dtype(slots[ARANGE_DTYPE]);
    *why = GSH_REASON_DTYPE;
    if (dtype < 0 || dtype == GSH_BOOL)
        return NULL;
    return run_arange(&range, (enum gsh_dtype)dtype, why, row);
}

static PyObject *run_zeros(const struct gsh_layout *layout, enum gsh_dtype dtype,
                           enum gsh_reason *why, unsigned *row)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                       .op = GSH_OP_COPY,
                                       .loop = dtype,
                                       .nin = 1,
                                       .nout = 1,
                                       .ndim = layout->ndim}};
    *row = call.row = gsh_numpy_output_row("zeros", NULL, 0, dtype);
    gsh_numpy_describe_place_constant(&call.launch, 0, dtype, (union gsh_scalar){.words = {0}});
    call.launch.operands[1].dtype = dtype;
    for (int i = 0; i < layout->ndim; i++) {
        call.launch.shape[i] = layout->shape[i];
        call.launch.strides[1][i] = layout->strides[i];
    }
    return gsh_numpy_output_run(&call, NULL, layout, why);
}

/* shape, dtype and order of zeros and empty. False: declined, or too small. */
static bool parse_fresh(const struct gsh_method_call *call, struct gsh_layout *layout,
                        enum gsh_dtype *dtype, enum gsh_reason *why)
{
    PyObject *slots[ZEROS_PARAMETERS];
    enum gsh_order order;
    int64_t elements;
    if (call->nargs > 0 && gsh_numpy_arguments_int(call->args[0], &elements) &&
        elements < gsh_dispatch_min_elements)
        return false;
    if (!gsh_numpy_method_patch_bind(call, zeros_parameters, ZEROS_PARAMETERS, ORDER + 1, slots) ||
        !slots[SHAPE] || !gsh_numpy_arguments_shape(slots[SHAPE], layout, &elements) ||
        layout->ndim == 0 || elements == 0 || elements < gsh_dispatch_min_elements)
        return false;
    *why = GSH_REASON_KEYWORDS;
    if (!gsh_numpy_arguments_order(slots[ORDER], GSH_ORDER_C, &order) || order > GSH_ORDER_F ||
        !gsh_numpy_arguments_is_absent(slots[ZEROS_DEVICE]) ||
        !gsh_numpy_arguments_is_absent(slots[ZEROS_LIKE]))
        return false;
    int number = gsh_numpy_arguments_is_absent(slots[ZEROS_DTYPE])
                     ? GSH_FLOAT64
                     : gsh_numpy_describe_dtype(slots[ZEROS_DTYPE]);
    *why = number < 0 ? GSH_REASON_DTYPE : GSH_REASON_SHAPE;
    if (number < 0 || elements > MOST_ELEMENTS)
        return false;
    *dtype = (enum gsh_dtype)number;
    if (order == GSH_ORDER_F)
        gsh_numpy_output_f_order(layout, gsh_dtype_size(*dtype));
    else
        gsh_numpy_output_c_order(layout, gsh_dtype_size(*dtype));
    return true;
}

static PyObject *try_zeros(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    struct gsh_layout layout;
    enum gsh_dtype dtype;
    return parse_fresh(call, &layout, &dtype, why) ? run_zeros(&layout, dtype, why, row) : NULL;
}

static PyObject *try_empty(const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    struct gsh_layout layout;
    enum gsh_dtype dtype;
    (void)row;
    if (gsh_device_get_state() != GSH_DEVICE_READY)
        return NULL;
    PyObject *array =
        parse_fresh(call, &layout, &dtype, why) ? gsh_numpy_output_create(dtype, &layout) : NULL;
    *why = GSH_REASON_NONE; /* no computation in either case */
    return array;
}

/* shape=: gives the view of the prototype, which has `size` elements, this shape, which is stored
 * in *wanted. order='K' becomes C order if the number of dimensions differs. False: not a valid
 * shape, or the new array is so much smaller that the prototype's residency does not predict its
 * use. */
static bool reshape(PyObject *shape, int64_t size, struct gsh_layout *wanted, struct gsh_view *view,
                    enum gsh_order *order)
{
    int64_t elements;
    if (!gsh_numpy_arguments_shape(shape, wanted, &elements) || wanted->ndim == 0 ||
        elements == 0 || elements > MOST_ELEMENTS ||
        elements < GSH_MIN(gsh_dispatch_min_elements, size / LEAST_SHARE))
        return false;
    if (wanted->ndim != view->ndim && *order == GSH_ORDER_KEEP)
        *order = GSH_ORDER_C;
    view->ndim = wanted->ndim;
    view->shape = wanted->shape;
    return true;
}

static PyObject *try_empty_like(const struct gsh_method_call *call, enum gsh_reason *why,
                                unsigned *row)
{
    PyObject *slots[LIKE_PARAMETERS];
    struct gsh_view view;
    struct gsh_layout layout, wanted;
    enum gsh_order order;
    (void)why;
    (void)row;
    if (gsh_device_get_state() != GSH_DEVICE_READY ||
        !gsh_numpy_method_patch_bind(call, like_parameters, LIKE_PARAMETERS, LIKE_SHAPE + 1,
                                     slots) ||
        !slots[PROTOTYPE] || !gsh_numpy_arguments_is_absent(slots[LIKE_DEVICE]) ||
        !gsh_numpy_arguments_order(slots[LIKE_ORDER], GSH_ORDER_KEEP, &order) ||
        gsh_numpy_describe_array(slots[PROTOTYPE], &view) != GSH_REASON_NONE || view.ndim == 0)
        return NULL;
    int64_t size = gsh_numpy_describe_size(gsh_numpy_array(slots[PROTOTYPE]));
    if (size == 0 || (!gsh_numpy_arguments_is_absent(slots[LIKE_SHAPE]) &&
                      !reshape(slots[LIKE_SHAPE], size, &wanted, &view, &order)))
        return NULL;
    int dtype = gsh_numpy_arguments_is_absent(slots[LIKE_DTYPE])
                    ? (int)view.dtype
                    : gsh_numpy_describe_dtype(slots[LIKE_DTYPE]);
    if (dtype < 0)
        return NULL;
    gsh_numpy_arguments_lay_out(&view, order, gsh_dtype_size((enum gsh_dtype)dtype), &layout);
    return gsh_numpy_output_create((enum gsh_dtype)dtype, &layout);
}

void gsh_numpy_creation_install(void)
{
    gsh_numpy_method_patch_install(&arange_hook);
    gsh_numpy_method_patch_install(&zeros_hook);
    gsh_numpy_method_patch_install(&empty_hook);
    gsh_numpy_method_patch_install(&empty_like_hook);
}
