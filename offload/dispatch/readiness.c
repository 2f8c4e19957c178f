/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of foregone gains, the names of compiled kernels, and the steps that policy/one_time_cost.h decides on. Kernels are
 * remembered by hashes of what they depend on, so that nearly all calls take no lock; where two kernels have the same hash,
 * calls wait for the second one's compilation.
 */
#include "readiness.h"

#include "backend.h"
#include "blas_threads.h"
#include "device.h"
#include "dispatch_lock.h"
#include "hash.h"
#include "library_gains.h"
#include "node.h"
#include "one_time_cost.h"
#include "options.h"
#include "price.h"
#include "source.h"
#include "stack_pool.h"
#include "stats.h"
#include "warm_up.h"

/* Net gains of calls that ran on the CPU until the device was started. */
static _Atomic uint64_t start_foregone_ns;
/* Net, of all calls, made on the device and foregone; of these, of launches whose CPU's routines are BLAS's and LAPACK's. */
static _Atomic uint64_t gains_ns, blas_gains_ns;

static double foregone(_Atomic uint64_t *sum_ns)
{
    return (double)atomic_load_explicit(sum_ns, memory_order_relaxed) * 1e-9;
}

double gsh_readiness_foregone(void)
{
    return foregone(&start_foregone_ns);
}

/* Adds a gain, in seconds, to a sum of nanoseconds; the sum before it, in seconds. */
static double add_gain(_Atomic uint64_t *sum_ns, double gain)
{
    uint64_t gain_ns = gain > 0 ? (uint64_t)(gain * 1e9) : 0;
    return (double)atomic_fetch_add_explicit(sum_ns, gain_ns, memory_order_relaxed) * 1e-9;
}

double gsh_readiness_gains(void)
{
    return foregone(&gains_ns);
}

/* What BLAS and LAPACK also compute by name: their threads want every core. */
static bool uses_blas(const struct gsh_launch *launch)
{
    return gsh_launch_has(launch, GSH_TRAIT_UNMANAGED);
}

/* `libraries`: what of the gains goes for libraries. An option's price is for all. */
static double price_start(double gains, double blas_gains, double libraries)
{
    double price = gsh_price_start();
    bool is_wanted = gsh_option_number(GSH_OPTION_START_MS) >= 0;
    return is_wanted ? price : gsh_one_time_cost_start_price(price, gains, blas_gains) + libraries;
}

double gsh_readiness_start_price(void)
{
    return price_start(gsh_readiness_gains(), foregone(&blas_gains_ns),
                       gsh_library_gains_used_up());
}

double gsh_readiness_start_price_foreseen(void)
{
    return price_start(gsh_readiness_gains(), foregone(&blas_gains_ns),
                       gsh_library_gains_used_up_foreseen());
}

double gsh_readiness_start_price_of(double gains, uint32_t kinds)
{
    bool has_blas = false;
    for (int kind = 0; kind < GSH_LAUNCH_KINDS; kind++) {
        const struct gsh_launch launch = {.kind = (enum gsh_launch_kind)kind};
        has_blas |= (kinds >> kind & 1) != 0 && uses_blas(&launch);
    }
    return price_start(gains, has_blas ? gains : 0, gsh_library_gains_price_foreseen(kinds));
}

static void note_gain(const struct gsh_launch *launch, double gain)
{
    add_gain(&gains_ns, gain);
    gsh_library_gains_note(launch, gain);
    if (!uses_blas(launch))
        return;
    gsh_blas_threads_note_use();
    add_gain(&blas_gains_ns, gain);
}

void gsh_readiness_correct(enum gsh_launch_kind kind, bool needs_library, double counted,
                           double measured)
{
    const struct gsh_launch launch = {.kind = kind};
    uint64_t change = (uint64_t)(measured * 1e9) - (uint64_t)(counted * 1e9); /* modulo 2^64 */
    atomic_fetch_add_explicit(&start_foregone_ns, change, memory_order_relaxed);
    atomic_fetch_add_explicit(&gains_ns, change, memory_order_relaxed);
    if (needs_library)
        gsh_library_gains_correct(kind, change);
    if (uses_blas(&launch))
        atomic_fetch_add_explicit(&blas_gains_ns, change, memory_order_relaxed);
}

/* Starts the device if policy/ says so; waits for it only if the caller `may_wait`. NONE: it is ready. */
static enum gsh_reason start(const struct gsh_launch *launch, const struct gsh_verdict *verdict,
                             bool may_wait)
{
    const struct gsh_start_facts facts = {
        .foregone = add_gain(&start_foregone_ns, gsh_one_time_cost_net_gain(verdict)),
        .saved = (double)gsh_stats_get(GSH_COUNTER_PARALLEL_SAVED_NS) * 1e-9,
        .price = gsh_readiness_start_price(),
        .seconds = gsh_backend_rates()->start + gsh_library_gains_seconds(launch)};
    const struct gsh_start_verdict step = gsh_one_time_cost_start(verdict, &facts);
    bool waits = step.waits && may_wait;
    if (step.begins)
        gsh_device_start(waits);
    else if (step.opens)
        gsh_warm_up_begin(GSH_WARM_UP_DRIVER);
    if (gsh_device_get_state() == GSH_DEVICE_READY)
        return GSH_REASON_NONE;
    gsh_library_gains_note_foregone(launch, gsh_one_time_cost_net_gain(verdict));
    return waits ? GSH_REASON_NO_DEVICE : GSH_REASON_NOT_STARTED;
}

/* ---- compiling ---- */

/* How an operand steps in dimension d, as kernels differ by it: not at all, from element to element, over the dimensions behind it as
 * one, or by a step of its own, of which its sign, its size and its alignment count. */
static uint64_t step_of(const struct gsh_launch *launch, unsigned k, int d)
{
    int64_t step = launch->strides[k][d];
    int64_t size = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    bool is_last = d == launch->ndim - 1;
    if (step == 0)
        return 0;
    if (step == size)
        return 1;
    if (!is_last && step == launch->strides[k][d + 1] * launch->shape[d + 1])
        return 2;
    uint64_t alignment = GSH_MIN((uint64_t)__builtin_ctzll((uint64_t)step), 5);
    return 3 + alignment + (step < 0 ? 16 : 0) + (step != (int32_t)step ? 32 : 0);
}

static uint64_t layout_of(const struct gsh_launch *launch, unsigned k)
{
    uint64_t layout = launch->operands[k].address & 31;
    for (int d = 0; d < launch->ndim; d++)
        layout = layout << 6 ^ layout >> 58 ^ step_of(launch, k, d);
    return layout;
}

/* Into which vectors an extent can be cut; where elements are joined, its magnitude too. */
static uint64_t extent_of(const struct gsh_launch *launch, int d)
{
    uint64_t extent = (uint64_t)launch->shape[d];
    if (extent <= 1)
        return 7;
    bool joins = gsh_launch_has(launch, GSH_TRAIT_JOINS);
    return GSH_MIN((uint64_t)__builtin_ctzll(extent), 4) |
           (joins ? (uint64_t)(63 - __builtin_clzll(extent)) << 3 : 0);
}

static uint64_t extents_of(const struct gsh_launch *launch)
{
    uint64_t extents = (uint64_t)launch->ndim;
    for (int d = 0; d < launch->ndim; d++)
        extents = extents << 9 ^ extents >> 55 ^ extent_of(launch, d);
    return extents;
}

/* Whether a library computes the launch with the help of kernels of ours, and can refuse it. */
static bool is_decomposition(const struct gsh_launch *launch)
{
    return gsh_launch_has(launch, GSH_TRAIT_BATCH) &&
           gsh_launch_has(launch, GSH_TRAIT_REFUSES_LATE);
}

/* Products of the same shape and layout share their kernel, and others may. */
static uint64_t name_product(const struct gsh_gemm *gemm, uint64_t name)
{
    name = gsh_hash_add(gsh_hash_add(name, (uint64_t)gemm->m), (uint64_t)gemm->n);
    name = gsh_hash_add(name, (uint64_t)gemm->k << 2 | (uint64_t)(gemm->a_col == 1) << 1 |
                                  (uint64_t)(gemm->b_col == 1));
    return gsh_hash_spread(name) | 1;
}

/* Filters of the same form and order share their kernel, and others may. */
static uint64_t name_filter(const struct gsh_filter *filter, uint64_t name)
{
    return gsh_hash_spread(
               gsh_hash_add(name, (uint64_t)filter->form << 32 | (uint64_t)filter->order)) |
           1;
}

/* A name for the kernel: the same one for launches that share it, hardly ever for others. Not 0. */
static uint64_t name_kernel(const struct gsh_call *call)
{
    const struct gsh_launch *launch = &call->launch;
    if (is_decomposition(launch))
        return gsh_hash_spread(
                   gsh_hash_add(gsh_hash_add(GSH_HASH_BEGIN, (uint64_t)launch->kind),
                                (uint64_t)launch->lapack.routine << 32 | (uint64_t)launch->loop)) |
               1;
    bool joins = gsh_launch_has(launch, GSH_TRAIT_JOINS);
    uint64_t op = joins ? (uint64_t)launch->reduction : (uint64_t)launch->op;
    uint64_t name = gsh_hash_add(GSH_HASH_BEGIN, (uint64_t)launch->kind << 32 | op);
    name = gsh_hash_add(name, (uint64_t)launch->loop << 32 | (uint64_t)launch->nreduce << 16 |
                                  (uint64_t)(call->errors.kinds != 0));
    if (gsh_launch_has(launch, GSH_TRAIT_DRAWS))
        name = gsh_hash_add(name, gsh_random_draw_kind(&launch->draw, launch->loop));
    if (gsh_launch_has(launch, GSH_TRAIT_MERGES)) /* a filter: no kernel of ours transforms */
        return name_filter(&launch->filter, name);
    if (gsh_launch_has(launch, GSH_TRAIT_BATCH))
        return name_product(&launch->gemm, name);
    if (gsh_launch_has(launch, GSH_TRAIT_SELECTS))
        name = gsh_hash_add(name, (uint64_t)launch->selection.count << 32 |
                                      (uint64_t)launch->selection.rank);
    name = gsh_hash_add(name, extents_of(launch));
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

static void build_on_pool_stack(void *context)
{
    struct build *build = context;
    struct gsh_launch launch = build->call->launch;
    launch.errors.claims = build->call->errors.kinds != 0;
    if (!is_decomposition(&launch))
        gsh_launch_collapse(&launch);
    gsh_dispatch_lock_acquire();
    build->is_built = gsh_backend_get()->build(&launch);
    gsh_dispatch_lock_release();
}

static bool build(const struct gsh_call *call)
{
    struct build build = {.call = call};
    gsh_stack_pool_run(build_on_pool_stack, &build);
    return build.is_built;
}

/* How long a call waits for what it would compile, in seconds; 0: nothing. */
static double compile_seconds(const struct gsh_launch *launch)
{
    enum { KERNELS = 8 }; /* of a decomposition */
    double seconds = gsh_backend_rates()->compile;
    if (is_decomposition(launch))
        return KERNELS * seconds;
    return gsh_launch_is_batch(launch) && !gsh_source_is_certain(launch) ? 0 : seconds;
}

/* Whether the call's kernels are at hand, or are waited for. Else they are compiled. */
static bool is_compiled(const struct gsh_call *call, const struct gsh_verdict *verdict)
{
    enum { NAMES = 1024 };
    static _Atomic uint64_t names[NAMES]; /* of kernels that are at hand; 0: none */
    const struct gsh_backend *backend = gsh_backend_get();
    double seconds = compile_seconds(&call->launch);
    if (backend->build == NULL || seconds == 0 ||
        gsh_one_time_cost_is_worth_waiting(verdict, seconds))
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

/* What the call adds to the sums of gains. Where only its library is missing, its operands would have been uploaded for an earlier
 * call: on a device that is ready nobody expects them (expected.h). */
static double counted_gain(const struct gsh_call *call, const struct gsh_verdict *verdict)
{
    bool lacks_library =
        gsh_device_get_state() == GSH_DEVICE_READY && gsh_library_gains_seconds(&call->launch) > 0;
    return lacks_library ? GSH_MAX(verdict->gain, 0) : gsh_one_time_cost_net_gain(verdict);
}

static enum gsh_reason started(const struct gsh_launch *launch, const struct gsh_verdict *verdict)
{
    return gsh_device_get_state() == GSH_DEVICE_READY ? GSH_REASON_NONE
                                                      : start(launch, verdict, true);
}

enum gsh_reason gsh_readiness_check_start(const struct gsh_launch *launch,
                                          const struct gsh_verdict *verdict)
{
    note_gain(launch, gsh_one_time_cost_net_gain(verdict));
    return started(launch, verdict);
}

void gsh_readiness_note_foregone(const struct gsh_launch *launch, const struct gsh_verdict *verdict)
{
    note_gain(launch, gsh_one_time_cost_net_gain(verdict));
    if (gsh_device_get_state() != GSH_DEVICE_READY)
        (void)start(launch, verdict, false);
}

enum gsh_reason gsh_readiness_check(const struct gsh_call *call, const struct gsh_verdict *verdict)
{
    note_gain(&call->launch, counted_gain(call, verdict));
    enum gsh_reason reason = started(&call->launch, verdict);
    if (reason != GSH_REASON_NONE)
        return reason;
    if (!gsh_library_gains_is_open(&call->launch, verdict))
        return GSH_REASON_NOT_STARTED;
    if (!is_compiled(call, verdict))
        return GSH_REASON_NOT_COMPILED;
    bool pays = gsh_library_gains_pays_first_run(&call->launch, verdict);
    return pays ? GSH_REASON_NONE : GSH_REASON_NOT_STARTED;
}
