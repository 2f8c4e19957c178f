/* SPDX-License-Identifier: Apache-2.0
 *
 * The device is started once the calls before would have paid for it. A kernel is compiled beside the host's work when it is
 * first wanted; a library of the device is opened beside the host's work once the calls that it would have made faster have
 * reached its price; a call takes it as soon as it is open, and waits for it where it gains much more than that by itself, but no
 * longer than it gains.
 */
#include "backend.h"
#include "check.h"
#include "clock.h"
#include "device.h"
#include "library_gains.h"
#include "live.h"
#include "readiness.h"

#include <unistd.h>

#define SIDE ((int64_t)256)

static _Atomic bool is_open, is_begun;
static unsigned opens_in; /* looks at the library, until it is open; 0: it stays as it is */

static double load_seconds(const struct gsh_launch *launch)
{
    if (opens_in != 0 && --opens_in == 0)
        is_open = true;
    return launch->kind == GSH_LAUNCH_GEMM && !is_open ? 1e-1 : 0;
}

static void begin_loading(const struct gsh_launch *launch)
{
    CHECK_INT(launch->kind, GSH_LAUNCH_GEMM);
    is_begun = true;
}

static double *make_ones(void)
{
    double *a = live_doubles(SIDE * SIDE, GSH_ARENA_HOST);
    for (int64_t i = 0; i < SIDE * SIDE; i++)
        a[i] = 1;
    return a;
}

static enum gsh_reason offer(double *a, double *out)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_GEMM,
                                       .loop = GSH_FLOAT64,
                                       .nin = 2,
                                       .nout = 1,
                                       .gemm = {SIDE, SIDE, SIDE, SIDE, 1, SIDE, 1, SIDE, 1, 1, 0,
                                                false, false, GSH_GEMM_GE, 0}},
                            .row = gsh_stats_row("matmul", "dd->d")};
    for (unsigned k = 0; k < 3; k++)
        call.launch.operands[k] =
            (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)(k < 2 ? a : out)};
    return gsh_dispatch_decide(&call);
}

static struct gsh_rates rates;
static struct gsh_backend backend;

/* A device that takes no time, once it is started, beside a host that takes 4 ms for a product. */
static bool prepare(const char *start_ms)
{
    if (!live_start_auto(start_ms))
        return false;
    rates = live_instant_rates();
    rates.host_flops[1] = 2.0 * SIDE * SIDE * SIDE / 4e-3;
    backend = *gsh_backend_get();
    backend.rates = &rates;
    backend.load_seconds = load_seconds;
    backend.begin_loading = begin_loading;
    gsh_backend_replace(&backend);
    return true;
}

static bool start(void)
{
    if (!prepare("0"))
        return false;
    gsh_device_start(true);
    return true;
}

/* ---- compiling ---- */

static bool is_built;
static unsigned asked;

static bool build(const struct gsh_launch *launch)
{
    asked++;
    CHECK_INT(launch->ndim, 1);
    CHECK_INT(launch->errors.claims != 0, launch->op == GSH_OP_DIVIDE);
    return is_built;
}

static enum gsh_reason offer_elements(enum gsh_op op, const double *a, double *out)
{
    struct gsh_call call = live_call(op, a, a, 0, out, SIDE * SIDE);
    call.errors.kinds = op == GSH_OP_DIVIDE;
    return gsh_dispatch_decide(&call);
}

static int check_compiling(bool waits)
{
    if (!start())
        return CHECK_SKIP;
    backend.build = build;
    rates.compile = 0.1;
    rates.host_cached = rates.host_memory =
        3.0 * SIDE * SIDE * sizeof(double) / 4e-3; /* 4 ms a call */
    double *a = make_ones(), *out = live_doubles(SIDE * SIDE, GSH_ARENA_DEVICE);
    if (waits) {
        CHECK_INT(offer_elements(GSH_OP_ADD, a, out), GSH_REASON_NONE);
        CHECK_INT(asked, 0);
        return check_result();
    }
    CHECK_INT(offer_elements(GSH_OP_ADD, a, out), GSH_REASON_NOT_COMPILED);
    CHECK_INT(offer_elements(GSH_OP_ADD, a, out), GSH_REASON_NOT_COMPILED);
    CHECK_INT(offer_elements(GSH_OP_DIVIDE, a, out), GSH_REASON_NOT_COMPILED);
    CHECK_INT(asked, 3);
    is_built = true;
    CHECK_INT(offer_elements(GSH_OP_ADD, a, out), GSH_REASON_NONE);
    is_built = false; /* it is not asked again, but for another kernel of the op */
    CHECK_INT(offer_elements(GSH_OP_ADD, a, out), GSH_REASON_NONE);
    CHECK_INT(asked, 4);
    struct gsh_call call = live_call(GSH_OP_ADD, a, NULL, 2, out, SIDE * SIDE);
    CHECK_INT(gsh_dispatch_decide(&call), GSH_REASON_NOT_COMPILED);
    call = live_call(GSH_OP_ADD, a + SIDE * SIDE - 1, a, 0, out, SIDE * SIDE);
    call.launch.strides[0][0] *= -1;
    CHECK_INT(gsh_dispatch_decide(&call), GSH_REASON_NOT_COMPILED);
    CHECK_INT(asked, 6);
    call = live_call(GSH_OP_ADD, a + 1, a + 1, 0, out, SIDE * SIDE - 16); /* another alignment */
    CHECK_INT(gsh_dispatch_decide(&call), GSH_REASON_NOT_COMPILED);
    CHECK_INT(asked, 7);
    rates.host_cached = rates.host_memory /= 200; /* 800 ms: it waits */
    CHECK_INT(offer_elements(GSH_OP_DIVIDE, a, out), GSH_REASON_NONE);
    CHECK_INT(asked, 7);
    gsh_arena_free(a);
    gsh_arena_free(out);
    return check_result();
}

/* ---- opening ---- */

static void offer_often(double *a, double *out, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        CHECK_INT(offer(a, out), GSH_REASON_NOT_STARTED);
}

static int check_calls(bool is_forced)
{
    if (!start())
        return CHECK_SKIP;
    double *a = make_ones(), *out = live_doubles(SIDE * SIDE, GSH_ARENA_DEVICE);
    if (is_forced) {
        CHECK_INT(offer(a, out), GSH_REASON_NONE);
        CHECK(!is_begun);
        return check_result();
    }
    offer_often(a, out, 9);
    CHECK(!is_begun); /* 36 ms by now, of 40 */
    offer_often(a, out, 2);
    CHECK(is_begun);
    CHECK_INT(offer(a, out), GSH_REASON_NOT_STARTED);
    rates.host_flops[1] /= 200; /* 800 ms: it waits as long, then the CPU does it */
    uint64_t before_ns = gsh_clock_ns();
    CHECK_INT(offer(a, out), GSH_REASON_NOT_STARTED);
    CHECK(gsh_clock_ns() - before_ns > UINT64_C(500000000));
    opens_in = 5;
    CHECK_INT(offer(a, out), GSH_REASON_NONE);
    rates.host_flops[1] *= 200;
    CHECK(is_open);
    CHECK_INT(offer(a, out), GSH_REASON_NONE);
    gsh_arena_free(a);
    gsh_arena_free(out);
    return check_result();
}

/* What the calls before have foregone starts the device, the call itself only where it is long. */
static int check_starting(double call_ms, unsigned calls_before)
{
    if (!prepare("10"))
        return CHECK_SKIP;
    rates.host_flops[1] *= 4 / call_ms;
    rates.start = 1e3;
    double *a = live_doubles(SIDE * SIDE, GSH_ARENA_HOST),
           *out = live_doubles(SIDE * SIDE, GSH_ARENA_DEVICE);
    for (unsigned i = 0; i < calls_before; i++)
        CHECK_INT(offer(a, out), GSH_REASON_NOT_STARTED);
    CHECK_INT(gsh_device_get_state(), GSH_DEVICE_IDLE);
    (void)offer(a, out); /* the device may be ready by then */
    CHECK(gsh_device_get_state() != GSH_DEVICE_IDLE);
    gsh_arena_free(a);
    gsh_arena_free(out);
    return check_result();
}

static int start_after_some(void)
{
    return check_starting(4, 3);
}

static int start_after_one(void)
{
    return check_starting(20, 1);
}

static int start_at_once(void)
{
    return check_starting(60, 0);
}

/* What calls were declined for before the device was there counts: the library is opened as soon as it is. */
static int open_ahead(void)
{
    if (!prepare("1000000"))
        return CHECK_SKIP;
    double *a = live_doubles(SIDE * SIDE, GSH_ARENA_HOST),
           *out = live_doubles(SIDE * SIDE, GSH_ARENA_DEVICE);
    offer_often(a, out, 9);
    gsh_library_gains_prepare();
    CHECK(!is_begun);
    offer_often(a, out, 2);
    CHECK(!is_begun);
    gsh_device_start(true);
    CHECK(is_begun);
    gsh_arena_free(a);
    gsh_arena_free(out);
    return check_result();
}

static double first_run_seconds(const struct gsh_launch *launch)
{
    return launch->loop == GSH_FLOAT64 ? 10e-3 : 0;
}

/* A routine's first run is made once calls of 4 ms have gained what it takes; then it takes nothing more. */
static int first_run(void)
{
    if (!start())
        return CHECK_SKIP;
    is_open = true;
    double *a = make_ones(), *out = live_doubles(SIDE * SIDE, GSH_ARENA_DEVICE);
    backend.first_run_seconds = first_run_seconds;
    offer_often(a, out, 2);
    for (unsigned i = 0; i < 3; i++)
        CHECK_INT(offer(a, out), GSH_REASON_NONE);
    gsh_arena_free(a);
    gsh_arena_free(out);
    return check_result();
}

/* A library that is expected is opened as soon as the device is there; it is one that calls have used once one wants it. */
static int open_expected(void)
{
    if (!prepare("1000000"))
        return CHECK_SKIP;
    gsh_library_gains_expect(UINT32_C(1) << GSH_LAUNCH_GEMM | UINT32_C(1) << GSH_LAUNCH_FFT);
    gsh_device_start(true);
    CHECK(is_begun);
    CHECK_INT(gsh_library_gains_worthwhile(), 0);
    CHECK(gsh_readiness_gains() == 0);
    is_open = true;
    double *a = make_ones(), *out = live_doubles(SIDE * SIDE, GSH_ARENA_DEVICE);
    CHECK_INT(offer(a, out), GSH_REASON_NONE);
    CHECK_INT(gsh_library_gains_worthwhile(), UINT32_C(1) << GSH_LAUNCH_GEMM);
    double gains = gsh_readiness_gains();
    CHECK(gains > 3e-3 && gains < 5e-3);
    CHECK(gsh_readiness_foregone() == 0);
    gsh_arena_free(a);
    gsh_arena_free(out);
    return check_result();
}

/* What calls have foregone pays for the library first, at most its price, and then for the start. Where the next process opens it
 * while Python imports, it is half of that; calls that gain so much make it one to open then. */
static int library_price(void)
{
    if (!prepare("-1"))
        return CHECK_SKIP;
    rates.start = 1000;
    double *a = make_ones(), *out = make_ones();
    offer_often(a, out, 4);
    CHECK(gsh_readiness_start_price() > 400.015 && gsh_readiness_start_price() < 400.017);
    CHECK(gsh_readiness_start_price_foreseen() == gsh_readiness_start_price());
    CHECK_INT(gsh_library_gains_worthwhile(), 0);
    offer_often(a, out, 8);
    CHECK(gsh_readiness_start_price() == 400.04);
    CHECK(gsh_readiness_start_price_foreseen() == 400.02);
    CHECK_INT(gsh_library_gains_worthwhile(), UINT32_C(1) << GSH_LAUNCH_GEMM);
    CHECK(!is_begun);
    is_open = true;
    CHECK(gsh_readiness_start_price() == 400);
    return check_result();
}

/* ---- products with kernels of their own ---- */

/* The last `columns` columns of a matrix, transposed, times a vector. */
static enum gsh_reason offer_vector(double *a, double *out, int64_t columns)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_GEMM,
                                       .loop = GSH_FLOAT64,
                                       .nin = 2,
                                       .nout = 1,
                                       .gemm = {1, columns, SIDE, SIDE, 1, SIDE, 1, SIDE, 1, 1, 0,
                                                false, false, GSH_GEMM_GE, 0}},
                            .row = gsh_stats_row("matmul", "dd->d")};
    rates.host_flops[1] = 2.0 * SIDE * (double)columns / 4e-3; /* 4 ms a call */
    for (unsigned k = 0; k < 3; k++)
        call.launch.operands[k] =
            (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)(k < 2 ? a : out)};
    return gsh_dispatch_decide(&call);
}

static bool build_vector(const struct gsh_launch *launch)
{
    asked++;
    CHECK_INT(launch->kind, GSH_LAUNCH_GEMM);
    return is_built;
}

/* They wait for their kernel, of which shapes and layouts have others, and for no library. */
static int narrow_products(void)
{
    if (!start())
        return CHECK_SKIP;
    double *a = make_ones(), *out = live_doubles(SIDE * SIDE, GSH_ARENA_DEVICE);
    backend.build = build_vector;
    backend.load_seconds = NULL;
    rates.compile = 0.1;
    CHECK_INT(offer_vector(a, out, SIDE), GSH_REASON_NOT_COMPILED);
    is_built = true;
    CHECK_INT(offer_vector(a, out, SIDE), GSH_REASON_NONE);
    CHECK_INT(offer_vector(a, out, SIDE), GSH_REASON_NONE);
    CHECK_INT(asked, 2);
    is_built = false;
    CHECK_INT(offer_vector(a, out, SIDE / 2), GSH_REASON_NOT_COMPILED);
    CHECK_INT(asked, 3);
    return check_result();
}

/* What they forego does not pay for a library. */
static int narrow_products_price(void)
{
    if (!prepare("-1"))
        return CHECK_SKIP;
    rates.start = 1000;
    double *a = make_ones(), *out = make_ones();
    for (unsigned k = 0; k < 50; k++)
        CHECK_INT(offer_vector(a, out, SIDE), GSH_REASON_NOT_STARTED);
    CHECK(gsh_readiness_foregone() > 0);
    CHECK(gsh_readiness_start_price() == 400);
    CHECK_INT(gsh_library_gains_worthwhile(), 0);
    return check_result();
}

/* A quarter of what the start takes where loops gain, two fifths of it where products do; an option's price is the same for both. */
static int start_price(void)
{
    if (!prepare("-1"))
        return CHECK_SKIP;
    rates.start = 1000;
    is_open = true;
    double *a = make_ones(), *out = make_ones();
    CHECK(gsh_readiness_start_price() == 250);
    CHECK_INT(offer(a, out), GSH_REASON_NOT_STARTED);
    CHECK(gsh_readiness_start_price() == 400);
    rates.host_call = 1;
    CHECK_INT(offer_elements(GSH_OP_ADD, a, out), GSH_REASON_NOT_STARTED);
    CHECK(gsh_readiness_start_price() > 250 && gsh_readiness_start_price() < 260);
    CHECK(gsh_readiness_start_price_of(1, 0) == 250);
    CHECK(gsh_readiness_start_price_of(1, UINT32_C(1) << GSH_LAUNCH_GEMM) == 400);
    CHECK(gsh_readiness_start_price_of(1, UINT32_C(1) << GSH_LAUNCH_FFT) == 250);
    return check_result();
}

static int compile_beside(void)
{
    return check_compiling(false);
}

/* Where nothing is to be compiled beside the script, calls wait for it. */
static int compile_here(void)
{
    setenv("GPUSHIM_BACKGROUND", "0", 1);
    return check_compiling(true);
}

static int open_beside(void)
{
    return check_calls(false);
}

/* A program that names a size from which on calls run on the device does not ask what they gain. */
static int open_here(void)
{
    setenv("GPUSHIM_MIN_FLOPS", "1000", 1);
    return check_calls(true);
}

/* Each in a process of its own: a device is started once. */
int main(void)
{
    int (*const checks[])(void) = {compile_beside,   compile_here,         open_beside,
                                   open_here,        open_ahead,           open_expected,
                                   start_after_some, start_after_one,      start_at_once,
                                   start_price,      library_price,        first_run,
                                   narrow_products,  narrow_products_price};
    for (unsigned i = 0; i < GSH_COUNT(checks); i++)
        check_in_child(checks[i]);
    return check_result();
}
