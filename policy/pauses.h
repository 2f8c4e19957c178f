/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a program that makes no operations for a while is in a pause that is worth running its pending operations, although
 * they are not a whole iteration of its loop. A pause is long after GSH_PAUSES_ROUNDS rounds of the timer. Where the program has
 * paused so long before, the next round is enough: it does other work there. Pure.
 */
#pragma once

#include "base.h"

#define GSH_PAUSES_ROUNDS 16U
#define GSH_PAUSES_PLACES 8U

/* Zeros are the initial state. */
struct gsh_pauses {
    uint64_t count;                     /* operations at the last round */
    unsigned rounds;                    /* since then without an operation */
    uint64_t places[GSH_PAUSES_PLACES]; /* of long pauses */
    unsigned noted;                     /* long pauses that were noted; the newest are kept */
};

/* The timer has come round. `count`: operations so far. `place`: of the last one in the program (period.h). */
bool gsh_pauses_is_long(struct gsh_pauses *state, uint64_t count, uint64_t place);
