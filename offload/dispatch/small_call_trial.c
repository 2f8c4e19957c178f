/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of each thread.
 */
#include "small_call_trial.h"

#include "clock.h"
#include "device.h"
#include "small_call_rest.h"
#include "small_calls.h"

static _Thread_local struct gsh_small_calls state;

void gsh_small_call_trial_apply(struct gsh_verdict *verdict, int64_t elements, double bytes)
{
    gsh_small_call_rest_check();
    if (gsh_device_get_state() != GSH_DEVICE_READY && verdict->gain > 0) { /* nothing to try yet */
        state = (struct gsh_small_calls){.others = 0};
        return;
    }
    if (!gsh_small_calls_has(verdict, bytes)) {
        state = gsh_small_calls_after_other(state, verdict->facts.host);
        return;
    }
    state = gsh_small_calls_after(state, verdict, elements, (double)gsh_clock_ns() * 1e-9);
    if (state.rest > 0)
        gsh_small_call_rest_begin(state.rest_elements, state.rest);
    verdict->reason = gsh_small_calls_reason(&state, verdict);
}
