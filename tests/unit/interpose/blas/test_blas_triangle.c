/* SPDX-License-Identifier: Apache-2.0
 *
 * ?trsm if no library has it: every type, side, triangle, transposition and diagonal, checked by
 * the residual; bad arguments. test_lapack_symbols.c tests it with an original.
 */
#include "blas_entry_parts.h"

#include "capture.h"
#include "check.h"
#include "live.h"

#include <math.h>
#include <string.h>

#define M 7
#define N 5
#define LEADING 9 /* of both matrices */
#define ELEMENTS (LEADING * LEADING)
#define UNTOUCHED 77

typedef void trsm(const char *, const char *, const char *, const char *, const int *, const int *,
                  const void *, const void *, const int *, void *, const int *, size_t, size_t,
                  size_t, size_t);
trsm strsm_, dtrsm_, ctrsm_, ztrsm_;
static const struct {
    trsm *function;
    enum gsh_dtype dtype;
    double most; /* of the residual */
} types[] = {{strsm_, GSH_FLOAT32, 1e-4},
             {dtrsm_, GSH_FLOAT64, 1e-12},
             {ctrsm_, GSH_COMPLEX64, 1e-4},
             {ztrsm_, GSH_COMPLEX128, 1e-12}};

struct variant {
    unsigned type;
    char side, triangle, trans, diagonal;
    double _Complex alpha;
};
static double _Complex plain_a[ELEMENTS], plain_x[ELEMENTS], b[ELEMENTS];
static double _Complex *a = plain_a, *x = plain_x;
static const int rows = M, columns = N, leading = LEADING;

static double _Complex get(const struct variant *v, const void *matrix, int64_t row, int64_t column)
{
    return gsh_blas_number_load(matrix, types[v->type].dtype, column * LEADING + row);
}

static void put(const struct variant *v, void *matrix, int64_t row, int64_t column,
                double _Complex value)
{
    gsh_blas_number_store(matrix, types[v->type].dtype, column * LEADING + row, value);
}

/* What is not to be read is no number. */
static void fill(const struct variant *v)
{
    int order = v->side == 'L' ? M : N;
    for (int j = 0; j < LEADING; j++)
        for (int i = 0; i < LEADING; i++) {
            bool is_read = i == j ? v->diagonal == 'N' : (i > j) == (v->triangle == 'L');
            double number = i == j ? 4 + i : 0.1 * ((i * 3 + j) % 5 - 2);
            put(v, a, i, j,
                !is_read || i >= order || j >= order ? (double)NAN : number + 0.2 * (i - j) * I);
            put(v, b, i, j, i < M && j < N ? (i * 5 + j * 3) % 11 - 5 + I * (i - j) : UNTOUCHED);
        }
    memcpy(x, b, sizeof(b));
}

/* An element of op(A). */
static double _Complex coefficient_of(const struct variant *v, int64_t i, int64_t j)
{
    int64_t row = v->trans == 'N' ? i : j, column = v->trans == 'N' ? j : i;
    if (row == column && v->diagonal == 'U')
        return 1;
    if (row != column && (row > column) != (v->triangle == 'L'))
        return 0;
    double _Complex value = get(v, a, row, column);
    return v->trans == 'C' ? conj(value) : value;
}

/* op(A) X, or X op(A), is alpha B. */
static bool solves(const struct variant *v)
{
    bool is_solution = true;
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            double _Complex rest = -v->alpha * get(v, b, i, j);
            for (int64_t k = 0; k < (v->side == 'L' ? M : N); k++)
                rest += v->side == 'L' ? coefficient_of(v, i, k) * get(v, x, k, j)
                                       : get(v, x, i, k) * coefficient_of(v, k, j);
            is_solution &= cabs(rest) < types[v->type].most;
        }
    return is_solution;
}

static bool keeps_gaps(const struct variant *v)
{
    bool keeps = true;
    for (int j = 0; j < LEADING; j++)
        for (int i = 0; i < LEADING; i++)
            keeps &= (i < M && j < N) || get(v, x, i, j) == UNTOUCHED;
    return keeps;
}

static void call(const struct variant *v)
{
    double _Complex alpha;
    gsh_blas_number_store(&alpha, types[v->type].dtype, 0, v->alpha);
    types[v->type].function(&v->side, &v->triangle, &v->trans, &v->diagonal, &rows, &columns,
                            &alpha, a, &leading, x, &leading, 1, 1, 1, 1);
}

static void check(const struct variant *v)
{
    fill(v);
    call(v);
    bool holds = CHECK(solves(v));
    holds &= CHECK(keeps_gaps(v));
    if (!holds)
        fprintf(stderr, "  type %u, %c%c%c%c\n", v->type, v->side, v->triangle, v->trans,
                v->diagonal);
}

static void test_variants(void)
{
    for (unsigned type = 0; type < GSH_COUNT(types); type++)
        for (unsigned bits = 0; bits < 3 << 3; bits++) {
            struct variant v = {.type = type,
                                .side = "LR"[bits & 1],
                                .triangle = "LU"[bits >> 1 & 1],
                                .trans = "NTC"[bits >> 3],
                                .diagonal = "NU"[bits >> 2 & 1],
                                .alpha = type < 2 ? 2 : 2 - I};
            check(&v);
        }
}

/* 0 times B is 0, whatever A holds; of nothing nothing; what is illegal changes nothing. */
static void test_odd_arguments(void)
{
    struct variant v = {
        .type = 1, .side = 'L', .triangle = 'L', .trans = 'N', .diagonal = 'N', .alpha = 0};
    const double one = 1;
    const int none = 0, narrow = M - 1;
    fill(&v);
    put(&v, a, 0, 0, (double)NAN);
    call(&v);
    CHECK(get(&v, x, 0, 0) == 0 && get(&v, x, M - 1, N - 1) == 0);
    CHECK(keeps_gaps(&v));
    fill(&v);
    dtrsm_("L", "L", "N", "N", &none, &columns, &one, a, &leading, x, &leading, 1, 1, 1, 1);
    dtrsm_("L", "L", "N", "N", &rows, &columns, &one, a, &narrow, x, &leading, 1, 1, 1, 1);
    CHECK(memcmp(x, b, sizeof(b)) == 0);
}

static void without_original(void)
{
    test_variants();
    test_odd_arguments();
}

int main(void)
{
    char text[4096];
    if (!live_start())
        return CHECK_SKIP;
    capture_checks(without_original, text, sizeof text);
    CHECK(strstr(text, "gpushim: strsm_: no library loaded has it; computed without BLAS\n"));
    CHECK(strstr(text, "gpushim: dtrsm_: illegal argument\n"));
    test_variants();
    a = (double _Complex *)live_doubles(2 * ELEMENTS, GSH_ARENA_HOST);
    x = (double _Complex *)live_doubles(2 * ELEMENTS, GSH_ARENA_DEVICE);
    test_variants();
    return check_result();
}
