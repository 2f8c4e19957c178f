/* SPDX-License-Identifier: Apache-2.0
 *
 * ?gemv, ?ger, ?geru and ?gerc of every type and transposition, with positive and negative steps,
 * compared with loops: without a BLAS and on the host device. Memory between the elements is
 * neither read nor changed. tests/preload/test_blas_vectors.py tests them with an original.
 */
#include "blas_entry_parts.h"

#include "blas_cases.h"
#include "capture.h"
#include "check.h"
#include "live.h"

#include <math.h>
#include <string.h>

#define M 7 /* of A */
#define N 5
#define LEADING 9
#define ELEMENTS (LEADING * LEADING)

typedef void fortran(void);
#define ROUTINES(X)                                                                                \
    X(sgemv_, gemv, FLOAT32)                                                                       \
    X(dgemv_, gemv, FLOAT64)                                                                       \
    X(cgemv_, gemv, COMPLEX64)                                                                     \
    X(zgemv_, gemv, COMPLEX128)                                                                    \
    X(sger_, geru, FLOAT32)                                                                        \
    X(dger_, geru, FLOAT64)                                                                        \
    X(cgeru_, geru, COMPLEX64)                                                                     \
    X(zgeru_, geru, COMPLEX128)                                                                    \
    X(cgerc_, gerc, COMPLEX64)                                                                     \
    X(zgerc_, gerc, COMPLEX128)
#define DECLARE(name, ...) fortran name;
ROUTINES(DECLARE)
#define ROW(name, kind, dtype) {#name, name, #kind, GSH_##dtype},
static const struct routine {
    const char *name;
    fortran *function;
    const char *kind;
    enum gsh_dtype dtype;
} routines_of[] = {ROUTINES(ROW)};

struct variant {
    const struct routine *routine;
    char trans; /* of gemv */
    int x_step, y_step;
    double _Complex alpha, beta;
};

/* a; x and y, which are as far apart as their steps say. */
static double _Complex plain[3][ELEMENTS], before[3][ELEMENTS];
static double _Complex *memory[3] = {plain[0], plain[1], plain[2]};
static const int leading = LEADING;

static bool is_pairs(const struct variant *v)
{
    return gsh_dtype_kind(v->routine->dtype) == 'c';
}

static bool is_gemv(const struct variant *v)
{
    return strcmp(v->routine->kind, "gemv") == 0;
}

static int x_length(const struct variant *v)
{
    return is_gemv(v) && v->trans == 'N' ? N : M;
}

static int y_length(const struct variant *v)
{
    return is_gemv(v) && v->trans == 'N' ? M : N;
}

/* Where element i of a vector is. */
static int place(int i, int length, int step)
{
    return step > 0 ? i * step : (i - (length - 1)) * step;
}

static double _Complex get(const struct variant *v, unsigned which, int at)
{
    return gsh_blas_number_load(memory[which], v->routine->dtype, at);
}

static double _Complex was(const struct variant *v, unsigned which, int at)
{
    return gsh_blas_number_load(before[which], v->routine->dtype, at);
}

static double _Complex number(const struct variant *v, int which, int i, int j)
{
    return number_of(v->routine->dtype, which, i, j);
}

static void put(const struct variant *v, unsigned which, int at, double _Complex value)
{
    gsh_blas_number_store(memory[which], v->routine->dtype, at, value);
}

static void fill(const struct variant *v)
{
    for (unsigned which = 0; which < 3; which++)
        for (int i = 0; i < ELEMENTS; i++)
            put(v, which, i, (double)NAN);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            put(v, 0, j * LEADING + i, number(v, 0, i, j));
    for (int i = 0; i < x_length(v); i++)
        put(v, 1, place(i, x_length(v), v->x_step), number(v, 1, i, 0));
    for (int i = 0; i < y_length(v) && !(is_gemv(v) && v->beta == 0); i++)
        put(v, 2, place(i, y_length(v), v->y_step), number(v, 2, i, 0));
    for (unsigned which = 0; which < 3; which++)
        memcpy(before[which], memory[which], sizeof before[which]);
}

/* ---- what must come out ---- */

static double _Complex x_at(const struct variant *v, int i)
{
    return was(v, 1, place(i, x_length(v), v->x_step));
}

static double _Complex product_at(const struct variant *v, int row)
{
    double _Complex sum = 0;
    for (int l = 0; l < x_length(v); l++) {
        double _Complex a = was(v, 0, v->trans == 'N' ? l * LEADING + row : row * LEADING + l);
        sum += (v->trans == 'C' && is_pairs(v) ? conj(a) : a) * x_at(v, l);
    }
    return sum;
}

static double _Complex updated(const struct variant *v, int row, int column)
{
    double _Complex y = was(v, 2, place(column, y_length(v), v->y_step));
    bool is_conjugate = strcmp(v->routine->kind, "gerc") == 0;
    return was(v, 0, column * LEADING + row) +
           v->alpha * x_at(v, row) * (is_conjugate ? conj(y) : y);
}

/* Takes the results out, so that all must be as before. */
static bool take_results(const struct variant *v)
{
    bool is_right = true;
    for (int i = 0; is_gemv(v) && i < y_length(v); i++) {
        int at = place(i, y_length(v), v->y_step);
        double _Complex old = v->beta == 0 ? 0 : v->beta * was(v, 2, at);
        is_right &= get(v, 2, at) == (v->alpha == 0 ? 0 : v->alpha * product_at(v, i)) + old;
        put(v, 2, at, was(v, 2, at));
    }
    for (int j = 0; !is_gemv(v) && j < N; j++)
        for (int i = 0; i < M; i++) {
            int at = j * LEADING + i;
            is_right &= get(v, 0, at) == updated(v, i, j);
            put(v, 0, at, was(v, 0, at));
        }
    return is_right;
}

static bool is_untouched(void)
{
    bool is_same = true;
    for (unsigned which = 0; which < 3; which++)
        is_same &= memcmp(before[which], memory[which], sizeof before[which]) == 0;
    return is_same;
}

/* ---- calls ---- */

typedef void gemv_function(const char *, const int *, const int *, const void *, void *,
                           const int *, void *, const int *, const void *, void *, const int *,
                           size_t);
typedef void ger_function(const int *, const int *, const void *, void *, const int *, void *,
                          const int *, void *, const int *);

static void call_with(const struct variant *v, int m, int n, int lda)
{
    double _Complex alpha, beta;
    gsh_blas_number_store(&alpha, v->routine->dtype, 0, v->alpha);
    gsh_blas_number_store(&beta, v->routine->dtype, 0, v->beta);
    if (is_gemv(v))
        ((gemv_function *)v->routine->function)(&v->trans, &m, &n, &alpha, memory[0], &lda,
                                                memory[1], &v->x_step, &beta, memory[2], &v->y_step,
                                                1);
    else
        ((ger_function *)v->routine->function)(&m, &n, &alpha, memory[1], &v->x_step, memory[2],
                                               &v->y_step, memory[0], &lda);
}

static unsigned variants, failures;

static void check(const struct variant *v)
{
    fill(v);
    call_with(v, M, N, leading);
    variants++;
    if (!(CHECK(take_results(v)) & CHECK(is_untouched())) && failures++ < 20)
        fprintf(stderr, "  %s %c steps %d %d alpha %g %g beta %g %g\n", v->routine->name, v->trans,
                v->x_step, v->y_step, creal(v->alpha), cimag(v->alpha), creal(v->beta),
                cimag(v->beta));
}

static void test_routine(const struct routine *routine)
{
    static const int steps[] = {1, 3, -1, -2};
    for (unsigned k = 0; k < 3 * GSH_COUNT(steps) * GSH_COUNT(steps); k++) {
        struct variant v = {.routine = routine,
                            .trans = "NTC"[k % 3],
                            .x_step = steps[k / 3 % GSH_COUNT(steps)],
                            .y_step = steps[k / 3 / GSH_COUNT(steps)]};
        unsigned count = is_pairs(&v) ? GSH_COUNT(factors) : REAL_FACTORS;
        for (unsigned i = 0; i < count && (is_gemv(&v) || v.trans == 'N'); i++) {
            v.alpha = factors[i][0];
            v.beta = factors[i][1];
            check(&v);
        }
    }
}

static void test_all(void)
{
    for (size_t i = 0; i < GSH_COUNT(routines_of); i++)
        test_routine(&routines_of[i]);
}

/* Every call runs there, wherever the operands are: one launch each, where nothing has to be packed for a library. */
static void test_device(const char *where)
{
    bool packs = strcmp(getenv("GPUSHIM_DEVICE"), "host") != 0;
    uint64_t begin = live_launches();
    variants = failures = 0;
    test_all();
    if (!CHECK(packs ? live_launches() - begin >= variants : live_launches() - begin == variants))
        fprintf(stderr, "  %s\n", where);
}

/* A matrix that stays on the device is not uploaded again; what ger adds to it stays there. */
static void test_residency(void)
{
    enum { SIDE = 64 };
    gemv_function *const gemv = (gemv_function *)routines_of[1].function;
    ger_function *const ger = (ger_function *)routines_of[5].function;
    const int side = SIDE, one = 1;
    const double factor = 1, none = 0;
    double *a = live_doubles((int64_t)SIDE * SIDE, GSH_ARENA_HOST);
    double *x = live_doubles(SIDE, GSH_ARENA_HOST), *y = live_doubles(SIDE, GSH_ARENA_HOST);
    for (int i = 0; i < SIDE * SIDE; i++)
        a[i] = i % SIDE == i / SIDE;
    for (int i = 0; i < SIDE; i++)
        x[i] = y[i] = i;
    uint64_t uploads = gsh_stats_get(GSH_COUNTER_UPLOADS);
    for (int step = 0; step < 3; step++) { /* a += x x', y = a x */
        ger(&side, &side, &factor, x, &one, x, &one, a, &side);
        gemv("N", &side, &side, &factor, a, &side, x, &one, &none, y, &one, 1);
    }
    CHECK_INT(gsh_stats_get(GSH_COUNTER_UPLOADS) - uploads, 2);
    double square = 0;
    for (int i = 0; i < SIDE; i++)
        square += x[i] * x[i];
    for (int i = 0; i < SIDE; i++)
        CHECK(y[i] == x[i] + 3 * x[i] * square);
}

static void check_nothing_happens(struct variant v, int m, int n, int lda)
{
    fill(&v);
    call_with(&v, m, n, lda);
    CHECK(is_untouched());
}

/* What is illegal, and what there is nothing to do for, changes nothing: not even y, which beta would scale. */
static void test_odd_arguments(void)
{
    struct variant v = {
        .routine = &routines_of[1], .trans = 'N', .x_step = 1, .y_step = 1, .alpha = 1, .beta = 2};
    for (unsigned k = 0; k < 2; k++) {
        v.routine = &routines_of[k == 0 ? 1 : 5];
        check_nothing_happens(v, 0, N, LEADING);
        check_nothing_happens(v, M, 0, LEADING);
        check_nothing_happens(v, M, N, M - 1);
        check_nothing_happens(v, -1, N, LEADING);
        v.x_step = 0;
        check_nothing_happens(v, M, N, LEADING);
        v.x_step = 1;
    }
    v.routine = &routines_of[1];
    v.trans = 'X';
    check_nothing_happens(v, M, N, LEADING);
}

/* What the original, or nobody, has to compute. */
static void test_left_alone(void)
{
    struct variant v = {
        .routine = &routines_of[1], .trans = 'T', .x_step = 1, .y_step = 2, .alpha = 0, .beta = 2};
    uint64_t begin = live_launches();
    check(&v);
    test_odd_arguments();
    is_inside = true;
    test_all();
    is_inside = false;
    CHECK_INT(live_launches() - begin, 0);
}

static void test_no_original(void)
{
    char text[8192];
    capture_checks(test_left_alone, text, sizeof text);
    CHECK(strstr(text, "gpushim: dgemv_: no library loaded has it; computed without BLAS\n"));
    CHECK(strstr(text, "gpushim: dger_: illegal argument\n"));
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    test_no_original();
    test_device("unmanaged memory");
    for (unsigned which = 0; which < 3; which++)
        memory[which] = gsh_arena_allocate(sizeof plain[which], GSH_ARENA_HOST);
    test_device("the arena");
    test_residency();
    test_left_alone(); /* in a process that could launch them */
    return live_end();
}
