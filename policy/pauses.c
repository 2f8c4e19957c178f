/* SPDX-License-Identifier: Apache-2.0
 *
 * A new place takes the oldest one's entry.
 */
#include "pauses.h"

static bool is_known(const struct gsh_pauses *state, uint64_t place)
{
    for (unsigned k = 0; k < GSH_MIN(state->noted, GSH_PAUSES_PLACES); k++)
        if (state->places[k] == place)
            return true;
    return false;
}

bool gsh_pauses_is_long(struct gsh_pauses *state, uint64_t count, uint64_t place)
{
    if (state->count != count) {
        state->count = count;
        state->rounds = 0;
        return false;
    }
    state->rounds++;
    if (is_known(state, place))
        return true;
    if (state->rounds < GSH_PAUSES_ROUNDS)
        return false;
    state->places[state->noted++ % GSH_PAUSES_PLACES] = place;
    return true;
}
