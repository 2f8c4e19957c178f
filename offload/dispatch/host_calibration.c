/* SPDX-License-Identifier: Apache-2.0
 *
 * The states of policy/host_speed.h, one per operation and class of seconds, in relaxed atomics; and the call of each thread
 * that is to be measured.
 */
#include "host_calibration.h"

#include "clock.h"
#include "decision_file.h"
#include "host_speed.h"
#include "lapack.h"
#include "library_gains.h"
#include "one_time_cost.h"
#include "prefault.h"
#include "readiness.h"

#include <stdatomic.h>

enum { OPERATIONS = GSH_GEMM_FORMS + GSH_LAPACK_COUNT, KINDS = OPERATIONS * GSH_DTYPE_COUNT * 2 };

/* struct gsh_host_speed, whose fields may be of different moments. */
struct past {
    _Atomic float ratios[GSH_HOST_SPEED_SAMPLES];
    _Atomic unsigned next, raised, back_off;
};
static struct past pasts[KINDS][GSH_HOST_SPEED_CLASSES];

static _Thread_local struct {
    bool is_set;
    struct past *past; /* NULL: its ratio is not kept */
    enum gsh_launch_kind kind;
    bool needs_library;
    unsigned row;
    double priced;
    double host;       /* seconds by the verdict, on several cores where it runs there */
    double gain;       /* counted as foregone; negative: none is */
    uint64_t begin_ns; /* 0: it has not begun */
} expected;

/* ---- states ---- */

static unsigned get(const _Atomic unsigned *field)
{
    return atomic_load_explicit(field, memory_order_relaxed);
}

static void set(_Atomic unsigned *field, unsigned value)
{
    atomic_store_explicit(field, value, memory_order_relaxed);
}

static struct gsh_host_speed load(const struct past *past)
{
    struct gsh_host_speed state = {
        .next = get(&past->next), .raised = get(&past->raised), .back_off = get(&past->back_off)};
    for (unsigned i = 0; i < GSH_HOST_SPEED_SAMPLES; i++)
        state.ratios[i] = atomic_load_explicit(&past->ratios[i], memory_order_relaxed);
    return state;
}

static void store(struct past *past, const struct gsh_host_speed *state)
{
    for (unsigned i = 0; i < GSH_HOST_SPEED_SAMPLES; i++)
        atomic_store_explicit(&past->ratios[i], state->ratios[i], memory_order_relaxed);
    set(&past->next, state->next);
    set(&past->raised, state->raised);
    set(&past->back_off, state->back_off);
}

/* Loops and draws: their speed does not depend on a library. */
static int operation_of_element(const struct gsh_launch *launch)
{
    (void)launch;
    return -1;
}

static int operation_of_draw(const struct gsh_launch *launch)
{
    (void)launch;
    return -1;
}

static int operation_of_product(const struct gsh_launch *launch)
{
    return (int)launch->gemm.form;
}

static int operation_of_lapack(const struct gsh_launch *launch)
{
    return GSH_GEMM_FORMS + (int)launch->lapack.routine;
}

static int operation_of_transform(const struct gsh_launch *launch)
{
    (void)launch;
    return -1;
}

static int operation_of_filter(const struct gsh_launch *launch)
{
    (void)launch;
    return -1;
}

/* Index of the launch's operation; -1: it is not measured. */
static int kind_of(const struct gsh_launch *launch)
{
    static int (*const operation_of[])(const struct gsh_launch *launch) = {
#define X(kind, dtypes, errors, replay, host, source, unit, ...)                                   \
    [GSH_LAUNCH_##kind] = operation_of_##unit,
#include "launch_kinds.def"
#undef X
    };
    int operation = operation_of[launch->kind](launch);
    if (operation < 0)
        return -1;
    bool is_batch = gsh_launch_elements(launch) > 1;
    return (operation * GSH_DTYPE_COUNT + (int)launch->loop) * 2 + is_batch;
}

/* NULL: it is not measured. */
static struct past *past_of(const struct gsh_launch *launch, double priced, int *class)
{
    int kind = kind_of(launch);
    *class = kind < 0 ? -1 : gsh_host_speed_class(priced);
    return *class < 0 ? NULL : &pasts[kind][*class];
}

/* ---- calls ---- */

void gsh_host_calibration_prefault(void)
{
    gsh_prefault(pasts, sizeof pasts);
}

void gsh_host_calibration_expect(const struct gsh_launch *launch, unsigned row,
                                 const struct gsh_verdict *verdict, enum gsh_reason reason)
{
    gsh_host_calibration_forget();
    int class;
    expected.past = past_of(launch, verdict->modelled, &class);
    bool is_foregone = reason == GSH_REASON_NOT_STARTED && verdict->modelled > 0 &&
                       gsh_host_speed_class(verdict->facts.host) >= 0;
    if (expected.past == NULL && !is_foregone)
        return;
    expected.is_set = true;
    expected.kind = launch->kind;
    expected.needs_library = gsh_library_gains_may_be_needed(launch);
    expected.row = row;
    expected.priced = verdict->modelled;
    expected.host = verdict->facts.host;
    expected.gain = is_foregone ? gsh_one_time_cost_net_gain(verdict) : -1;
}

bool gsh_host_calibration_is_expected(unsigned row)
{
    return expected.is_set && expected.row == row;
}

void gsh_host_calibration_forget(void)
{
    expected.is_set = false;
    expected.begin_ns = 0;
}

void gsh_host_calibration_begin(void)
{
    if (GSH_UNLIKELY(gsh_decision_file_is_on))
        gsh_decision_file_begin();
    if (expected.is_set && expected.begin_ns == 0)
        expected.begin_ns = gsh_clock_ns();
}

static void note_ratio(struct past *past, double ratio)
{
    const struct gsh_host_speed state = gsh_host_speed_after_call(load(past), ratio);
    store(past, &state);
}

static void note_call(double seconds)
{
    if (expected.past != NULL)
        note_ratio(expected.past, seconds / expected.priced);
    if (expected.gain >= 0)
        gsh_readiness_correct(expected.kind, expected.needs_library, expected.gain,
                              gsh_one_time_cost_measured(expected.gain, expected.host, seconds));
}

void gsh_host_calibration_end(bool is_whole)
{
    if (GSH_UNLIKELY(gsh_decision_file_is_on))
        gsh_decision_file_end();
    if (is_whole && expected.begin_ns != 0)
        note_call((double)(gsh_clock_ns() - expected.begin_ns) * 1e-9);
    gsh_host_calibration_forget();
}

/* ---- prices ---- */

static void note_raise(struct past *past, struct gsh_host_speed state)
{
    state = gsh_host_speed_after_raise(state);
    store(past, &state);
}

double gsh_host_calibration_factor(const struct gsh_launch *launch, double priced)
{
    int class;
    struct past *past = past_of(launch, priced, &class);
    if (past == NULL)
        return 1;
    struct gsh_host_speed own = load(past), below, above;
    bool has_below = class > 0, has_above = class < GSH_HOST_SPEED_CLASSES - 1;
    if (has_below)
        below = load(past - 1);
    if (has_above)
        above = load(past + 1);
    double factor =
        gsh_host_speed_factor(&own, has_below ? &below : NULL, has_above ? &above : NULL);
    if (factor > 1)
        note_raise(past, own);
    return factor;
}

double gsh_host_calibration_mean(const struct gsh_launch *launch, double priced)
{
    int class;
    const struct past *past = past_of(launch, priced, &class);
    if (past == NULL)
        return 0;
    const struct gsh_host_speed own = load(past);
    return gsh_host_speed_mean(&own);
}
