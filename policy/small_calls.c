/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "small_calls.h"

#define SHORT 1e-4    /* s on the CPU, at most */
#define BYTES 0x80000 /* that a change of sides moves for one call, at most */
#define THIN 4        /* times as long on the CPU: the model can tell */
#define RESTS 8       /* phases of a rest */

static const struct gsh_ab_rules rules = {.close = 2e-3,
                                          .warm = 1e-3, /* operands change sides */
                                          .measured = 4e-3,
                                          .patience = 2,
                                          .gain = 0.95F,
                                          .tried = 2,
                                          .retried = 64,
                                          .confirmed_most = 3};

bool gsh_small_calls_has(const struct gsh_verdict *verdict, double bytes)
{
    const struct gsh_facts *facts = &verdict->facts;
    return !verdict->is_forced && bytes <= BYTES && facts->host <= SHORT &&
           facts->host < THIN * (facts->device + facts->fetch);
}

static bool is_known(const struct gsh_ab_trial *trial)
{
    return trial->passed[false] > 0 && trial->passed[true] > 0;
}

static void begin_rest(struct gsh_small_calls *state, int64_t elements)
{
    state->rest = RESTS * rules.measured;
    state->rest_elements = elements;
}

/* The state where a phase has ended. Nothing is tried where the facts leave all calls to the CPU. */
static struct gsh_small_calls begin_phase(const struct gsh_small_calls *ended)
{
    struct gsh_small_calls next = {.gainless = ended->gainless,
                                   .gainless_elements = ended->gainless_elements};
    if (ended->accepted == 0 && !is_known(&ended->trial))
        return next;
    next.trial = ended->trial;
    next.phase = ended->trial.ended;
    if (is_known(&next.trial) && next.trial.is_b && !next.trial.is_trial) {
        begin_rest(&next, ended->elements);
        next.trial.phases += RESTS;
    }
    return next;
}

/* Counts calls that gain nothing. How long they take in the program says nothing: they rest when there were enough of them. */
static void count_gainless(struct gsh_small_calls *state, const struct gsh_verdict *verdict,
                           int64_t elements)
{
    bool gains = verdict->gain > 0;
    state->gainless = gains ? 0 : state->gainless + verdict->facts.host;
    state->gainless_elements = gains ? 0 : GSH_MAX(state->gainless_elements, elements);
    if (state->gainless > rules.measured) {
        begin_rest(state, state->gainless_elements);
        state->gainless = 0;
    }
}

struct gsh_small_calls gsh_small_calls_after(struct gsh_small_calls state,
                                             const struct gsh_verdict *verdict, int64_t elements,
                                             double now)
{
    state.trial = gsh_ab_trial_after(state.trial, &rules, verdict->facts.host, now);
    state.rest = 0;
    if (state.trial.ended != state.phase)
        state = begin_phase(&state);
    count_gainless(&state, verdict, elements);
    state.accepted += verdict->reason == GSH_REASON_NONE;
    state.elements = GSH_MAX(state.elements, elements);
    return state;
}

struct gsh_small_calls gsh_small_calls_after_other(struct gsh_small_calls state, double host)
{
    state.others += host;
    if (state.others > state.trial.work)
        state = (struct gsh_small_calls){.others = 0};
    return state;
}

enum gsh_reason gsh_small_calls_reason(const struct gsh_small_calls *state,
                                       const struct gsh_verdict *verdict)
{
    const struct gsh_ab_trial *trial = &state->trial;
    if (trial->is_b && verdict->reason == GSH_REASON_NONE)
        return GSH_REASON_TOO_SMALL;
    if (!trial->is_b && is_known(trial) && verdict->reason == GSH_REASON_DATA_ON_HOST)
        return GSH_REASON_NONE;
    return verdict->reason;
}
