/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of gains of each kind, in relaxed atomics. Kinds that need no library have none.
 */
#include "library_gains.h"

#include "backend.h"
#include "clock.h"
#include "one_time_cost.h"
#include "source.h"
#include "wall_time.h"

#include <stdatomic.h>
#include <time.h>

/* Until the kind's library was open; of all calls of the kind. */
static _Atomic uint64_t foregone_ns[GSH_LAUNCH_KINDS], gains_ns[GSH_LAUNCH_KINDS];
/* Kinds of launch, as bits: whose libraries were opened, that calls have wanted, that are expected. */
static _Atomic uint32_t opened, wanted, expected;
_Static_assert(GSH_LAUNCH_KINDS <= 32, "a kind is a bit");

static double read_sum(const _Atomic uint64_t *sum_ns)
{
    return (double)atomic_load_explicit(sum_ns, memory_order_relaxed) * 1e-9;
}

static void add(_Atomic uint64_t *sum_ns, double gain)
{
    atomic_fetch_add_explicit(sum_ns, gain > 0 ? (uint64_t)(gain * 1e9) : 0, memory_order_relaxed);
}

static void mark(_Atomic uint32_t *kinds, const struct gsh_launch *launch)
{
    uint32_t bit = UINT32_C(1) << launch->kind;
    if (GSH_UNLIKELY(!(atomic_load_explicit(kinds, memory_order_relaxed) & bit)))
        atomic_fetch_or_explicit(kinds, bit, memory_order_relaxed);
}

static bool has(const _Atomic uint32_t *kinds, const struct gsh_launch *launch)
{
    return (atomic_load_explicit(kinds, memory_order_relaxed) >> launch->kind & 1) != 0;
}

bool gsh_library_gains_may_be_needed(const struct gsh_launch *launch)
{
    return gsh_launch_has(launch, GSH_TRAIT_BATCH) && !gsh_source_is_certain(launch);
}

double gsh_library_gains_seconds(const struct gsh_launch *launch)
{
    const struct gsh_backend *backend = gsh_backend_get();
    if (!gsh_library_gains_may_be_needed(launch) || backend->load_seconds == NULL)
        return 0;
    return backend->load_seconds(launch);
}

/* What the opening costs the program. */
static double price_of(const struct gsh_launch *launch, double seconds)
{
    return gsh_one_time_cost_load_price(seconds, gsh_launch_has(launch, GSH_TRAIT_UNMANAGED));
}

/* A launch that stands for its kind. */
static const struct gsh_launch *representative(int kind)
{
    static const struct gsh_launch launches[] = {
#define X(name, ...) [GSH_LAUNCH_##name] = {.kind = GSH_LAUNCH_##name, .loop = GSH_FLOAT64},
#include "launch_kinds.def"
#undef X
    };
    return &launches[kind];
}

/* The price of opening what the kind needs now; 0: nothing. */
static double price_now(const struct gsh_launch *launch)
{
    return price_of(launch, gsh_library_gains_seconds(launch));
}

void gsh_library_gains_note(const struct gsh_launch *launch, double gain)
{
    if (!gsh_library_gains_may_be_needed(launch))
        return;
    mark(&wanted, launch);
    add(&gains_ns[launch->kind], gain);
}

void gsh_library_gains_note_foregone(const struct gsh_launch *launch, double gain)
{
    if (gsh_library_gains_may_be_needed(launch))
        add(&foregone_ns[launch->kind], gain);
}

void gsh_library_gains_correct(enum gsh_launch_kind kind, uint64_t change_ns)
{
    atomic_fetch_add_explicit(&foregone_ns[kind], change_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&gains_ns[kind], change_ns, memory_order_relaxed);
}

static void begin_loading(const struct gsh_launch *launch)
{
    mark(&opened, launch);
    gsh_backend_get()->begin_loading(launch);
}

/* Waits for the library, at most as long as the call gains: what was expected of the opening may be wrong. Whether it is open. */
static bool wait_for(const struct gsh_launch *launch, double seconds)
{
    static const struct timespec nap = {.tv_nsec = 100000};
    GSH_WALL_TIME(GSH_WALL_START);
    uint64_t end_ns = gsh_clock_ns() + (uint64_t)(seconds * 1e9);
    while (gsh_library_gains_seconds(launch) > 0) {
        if (gsh_clock_ns() >= end_ns)
            return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

bool gsh_library_gains_is_open(const struct gsh_launch *launch, const struct gsh_verdict *verdict)
{
    double seconds = gsh_library_gains_seconds(launch);
    if (GSH_LIKELY(seconds == 0))
        return true;
    const struct gsh_library_facts facts = {.foregone = read_sum(&foregone_ns[launch->kind]),
                                            .price = price_of(launch, seconds),
                                            .seconds = seconds};
    struct gsh_library_verdict step = gsh_one_time_cost_library(verdict, &facts);
    if (step.is_ready && !verdict->is_forced) {
        begin_loading(launch);
        step.is_ready = wait_for(launch, verdict->gain);
    }
    if (step.is_ready)
        mark(&opened, launch);
    else
        gsh_library_gains_note_foregone(launch, verdict->gain);
    if (step.opens)
        begin_loading(launch);
    return step.is_ready;
}

/* ---- first runs ---- */

/* Of each routine and dtype: what calls have foregone, or HAS_RUN. The rows behind LAPACK's are those of transforms and products. */
enum { TRANSFORMS = GSH_LAPACK_COUNT, PRODUCTS, ROWS };
#define HAS_RUN UINT64_MAX
static _Atomic uint64_t first_foregone_ns[ROWS][GSH_DTYPE_COUNT];

static _Atomic uint64_t *first_run_of(const struct gsh_launch *launch)
{
    unsigned row = gsh_launch_has(launch, GSH_TRAIT_REFUSES_LATE) ? (unsigned)launch->lapack.routine
                   : gsh_launch_has(launch, GSH_TRAIT_MERGES)     ? TRANSFORMS
                                                                  : PRODUCTS;
    return &first_foregone_ns[row][launch->loop];
}

bool gsh_library_gains_pays_first_run(const struct gsh_launch *launch,
                                      const struct gsh_verdict *verdict)
{
    if (!gsh_library_gains_may_be_needed(launch) || gsh_backend_get()->first_run_seconds == NULL)
        return true;
    _Atomic uint64_t *sum_ns = first_run_of(launch);
    if (GSH_LIKELY(atomic_load_explicit(sum_ns, memory_order_relaxed) == HAS_RUN))
        return true;
    double seconds = gsh_backend_get()->first_run_seconds(launch);
    bool pays =
        verdict->is_forced || has(&expected, launch) || read_sum(sum_ns) + verdict->gain >= seconds;
    if (pays)
        atomic_store_explicit(sum_ns, HAS_RUN, memory_order_relaxed);
    else
        add(sum_ns, verdict->gain);
    return pays;
}

/* ---- prices ---- */

static double used_up(double share)
{
    double sum = 0;
    for (int kind = 0; kind < GSH_LAUNCH_KINDS; kind++) {
        double foregone = read_sum(&foregone_ns[kind]);
        if (foregone > 0) /* most kinds have none */
            sum += GSH_MIN(foregone, share * price_now(representative(kind)));
    }
    return sum;
}

double gsh_library_gains_used_up(void)
{
    return used_up(1);
}

double gsh_library_gains_used_up_foreseen(void)
{
    return used_up(GSH_ONE_TIME_COST_FORESEEN);
}

double gsh_library_gains_price_foreseen(uint32_t kinds)
{
    double sum = 0;
    for (int kind = 0; kind < GSH_LAUNCH_KINDS; kind++) {
        sum += (kinds >> kind & 1) != 0 ? price_now(representative(kind)) : 0;
    }
    return sum * GSH_ONE_TIME_COST_FORESEEN;
}

uint32_t gsh_library_gains_worthwhile(void)
{
    uint32_t kinds = 0;
    for (int kind = 0; kind < GSH_LAUNCH_KINDS; kind++) {
        const struct gsh_launch *launch = representative(kind);
        double price = GSH_ONE_TIME_COST_FORESEEN * price_now(launch);
        bool pays = gsh_one_time_cost_pays_loading(read_sum(&gains_ns[kind]), price);
        if (has(&wanted, launch) && (has(&opened, launch) || pays))
            kinds |= UINT32_C(1) << kind;
    }
    return kinds;
}

void gsh_library_gains_expect(uint32_t kinds)
{
    atomic_store_explicit(&expected, kinds, memory_order_relaxed);
}

void gsh_library_gains_prepare(void)
{
    for (int kind = 0; kind < GSH_LAUNCH_KINDS; kind++) {
        const struct gsh_launch *launch = representative(kind);
        double price = price_now(launch);
        if (price > 0 && (has(&expected, launch) ||
                          gsh_one_time_cost_pays_loading(read_sum(&foregone_ns[kind]), price)))
            begin_loading(launch);
    }
}
