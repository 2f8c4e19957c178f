/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The device draws numbers of the base; numpy_composed_draws.py makes the method's of them. Where it declines, the generator
 * is set back, and NumPy draws. The generator is locked meanwhile.
 */
#include "numpy_derived.h"

#include "dispatch.h"
#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_draw.h"
#include "numpy_exact.h"
#include "numpy_generator.h"
#include "numpy_random.h"
#include "python_error.h"

#include <math.h>

enum { MOST_NUMBERS = 3, MOST_PARAMETERS = MOST_NUMBERS + 1 };

/* How a method's numbers are made, for some values of its parameters. */
struct derived {
    const char *method;
    const char *parameters[MOST_PARAMETERS]; /* the last one is size */
    unsigned count;                          /* of parameters */
    double
        without; /* the value of the first parameter where it is not given; NaN: NumPy refuses that */
    bool (*is_valid)(const double *numbers); /* of finite numbers */
    enum gsh_random_distribution distribution;
    const char *base;     /* the method that draws this distribution */
    int each;             /* numbers of the base for one of the method's; 0: as many as it takes */
    const char *function; /* of numpy_composed_draws.py */
};

static bool is_any(const double *numbers)
{
    (void)numbers;
    return true;
}

static bool is_scale(const double *numbers)
{
    return !signbit(numbers[0]);
}

static bool has_scale(const double *numbers)
{
    return !signbit(numbers[1]);
}

static bool is_triangle(const double *numbers)
{
    return numbers[0] <= numbers[1] && numbers[1] <= numbers[2] && numbers[0] < numbers[2];
}

#define SEARCH_FROM                                                                                \
    0.333333333333333333333333  /* NumPy's limit between the two ways to a geometric number */
#define LEAST_PROBABILITY 1e-12 /* the numbers are far below 2^63 */

static bool is_inverted(const double *numbers)
{
    return numbers[0] >= LEAST_PROBABILITY && numbers[0] < SEARCH_FROM;
}

static bool is_searched(const double *numbers)
{
    return numbers[0] >= SEARCH_FROM && numbers[0] <= 1;
}

/* NumPy inverts up to an expectation of 30; a function of numpy_composed_draws.py has 40 terms at most. */
static bool is_binomial(const double *numbers)
{
    double n = numbers[0], p = numbers[1], rarer = n * fmin(p, 1 - p);
    return n >= 1 && n <= INT32_MAX && p > 0 && p < 1 && (n <= 40 ? rarer <= 30 : rarer <= 8);
}

/* NumPy multiplies numbers below an expectation of 10. */
static bool is_multiplied(const double *numbers)
{
    return numbers[0] > 0 && numbers[0] < 10;
}

#define EXPONENTIAL GSH_RANDOM_EXPONENTIAL, "standard_exponential"
#define NORMAL GSH_RANDOM_NORMAL, "standard_normal"
#define UNIFORM GSH_RANDOM_UNIFORM, "random"

static const struct derived rayleigh[] = {
    {"rayleigh", {"scale", "size"}, 2, 1, is_scale, EXPONENTIAL, 1, "rayleigh_of_exponentials"}};
static const struct derived standard_cauchy[] = {
    {"standard_cauchy", {"size"}, 1, NAN, is_any, NORMAL, 2, "cauchy_of_normals"}};
static const struct derived triangular[] = {{"triangular",
                                             {"left", "mode", "right", "size"},
                                             4,
                                             NAN,
                                             is_triangle,
                                             UNIFORM,
                                             1,
                                             "triangular_of_uniforms"}};
#define AROUND(name)                                                                               \
    {                                                                                              \
        name, {"loc", "scale", "size"}, 3, 0, has_scale, UNIFORM, 1, name "_of_uniforms"           \
    }
static const struct derived gumbel[] = {AROUND("gumbel")};
static const struct derived laplace[] = {AROUND("laplace")};
static const struct derived logistic[] = {AROUND("logistic")};
static const struct derived geometric[] = {
    {"geometric", {"p", "size"}, 2, NAN, is_inverted, EXPONENTIAL, 1, "geometric_of_exponentials"},
    {"geometric", {"p", "size"}, 2, NAN, is_searched, UNIFORM, 1, "geometric_of_uniforms"}};
static const struct derived binomial[] = {
    {"binomial", {"n", "p", "size"}, 3, NAN, is_binomial, UNIFORM, 1, "binomial_of_uniforms"}};

static const struct derived poisson[] = {
    {"poisson", {"lam", "size"}, 2, 1, is_multiplied, UNIFORM, 0, "poisson_of_uniforms"}};

/* ---- arguments ---- */

/* Of a call: its numbers, and the shape of what it returns. */
struct request {
    PyObject *slots[MOST_PARAMETERS];
    double numbers[MOST_NUMBERS];
    struct gsh_layout layout;
    int64_t elements;
};

static bool parse(const struct derived *derived, const struct gsh_method_call *call,
                  struct request *request)
{
    unsigned last = derived->count - 1;
    if (!gsh_numpy_method_patch_bind(call, derived->parameters, derived->count, derived->count,
                                     request->slots) ||
        !request->slots[last] ||
        !gsh_numpy_arguments_shape(request->slots[last], &request->layout, &request->elements))
        return false;
    for (unsigned i = 0; i < last; i++) {
        request->numbers[i] = i == 0 || isnan(derived->without) ? derived->without : 1;
        if (request->slots[i] &&
            !gsh_numpy_random_parse_number(request->slots[i], &request->numbers[i]))
            return false;
        if (isnan(request->numbers[i]))
            return false;
    }
    return request->elements >= GSH_NUMPY_DRAW_LEAST && derived->is_valid(request->numbers);
}

/* Whether the number of trials is an integer: NumPy refuses another one. */
static bool has_integer(const struct derived *derived, const struct request *request)
{
    int64_t value;
    return derived != binomial || gsh_numpy_arguments_int(request->slots[0], &value);
}

/* ---- one call ---- */

#define DEVIATIONS 12    /* more numbers than expected, in standard deviations */
#define MOST_OF_BASE 1e8 /* of the base, where some are not needed */

#define LEAST_OF_BASE                                                                              \
    5e5 /* where some are not needed: for fewer, NumPy takes no longer than some fifty launches do */

/* How many numbers of the base are drawn. 0: too many, or too few. */
static int64_t count_base(const struct derived *derived, const struct request *request)
{
    if (derived->each > 0)
        return request->elements * derived->each;
    double expected = (double)request->elements * (request->numbers[0] + 1);
    if (expected > MOST_OF_BASE || (expected < LEAST_OF_BASE && gsh_dispatch_min_elements != 0))
        return 0;
    return (int64_t)(expected + DEVIATIONS * sqrt(expected)) + 64;
}

/* The functions below: with the generator's lock. */

static PyObject *draw_base(const struct derived *derived, const struct request *request,
                           int64_t elements, const struct gsh_method_call *call,
                           enum gsh_reason *why, unsigned *row)
{
    static const char *const parameters[] = {"size"};
    PyObject *none[] = {NULL};
    struct gsh_numpy_draw draw = {
        .from = call,
        .parameters = parameters,
        .slots = none,
        .count = 1,
        .method = derived->base,
        .draw = {.distribution = derived->distribution, .form = GSH_RANDOM_STANDARD},
        .dtype = GSH_FLOAT64,
        .layout = request->layout,
        .elements = elements};
    if (derived->each == 0)
        draw.layout = (struct gsh_layout){.ndim = 1, .shape = {elements}};
    else if (derived->each > 1)
        draw.layout.shape[draw.layout.ndim++] = derived->each;
    gsh_numpy_output_c_order(&draw.layout, sizeof(double));
    return elements > 0 ? gsh_numpy_draw_on_device(&draw, why, row) : NULL;
}

/* Steals `drawn`. NULL: the composition declined. A tuple where not all numbers were needed. */
static PyObject *derive(const struct derived *derived, const struct request *request,
                        const struct gsh_method_call *call, PyObject *drawn, enum gsh_reason *why)
{
    PyObject *names =
        gsh_py.Py_BuildValue("(sss)", derived->method, derived->base, derived->function);
    PyObject *arguments[MOST_NUMBERS + 5] = {drawn, request->slots[derived->count - 1]},
                                       *result = NULL;
    unsigned count = 2;
    for (int i = 0; names && i < 3; i++)
        arguments[count++] = gsh_py.PyTuple_GetItem(names, i);
    unsigned given = derived->count - 1;
    while (given > 0 && !request->slots[given - 1])
        given--;
    for (unsigned i = 0; i < given; i++)
        arguments[count++] = request->slots[i] ? request->slots[i] : gsh_py._Py_NoneStruct;
    const struct gsh_method_call with = {call->self, arguments, count, NULL, NULL};
    if (names && gsh_numpy_exact_offer())
        result = gsh_numpy_composed_call("derived", &with, true, why);
    else
        gsh_python_error_clear();
    gsh_py_drop((PyObject *[]){names, drawn}, 2);
    return result;
}

/* The first item of a tuple, after the generator has passed over as many numbers from `begin` on as the second item says. Steals
 * the tuple. */
static PyObject *pass_over(const struct derived *derived, const struct request *request,
                           const struct gsh_method_call *call, PyObject *tuple,
                           const struct gsh_random_stream *begin)
{
    enum gsh_reason why;
    unsigned row;
    int64_t used = 0;
    PyObject *result = gsh_py.PyTuple_GetItem(tuple, 0), *passed = NULL;
    gsh_numpy_generator_write(call->self, begin);
    if (gsh_numpy_arguments_int(gsh_py.PyTuple_GetItem(tuple, 1), &used))
        passed = draw_base(derived, request, used, call, &why, &row);
    if (passed)
        gsh_py.Py_IncRef(result);
    gsh_py.Py_DecRef(tuple);
    gsh_py_drop(&passed, 1);
    return passed ? result : NULL;
}

static PyObject *run_locked(const struct derived *derived, const struct request *request,
                            const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    struct gsh_random_stream begin;
    PyObject *drawn = NULL, *result = NULL;
    if (gsh_numpy_generator_read(call->self, &begin))
        drawn = draw_base(derived, request, count_base(derived, request), call, why, row);
    if (drawn)
        result = derive(derived, request, call, drawn, why);
    if (result && gsh_py_type(result) == gsh_py.PyTuple_Type)
        result = pass_over(derived, request, call, result, &begin);
    if (drawn && !result)
        gsh_numpy_generator_write(call->self, &begin);
    return result;
}

static PyObject *run(const struct derived *derived, const struct request *request,
                     const struct gsh_method_call *call, enum gsh_reason *why, unsigned *row)
{
    if (!gsh_numpy_generator_lock(call->self))
        return NULL;
    PyObject *result = run_locked(derived, request, call, why, row);
    gsh_numpy_generator_unlock(call->self);
    return result;
}

static PyObject *try_derived(const struct derived *derived, const struct gsh_method_call *call,
                             enum gsh_reason *why, unsigned *row)
{
    struct request request;
    if (!parse(derived, call, &request) || !has_integer(derived, &request) ||
        request.layout.ndim >= GSH_MAX_DIMS || !gsh_numpy_generator_is_known(call->self))
        return NULL;
    return run(derived, &request, call, why, row);
}

/* ---- hooks ---- */

#define HOOK(id, size_at)                                                                          \
    static PyObject *try_##id(const struct gsh_method_call *call, enum gsh_reason *why,            \
                              unsigned *row)                                                       \
    {                                                                                              \
        PyObject *result = NULL;                                                                   \
        for (unsigned i = 0; !result && i < GSH_COUNT(id); i++)                                    \
            result = try_derived(&id[i], call, why, row);                                          \
        return result;                                                                             \
    }                                                                                              \
    GSH_METHOD_HOOK(id##_hook, .table = GSH_METHOD_GENERATOR, .name = #id, .handler = try_##id,    \
                    .subject = GSH_METHOD_ASK_BY_LENGTH, .length_at = (size_at),                   \
                    .least = GSH_NUMPY_DRAW_LEAST)
HOOK(rayleigh, 1);
HOOK(standard_cauchy, 0);
HOOK(triangular, 3);
HOOK(gumbel, 2);
HOOK(laplace, 2);
HOOK(logistic, 2);
HOOK(geometric, 1);
HOOK(binomial, 2);
HOOK(poisson, 1);

struct gsh_method_hook *const gsh_numpy_derived_hooks[GSH_NUMPY_DERIVED_METHODS] = {
    &rayleigh_hook, &standard_cauchy_hook, &triangular_hook, &gumbel_hook, &laplace_hook,
    &logistic_hook, &geometric_hook,       &binomial_hook,   &poisson_hook};
