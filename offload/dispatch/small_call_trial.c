/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of each thread.
 */
#include "small_call_trial.h"

#include "clock.h"
#include "device.h"
#include "small_calls.h"

static _Thread_local struct gsh_small_calls state;

void gsh_small_call_trial_apply(struct gsh_verdict *verdict, double bytes)
{
    if (gsh_device_get_state() != GSH_DEVICE_READY)
        return;
    if (!gsh_small_calls_has(verdict, bytes)) {
        state = gsh_small_calls_after_other(state, verdict->facts.host);
        return;
    }
    state = gsh_small_calls_after(state, verdict, (double)gsh_clock_ns() * 1e-9);
    verdict->reason = gsh_small_calls_reason(&state, verdict);
}
