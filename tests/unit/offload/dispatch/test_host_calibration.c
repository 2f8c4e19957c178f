/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls took on the CPU corrects what they are priced at: faster at once, slower after three, by half and not for
 * ever; only products and LAPACK routines, only where the backend's rates are those of the CPU.
 */
#include "host_calibration.h"

#include "backend.h"
#include "check.h"
#include "clock.h"
#include "lapack.h"
#include "live.h"
#include "readiness.h"

#include <time.h>

enum { ROW = 7, SLOW_MS = 240 };

static struct gsh_launch routine(enum gsh_lapack_routine routine)
{
    return (struct gsh_launch){
        .kind = GSH_LAUNCH_LAPACK, .loop = GSH_FLOAT64, .lapack.routine = routine};
}

static void wait_ms(long ms)
{
    struct timespec rest = {.tv_nsec = ms * 1000000};
    nanosleep(&rest, NULL);
}

static void expect(const struct gsh_launch *launch, double priced)
{
    const struct gsh_verdict verdict = {.modelled = priced};
    gsh_host_calibration_expect(launch, ROW, &verdict, GSH_REASON_TOO_SMALL);
}

static void call_slow(const struct gsh_launch *launch, double priced)
{
    expect(launch, priced);
    gsh_host_calibration_begin();
    wait_ms(SLOW_MS);
    gsh_host_calibration_end(true);
}

static void call_fast(const struct gsh_launch *launch, double priced)
{
    expect(launch, priced);
    gsh_host_calibration_begin();
    gsh_host_calibration_end(true);
}

/* Prices that are raised until one more call is looked at. */
static int count_believed(const struct gsh_launch *launch, double priced)
{
    int count = 0;
    while (count < 1000 && gsh_host_calibration_factor(launch, priced) > 1)
        count++;
    return count;
}

static void test_slower(void)
{
    const struct gsh_launch svd = routine(GSH_LAPACK_SVD), eig = routine(GSH_LAPACK_EIG);
    CHECK(gsh_host_calibration_mean(&svd, 0.03) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(gsh_host_calibration_factor(&svd, 0.03) == 1);
        call_slow(&svd, 0.03);
    }
    CHECK(gsh_host_calibration_factor(&svd, 0.03) >= 4);
    CHECK(gsh_host_calibration_factor(&svd, 0.04) ==
          gsh_host_calibration_factor(&svd, 0.03)); /* of the same class */
    CHECK(gsh_host_calibration_factor(&svd, 0.3) == 1);
    CHECK(gsh_host_calibration_factor(&eig, 0.03) == 1);
    for (int i = 0; i < 100; i++) /* is not counted as a price that is raised */
        CHECK(gsh_host_calibration_mean(&svd, 0.03) >= 8);
    for (int calls = 8 - 3; calls <= 256; calls = calls < 8 ? 16 : 2 * calls) {
        CHECK_INT(count_believed(&svd, 0.03), calls);
        CHECK(gsh_host_calibration_factor(&svd, 0.03) == 1);
        call_slow(&svd, 0.03); /* one is enough */
    }
    CHECK_INT(count_believed(&svd, 0.03), 256);
    call_slow(&svd, 0.03);
    call_fast(&svd, 0.03);
    CHECK(gsh_host_calibration_factor(&svd, 0.03) < 1);
    for (int i = 0; i < 3; i++)
        call_slow(&svd, 0.03);
    CHECK_INT(count_believed(&svd, 0.03), 8);
}

static void test_faster(void)
{
    const struct gsh_launch qr = routine(GSH_LAPACK_QR_REDUCED);
    call_fast(&qr, 0.5);
    CHECK(gsh_host_calibration_factor(&qr, 0.5) < 0.1);
    CHECK(gsh_host_calibration_factor(&qr, 2) < 0.1 &&
          gsh_host_calibration_factor(&qr, 0.125) < 0.1);
    CHECK(gsh_host_calibration_factor(&qr, 0.03) == 1); /* no neighbour */
    for (int i = 0; i < 3; i++)
        call_slow(&qr, 0.125);
    CHECK(gsh_host_calibration_factor(&qr, 0.125) == 1); /* 240 ms are as good as 125 */
    CHECK(gsh_host_calibration_factor(&qr, 0.03) == 1);  /* a slow neighbour says nothing */
    CHECK(gsh_host_calibration_factor(&qr, 0.5) < 0.1);
}

static void test_kinds(void)
{
    struct gsh_launch det = routine(GSH_LAPACK_DET), other = det;
    call_fast(&det, 0.5);
    other.loop = GSH_FLOAT32;
    CHECK(gsh_host_calibration_factor(&det, 0.5) < 0.1 &&
          gsh_host_calibration_factor(&other, 0.5) == 1);
    other = det;
    other.ndim = 1;
    other.shape[0] = 2;
    CHECK(gsh_host_calibration_factor(&other, 0.5) == 1);
    struct gsh_launch product = {.kind = GSH_LAUNCH_GEMM, .loop = GSH_FLOAT64};
    call_fast(&product, 0.5);
    CHECK(gsh_host_calibration_factor(&product, 0.5) < 0.1);
    product.gemm.form = GSH_GEMM_SYRK;
    CHECK(gsh_host_calibration_factor(&product, 0.5) == 1);
    const struct gsh_launch loop = {.kind = GSH_LAUNCH_ELEMENTWISE, .loop = GSH_FLOAT64};
    call_fast(&loop, 0.5);
    CHECK(gsh_host_calibration_factor(&loop, 0.5) == 1);
}

/* Calls that are not over, that were not whole, or too short. */
static void test_none(void)
{
    const struct gsh_launch inv = routine(GSH_LAPACK_INV);
    expect(&inv, 1);
    CHECK(gsh_host_calibration_is_expected(ROW) && !gsh_host_calibration_is_expected(ROW + 1));
    gsh_host_calibration_end(true); /* it has not begun */
    CHECK(!gsh_host_calibration_is_expected(ROW));
    expect(&inv, 1);
    gsh_host_calibration_begin();
    gsh_host_calibration_end(false);
    gsh_host_calibration_end(true);
    expect(&inv, 1);
    gsh_host_calibration_begin();
    gsh_host_calibration_forget();
    gsh_host_calibration_end(true);
    expect(&inv, 1);
    gsh_host_calibration_begin();
    expect(&inv, 5e-5);
    gsh_host_calibration_end(true);
    CHECK(gsh_host_calibration_factor(&inv, 1) == 1);
    call_fast(&inv, 5e-5);
    CHECK(gsh_host_calibration_factor(&inv, 5e-5) == 1);
}

/* ---- in the price of a call ---- */

enum { SIDE = 200 };
static struct gsh_rates rates;
static struct gsh_backend backend;

static struct gsh_call offer(const double *a, const double *b, double *out)
{
    struct gsh_call call = {
        .launch = {.kind = GSH_LAUNCH_GEMM, .loop = GSH_FLOAT64, .nin = 2, .nout = 1}, .row = ROW};
    call.launch.gemm = (struct gsh_gemm){SIDE, SIDE, SIDE, SIDE,  1,     SIDE,        1, SIDE,
                                         1,    1,    0,    false, false, GSH_GEMM_GE, 0};
    const void *operands[] = {a, b, out};
    for (unsigned k = 0; k < 3; k++)
        call.launch.operands[k] =
            (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)operands[k]};
    return call;
}

/* Priced at 10 ms on the CPU, 40 ms on the device. */
static void test_price(void)
{
    double *a = live_doubles(SIDE * SIDE, GSH_ARENA_HOST),
           *c = live_doubles(SIDE * SIDE, GSH_ARENA_DEVICE);
    struct gsh_call call = offer(a, a, c), sum = live_call(GSH_OP_ADD, a, a, 0, c, SIDE * SIDE);
    rates.host_flops[1] = 2.0 * SIDE * SIDE * SIDE / 10e-3;
    rates.device_flops[1] = rates.host_flops[1] / 4;
    backend.calibrates_host = false;
    CHECK_INT(gsh_dispatch_decide(&call), GSH_REASON_NO_GAIN);
    CHECK(!gsh_host_calibration_is_expected(ROW));
    backend.calibrates_host = true;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(gsh_dispatch_decide(&call), GSH_REASON_NO_GAIN);
        CHECK(gsh_host_calibration_is_expected(ROW));
        gsh_host_calibration_begin();
        wait_ms(SLOW_MS);
        gsh_host_calibration_end(true);
    }
    CHECK_INT(gsh_dispatch_decide(&call), GSH_REASON_NONE);
    CHECK(!gsh_host_calibration_is_expected(ROW));
    backend.calibrates_host = false;
    CHECK_INT(gsh_dispatch_decide(&call), GSH_REASON_NO_GAIN);
    expect(&call.launch, 1);
    gsh_dispatch_decide(&sum); /* which is none of its own */
    CHECK(!gsh_host_calibration_is_expected(ROW));
}

/* A sum that is modelled at 80 ms on one core, takes 3 times that, or nothing, and would take next to nothing on the device. */
static void test_foregone(void)
{
    double *a = live_doubles(SIDE * SIDE, GSH_ARENA_HOST),
           *c = live_doubles(SIDE * SIDE, GSH_ARENA_DEVICE);
    struct gsh_call sum = live_call(GSH_OP_ADD, a, a, 0, c, SIDE * SIDE);
    const double host_call = rates.host_call;
    rates.host_call = 80e-3;
    backend.calibrates_host = true;
    const long taken_ms[] = {SLOW_MS, 0};
    for (int i = 0; i < 2; i++) {
        double before = gsh_readiness_foregone();
        CHECK_INT(gsh_dispatch_decide(&sum), GSH_REASON_NOT_STARTED);
        double counted = gsh_readiness_foregone() - before;
        CHECK(counted > 4e-3 && counted < 81e-3);
        CHECK(gsh_host_calibration_is_expected(sum.row));
        gsh_host_calibration_begin();
        wait_ms(taken_ms[i]);
        gsh_host_calibration_end(true);
        double measured = gsh_readiness_foregone() - before;
        CHECK(measured >= (double)taken_ms[i] * 1e-3 - 81e-3 &&
              measured <= (double)taken_ms[i] * 1e-3 + 90e-3);
        CHECK(gsh_readiness_gains() == gsh_readiness_foregone());
    }
    rates.host_call = host_call;
}

int main(void)
{
    test_slower();
    test_faster();
    test_kinds();
    test_none();
    setenv("GPUSHIM_DEVICE", "host", 1);
    setenv("GPUSHIM_MODE", "auto", 1);
    setenv("GPUSHIM_START_MS", "60000", 1);
    if (!live_start())
        return CHECK_SKIP;
    rates = *gsh_backend_get()->rates;
    backend = *gsh_backend_get();
    backend.rates = &rates;
    gsh_backend_replace(&backend);
    test_foregone();
    gsh_device_start(true);
    test_price();
    return live_end();
}
