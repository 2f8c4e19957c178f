/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of foregone gains, the names of compiled kernels, and the steps that policy/one_time_cost.h decides on. Kernels are
 * remembered by hashes of what they depend on, so that nearly all calls take no lock; where two kernels have the same hash,
 * calls wait for the second one's compilation.
 */
#include "readiness.h"

#include "backend.h"
#include "device.h"
#include "dispatch_lock.h"
#include "hash.h"
#include "node.h"
#include "one_time_cost.h"
#include "options.h"
#include "price.h"
#include "stack_pool.h"
#include "warm_up.h"

/* Net gains of calls that ran on the CPU until the device was started; gains of each kind, until its library was open. */
static _Atomic uint64_t start_foregone_ns, kind_foregone_ns[GSH_LAUNCH_KINDS];
/* Net, of all calls, made on the device and foregone; of these, of launches whose CPU's routines are BLAS's and LAPACK's. */
static _Atomic uint64_t gains_ns, blas_gains_ns;
/* Kinds of launch, as bits: whose libraries were opened, that calls have wanted, that are expected. */
static _Atomic uint32_t opened, wanted, expected;
_Static_assert(GSH_LAUNCH_KINDS <= 32, "a kind is a bit");

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

static double price_start(double gains, double blas_gains)
{
    double price = gsh_price_start();
    bool is_wanted = gsh_option_number(GSH_OPTION_START_MS) >= 0;
    return is_wanted ? price : gsh_one_time_cost_start_price(price, gains, blas_gains);
}

double gsh_readiness_start_price(void)
{
    return price_start(gsh_readiness_gains(), foregone(&blas_gains_ns));
}

double gsh_readiness_start_price_of(double gains, uint32_t kinds)
{
    bool has_blas = false;
    for (int kind = 0; kind < GSH_LAUNCH_KINDS; kind++) {
        const struct gsh_launch launch = {.kind = (enum gsh_launch_kind)kind};
        has_blas |= (kinds >> kind & 1) != 0 && uses_blas(&launch);
    }
    return price_start(gains, has_blas ? gains : 0);
}

static void note_gain(const struct gsh_launch *launch, double gain)
{
    add_gain(&gains_ns, gain);
    if (uses_blas(launch))
        add_gain(&blas_gains_ns, gain);
}

void gsh_readiness_correct(enum gsh_launch_kind kind, double counted, double measured)
{
    const struct gsh_launch launch = {.kind = kind};
    uint64_t change = (uint64_t)(measured * 1e9) - (uint64_t)(counted * 1e9); /* modulo 2^64 */
    atomic_fetch_add_explicit(&start_foregone_ns, change, memory_order_relaxed);
    atomic_fetch_add_explicit(&gains_ns, change, memory_order_relaxed);
    if (uses_blas(&launch))
        atomic_fetch_add_explicit(&blas_gains_ns, change, memory_order_relaxed);
}

static void mark(_Atomic uint32_t *kinds, const struct gsh_launch *launch)
{
    uint32_t bit = UINT32_C(1) << launch->kind;
    if (GSH_UNLIKELY(!(atomic_load_explicit(kinds, memory_order_relaxed) & bit)))
        atomic_fetch_or_explicit(kinds, bit, memory_order_relaxed);
}

uint32_t gsh_readiness_libraries(void)
{
    return atomic_load_explicit(&opened, memory_order_relaxed) &
           atomic_load_explicit(&wanted, memory_order_relaxed);
}

void gsh_readiness_expect(uint32_t kinds)
{
    atomic_store_explicit(&expected, kinds, memory_order_relaxed);
}

/* Seconds until the library that the launch needs is open on a device that has been started. */
static double load_seconds_of(const struct gsh_launch *launch)
{
    const struct gsh_backend *backend = gsh_backend_get();
    return backend->load_seconds != NULL ? backend->load_seconds(launch) : 0;
}

/* Whether calls that need the launch's library have foregone enough for it to be opened. */
static bool pays_loading(const struct gsh_launch *launch)
{
    return gsh_one_time_cost_pays_loading(foregone(&kind_foregone_ns[launch->kind]),
                                          load_seconds_of(launch));
}

/* Whether the library that the launch needs is opened when the device is ready, for the sake of later calls. */
static bool is_opened_ahead(const struct gsh_launch *launch)
{
    bool is_expected = atomic_load_explicit(&expected, memory_order_relaxed) & UINT32_C(1)
                                                                                   << launch->kind;
    return pays_loading(launch) || (is_expected && load_seconds_of(launch) > 0);
}

static void begin_loading(const struct gsh_launch *launch)
{
    mark(&opened, launch);
    gsh_backend_get()->begin_loading(launch);
}

/* Starts the device if policy/ says so. NONE: it is ready. */
static enum gsh_reason start(const struct gsh_launch *launch, const struct gsh_verdict *verdict)
{
    const struct gsh_start_facts facts = {
        .foregone = add_gain(&start_foregone_ns, gsh_one_time_cost_net_gain(verdict)),
        .price = gsh_readiness_start_price(),
        .seconds = gsh_backend_rates()->start + load_seconds_of(launch)};
    const struct gsh_start_verdict step = gsh_one_time_cost_start(verdict, &facts);
    if (step.begins)
        gsh_device_start(step.waits);
    else if (step.opens)
        gsh_warm_up_begin(GSH_WARM_UP_DRIVER);
    if (gsh_device_get_state() == GSH_DEVICE_READY)
        return GSH_REASON_NONE;
    add_gain(&kind_foregone_ns[launch->kind], verdict->gain);
    return step.waits ? GSH_REASON_NO_DEVICE : GSH_REASON_NOT_STARTED;
}

/* Whether the library that the call needs is open, or is waited for. */
static bool is_opened(const struct gsh_launch *launch, const struct gsh_verdict *verdict)
{
    _Atomic uint64_t *sum_ns = &kind_foregone_ns[launch->kind];
    double seconds = load_seconds_of(launch);
    const struct gsh_library_verdict step =
        gsh_one_time_cost_library(verdict, foregone(sum_ns), seconds);
    if (!step.is_ready)
        add_gain(sum_ns, verdict->gain);
    if (step.opens)
        begin_loading(launch);
    if (step.is_ready && seconds > 0)
        mark(&opened, launch);
    return step.is_ready;
}

void gsh_readiness_prepare(void)
{
    for (int kind = 0; kind < GSH_LAUNCH_KINDS; kind++) {
        const struct gsh_launch launch = {.kind = (enum gsh_launch_kind)kind, .loop = GSH_FLOAT64};
        if (is_opened_ahead(&launch))
            begin_loading(&launch);
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
    bool joins = gsh_launch_has(launch, GSH_TRAIT_JOINS);
    uint64_t op = joins ? (uint64_t)launch->reduction : (uint64_t)launch->op;
    uint64_t name = gsh_hash_add(GSH_HASH_BEGIN, (uint64_t)launch->kind << 32 | op);
    name = gsh_hash_add(name, (uint64_t)launch->loop << 32 | (uint64_t)launch->nreduce << 16 |
                                  (uint64_t)(call->errors.kinds != 0));
    if (gsh_launch_has(launch, GSH_TRAIT_DRAWS))
        name = gsh_hash_add(name, gsh_random_draw_kind(&launch->draw, launch->loop));
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

/* Whether the call's kernel is at hand, or is waited for. Else it is compiled. */
static bool is_compiled(const struct gsh_call *call, const struct gsh_verdict *verdict)
{
    enum { NAMES = 1024 };
    static _Atomic uint64_t names[NAMES]; /* of kernels that are at hand; 0: none */
    const struct gsh_backend *backend = gsh_backend_get();
    if (backend->build == NULL || gsh_launch_is_batch(&call->launch) ||
        gsh_one_time_cost_is_worth_waiting(verdict, gsh_backend_rates()->compile))
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
    note_gain(&call->launch, gsh_one_time_cost_net_gain(verdict));
    mark(&wanted, &call->launch);
    if (gsh_device_get_state() != GSH_DEVICE_READY) {
        enum gsh_reason reason = start(&call->launch, verdict);
        if (reason != GSH_REASON_NONE)
            return reason;
    }
    if (!is_opened(&call->launch, verdict))
        return GSH_REASON_NOT_STARTED;
    return is_compiled(call, verdict) ? GSH_REASON_NONE : GSH_REASON_NOT_COMPILED;
}
