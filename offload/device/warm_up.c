/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of flags, indexed by a hash, says which launches have run; where two that are not alike share an index, the second
 * one's first call loads the code itself. Each kind has one place for a launch that is wanted. The thread sleeps until
 * `posted` changes; while a launch has to wait for the device or a library, it looks again every 5 ms.
 */
#include "warm_up.h"

#include "backend.h"
#include "clock.h"
#include "device.h"
#include "futex.h"
#include "hash.h"
#include "thread.h"
#include "warm_up_plan.h"

#include <stdatomic.h>
#include <stdlib.h>

#define LOOK_AGAIN_MS 5U
#define SETTLE_MS 10000U
#define KINDS (GSH_LAUNCH_FFT - GSH_LAUNCH_GEMM + 1)
enum { NAMES = 4096 };
enum { FREE, FILLING, WANTED };

static _Atomic bool over[NAMES];
static struct {
    _Atomic int state; /* of the launch, released with it */
    struct gsh_launch launch;
} wanted[KINDS];
static _Atomic uint32_t posted, running;
static _Atomic bool has_thread, is_settled;

/* ---- which are alike ---- */

static uint64_t detail_of_lapack(const struct gsh_launch *launch)
{
    const int64_t *extent = launch->lapack.cores[0].extent;
    bool is_many = gsh_lapack_is_many(gsh_launch_elements(launch), GSH_MAX(extent[0], extent[1]));
    return (uint64_t)launch->lapack.routine << 8 |
           gsh_warm_up_plan_shape(extent[0], extent[1], is_many);
}

static uint64_t detail_of(const struct gsh_launch *launch)
{
    const struct gsh_gemm *gemm = &launch->gemm;
    const struct gsh_fft *fft = &launch->fft;
    uint64_t detail = 0;
    switch (launch->kind) {
    case GSH_LAUNCH_GEMM:
        return (uint64_t)gemm->form << 8 | (uint64_t)(gsh_launch_elements(launch) > 1) << 4 |
               (uint64_t)(gemm->m == 1) << 3 | (uint64_t)(gemm->n == 1) << 2 |
               (uint64_t)gemm->a_is_conjugate << 1 | gemm->b_is_conjugate;
    case GSH_LAUNCH_LAPACK:
        return detail_of_lapack(launch);
    default:
        for (int d = 0; d < fft->rank; d++)
            detail = detail << 1 | !gsh_warm_up_plan_is_smooth(fft->length[d]);
        return detail << 8 | (uint64_t)fft->type << 4 | (uint64_t)fft->rank;
    }
}

static _Atomic bool *place_of(const struct gsh_launch *launch)
{
    uint64_t hash = gsh_hash_add(GSH_HASH_BEGIN, (uint64_t)launch->kind << 8 | launch->loop);
    hash = gsh_hash_add(hash, detail_of(launch));
    return &over[gsh_hash_spread(hash) % NAMES];
}

bool gsh_warm_up_is_over(const struct gsh_launch *launch)
{
    return atomic_load_explicit(place_of(launch), memory_order_relaxed);
}

bool gsh_warm_up_goes_on(void)
{
    return atomic_load_explicit(&running, memory_order_relaxed) != 0;
}

void gsh_warm_up_note(const struct gsh_launch *launch)
{
    atomic_store_explicit(place_of(launch), true, memory_order_relaxed);
}

/* ---- the thread ---- */

static struct gsh_warm_up_facts gather(void)
{
    enum gsh_device_state state = gsh_device_get_state();
    return (struct gsh_warm_up_facts){.is_ending = atomic_load(&is_settled),
                                      .is_pending = state < GSH_DEVICE_READY,
                                      .is_ready = state == GSH_DEVICE_READY};
}

static bool may_run(void)
{
    const struct gsh_warm_up_facts facts = gather();
    return gsh_warm_up_plan_may_run(&facts);
}

/* Seconds until the launch's library is open, on a device that is ready. */
static double opening_of(const struct gsh_launch *launch)
{
    const struct gsh_backend *backend = gsh_backend_get();
    return backend->opening != NULL ? backend->opening(launch) : 0;
}

/* Whether it is too early for the launch; then its library is being opened, if the device is ready. */
static bool is_early(const struct gsh_launch *launch)
{
    struct gsh_warm_up_facts facts = gather();
    facts.opening = gsh_warm_up_plan_may_run(&facts) ? opening_of(launch) : 0;
    enum gsh_warm_up_step step = gsh_warm_up_plan_next(&facts);
    if (step == GSH_WARM_UP_OPEN)
        gsh_backend_get()->begin_opening(launch);
    return step != GSH_WARM_UP_RUN;
}

static void serve(const struct gsh_launch *launch)
{
    const struct gsh_launch small = gsh_warm_up_launch_make(launch);
    atomic_store(&running, 1);
    gsh_warm_up_launch_run(&small, may_run);
    atomic_store(&running, 0);
    gsh_futex_wake_all_sigsafe(&running);
    gsh_warm_up_note(launch);
}

/* Serves what can be. False: something has to wait. */
static bool serve_all(void)
{
    bool is_done = true;
    for (int k = 0; k < KINDS; k++) {
        if (atomic_load_explicit(&wanted[k].state, memory_order_acquire) != WANTED)
            continue;
        if (is_early(&wanted[k].launch)) {
            is_done = false;
            continue;
        }
        if (!gsh_warm_up_is_over(&wanted[k].launch)) /* by now */
            serve(&wanted[k].launch);
        atomic_store_explicit(&wanted[k].state, FREE, memory_order_release);
    }
    return is_done;
}

/* For programs that end without finalising Python; once more behind what the first run registers (cuda_compile_thread.c). */
static void settle_at_exit(void)
{
    atexit(gsh_warm_up_settle);
}

static void *thread_main(void *unused)
{
    (void)unused;
    settle_at_exit();
    for (bool is_first = true;;) {
        uint32_t seen = atomic_load(&posted);
        if (!serve_all()) {
            gsh_futex_wait_change_for(&posted, seen, LOOK_AGAIN_MS);
            continue;
        }
        if (is_first)
            settle_at_exit();
        is_first = false;
        gsh_futex_wait_change_sigsafe(&posted, seen, 0);
    }
    return NULL;
}

/* Where no thread can be had, calls pay for their first runs themselves. */
static bool ensure_thread(void)
{
    return atomic_exchange(&has_thread, true) || gsh_thread_start(thread_main, NULL);
}

void gsh_warm_up_want(const struct gsh_launch *launch)
{
    int before = FREE, kind = (int)launch->kind - GSH_LAUNCH_GEMM;
    if (gsh_device_get_state() == GSH_DEVICE_RETIRED ||
        !atomic_compare_exchange_strong(&wanted[kind].state, &before, FILLING))
        return;
    wanted[kind].launch = *launch;
    bool is_over = gsh_warm_up_is_over(launch); /* by now */
    if (!is_over && !ensure_thread()) {
        gsh_warm_up_note(launch);
        atomic_store(&has_thread, false);
        is_over = true;
    }
    if (is_over) {
        atomic_store(&wanted[kind].state, FREE);
        return;
    }
    atomic_store_explicit(&wanted[kind].state, WANTED, memory_order_release);
    atomic_fetch_add(&posted, 1);
    gsh_futex_wake_all_sigsafe(&posted);
}

void gsh_warm_up_settle(void)
{
    atomic_store(&is_settled, true);
    uint64_t deadline = gsh_clock_ns() + SETTLE_MS * UINT64_C(1000000);
    while (atomic_load(&running) != 0 && gsh_clock_ns() < deadline &&
           gsh_device_get_state() == GSH_DEVICE_READY)         /* no forked child */
        gsh_futex_wait_change_for(&running, 1, LOOK_AGAIN_MS); /* signals end it early */
}
