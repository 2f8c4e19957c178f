/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "sharing_phases.h"

#define CLOSE 500e-6 /* s between the beginnings of two loops of a series, at most */
#define WARM                                                                                       \
    300e-6 /* modelled s, with which a phase begins, not measured: threads wake, caches fill */
#define MEASURED 2e-3    /* modelled s after that */
#define GAIN 0.95F       /* of the time of one core, for which it is worth having two */
#define TRIED 8U         /* phases, after which the other way is tried, */
#define RETRIED 32U      /* and tried again: after twice as many each time that it was not better */
#define CONFIRMED_MOST 3 /* doublings */

static bool is_better_alone(const struct gsh_sharing_phases *state)
{
    return state->passed[false] > GAIN * state->passed[true];
}

static void begin_phase(struct gsh_sharing_phases *state)
{
    state->begun = 0;
    state->work = 0;
}

static bool is_time_to_try(const struct gsh_sharing_phases *state)
{
    bool is_known = state->passed[!state->is_alone] > 0;
    return state->phases >= (is_known ? RETRIED << state->confirmed : TRIED);
}

/* Which way the next phase goes. */
static void choose(struct gsh_sharing_phases *state)
{
    bool before = state->is_alone, is_known = state->passed[!before] > 0;
    bool best = is_known ? is_better_alone(state) : before;
    if (state->is_trial && best != before)
        state->confirmed = GSH_MIN(state->confirmed + 1, CONFIRMED_MOST);
    else if (state->is_trial || best != before)
        state->confirmed = 0;
    state->phases = best == before ? state->phases + 1 : 0;
    state->is_trial = best == before && is_time_to_try(state);
    state->is_alone = best != state->is_trial;
    if (state->is_trial)
        state->phases = 0;
}

struct gsh_sharing_phases gsh_sharing_phases_after(struct gsh_sharing_phases state, double seconds,
                                                   double now)
{
    if (now - state.last > CLOSE)
        begin_phase(&state);
    state.last = now;
    if (state.begun != 0 && state.work > MEASURED) {
        float *passed = &state.passed[state.is_alone],
              took = (float)((now - state.begun) / state.work);
        *passed = *passed == 0 ? took : (*passed + took) / 2;
        choose(&state);
        begin_phase(&state);
    } else if (state.begun == 0 && state.work > WARM) {
        state.begun = now;
        state.work = 0;
    }
    state.work += seconds;
    return state;
}
