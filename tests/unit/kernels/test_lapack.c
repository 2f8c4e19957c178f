/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of routines, and the borrowed loops of the host device, with a loop of our own in NumPy's place: what it is
 * called with, and what becomes of the floating-point errors that it raises.
 */
#include "emu_lapack.h"

#include "check.h"
#include "host_routines.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define MOST_CALLS 16
#define MOST_STEPS 16

static struct {
    char *args[GSH_LAPACK_OPERANDS];
    int64_t dimensions[5], steps[MOST_STEPS];
} calls[MOST_CALLS];
static unsigned call_count;
static unsigned handed_over; /* operands and core dimensions of the loop under test */
static unsigned core_steps;

/* Notes its arguments and raises *data. */
static void loop(char **args, const int64_t *dimensions, const int64_t *steps, void *data)
{
    if (call_count < MOST_CALLS) {
        memcpy(calls[call_count].args, args, handed_over * sizeof(*args));
        memcpy(calls[call_count].dimensions, dimensions, sizeof(calls[call_count].dimensions));
        memcpy(calls[call_count].steps, steps, (handed_over + core_steps) * sizeof(*steps));
    }
    call_count++;
    if (data != NULL)
        feraiseexcept(*(const int *)data);
}

static void register_loop(enum gsh_lapack_routine routine, unsigned operands, unsigned steps,
                          int *raised)
{
    handed_over = operands;
    core_steps = steps;
    call_count = 0;
    gsh_host_routines_register_loop(gsh_host_routines_lapack(routine), GSH_FLOAT64, loop, raised);
}

static void test_names(void)
{
    static const struct {
        const char *gufunc;
        int routine;
    } names[] = {
        {"solve", GSH_LAPACK_SOLVE},
        {"solve1", GSH_LAPACK_SOLVE1},
        {"cholesky_up", GSH_LAPACK_CHOLESKY_UP},
        {"svd", GSH_LAPACK_SVD},
        {"svd_m", GSH_LAPACK_SVD},
        {"svd_n", GSH_LAPACK_SVD},
        {"svd_s", GSH_LAPACK_SVD_S},
        {"svd_m_s", GSH_LAPACK_SVD_S},
        {"svd_n_f", GSH_LAPACK_SVD_F},
        {"qr_r_raw", GSH_LAPACK_QR_R_RAW},
        {"qr_r_raw_m", GSH_LAPACK_QR_R_RAW},
        {"eigh_lo", GSH_LAPACK_EIGH_LO},
        {"eigvalsh_up", GSH_LAPACK_EIGVALSH_UP},
        {"eig", GSH_LAPACK_EIG},
        {"lstsq", GSH_LAPACK_LSTSQ},
        {"lstsq_m", GSH_LAPACK_LSTSQ},
        {"lstsq_n", GSH_LAPACK_LSTSQ},
        {"eigh", -1},
        {"svd_x", -1},
        {"", -1},
    };
    for (size_t i = 0; i < GSH_COUNT(names); i++)
        if (!CHECK_INT(gsh_lapack_find(names[i].gufunc), names[i].routine))
            fprintf(stderr, "  %s\n", names[i].gufunc);
    for (int k = 0; k < GSH_LAPACK_COUNT; k++)
        CHECK_INT(gsh_lapack_find(gsh_lapack_info((enum gsh_lapack_routine)k)->name), k);
}

static void test_operands(void)
{
    const struct gsh_lapack_info *svd = gsh_lapack_info(GSH_LAPACK_SVD_S);
    CHECK_INT(svd->nin, 1);
    CHECK_INT(svd->nout, 3);
    CHECK(memcmp(svd->operands[3].dims, "pn", 2) == 0);
    CHECK_INT(svd->operands[2].ndim, 1);
    CHECK_INT(gsh_lapack_dtype(&svd->operands[2], GSH_COMPLEX64), GSH_FLOAT32);
    CHECK_INT(gsh_lapack_dtype(&svd->operands[1], GSH_COMPLEX64), GSH_COMPLEX64);
    const struct gsh_lapack_info *eig = gsh_lapack_info(GSH_LAPACK_EIG);
    CHECK_INT(gsh_lapack_dtype(&eig->operands[1], GSH_FLOAT64), GSH_COMPLEX128);
    CHECK_INT(gsh_lapack_info(GSH_LAPACK_DET)->operands[1].ndim, 0);
    const struct gsh_lapack_info *getrs = gsh_lapack_info(GSH_LAPACK_GETRS);
    CHECK_INT(getrs->nin, 3);
    CHECK_INT(gsh_lapack_dtype(&getrs->operands[1], GSH_COMPLEX64), GSH_INT32);
}

/* As ?gelsd reads its rcond. */
static void test_tolerance(void)
{
    CHECK(gsh_lapack_tolerance(0.25, GSH_FLOAT32) == 0.25);
    CHECK(gsh_lapack_tolerance(-1, GSH_FLOAT64) == 0x1p-53);
    CHECK(gsh_lapack_tolerance(0, GSH_COMPLEX128) == 0x1p-53);
    CHECK(gsh_lapack_tolerance(1, GSH_COMPLEX64) == 0x1p-24);
    CHECK(gsh_lapack_tolerance((double)NAN, GSH_FLOAT32) == 0x1p-24);
}

/* A value at the bound counts as 0, in double precision, whatever the values' own. */
static void test_rank(void)
{
    static const double doubles[] = {8, 4, 2, 0x1p-50, 0};
    static const float singles[] = {1, 0.1F, 0x1p-23F, 0}; /* 0.1F is more than 0.1 */
    CHECK_INT(gsh_lapack_rank(doubles, 5, 0.25, GSH_FLOAT64), 2);
    CHECK_INT(gsh_lapack_rank(doubles, 5, 0.2, GSH_COMPLEX128), 3);
    CHECK_INT(gsh_lapack_rank(doubles, 5, -1, GSH_FLOAT64), 3);
    CHECK_INT(gsh_lapack_rank(doubles + 4, 1, -1, GSH_FLOAT64), 0);
    CHECK_INT(gsh_lapack_rank(singles, 4, -1, GSH_COMPLEX64), 3);
    CHECK_INT(gsh_lapack_rank(singles, 4, 0.1, GSH_FLOAT32), 2);
}

/* What a system costs is told by the last input, its right-hand sides. */
static void test_launch_flops(void)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_LAPACK, .loop = GSH_FLOAT64, .nin = 3};
    launch.lapack =
        (struct gsh_lapack){.routine = GSH_LAPACK_GETRS,
                            .cores = {{{30, 30, 1}, {0}}, {{30, 1, 1}, {0}}, {{30, 4, 1}, {0}}}};
    CHECK_INT(gsh_launch_flops(&launch), 7200);
}

/* Which matrices of a batch are worked on side by side: the price of a batch. */
static void test_batches(void)
{
    CHECK(!gsh_lapack_is_many(1, 4));
    CHECK(gsh_lapack_is_many(2, 64));
    CHECK(!gsh_lapack_is_many(2, 65));
    CHECK(!gsh_lapack_is_many(1000, 513));
    CHECK_INT(gsh_lapack_info(GSH_LAPACK_EIG)->together, 0);
    CHECK(gsh_lapack_info(GSH_LAPACK_SVD_F)->together < gsh_lapack_info(GSH_LAPACK_INV)->together);
}

static void test_flops(void)
{
    static const int64_t square[] = {30, 30}, tall[] = {60, 30}, right[] = {30, 4};
    CHECK_INT(gsh_lapack_flops(GSH_LAPACK_SOLVE, square, right), 18000 + 7200);
    CHECK_INT(gsh_lapack_flops(GSH_LAPACK_CHOLESKY_LO, square, square), 9000);
    CHECK_INT(gsh_lapack_flops(GSH_LAPACK_QR_R_RAW, tall, tall), 90000);
    CHECK_INT(gsh_lapack_flops(GSH_LAPACK_GETRF, tall, tall), 45000);
    CHECK_INT(gsh_lapack_flops(GSH_LAPACK_TRTRS, square, right), 3600);
    CHECK_INT(gsh_lapack_flops(GSH_LAPACK_GELS, tall, right),
              90000 + 2 * 4 * 30 * (120 - 30) + 3600);
}

/* solve of 3 x 3 in Fortran order with 2 right-hand sides, over a batch of 4 x 5 where one matrix serves each row of 5. */
static struct gsh_launch make_solve(void)
{
    static char a[5 * 72], b[20 * 48], x[20 * 48];
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_LAPACK,
        .loop = GSH_FLOAT64,
        .nin = 2,
        .nout = 1,
        .operands = {{.dtype = GSH_FLOAT64, .address = (uint64_t)a},
                     {.dtype = GSH_FLOAT64, .address = (uint64_t)b},
                     {.dtype = GSH_FLOAT64, .address = (uint64_t)x}},
        .ndim = 2,
        .shape = {4, 5},
        .strides = {{0, 72}, {240, 48}, {48, 192}},
        .lapack = {.routine = GSH_LAPACK_SOLVE,
                   .cores = {{{3, 3, 1}, {8, 24, 0}},
                             {{3, 2, 1}, {16, 8, 0}},
                             {{3, 2, 1}, {16, 8, 0}}}},
    };
    return launch;
}

static void test_batch(void)
{
    static const int64_t dimensions[] = {5, 3, 2}, steps[] = {72, 48, 192, 8, 24, 16, 8, 16, 8};
    struct gsh_launch launch = make_solve();
    CHECK(!gsh_emu_lapack_supports(&launch));
    register_loop(GSH_LAPACK_SOLVE, 3, 6, NULL);
    CHECK(gsh_emu_lapack_supports(&launch));
    CHECK_INT(gsh_emu_lapack_run(&launch), GSH_OK);
    CHECK_INT(call_count, 4);
    for (unsigned i = 0; i < 4; i++) {
        CHECK(memcmp(calls[i].dimensions, dimensions, sizeof(dimensions)) == 0);
        CHECK(memcmp(calls[i].steps, steps, sizeof(steps)) == 0);
        for (unsigned k = 0; k < 3; k++)
            CHECK(calls[i].args[k] ==
                  (char *)launch.operands[k].address + i * launch.strides[k][0]);
    }
    launch.ndim = 0;
    call_count = 0;
    CHECK_INT(gsh_emu_lapack_run(&launch), GSH_OK);
    CHECK_INT(call_count, 1);
    CHECK_INT(calls[0].dimensions[0], 1);
    launch.ndim = GSH_MAX_DIMS;
    CHECK(!gsh_emu_lapack_supports(&launch));
}

static void test_errors(void)
{
    static const struct {
        int raised;
        enum gsh_status status;
    } cases[] = {{FE_INVALID, GSH_DECLINED},   {FE_OVERFLOW, GSH_DECLINED},
                 {FE_DIVBYZERO, GSH_DECLINED}, {FE_UNDERFLOW, GSH_OK},
                 {FE_INEXACT, GSH_OK},         {0, GSH_OK}};
    struct gsh_launch launch = make_solve();
    for (size_t i = 0; i < GSH_COUNT(cases); i++) {
        int raised = cases[i].raised;
        register_loop(GSH_LAPACK_SOLVE, 3, 6, &raised);
        feclearexcept(FE_ALL_EXCEPT);
        CHECK_INT(gsh_emu_lapack_run(&launch), cases[i].status);
        CHECK_INT(fetestexcept(FE_ALL_EXCEPT), 0);
    }
    int raised = FE_INVALID;
    register_loop(GSH_LAPACK_SOLVE, 3, 6, &raised);
    feraiseexcept(FE_DIVBYZERO);
    CHECK_INT(gsh_emu_lapack_run(&launch), GSH_DECLINED);
    CHECK_INT(fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
    raised = 0;
    CHECK_INT(gsh_emu_lapack_run(&launch), GSH_OK); /* what was raised before does not count */
    feclearexcept(FE_ALL_EXCEPT);
}

/* The loop gets the first output, which holds the input, and tau; the input is left alone. */
static void test_raw(void)
{
    static const int64_t dimensions[] = {2, 2, 3, 2}, steps[] = {48, 16, 24, 8, 8};
    double in[2][3][2], out[2][2][3] = {{{0}}}, tau[2][2];
    for (int i = 0; i < 12; i++)
        in[i / 6][i / 2 % 3][i % 2] = i + 1;
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_LAPACK,
        .loop = GSH_FLOAT64,
        .nin = 1,
        .nout = 2,
        .operands = {{.dtype = GSH_FLOAT64, .address = (uint64_t)in},
                     {.dtype = GSH_FLOAT64, .address = (uint64_t)out},
                     {.dtype = GSH_FLOAT64, .address = (uint64_t)tau}},
        .ndim = 1,
        .shape = {2},
        .strides = {{48}, {48}, {16}},
        .lapack = {.routine = GSH_LAPACK_QR_R_RAW,
                   .cores = {{{2, 3, 1}, {8, 16, 0}},
                             {{2, 3, 1}, {24, 8, 0}},
                             {{2, 1, 1}, {8, 0, 0}}}},
    };
    register_loop(GSH_LAPACK_QR_R_RAW, 2, 3, NULL);
    CHECK_INT(gsh_emu_lapack_run(&launch), GSH_OK);
    CHECK_INT(call_count, 1);
    CHECK(memcmp(calls[0].dimensions, dimensions, sizeof(dimensions)) == 0);
    CHECK(memcmp(calls[0].steps, steps, sizeof(steps)) == 0);
    CHECK(calls[0].args[0] == (char *)out && calls[0].args[1] == (char *)tau);
    for (int i = 0; i < 12; i++)
        CHECK(out[i / 6][i / 3 % 2][i % 3] == in[i / 6][i % 3][i / 3 % 2]);
}

int main(void)
{
    test_names();
    test_operands();
    test_tolerance();
    test_rank();
    test_launch_flops();
    test_batches();
    test_flops();
    test_batch();
    test_errors();
    test_raw();
    return check_result();
}
