/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The RandomState is locked meanwhile, and changed last. Before a method is computed for the first time, what it makes of
 * a new RandomState, and the state behind it, are compared with NumPy's.
 */
#include "numpy_legacy.h"

#include "dispatch.h"
#include "numpy_arguments.h"
#include "numpy_composed.h"
#include "numpy_exact.h"
#include "numpy_number_ranges.h"
#include "numpy_random.h"
#include "numpy_random_state.h"
#include "python_error.h"
#include "twister.h"

#include <math.h>
#include <string.h>

enum { LEAST = 16384, TRIAL = 1501, MOST_PARAMETERS = 4 };

enum kind { UNIFORM, NORMAL, CHAIN, RUN, SAMPLE, LIST, INTEGERS };

/* A method. Its parameters but size are numbers, or, before size, a list of numbers; those of randint are its own. */
struct legacy {
    const char *name;
    const char *parameters[MOST_PARAMETERS];
    int size_at;       /* the place of size among them */
    double without[2]; /* numbers that are not given; NaN: NumPy refuses that */
    bool (*is_valid)(const double *numbers); /* of finite numbers; NULL: any are */
    enum kind kind;
    double each;          /* numbers of the kind for one of the method's, on average at most */
    const char *function; /* of numpy_composed_legacy.py, or numpy_composed_polar.py */
};

static bool is_range(const double *numbers)
{
    return isfinite(numbers[1] - numbers[0]);
}

/* A geometric number is one quotient of logarithms, or found by search. */
static bool is_geometric(const double *numbers)
{
    return numbers[0] >= 1e-4 && numbers[0] <= 1;
}

#define RANGE(name) gsh_numpy_number_ranges_##name

/* Numbers of [0, 1) for a normal one, and for a gamma number of a shape from 1 on. */
#define GAUSS 1.2733
#define GAMMA 2.4

#define NONE                                                                                       \
    {                                                                                              \
        NAN, NAN                                                                                   \
    }
#define FROM(first, second)                                                                        \
    {                                                                                              \
        first, second                                                                              \
    }

/* X(name, place of size, numbers that are not given, check of numbers, kind, each, function, parameters) */
#define METHODS(X)                                                                                 \
    X(random_sample, 0, NONE, NULL, UNIFORM, 1, "uniforms", "size")                                \
    X(uniform, 2, FROM(0, 1), is_range, UNIFORM, 1, "uniforms", "low", "high", "size")             \
    X(standard_normal, 0, NONE, NULL, NORMAL, 1, "normals", "size")                                \
    X(normal, 2, FROM(0, 1), RANGE(loc_scale), NORMAL, 1, "normals", "loc", "scale", "size")       \
    X(standard_exponential, 0, NONE, NULL, UNIFORM, 1, "exponentials", "size")                     \
    X(exponential, 1, FROM(1, NAN), RANGE(scale), UNIFORM, 1, "exponentials", "scale", "size")     \
    X(gumbel, 2, FROM(0, 1), RANGE(loc_scale), UNIFORM, 1, "gumbels", "loc", "scale", "size")      \
    X(laplace, 2, FROM(0, 1), RANGE(loc_scale), UNIFORM, 1, "laplaces", "loc", "scale", "size")    \
    X(logistic, 2, FROM(0, 1), RANGE(loc_scale), UNIFORM, 1, "logistics", "loc", "scale", "size")  \
    X(standard_cauchy, 0, NONE, NULL, NORMAL, 2, "cauchies", "size")                               \
    X(triangular, 3, NONE, RANGE(triangle), UNIFORM, 1, "triangles", "left", "mode", "right",      \
      "size")                                                                                      \
    X(binomial, 2, NONE, RANGE(binomial), UNIFORM, 1, "binomials", "n", "p", "size")               \
    X(poisson, 1, FROM(1, NAN), RANGE(poisson), RUN, 1, "poissons", "lam", "size")                 \
    X(standard_gamma, 1, NONE, RANGE(shape), CHAIN, GAMMA, "legacy_gammas", "shape", "size")       \
    X(gamma, 2, FROM(NAN, 1), RANGE(gamma), CHAIN, GAMMA, "legacy_gammas", "shape", "scale",       \
      "size")                                                                                      \
    X(chisquare, 1, NONE, RANGE(chisquare), CHAIN, GAMMA, "legacy_chisquares", "df", "size")       \
    X(beta, 2, NONE, RANGE(beta), CHAIN, 2 * GAMMA, "legacy_betas", "a", "b", "size")              \
    X(f, 2, NONE, RANGE(ratio), CHAIN, 2 * GAMMA, "legacy_ratios", "dfnum", "dfden", "size")       \
    X(standard_t, 1, NONE, RANGE(chisquare), CHAIN, GAMMA + GAUSS, "legacy_students", "df",        \
      "size")                                                                                      \
    X(noncentral_chisquare, 2, NONE, RANGE(noncentral), CHAIN, GAMMA + GAUSS,                      \
      "legacy_noncentral_chisquares", "df", "nonc", "size")                                        \
    X(noncentral_f, 3, NONE, RANGE(noncentral_ratio), CHAIN, 2 * GAMMA + GAUSS,                    \
      "legacy_noncentral_ratios", "dfnum", "dfden", "nonc", "size")                                \
    X(wald, 2, NONE, RANGE(wald), CHAIN, GAUSS + 1, "legacy_walds", "mean", "scale", "size")       \
    X(lognormal, 2, FROM(0, 1), RANGE(loc_scale), NORMAL, 1, "lognormals", "mean", "sigma",        \
      "size")                                                                                      \
    X(pareto, 1, NONE, RANGE(power), UNIFORM, 1, "paretos", "a", "size")                           \
    X(weibull, 1, NONE, RANGE(power), UNIFORM, 1, "weibulls", "a", "size")                         \
    X(power, 1, NONE, RANGE(power), UNIFORM, 1, "powers", "a", "size")                             \
    X(geometric, 1, NONE, is_geometric, UNIFORM, 1, "geometrics", "p", "size")                     \
    X(hypergeometric, 3, NONE, RANGE(hypergeometric), SAMPLE, 1, "hypergeometrics", "ngood",       \
      "nbad", "nsample", "size")                                                                   \
    X(logseries, 1, NONE, RANGE(logseries), CHAIN, 2, "legacy_logseries", "p", "size")             \
    X(zipf, 1, NONE, RANGE(zipf), CHAIN, 2.3, "legacy_zipf", "a", "size")                          \
    X(dirichlet, 1, NONE, NULL, LIST, GAMMA, "legacy_dirichlets", "alpha", "size")                 \
    X(multinomial, 2, NONE, NULL, LIST, 1, "legacy_multinomials", "n", "pvals", "size")            \
    X(tomaxint, 0, NONE, NULL, UNIFORM, 1, "largest_integers", "size")                             \
    X(randint, 2, NONE, NULL, INTEGERS, 1, "integers_below", "low", "high", "size", "dtype")

static const struct legacy methods[GSH_NUMPY_LEGACY_METHODS] = {
#define X(name, place, first, check, of, each, function, ...)                                      \
    {#name, {__VA_ARGS__}, place, first, check, of, each, function},
    METHODS(X)
#undef X
};

/* ---- arguments ---- */

/* Of a call. `words`: how many it takes, most likely. */
struct request {
    const struct legacy *legacy;
    const struct gsh_method_call *call;
    PyObject *slots[MOST_PARAMETERS];
    struct gsh_layout layout;
    int64_t elements;
    double words;
};

static unsigned count_parameters(const struct legacy *legacy)
{
    unsigned count = 0;
    while (count < MOST_PARAMETERS && legacy->parameters[count])
        count++;
    return count;
}

#define MOST_WORDS 2.5e8 /* arrays of some GB are made of so many */
#define MOST_OF_CHAIN 6e7
#define LEAST_OF_CHAIN 1e6     /* for fewer, NumPy takes no longer than the launches do */
#define WORDS_OF_NORMAL 2.5465 /* 16 / (2 pi): of 4 words, pi / 4 make two numbers */

/* Of numbers of [0, 1) that are made into a chain. */
static double words_of_chain(double count)
{
    return 2 * (count + 24 * sqrt(count) + 64);
}

/* Words for so many numbers: twelve standard deviations more than expected where that is left to chance. */
static double words_for(const struct request *request, const double *numbers)
{
    const double count = (double)request->elements * request->legacy->each;
    const double run = count * (numbers[0] + 1);
    switch (request->legacy->kind) {
    case NORMAL:
        return WORDS_OF_NORMAL * count + 24 * sqrt(count) + 64;
    case CHAIN:
        return words_of_chain(count);
    case RUN:
        return 2 * (run + 12 * sqrt(run) + 64);
    case SAMPLE:
        return 2 * count * numbers[2];
    case UNIFORM:
    case LIST:
    case INTEGERS:
        break;
    }
    return 2 * count;
}

/* Some hundred launches make a chain, of arrays that hold a number for each two words; of a list of `items` numbers, for each of them. */
static bool is_worth(const struct request *request, unsigned items)
{
    const bool is_forced = gsh_dispatch_min_elements == 0;
    const bool is_chain = request->legacy->kind == CHAIN || request->legacy->kind == LIST;
    return !is_chain || (request->words * GSH_MAX(items / 2.0, 1) <= MOST_OF_CHAIN &&
                         (is_forced || request->words >= LEAST_OF_CHAIN));
}

static bool parse_numbers(struct request *request)
{
    const struct legacy *legacy = request->legacy;
    double numbers[MOST_PARAMETERS] = {legacy->without[0], legacy->without[1], NAN};
    for (int i = 0; i < legacy->size_at; i++) {
        if (request->slots[i] && !gsh_numpy_random_parse_number(request->slots[i], &numbers[i]))
            return false;
        if (isnan(numbers[i]))
            return false;
    }
    request->words = words_for(request, numbers);
    return (!legacy->is_valid || legacy->is_valid(numbers)) && is_worth(request, 1);
}

/* A list, and a number of trials before it. */
static bool parse_list(struct request *request)
{
    const struct legacy *legacy = request->legacy;
    struct gsh_numpy_random_list list;
    int64_t trials;
    if (!gsh_numpy_random_parse_list(request->slots[legacy->size_at - 1], &list))
        return false;
    request->words = words_of_chain((double)request->elements * legacy->each * list.count);
    if (!is_worth(request, list.count))
        return false;
    if (legacy->size_at == 1)
        return RANGE(dirichlet)(list.items, list.count);
    return request->slots[0] && gsh_numpy_arguments_int(request->slots[0], &trials) &&
           RANGE(multinomial)(trials, list.items, list.count);
}

/* Both ends, of which the second one is not drawn. */
static bool parse_ends(const struct request *request, int64_t *low, int64_t *high)
{
    PyObject *first = request->slots[0], *second = request->slots[1];
    if (!first || !gsh_numpy_arguments_int(first, low))
        return false;
    *high = *low;
    if (gsh_numpy_arguments_is_absent(second)) {
        *low = 0;
        return true;
    }
    return gsh_numpy_arguments_int(second, high);
}

/* Of integers without their dtype, which the composition looks at: not more than of 64 bits, and without a mask half of the words. */
static bool parse_integers(struct request *request)
{
    int64_t low, high;
    PyObject *dtype = request->slots[3];
    if ((dtype && gsh_py_is_none(dtype)) || !parse_ends(request, &low, &high) || high <= low ||
        high - low <= 1)
        return false;
    const double range = (double)(uint64_t)(high - low), all = exp2(ceil(log2(range)));
    const double count = (double)request->elements * all / range;
    request->words = count + 12 * sqrt(count) + 64;
    if (high - 1 - low > UINT32_MAX)
        request->words *= 2;
    return true;
}

static bool parse_parameters(struct request *request)
{
    if (request->legacy->kind == INTEGERS)
        return parse_integers(request);
    return request->legacy->kind == LIST ? parse_list(request) : parse_numbers(request);
}

static bool parse(struct request *request)
{
    const struct legacy *legacy = request->legacy;
    unsigned count = count_parameters(legacy);
    return gsh_numpy_method_patch_bind(request->call, legacy->parameters, count, count,
                                       request->slots) &&
           request->slots[legacy->size_at] &&
           gsh_numpy_arguments_shape(request->slots[legacy->size_at], &request->layout,
                                     &request->elements) &&
           request->elements >= LEAST && request->layout.ndim < GSH_MAX_DIMS &&
           parse_parameters(request) && request->words <= MOST_WORDS;
}

/* ---- the composition ---- */

/* What it returned. */
struct made {
    PyObject *array;
    int64_t used;
    struct gsh_numpy_spare spare;
};

static bool take(PyObject *tuple, struct made *made)
{
    struct gsh_numpy_value number;
    if (gsh_py_type(tuple) != gsh_py.PyTuple_Type || gsh_py_size(tuple) != 3 ||
        !gsh_numpy_arguments_int(gsh_py.PyTuple_GetItem(tuple, 1), &made->used))
        return false;
    made->array = gsh_py.PyTuple_GetItem(tuple, 0);
    PyObject *spare = gsh_py.PyTuple_GetItem(tuple, 2);
    made->spare = (struct gsh_numpy_spare){.is_kept = !gsh_py_is_none(spare)};
    if (!made->spare.is_kept)
        return true;
    if (gsh_numpy_describe_scalar(spare, &number) != GSH_REASON_NONE || number.dtype != GSH_FLOAT64)
        return false;
    made->spare.number = number.scalar.f64;
    return true;
}

/* A new reference to the composition's tuple, which *made refers to; NULL: it declined. */
static PyObject *compose(const struct request *request, PyObject *size, PyObject *words,
                         const struct gsh_numpy_spare *spare, struct made *made)
{
    const struct legacy *legacy = request->legacy;
    PyObject *function = gsh_py.Py_BuildValue("s", legacy->function);
    PyObject *number = gsh_py.Py_BuildValue("d", spare->number), *tuple = NULL;
    PyObject *arguments[MOST_PARAMETERS + 4] = {
        function, words, spare->is_kept ? number : gsh_py._Py_NoneStruct, size};
    unsigned count = 4;
    for (int i = 0; i < (int)count_parameters(legacy); i++)
        if (i != legacy->size_at)
            arguments[count++] = request->slots[i] ? request->slots[i] : gsh_py._Py_NoneStruct;
    const struct gsh_method_call call = {NULL, arguments, count, NULL, NULL};
    if (function && number && gsh_numpy_exact_offer())
        tuple = gsh_numpy_composed_run("legacy", &call, false);
    gsh_python_error_clear();
    gsh_py_drop((PyObject *[]){function, number}, 2);
    if (tuple && take(tuple, made))
        return tuple;
    gsh_py_drop(&tuple, 1);
    return NULL;
}

/* ---- trials ---- */

static PyObject *call_numpy(const struct request *request, PyObject *object, PyObject *size)
{
    const struct legacy *legacy = request->legacy;
    PyObject *method = gsh_py.PyObject_GetAttrString(object, legacy->name);
    PyObject *none = gsh_py.PyTuple_New(0), *names = gsh_py.PyDict_New(), *result = NULL;
    bool is_ready = method && none && names;
    for (unsigned i = 0; is_ready && i < count_parameters(legacy); i++)
        if (request->slots[i])
            gsh_py.PyDict_SetItemString(names, legacy->parameters[i],
                                        (int)i == legacy->size_at ? size : request->slots[i]);
    if (is_ready)
        result = gsh_py.PyObject_Call(method, none, names);
    gsh_py_drop((PyObject *[]){method, none, names}, 3);
    return result;
}

static bool stands_alike(PyObject *a, PyObject *b)
{
    struct gsh_random_stream one, other;
    struct gsh_numpy_spare spare, other_spare;
    return gsh_numpy_random_state_read(a, &one, &spare) &&
           gsh_numpy_random_state_read(b, &other, &other_spare) &&
           one.twister.at == other.twister.at && spare.is_kept == other_spare.is_kept &&
           spare.number == other_spare.number &&
           memcmp(one.twister.key, other.twister.key,
                  GSH_TWISTER_BLOCK * sizeof *one.twister.key) == 0;
}

static bool has_same_bytes(PyObject *a, PyObject *b)
{
    struct gsh_view one, other;
    if (gsh_numpy_describe_array(a, &one) != GSH_REASON_NONE ||
        gsh_numpy_describe_array(b, &other) != GSH_REASON_NONE || one.dtype != other.dtype ||
        one.ndim != other.ndim || one.ndim < 1 || one.shape[0] != TRIAL ||
        memcmp(one.shape, other.shape, (size_t)one.ndim * sizeof *one.shape) != 0)
        return false;
    gsh_numpy_describe_fetch(a, false);
    gsh_numpy_describe_fetch(b, false);
    const int64_t count = gsh_numpy_describe_size(gsh_numpy_array(a));
    return memcmp(one.data, other.data, (size_t)count * gsh_dtype_size(one.dtype)) == 0;
}

/* The next words, made here. */
static PyObject *make_words(const struct gsh_random_stream *stream, int64_t count)
{
    struct gsh_layout layout = {.ndim = 1, .shape = {gsh_numpy_random_state_round(stream, count)}};
    gsh_numpy_output_c_order(&layout, sizeof(uint32_t));
    PyObject *words = gsh_numpy_output_allocate(GSH_UINT32, &layout);
    if (words)
        gsh_twister_fill(stream->twister.key, stream->twister.at,
                         (uint32_t *)gsh_numpy_array(words)->data, layout.shape[0]);
    return words;
}

/* TRIAL numbers of a new RandomState by the composition. A new reference. */
static PyObject *compose_trial(const struct request *request, PyObject *object, PyObject *size)
{
    struct gsh_random_stream stream;
    struct gsh_numpy_spare spare;
    struct made made;
    PyObject *words = NULL, *tuple = NULL, *array = NULL;
    const double share = TRIAL / (double)request->elements;
    if (gsh_numpy_random_state_read(object, &stream, &spare))
        words = make_words(&stream, (int64_t)(request->words * share) + INT64_C(2) * TRIAL);
    if (words)
        tuple = compose(request, size, words, &spare, &made);
    if (tuple) {
        gsh_numpy_random_state_write(object, words, made.used, &made.spare);
        array = made.array;
        gsh_py.Py_IncRef(array);
    }
    gsh_py_drop((PyObject *[]){words, tuple}, 2);
    return array;
}

static bool try_alike(const struct request *request)
{
    PyObject *size = gsh_py.PyLong_FromLongLong(TRIAL);
    PyObject *one = gsh_numpy_random_state_fresh(request->call->self);
    PyObject *other = gsh_numpy_random_state_fresh(request->call->self);
    PyObject *expected = one && size ? call_numpy(request, one, size) : NULL;
    PyObject *made = expected && other ? compose_trial(request, other, size) : NULL;
    bool is_alike = made && has_same_bytes(expected, made) && stands_alike(one, other);
    gsh_py_drop((PyObject *[]){size, one, other, expected, made}, 5);
    gsh_python_error_clear();
    return is_alike;
}

/* Whether NumPy draws as the composition does. */
static bool is_alike(const struct request *request)
{
    static enum { NOT_TRIED, ALIKE, OTHER } verdicts[GSH_NUMPY_LEGACY_METHODS];
    const size_t i = (size_t)(request->legacy - methods);
    if (verdicts[i] == NOT_TRIED)
        verdicts[i] = try_alike(request) ? ALIKE : OTHER;
    return verdicts[i] == ALIKE;
}

/* ---- one call ---- */

static PyObject *run_locked(const struct request *request, enum gsh_reason *why, unsigned *row)
{
    PyObject *self = request->call->self, *words = NULL, *tuple = NULL, *result = NULL;
    struct gsh_random_stream stream;
    struct gsh_numpy_spare spare;
    struct made made;
    *row = gsh_numpy_output_row(request->legacy->name, NULL, 0, GSH_UINT32);
    if (gsh_numpy_random_state_read(self, &stream, &spare))
        words = gsh_numpy_random_state_draw(&stream, (int64_t)request->words + 1, *row, why);
    if (words) {
        *why = GSH_REASON_OPERAND;
        tuple = compose(request, request->slots[request->legacy->size_at], words, &spare, &made);
    }
    if (tuple) {
        gsh_numpy_random_state_write(self, words, made.used, &made.spare);
        result = made.array;
        gsh_py.Py_IncRef(result);
    }
    gsh_py_drop((PyObject *[]){words, tuple}, 2);
    return result;
}

static PyObject *try_legacy(const struct legacy *legacy, const struct gsh_method_call *call,
                            enum gsh_reason *why, unsigned *row)
{
    struct request request = {.legacy = legacy, .call = call};
    if (!gsh_dispatch_is_live() || !parse(&request) ||
        !gsh_numpy_random_state_is_known(call->self) || !is_alike(&request) ||
        !gsh_numpy_random_state_lock(call->self))
        return NULL;
    PyObject *result = run_locked(&request, why, row);
    gsh_numpy_random_state_unlock(call->self);
    return result;
}

/* ---- hooks ---- */

#define X(id, ...) AT_##id,
enum { METHODS(X) };
#undef X
#define X(id, place, ...)                                                                          \
    static PyObject *try_##id(const struct gsh_method_call *call, enum gsh_reason *why,            \
                              unsigned *row)                                                       \
    {                                                                                              \
        return try_legacy(&methods[AT_##id], call, why, row);                                      \
    }                                                                                              \
    GSH_METHOD_HOOK(id##_hook, .table = GSH_METHOD_RANDOM_STATE, .name = #id, .handler = try_##id, \
                    .subject = GSH_METHOD_ASK_BY_LENGTH, .length_at = (place), .least = LEAST);
METHODS(X)
#undef X

struct gsh_method_hook *const gsh_numpy_legacy_hooks[GSH_NUMPY_LEGACY_METHODS] = {
#define X(id, ...) &id##_hook,
    METHODS(X)
#undef X
};
