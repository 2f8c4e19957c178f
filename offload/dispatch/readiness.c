/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Starting the device, and opening a library, must be paid by gains foregone so far; what is compiled, or
 * loaded by a first run, is so when it is first wanted. Which kernels are at hand is remembered by names of their own,
 * so that nearly all calls take no lock; where two kernels share a name, the second is waited for.
 */
#include "readiness.h"

#include "backend.h"
#include "deep_stack.h"
#include "device.h"
#include "dispatch_lock.h"
#include "first_run.h"
#include "hash.h"
#include "node.h"
#include "options.h"
#include "price.h"

#define WAITING_GAIN 5    /* times what is waited for: libraries may come from a slow disk */
#define LONG_CALL 5       /* times what starting takes: a start beside such a call is hardly felt */
#define OPENING_SHARE 0.1 /* of its time is what calls must have had to gain: nobody waits for it */

static _Atomic uint64_t start_foregone_ns; /* of calls declined until the device was started */
static _Atomic uint64_t
    kind_foregone_ns[GSH_LAUNCH_FFT + 1]; /* of those of a kind until its library was open */

/* Adds a gain foregone, in seconds, to a sum of nanoseconds; the sum before it, in seconds. */
static double forgo(_Atomic uint64_t *sum_ns, double gain)
{
    uint64_t gain_ns = gain > 0 ? (uint64_t)(gain * 1e9) : 0;
    return (double)atomic_fetch_add_explicit(sum_ns, gain_ns, memory_order_relaxed) * 1e-9;
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

/* Whether calls of the kind have had enough to gain for a library that takes so long to open. */
static bool pays_opening(enum gsh_launch_kind kind, double gain, double seconds)
{
    return seconds > 0 && forgo(&kind_foregone_ns[kind], gain) + gain >= seconds * OPENING_SHARE;
}

/* Seconds that the call takes beyond its work, because none like it has run on the device. */
static double first_run_of(const struct gsh_launch *launch)
{
    double seconds = gsh_backend_rates()->first_run;
    bool is_over = seconds == 0 || !gsh_launch_is_batch(launch) || gsh_first_run_is_over(launch);
    return is_over || !gsh_option_number(GSH_OPTION_BACKGROUND) ? 0 : seconds;
}

/* Starts the device once the calls before would have paid for it: a program that makes only one call is left alone.
 * NONE: it is ready. */
static enum gsh_reason start(const struct gsh_launch *launch, const struct gsh_verdict *verdict)
{
    double seconds = gsh_backend_rates()->start + opening_of(launch);
    double price = gsh_price_start(), before = forgo(&start_foregone_ns, verdict->gain);
    bool pays = before + verdict->gain >= price;
    bool waits = is_worth_waiting(verdict, seconds) && (pays || verdict->is_asked);
    if (before >= price || verdict->gain >= LONG_CALL * price || waits)
        gsh_device_start(waits);
    if (gsh_device_get_state() == GSH_DEVICE_READY)
        return GSH_REASON_NONE;
    forgo(&kind_foregone_ns[launch->kind], verdict->gain);
    if (gsh_device_get_state() == GSH_DEVICE_STARTING && first_run_of(launch) > 0 &&
        pays_opening(launch->kind, 0, opening_of(launch)))
        gsh_first_run_want(launch);
    return waits ? GSH_REASON_NO_DEVICE : GSH_REASON_NOT_STARTED;
}

/* Whether the library that the call needs is open, and its routine's code loaded, or both are waited for. */
static bool is_opened(const struct gsh_launch *launch, const struct gsh_verdict *verdict)
{
    double seconds = opening_of(launch), first = first_run_of(launch);
    if (seconds + first == 0)
        return true;
    if (is_worth_waiting(verdict, seconds + first)) {
        gsh_first_run_note(launch);
        return true;
    }
    bool is_begun = seconds > 0 && pays_opening(launch->kind, verdict->gain, seconds);
    if (is_begun)
        gsh_backend_get()->begin_opening(launch);
    if (first > 0 && (is_begun || seconds == 0))
        gsh_first_run_want(launch);
    return false;
}

/* Whether the call, on the device, would wait for a first run that costs more than the call gains. Where its operands
 * would have to be brought home for the CPU, that waits as well. */
static bool waits_for_first_run(const struct gsh_verdict *verdict)
{
    return gsh_first_run_goes_on() && !verdict->has_data &&
           !is_worth_waiting(verdict, gsh_backend_rates()->first_run);
}

void gsh_readiness_prepare(void)
{
    for (int kind = GSH_LAUNCH_GEMM; kind <= GSH_LAUNCH_FFT; kind++) {
        const struct gsh_launch launch = {.kind = (enum gsh_launch_kind)kind, .loop = GSH_FLOAT64};
        if (pays_opening(launch.kind, 0, opening_of(&launch)))
            gsh_backend_get()->begin_opening(&launch);
    }
}

/* ---- compiling ---- */

/* How operand k steps through the shape, as kernels differ by it: in C order without gaps, or by its innermost stride. */
static uint64_t layout_of(const struct gsh_launch *launch, unsigned k)
{
    int64_t size = (int64_t)gsh_dtype_size(launch->operands[k].dtype), step = size;
    for (int d = launch->ndim - 1; d >= 0; step *= launch->shape[d--])
        if (launch->strides[k][d] != step)
            return 1 + (uint64_t)launch->strides[k][launch->ndim - 1];
    return 0;
}

/* A name for the kernel: the same one for launches that share it, hardly ever for others. Not 0. */
static uint64_t name_kernel(const struct gsh_call *call)
{
    const struct gsh_launch *launch = &call->launch;
    bool is_joined = launch->kind == GSH_LAUNCH_REDUCE || launch->kind == GSH_LAUNCH_SCAN;
    uint64_t op = is_joined ? (uint64_t)launch->reduction : (uint64_t)launch->op;
    uint64_t name = gsh_hash_add(GSH_HASH_BEGIN, (uint64_t)launch->kind << 32 | op);
    name = gsh_hash_add(name, (uint64_t)launch->loop << 32 | (uint64_t)launch->nreduce << 16 |
                                  (uint64_t)(call->errors.kinds != 0));
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        const struct gsh_operand *operand = &launch->operands[k];
        name = gsh_hash_add(name, (uint64_t)operand->dtype << 1 | operand->is_constant);
        name = operand->is_constant ? name : gsh_hash_add(name, layout_of(launch, k));
    }
    return gsh_hash_spread(name) | 1;
}

struct build {
    const struct gsh_call *call;
    bool is_built;
};

static void build_deep(void *context)
{
    struct build *build = context;
    struct gsh_launch launch = build->call->launch;
    launch.errors.claims = build->call->errors.kinds != 0;
    gsh_launch_collapse(&launch);
    gsh_dispatch_lock_acquire();
    build->is_built = gsh_backend_get()->build(&launch);
    gsh_dispatch_lock_release();
}

static bool build(const struct gsh_call *call)
{
    struct build build = {.call = call};
    gsh_deep_stack_run(build_deep, &build);
    return build.is_built;
}

/* Whether the call's kernel is at hand, or is waited for. Else it is compiled. */
static bool is_compiled(const struct gsh_call *call, const struct gsh_verdict *verdict)
{
    enum { NAMES = 1024 };
    static _Atomic uint64_t names[NAMES]; /* of kernels that are at hand; 0: none */
    const struct gsh_backend *backend = gsh_backend_get();
    if (backend->build == NULL || gsh_launch_is_batch(&call->launch) ||
        is_worth_waiting(verdict, gsh_backend_rates()->compile))
        return true;
    uint64_t name = name_kernel(call);
    _Atomic uint64_t *place = &names[name / 2 % NAMES];
    if (GSH_LIKELY(atomic_load_explicit(place, memory_order_relaxed) == name) ||
        !gsh_option_number(GSH_OPTION_BACKGROUND))
        return true;
    bool is_built = build(call);
    if (is_built)
        atomic_store_explicit(place, name, memory_order_relaxed);
    return is_built;
}

enum gsh_reason gsh_readiness_check(const struct gsh_call *call, const struct gsh_verdict *verdict)
{
    if (gsh_device_get_state() != GSH_DEVICE_READY) {
        enum gsh_reason reason = start(&call->launch, verdict);
        if (reason != GSH_REASON_NONE)
            return reason;
    }
    if (!is_opened(&call->launch, verdict) || waits_for_first_run(verdict))
        return GSH_REASON_NOT_STARTED;
    return is_compiled(call, verdict) ? GSH_REASON_NONE : GSH_REASON_NOT_COMPILED;
}
