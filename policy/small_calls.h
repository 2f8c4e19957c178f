/* SPDX-License-Identifier: Apache-2.0
 *
 * Series of calls that are so small that the model cannot tell which side does them sooner: a launch costs as much as the call, and what
 * the program reads in between has its own price. The two ways are tried (ab_trial.h): A lets the facts decide, B leaves the calls
 * to the CPU. Once both are known, way A sends each call that gains, whatever its operands' upload costs: else what B brought home would
 * stay there. While the CPU is the better side most phases are rests: their calls need not be looked at, which takes a tenth of such a
 * call. Pure: no clock.
 */
#pragma once

#include "ab_trial.h"
#include "decide.h"

struct gsh_small_calls { /* zeros: initial */
    struct gsh_ab_trial trial;
    double others;     /* modelled s of other calls since the phase began */
    unsigned accepted; /* calls since the phase began that the facts would give to the device */
    int64_t elements;  /* of the largest call since the phase began */
    unsigned phase;    /* trial.ended when it began */
    double
        gainless; /* modelled s of calls since the last one that the device would do sooner, wherever its operands are */
    int64_t gainless_elements; /* of the largest one of these */
    double
        rest; /* s from this call on for which none of up to `rest_elements` need be looked at; 0: the next one must be */
    int64_t rest_elements;
};

/* Whether a call is one of these. `bytes`: of its operands that one side lacks. */
bool gsh_small_calls_has(const struct gsh_verdict *verdict, double bytes);
/* The state for a call of so many elements that is one of these, and begins `now` (s, any origin). */
struct gsh_small_calls gsh_small_calls_after(struct gsh_small_calls state,
                                             const struct gsh_verdict *verdict, int64_t elements,
                                             double now);
/* The state after another call, which takes `host` s on the CPU. Where others are most of the work, nothing is tried. */
struct gsh_small_calls gsh_small_calls_after_other(struct gsh_small_calls state, double host);
/* The reason for a call that `verdict` is about: its own, or the way's. */
enum gsh_reason gsh_small_calls_reason(const struct gsh_small_calls *state,
                                       const struct gsh_verdict *verdict);
