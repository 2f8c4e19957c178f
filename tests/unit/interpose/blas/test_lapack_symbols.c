/* SPDX-License-Identifier: Apache-2.0
 *
 * The entry points of LAPACK and ?trsm in front of a LAPACK of the system, which also computes for
 * the host device. Results are bit-identical to that LAPACK's, inside and outside the arena, and
 * calls that it refuses are refused in the same way. tests/preload/test_lapack_symbols.py tests all
 * types, widths and unusual arguments.
 */
#include "blas_entry_parts.h"

#include "backend.h"
#include "capture.h"
#include "check.h"
#include "idle.h"
#include "live.h"

#include <string.h>

#define N 12
#define COLUMNS 5  /* right-hand sides */
#define LEADING 17 /* of every matrix */
#define ELEMENTS (LEADING * LEADING)

typedef void getrf_call(const int *, const int *, double *, const int *, int *, int *);
typedef void gesv_call(const int *, const int *, double *, const int *, int *, double *,
                       const int *, int *);
typedef void posv_call(const char *, const int *, const int *, double *, const int *, double *,
                       const int *, int *, size_t);
typedef void trsm_call(const char *, const char *, const char *, const char *, const int *,
                       const int *, const double *, const double *, const int *, double *,
                       const int *, size_t, size_t, size_t, size_t);
typedef void gesvd_call(const char *, const char *, const int *, const int *, double *, const int *,
                        double *, double *, const int *, double *, const int *, double *,
                        const int *, int *, size_t, size_t);
typedef void getrs_call(const char *, const int *, const int *, const double *, const int *,
                        const int *, double *, const int *, int *, size_t);
typedef void getri_call(const int *, double *, const int *, const int *, double *, const int *,
                        int *);
typedef void potri_call(const char *, const int *, double *, const int *, int *, size_t);
typedef void trtri_call(const char *, const char *, const int *, double *, const int *, int *,
                        size_t, size_t);
typedef void sytrf_call(const char *, const int *, double *, const int *, int *, double *,
                        const int *, int *, size_t);
typedef void sytrs_call(const char *, const int *, const int *, const double *, const int *,
                        const int *, double *, const int *, int *, size_t);
typedef void sytri_call(const char *, const int *, double *, const int *, const int *, double *,
                        int *, size_t);
typedef void syev_call(const char *, const char *, const int *, double *, const int *, double *,
                       double *, const int *, int *, size_t, size_t);
typedef void syevr_call(const char *, const char *, const char *, const int *, double *,
                        const int *, const double *, const double *, const int *, const int *,
                        const double *, int *, double *, double *, const int *, int *, double *,
                        const int *, int *, const int *, int *, size_t, size_t, size_t);
getrf_call dgetrf_;
getrs_call dgetrs_;
gesv_call dgesv_;
posv_call dposv_;
trsm_call dtrsm_;
gesvd_call dgesvd_;
getri_call dgetri_;
potri_call dpotri_;
trtri_call dtrtri_;
sytrf_call dsytrf_;
sytrs_call dsytrs_;
sytri_call dsytri_;
syev_call dsyev_;
syevr_call dsyevr_;

static const int order = N, columns = COLUMNS, leading = LEADING;
static void *library;

/* What a call leaves, by the entry point and by the original. */
struct outcome {
    double *a, *b;
    int *pivots, info;
};
static double plain_a[ELEMENTS], plain_b[ELEMENTS], expected_a[ELEMENTS], expected_b[ELEMENTS];
static double *arena_a, *arena_b;
static int plain_pivots[N], expected_pivots[N], *arena_pivots;
static struct outcome plain = {plain_a, plain_b, plain_pivots, 7};
static struct outcome in_arena, expected = {expected_a, expected_b, expected_pivots, 7};

/* Symmetric and positive definite, with other numbers between the columns. */
static void fill(struct outcome *outcome)
{
    for (int j = 0; j < LEADING; j++)
        for (int i = 0; i < LEADING; i++) {
            outcome->a[j * LEADING + i] = i == j ? 40 : (i * j) % 7 - 3;
            outcome->b[j * LEADING + i] = (i * 5 + j * 3) % 11 - 5;
        }
    for (int i = 0; i < N; i++)
        outcome->pivots[i] = -1;
    outcome->info = 7;
}

static bool is_as_expected(const struct outcome *outcome)
{
    return memcmp(outcome->a, expected.a, sizeof(expected_a)) == 0 &&
           memcmp(outcome->b, expected.b, sizeof(expected_b)) == 0 &&
           memcmp(outcome->pivots, expected.pivots, sizeof(expected_pivots)) == 0 &&
           outcome->info == expected.info;
}

/* ---- systems of equations ---- */

static void solve(gesv_call *gesv, struct outcome *to)
{
    gesv(&order, &columns, to->a, &leading, to->pivots, to->b, &leading, &to->info);
}

static void solve_symmetric(posv_call *posv, const char *triangle, struct outcome *to)
{
    posv(triangle, &order, &columns, to->a, &leading, to->b, &leading, &to->info, 1);
}

/* refused: 0, or which launch of the two is refused. */
static void check_gesv(struct outcome *to, int refused, int runs)
{
    uint64_t before = live_launches();
    fill(&expected);
    fill(to);
    solve((gesv_call *)dlsym(library, "dgesv_"), &expected);
    refused_run = refused;
    solve(dgesv_, to);
    CHECK(is_as_expected(to));
    CHECK_INT(live_launches() - before, runs);
}

static void check_posv(struct outcome *to, const char *triangle, int refused, int runs)
{
    uint64_t before = live_launches();
    fill(&expected);
    fill(to);
    solve_symmetric((posv_call *)dlsym(library, "dposv_"), triangle, &expected);
    refused_run = refused;
    solve_symmetric(dposv_, triangle, to);
    CHECK(is_as_expected(to));
    CHECK_INT(live_launches() - before, runs);
}

static void test_halves(struct outcome *to)
{
    check_gesv(to, 0, 2);
    check_gesv(to, 1, 0);
    check_gesv(to, 2, 1);
    for (int i = 0; i < 4; i++) {
        const char *triangle = &"ULul"[i];
        check_posv(to, triangle, 0, 2);
        check_posv(to, triangle, 1, 0);
        check_posv(to, triangle, 2, 1);
    }
}

static uint64_t faults(void)
{
    return gsh_stats_get(GSH_COUNTER_FAULTS_READ) + gsh_stats_get(GSH_COUNTER_FAULTS_WRITE);
}

/* Pivots that are none: the operands are fetched together, not page by page. */
static void test_bad_pivots(void)
{
    getrs_call *original = (getrs_call *)dlsym(library, "dgetrs_");
    fill(&expected);
    fill(&in_arena);
    for (int i = 0; i < N; i++)
        expected.pivots[i] = in_arena.pivots[i] = i == 3 ? LEADING : i + 1;
    for (int i = 0; i < ELEMENTS; i++)
        expected.a[i] += 1, expected.b[i] += 1;
    CHECK_INT(live_add(arena_a, NULL, 1, arena_a, ELEMENTS), GSH_REASON_NONE);
    CHECK_INT(live_add(arena_b, NULL, 1, arena_b, ELEMENTS), GSH_REASON_NONE);
    uint64_t before = faults();
    original("N", &order, &columns, expected.a, &leading, expected.pivots, expected.b, &leading,
             &expected.info, 1);
    dgetrs_("N", &order, &columns, arena_a, &leading, arena_pivots, arena_b, &leading,
            &in_arena.info, 1);
    CHECK_INT(faults() - before, 0);
    CHECK(is_as_expected(&in_arena));
}

/* A matrix that is singular: what is left is the original's. */
static void test_singular(struct outcome *to)
{
    getrf_call *original = (getrf_call *)dlsym(library, "dgetrf_");
    fill(&expected);
    fill(to);
    for (int i = 0; i < N; i++)
        expected.a[3 * LEADING + i] = to->a[3 * LEADING + i] = 0;
    original(&order, &order, expected.a, &leading, expected.pivots, &expected.info);
    dgetrf_(&order, &order, to->a, &leading, to->pivots, &to->info);
    CHECK_INT(to->info, 4);
    CHECK(is_as_expected(to));
}

/* ---- inverses ---- */

/* Calls `routine` with the workspace in b where it takes one. */
static void invert(char routine, void (*function)(void), const char *triangle, struct outcome *to)
{
    const int length = ELEMENTS; /* as much as the original asks for, so that it does the same */
    if (routine == 'g')
        ((getri_call *)function)(&order, to->a, &leading, to->pivots, to->b, &length, &to->info);
    else if (routine == 'p')
        ((potri_call *)function)(triangle, &order, to->a, &leading, &to->info, 1);
    else
        ((trtri_call *)function)(triangle, routine == 'u' ? "U" : "N", &order, to->a, &leading,
                                 &to->info, 1, 1);
}

static void check_inverse(char routine, void (*original)(void), void (*entry)(void),
                          const char *triangle, struct outcome *to)
{
    uint64_t before = live_launches();
    for (int hole = 0; hole < 2; hole++) {
        fill(&expected);
        fill(to);
        for (int i = 0; i < N; i++)
            expected.pivots[i] = to->pivots[i] = N - i / 2;
        if (hole)
            expected.a[5 * (LEADING + 1)] = to->a[5 * (LEADING + 1)] = 0;
        invert(routine, original, triangle, &expected);
        invert(routine, entry, triangle, to);
        memcpy(to->b, expected.b, sizeof(expected_b)); /* workspace */
        CHECK(is_as_expected(to));
        CHECK_INT(to->info, hole && routine != 'u' ? 6 : 0);
        CHECK_INT(live_launches() - before, hole + 1);
    }
}

static void test_inverses(struct outcome *to)
{
    check_inverse('g', (void (*)(void))dlsym(library, "dgetri_"), (void (*)(void))dgetri_, "", to);
    for (int i = 0; i < 4; i++) {
        const char *triangle = &"ULul"[i];
        check_inverse('p', (void (*)(void))dlsym(library, "dpotri_"), (void (*)(void))dpotri_,
                      triangle, to);
        for (int j = 0; j < 2; j++)
            check_inverse("ut"[j], (void (*)(void))dlsym(library, "dtrtri_"),
                          (void (*)(void))dtrtri_, triangle, to);
    }
}

/* ---- symmetric matrices that are not definite ---- */

/* One after the other on the same factors: what they leave, and `b` twice: solved for, and as workspace. */
static void factor_and_use(sytrf_call *sytrf, sytrs_call *sytrs, sytri_call *sytri,
                           const char *triangle, struct outcome *to)
{
    static double work[100 * N];
    const int length = GSH_COUNT(work);
    int infos[3] = {7, 7, 7};
    sytrf(triangle, &order, to->a, &leading, to->pivots, work, &length, &infos[0], 1);
    sytrs(triangle, &order, &columns, to->a, &leading, to->pivots, to->b, &leading, &infos[1], 1);
    sytri(triangle, &order, to->a, &leading, to->pivots, work, &infos[2], 1);
    to->info = infos[0] + infos[1] + infos[2];
}

static void test_indefinite(struct outcome *to)
{
    for (int i = 0; i < 4; i++) {
        uint64_t before = live_launches();
        fill(&expected);
        fill(to);
        for (int k = 0; k < N; k++) /* blocks of two rows */
            expected.a[k * (LEADING + 1)] = to->a[k * (LEADING + 1)] = k % 3;
        factor_and_use((sytrf_call *)dlsym(library, "dsytrf_"),
                       (sytrs_call *)dlsym(library, "dsytrs_"),
                       (sytri_call *)dlsym(library, "dsytri_"), &"ULul"[i], &expected);
        factor_and_use(dsytrf_, dsytrs_, dsytri_, &"ULul"[i], to);
        CHECK(is_as_expected(to));
        CHECK_INT(to->info, 0);
        CHECK_INT(live_launches() - before, 3);
        bool has_blocks = false;
        for (int k = 0; k < N; k++)
            has_blocks |= to->pivots[k] < 0;
        CHECK(has_blocks);
    }
}

/* Pivots of blocks that are none. */
static void test_bad_blocks(void)
{
    static const int bad[][4] = {{1, 2, 3, -4}, {-1, -2, 3, 4}, {1, 0, 3, 4},
                                 {1, 2, 3, 5},  {1, -5, -5, 4}, {-1, -1, -1, 4}};
    static const int good[][4] = {{1, 2, 3, 4}, {-1, -1, -1, -1}, {1, -2, -2, 4}};
    const struct gsh_blas_entry_routine routine = {.shape = &gsh_blas_entry_shape_SYTRS};
    int32_t own[4];
    for (unsigned i = 0; i < GSH_COUNT(bad) + GSH_COUNT(good); i++) {
        bool is_good = i >= GSH_COUNT(bad);
        const int *pivots = is_good ? good[i - GSH_COUNT(bad)] : bad[i];
        const struct gsh_blas_entry_frame frame = {.registers = {[5] = (uint64_t)pivots}};
        const struct gsh_blas_entry_call call = {
            .routine = &routine, .frame = &frame, .integer_bits = 32, .dtype = GSH_FLOAT64};
        if (!CHECK_INT(gsh_lapack_launch_read_block_pivots(&call, 5, own, 4), is_good))
            fprintf(stderr, "case %u\n", i);
    }
}

/* ---- ?trsm ---- */

struct triangle_case {
    const char *side, *triangle, *trans, *diagonal;
    double alpha;
};

static void divide(trsm_call *trsm, const struct triangle_case *c, struct outcome *to)
{
    trsm(c->side, c->triangle, c->trans, c->diagonal, &order, &columns, &c->alpha, to->a, &leading,
         to->b, &leading, 1, 1, 1, 1);
}

static void check_trsm(const struct triangle_case *c, struct outcome *to)
{
    uint64_t before = live_launches();
    fill(&expected);
    fill(to);
    divide((trsm_call *)dlsym(library, "dtrsm_"), c, &expected);
    divide(dtrsm_, c, to);
    double worst = 0;
    for (int i = 0; i < ELEMENTS; i++) /* of the other side's algorithm the bits may differ */
        worst = GSH_MAX(worst, (expected.b[i] - to->b[i]) * (expected.b[i] - to->b[i]));
    if (!CHECK(worst < 1e-20 * N * N))
        fprintf(stderr, "%s%s%s%s\n", c->side, c->triangle, c->trans, c->diagonal);
    CHECK(memcmp(to->a, expected.a, sizeof(expected_a)) == 0);
    CHECK_INT(live_launches() - before, c->alpha == 1);
}

static void test_trsm(struct outcome *to)
{
    for (unsigned bits = 0; bits < 3 << 3; bits++) {
        struct triangle_case c = {bits & 1 ? "R" : "L", bits & 2 ? "U" : "l", &"NTC"[bits >> 3],
                                  bits & 4 ? "u" : "N", 1};
        /* Of unit diagonals the other elements must be small. */
        if (bits & 4 && bits & 1)
            continue;
        check_trsm(&c, to);
        c.alpha = 2;
        check_trsm(&c, to);
    }
}

/* ---- arguments ---- */

static void fake_32(const int64_t *m, const int64_t *n, void *a, const int64_t *lda,
                    int64_t *pivots, int64_t *info)
{
    (void)m, (void)n, (void)a, (void)lda, (void)pivots;
    *(int32_t *)info = 0;
}

static void fake_64(const int64_t *m, const int64_t *n, void *a, const int64_t *lda,
                    int64_t *pivots, int64_t *info)
{
    (void)m, (void)n, (void)a, (void)lda, (void)pivots;
    *info = 0;
}

static void fake_other(const int64_t *m, const int64_t *n, void *a, const int64_t *lda,
                       int64_t *pivots, int64_t *info)
{
    (void)m, (void)n, (void)a, (void)lda, (void)pivots;
    *info = 5;
}

static void test_widths(void)
{
    CHECK_INT(measure_integers(fake_32), 32);
    CHECK_INT(measure_integers(fake_64), 64);
    CHECK_INT(measure_integers(fake_other), 0);
    CHECK_INT(measure_integers(NULL), 0);
    CHECK_INT(measure_integers((getrf_function *)dlsym(library, "dgetrf_")), 32);
}

/* 14 and 21 arguments, with the lengths of the letters behind them, reach the original: this device has no loop for them. */
static void test_long_calls(void)
{
    static double u[ELEMENTS], vt[ELEMENTS], work[2000], values[N], other[N];
    static int support[2 * N], integers[500];
    const int length = GSH_COUNT(work), integer_length = GSH_COUNT(integers), zero = 0;
    const double nothing = 0;
    int found = 0;
    fill(&plain);
    dgesvd_("A", "A", &order, &order, plain.a, &leading, values, u, &leading, vt, &leading, work,
            &length, &plain.info, 1, 1);
    CHECK_INT(plain.info, 0);
    fill(&plain);
    dsyevr_("V", "A", "L", &order, plain.a, &leading, &nothing, &nothing, &zero, &zero, &nothing,
            &found, other, u, &leading, support, work, &length, integers, &integer_length,
            &plain.info, 1, 1, 1);
    CHECK_INT(plain.info, 0);
    CHECK_INT(found, N);
    bool equal = true; /* positive definite: singular values are eigenvalues */
    for (int i = 0; i < N; i++)
        equal &= values[i] - other[N - 1 - i] < 1e-10 && other[N - 1 - i] - values[i] < 1e-10;
    CHECK(equal);
    CHECK(values[0] > 40);
}

static uint64_t declined_variants(unsigned row)
{
    struct gsh_stats_row_copy copy;
    return gsh_stats_get_row(row, &copy) ? copy.reasons[GSH_REASON_KEYWORDS] : 0;
}

/* A variant that no device computes is counted when it is to be computed, not when it asks for the length of a workspace. */
static void test_queries(void)
{
    static double u[ELEMENTS], vt[ELEMENTS], work[2000], values[N];
    const int lengths[] = {-1, GSH_COUNT(work)};
    unsigned row = gsh_stats_row("dgesvd", "d->d");
    uint64_t before = declined_variants(row);
    for (uint64_t i = 0; i < GSH_COUNT(lengths); i++) {
        fill(&plain);
        dgesvd_("O", "N", &order, &order, plain.a, &leading, values, u, &leading, vt, &leading,
                work, &lengths[i], &plain.info, 1, 1);
        CHECK_INT(plain.info, 0);
        CHECK_INT(declined_variants(row) - before, i);
    }
}

/* Nothing to do, and illegal leading dimensions: no launch, and the original's answer (which would print and stop for
 * illegal ones, so that those are only described). */
static void test_nothing_to_do(void)
{
    uint64_t before = live_launches();
    const int none = 0;
    fill(&plain);
    dgetrf_(&none, &order, plain.a, &leading, plain.pivots, &plain.info);
    CHECK_INT(plain.info, 0);
    plain.info = 7;
    dgesv_(&order, &none, plain.a, &leading, plain.pivots, plain.b, &leading, &plain.info);
    CHECK_INT(plain.info, 0);
    CHECK_INT(live_launches(), before);
}

/* A LAPACK calls its own routines by the names that we export: those stay where they are. */
static void test_inner_calls(void)
{
    struct caller spare;
    void *inner = dlsym(library, "dgetrf_");
    CHECK_INT(find_caller(&gsh_symbol_dpotrf_, inner, &spare)->integer_bits, 0);
    CHECK_INT(find_caller(&gsh_symbol_dgemm_, inner, &spare)->integer_bits, 0);
    CHECK(find_caller(&gsh_symbol_dgemm_, inner, &spare)->original != NULL);
}

/* ---- no original ---- */

static void without_original(void)
{
    fill(&plain);
    dgetrf_(&order, &order, plain.a, &leading, plain.pivots, &plain.info);
    _exit(plain.info == -1 ? 0 : 1);
}

static void test_no_original(void)
{
    char text[1000];
    CHECK_INT(capture_stderr(without_original, text, sizeof text), 0);
    CHECK_STR(text, "gpushim: dgetrf_: no library loaded has it\n");
    const int short_length = 1; /* nobody can be asked whether it would do */
    fill(&plain);
    dsyev_("V", "L", &order, plain.a, &leading, plain.b, plain.b, &short_length, &plain.info, 1, 1);
    CHECK_INT(plain.info, -1);
}

/* Outputs outside the arena that overlap are left to the original. */
static void test_overlap(void)
{
    uint64_t before = live_launches();
    fill(&plain);
    struct gsh_call call = {.row = gsh_stats_row("test", "d->d")};
    struct gsh_launch *launch = &call.launch;
    struct gsh_blas_entry_call entry = {.dtype = GSH_FLOAT64};
    gsh_lapack_launch_begin(&entry, GSH_LAPACK_GETRF, 0);
    gsh_lapack_launch_matrix(&entry, 0, plain.a, N, N, LEADING);
    gsh_lapack_launch_matrix(&entry, 1, plain.a, N, N, LEADING);
    gsh_lapack_launch_vector(&entry, 2, plain.a + 3, N);
    *launch = entry.call.launch;
    CHECK_INT(live_run(&call), GSH_REASON_OVERLAP);
    gsh_lapack_launch_vector(&entry, 2, plain.pivots, N);
    *launch = entry.call.launch;
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    CHECK_INT(live_launches() - before, 1);
}

/* A device that finds out that a matrix is singular when it has written already. */
static enum gsh_status spoil(const struct gsh_launch *launch, unsigned row)
{
    if (launch->kind != GSH_LAUNCH_LAPACK)
        return gsh_emu_backend.run(launch, row);
    *(double *)launch->operands[launch->nin].address = -1;
    return GSH_DECLINED;
}

/* An output that is part of a block, newest on the device, keeps what it held. */
static void test_spoilt(void)
{
    static struct gsh_backend device;
    device = gsh_emu_backend;
    device.run = spoil;
    fill(&plain);
    fill(&in_arena);
    CHECK_INT(live_add(arena_b, NULL, 1, arena_b, ELEMENTS), GSH_REASON_NONE);
    double *output = arena_b + 1;
    struct gsh_blas_entry_call entry = {.dtype = GSH_FLOAT64};
    gsh_lapack_launch_begin(&entry, GSH_LAPACK_TRTRS, 0);
    gsh_lapack_launch_matrix(&entry, 0, plain.a, N, N, LEADING);
    gsh_lapack_launch_matrix(&entry, 1, plain.b, N, COLUMNS, LEADING);
    gsh_lapack_launch_matrix(&entry, 2, output, N, COLUMNS, LEADING);
    entry.call.row = gsh_stats_row("test", "d->d");
    gsh_backend_replace(&device);
    CHECK_INT(live_run(&entry.call), GSH_REASON_NUMERICAL);
    gsh_backend_replace(&gsh_emu_backend);
    bool equal = true;
    for (int i = 0; i < ELEMENTS; i++)
        equal &= arena_b[i] == plain.b[i] + 1;
    CHECK(equal);
}

/* What is known of a routine's calls that are priced at a second. */
static double factor(enum gsh_lapack_routine routine)
{
    const struct gsh_launch launch = {
        .kind = GSH_LAUNCH_LAPACK, .loop = GSH_FLOAT64, .lapack.routine = routine};
    return gsh_host_calibration_factor(&launch, 1);
}

/* Calls left to the CPU are timed, but those of two routines in one, of which the first was priced, and those that
 * failed. */
static void test_calibration(void)
{
    double *zeros = expected.a, work[4 * N];
    int length = 4 * N;
    stays_here = true;
    fill(&plain);
    solve(dgesv_, &plain);
    CHECK_INT(plain.info, 0);
    CHECK(factor(GSH_LAPACK_GETRF) == 1 && factor(GSH_LAPACK_GETRS) == 1);
    fill(&plain);
    dgetrf_(&order, &order, plain.a, &leading, plain.pivots, &plain.info);
    CHECK_INT(plain.info, 0);
    CHECK(factor(GSH_LAPACK_GETRF) < 0.1);
    solve_symmetric(dposv_, "L", &plain);
    CHECK(factor(GSH_LAPACK_POTRF) == 1 && factor(GSH_LAPACK_POTRS) == 1);
    memset(zeros, 0, sizeof(expected_a));
    dsytrf_("L", &order, zeros, &leading, plain.pivots, work, &length, &plain.info, 1);
    CHECK(plain.info > 0);
    CHECK(factor(GSH_LAPACK_SYTRF) == 1);
    fill(&plain);
    dsytrf_("L", &order, plain.a, &leading, plain.pivots, work, &length, &plain.info, 1);
    CHECK_INT(plain.info, 0);
    CHECK(factor(GSH_LAPACK_SYTRF) < 0.1);
    stays_here = false;
}

static void test_with_library(void)
{
    test_calibration();
    test_widths();
    test_halves(&plain);
    test_halves(&in_arena);
    test_bad_pivots();
    test_singular(&plain);
    test_singular(&in_arena);
    test_inverses(&plain);
    test_inverses(&in_arena);
    test_indefinite(&plain);
    test_indefinite(&in_arena);
    test_bad_blocks();
    test_trsm(&plain);
    test_trsm(&in_arena);
    test_long_calls();
    test_queries();
    test_nothing_to_do();
    test_inner_calls();
    test_overlap();
    test_spoilt();
    CHECK_INT(cancellable, 0);
}

int main(void)
{
    setenv("GPUSHIM_DEVICE", "host", 1); /* which computes with the originals of this file */
    if (!live_start())
        return CHECK_SKIP;
    gsh_idle_end(); /* its thread asks the backend, which is replaced here */
    arena_a = live_doubles(ELEMENTS, GSH_ARENA_HOST);
    arena_b = live_doubles(ELEMENTS, GSH_ARENA_HOST);
    arena_pivots = (int *)live_doubles(N, GSH_ARENA_HOST);
    in_arena = (struct outcome){arena_a, arena_b, arena_pivots, 7};
    test_no_original();
    library = dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL);
    if (library != NULL)
        test_with_library();
    else
        printf("no system LAPACK: only its absence is tested\n");
    return check_result();
}
