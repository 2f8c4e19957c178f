/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "small_calls.h"

#define SHORT 1e-4    /* s on the CPU, at most */
#define BYTES 0x80000 /* that a change of sides moves for one call, at most */
#define THIN 4        /* times as long on the CPU: the model can tell */

static const struct gsh_ab_rules rules = {.close = 2e-3,
                                          .warm = 1e-3, /* operands change sides */
                                          .measured = 4e-3,
                                          .patience = 2,
                                          .gain = 0.95F,
                                          .tried = 2,
                                          .retried = 32,
                                          .confirmed_most = 3};

bool gsh_small_calls_has(const struct gsh_verdict *verdict, double bytes)
{
    const struct gsh_facts *facts = &verdict->facts;
    return !verdict->is_forced && bytes <= BYTES && facts->host <= SHORT &&
           facts->host < THIN * (facts->device + facts->fetch);
}

struct gsh_small_calls gsh_small_calls_after(struct gsh_small_calls state,
                                             const struct gsh_verdict *verdict, double now)
{
    state.trial = gsh_ab_trial_after(state.trial, &rules, verdict->facts.host, now);
    if (state.trial.ended != state.phase) {
        const struct gsh_small_calls none = {.others = 0},
                                     next = {.trial = state.trial, .phase = state.trial.ended};
        state = state.accepted == 0 ? none : next; /* none: all are left to the CPU as it is */
    }
    state.accepted += verdict->reason == GSH_REASON_NONE;
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
    bool is_known = trial->passed[false] > 0 && trial->passed[true] > 0;
    if (trial->is_b && verdict->reason == GSH_REASON_NONE)
        return GSH_REASON_TOO_SMALL;
    if (!trial->is_b && is_known && verdict->reason == GSH_REASON_DATA_ON_HOST)
        return GSH_REASON_NONE;
    return verdict->reason;
}
