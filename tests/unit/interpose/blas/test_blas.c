/* SPDX-License-Identifier: Apache-2.0
 *
 * ?gemm under its eight names (C and Fortran), with all element types, orders and transpositions,
 * on the device and without it, compared with loops in long double. Also the search for the
 * original, and bad arguments.
 */
#include "blas_entry_parts.h"

#include "capture.h"
#include "check.h"
#include "live.h"

#include <complex.h>
#include <string.h>
#include <sys/mman.h>

#define M 13
#define N 9
#define K 11
#define LEADING 16 /* of every matrix: wider than any row or column */
#define ELEMENTS ((int64_t)LEADING * LEADING)

typedef void cblas_double(int, int, int, int64_t, int64_t, int64_t, double, const void *, int64_t,
                          const void *, int64_t, double, void *, int64_t);
typedef void cblas_single(int, int, int, int64_t, int64_t, int64_t, float, const void *, int64_t,
                          const void *, int64_t, float, void *, int64_t);
typedef void cblas_pairs(int, int, int, int64_t, int64_t, int64_t, const void *, const void *,
                         int64_t, const void *, int64_t, const void *, void *, int64_t);
typedef void fortran(const char *, const char *, const int64_t *, const int64_t *, const int64_t *,
                     const void *, const void *, const int64_t *, const void *, const int64_t *,
                     const void *, void *, const int64_t *, size_t, size_t);

#define MANGLINGS(type, routine) type routine, scipy_##routine, routine##64_, scipy_##routine##64_
#define LIST(routine)                                                                              \
    {                                                                                              \
        routine, scipy_##routine, routine##64_, scipy_##routine##64_                               \
    }
MANGLINGS(cblas_double, cblas_dgemm);
MANGLINGS(cblas_single, cblas_sgemm);
MANGLINGS(cblas_pairs, cblas_cgemm);
MANGLINGS(cblas_pairs, cblas_zgemm);
MANGLINGS(fortran, sgemm_);
MANGLINGS(fortran, dgemm_);
MANGLINGS(fortran, cgemm_);
MANGLINGS(fortran, zgemm_);
enum { MANGLINGS = 4 };
static cblas_single *const singles[] = LIST(cblas_sgemm);
static cblas_double *const doubles[] = LIST(cblas_dgemm);
static cblas_pairs *const pairs[2][MANGLINGS] = {LIST(cblas_cgemm), LIST(cblas_zgemm)};
static fortran *const fortrans[][MANGLINGS] = {LIST(sgemm_), LIST(dgemm_), LIST(cgemm_),
                                               LIST(zgemm_)};
static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64, GSH_COMPLEX128};
enum { TYPES = GSH_COUNT(dtypes) };

/* What a caller's 32-bit argument may leave in the upper half of the register, stack slot or word. */
static int64_t dirty(int64_t value, int mangling)
{
    return mangling < 2 ? (int64_t)((uint64_t)value | UINT64_C(0xdead) << 40) : value;
}

/* Which call it is, and where its three matrices are: in the arena or out of it. */
struct variant {
    int type, mangling, order; /* order 0: Fortran's entry, by columns */
    int ta, tb;
    double _Complex alpha, beta;
};
static double _Complex *matrices[3], *arena_matrices[3], plain_matrices[3][ELEMENTS];

static bool is_pairs(int type)
{
    return type >= 2;
}

static void fill(int type)
{
    for (int which = 0; which < 3; which++)
        for (int i = 0; i < ELEMENTS; i++)
            gsh_blas_number_store(matrices[which], dtypes[type], i,
                                  (double)((i * 7 + which * 3) % 23) - 11 +
                                      (is_pairs(type) ? I * ((i * 5 + which) % 19 - 9) : 0));
}

static double _Complex element(const struct variant *v, int which, int transpose, int64_t row,
                               int64_t column)
{
    bool by_rows = (v->order == ROW_MAJOR) == (transpose == NO_TRANSPOSE);
    int64_t at = by_rows ? row * LEADING + column : column * LEADING + row;
    double _Complex value = gsh_blas_number_load(matrices[which], dtypes[v->type], at);
    return transpose == CONJUGATE_TRANSPOSE ? conj(value) : value;
}

/* C as it must be afterwards, M x N by rows. */
static void expect(const struct variant *v, double _Complex *expected)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            double _Complex sum = 0;
            for (int64_t l = 0; l < K; l++)
                sum += element(v, 0, v->ta, i, l) * element(v, 1, v->tb, l, j);
            double _Complex old = v->beta == 0 ? 0 : v->beta * element(v, 2, NO_TRANSPOSE, i, j);
            expected[i * N + j] = v->alpha * sum + old;
        }
}

static void call_cblas(const struct variant *v)
{
    int64_t m = dirty(M, v->mangling), n = dirty(N, v->mangling), k = dirty(K, v->mangling);
    int64_t ld = dirty(LEADING, v->mangling);
    double _Complex alpha, beta;
    gsh_blas_number_store(&alpha, dtypes[v->type], 0, v->alpha);
    gsh_blas_number_store(&beta, dtypes[v->type], 0, v->beta);
    if (is_pairs(v->type))
        pairs[v->type - 2][v->mangling](v->order, v->ta, v->tb, m, n, k, &alpha, matrices[0], ld,
                                        matrices[1], ld, &beta, matrices[2], ld);
    else if (v->type == 0)
        singles[v->mangling](v->order, v->ta, v->tb, m, n, k, (float)creal(v->alpha), matrices[0],
                             ld, matrices[1], ld, (float)creal(v->beta), matrices[2], ld);
    else
        doubles[v->mangling](v->order, v->ta, v->tb, m, n, k, creal(v->alpha), matrices[0], ld,
                             matrices[1], ld, creal(v->beta), matrices[2], ld);
}

static void call_fortran(const struct variant *v)
{
    int64_t m = dirty(M, v->mangling), n = dirty(N, v->mangling), k = dirty(K, v->mangling);
    int64_t ld = dirty(LEADING, v->mangling);
    double _Complex alpha, beta;
    gsh_blas_number_store(&alpha, dtypes[v->type], 0, v->alpha);
    gsh_blas_number_store(&beta, dtypes[v->type], 0, v->beta);
    const char *letters = v->mangling % 2 == 0 ? "NTC" : "ntc";
    fortrans[v->type][v->mangling](&letters[v->ta - NO_TRANSPOSE], &letters[v->tb - NO_TRANSPOSE],
                                   &m, &n, &k, &alpha, matrices[0], &ld, matrices[1], &ld, &beta,
                                   matrices[2], &ld, 1, 1);
}

static bool call_and_compare(const struct variant *v)
{
    static double _Complex expected[M * N];
    fill(v->type);
    expect(v, expected);
    if (v->order == 0)
        call_fortran(v);
    else
        call_cblas(v);
    bool equal = true; /* small integers and halves: exact */
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++)
            equal &= element(v, 2, NO_TRANSPOSE, i, j) == expected[i * N + j];
    return equal;
}

/* alpha and beta: of real types, then of complex ones. */
static const double _Complex factors[2][5][2] = {{{0.5, 0}, {0.5, 1}, {0.5, 2}, {-1, 0}, {1, 0}},
                                                 {{1, 0}, {1, 1}, {0.5, 2}, {1 + I, 0}, {1, I}}};

static void test_transpositions(const char *where, struct variant v)
{
    for (v.ta = NO_TRANSPOSE; v.ta <= CONJUGATE_TRANSPOSE; v.ta++)
        for (v.tb = NO_TRANSPOSE; v.tb <= CONJUGATE_TRANSPOSE; v.tb++)
            for (size_t i = 0; i < GSH_COUNT(factors[0]); i++) {
                v.alpha = factors[is_pairs(v.type)][i][0];
                v.beta = factors[is_pairs(v.type)][i][1];
                if (!CHECK(call_and_compare(&v)))
                    fprintf(stderr, "%s: type %d mangling %d order %d %d %d factors %zu\n", where,
                            v.type, v.mangling, v.order, v.ta, v.tb, i);
            }
}

static void test_all(const char *where)
{
    static const int orders[] = {0, ROW_MAJOR, COLUMN_MAJOR};
    for (int type = 0; type < TYPES; type++)
        for (int mangling = 0; mangling < MANGLINGS; mangling++)
            for (size_t i = 0; i < GSH_COUNT(orders); i++)
                test_transpositions(
                    where,
                    (struct variant){.type = type, .mangling = mangling, .order = orders[i]});
}

static void use(double _Complex *const *chosen)
{
    memcpy(matrices, chosen, sizeof(matrices));
}

static const struct variant one = {
    .type = 1, .order = ROW_MAJOR, .ta = NO_TRANSPOSE, .tb = TRANSPOSE, .alpha = 0.5, .beta = 1};

/* Every product, wherever the matrices are. */
static void test_device(void)
{
    double _Complex *const plain[3] = {plain_matrices[0], plain_matrices[1], plain_matrices[2]};
    const uint64_t calls = UINT64_C(3) * MANGLINGS * 3 * 3 * TYPES * 5;
    uint64_t before = live_launches();
    use(arena_matrices);
    test_all("device");
    CHECK_INT(live_launches() - before, calls);
    use(plain);
    test_all("foreign");
    CHECK_INT(live_launches() - before, 2 * calls);
    matrices[2] = arena_matrices[2];
    CHECK(call_and_compare(&one));
    CHECK_INT(live_launches() - before, 2 * calls + 1);
}

/* Inside a call that a hook has declined already, nothing is taken; nor where alpha is 0. */
static void test_left_alone(void)
{
    uint64_t before = live_launches();
    use(arena_matrices);
    is_inside = true;
    CHECK(call_and_compare(&one));
    is_inside = false;
    struct variant nothing = one;
    nothing.alpha = 0;
    CHECK(call_and_compare(&nothing));
    CHECK_INT(live_launches(), before);
}

/* What the device's side refuses. */
static void test_refused(void)
{
    uint64_t before = live_launches();
    use(arena_matrices);
    refused_run = 1;
    CHECK(call_and_compare(&one));
    CHECK_INT(live_launches(), before);
}

/* Bytes between the elements of a matrix outside the arena are not written: other threads may be working on them. */
static void test_gaps(void)
{
    double _Complex *const plain[3] = {plain_matrices[0], plain_matrices[1], plain_matrices[2]};
    use(plain);
    fill(1);
    double *c = (double *)matrices[2], before[ELEMENTS];
    memcpy(before, c, sizeof(before));
    cblas_dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, M, N, K, 1, matrices[0], LEADING,
                matrices[1], LEADING, 0, c, LEADING);
    bool keeps = true;
    for (int i = 0; i < ELEMENTS; i++)
        keeps &= (i / LEADING < M && i % LEADING < N) || c[i] == before[i];
    CHECK(keeps);
    CHECK(c[1] != before[1]);
}

/* The original, or our own loops. */
static void test_host(const char *where)
{
    uint64_t before = live_launches();
    double _Complex *const plain[3] = {plain_matrices[0], plain_matrices[1], plain_matrices[2]};
    is_inside = true;
    use(plain);
    test_all(where);
    use(arena_matrices);
    CHECK(call_and_compare(&one));
    is_inside = false;
    CHECK_INT(live_launches(), before);
}

static void test_nothing_to_do(void)
{
    use(arena_matrices);
    fill(1);
    double before = ((double *)matrices[2])[0];
    cblas_dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, 0, N, K, 1, matrices[0], LEADING,
                matrices[1], LEADING, 0, matrices[2], LEADING);
    CHECK(((double *)matrices[2])[0] == before);
    cblas_dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, M, N, 0, 1, matrices[0], LEADING,
                matrices[1], LEADING, 2, matrices[2], LEADING);
    CHECK(((double *)matrices[2])[0] == 2 * before);
}

static void test_description(void)
{
    struct gsh_launch launch;
    struct product product = {.dtype = GSH_FLOAT64,
                              .order = ROW_MAJOR,
                              .transpose_a = NO_TRANSPOSE,
                              .transpose_b = NO_TRANSPOSE,
                              .m = M,
                              .n = N,
                              .k = K,
                              .lda = K,
                              .ldb = N,
                              .ldc = N};
    CHECK(describe_product(&product, &launch));
    product.ldc = N - 1;
    CHECK(!describe_product(&product, &launch));
    product.ldc = N;
    product.transpose_a = TRANSPOSE;
    CHECK(!describe_product(&product, &launch));
    product.lda = M;
    CHECK(describe_product(&product, &launch));
    product.order = 100;
    CHECK(!describe_product(&product, &launch));
    product.order = COLUMN_MAJOR;
    product.m = -1;
    CHECK(!describe_product(&product, &launch));
}

/* A caller without any original: one line, and the product all the same. */
static void without_original(void)
{
    test_host("no original");
    is_inside = true;
    cblas_dgemm(99, NO_TRANSPOSE, NO_TRANSPOSE, M, N, K, 1, matrices[0], LEADING, matrices[1],
                LEADING, 0, matrices[2], LEADING);
}

static void test_no_original(void)
{
    char text[4096];
    capture_checks(without_original, text, sizeof text);
    CHECK(strstr(text, "gpushim: sgemm_: no library loaded has it; computed without BLAS\n") !=
          NULL);
    CHECK(strstr(text, "gpushim: cblas_dgemm: illegal argument\n") != NULL);
}

static void *open_blas(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libcblas.so.3", "libblas.so.3"};
    void *library = NULL;
    for (size_t i = 0; i < GSH_COUNT(names) && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library != NULL && dlsym(library, "cblas_dgemm") != NULL ? library : NULL;
}

static void test_search(void *library)
{
    int bits = 0;
    void *found = gsh_mangling_find_blas("cblas_dgemm", library, &bits);
    CHECK(found != NULL && found == dlsym(library, "cblas_dgemm"));
    CHECK_INT(bits, 32);
    CHECK_STR(gsh_mangling_describe_blas(library), "cblas_*, 32-bit integers");
    bits = 7;
    CHECK(gsh_mangling_find_blas("cblas_nothing", library, &bits) == NULL);
    CHECK_INT(bits, 7);
    CHECK(dlerror() == NULL);
    struct caller other;
    struct gsh_mangling_caller spare;
    const struct gsh_mangling_caller *caller =
        gsh_mangling_find_caller((const void *)test_search, &spare);
    CHECK(gsh_mangling_find_original("cblas_dgemm", caller) == found);
    CHECK((uintptr_t)test_search - caller->low < caller->size);
    CHECK(!caller->is_linear_algebra);
    CHECK(caller != &spare); /* it is kept */
    CHECK(gsh_mangling_find_caller((const void *)open_blas, &spare) == caller);
    /* Inside the BLAS itself a caller has it from its own library. */
    caller = gsh_mangling_find_caller(found, &spare);
    CHECK(gsh_mangling_find_original("cblas_dgemm", caller) == found);
    CHECK((uintptr_t)found - caller->low < caller->size);
    CHECK(caller->is_linear_algebra);
    /* Code that no library holds. */
    char *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    caller = gsh_mangling_find_caller(page + 8, &spare);
    CHECK(caller->low == (uintptr_t)page && caller->size == PAGE && caller->handle == NULL);
    CHECK(gsh_mangling_find_original("cblas_dgemm", caller) == found);
    CHECK(find_caller(&gsh_symbol_cblas_sgemm, page + 8, &other)->low == (uintptr_t)page);
    CHECK(dlerror() == NULL);
}

static void test_original(void *library)
{
    const struct gsh_symbol *symbol = &gsh_symbol_cblas_dgemm;
    struct caller spare;
    const struct caller *caller = find_caller(symbol, (const void *)test_original, &spare);
    CHECK(caller->original == (gsh_blas_entry_function *)dlsym(library, "cblas_dgemm"));
    CHECK_INT(caller->integer_bits, 32);
    CHECK_INT(symbol->callers->claimed, 1);
    test_host("original");
    CHECK_INT(symbol->callers->claimed, 1);
    /* What a BLAS calls of itself is not taken over. */
    caller = find_caller(symbol, (const void *)caller->original, &spare);
    CHECK(caller->original != NULL);
    CHECK_INT(caller->integer_bits, 0);
    CHECK_INT(symbol->callers->claimed, 2);
    /* Of what is called by value all is found before it is asked for, of the rest nothing. */
    const struct gsh_symbol *by_value = &gsh_symbol_cblas_zgemm, *by_address = &gsh_symbol_zgemm_;
    unsigned found = by_value->callers->claimed, others = by_address->callers->claimed;
    gsh_blas_entry_expect((const void *)caller->original);
    CHECK_INT(symbol->callers->claimed, 2);
    CHECK_INT(by_value->callers->claimed, found + 1);
    CHECK(by_value->callers->list[found].original ==
          (gsh_blas_entry_function *)dlsym(library, "cblas_zgemm"));
    CHECK_INT(by_address->callers->claimed, others);
    test_left_alone();
    test_refused();
    test_nothing_to_do();
}

/* No thread is cancelled inside a product, and all can be afterwards. */
static void test_cancellation(void)
{
    int state;
    CHECK(device_runs > 0 && fetches > 0);
    CHECK_INT(cancellable, 0);
    CHECK_INT(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
    CHECK_INT(state, PTHREAD_CANCEL_ENABLE);
}

int main(void)
{
    setenv("GPUSHIM_DEVICE", "host", 1); /* where a product is one launch */
    if (!live_start())
        return CHECK_SKIP;
    CHECK_STR(gsh_mangling_describe_blas(RTLD_DEFAULT), "no CBLAS with a known spelling");
    for (int i = 0; i < 3; i++)
        arena_matrices[i] =
            gsh_arena_allocate(ELEMENTS * sizeof(*arena_matrices[0]), GSH_ARENA_HOST);
    test_no_original();
    test_device();
    test_gaps();
    void *library = open_blas();
    if (library != NULL) {
        test_search(library);
        test_original(library);
    } else {
        printf("no system BLAS: originals not tested\n");
    }
    test_description();
    test_cancellation();
    return check_result();
}
