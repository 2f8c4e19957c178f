/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs outside the arena. Their price includes the copy to the host and, where they are read, the upload. Elements
 * are copied one by one where others lie between them. Contents that the original reads are intact if the device
 * fails meanwhile.
 */
#include "unmanaged_output.h"

#include "backend.h"
#include "check.h"
#include "device.h"
#include "idle.h"
#include "live.h"
#include "price.h"

#include <math.h>

#define SIDE ((int64_t)64)
#define BYTES ((double)(SIDE * SIDE) * (double)sizeof(double))

static double plain[SIDE * SIDE];

static struct gsh_call product(const double *a, double *out, double beta)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_GEMM,
                                       .loop = GSH_FLOAT64,
                                       .nin = 2,
                                       .nout = 1,
                                       .gemm = {SIDE, SIDE, SIDE, SIDE, 1, SIDE, 1, SIDE, 1, 1,
                                                beta, false, false, GSH_GEMM_GE, 0}},
                            .row = gsh_stats_row("test", "dd->d")};
    for (unsigned k = 0; k < 3; k++)
        call.launch.operands[k] = (struct gsh_operand){
            .dtype = GSH_FLOAT64, .address = k < 2 ? (uint64_t)a : (uint64_t)out};
    return call;
}

static bool is_near(double x, double y)
{
    return fabs(x - y) <= 1e-9 * fabs(y);
}

static void test_price(const double *a, double *out)
{
    struct gsh_call there = product(a, out, 0), away = product(a, plain, 0);
    double way = gsh_cost_model_unmanaged_transfer(gsh_backend_get()->rates, BYTES);
    CHECK(is_near(gsh_price_call(&there, NULL).gain - gsh_price_call(&away, NULL).gain, way));
}

/* Transfers take a second each. */
static void make_transfers_slow(double host_call)
{
    static struct gsh_rates rates;
    static struct gsh_backend backend;
    backend = gsh_emu_backend;
    rates = *backend.rates;
    rates.transfer_call = 1;
    rates.host_call = host_call;
    backend.rates = &rates;
    gsh_backend_replace(&backend);
}

/* A matrix outside the arena that is both factors is uploaded once. */
static void test_same_factor(double *out)
{
    static double other[SIDE * SIDE];
    make_transfers_slow(1.5);
    struct gsh_call same = product(plain, out, 0), apart = product(plain, out, 0);
    apart.launch.operands[1].address = (uint64_t)other;
    CHECK_INT(gsh_price_call(&same, NULL).reason, GSH_REASON_NONE);
    plain[0] += 1; /* bytes that did not come before (recent_uploads.h) */
    CHECK_INT(gsh_price_call(&apart, NULL).reason, GSH_REASON_DATA_ON_HOST);
    gsh_backend_replace(&gsh_emu_backend);
}

/* Memory that a call brings for its results is slower than other memory that is not the arena's. */
static void test_slow_memory(double *out)
{
    static double other[SIDE * SIDE];
    static struct gsh_rates rates;
    static struct gsh_backend backend;
    backend = gsh_emu_backend;
    rates = *backend.rates;
    rates.host_call = 1;
    rates.transfer_unmanaged = 1;
    backend.rates = &rates;
    gsh_backend_replace(&backend);
    struct gsh_call there = product(plain, out, 0), away = product(plain, other, 0);
    CHECK_INT(gsh_price_call(&there, NULL).reason, GSH_REASON_NONE);
    CHECK_INT(gsh_price_call(&away, NULL).reason, GSH_REASON_NO_GAIN);
    gsh_backend_replace(&gsh_emu_backend);
}

/* Worth its way back, but not both ways. */
static void test_reading(const double *a)
{
    make_transfers_slow(2.5); /* the input, which is both factors, takes 1 s there */
    struct gsh_call writes = product(a, plain, 0), reads = product(a, plain, 1);
    CHECK_INT(gsh_price_call(&writes, NULL).reason, GSH_REASON_NONE);
    CHECK_INT(gsh_price_call(&reads, NULL).reason, GSH_REASON_DATA_ON_HOST);
    gsh_backend_replace(&gsh_emu_backend);
}

/* An elementwise launch does not pay for the way back. */
static void test_kinds(const double *a)
{
    struct gsh_call sum = live_call(GSH_OP_ADD, a, NULL, 1, plain, SIDE);
    CHECK(!gsh_unmanaged_output_is_taken(&sum.launch));
    CHECK_INT(gsh_dispatch_decide(&sum), GSH_REASON_UNMANAGED_OUTPUT);
    struct gsh_call big = product(a, plain, 0);
    CHECK(gsh_unmanaged_output_is_taken(&big.launch));
}

/* Two steps in every dimension, a batch of two, forwards and backwards; what lies between stays. */
static void test_strides(double *a)
{
    enum { STEP = 2, N = 3, LINE = 8, PLANE = 64 };
    for (int i = 0; i < PLANE * 2; i++) {
        a[i] = i;
        plain[i] = -1;
    }
    for (int backwards = 0; backwards < 2; backwards++) {
        int64_t sign = backwards ? -1 : 1;
        struct gsh_call call = product(a, plain, 0);
        struct gsh_launch *launch = &call.launch;
        launch->gemm = (struct gsh_gemm){
            N, N, 1, LINE, 1, 1, 1, sign * LINE, sign * STEP, 1, 0, false, false, GSH_GEMM_GE, 0};
        launch->ndim = 1;
        launch->shape[0] = 2;
        launch->strides[0][0] = launch->strides[2][0] = PLANE * (int64_t)sizeof(double);
        double *first = plain + (backwards ? (N - 1) * (LINE + STEP) : 0);
        launch->operands[2].address = (uint64_t)first;
        enum gsh_reason why;
        CHECK_INT(gsh_dispatch_run(&call, &why), GSH_OK);
        for (int b = 0; b < 2; b++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    if (!CHECK(first[b * PLANE + sign * (i * LINE + j * STEP)] ==
                               a[b * PLANE + i * LINE] * a[j]))
                        fprintf(stderr, "%d %d %d\n", b, i, j);
        CHECK(plain[1] == -1 && plain[LINE - 1] == -1 && plain[PLANE - 1] == -1);
    }
}

/* ---- devices that fail ---- */

enum { NEVER = -1, AT_FINISH = 0 };
static int fails_at,
    downloads; /* fails_at: NEVER, AT_FINISH, or the download that stops half-way each time it is tried */
static int into_arena; /* downloads that were tried */

static enum gsh_status finish(void)
{
    return fails_at == AT_FINISH ? GSH_FAILED : GSH_OK;
}

static enum gsh_status download(void *dst, uint64_t src, size_t size, bool registered)
{
    bool fails = downloads + 1 == fails_at;
    into_arena += gsh_arena_contains(dst);
    enum gsh_status status =
        gsh_emu_backend.download(dst, src, fails ? size / 2 : size, registered);
    downloads += !fails;
    return fails ? GSH_FAILED : status;
}

/* A factorisation that gives -2 everywhere. */
static enum gsh_status run(const struct gsh_launch *launch, unsigned row)
{
    if (launch->kind != GSH_LAUNCH_LAPACK)
        return gsh_emu_backend.run(launch, row);
    double *factors = (double *)launch->operands[1].address;
    int32_t *pivots = (int32_t *)launch->operands[2].address;
    for (int i = 0; i < SIDE * SIDE; i++)
        factors[i] = -2;
    for (int i = 0; i < SIDE; i++)
        pivots[i] = -2;
    return GSH_OK;
}

static enum gsh_status run_failing(const struct gsh_call *call, int at)
{
    static struct gsh_backend device;
    enum gsh_reason why = GSH_REASON_NONE;
    device = gsh_emu_backend;
    device.finish = finish;
    device.download = download;
    device.run = run;
    fails_at = at;
    downloads = into_arena = 0;
    gsh_backend_replace(&device);
    enum gsh_status status = gsh_dispatch_run(call, &why);
    gsh_backend_replace(&gsh_emu_backend);
    if (status != GSH_OK)
        CHECK_INT(why, GSH_REASON_DEVICE_FAILED);
    return status;
}

static void refill(void)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        plain[i] = i;
}

/* How many elements are no longer as refill left them. */
static int changed(void)
{
    int count = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        count += plain[i] != i;
    return count;
}

/* Factors in the place of the matrix, and pivots. */
static void test_failing_in_place(void)
{
    static int32_t pivots[SIDE];
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_LAPACK,
                                       .loop = GSH_FLOAT64,
                                       .nin = 1,
                                       .nout = 2,
                                       .lapack = {.routine = GSH_LAPACK_GETRF}},
                            .row = gsh_stats_row("test", "d->d")};
    void *const addresses[] = {plain, plain, pivots};
    for (unsigned k = 0; k < 3; k++) {
        call.launch.operands[k] = (struct gsh_operand){.dtype = k < 2 ? GSH_FLOAT64 : GSH_INT32,
                                                       .address = (uint64_t)addresses[k]};
        call.launch.lapack.cores[k] =
            k < 2 ? (struct gsh_core){{SIDE, SIDE, 1}, {8, SIDE * 8, 0}}
                  : (struct gsh_core){{SIDE, 1, 1}, {sizeof(*pivots), 0, 0}};
    }
    refill();
    for (int at = AT_FINISH; at <= 2; at++) {
        CHECK_INT(run_failing(&call, at), GSH_DECLINED);
        CHECK_INT(downloads, at == AT_FINISH ? 0 : at - 1);
        CHECK_INT(changed(), 0);
    }
    CHECK_INT(run_failing(&call, NEVER), GSH_OK);
    CHECK_INT(into_arena, 1); /* the factors: what they take the place of is read */
    CHECK_INT(changed(), SIDE * SIDE);
    CHECK(pivots[0] == -2 && pivots[SIDE - 1] == -2);
}

/* Where the sum is added to what is there, that stays; else the original writes it anew, once the device has ended. */
static void test_failing_product(const double *a)
{
    struct gsh_call adds = product(a, plain, 1), writes = product(a, plain, 0);
    refill();
    CHECK_INT(run_failing(&adds, AT_FINISH), GSH_DECLINED);
    CHECK_INT(run_failing(&adds, 1), GSH_DECLINED);
    CHECK_INT(run_failing(&writes, AT_FINISH), GSH_DECLINED);
    CHECK_INT(changed(), 0);
    CHECK_INT(run_failing(&adds, NEVER), GSH_OK);
    CHECK(changed() > 0);
}

int main(void)
{
    setenv("GPUSHIM_DEVICE", "host", 1);
    setenv("GPUSHIM_MODE", "auto", 1);
    if (!live_start())
        return CHECK_SKIP;
    gsh_idle_end(); /* its thread asks the backend, which is replaced here */
    double *a = live_doubles(SIDE * SIDE, GSH_ARENA_HOST);
    double *out = live_doubles(SIDE * SIDE, GSH_ARENA_DEVICE);
    test_price(a, out);
    test_same_factor(out);
    test_slow_memory(out);
    test_reading(a);
    test_kinds(a);
    gsh_device_start(true);
    test_strides(a);
    test_failing_in_place();
    test_failing_product(a);
    return check_result();
}
