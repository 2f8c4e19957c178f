/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating-point errors of device calls: one report per call that raised one, with the inputs of one element for each
 * kind, once the call is known to have run; none for calls that did not request them.
 */
#include "errors.h"

#include "backend.h"
#include "check.h"
#include "live.h"

#include <fenv.h>
#include <math.h>

enum { ALL_KINDS = 1 << GSH_ERROR_POLE | 1 << GSH_ERROR_OVERFLOW | 1 << GSH_ERROR_INVALID };
#define COUNT ((int64_t)100000)

static unsigned notified;

static void note(void)
{
    notified++;
}

/* out = a op b on the device; which errors are reported, as bits. */
static void run(enum gsh_op op, const double *a, const double *b, double *out, unsigned kinds)
{
    struct gsh_call call = live_call(op, a, b, 0, out, COUNT);
    call.errors = (struct gsh_error_request){.kinds = kinds, .modes = 7};
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
}

static double *filled(double value)
{
    double *array = live_doubles(COUNT, GSH_ARENA_HOST);
    for (int64_t i = 0; i < COUNT; i++)
        array[i] = value;
    return array;
}

static double *a, *b, *out;
static const struct gsh_backend *real;
static struct gsh_backend poor;

/* Memory for arrays is there, and none for what is found. */
static enum gsh_status allocate_arrays(size_t size, uint64_t *address)
{
    return size == COUNT * sizeof(double) ? real->allocate(size, address) : GSH_FAILED;
}

static enum gsh_status refuse_run(const struct gsh_launch *launch, unsigned row)
{
    (void)launch, (void)row;
    return GSH_FAILED;
}

static enum gsh_status refuse_group(const struct gsh_group *group, unsigned row,
                                    gsh_can_split *can_split, const void *item)
{
    (void)group, (void)row, (void)can_split, (void)item;
    return GSH_DECLINED;
}

/* A call whose errors would not be found stays on the host, until there is memory. */
static void test_no_memory(void)
{
    struct gsh_error_report report;
    struct gsh_call call = live_call(GSH_OP_DIVIDE, a, b, 0, out, COUNT);
    poor = *real;
    poor.allocate = allocate_arrays;
    gsh_backend_replace(&poor);
    a[3] = 1, b[3] = 0;
    run(GSH_OP_DIVIDE, a, b, out, 0);
    call.errors.kinds = ALL_KINDS;
    CHECK_INT(live_run(&call), GSH_REASON_MEMORY);
    CHECK(out[0] == 0.5 && isinf(out[3]));
    gsh_backend_replace(real);
    run(GSH_OP_DIVIDE, a, b, out, ALL_KINDS);
    gsh_dispatch_synchronize();
    CHECK(gsh_errors_fetch(0, &report) && report.found[GSH_ERROR_POLE]);
    b[3] = 2;
}

/* What the host computes in the device's stead: its errors are told too, and it leaves no flags. */
static void test_fallback(void)
{
    struct gsh_error_report report;
    if (gsh_option_number(GSH_OPTION_FUSION) == 0)
        return;
    a[7] = 4, b[7] = 0;
    run(GSH_OP_DIVIDE, a, b, out, ALL_KINDS);
    poor = *real;
    poor.run = refuse_run;
    poor.run_group = refuse_group;
    gsh_backend_replace(&poor);
    feclearexcept(FE_ALL_EXCEPT);
    gsh_dispatch_synchronize();
    CHECK_INT(fetestexcept(FE_DIVBYZERO), 0);
    gsh_backend_replace(real);
    if (CHECK(gsh_errors_fetch(0, &report)))
        CHECK(report.found[GSH_ERROR_POLE] && report.inputs[GSH_ERROR_POLE][0].f64 == 4 &&
              report.inputs[GSH_ERROR_POLE][1].f64 == 0);
    CHECK(!gsh_errors_fetch(0, &report) && isinf(out[7]) && out[0] == 0.5);
    b[7] = 2;
}

static void test_kinds(void)
{
    struct gsh_error_report report;
    a[500] = 1, b[500] = 0;              /* 1 / 0 */
    a[90000] = 1e300, b[90000] = 1e-300; /* overflows */
    a[99999] = 0, b[99999] = 0;          /* 0 / 0 */
    run(GSH_OP_DIVIDE, a, b, out, ALL_KINDS);
    gsh_dispatch_synchronize();
    CHECK_INT(notified, 1);
    if (!CHECK(gsh_errors_fetch(0, &report)))
        return;
    CHECK(report.launch.op == GSH_OP_DIVIDE && report.launch.loop == GSH_FLOAT64 &&
          report.modes == 7);
    const double expected[GSH_ERROR_KINDS][2] = {[GSH_ERROR_POLE] = {1, 0},
                                                 [GSH_ERROR_OVERFLOW] = {1e300, 1e-300},
                                                 [GSH_ERROR_INVALID] = {0, 0}};
    for (int kind = 0; kind < GSH_ERROR_KINDS; kind++)
        CHECK(report.found[kind] && report.inputs[kind][0].f64 == expected[kind][0] &&
              report.inputs[kind][1].f64 == expected[kind][1]);
    CHECK(!gsh_errors_fetch(0, &report));
    CHECK(isinf(out[500]) && isnan(out[99999]));
}

static void test_only_what_was_asked(void)
{
    struct gsh_error_report report;
    run(GSH_OP_DIVIDE, a, b, out, 0);
    run(GSH_OP_DIVIDE, a, b, out, 1 << GSH_ERROR_INVALID);
    run(GSH_OP_ADD, a, b, out, ALL_KINDS); /* nothing to report */
    CHECK(out[0] == 3.0);                  /* a download is a synchronisation too */
    if (CHECK(gsh_errors_fetch(0, &report)))
        CHECK(report.found[GSH_ERROR_INVALID] && !report.found[GSH_ERROR_POLE] &&
              !report.found[GSH_ERROR_OVERFLOW]);
    CHECK(!gsh_errors_fetch(0, &report));
}

/* More calls between two synchronisations than there are places. */
static void test_many(void)
{
    struct gsh_error_report report;
    struct gsh_call call = live_call(GSH_OP_DIVIDE, a, b, 0, out, 1);
    call.errors.kinds = ALL_KINDS;
    for (int i = 0; i < 10000; i++)
        CHECK_INT(live_run(&call), GSH_REASON_NONE);
    run(GSH_OP_SUBTRACT, filled(INFINITY), filled(INFINITY), out, ALL_KINDS);
    gsh_dispatch_synchronize();
    if (CHECK(gsh_errors_fetch(0, &report)))
        CHECK(report.launch.op == GSH_OP_SUBTRACT && report.found[GSH_ERROR_INVALID]);
    CHECK(!gsh_errors_fetch(0, &report));
}

/* A loop's report is its caller's alone. */
static void test_loop(void)
{
    struct gsh_error_report report;
    struct gsh_call call =
        live_call(GSH_OP_SUBTRACT, filled(INFINITY), filled(INFINITY), 0, out, 1);
    call.errors = (struct gsh_error_request){.kinds = ALL_KINDS, .is_loop = true};
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    gsh_dispatch_synchronize();
    CHECK(!gsh_errors_fetch(0, &report));
    CHECK(gsh_errors_fetch_own(&report) && report.is_loop && report.found[GSH_ERROR_INVALID]);
    CHECK(!gsh_errors_fetch_own(&report));
}

/* A call that waits has its report to itself, also where as many as are kept lie before it that nobody waits for. */
static void test_owner(void)
{
    struct gsh_error_report report;
    struct gsh_call call =
        live_call(GSH_OP_SUBTRACT, filled(INFINITY), filled(INFINITY), 0, out, 1);
    int late = 0;
    call.errors = (struct gsh_error_request){.kinds = ALL_KINDS};
    for (int i = 0; i < 5000; i++)
        CHECK_INT(live_run(&call), GSH_REASON_NONE);
    call.errors.owner = 7;
    CHECK_INT(live_run(&call), GSH_REASON_NONE);
    gsh_dispatch_synchronize();
    CHECK(!gsh_errors_fetch(8, &report));
    CHECK(gsh_errors_fetch(7, &report) && report.owner == 7 && report.found[GSH_ERROR_INVALID]);
    CHECK(!gsh_errors_fetch(7, &report));
    while (gsh_errors_fetch(0, &report))
        late += report.owner == 0;
    CHECK(late > 1000 && late <= 5000);
}

static void test_possible(void)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE, .nin = 2, .nout = 1};
    launch.op = GSH_OP_ADD;
    launch.loop = GSH_INT32;
    launch.operands[2].dtype = GSH_INT32;
    CHECK_INT(gsh_errors_possible(&launch), 0);
    launch.op = GSH_OP_FLOOR_DIVIDE;
    CHECK((gsh_errors_possible(&launch) & 1 << GSH_ERROR_POLE) != 0);
    launch.op = GSH_OP_NEGATIVE;
    launch.nin = 1;
    launch.loop = GSH_FLOAT64;
    launch.operands[1].dtype = GSH_FLOAT64;
    CHECK_INT(gsh_errors_possible(&launch), 0);
    launch.operands[1].dtype = GSH_FLOAT32; /* the cast of the result overflows */
    CHECK_INT(gsh_errors_possible(&launch), 1 << GSH_ERROR_OVERFLOW);
    launch.op = GSH_OP_COPY;
    launch.operands[0].dtype = GSH_FLOAT64;
    launch.operands[1].dtype = GSH_INT64;
    CHECK_INT(gsh_errors_possible(&launch), 1 << GSH_ERROR_INVALID);
}

int main(void)
{
    test_possible();
    if (!live_start())
        return CHECK_SKIP;
    gsh_errors_on_found(note);
    a = filled(1);
    b = filled(2);
    out = live_doubles(COUNT, GSH_ARENA_DEVICE);
    real = gsh_backend_get();
    test_no_memory();
    test_fallback();
    notified = 0;
    test_kinds();
    test_only_what_was_asked();
    test_many();
    test_loop();
    test_owner();
    return check_result();
}
