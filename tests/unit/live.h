/* SPDX-License-Identifier: Apache-2.0
 *
 * Brings offload/ to life in a test program, on the device of GPUSHIM_DEVICE (host unless set) in
 * force mode, and makes calls as hooks do.
 */
#pragma once

#include "arena.h"
#include "backend.h"
#include "check.h"
#include "coherence.h"
#include "device.h"
#include "dispatch.h"
#include "options.h"
#include "startup.h"
#include "stats.h"

#include <stdio.h>
#include <stdlib.h>

/* False, with a message, where the device cannot be used: the test is then skipped. */
static inline bool live_start(void)
{
    setenv("GPUSHIM_DEVICE", "host", 0);
    setenv("GPUSHIM_MODE", "force", 0);
    gsh_options_init();
    const char *why;
    if (gsh_startup(&why) == GSH_OK)
        gsh_startup_device();
    if (gsh_dispatch_is_live())
        return true;
    printf("skipped: device %s cannot be used here\n", getenv("GPUSHIM_DEVICE"));
    return false;
}

/* The same in mode auto, in which the device `host` is started once calls have foregone so many milliseconds. */
static inline bool live_start_auto(const char *start_ms)
{
    setenv("GPUSHIM_DEVICE", "host", 1);
    setenv("GPUSHIM_MODE", "auto", 1);
    setenv("GPUSHIM_START_MS", start_ms, 1);
    return live_start();
}

/* The device's rates, of one that takes no time, whose data moves in none. `host_flops[1]` is left to the caller. */
static inline struct gsh_rates live_instant_rates(void)
{
    struct gsh_rates rates = *gsh_backend_get()->rates;
    rates.device_call = rates.transfer_call = 0;
    rates.device_flops[1] = rates.device_memory = rates.device_cores = 1e15;
    rates.transfer_pinned = rates.transfer_pageable = rates.transfer_unmanaged = rates.pin = 1e15;
    return rates;
}

/* main's return value. As at the end of Python, what is being compiled is waited for first: NVRTC does not live through the
 * exit functions that it registers while it compiles. */
static inline int live_end(void)
{
    gsh_device_stop_threads();
    return check_result();
}

/* Before live_start: calls are recorded, and run when somebody looks. */
static inline void live_defer(void)
{
    setenv("GPUSHIM_FUSION", "1", 1);
    setenv("GPUSHIM_FEED_MS", "0", 1);
}

/* An elementwise call over `count` contiguous doubles; a NULL input is the constant `constant`. */
static inline struct gsh_call live_call(enum gsh_op op, const double *a, const double *b,
                                        double constant, double *out, int64_t count)
{
    unsigned nin = gsh_op_info(op)->nin;
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                       .op = op,
                                       .loop = GSH_FLOAT64,
                                       .nin = nin,
                                       .nout = 1,
                                       .ndim = 1,
                                       .shape = {count}},
                            .row = gsh_stats_row("test", "dd->d")};
    const double *inputs[2] = {a, b};
    for (unsigned k = 0; k < GSH_MIN(nin, 2U); k++) {
        call.launch.operands[k] = (struct gsh_operand){.dtype = GSH_FLOAT64,
                                                       .is_constant = inputs[k] == NULL,
                                                       .address = (uint64_t)inputs[k],
                                                       .constant = {.f64 = constant}};
        call.launch.strides[k][0] = inputs[k] == NULL ? 0 : (int64_t)sizeof(double);
    }
    call.launch.operands[nin] =
        (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)out};
    call.launch.strides[nin][0] = (int64_t)sizeof(double);
    return call;
}

/* A call that sums each column of contiguous doubles into `out`, which is fresh; one column: all of them. */
static inline struct gsh_call live_sum(const double *a, int64_t rows, int64_t columns, double *out)
{
    struct gsh_call call = {.launch = {.kind = GSH_LAUNCH_REDUCE,
                                       .reduction = GSH_REDUCE_SUM,
                                       .loop = GSH_FLOAT64,
                                       .nin = 1,
                                       .nout = 1,
                                       .ndim = columns > 1 ? 2 : 1,
                                       .nreduce = 1},
                            .fresh = {true},
                            .row = gsh_stats_row("test", "d->d")};
    int reduced = call.launch.ndim - 1;
    if (reduced > 0) {
        call.launch.shape[0] = columns;
        call.launch.strides[0][0] = call.launch.strides[1][0] = (int64_t)sizeof(double);
    }
    call.launch.shape[reduced] = rows;
    call.launch.strides[0][reduced] = columns * (int64_t)sizeof(double);
    call.launch.operands[0] = (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)a};
    call.launch.operands[1] = (struct gsh_operand){.dtype = GSH_FLOAT64, .address = (uint64_t)out};
    return call;
}

/* Launches so far. */
static inline uint64_t live_launches(void)
{
    return gsh_stats_get(GSH_COUNTER_LAUNCHES);
}

/* Decides and runs; GSH_REASON_NONE where the device did it. */
static inline enum gsh_reason live_run(const struct gsh_call *call)
{
    enum gsh_reason why = gsh_dispatch_decide(call);
    if (why == GSH_REASON_NONE)
        gsh_dispatch_run(call, &why);
    return why;
}

/* out = a + b, or a + constant where b is NULL. */
static inline enum gsh_reason live_add(const double *a, const double *b, double constant,
                                       double *out, int64_t count)
{
    struct gsh_call call = live_call(GSH_OP_ADD, a, b, constant, out, count);
    return live_run(&call);
}

static inline double *live_doubles(int64_t count, enum gsh_arena_use use)
{
    return gsh_arena_allocate((size_t)count * sizeof(double), use);
}
