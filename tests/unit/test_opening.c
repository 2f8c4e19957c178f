/* SPDX-License-Identifier: Apache-2.0
 *
 * A library of the device is opened beside the host's work once the calls that it would have made faster have added up; a
 * call takes it as soon as it is open, and waits for it where it gains more than that by itself.
 */
#include "backend.h"
#include "check.h"
#include "device.h"
#include "live.h"

#include <sys/wait.h>
#include <unistd.h>

#define SIDE ((int64_t)256)

static bool is_open, is_begun;

static double opening(const struct gsh_launch *launch)
{
    return launch->kind == GSH_LAUNCH_GEMM && !is_open ? 1e-1 : 0;
}

static void begin_opening(const struct gsh_launch *launch)
{
    CHECK_INT(launch->kind, GSH_LAUNCH_GEMM);
    is_begun = true;
}

static enum gsh_reason offer(double *a, double *out)
{
    struct gsh_call call = {
        .launch = {.kind = GSH_LAUNCH_GEMM,
                   .loop = GSH_FLOAT64,
                   .nin = 2,
                   .nout = 1,
                   .gemm = {SIDE, SIDE, SIDE, SIDE, 1, SIDE, 1, SIDE, 1, 1, 0, false, false}},
        .row = gsh_stats_row("matmul", "dd->d")};
    for (unsigned k = 0; k < 3; k++)
        call.launch.operands[k] =
            (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)(k < 2 ? a : out)};
    return gsh_dispatch_decide(&call);
}

static int check_calls(bool is_asked)
{
    setenv("GPUSHIM_DEVICE", "host", 1);
    setenv("GPUSHIM_MODE", "auto", 1);
    setenv("GPUSHIM_START_MS", "0", 1);
    if (!live_start())
        return CHECK_SKIP;
    gsh_device_start(true);
    static struct gsh_rates rates;
    static struct gsh_backend backend;
    rates = *gsh_backend_get()->rates;
    rates.device_call = rates.transfer_call = 0;
    rates.device_flops[1] = rates.device_memory = 1e15;
    rates.transfer_pinned = rates.transfer_pageable = rates.pin = 1e15;
    rates.host_flops[1] = 2.0 * SIDE * SIDE * SIDE / 4e-3; /* each call would gain 4 ms */
    backend = *gsh_backend_get();
    backend.rates = &rates;
    backend.opening = opening;
    backend.begin_opening = begin_opening;
    gsh_backend_replace(&backend);
    double *a = live_doubles(SIDE * SIDE, GSH_ARENA_HOST),
           *out = live_doubles(SIDE * SIDE, GSH_ARENA_DEVICE);
    for (int64_t i = 0; i < SIDE * SIDE; i++)
        a[i] = 1;
    if (is_asked) {
        CHECK_INT(offer(a, out), GSH_REASON_NONE);
        CHECK(!is_begun);
        return check_result();
    }
    CHECK_INT(offer(a, out), GSH_REASON_NOT_STARTED);
    CHECK_INT(offer(a, out), GSH_REASON_NOT_STARTED);
    CHECK(!is_begun);
    CHECK_INT(offer(a, out), GSH_REASON_NOT_STARTED);
    CHECK(is_begun); /* 12 ms by now, of 100 */
    CHECK_INT(offer(a, out), GSH_REASON_NOT_STARTED);
    rates.host_flops[1] /= 100; /* 400 ms */
    CHECK_INT(offer(a, out), GSH_REASON_NONE);
    rates.host_flops[1] *= 100;
    CHECK_INT(offer(a, out), GSH_REASON_NOT_STARTED);
    is_open = true;
    CHECK_INT(offer(a, out), GSH_REASON_NONE);
    gsh_arena_free(a);
    gsh_arena_free(out);
    return check_result();
}

/* A program that names a size from which on calls run on the device does not ask what they gain. */
static void check_minimum(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        setenv("GPUSHIM_MIN_FLOPS", "1000", 1);
        _exit(check_calls(true));
    }
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
}

int main(void)
{
    check_minimum();
    return check_calls(false);
}
