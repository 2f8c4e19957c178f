/* SPDX-License-Identifier: Apache-2.0
 *
 * Their arguments, as NumPy 1.22 to 2.5 reads them (numpy/random/_generator.pyx). Parameters of a distribution are plain numbers; some
 * draws for arrays of them are composed (numpy_composed_draws.py). A wrong value is left to NumPy, which raises the exception.
 */
#include "numpy_random.h"

#include "dispatch.h"
#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_derived.h"
#include "numpy_draw.h"
#include "numpy_generator.h"
#include "numpy_legacy.h"
#include "numpy_parallel.h"
#include "numpy_random_choice.h"
#include "numpy_shuffle.h"
#include "scipy_module.h"

#include <math.h>
#include <string.h>

enum { MOST_PARAMETERS = 5 };

/* A method: what it draws, and where its parameters stand, from 1. 0: there is no such parameter. */
struct method {
    const char *name;
    const char *parameters[MOST_PARAMETERS];
    enum gsh_random_distribution distribution;
    enum gsh_random_form form;
    signed char first, second; /* numbers of the distribution */
    double without[2];         /* their values where they are not given */
    signed char size, dtype, out, kind;
};

static const struct method random_method = {.name = "random",
                                            .parameters = {"size", "dtype", "out"},
                                            .distribution = GSH_RANDOM_UNIFORM,
                                            .size = 1,
                                            .dtype = 2,
                                            .out = 3};
static const struct method normal_standard = {.name = "standard_normal",
                                              .parameters = {"size", "dtype", "out"},
                                              .distribution = GSH_RANDOM_NORMAL,
                                              .size = 1,
                                              .dtype = 2,
                                              .out = 3};
static const struct method exponential_standard = {.name = "standard_exponential",
                                                   .parameters = {"size", "dtype", "method", "out"},
                                                   .distribution = GSH_RANDOM_EXPONENTIAL,
                                                   .size = 1,
                                                   .dtype = 2,
                                                   .out = 4,
                                                   .kind = 3};
static const struct method uniform_method = {.name = "uniform",
                                             .parameters = {"low", "high", "size"},
                                             .distribution = GSH_RANDOM_UNIFORM,
                                             .form = GSH_RANDOM_SHIFTED,
                                             .first = 1,
                                             .second = 2,
                                             .without = {0, 1},
                                             .size = 3};
static const struct method normal_method = {.name = "normal",
                                            .parameters = {"loc", "scale", "size"},
                                            .distribution = GSH_RANDOM_NORMAL,
                                            .form = GSH_RANDOM_SHIFTED,
                                            .first = 1,
                                            .second = 2,
                                            .without = {0, 1},
                                            .size = 3};
static const struct method lognormal_method = {.name = "lognormal",
                                               .parameters = {"mean", "sigma", "size"},
                                               .distribution = GSH_RANDOM_NORMAL,
                                               .form = GSH_RANDOM_EXP,
                                               .first = 1,
                                               .second = 2,
                                               .without = {0, 1},
                                               .size = 3};
static const struct method exponential_method = {.name = "exponential",
                                                 .parameters = {"scale", "size"},
                                                 .distribution = GSH_RANDOM_EXPONENTIAL,
                                                 .form = GSH_RANDOM_SCALED,
                                                 .second = 1,
                                                 .without = {0, 1},
                                                 .size = 2};
enum { LOW = 1, HIGH, INTEGERS_SIZE, INTEGERS_DTYPE, ENDPOINT };
static const struct method integers_method = {
    .name = "integers",
    .parameters = {"low", "high", "size", "dtype", "endpoint"},
    .distribution = GSH_RANDOM_BOUNDED,
    .size = INTEGERS_SIZE,
    .dtype = INTEGERS_DTYPE};

/* ---- arguments ---- */

/* What is given for a parameter, None too; NULL: nothing. */
static PyObject *given(PyObject *const *slots, int place)
{
    return place == 0 ? NULL : slots[place - 1];
}

/* The same; NULL also for None. */
static PyObject *slot_of(PyObject *const *slots, int place)
{
    PyObject *slot = given(slots, place);
    return gsh_numpy_arguments_is_absent(slot) ? NULL : slot;
}

bool gsh_numpy_random_parse_number(PyObject *object, double *number)
{
    struct gsh_numpy_value value;
    if (gsh_numpy_describe_scalar(object, &value) != GSH_REASON_NONE)
        return false;
    if (value.dtype == GSH_FLOAT64)
        *number = value.scalar.f64;
    else if (value.dtype == GSH_INT64)
        *number = (double)value.scalar.i64;
    else
        return false;
    return isfinite(*number);
}

bool gsh_numpy_random_parse_list(PyObject *object, struct gsh_numpy_random_list *list)
{
    const bool is_list = object && gsh_py_type(object) == gsh_py.PyList_Type;
    if (!object || (!is_list && gsh_py_type(object) != gsh_py.PyTuple_Type) ||
        gsh_py_size(object) < 2 || gsh_py_size(object) > GSH_NUMPY_RANDOM_MOST_ITEMS)
        return false;
    list->count = (unsigned)gsh_py_size(object);
    for (unsigned i = 0; i < list->count; i++) {
        PyObject *item =
            is_list ? gsh_py.PyList_GetItem(object, i) : gsh_py.PyTuple_GetItem(object, i);
        if (!gsh_numpy_random_parse_number(item, &list->items[i]))
            return false;
    }
    return true;
}

/* Numbers of the distribution: None is one that is given. */
static bool parse_numbers(const struct method *method, PyObject *const *slots,
                          struct gsh_random_draw *draw)
{
    double first = method->without[0], second = method->without[1];
    PyObject *first_given = given(slots, method->first),
             *second_given = given(slots, method->second);
    if (method->form == GSH_RANDOM_STANDARD)
        return true;
    if ((first_given && !gsh_numpy_random_parse_number(first_given, &first)) ||
        (second_given && !gsh_numpy_random_parse_number(second_given, &second)))
        return false;
    draw->shift = first;
    draw->scale = method->distribution == GSH_RANDOM_UNIFORM ? second - first : second;
    return isfinite(draw->scale) && draw->scale >= 0 && !signbit(draw->scale);
}

static bool parse_integer(PyObject *object, __int128 *number)
{
    struct gsh_numpy_value value;
    if (!object || gsh_numpy_describe_scalar(object, &value) != GSH_REASON_NONE ||
        value.kind == GSH_VALUE_PY_BOOL)
        return false;
    if (value.dtype == GSH_INT64)
        *number = value.scalar.i64;
    else if (value.dtype == GSH_UINT64)
        *number = (__int128)value.scalar.u64;
    else
        return false;
    return true;
}

/* Whether the dtype's values include these. */
static bool fits(enum gsh_dtype dtype, __int128 low, __int128 high)
{
    unsigned bits = dtype == GSH_BOOL ? 1 : (unsigned)gsh_dtype_size(dtype) * 8;
    bool is_signed = (GSH_SET_SIGNED & 1U << dtype) != 0;
    __int128 values = (__int128)1 << bits, least = is_signed ? -values / 2 : 0;
    return low >= least && high < least + values;
}

static bool parse_range(PyObject *const *slots, enum gsh_dtype dtype, struct gsh_random_draw *draw)
{
    __int128 low, high;
    bool has_high = slot_of(slots, HIGH) != NULL, endpoint;
    if (!gsh_numpy_arguments_flag(given(slots, ENDPOINT), false, &endpoint) ||
        !parse_integer(given(slots, LOW), has_high ? &low : &high) ||
        (has_high && !parse_integer(given(slots, HIGH), &high)))
        return false;
    if (!has_high)
        low = 0;
    high -= endpoint ? 0 : 1;
    if (low >= high || !fits(dtype, low, high))
        return false;
    draw->low = (uint64_t)low;
    draw->range = (uint64_t)(high - low);
    return true;
}

static bool is_dtype_possible(const struct method *method, int dtype)
{
    if (method->distribution == GSH_RANDOM_BOUNDED)
        return dtype >= 0 && ((GSH_SET_INTEGERS | GSH_SET_BOOL) & 1U << dtype) != 0;
    return dtype == GSH_FLOAT64 || dtype == GSH_FLOAT32;
}

/* The dtype; None is left to NumPy. */
static bool parse_dtype(const struct method *method, PyObject *const *slots, enum gsh_dtype *dtype)
{
    PyObject *object = given(slots, method->dtype);
    int number = method->distribution == GSH_RANDOM_BOUNDED ? GSH_INT64 : GSH_FLOAT64;
    if (object)
        number = gsh_numpy_describe_dtype(object);
    *dtype = (enum gsh_dtype)number;
    return is_dtype_possible(method, number);
}

/* out=, and its shape. */
static enum gsh_reason parse_out(PyObject *out, struct gsh_numpy_draw *request)
{
    struct gsh_view view;
    enum gsh_reason reason = gsh_numpy_describe_array(out, &view);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (!(view.flags & GSH_NPY_WRITEABLE) || (view.flags & GSH_NPY_WRITEBACKIFCOPY))
        return GSH_REASON_READ_ONLY;
    if (view.dtype != request->dtype || !(view.flags & GSH_NPY_C_CONTIGUOUS))
        return GSH_REASON_LAYOUT;
    request->out = out;
    request->layout.ndim = view.ndim;
    memcpy(request->layout.shape, view.shape, (size_t)view.ndim * sizeof(*view.shape));
    request->elements = gsh_numpy_describe_size(gsh_numpy_array(out));
    return GSH_REASON_NONE;
}

/* size=; that of out= must be the same. */
static bool parse_size(PyObject *size, struct gsh_numpy_draw *request)
{
    struct gsh_layout layout;
    int64_t elements;
    if (!size)
        return request->out != NULL;
    if (!gsh_numpy_arguments_shape(size, &layout, &elements))
        return false;
    if (request->out)
        return layout.ndim == request->layout.ndim &&
               memcmp(layout.shape, request->layout.shape,
                      (size_t)layout.ndim * sizeof(layout.shape[0])) == 0;
    request->layout = layout;
    request->elements = elements;
    gsh_numpy_output_c_order(&request->layout, gsh_dtype_size(request->dtype));
    return true;
}

/* The number of values asked for, where that is seen at once; else as many as are worth more looks. */
static int64_t guess_elements(const struct method *method, PyObject *const *slots)
{
    struct gsh_layout layout;
    int64_t elements;
    PyObject *size = slot_of(slots, method->size), *out = slot_of(slots, method->out);
    if (size && gsh_numpy_arguments_shape(size, &layout, &elements))
        return elements;
    if (out && gsh_numpy_is_array(out))
        return gsh_numpy_describe_size(gsh_numpy_array(out));
    return size || out ? GSH_NUMPY_DRAW_LEAST : 1;
}

static enum gsh_reason describe(const struct method *method, PyObject *const *slots,
                                struct gsh_numpy_draw *request)
{
    PyObject *out = slot_of(slots, method->out), *kind = given(slots, method->kind);
    enum gsh_reason reason = GSH_REASON_NONE;
    if (kind && (gsh_py_type(kind) != gsh_py.PyUnicode_Type ||
                 gsh_py.PyUnicode_CompareWithASCIIString(kind, "zig") != 0))
        return GSH_REASON_KEYWORDS;
    if (!gsh_numpy_generator_is_known(request->from->self))
        return GSH_REASON_OPERAND;
    if (!parse_dtype(method, slots, &request->dtype))
        return GSH_REASON_DTYPE;
    if (out)
        reason = parse_out(out, request);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (!parse_size(slot_of(slots, method->size), request))
        return GSH_REASON_SHAPE;
    bool is_plain = method->distribution == GSH_RANDOM_BOUNDED
                        ? parse_range(slots, request->dtype, &request->draw)
                        : parse_numbers(method, slots, &request->draw);
    return is_plain ? GSH_REASON_NONE : GSH_REASON_OPERAND;
}

static unsigned count_parameters(const struct method *method)
{
    unsigned count = 0;
    while (count < MOST_PARAMETERS && method->parameters[count])
        count++;
    return count;
}

/* Whether a parameter of a distribution is an array, for which numpy_composed_draws.py has a function. */
static bool is_for_arrays(const struct method *method, PyObject *const *slots, PyObject *generator)
{
    PyObject *first = given(slots, method->first), *second = given(slots, method->second);
    return (method->form == GSH_RANDOM_SHIFTED || method->form == GSH_RANDOM_SCALED) &&
           ((first && gsh_numpy_is_array(first)) || (second && gsh_numpy_is_array(second))) &&
           gsh_numpy_generator_is_known(generator);
}

static PyObject *try_method(const struct method *method, const struct gsh_method_call *call,
                            enum gsh_reason *why, unsigned *row)
{
    PyObject *slots[MOST_PARAMETERS];
    unsigned count = count_parameters(method);
    if (!(gsh_numpy_parallel_is_on() || gsh_dispatch_is_live()) ||
        !gsh_numpy_method_patch_bind(call, method->parameters, count, count, slots))
        return NULL;
    if (is_for_arrays(method, slots, call->self))
        return gsh_numpy_composed_call(method->name, call, true, why);
    if (guess_elements(method, slots) < GSH_NUMPY_DRAW_LEAST)
        return NULL;
    struct gsh_numpy_draw request = {
        .from = call,
        .parameters = method->parameters,
        .slots = slots,
        .count = count,
        .method = method->name,
        .draw = {.distribution = method->distribution, .form = method->form}};
    *why = describe(method, slots, &request);
    if (*why != GSH_REASON_NONE || request.elements < GSH_NUMPY_DRAW_LEAST)
        return NULL;
    return gsh_numpy_draw_run(&request, why, row);
}

/* ---- hooks ---- */

#define HOOK(id, text, definition, size_at)                                                        \
    static PyObject *try_##id(const struct gsh_method_call *call, enum gsh_reason *why,            \
                              unsigned *row)                                                       \
    {                                                                                              \
        return try_method(&definition, call, why, row);                                            \
    }                                                                                              \
    GSH_METHOD_HOOK(id##_hook, .table = GSH_METHOD_GENERATOR, .name = text, .handler = try_##id,   \
                    .subject = GSH_METHOD_ASK_BY_LENGTH, .length_at = (size_at),                   \
                    .least = GSH_NUMPY_DRAW_LEAST, .uses_cores = true)
HOOK(random, "random", random_method, 0);
HOOK(uniform, "uniform", uniform_method, 2);
HOOK(standard_normal, "standard_normal", normal_standard, 0);
HOOK(normal, "normal", normal_method, 2);
HOOK(lognormal, "lognormal", lognormal_method, 2);
HOOK(standard_exponential, "standard_exponential", exponential_standard, 0);
HOOK(exponential, "exponential", exponential_method, 1);
HOOK(integers, "integers", integers_method, 2);

void gsh_numpy_random_adopt_module(void)
{
    static struct gsh_method_hook *const own[] = {&random_hook,          &uniform_hook,
                                                  &standard_normal_hook, &normal_hook,
                                                  &lognormal_hook,       &standard_exponential_hook,
                                                  &exponential_hook,     &integers_hook};
    enum { LEGACY = GSH_NUMPY_DERIVED_METHODS, SHUFFLES = LEGACY + GSH_NUMPY_LEGACY_METHODS };
    enum { CHOICES = SHUFFLES + GSH_NUMPY_SHUFFLES, OTHERS = CHOICES + GSH_NUMPY_RANDOM_CHOICES };
    static struct gsh_method_hook *hooks[GSH_COUNT(own) + OTHERS];
    static struct gsh_scipy_module module = {hooks, GSH_COUNT(hooks), 0};
    memcpy(hooks, gsh_numpy_derived_hooks, sizeof(gsh_numpy_derived_hooks));
    memcpy(hooks + LEGACY, gsh_numpy_legacy_hooks, sizeof(gsh_numpy_legacy_hooks));
    memcpy(hooks + SHUFFLES, gsh_numpy_shuffle_hooks, sizeof(gsh_numpy_shuffle_hooks));
    memcpy(hooks + CHOICES, gsh_numpy_random_choice_hooks, sizeof(gsh_numpy_random_choice_hooks));
    memcpy(hooks + OTHERS, own, sizeof(own));
    gsh_scipy_module_adopt(&module);
}
