/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of elements are compared as bytes first. Numbers of float dtypes are compared as complex128, which holds each exactly,
 * integers as themselves.
 */
#include "verify_compare.h"

#include "fmt.h"
#include "host_casts.h"

#include <complex.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

struct format {
    int digits, least,
        most; /* of the significand; exponents of the least number, and of the first too large one */
};

static struct format format_of(enum gsh_dtype dtype)
{
    if (dtype == GSH_FLOAT16)
        return (struct format){11, -24, 16};
    return gsh_dtype_is_single(dtype) ? (struct format){24, -149, 128}
                                      : (struct format){53, -1074, 1024};
}

double gsh_verify_compare_ulp(double x, enum gsh_dtype dtype)
{
    struct format format = format_of(dtype);
    int exponent = format.least;
    if (isfinite(x) && x != 0)
        (void)frexp(x, &exponent);
    return ldexp(1, GSH_MAX(exponent - format.digits, format.least));
}

/* ---- one element ---- */

struct element {
    double _Complex got, want;
    double magnitude; /* 0: not known */
};

static double larger_part(double _Complex x)
{
    return fmax(fabs(creal(x)), fabs(cimag(x)));
}

static bool has_nan(double _Complex x)
{
    return isnan(creal(x)) || isnan(cimag(x));
}

/* An infinity stands for the first number that is too large, half of it, so that it is one. */
static double half(double x, enum gsh_dtype dtype)
{
    return isinf(x) ? copysign(ldexp(1, format_of(dtype).most - 1), x) : x / 2;
}

static double distance(double got, double want, double unit, enum gsh_dtype dtype)
{
    if (got == want)
        return 0;
    if (isinf(got) || isinf(want))
        return fabs(half(got, dtype) - half(want, dtype)) / unit * 2;
    return fabs(got - want) / unit;
}

/* In units in the last place of the larger part, and at least of the magnitude. Infinite: a NaN on one side. */
static double ulps_between(const struct element *element, enum gsh_dtype dtype)
{
    if (has_nan(element->got) || has_nan(element->want))
        return has_nan(element->got) && has_nan(element->want) ? 0 : INFINITY;
    double size = fmax(larger_part(element->got), larger_part(element->want));
    if (isinf(size))
        size = ldexp(1 - ldexp(1, -11), format_of(dtype).most);
    double unit = gsh_verify_compare_ulp(fmax(size, element->magnitude), dtype);
    return fmax(distance(creal(element->got), creal(element->want), unit, dtype),
                distance(cimag(element->got), cimag(element->want), unit, dtype));
}

static bool has_same_signs(double _Complex x, double _Complex y)
{
    return signbit(creal(x)) == signbit(creal(y)) && signbit(cimag(x)) == signbit(cimag(y));
}

/* Whether the contract allows the element. What overflows among magnitudes is not fixed. */
static bool is_allowed(const struct element *element, double ulps, struct gsh_contract contract)
{
    if (contract.kind == GSH_CONTRACT_EXACT && ulps == 0)
        return has_nan(element->got) || has_same_signs(element->got, element->want);
    return ulps <= contract.factor || (!isfinite(element->magnitude) && !has_nan(element->want));
}

/* ---- texts ---- */

static void write_float(struct gsh_fmt *fmt, double _Complex x, enum gsh_dtype dtype)
{
    int digits = dtype == GSH_FLOAT16 ? 5 : gsh_dtype_is_single(dtype) ? 9 : 17;
    gsh_fmt_printf(fmt, "%.*g", digits, creal(x));
    if (gsh_dtype_kind(dtype) == 'c')
        gsh_fmt_printf(fmt, "%+.*gj", digits, cimag(x));
}

static void note(struct gsh_verify_outcome *outcome, double ulps, int64_t index, double bound)
{
    outcome->ulps = ulps;
    outcome->index = index;
    outcome->bound = bound;
}

static void note_float(struct gsh_verify_outcome *outcome, const struct element *element,
                       enum gsh_dtype dtype)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, outcome->device, sizeof outcome->device);
    write_float(&fmt, element->got, dtype);
    gsh_fmt_init(&fmt, outcome->cpu, sizeof outcome->cpu);
    write_float(&fmt, element->want, dtype);
}

/* ---- blocks of a row ---- */

struct comparison {
    const struct gsh_verify_array *got, *want, *magnitude;
    struct gsh_contract contract;
    struct gsh_verify_outcome *outcome;
};

static void load(double _Complex *numbers, const struct gsh_verify_array *array, int64_t offset,
                 int64_t step, int64_t count)
{
    gsh_host_casts_run(numbers, GSH_COMPLEX128, sizeof numbers[0], array->data + offset,
                       array->dtype, step, count);
}

/* Whether both are surely within the bound: a unit in the last place is more than 2^-digits of the number. */
static bool is_near(double _Complex got, double _Complex want, double near)
{
    double apart = fabs(creal(got) - creal(want)) + fabs(cimag(got) - cimag(want));
    return near > 0 && apart <= near * fabs(creal(want)) && apart < INFINITY;
}

static void compare_floats(struct comparison *comparison, const int64_t *offsets,
                           const int64_t *steps, int64_t count, int64_t index)
{
    double _Complex got[BLOCK], want[BLOCK], magnitude[BLOCK];
    enum gsh_dtype dtype = comparison->want->dtype;
    double near = comparison->contract.factor * ldexp(1, -format_of(dtype).digits);
    load(got, comparison->got, offsets[0], steps[0], count);
    load(want, comparison->want, offsets[1], steps[1], count);
    if (comparison->magnitude != NULL)
        load(magnitude, comparison->magnitude, offsets[2], steps[2], count);
    for (int64_t i = 0; i < count; i++) {
        if ((got[i] == want[i] && has_same_signs(got[i], want[i])) ||
            is_near(got[i], want[i], near))
            continue;
        const struct element element = {
            got[i], want[i],
            fmax(comparison->contract.least,
                 comparison->magnitude != NULL ? larger_part(magnitude[i]) : 0)};
        double ulps = ulps_between(&element, dtype);
        if (is_allowed(&element, ulps, comparison->contract))
            continue;
        struct gsh_verify_outcome *outcome = comparison->outcome;
        if (outcome->different++ == 0 || ulps > outcome->ulps) {
            note(outcome, ulps, index + i, comparison->contract.factor);
            note_float(outcome, &element, dtype);
        }
    }
}

/* An integer or bool of any width. */
static __int128 read_integer(const char *bytes, enum gsh_dtype dtype)
{
    union gsh_scalar scalar = {.words = {0}}, wide = {.words = {0}};
    memcpy(&scalar, bytes, gsh_dtype_size(dtype));
    if (dtype == GSH_UINT64)
        return scalar.u64;
    gsh_host_casts_run(&wide, GSH_INT64, 0, &scalar, dtype, 0, 1);
    return wide.i64;
}

static void write_integer(char *text, size_t size, __int128 number)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, size);
    if (number < 0)
        gsh_fmt_printf(&fmt, "%lld", (long long)number);
    else
        gsh_fmt_printf(&fmt, "%llu", (unsigned long long)number);
}

static void compare_integers(struct comparison *comparison, const int64_t *offsets,
                             const int64_t *steps, int64_t count, int64_t index)
{
    struct gsh_verify_outcome *outcome = comparison->outcome;
    enum gsh_dtype dtype = comparison->want->dtype;
    for (int64_t i = 0; i < count; i++) {
        __int128 got = read_integer(comparison->got->data + offsets[0] + i * steps[0], dtype);
        __int128 want = read_integer(comparison->want->data + offsets[1] + i * steps[1], dtype);
        double ulps = (double)(got > want ? got - want : want - got);
        if (ulps <= comparison->contract.factor)
            continue;
        if (outcome->different++ == 0 || ulps > outcome->ulps) {
            note(outcome, ulps, index + i, comparison->contract.factor);
            write_integer(outcome->device, sizeof outcome->device, got);
            write_integer(outcome->cpu, sizeof outcome->cpu, want);
        }
    }
}

static bool has_same_bytes(const struct comparison *comparison, const int64_t *offsets,
                           const int64_t *steps, int64_t count)
{
    int64_t size = (int64_t)gsh_dtype_size(comparison->want->dtype);
    return steps[0] == size && steps[1] == size &&
           memcmp(comparison->got->data + offsets[0], comparison->want->data + offsets[1],
                  (size_t)(count * size)) == 0;
}

static void compare_row(struct comparison *comparison, const int64_t *offsets, const int64_t *steps,
                        int64_t count, int64_t index)
{
    char kind = gsh_dtype_kind(comparison->want->dtype);
    if (has_same_bytes(comparison, offsets, steps, count))
        return;
    for (int64_t i = 0; i < count; i += BLOCK) {
        int64_t at[3], length = GSH_MIN((int64_t)BLOCK, count - i);
        for (int k = 0; k < 3; k++)
            at[k] = offsets[k] + i * steps[k];
        if (has_same_bytes(comparison, at, steps, length))
            continue;
        if (kind == 'f' || kind == 'c')
            compare_floats(comparison, at, steps, length, index + i);
        else
            compare_integers(comparison, at, steps, length, index + i);
    }
}

/* ---- rows of arrays ---- */

/* Steps through the dimensions of one shape, but the last `inner`, in C order. */
struct walk {
    int outer;
    const int64_t *shape;
    int64_t position[GSH_VERIFY_DIMS], offsets[3];
};

/* False: that was the last. */
static bool step(struct walk *walk, const struct gsh_verify_array *const *arrays, int count)
{
    for (int d = walk->outer - 1; d >= 0; d--) {
        bool wraps = ++walk->position[d] == walk->shape[d];
        int64_t by = wraps ? 1 - walk->shape[d] : 1;
        for (int k = 0; k < count; k++)
            walk->offsets[k] += by * arrays[k]->strides[d];
        if (!wraps)
            return true;
        walk->position[d] = 0;
    }
    return false;
}

static int64_t count_elements(const struct gsh_verify_array *array)
{
    int64_t count = 1;
    for (int d = 0; d < array->ndim; d++)
        count *= array->shape[d];
    return count;
}

void gsh_verify_compare(const struct gsh_verify_array *got, const struct gsh_verify_array *want,
                        const struct gsh_verify_array *magnitude, struct gsh_contract contract,
                        struct gsh_verify_outcome *outcome)
{
    const struct gsh_verify_array *const arrays[3] = {got, want, magnitude};
    struct comparison comparison = {got, want, magnitude, contract, outcome};
    int last = want->ndim - 1;
    struct walk walk = {.outer = GSH_MAX(last, 0), .shape = want->shape};
    int64_t steps[3] = {0}, count = last < 0 ? 1 : want->shape[last], index = 0;
    *outcome = (struct gsh_verify_outcome){.different = 0};
    if (count_elements(want) == 0)
        return;
    int used = magnitude != NULL ? 3 : 2;
    for (int k = 0; k < used && last >= 0; k++)
        steps[k] = arrays[k]->strides[last];
    do {
        compare_row(&comparison, walk.offsets, steps, count, index);
        index += count;
    } while (step(&walk, arrays, used));
}

/* ---- lines ---- */

/* An array's dimensions, those of lines last. */
struct turned {
    int64_t shape[GSH_VERIFY_DIMS], strides[2][GSH_VERIFY_DIMS], places[GSH_VERIFY_DIMS];
    int ndim, outer; /* the first `outer` are no lines' */
};

static void turn(struct turned *turned, const struct gsh_verify_array *got,
                 const struct gsh_verify_array *want, const bool *is_line)
{
    for (int pass = 0; pass < 2; pass++) {
        int64_t place = count_elements(want);
        for (int d = 0; d < want->ndim; d++) {
            place /= want->shape[d]; /* the index's step in C order */
            if (is_line[d] != (pass == 1))
                continue;
            int at = turned->ndim++;
            turned->shape[at] = want->shape[d];
            turned->places[at] = place;
            turned->strides[0][at] = got->strides[d];
            turned->strides[1][at] = want->strides[d];
        }
        turned->outer = pass == 0 ? turned->ndim : turned->outer;
    }
}

/* What is known of a line. */
struct line {
    double error, norm; /* roots of sums of squares */
    double worst;       /* distance of the worst element; infinite: a NaN on one side */
    struct element element;
    int64_t index; /* its index */
};

static void add_to_line(struct line *line, const struct element *element, int64_t index)
{
    bool got_nan = has_nan(element->got), want_nan = has_nan(element->want);
    double apart = got_nan != want_nan ? INFINITY
                   : got_nan           ? 0
                                       : cabs(element->got - element->want);
    if (isnan(apart)) /* infinities */
        apart = element->got == element->want ? 0 : INFINITY;
    line->norm = hypot(line->norm, want_nan ? 0 : cabs(element->want));
    line->error = hypot(line->error, apart);
    if (apart > line->worst) {
        line->worst = apart;
        line->element = *element;
        line->index = index;
    }
}

/* The line whose first element is at these offsets. */
static struct line read_line(const struct turned *turned,
                             const struct gsh_verify_array *const *whole, const int64_t *offsets,
                             int64_t index)
{
    struct gsh_verify_array parts[2];
    const int64_t *shape = turned->shape + turned->outer;
    for (int k = 0; k < 2; k++)
        parts[k] = (struct gsh_verify_array){whole[k]->dtype, turned->ndim - turned->outer, shape,
                                             turned->strides[k] + turned->outer,
                                             whole[k]->data + offsets[k]};
    const struct gsh_verify_array *const arrays[2] = {&parts[0], &parts[1]};
    struct walk walk = {.outer = parts[1].ndim, .shape = shape};
    struct line line = {.worst = 0};
    do {
        struct element element = {0};
        int64_t at = index;
        load(&element.got, &parts[0], walk.offsets[0], 0, 1);
        load(&element.want, &parts[1], walk.offsets[1], 0, 1);
        for (int d = 0; d < walk.outer; d++)
            at += walk.position[d] * turned->places[turned->outer + d];
        add_to_line(&line, &element, at);
    } while (step(&walk, arrays, 2));
    return line;
}

static void judge_line(const struct line *line, enum gsh_dtype dtype, double factor,
                       struct gsh_verify_outcome *outcome)
{
    double unit = gsh_verify_compare_ulp(1, dtype) * line->norm;
    double ulps = line->error == 0 ? 0 : line->error / unit;
    if (ulps <= factor || (isinf(line->norm) && !isinf(line->worst)))
        return;
    if (outcome->different++ == 0 || ulps > outcome->ulps) {
        note(outcome, ulps, line->index, factor);
        note_float(outcome, &line->element, dtype);
    }
}

void gsh_verify_compare_lines(const struct gsh_verify_array *got,
                              const struct gsh_verify_array *want, const bool *is_line,
                              struct gsh_contract contract, struct gsh_verify_outcome *outcome)
{
    const struct gsh_verify_array *const whole[2] = {got, want};
    struct turned turned = {.ndim = 0};
    *outcome = (struct gsh_verify_outcome){.different = 0};
    if (count_elements(want) == 0)
        return;
    turn(&turned, got, want, is_line);
    const struct gsh_verify_array outer[2] = {
        {got->dtype, turned.outer, turned.shape, turned.strides[0], got->data},
        {want->dtype, turned.outer, turned.shape, turned.strides[1], want->data}};
    const struct gsh_verify_array *const arrays[2] = {&outer[0], &outer[1]};
    struct walk walk = {.outer = turned.outer, .shape = turned.shape};
    do {
        int64_t index = 0;
        for (int d = 0; d < turned.outer; d++)
            index += walk.position[d] * turned.places[d];
        struct line line = read_line(&turned, whole, walk.offsets, index);
        judge_line(&line, want->dtype, contract.factor, outcome);
    } while (step(&walk, arrays, 2));
}
