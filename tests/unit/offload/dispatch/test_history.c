/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that the device refuses are computed twice: after each of a series twice as many are left to the CPU, until one
 * succeeds. And of what it makes, the share that the host fetches is known.
 */
#include "history.h"

#include "backend.h"
#include "live.h"

#define SIDE ((int64_t)64)

static bool is_refusing;

static enum gsh_status run(const struct gsh_launch *launch, unsigned row)
{
    (void)row;
    CHECK_INT(launch->kind, GSH_LAUNCH_LAPACK);
    return is_refusing ? GSH_DECLINED : GSH_OK;
}

static bool supports(const struct gsh_launch *launch)
{
    return launch->kind == GSH_LAUNCH_LAPACK;
}

static struct gsh_rates rates;
static struct gsh_backend backend;
static double *a, *out;

/* A device that takes no time, beside a CPU that takes a second for a factorisation. */
static bool start(const char *mode)
{
    setenv("GPUSHIM_DEVICE", "host", 1);
    setenv("GPUSHIM_MODE", mode, 1);
    setenv("GPUSHIM_START_MS", "0", 1);
    if (!live_start())
        return false;
    gsh_device_start(true);
    rates = live_instant_rates();
    rates.host_flops[1] = (double)(SIDE * SIDE * SIDE) / 3;
    backend = *gsh_backend_get();
    backend.rates = &rates;
    backend.run = run;
    backend.supports = supports;
    gsh_backend_replace(&backend);
    a = live_doubles(SIDE * SIDE, GSH_ARENA_HOST);
    out = live_doubles(SIDE * SIDE, GSH_ARENA_DEVICE);
    for (int64_t i = 0; i < SIDE * SIDE; i++)
        a[i] = 1;
    return true;
}

static enum gsh_reason factor(const char *row, bool refuses)
{
    const struct gsh_core core = {.extent = {SIDE, SIDE, 1},
                                  .stride = {SIDE * (int64_t)sizeof *a, sizeof *a, 0}};
    struct gsh_call call = {
        .launch = {.kind = GSH_LAUNCH_LAPACK,
                   .loop = GSH_FLOAT64,
                   .nin = 1,
                   .nout = 1,
                   .lapack = {.routine = GSH_LAPACK_CHOLESKY_LO, .cores = {core, core}}},
        .fresh = {true},
        .row = gsh_stats_row(row, "d->d")};
    call.launch.operands[0] = (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)a};
    call.launch.operands[1] = (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)out};
    is_refusing = refuses;
    return live_run(&call);
}

/* How many of the calls, all of them refused, the device got. */
static unsigned count_tries(const char *row, unsigned calls)
{
    unsigned tries = 0;
    for (unsigned k = 0; k < calls; k++) {
        enum gsh_reason why = factor(row, true);
        CHECK(why == GSH_REASON_NUMERICAL || why == GSH_REASON_REFUSED_LATELY);
        tries += why == GSH_REASON_NUMERICAL;
    }
    return tries;
}

static int check_series(void)
{
    if (!start("auto"))
        return CHECK_SKIP;
    CHECK_INT(factor("some", false), GSH_REASON_NONE);
    CHECK_INT(count_tries("some", 11), 4); /* one, two and four of them sat out */
    for (unsigned k = 0; k < 8; k++)
        CHECK_INT(factor("some", false), GSH_REASON_REFUSED_LATELY);
    CHECK_INT(factor("some", false), GSH_REASON_NONE);
    CHECK_INT(factor("some", true), GSH_REASON_NUMERICAL); /* a series of its own */
    CHECK_INT(factor("some", true), GSH_REASON_REFUSED_LATELY);
    CHECK_INT(factor("some", false), GSH_REASON_NONE);

    CHECK_INT(count_tries("all", 1 << 11), 11);
    CHECK_INT(count_tries("all", 10 * 1025), 10); /* one of 1,025 */
    CHECK_INT(factor("others", false), GSH_REASON_NONE);
    return check_result();
}

/* Who sends everything to the device means it. */
static int check_asked(void)
{
    if (!start("force"))
        return CHECK_SKIP;
    CHECK_INT(count_tries("some", 20), 20);
    return check_result();
}

static int check_share(void)
{
    unsigned row = 7;
    CHECK(gsh_history_ask_fetch_share(row) == 0);
    for (unsigned k = 0; k < 8; k++)
        gsh_history_note_made(row);
    CHECK(gsh_history_ask_fetch_share(row) == 0);
    for (unsigned k = 0; k < 4; k++)
        gsh_history_note_fetched(row);
    CHECK(gsh_history_ask_fetch_share(row) == 0.5);
    for (unsigned k = 0; k < 1000; k++)
        gsh_history_note_made(row);
    CHECK(gsh_history_ask_fetch_share(row) < 0.01); /* long ago */
    for (unsigned k = 0; k < 64; k++) {
        gsh_history_note_made(row);
        gsh_history_note_fetched(row);
    }
    CHECK(gsh_history_ask_fetch_share(row) > 0.5); /* as long ago is that nobody did */
    CHECK(gsh_history_ask_fetch_share(row + 1) == 0);
    unsigned trials = 0;
    for (unsigned k = 0; k < 100; k++)
        trials += gsh_history_ask_fetch_share(row) == 0;
    CHECK(trials >= 2 && trials <= 4);
    return check_result();
}

int main(void)
{
    int (*const checks[])(void) = {check_series, check_asked, check_share};
    for (unsigned i = 0; i < GSH_COUNT(checks); i++)
        check_in_child(checks[i]);
    return check_result();
}
