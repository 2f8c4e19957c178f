/* SPDX-License-Identifier: Apache-2.0
 *
 * The launch that runs in place of the first call of its kind: as small as is enough, on memory of its own, with matrices that
 * are symmetric and positive definite; once; and none any more when the process ends.
 */
#include "backend.h"
#include "live.h"
#include "warm_up.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SMALL 1024 /* rows of its matrices at most */

static struct gsh_backend backend;
static _Atomic unsigned entered, runs, allocated, released, asked, begun;
static _Atomic bool is_open = true; /* the library of products */
static _Atomic unsigned run_us;
static struct gsh_launch seen;
static double *numbers; /* the first operand's, column by column */

static enum gsh_status allocate(size_t size, uint64_t *address)
{
    allocated++;
    return gsh_emu_backend.allocate(size, address);
}

static void release(uint64_t address, size_t size)
{
    released++;
    gsh_emu_backend.release(address, size);
}

static double opening(const struct gsh_launch *launch)
{
    asked++;
    return launch->kind == GSH_LAUNCH_GEMM && !is_open ? 1 : 0;
}

static void begin_opening(const struct gsh_launch *launch)
{
    (void)launch;
    begun++;
}

static enum gsh_status run(const struct gsh_launch *launch, unsigned row)
{
    (void)row;
    entered++;
    usleep(run_us);
    const struct gsh_core core = gsh_launch_core(launch, 0);
    seen = *launch;
    for (int64_t i = 0; i < core.extent[0] && launch->loop == GSH_FLOAT64; i++)
        for (int64_t j = 0; j < core.extent[1]; j++)
            CHECK_INT(
                gsh_emu_backend.download(&numbers[j * core.extent[0] + i],
                                         launch->operands[0].address +
                                             (uint64_t)(i * core.stride[0] + j * core.stride[1]),
                                         sizeof(double), false),
                GSH_OK);
    runs++;
    return GSH_DECLINED;
}

/* Cholesky factors of `batch` matrices of n rows of float64, in C order. */
static struct gsh_launch factorise(int64_t batch, int64_t n)
{
    const int64_t size = sizeof(double);
    struct gsh_launch launch = {.kind = GSH_LAUNCH_LAPACK,
                                .loop = GSH_FLOAT64,
                                .nin = 1,
                                .nout = 1,
                                .ndim = 1,
                                .shape = {batch},
                                .lapack = {.routine = GSH_LAPACK_CHOLESKY_LO}};
    for (unsigned k = 0; k < 2; k++) {
        launch.operands[k] = (struct gsh_operand){.dtype = GSH_FLOAT64, .address = 4096};
        launch.strides[k][0] = n * n * size;
        launch.lapack.cores[k] = (struct gsh_core){{n, n, 1}, {n * size, size, 0}};
    }
    return launch;
}

/* A product of two matrices of 2 x 2. */
static struct gsh_launch multiply(enum gsh_dtype loop)
{
    return (struct gsh_launch){
        .kind = GSH_LAUNCH_GEMM,
        .loop = loop,
        .nin = 2,
        .nout = 1,
        .gemm = {2, 2, 2, 2, 1, 2, 1, 2, 1, 1, 0, false, false, GSH_GEMM_GE, 0}};
}

static bool reaches(_Atomic unsigned *count, unsigned least)
{
    for (int left_ms = 20000; *count < least && left_ms > 0; left_ms--)
        usleep(1000);
    return *count >= least;
}

static bool comes_to(_Atomic unsigned *count, unsigned wanted)
{
    return reaches(count, wanted) && *count == wanted;
}

/* Wants it until so many have begun: the place of its kind may not be free yet. */
static bool begins(const struct gsh_launch *launch, unsigned count)
{
    for (int left_ms = 20000; entered != count && left_ms > 0; left_ms--) {
        gsh_warm_up_want(launch);
        usleep(1000);
    }
    return entered == count;
}

/* False where it does not come to an end. */
static bool run_first(const struct gsh_launch *launch)
{
    for (int left_ms = 20000; !gsh_warm_up_is_over(launch) && left_ms > 0; left_ms--) {
        gsh_warm_up_want(launch);
        usleep(1000);
    }
    return gsh_warm_up_is_over(launch);
}

/* Cholesky's factorisation, which ends early where the matrix is none that it is for. */
static bool is_positive_definite(double *a, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        for (int64_t k = 0; k < j; k++)
            for (int64_t i = j; i < n; i++)
                a[j * n + i] -= a[k * n + i] * a[k * n + j];
        if (!(a[j * n + j] > 0))
            return false;
        double pivot = sqrt(a[j * n + j]);
        for (int64_t i = j; i < n; i++)
            a[j * n + i] /= pivot;
    }
    return true;
}

static void check_symmetric(int64_t n)
{
    int64_t wrong = 0, zeros = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            wrong += numbers[i * n + j] != numbers[j * n + i];
            zeros += numbers[i * n + j] == 0;
        }
    CHECK_INT(wrong, 0);
    CHECK(zeros < n);
}

/* It waits for the device, and the thread for what is wanted. */
static void test_before_start(void)
{
    const struct gsh_launch launch = factorise(1, 60);
    gsh_warm_up_want(&launch);
    usleep(50000);
    CHECK_INT(runs, 0);
    gsh_device_start(true);
    CHECK(comes_to(&runs, 1));
    CHECK(run_first(&launch));
    CHECK_INT(runs, 1);
}

static _Atomic unsigned signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

static void *send_signal(void *receiver)
{
    usleep(50000);
    pthread_kill(*(const pthread_t *)receiver, SIGUSR1);
    return receiver;
}

/* To this thread, after 50 ms. */
static void signal_soon(void)
{
    static pthread_t receiver;
    pthread_t sender;
    receiver = pthread_self();
    CHECK(signal(SIGUSR1, count_signal) != SIG_ERR);
    CHECK_INT(pthread_create(&sender, NULL, send_signal, &receiver), 0);
    CHECK_INT(pthread_detach(sender), 0);
}

static void test_large(void)
{
    const struct gsh_launch launch = factorise(2, 1500), other = factorise(1, 600);
    CHECK(!gsh_warm_up_is_over(&launch));
    CHECK(run_first(&launch));
    CHECK_INT(runs, 2);
    CHECK_INT(gsh_launch_elements(&seen), 1);
    for (unsigned k = 0; k < 2; k++) {
        CHECK_INT(seen.lapack.cores[k].extent[0], SMALL);
        CHECK_INT(seen.lapack.cores[k].extent[1], SMALL);
        CHECK_INT(seen.lapack.cores[k].stride[0], SMALL * (int64_t)sizeof(double));
        CHECK(seen.operands[k].address != launch.operands[k].address);
    }
    check_symmetric(SMALL);
    CHECK(is_positive_definite(numbers, SMALL));
    CHECK_INT(allocated, 4);
    CHECK_INT(released, 4);
    CHECK(gsh_warm_up_is_over(&other));
}

/* Many small matrices stay many; a few that are not take the way of a single one. */
static void test_many(void)
{
    const struct gsh_launch launch = factorise(5000, 40), other = factorise(300, 50),
                            few = factorise(2, 200), one = factorise(1, 200);
    CHECK(!gsh_warm_up_is_over(&launch));
    CHECK(run_first(&launch));
    CHECK_INT(runs, 3);
    CHECK_INT(gsh_launch_elements(&seen), 16);
    CHECK_INT(seen.lapack.cores[0].extent[0], 40);
    CHECK(is_positive_definite(numbers, 40));
    CHECK(gsh_warm_up_is_over(&other));
    CHECK_INT(gsh_warm_up_is_over(&few), gsh_warm_up_is_over(&one));
}

/* Extents shrink in proportion: a tall matrix stays tall, and operands go on to agree. */
static void test_tall(void)
{
    struct gsh_launch launch = factorise(1, 2000);
    launch.lapack.cores[0].extent[0] = 8000;
    launch.lapack.cores[1].extent[0] = 1;
    launch.lapack.cores[1].stride[1] = 0;
    const struct gsh_launch small = gsh_warm_up_launch_make(&launch);
    CHECK_INT(small.lapack.cores[0].extent[0], SMALL);
    CHECK_INT(small.lapack.cores[0].extent[1], SMALL / 4);
    CHECK_INT(small.lapack.cores[1].extent[0], 1);
    CHECK_INT(small.lapack.cores[1].extent[1], SMALL / 4);
    CHECK(!gsh_warm_up_is_over(&launch));
}

static int64_t extent_of(char letter, int64_t m, int64_t n, int64_t r)
{
    switch (letter) {
    case 'm':
        return m;
    case 'n':
        return n;
    case 'r':
        return r;
    case 'q':
        return GSH_MAX(m, n);
    default: /* p; k may be that */
        return letter == 0 ? 1 : GSH_MIN(m, n);
    }
}

/* One matrix of each routine's operands. */
static struct gsh_launch any_routine(enum gsh_lapack_routine routine, int64_t m, int64_t n,
                                     int64_t r)
{
    const struct gsh_lapack_info *info = gsh_lapack_info(routine);
    struct gsh_launch launch = {.kind = GSH_LAUNCH_LAPACK,
                                .loop = GSH_COMPLEX64,
                                .nin = info->nin,
                                .nout = info->nout,
                                .lapack = {.routine = routine}};
    for (unsigned k = 0; k < info->nin + info->nout; k++) {
        const struct gsh_lapack_operand *operand = &info->operands[k];
        int64_t rows = extent_of(operand->dims[0], m, n, r),
                columns = extent_of(operand->dims[1], m, n, r);
        launch.operands[k].dtype = gsh_lapack_dtype(operand, launch.loop);
        int64_t size = (int64_t)gsh_dtype_size(launch.operands[k].dtype);
        launch.lapack.cores[k] =
            (struct gsh_core){{rows, columns, 1}, {size, columns > 1 ? size * rows : 0, 0}};
    }
    return launch;
}

/* The operands of every routine go on to agree. */
static void test_routines(void)
{
    static const int64_t shapes[][3] = {
        {8000, 2000, 70}, {3000, 3000, 9000}, {700, 5000, 1}, {1025, 1024, 1025}, {20, 20, 20}};
    for (int routine = 0; routine < GSH_LAPACK_COUNT; routine++)
        for (size_t s = 0; s < GSH_COUNT(shapes); s++) {
            const int64_t *e = shapes[s];
            const struct gsh_lapack_info *info = gsh_lapack_info((enum gsh_lapack_routine)routine);
            const struct gsh_launch launch =
                any_routine((enum gsh_lapack_routine)routine, e[0], e[1], e[2]);
            const struct gsh_launch small = gsh_warm_up_launch_make(&launch);
            int64_t m = small.lapack.cores[0].extent[0], n = small.lapack.cores[0].extent[1], r = 0;
            for (unsigned k = 0; k < info->nin + info->nout; k++)
                for (int d = 0; d < 2; d++)
                    r = info->operands[k].dims[d] == 'r' ? small.lapack.cores[k].extent[d] : r;
            if (info->operands[0].dims[1] == 'm')
                n = extent_of('n', m, n, r);
            const struct gsh_launch want = any_routine((enum gsh_lapack_routine)routine, m, n, r);
            for (unsigned k = 0; k < info->nin + info->nout; k++)
                CHECK(memcmp(&small.lapack.cores[k], &want.lapack.cores[k],
                             sizeof want.lapack.cores[k]) == 0);
            CHECK(GSH_MAX(GSH_MAX(m, n), r) <= SMALL);
            CHECK(m > 0 && n > 0);
        }
}

static void test_product(void)
{
    const struct gsh_launch launch = {
        .kind = GSH_LAUNCH_GEMM,
        .loop = GSH_FLOAT32,
        .nin = 2,
        .nout = 1,
        .ndim = 1,
        .shape = {50},
        .strides = {{0}, {1 << 30}, {1 << 26}},
        .gemm = {4096, 2048, 8192, 8192, 1, 1, 16384, 2048, 1, 1, 0, false, false, GSH_GEMM_GE, 0}};
    const struct gsh_launch small = gsh_warm_up_launch_make(&launch);
    const struct gsh_gemm *g = &small.gemm;
    CHECK_INT(g->m, 512);
    CHECK_INT(g->n, 256);
    CHECK_INT(g->k, 1024);
    CHECK(g->a_row == 1024 && g->a_col == 1 && g->b_row == 1 && g->b_col == 1024);
    CHECK(g->c_row == 256 && g->c_col == 1);
    CHECK_INT(small.shape[0], 2);
    CHECK_INT(small.strides[0][0], 0);
    CHECK_INT(small.strides[1][0], 1024 * 256 * 4);
}

/* What needs too much memory, here a transform of lines far apart, counts as having run. */
static void test_too_large(void)
{
    struct gsh_launch launch = factorise(2, 8);
    launch.kind = GSH_LAUNCH_FFT;
    launch.strides[0][0] = launch.strides[1][0] = (int64_t)1 << 30;
    launch.fft = (struct gsh_fft){.rank = 1, .length = {8}, .factor = 1};
    launch.fft.cores[0] = launch.fft.cores[1] = (struct gsh_core){{8, 1, 1}, {16, 0, 0}};
    CHECK(run_first(&launch));
    CHECK_INT(runs, 3);
}

/* While one kind waits for its library another one is served, and the library is opened. */
static void test_opening(void)
{
    const struct gsh_launch launch = factorise(1, 30), product = multiply(GSH_FLOAT64);
    is_open = false;
    gsh_warm_up_want(&product);
    CHECK(reaches(&begun, 1));
    CHECK(!gsh_warm_up_is_over(&product));
    CHECK(run_first(&launch));
    CHECK_INT(runs, 4);
    is_open = true;
    CHECK(comes_to(&runs, 5));
}

/* A signal that the program handles does not end the wait for what goes on. What waits for a library that is being opened is
 * given up: nothing is asked of the driver from then on. */
static void test_settled(void)
{
    struct gsh_launch launch = factorise(1, 100), later = factorise(1, 100);
    launch.loop = GSH_COMPLEX128;
    later.loop = GSH_COMPLEX64;
    const struct gsh_launch waiting = multiply(GSH_COMPLEX128);
    run_us = 300000;
    CHECK(begins(&launch, 6));
    CHECK_INT(runs, 5);
    is_open = false;
    gsh_warm_up_want(&waiting);
    signal_soon();
    gsh_warm_up_settle();
    CHECK_INT(runs, 6);
    CHECK_INT(signals, 1);
    usleep(20000);
    unsigned before = begun;
    usleep(50000);
    CHECK_INT(begun, before);
    CHECK(gsh_warm_up_is_over(&waiting));
    is_open = true;
    CHECK(run_first(&later));
    CHECK_INT(runs, 6);
}

/* What a call has run itself while it waited for its library is not run again. */
static void test_run_by_a_call(void)
{
    unsigned before = entered;
    const struct gsh_launch product = multiply(GSH_FLOAT32);
    is_open = false;
    begun = 0;
    gsh_warm_up_want(&product);
    CHECK(reaches(&begun, 1));
    gsh_warm_up_note(&product);
    is_open = true;
    usleep(50000);
    CHECK_INT(entered, before);
}

/* What is not alike is told apart, but for a few. */
static void test_names(void)
{
    static const enum gsh_dtype loops[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64, GSH_COMPLEX128};
    static const int64_t sizes[] = {30, 100, 1000};
    unsigned same = 0;
    for (int routine = 0; routine < GSH_LAPACK_COUNT; routine++)
        for (size_t l = 0; l < GSH_COUNT(loops); l++)
            for (size_t s = 0; s < GSH_COUNT(sizes); s++) {
                struct gsh_launch launch = factorise(1, sizes[s]);
                launch.lapack.routine = (enum gsh_lapack_routine)routine;
                launch.loop = loops[l];
                same += gsh_warm_up_is_over(&launch);
                gsh_warm_up_note(&launch);
            }
    CHECK(same < 30); /* the few that other tests have run among them */
}

/* Nothing is wanted of it, nothing waits for it. */
static void test_retired(void)
{
    struct gsh_launch launch = factorise(1, 100);
    launch.loop = GSH_FLOAT32;
    is_open = false;
    gsh_device_retire("a test wants it so");
    gsh_warm_up_want(&launch);
    usleep(50000);
    unsigned before = asked;
    usleep(50000);
    CHECK_INT(asked, before);
}

int main(void)
{
    setenv("GPUSHIM_DEVICE", "host", 1);
    setenv("GPUSHIM_MODE", "auto", 1);
    if (!live_start())
        return CHECK_SKIP;
    numbers = malloc(sizeof(double) * SMALL * SMALL);
    backend = *gsh_backend_get();
    backend.allocate = allocate;
    backend.release = release;
    backend.run = run;
    backend.opening = opening;
    backend.begin_opening = begin_opening;
    gsh_backend_replace(&backend);
    test_tall();
    test_routines();
    test_product();
    test_before_start();
    test_large();
    test_many();
    test_too_large();
    test_opening();
    test_run_by_a_call();
    test_settled();
    test_retired();
    test_names();
    free(numbers);
    return live_end();
}
