/* SPDX-License-Identifier: Apache-2.0
 *
 * The launch that runs in place of the first call of its kind: as small as is enough, on memory of its own, with matrices that
 * are symmetric and positive definite; once; and none any more when the process ends.
 */
#include "backend.h"
#include "first_run.h"
#include "live.h"

#include <math.h>
#include <unistd.h>

#define SMALL 1024 /* rows of its matrices at most */

static struct gsh_backend backend;
static _Atomic unsigned runs, allocated, released;
static struct gsh_launch seen;
static double *numbers; /* the first operand's, column by column */

static enum gsh_status allocate(size_t size, uint64_t *address)
{
    allocated++;
    return gsh_hostemu_backend.allocate(size, address);
}

static void release(uint64_t address, size_t size)
{
    released++;
    gsh_hostemu_backend.release(address, size);
}

static enum gsh_status run(const struct gsh_launch *launch, unsigned row)
{
    (void)row;
    const struct gsh_core core = gsh_launch_core(launch, 0);
    seen = *launch;
    for (int64_t i = 0; i < core.extent[0]; i++)
        for (int64_t j = 0; j < core.extent[1]; j++)
            CHECK_INT(gsh_hostemu_backend.download(
                          &numbers[j * core.extent[0] + i],
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

/* False where it does not come to an end. */
static bool run_first(const struct gsh_launch *launch)
{
    gsh_first_run_want(launch);
    for (int left_ms = 20000; !gsh_first_run_is_over(launch) && left_ms > 0; left_ms--)
        usleep(1000);
    while (gsh_first_run_is_wanted())
        usleep(1000);
    return gsh_first_run_is_over(launch);
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

static void test_large(void)
{
    const struct gsh_launch launch = factorise(2, 1500);
    CHECK(!gsh_first_run_is_over(&launch));
    CHECK(run_first(&launch));
    CHECK_INT(runs, 1);
    CHECK_INT(gsh_launch_elements(&seen), 1);
    for (unsigned k = 0; k < 2; k++) {
        CHECK_INT(seen.lapack.cores[k].extent[0], SMALL);
        CHECK_INT(seen.lapack.cores[k].extent[1], SMALL);
        CHECK_INT(seen.lapack.cores[k].stride[0], launch.lapack.cores[k].stride[0]);
        CHECK(seen.operands[k].address != launch.operands[k].address);
    }
    check_symmetric(SMALL);
    CHECK(is_positive_definite(numbers, SMALL));
    CHECK_INT(allocated, 2);
    CHECK_INT(released, 2);
}

/* Many small matrices stay many. */
static void test_many(void)
{
    const struct gsh_launch launch = factorise(5000, 40), other = factorise(300, 50);
    CHECK(!gsh_first_run_is_over(&launch));
    CHECK(run_first(&launch));
    CHECK_INT(runs, 2);
    CHECK_INT(gsh_launch_elements(&seen), 16);
    CHECK_INT(seen.lapack.cores[0].extent[0], 40);
    CHECK(is_positive_definite(numbers, 40));
    CHECK(gsh_first_run_is_over(&other));
}

/* What needs too much memory counts as having run. */
static void test_too_large(void)
{
    struct gsh_launch launch = factorise(1, 200);
    for (unsigned k = 0; k < 2; k++)
        launch.lapack.cores[k].stride[0] = (int64_t)1 << 23;
    CHECK(run_first(&launch));
    CHECK_INT(runs, 2);
}

static void test_settled(void)
{
    struct gsh_launch launch = factorise(1, 100);
    launch.loop = GSH_COMPLEX128;
    gsh_first_run_settle();
    CHECK(run_first(&launch));
    CHECK_INT(runs, 2);
}

int main(void)
{
    setenv("GPUSHIM_DEVICE", "host", 1);
    if (!live_start())
        return CHECK_SKIP;
    numbers = malloc(sizeof(double) * SMALL * SMALL);
    backend = *gsh_backend_get();
    backend.allocate = allocate;
    backend.release = release;
    backend.run = run;
    gsh_backend_replace(&backend);
    gsh_device_start(true);
    test_large();
    test_many();
    test_too_large();
    test_settled();
    free(numbers);
    return live_end();
}
