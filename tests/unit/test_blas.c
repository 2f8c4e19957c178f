/* SPDX-License-Identifier: Apache-2.0
 *
 * ?gemm under its four names, both element types, all orders and transpositions, on the device and
 * off it, against loops in long double; the search for the original; bad arguments. The files under
 * test are included; this program is the library, so that "the caller's own library" has no BLAS
 * until one is opened.
 */
#include "dispatch.h"

#include <pthread.h>

static int device_runs, cancellable_runs;

static enum gsh_status observed_run(const struct gsh_call *call, enum gsh_reason *why)
{
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_setcancelstate(state, NULL);
    device_runs++;
    cancellable_runs += state == PTHREAD_CANCEL_ENABLE;
    return gsh_dispatch_run(call, why);
}

#define gsh_dispatch_run observed_run
#include "../../interpose/blas.c"   // NOLINT(bugprone-suspicious-include)
#include "../../interpose/naming.c" // NOLINT(bugprone-suspicious-include)
#undef gsh_dispatch_run

#include "capture.h"
#include "check.h"
#include "live.h"

#include <math.h>
#include <string.h>

#define M 13
#define N 9
#define K 11
#define LEADING 16 /* of every matrix: wider than any row or column */
#define ELEMENTS ((int64_t)LEADING * LEADING)

static bool inside; /* a hook has declined the enclosing call */

bool gsh_numpy_output_host_is_inside(void)
{
    return inside;
}

void *gsh_dlopen_hook_real(const char *path, int flags)
{
    return dlopen(path, flags);
}

typedef void gemm_double(int, int, int, int64_t, int64_t, int64_t, double, const double *, int64_t,
                         const double *, int64_t, double, double *, int64_t);
typedef void gemm_single(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t,
                         const float *, int64_t, float, float *, int64_t);
static gemm_double *const doubles[] = {entry_cblas_dgemm, entry_scipy_cblas_dgemm,
                                       entry_cblas_dgemm64_, entry_scipy_cblas_dgemm64_};
static gemm_single *const singles[] = {entry_cblas_sgemm, entry_scipy_cblas_sgemm,
                                       entry_cblas_sgemm64_, entry_scipy_cblas_sgemm64_};
#define SPELLINGS 4
#define IS_NARROW(spelling) ((spelling) < 2)

/* What a caller's 32-bit argument may leave in the upper half of the register or stack slot. */
static int64_t dirty(int64_t value, int spelling)
{
    return IS_NARROW(spelling) ? (int64_t)((uint64_t)value | UINT64_C(0xdead) << 40) : value;
}

/* Three matrices of either element type, in the arena or out of it. */
static double *matrices[3], *arena_matrices[3], plain_matrices[3][ELEMENTS];

static void fill(bool single)
{
    for (int which = 0; which < 3; which++)
        for (int i = 0; i < ELEMENTS; i++) {
            double value = (double)((i * 7 + which * 3) % 23) - 11;
            if (single)
                ((float *)matrices[which])[i] = (float)value;
            else
                matrices[which][i] = value;
        }
}

static long double element(int which, bool single, int order, int transpose, int64_t row,
                           int64_t column)
{
    bool by_rows = (order == ROW_MAJOR) == (transpose == NO_TRANSPOSE);
    int64_t at = by_rows ? row * LEADING + column : column * LEADING + row;
    return single ? (long double)((float *)matrices[which])[at] : (long double)matrices[which][at];
}

/* C as it must be afterwards, M x N by rows. */
static void expect(bool single, int order, int ta, int tb, double alpha, double beta,
                   long double *expected)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            long double sum = 0;
            for (int64_t l = 0; l < K; l++)
                sum += element(0, single, order, ta, i, l) * element(1, single, order, tb, l, j);
            long double old = beta == 0 ? 0 : beta * element(2, single, order, NO_TRANSPOSE, i, j);
            expected[i * N + j] = alpha * sum + old;
        }
}

static bool call_and_compare(bool single, int spelling, int order, int ta, int tb, double beta)
{
    static long double expected[M * N];
    fill(single);
    double alpha = 0.5;
    expect(single, order, ta, tb, alpha, beta, expected);
    int64_t m = dirty(M, spelling), n = dirty(N, spelling), k = dirty(K, spelling),
            ld = dirty(LEADING, spelling);
    if (single)
        singles[spelling](order, ta, tb, m, n, k, (float)alpha, (float *)matrices[0], ld,
                          (float *)matrices[1], ld, (float)beta, (float *)matrices[2], ld);
    else
        doubles[spelling](order, ta, tb, m, n, k, alpha, matrices[0], ld, matrices[1], ld, beta,
                          matrices[2], ld);
    bool equal = true; /* small integers and halves: exact */
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++)
            equal &= element(2, single, order, NO_TRANSPOSE, i, j) == expected[i * N + j];
    return equal;
}

static void test_all(const char *where)
{
    for (int single = 0; single < 2; single++)
        for (int spelling = 0; spelling < SPELLINGS; spelling++)
            for (int order = ROW_MAJOR; order <= COLUMN_MAJOR; order++)
                for (int ta = NO_TRANSPOSE; ta <= CONJUGATE_TRANSPOSE; ta++)
                    for (int tb = NO_TRANSPOSE; tb <= CONJUGATE_TRANSPOSE; tb++)
                        for (int beta = 0; beta <= 2; beta++)
                            if (!CHECK(call_and_compare(single, spelling, order, ta, tb, beta)))
                                fprintf(stderr,
                                        "%s: single %d spelling %d order %d %d %d beta %d\n", where,
                                        single, spelling, order, ta, tb, beta);
}

static void use(double *const *chosen)
{
    memcpy(matrices, chosen, sizeof matrices);
}

static void test_device(void)
{
    uint64_t before = gsh_stats_get(GSH_COUNTER_LAUNCHES);
    use(arena_matrices);
    test_all("device");
    const uint64_t calls = UINT64_C(2) * SPELLINGS * 2 * 3 * 3 * 3;
    CHECK_INT(gsh_stats_get(GSH_COUNTER_LAUNCHES) - before, calls);
    /* Operands in foreign memory, the output in the arena. */
    matrices[0] = plain_matrices[0];
    matrices[1] = plain_matrices[1];
    CHECK(call_and_compare(false, 0, ROW_MAJOR, NO_TRANSPOSE, TRANSPOSE, 1));
    CHECK_INT(gsh_stats_get(GSH_COUNTER_LAUNCHES) - before, calls + 1);
    /* Inside a call that a hook has declined already, nothing is taken. */
    inside = true;
    use(arena_matrices);
    CHECK(call_and_compare(false, 0, ROW_MAJOR, NO_TRANSPOSE, TRANSPOSE, 1));
    CHECK_INT(gsh_stats_get(GSH_COUNTER_LAUNCHES) - before, calls + 1);
    inside = false;
}

/* The output is elsewhere: the original's, or our own loops. */
static void test_host(const char *where)
{
    uint64_t before = gsh_stats_get(GSH_COUNTER_LAUNCHES);
    double *const plain[3] = {plain_matrices[0], plain_matrices[1], plain_matrices[2]};
    use(plain);
    test_all(where);
    matrices[0] = arena_matrices[0];
    matrices[1] = arena_matrices[1];
    CHECK(call_and_compare(false, 0, ROW_MAJOR, NO_TRANSPOSE, TRANSPOSE, 1));
    CHECK_INT(gsh_stats_get(GSH_COUNTER_LAUNCHES), before);
}

static void test_nothing_to_do(void)
{
    use(arena_matrices);
    fill(false);
    double before = matrices[2][0];
    entry_cblas_dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, 0, N, K, 1, matrices[0], LEADING,
                      matrices[1], LEADING, 0, matrices[2], LEADING);
    CHECK(matrices[2][0] == before);
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
    entry_cblas_dgemm(99, NO_TRANSPOSE, NO_TRANSPOSE, M, N, K, 1, matrices[0], LEADING, matrices[1],
                      LEADING, 0, matrices[2], LEADING);
    if (check_failed != 0)
        _exit(1);
}

static void test_no_original(void)
{
    char text[4096];
    CHECK_INT(capture_stderr(without_original, text, sizeof text), 0);
    CHECK_STR(text, "gpushim: cblas_dgemm: no library loaded has it; computed without BLAS\n"
                    "gpushim: cblas_dgemm: illegal argument\n");
}

static void *open_blas(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libcblas.so.3", "libblas.so.3"};
    void *library = NULL;
    for (size_t i = 0; i < GSH_COUNT(names) && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library != NULL && dlsym(library, "cblas_dgemm") != NULL ? library : NULL;
}

static void test_original(void *library)
{
    int bits = 0;
    void *found = gsh_naming_find_blas("cblas_dgemm", library, &bits);
    CHECK(found != NULL && found == dlsym(library, "cblas_dgemm"));
    CHECK_INT(bits, 32);
    CHECK_STR(gsh_naming_describe_blas(library), "cblas_*, 32-bit integers");
    bits = 7;
    CHECK(gsh_naming_find_blas("cblas_nothing", library, &bits) == NULL);
    CHECK_INT(bits, 7);
    CHECK(dlerror() == NULL);
    uintptr_t low, high;
    CHECK(gsh_naming_find_original("cblas_dgemm", (const void *)test_original, &low, &high) ==
          found);
    CHECK((uintptr_t)test_original >= low && (uintptr_t)test_original < high);
    CHECK(find_original(&symbol_cblas_dgemm, (const void *)test_original) == (any_function)found);
    CHECK_INT(symbol_cblas_dgemm.claimed, 1);
    /* Inside the BLAS itself a caller has it from its own library. */
    CHECK(gsh_naming_find_original("cblas_dgemm", found, &low, &high) == found);
    CHECK((uintptr_t)found >= low && (uintptr_t)found < high);
    test_host("original");
    CHECK_INT(symbol_cblas_dgemm.claimed, 1);
}

/* No thread is cancelled inside a product, and all can be afterwards. */
static void test_cancellation(void)
{
    int state;
    CHECK(device_runs > 0);
    CHECK_INT(cancellable_runs, 0);
    CHECK_INT(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
    CHECK_INT(state, PTHREAD_CANCEL_ENABLE);
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    CHECK_STR(gsh_naming_describe_blas(RTLD_DEFAULT), "no CBLAS with a known spelling");
    for (int i = 0; i < 3; i++)
        arena_matrices[i] = live_doubles(ELEMENTS, GSH_ARENA_HOST);
    test_no_original();
    test_device();
    void *library = open_blas();
    if (library != NULL)
        test_original(library);
    else
        printf("no system BLAS: originals not tested\n");
    test_nothing_to_do();
    test_cancellation();
    return check_result();
}
