/* SPDX-License-Identifier: Apache-2.0
 *
 * Tries on which side a series of small calls of the calling thread is quicker (policy/small_calls.h), once the device is ready. Any
 * thread, no locks. Checked by tests/unit/policy/test_small_calls.c and tests/preload/test_small_call_trial.py.
 */
#pragma once

#include "decide.h"

/* Changes the reason of a verdict on a call of so many elements, of which one side lacks so many bytes. May begin a rest
 * (small_call_rest.h). */
void gsh_small_call_trial_apply(struct gsh_verdict *verdict, int64_t elements, double bytes);
