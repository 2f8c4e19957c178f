/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "ab_trial.h"

static bool is_b_better(const struct gsh_ab_trial *state, const struct gsh_ab_rules *rules)
{
    return state->passed[false] > rules->gain * state->passed[true];
}

static void begin_phase(struct gsh_ab_trial *state)
{
    state->begun = 0;
    state->work = 0;
}

static bool is_time_to_try(const struct gsh_ab_trial *state, const struct gsh_ab_rules *rules)
{
    bool is_known = state->passed[!state->is_b] > 0;
    return state->phases >= (is_known ? rules->retried << state->confirmed : rules->tried);
}

/* Which way the next phase goes. */
static void choose(struct gsh_ab_trial *state, const struct gsh_ab_rules *rules)
{
    bool before = state->is_b, is_known = state->passed[!before] > 0;
    bool best = is_known ? is_b_better(state, rules) : before;
    if (state->is_trial && best != before)
        state->confirmed = GSH_MIN(state->confirmed + 1, rules->confirmed_most);
    else if (state->is_trial || best != before)
        state->confirmed = 0;
    state->phases = best == before ? state->phases + 1 : 0;
    state->is_trial = best == before && is_time_to_try(state, rules);
    state->is_b = best != state->is_trial;
    if (state->is_trial)
        state->phases = 0;
}

static void end_phase(struct gsh_ab_trial *state, const struct gsh_ab_rules *rules, double now)
{
    float *passed = &state->passed[state->is_b], took = (float)((now - state->begun) / state->work);
    *passed = *passed == 0 ? took : (*passed + took) / 2;
    choose(state, rules);
    begin_phase(state);
    state->ended++;
}

static bool is_impatient(const struct gsh_ab_trial *state, const struct gsh_ab_rules *rules,
                         double now)
{
    double other = (double)state->passed[!state->is_b] * rules->measured;
    return state->is_trial && state->work > 0 && rules->patience > 0 &&
           now - state->begun > rules->patience * other;
}

struct gsh_ab_trial gsh_ab_trial_after(struct gsh_ab_trial state, const struct gsh_ab_rules *rules,
                                       double seconds, double now)
{
    if (now - state.last > rules->close)
        begin_phase(&state);
    state.last = now;
    if (state.begun != 0 && (state.work > rules->measured || is_impatient(&state, rules, now))) {
        end_phase(&state, rules, now);
    } else if (state.begun == 0 && state.work > rules->warm) {
        state.begun = now;
        state.work = 0;
    }
    state.work += seconds;
    return state;
}
