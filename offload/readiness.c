/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Starting the device, and opening a library, must be paid by gains foregone so far; what is compiled is
 * compiled when it is first wanted. Kernels differ by layouts too: a loop of which one has been compiled counts as compiled,
 * so that a call costs one load here.
 */
#include "readiness.h"

#include "backend.h"
#include "device.h"
#include "node.h"
#include "options.h"
#include "price.h"

#define WAITING_GAIN 2    /* times what is waited for: what that takes is an estimate */
#define OPENING_SHARE 0.1 /* of its time is what calls must have had to gain: nobody waits for it */

/* Adds a gain foregone, in seconds, to a sum of nanoseconds; the sum in seconds. */
static double forgo(_Atomic uint64_t *sum_ns, double gain)
{
    uint64_t gain_ns = gain > 0 ? (uint64_t)(gain * 1e9) : 0;
    return (double)(atomic_fetch_add_explicit(sum_ns, gain_ns, memory_order_relaxed) + gain_ns) *
           1e-9;
}

/* Seconds until the library that the launch needs is open on a device that has been started. */
static double opening_of(const struct gsh_launch *launch)
{
    const struct gsh_backend *backend = gsh_backend_get();
    return backend->opening != NULL ? backend->opening(launch) : 0;
}

/* Whether a call waits until the device is ready for it: by its own gain it is still done sooner, or it is asked for. */
static bool is_worth_waiting(const struct gsh_verdict *verdict, double seconds)
{
    return verdict->is_asked || verdict->gain >= WAITING_GAIN * seconds;
}

/* Starts the device once that pays. NONE: it is ready. */
static enum gsh_reason start(const struct gsh_launch *launch, const struct gsh_verdict *verdict)
{
    static _Atomic uint64_t foregone_ns;
    double seconds = gsh_backend_get()->rates->start + opening_of(launch);
    bool pays = forgo(&foregone_ns, verdict->gain) >= gsh_price_start();
    bool waits = is_worth_waiting(verdict, seconds) && (pays || verdict->is_asked);
    if (pays || waits)
        gsh_device_start(waits);
    if (gsh_device_get_state() == GSH_DEVICE_READY)
        return GSH_REASON_NONE;
    return waits ? GSH_REASON_NO_DEVICE : GSH_REASON_NOT_STARTED;
}

/* Whether the library that the call needs is open, or is waited for. Else it is opened once calls of its kind have had
 * something to gain. */
static bool is_opened(const struct gsh_launch *launch, const struct gsh_verdict *verdict)
{
    static _Atomic uint64_t foregone_ns[GSH_LAUNCH_FFT + 1];
    double seconds = opening_of(launch);
    if (seconds == 0 || is_worth_waiting(verdict, seconds))
        return true;
    if (forgo(&foregone_ns[launch->kind], verdict->gain) >= seconds * OPENING_SHARE)
        gsh_backend_get()->begin_opening(launch);
    return false;
}

/* ---- compiling ---- */

/* The bit of the launch's loop among those that have a kernel. */
static _Atomic uint32_t *loops_of(const struct gsh_launch *launch)
{
    enum { OPS = GSH_MAX((int)GSH_OP_COUNT, (int)GSH_REDUCTION_COUNT) };
    static _Atomic uint32_t loops[GSH_LAUNCH_GEMM][OPS];
    _Static_assert(GSH_DTYPE_COUNT <= 32, "a bit each");
    bool is_joined = launch->kind == GSH_LAUNCH_REDUCE || launch->kind == GSH_LAUNCH_SCAN;
    return &loops[launch->kind][is_joined ? (int)launch->reduction : (int)launch->op];
}

static bool build(const struct gsh_call *call)
{
    struct gsh_launch launch = call->launch;
    launch.errors.claims = call->errors.kinds != 0;
    gsh_launch_collapse(&launch);
    gsh_node_lock();
    bool is_built = gsh_backend_get()->build(&launch);
    gsh_node_unlock();
    return is_built;
}

/* Whether the call's kernel is at hand, or is waited for. Else it is compiled. */
static bool is_compiled(const struct gsh_call *call, const struct gsh_verdict *verdict)
{
    const struct gsh_backend *backend = gsh_backend_get();
    if (backend->build == NULL || gsh_launch_is_batch(&call->launch) ||
        is_worth_waiting(verdict, backend->rates->compile))
        return true;
    _Atomic uint32_t *loops = loops_of(&call->launch);
    uint32_t bit = UINT32_C(1) << call->launch.loop;
    if (GSH_LIKELY(atomic_load_explicit(loops, memory_order_relaxed) & bit) ||
        !gsh_option_number(GSH_OPTION_BACKGROUND))
        return true;
    bool is_built = build(call);
    if (is_built)
        atomic_fetch_or_explicit(loops, bit, memory_order_relaxed);
    return is_built;
}

enum gsh_reason gsh_readiness_check(const struct gsh_call *call, const struct gsh_verdict *verdict)
{
    if (gsh_device_get_state() != GSH_DEVICE_READY) {
        enum gsh_reason reason = start(&call->launch, verdict);
        if (reason != GSH_REASON_NONE)
            return reason;
    }
    if (!is_opened(&call->launch, verdict))
        return GSH_REASON_NOT_STARTED;
    return is_compiled(call, verdict) ? GSH_REASON_NONE : GSH_REASON_NOT_COMPILED;
}
