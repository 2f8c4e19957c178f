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
#include "numpy_number_ranges.h"
#include "numpy_random.h"
#include "python_error.h"
#include "random_stream.h"
#include "ziggurat.h"

#include <math.h>
#include <string.h>

enum { MOST_NUMBERS = 3, MOST_PARAMETERS = MOST_NUMBERS + 1 };

/* How a method's numbers are made, for some values of its parameters. */
struct derived {
    const char *method;
    const char *parameters[MOST_PARAMETERS]; /* the last one is size */
    unsigned count;                          /* of parameters */
    double
        without; /* the value of the first parameter where it is not given; NaN: NumPy refuses that */
    bool (*is_valid)(
        const double *numbers); /* of finite numbers; NULL: the one before size is a list */
    enum gsh_random_distribution distribution;
    const char *base;     /* the method that draws this distribution */
    int each;             /* numbers of the base for one of the method's; 0: as many as it takes */
    const char *function; /* of numpy_composed_draws.py */
    double
        words; /* for one of the method's, or of its items, at most on average; the base is words */
};

#define RANGE(name) gsh_numpy_number_ranges_##name

static bool is_any(const double *numbers)
{
    (void)numbers;
    return true;
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

#define EXPONENTIAL GSH_RANDOM_EXPONENTIAL, "standard_exponential"
#define NORMAL GSH_RANDOM_NORMAL, "standard_normal"
#define UNIFORM GSH_RANDOM_UNIFORM, "random"
#define WORDS GSH_RANDOM_BOUNDED, "integers", 0

static const struct derived of_rayleigh[] = {{"rayleigh",
                                              {"scale", "size"},
                                              2,
                                              1,
                                              RANGE(scale),
                                              EXPONENTIAL,
                                              1,
                                              "rayleigh_of_exponentials",
                                              0}};
static const struct derived of_standard_cauchy[] = {
    {"standard_cauchy", {"size"}, 1, NAN, is_any, NORMAL, 2, "cauchy_of_normals", 0}};
static const struct derived of_triangular[] = {{"triangular",
                                                {"left", "mode", "right", "size"},
                                                4,
                                                NAN,
                                                RANGE(triangle),
                                                UNIFORM,
                                                1,
                                                "triangular_of_uniforms",
                                                0}};
#define AROUND(name)                                                                               \
    {                                                                                              \
        name, {"loc", "scale", "size"}, 3, 0, RANGE(loc_scale), UNIFORM, 1, name "_of_uniforms", 0 \
    }
static const struct derived of_gumbel[] = {AROUND("gumbel")};
static const struct derived of_laplace[] = {AROUND("laplace")};
static const struct derived of_logistic[] = {AROUND("logistic")};
static const struct derived of_geometric[] = {
    {"geometric",
     {"p", "size"},
     2,
     NAN,
     is_inverted,
     EXPONENTIAL,
     1,
     "geometric_of_exponentials",
     0},
    {"geometric", {"p", "size"}, 2, NAN, is_searched, UNIFORM, 1, "geometric_of_uniforms", 0}};
static const struct derived of_binomial[] = {{"binomial",
                                              {"n", "p", "size"},
                                              3,
                                              NAN,
                                              RANGE(binomial),
                                              UNIFORM,
                                              1,
                                              "binomial_of_uniforms",
                                              0}};

static const struct derived of_poisson[] = {
    {"poisson", {"lam", "size"}, 2, 1, RANGE(poisson), UNIFORM, 0, "poisson_of_uniforms", 0}};

static const struct derived of_standard_gamma[] = {
    {"standard_gamma", {"shape", "size"}, 2, NAN, RANGE(shape), WORDS, "gammas_of_words", 2.25}};
static const struct derived of_gamma[] = {
    {"gamma", {"shape", "scale", "size"}, 3, NAN, RANGE(gamma), WORDS, "gammas_of_words", 2.25}};
static const struct derived of_chisquare[] = {
    {"chisquare", {"df", "size"}, 2, NAN, RANGE(chisquare), WORDS, "chisquares_of_words", 2.25}};
static const struct derived of_beta[] = {
    {"beta", {"a", "b", "size"}, 3, NAN, RANGE(beta), WORDS, "betas_of_words", 4.5}};
static const struct derived of_f[] = {
    {"f", {"dfnum", "dfden", "size"}, 3, NAN, RANGE(ratio), WORDS, "ratios_of_words", 4.5}};
static const struct derived of_standard_t[] = {
    {"standard_t", {"df", "size"}, 2, NAN, RANGE(chisquare), WORDS, "students_of_words", 3.3}};
static const struct derived of_noncentral_chisquare[] = {{"noncentral_chisquare",
                                                          {"df", "nonc", "size"},
                                                          3,
                                                          NAN,
                                                          RANGE(noncentral),
                                                          WORDS,
                                                          "noncentral_chisquares_of_words",
                                                          3.3}};
static const struct derived of_noncentral_f[] = {{"noncentral_f",
                                                  {"dfnum", "dfden", "nonc", "size"},
                                                  4,
                                                  NAN,
                                                  RANGE(noncentral_ratio),
                                                  WORDS,
                                                  "noncentral_ratios_of_words",
                                                  5.6}};
static const struct derived of_wald[] = {
    {"wald", {"mean", "scale", "size"}, 3, NAN, RANGE(wald), WORDS, "walds_of_words", 2.1}};

static const struct derived of_weibull[] = {
    {"weibull", {"a", "size"}, 2, NAN, RANGE(power), EXPONENTIAL, 1, "weibull_of_exponentials", 0}};
static const struct derived of_logseries[] = {
    {"logseries", {"p", "size"}, 2, NAN, RANGE(logseries), WORDS, "logseries_of_words", 2}};
static const struct derived of_zipf[] = {
    {"zipf", {"a", "size"}, 2, NAN, RANGE(zipf), WORDS, "zipf_of_words", 2.3}};

static const struct derived of_dirichlet[] = {
    {"dirichlet", {"alpha", "size"}, 2, NAN, NULL, WORDS, "dirichlets_of_words", 2.25}};
static const struct derived of_multinomial[] = {
    {"multinomial", {"n", "pvals", "size"}, 3, NAN, NULL, WORDS, "multinomials_of_words", 1}};

/* Of words of 32 bits. */
static const struct derived of_hypergeometric[] = {{"hypergeometric",
                                                    {"ngood", "nbad", "nsample", "size"},
                                                    4,
                                                    NAN,
                                                    RANGE(hypergeometric),
                                                    WORDS,
                                                    "hypergeometrics_of_words",
                                                    2}};

static bool takes_halves(const struct derived *derived)
{
    return derived == of_hypergeometric;
}

/* ---- arguments ---- */

/* Of a call: its numbers, and the shape of what it returns. */
struct request {
    PyObject *slots[MOST_PARAMETERS];
    unsigned items; /* that a number is made of: those of its list, or of its sample */
    double numbers[MOST_NUMBERS];
    struct gsh_layout layout;
    int64_t elements;
};

static bool parse_numbers(const struct derived *derived, struct request *request)
{
    for (unsigned i = 0; i + 1 < derived->count; i++) {
        bool is_one = i > 0 && (derived == of_gamma || !isnan(derived->without));
        request->numbers[i] = is_one ? 1 : derived->without;
        if (request->slots[i] &&
            !gsh_numpy_random_parse_number(request->slots[i], &request->numbers[i]))
            return false;
        if (isnan(request->numbers[i]))
            return false;
    }
    request->items = derived == of_hypergeometric ? (unsigned)request->numbers[2] : 1;
    return derived->is_valid(request->numbers);
}

/* A list, and a number of trials before it. */
static bool parse_list(const struct derived *derived, struct request *request)
{
    struct gsh_numpy_random_list list;
    int64_t trials;
    if (!gsh_numpy_random_parse_list(request->slots[derived->count - 2], &list))
        return false;
    request->items = list.count;
    if (derived == of_dirichlet)
        return RANGE(dirichlet)(list.items, list.count);
    return request->slots[0] && gsh_numpy_arguments_int(request->slots[0], &trials) &&
           RANGE(multinomial)(trials, list.items, list.count);
}

static bool parse(const struct derived *derived, const struct gsh_method_call *call,
                  struct request *request)
{
    PyObject *const *slots = request->slots;
    unsigned last = derived->count - 1;
    return gsh_numpy_method_patch_bind(call, derived->parameters, derived->count, derived->count,
                                       request->slots) &&
           slots[last] &&
           gsh_numpy_arguments_shape(slots[last], &request->layout, &request->elements) &&
           request->elements >= GSH_NUMPY_DRAW_LEAST &&
           (derived->is_valid ? parse_numbers(derived, request) : parse_list(derived, request));
}

/* Whether the number of trials is an integer: NumPy refuses another one. */
static bool has_integer(const struct derived *derived, const struct request *request)
{
    int64_t value;
    return derived != of_binomial || gsh_numpy_arguments_int(request->slots[0], &value);
}

/* ---- one call ---- */

#define DEVIATIONS 12    /* more numbers than expected, in standard deviations */
#define MOST_OF_BASE 1e8 /* of the base, where some are not needed */

#define MOST_WORDS 3e7 /* some twenty arrays hold a number for each of them */
#define LEAST_OF_BASE                                                                              \
    5e5 /* where some are not needed: for fewer, NumPy takes no longer than some fifty launches do */

/* How many numbers of the base are drawn. 0: too many, or too few. */
static int64_t count_base(const struct derived *derived, const struct request *request)
{
    if (derived->each > 0)
        return request->elements * derived->each;
    const bool is_words = derived->words > 0;
    double expected = (double)request->elements *
                      (is_words ? derived->words * request->items : request->numbers[0] + 1);
    double arrays = expected * GSH_MAX(request->items / 2.0, 1);
    if ((is_words ? arrays > MOST_WORDS : expected > MOST_OF_BASE) ||
        (expected < LEAST_OF_BASE && gsh_dispatch_min_elements != 0))
        return 0;
    return (int64_t)(expected + DEVIATIONS * sqrt(expected)) + 64;
}

/* The functions below: with the generator's lock. */

static PyObject *draw_base(const struct derived *derived, const struct request *request,
                           int64_t elements, const struct gsh_method_call *call,
                           enum gsh_reason *why, unsigned *row)
{
    if (derived->words > 0)
        return gsh_numpy_draw_words(call, takes_halves(derived) ? GSH_UINT32 : GSH_UINT64, elements,
                                    why, row);
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

static PyObject *make_table(enum gsh_dtype dtype, const void *from)
{
    struct gsh_layout layout = {.ndim = 1, .shape = {GSH_ZIGGURAT_LAYERS}};
    gsh_numpy_output_c_order(&layout, 8);
    PyObject *table = gsh_numpy_output_allocate(dtype, &layout);
    if (table)
        memcpy(gsh_numpy_array(table)->data, from, (size_t)GSH_ZIGGURAT_LAYERS * 8);
    return table;
}

/* ziggurat(0: normal, 1: exponential): (steepness, width, height), for numpy_composed_chains.py. */
static PyObject *ziggurat(PyObject *self, PyObject *kind)
{
    int64_t number = 0;
    (void)self;
    (void)gsh_numpy_arguments_int(kind, &number);
    const struct gsh_ziggurat *tables =
        number == 0 ? &gsh_ziggurat_normal : &gsh_ziggurat_exponential;
    PyObject *made[] = {make_table(GSH_UINT64, tables->steepness),
                        make_table(GSH_FLOAT64, tables->width),
                        make_table(GSH_FLOAT64, tables->height)};
    PyObject *result = NULL;
    if (made[0] && made[1] && made[2])
        result = gsh_py.Py_BuildValue("(OOO)", made[0], made[1], made[2]);
    gsh_py_drop(made, GSH_COUNT(made));
    return result ? result : gsh_py.Py_BuildValue("()");
}

static bool offer(void)
{
    static struct gsh_pymethoddef definition = {"ziggurat", (void *)ziggurat, GSH_METH_O, NULL};
    return gsh_numpy_exact_offer() && gsh_numpy_composed_offer(&definition, 1);
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
    if (names && offer())
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
    if (gsh_numpy_arguments_int(gsh_py.PyTuple_GetItem(tuple, 1), &used) && derived->words > 0) {
        struct gsh_random_stream stream = *begin;
        if (takes_halves(derived))
            gsh_random_stream_skip_halves(&stream, (uint64_t)used);
        else
            gsh_random_stream_skip(&stream, (uint64_t)used);
        gsh_numpy_generator_write(call->self, &stream);
        passed = result;
        gsh_py.Py_IncRef(passed);
    } else if (used > 0)
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
        for (unsigned i = 0; !result && i < GSH_COUNT(of_##id); i++)                               \
            result = try_derived(&of_##id[i], call, why, row);                                     \
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
HOOK(standard_gamma, 1);
HOOK(chisquare, 1);
HOOK(beta, 2);
HOOK(f, 2);
HOOK(standard_t, 1);
HOOK(noncentral_chisquare, 2);
HOOK(noncentral_f, 3);
HOOK(wald, 2);
HOOK(gamma, 2);
HOOK(weibull, 1);
HOOK(logseries, 1);
HOOK(zipf, 1);
HOOK(dirichlet, 1);
HOOK(multinomial, 2);
HOOK(hypergeometric, 3);

struct gsh_method_hook *const gsh_numpy_derived_hooks[GSH_NUMPY_DERIVED_METHODS] = {
    &rayleigh_hook,
    &standard_cauchy_hook,
    &triangular_hook,
    &gumbel_hook,
    &laplace_hook,
    &logistic_hook,
    &geometric_hook,
    &binomial_hook,
    &poisson_hook,
    &standard_gamma_hook,
    &chisquare_hook,
    &beta_hook,
    &f_hook,
    &standard_t_hook,
    &noncentral_chisquare_hook,
    &noncentral_f_hook,
    &wald_hook,
    &gamma_hook,
    &weibull_hook,
    &logseries_hook,
    &zipf_hook,
    &dirichlet_hook,
    &multinomial_hook,
    &hypergeometric_hook};
