/* SPDX-License-Identifier: Apache-2.0
 *
 * ?syrk, ?herk, ?syr2k, ?her2k, ?symm, ?hemm and ?trmm of every type, triangle, side, transposition and diagonal,
 * against loops over the whole matrices: without any BLAS, on the host device, and with a BLAS of the system behind
 * them. What is not to be read is no number, what is not to be written stays. And which strides are BLAS's.
 */
#include "blas_entry_parts.h"

#include "blas_cases.h"
#include "blas_form.h"
#include "capture.h"
#include "check.h"
#include "host_routines.h"
#include "live.h"

#include <math.h>
#include <string.h>

#define M 7 /* rows of B and C; order of C, where it is updated */
#define N 5 /* columns of B and C */
#define K 4 /* terms of an update */
#define LEADING 9
#define ELEMENTS (LEADING * LEADING)
#define UNTOUCHED 77

typedef void fortran(void);
#define ROUTINES(X)                                                                                \
    X(ssyrk_, SYRK, FLOAT32)                                                                       \
    X(dsyrk_, SYRK, FLOAT64)                                                                       \
    X(csyrk_, SYRK, COMPLEX64)                                                                     \
    X(zsyrk_, SYRK, COMPLEX128)                                                                    \
    X(cherk_, HERK, COMPLEX64)                                                                     \
    X(zherk_, HERK, COMPLEX128)                                                                    \
    X(ssyr2k_, SYR2K, FLOAT32)                                                                     \
    X(dsyr2k_, SYR2K, FLOAT64)                                                                     \
    X(csyr2k_, SYR2K, COMPLEX64)                                                                   \
    X(zsyr2k_, SYR2K, COMPLEX128)                                                                  \
    X(cher2k_, HER2K, COMPLEX64)                                                                   \
    X(zher2k_, HER2K, COMPLEX128)                                                                  \
    X(ssymm_, SYMM, FLOAT32)                                                                       \
    X(dsymm_, SYMM, FLOAT64)                                                                       \
    X(csymm_, SYMM, COMPLEX64)                                                                     \
    X(zsymm_, SYMM, COMPLEX128)                                                                    \
    X(chemm_, HEMM, COMPLEX64)                                                                     \
    X(zhemm_, HEMM, COMPLEX128)                                                                    \
    X(strmm_, TRMM, FLOAT32)                                                                       \
    X(dtrmm_, TRMM, FLOAT64)                                                                       \
    X(ctrmm_, TRMM, COMPLEX64)                                                                     \
    X(ztrmm_, TRMM, COMPLEX128)
#define DECLARE(name, ...) fortran name;
ROUTINES(DECLARE)
#define ROW(name, form, dtype) {#name, name, GSH_GEMM_##form, GSH_##dtype},
static const struct routine {
    const char *name;
    fortran *function;
    enum gsh_gemm_form form;
    enum gsh_dtype dtype;
} forms[] = {ROUTINES(ROW)};

struct variant {
    const struct routine *routine;
    char side, triangle, trans, diagonal;
    double _Complex alpha, beta;
};
static struct variant plain_case(const struct routine *routine, double alpha)
{
    return (struct variant){.routine = routine,
                            .side = 'L',
                            .triangle = 'U',
                            .trans = 'N',
                            .diagonal = 'N',
                            .alpha = alpha};
}

static double _Complex plain[3][ELEMENTS], before[ELEMENTS];
static double _Complex *matrices[3] = {plain[0], plain[1], plain[2]};
static const int rows = M, columns = N, terms = K, leading = LEADING;

static bool is_pairs(const struct variant *v)
{
    return gsh_dtype_kind(v->routine->dtype) == 'c';
}

static bool is_update(const struct variant *v)
{
    return v->routine->form <= GSH_GEMM_HER2K;
}

static bool is_hermitian(const struct variant *v)
{
    enum gsh_gemm_form form = v->routine->form;
    return form == GSH_GEMM_HERK || form == GSH_GEMM_HER2K || form == GSH_GEMM_HEMM;
}

static double _Complex get(const struct variant *v, const void *matrix, int i, int j)
{
    return gsh_blas_number_load(matrix, v->routine->dtype, (int64_t)j * LEADING + i);
}

static void put(const struct variant *v, void *matrix, int i, int j, double _Complex value)
{
    gsh_blas_number_store(matrix, v->routine->dtype, (int64_t)j * LEADING + i, value);
}

/* ---- what is read and written ---- */

static bool is_in_triangle(const struct variant *v, int i, int j)
{
    return v->triangle == 'U' ? i <= j : i >= j;
}

static bool is_read(const struct variant *v, int which, int i, int j)
{
    int order = v->side == 'L' ? M : N;
    if (is_update(v))
        return v->trans == 'N' ? i < M && j < K : i < K && j < M;
    if (which == 1)
        return i < M && j < N;
    return i < order && j < order && is_in_triangle(v, i, j) && (i != j || v->diagonal == 'N');
}

static bool is_written(const struct variant *v, int i, int j)
{
    return is_update(v) ? i < M && j < M && is_in_triangle(v, i, j) : i < M && j < N;
}

static double _Complex number(const struct variant *v, int which, int i, int j)
{
    return number_of(v->routine->dtype, which, i, j);
}

static void fill(const struct variant *v)
{
    bool is_in_place = v->routine->form == GSH_GEMM_TRMM;
    for (int j = 0; j < LEADING; j++)
        for (int i = 0; i < LEADING; i++) {
            for (int which = 0; which < 2; which++)
                put(v, matrices[which], i, j,
                    is_read(v, which, i, j) ? number(v, which, i, j) : (double)NAN);
            put(v, matrices[2], i, j,
                !is_written(v, i, j)           ? UNTOUCHED
                : v->beta == 0 && !is_in_place ? (double)NAN
                                               : number(v, is_in_place ? 1 : 2, i, j));
        }
    memcpy(before, matrices[2], sizeof(before));
}

/* ---- what must come out ---- */

/* An element of op(A) or op(B) of an update. */
static double _Complex term(const struct variant *v, int which, int i, int l)
{
    double _Complex value =
        v->trans == 'N' ? get(v, matrices[which], i, l) : get(v, matrices[which], l, i);
    return v->trans == 'C' && is_pairs(v) ? conj(value) : value;
}

static double _Complex turned(const struct variant *v, double _Complex value)
{
    return is_hermitian(v) ? conj(value) : value;
}

static double _Complex updated(const struct variant *v, int i, int j)
{
    bool is_twofold = v->routine->form == GSH_GEMM_SYR2K || v->routine->form == GSH_GEMM_HER2K;
    double _Complex sum = 0, other = 0;
    for (int l = 0; l < K; l++) {
        sum += term(v, 0, i, l) * turned(v, term(v, is_twofold ? 1 : 0, j, l));
        other += term(v, 1, i, l) * turned(v, term(v, 0, j, l));
    }
    return v->alpha * sum + (is_twofold ? turned(v, v->alpha) * other : 0);
}

/* An element of the whole matrix of which a triangle is stored. */
static double _Complex whole(const struct variant *v, int i, int j)
{
    int row = v->trans == 'N' ? i : j, column = v->trans == 'N' ? j : i;
    if (v->routine->form == GSH_GEMM_TRMM) {
        if (i == j && v->diagonal == 'U')
            return 1;
        if (!is_in_triangle(v, row, column))
            return 0;
        double _Complex value = get(v, matrices[0], row, column);
        return v->trans == 'C' && is_pairs(v) ? conj(value) : value;
    }
    if (i == j && is_hermitian(v))
        return creal(get(v, matrices[0], i, i));
    return is_in_triangle(v, i, j) ? get(v, matrices[0], i, j)
                                   : turned(v, get(v, matrices[0], j, i));
}

static double _Complex multiplied(const struct variant *v, int i, int j)
{
    double _Complex sum = 0;
    for (int l = 0; l < (v->side == 'L' ? M : N); l++)
        sum += v->side == 'L' ? whole(v, i, l) * number(v, 1, l, j)
                              : number(v, 1, i, l) * whole(v, l, j);
    return v->alpha * sum;
}

static double _Complex expected(const struct variant *v, int i, int j)
{
    if (!is_written(v, i, j))
        return UNTOUCHED;
    double _Complex value = is_update(v) ? updated(v, i, j) : multiplied(v, i, j);
    bool is_real = is_update(v) && is_hermitian(v) && i == j;
    if (v->beta != 0)
        value += v->beta * (is_real ? creal(get(v, before, i, j)) : get(v, before, i, j));
    return is_real ? creal(value) : value;
}

/* ---- calls ---- */

typedef void update_function(const char *, const char *, const int *, const int *, const void *,
                             void *, const int *, const void *, void *, const int *, size_t,
                             size_t);

static void call(const struct variant *v)
{
    typedef void two(const char *, const char *, const int *, const int *, const void *, void *,
                     const int *, void *, const int *, const void *, void *, const int *, size_t,
                     size_t);
    typedef void triangular(const char *, const char *, const char *, const char *, const int *,
                            const int *, const void *, void *, const int *, void *, const int *,
                            size_t, size_t, size_t, size_t);
    double _Complex alpha, beta;
    fortran *function = v->routine->function;
    gsh_blas_number_store(&alpha, v->routine->dtype, 0, v->alpha);
    gsh_blas_number_store(&beta, v->routine->dtype, 0, v->beta);
    switch (v->routine->form) {
    case GSH_GEMM_SYRK:
    case GSH_GEMM_HERK:
        ((update_function *)function)(&v->triangle, &v->trans, &rows, &terms, &alpha, matrices[0],
                                      &leading, &beta, matrices[2], &leading, 1, 1);
        break;
    case GSH_GEMM_TRMM:
        ((triangular *)function)(&v->side, &v->triangle, &v->trans, &v->diagonal, &rows, &columns,
                                 &alpha, matrices[0], &leading, matrices[2], &leading, 1, 1, 1, 1);
        break;
    default:
        ((two *)function)(is_update(v) ? &v->triangle : &v->side,
                          is_update(v) ? &v->trans : &v->triangle, &rows,
                          is_update(v) ? &terms : &columns, &alpha, matrices[0], &leading,
                          matrices[1], &leading, &beta, matrices[2], &leading, 1, 1);
    }
}

static unsigned variants, failures;

static void check(const struct variant *v)
{
    bool is_right = true;
    fill(v);
    call(v);
    for (int j = 0; j < LEADING; j++)
        for (int i = 0; i < LEADING; i++)
            is_right &= get(v, matrices[2], i, j) == expected(v, i, j);
    variants++;
    if (!CHECK(is_right) && failures++ < 20)
        fprintf(stderr, "  %s %c%c%c%c alpha %g %g beta %g %g\n", v->routine->name, v->side,
                v->triangle, v->trans, v->diagonal, creal(v->alpha), cimag(v->alpha),
                creal(v->beta), cimag(v->beta));
}

static void test_factors(struct variant v)
{
    enum gsh_gemm_form form = v.routine->form;
    unsigned count = is_pairs(&v) && form != GSH_GEMM_HERK ? GSH_COUNT(factors) : REAL_FACTORS;
    for (unsigned i = 0; i < count; i++) {
        v.alpha = factors[i][0];
        v.beta = form == GSH_GEMM_TRMM    ? 0
                 : form == GSH_GEMM_HER2K ? creal(factors[i][1])
                                          : factors[i][1];
        check(&v);
    }
}

static void test_routine(const struct routine *routine)
{
    struct variant v = {.routine = routine};
    for (unsigned bits = 0; bits < 3 << 3; bits++) {
        v.triangle = "LU"[bits & 1];
        v.side = "LR"[bits >> 1 & 1];
        v.diagonal = "NU"[bits >> 2 & 1];
        v.trans = "NTC"[bits >> 3];
        bool is_triangular = routine->form == GSH_GEMM_TRMM;
        bool has_side = !is_update(&v), has_trans = is_triangular || is_update(&v);
        bool is_legal = !is_update(&v) || v.trans == 'N' || !is_pairs(&v) ||
                        v.trans == (is_hermitian(&v) ? 'C' : 'T');
        if ((v.side == 'L' || has_side) && (v.trans == 'N' || has_trans) && is_legal &&
            (v.diagonal == 'N' || is_triangular))
            test_factors(v);
    }
}

static void test_all(void)
{
    for (size_t i = 0; i < GSH_COUNT(forms); i++)
        test_routine(&forms[i]);
}

/* Every call is one launch, wherever the matrices are. */
static void test_device(const char *where)
{
    uint64_t begin = live_launches();
    variants = failures = 0;
    test_all();
    if (!CHECK_INT(live_launches() - begin, variants))
        fprintf(stderr, "  %s\n", where);
}

/* A matrix and its transpose outside the arena travel once, and C does not, where it is not read. */
static void test_uploads(void)
{
    const struct variant v = plain_case(&forms[1], 1);
    uint64_t begin = gsh_stats_get(GSH_COUNTER_UPLOADS);
    check(&v);
    CHECK_INT(gsh_stats_get(GSH_COUNTER_UPLOADS) - begin, 1);
}

/* What the original, or nobody, has to compute. */
static void test_left_alone(void)
{
    struct variant v = plain_case(&forms[1], 0);
    v.beta = 2;
    uint64_t begin = live_launches();
    check(&v);
    is_inside = true;
    test_all();
    is_inside = false;
    CHECK_INT(live_launches() - begin, 0);
}

/* What is illegal changes nothing; an update by nothing not even the diagonal's imaginary parts. */
static void test_odd_arguments(void)
{
    const struct variant v = plain_case(&forms[5], 0);
    update_function *const herk = (update_function *)v.routine->function;
    const double one[2] = {1, 0};
    const int narrow = M - 1, none = 0;
    fill(&v);
    herk("U", "T", &rows, &terms, one, matrices[0], &leading, one, matrices[2], &leading, 1, 1);
    herk("U", "N", &rows, &terms, one, matrices[0], &narrow, one, matrices[2], &leading, 1, 1);
    herk("U", "N", &rows, &none, one, matrices[0], &leading, one, matrices[2], &leading, 1, 1);
    CHECK(memcmp(before, matrices[2], sizeof(before)) == 0);
}

/* An infinity's product with its conjugate is no number, but its imaginary part is not looked for. */
static void test_real_diagonal(void)
{
    struct variant v = plain_case(&forms[5], 1);
    v.triangle = 'L';
    fill(&v);
    put(&v, matrices[0], 0, 0, (double)INFINITY + I);
    call(&v);
    CHECK(cimag(get(&v, matrices[2], 0, 0)) == 0);
}

/* A triangle's matrix that is all there is in its memory: the other triangle is nobody's to give up. */
static void test_whole_block(void)
{
    enum { SIDE = 64 };
    const int side = SIDE;
    const double one = 1, zero = 0;
    double *a = live_doubles(SIDE, GSH_ARENA_HOST);
    double *c = live_doubles((int64_t)SIDE * SIDE, GSH_ARENA_HOST);
    for (int i = 0; i < SIDE * SIDE; i++)
        c[i] = UNTOUCHED;
    for (int i = 0; i < SIDE; i++)
        a[i] = i;
    ((update_function *)forms[1].function)("U", "N", &side, &(const int){1}, &one, a, &side, &zero,
                                           c, &side, 1, 1);
    bool is_right = true;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            is_right &= c[j * SIDE + i] == (i <= j ? i * j : UNTOUCHED);
    CHECK(is_right);
}

/* The host device computes by the function that was registered last; an original is registered when it is first looked
 * for. */
static int fake_calls;
static void fake(void)
{
    fake_calls++;
}

static void test_registered(bool has_original)
{
    const struct variant v = plain_case(&forms[1], 1);
    if (!has_original) {
        gsh_host_routines_register(gsh_host_routines_product(GSH_GEMM_SYRK), GSH_FLOAT64, fake, 32);
        fill(&v);
        call(&v);
    } else {
        check(&v);
    }
    CHECK_INT(fake_calls, 1);
}

static void without_original(void)
{
    is_inside = true;
    test_all();
    is_inside = false;
    test_left_alone();
    test_odd_arguments();
    test_real_diagonal();
}

static void test_no_original(void)
{
    char text[8192];
    capture_checks(without_original, text, sizeof text);
    CHECK(strstr(text, "gpushim: ssyrk_: no library loaded has it; computed without BLAS\n"));
    CHECK(strstr(text, "gpushim: zherk_: illegal argument\n"));
}

/* ---- strides ---- */

static bool describes(struct gsh_gemm gemm, struct gsh_blas_arguments *with)
{
    return gsh_blas_form_describe(&gemm, with);
}

static void test_description(void)
{
    struct gsh_blas_arguments with;
    struct gsh_gemm update = {.m = 6,
                              .n = 6,
                              .k = 3,
                              .a_row = 1,
                              .a_col = 8,
                              .b_row = 8,
                              .b_col = 1,
                              .c_row = 1,
                              .c_col = 7,
                              .alpha = 1,
                              .form = GSH_GEMM_SYRK};
    CHECK(describes(update, &with) && with.trans == 'N' && with.triangle == 'L' &&
          with.a_leading == 8 && with.c_leading == 7 && with.k == 3);
    CHECK(!gsh_blas_arguments_are_wide(&with));
    with.c_leading = INT64_C(1) << 31;
    CHECK(gsh_blas_arguments_are_wide(&with));
    update.c_row = 7;
    update.c_col = 1;
    CHECK(!describes(update, &with));
    update.c_row = 1;
    update.c_col = 5;
    CHECK(!describes(update, &with));
    update.c_col = 6;
    update.a_row = 2;
    CHECK(!describes(update, &with));
    update.a_row = 3;
    update.a_col = 1;
    CHECK(describes(update, &with) && with.trans == 'T' && with.a_leading == 3);
    update.form = GSH_GEMM_HERK;
    CHECK(!describes(update, &with));
    update.a_is_conjugate = true;
    CHECK(describes(update, &with) && with.trans == 'C');
    update.n = 5;
    CHECK(!describes(update, &with));
    struct gsh_gemm triangle = {.m = 4,
                                .n = 6,
                                .k = 6,
                                .a_row = 1,
                                .a_col = 4,
                                .b_row = 9,
                                .b_col = 1,
                                .c_row = 1,
                                .c_col = 4,
                                .alpha = 1,
                                .form = GSH_GEMM_TRMM,
                                .options = GSH_GEMM_RIGHT};
    CHECK(describes(triangle, &with) && with.trans == 'T' && with.triangle == 'U' &&
          with.side == 'R' && with.a == 1 && with.b == 0 && with.a_leading == 9 &&
          with.b_leading == 4);
    triangle.beta = 1;
    CHECK(!describes(triangle, &with));
    triangle.form = GSH_GEMM_SYMM;
    CHECK(!describes(triangle, &with));
    triangle.b_row = 1;
    triangle.b_col = 9;
    CHECK(describes(triangle, &with) && with.a_leading == 9);
    triangle.k = 5;
    CHECK(!describes(triangle, &with));
}

static bool open_blas(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3"};
    void *library = NULL;
    for (size_t i = 0; i < GSH_COUNT(names) && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library != NULL && dlsym(library, "zher2k_") != NULL;
}

int main(void)
{
    setenv("GPUSHIM_DEVICE", "host", 1); /* where a product is one launch */
    if (!live_start())
        return CHECK_SKIP;
    test_description();
    test_no_original();
    bool has_blas = true;
    for (int round = 0; round < 2 && has_blas; round++) {
        matrices[0] = plain[0];
        matrices[1] = plain[1];
        matrices[2] = plain[2];
        test_device("unmanaged memory");
        test_uploads();
        for (int i = 0; i < 3; i++)
            matrices[i] = (double _Complex *)live_doubles(2 * ELEMENTS, GSH_ARENA_HOST);
        test_device("the arena");
        matrices[0] = plain[0];
        test_device("both");
        test_whole_block();
        if (round == 0)
            test_registered(false);
        has_blas = open_blas();
        if (has_blas)
            test_registered(true);
        if (has_blas)
            test_left_alone();
    }
    if (!has_blas)
        printf("no system BLAS: originals not tested\n");
    return check_result();
}
