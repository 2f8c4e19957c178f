/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of lapack.def that are LAPACK's on the host device, with functions of our own in LAPACK's place: what each is
 * called with, in either width of its integers, and where what it leaves goes.
 */
#include "check.h"
#include "emu_lapack.h"
#include "host_routines.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static int calls, info_given;

/* A launch of float64 on operands as the row says, whose rows lie `row` elements apart and whose columns follow each other. */
static struct gsh_launch make_launch(enum gsh_lapack_routine routine, int64_t m, int64_t n,
                                     int64_t columns, void *const *operands, int64_t row)
{
    const struct gsh_lapack_info *info = gsh_lapack_info(routine);
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_LAPACK, .loop = GSH_FLOAT64, .nin = info->nin, .nout = info->nout};
    launch.lapack.routine = routine;
    for (unsigned k = 0; k < info->nin + info->nout; k++) {
        const struct gsh_lapack_operand *operand = &info->operands[k];
        struct gsh_core *core = &launch.lapack.cores[k];
        int64_t size;
        launch.operands[k].dtype = gsh_lapack_dtype(operand, GSH_FLOAT64);
        launch.operands[k].address = (uint64_t)(uintptr_t)operands[k];
        size = (int64_t)gsh_dtype_size(launch.operands[k].dtype);
        *core = (struct gsh_core){{1, 1, 1}, {operand->ndim > 1 ? row * size : size, size, 0}};
        for (int d = 0; d < operand->ndim; d++) {
            char letter = operand->dims[d];
            core->extent[d] = letter == 'm'   ? m
                              : letter == 'n' ? n
                              : letter == 'r' ? columns
                              : letter == 'p' ? GSH_MIN(m, n)
                                              : GSH_MAX(m, n);
        }
    }
    return launch;
}

static enum gsh_status run_registered(const struct gsh_launch *launch, void (*function)(void),
                                      int bits)
{
    gsh_host_routines_register(gsh_host_routines_lapack(launch->lapack.routine), launch->loop,
                               function, bits);
    CHECK(gsh_emu_lapack_supports(launch));
    calls = 0;
    feclearexcept(FE_ALL_EXCEPT);
    enum gsh_status status = gsh_emu_lapack_run(launch);
    CHECK_INT(fetestexcept(FE_ALL_EXCEPT), 0); /* the thread's own flags */
    return status;
}

/* ---- getrf and getrs: integers of both widths ---- */

/* Doubles the matrix; the pivots are 2, 3, ... */
#define DEFINE_LU(bits)                                                                            \
    static void getrf_##bits(const int##bits##_t *m, const int##bits##_t *n, double *a,            \
                             const int##bits##_t *lda, int##bits##_t *pivots, int##bits##_t *info) \
    {                                                                                              \
        CHECK(*m == 3 && *n == 2 && *lda == 3);                                                    \
        CHECK(a[1] == 10 && a[3] == 1);                                                            \
        for (int i = 0; i < 6; i++)                                                                \
            a[i] *= 2;                                                                             \
        for (int##bits##_t i = 0; i < 2; i++)                                                      \
            pivots[i] = i + 2;                                                                     \
        *info = (int##bits##_t)info_given;                                                         \
        calls++;                                                                                   \
        feraiseexcept(FE_INVALID);                                                                 \
    }                                                                                              \
    static void getrs_##bits(const char *op, const int##bits##_t *n, const int##bits##_t *columns, \
                             const double *a, const int##bits##_t *lda,                            \
                             const int##bits##_t *pivots, double *b, const int##bits##_t *ldb,     \
                             int##bits##_t *info, size_t length)                                   \
    {                                                                                              \
        CHECK(*op == 'C' && *n == 2 && *columns == 3 && *lda == 2 && *ldb == 2 && length == 1);    \
        CHECK(a[1] == 10 && pivots[0] == 2 && pivots[1] == 3);                                     \
        for (int i = 0; i < 6; i++)                                                                \
            b[i] += 100;                                                                           \
        *info = 0;                                                                                 \
        calls++;                                                                                   \
    }
DEFINE_LU(32)
DEFINE_LU(64)

static void test_getrf(void (*function)(void), int bits)
{
    double a[3][4] = {{0, 1}, {10, 11}, {20, 21}}, lu[3][4] = {{0}};
    int32_t pivots[2] = {0};
    void *operands[GSH_LAPACK_OPERANDS] = {a, lu, pivots};
    struct gsh_launch launch = make_launch(GSH_LAPACK_GETRF, 3, 2, 0, operands, 4);
    info_given = 0;
    CHECK_INT(run_registered(&launch, function, bits), GSH_OK);
    CHECK_INT(calls, 1);
    for (int i = 0; i < 3; i++)
        CHECK(lu[i][0] == 20 * i && lu[i][1] == 20 * i + 2 && lu[i][2] == 0);
    CHECK(pivots[0] == 2 && pivots[1] == 3);
    CHECK(a[1][0] == 10);
    info_given = 1;
    memset(lu, 0, sizeof lu);
    CHECK_INT(run_registered(&launch, function, bits), GSH_DECLINED);
    CHECK(lu[1][0] == 0);
    info_given = 0;
    a[2][1] = (double)NAN;
    CHECK_INT(run_registered(&launch, function, bits), GSH_DECLINED);
    CHECK_INT(calls, 0);
}

static void test_getrs(void (*function)(void), int bits)
{
    double lu[2][4] = {{0, 1}, {10, 11}}, b[2][4] = {{0, 1, 2}, {10, 11, 12}}, x[2][4] = {{0}};
    int32_t pivots[2] = {2, 3};
    void *operands[GSH_LAPACK_OPERANDS] = {lu, pivots, b, x};
    struct gsh_launch launch = make_launch(GSH_LAPACK_GETRS, 2, 2, 3, operands, 4);
    launch.lapack.options = GSH_LAPACK_TRANSPOSED | GSH_LAPACK_CONJUGATED;
    CHECK_INT(run_registered(&launch, function, bits), GSH_OK);
    for (int i = 0; i < 6; i++)
        CHECK(x[i / 3][i % 3] == b[i / 3][i % 3] + 100);
    CHECK(b[1][2] == 12 && x[0][3] == 0);
}

/* ---- triangles ---- */

static void potrf(const char *triangle, const int64_t *n, double *a, const int64_t *lda,
                  int64_t *info, size_t length)
{
    CHECK(*triangle == 'U' && *n == 2 && *lda == 2 && length == 1);
    a[2] = 7;
    *info = info_given;
}

static void potrs(const char *triangle, const int64_t *n, const int64_t *columns, const double *a,
                  const int64_t *lda, double *b, const int64_t *ldb, int64_t *info, size_t length)
{
    CHECK(*triangle == 'L' && *n == 2 && *columns == 1 && *lda == 2 && *ldb == 2 && length == 1);
    b[1] = a[1] + b[0];
    *info = 0;
}

static void trtrs(const char *triangle, const char *op, const char *diagonal, const int64_t *n,
                  const int64_t *columns, const double *a, const int64_t *lda, double *b,
                  const int64_t *ldb, int64_t *info, size_t first, size_t second, size_t third)
{
    CHECK(*triangle == 'U' && *op == 'T' && *diagonal == 'U');
    CHECK(*n == 2 && *columns == 1 && *lda == 2 && *ldb == 2 && first + second + third == 3);
    b[0] = a[1];
    *info = 0;
}

static void test_triangles(void)
{
    double a[2][2] = {{0, 1}, {10, 11}}, b[2] = {3, 4}, out[2][2] = {{0}};
    void *factor[GSH_LAPACK_OPERANDS] = {a, out};
    void *systems[GSH_LAPACK_OPERANDS] = {a, b, out};
    struct gsh_launch launch = make_launch(GSH_LAPACK_POTRF, 2, 2, 0, factor, 2);
    launch.lapack.options = GSH_LAPACK_UPPER;
    info_given = 0;
    CHECK_INT(run_registered(&launch, (void (*)(void))potrf, 64), GSH_OK);
    CHECK(out[0][1] == 7 && out[1][0] == 10 && out[1][1] == 11 && a[0][1] == 1);
    info_given = 2;
    CHECK_INT(run_registered(&launch, (void (*)(void))potrf, 64), GSH_DECLINED);
    launch = make_launch(GSH_LAPACK_POTRS, 2, 2, 1, systems, 1);
    launch.lapack.cores[0].stride[0] = 16;
    CHECK_INT(run_registered(&launch, (void (*)(void))potrs, 64), GSH_OK);
    CHECK(out[0][0] == 3 && out[0][1] == 13 && b[1] == 4);
    launch = make_launch(GSH_LAPACK_TRTRS, 2, 2, 1, systems, 1);
    launch.lapack.cores[0].stride[0] = 16;
    launch.lapack.options = GSH_LAPACK_UPPER | GSH_LAPACK_TRANSPOSED | GSH_LAPACK_UNIT;
    CHECK_INT(run_registered(&launch, (void (*)(void))trtrs, 64), GSH_OK);
    CHECK(out[0][0] == 10 && out[0][1] == 4);
}

/* ---- gelsd ---- */

enum { WORK = 17, INTEGERS = 5, REALS = 9 };

static void gelsd(const int32_t *m, const int32_t *n, const int32_t *columns, double *a,
                  const int32_t *lda, double *b, const int32_t *ldb, double *s, const double *rcond,
                  int32_t *rank, double *work, const int32_t *lwork, int32_t *iwork, int32_t *info)
{
    calls++;
    CHECK(*m == 2 && *n == 3 && *columns == 1 && *lda == 2 && *ldb == 3 && *rcond == 0.25);
    *info = *rank = 0;
    if (*lwork == -1) {
        work[0] = WORK;
        iwork[0] = INTEGERS;
        return;
    }
    CHECK_INT(*lwork, WORK);
    memset(work, 0xff, WORK * sizeof *work);
    memset(iwork, 0xff, INTEGERS * sizeof *iwork);
    const double sum = a[0] + b[1];
    for (int i = 0; i < 3; i++)
        b[i] = sum + i;
    s[0] = 2;
    s[1] = 1;
}

static void complex_gelsd(const int32_t *m, const int32_t *n, const int32_t *columns, double *a,
                          const int32_t *lda, double *b, const int32_t *ldb, double *s,
                          const double *rcond, int32_t *rank, double *work, const int32_t *lwork,
                          double *rwork, int32_t *iwork, int32_t *info)
{
    (void)a;
    (void)b;
    CHECK(*m == 2 && *n == 3 && *columns == 1 && *lda == 2 && *ldb == 3 && *rcond == 0.25);
    *info = *rank = 0;
    if (*lwork == -1) {
        work[0] = WORK;
        rwork[0] = REALS;
        iwork[0] = INTEGERS;
        return;
    }
    memset(rwork, 0xff, REALS * sizeof *rwork);
    s[1] = 3;
}

static void test_gelsd(void)
{
    double a[2][3] = {{5, 1, 2}, {3, 4, 6}}, b[2] = {7, 8}, x[3] = {0}, s[2] = {0};
    double wide[12] = {0}, pair[6] = {0};
    void *operands[GSH_LAPACK_OPERANDS] = {a, b, x, s};
    struct gsh_launch launch = make_launch(GSH_LAPACK_LSTSQ, 2, 3, 1, operands, 1);
    launch.lapack.cores[0].stride[0] = 24;
    launch.lapack.tolerance = 0.25;
    CHECK_INT(run_registered(&launch, (void (*)(void))gelsd, 32), GSH_OK);
    CHECK_INT(calls, 2);
    for (int i = 0; i < 3; i++)
        CHECK(x[i] == 13 + i);
    CHECK(s[0] == 2 && s[1] == 1 && b[1] == 8);
    for (int k = 0; k < 2; k++) { /* not for the function to say */
        double *number = k == 0 ? &a[1][2] : &b[1], kept = *number;
        *number = k == 0 ? (double)NAN : (double)INFINITY;
        CHECK_INT(run_registered(&launch, (void (*)(void))gelsd, 32), GSH_DECLINED);
        CHECK_INT(calls, 0);
        *number = kept;
    }
    launch.loop = GSH_COMPLEX128;
    for (unsigned k = 0; k < 3; k++) {
        launch.operands[k].dtype = GSH_COMPLEX128;
        launch.operands[k].address = (uint64_t)(uintptr_t)(k == 2 ? pair : wide);
    }
    CHECK(!gsh_emu_lapack_supports(&launch)); /* registered for another dtype */
    CHECK_INT(run_registered(&launch, (void (*)(void))complex_gelsd, 32), GSH_OK);
    CHECK(s[1] == 3);
}

/* ---- batches ---- */

static void test_batch(void)
{
    double a[2][4] = {{0, 1, 10, 11}, {20, 21, 30, 31}}, out[2][4] = {{0}};
    void *operands[GSH_LAPACK_OPERANDS] = {a, out};
    struct gsh_launch launch = make_launch(GSH_LAPACK_POTRF, 2, 2, 0, operands, 2);
    launch.ndim = 1;
    launch.shape[0] = 2;
    launch.strides[0][0] = 32;
    launch.strides[1][0] = -32;
    launch.operands[1].address += 32;
    launch.lapack.options = GSH_LAPACK_UPPER;
    info_given = 0;
    CHECK_INT(run_registered(&launch, (void (*)(void))potrf, 64), GSH_OK);
    CHECK(out[1][0] == 0 && out[1][1] == 7 && out[1][3] == 11);
    CHECK(out[0][0] == 20 && out[0][1] == 7 && out[0][3] == 31);
}

int main(void)
{
    test_getrf((void (*)(void))getrf_64, 64);
    test_getrf((void (*)(void))getrf_32, 32); /* the last one registered is called */
    test_getrf((void (*)(void))getrf_64, 64);
    test_getrs((void (*)(void))getrs_32, 32);
    test_getrs((void (*)(void))getrs_64, 64);
    test_triangles();
    test_gelsd();
    test_batch();
    return check_result();
}
