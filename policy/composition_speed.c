/* SPDX-License-Identifier: Apache-2.0
 *
 * The faster of two calls.
 */
#include "composition_speed.h"

/* Assumed. A call that is sent in vain is made up for by the back-off. */
#define LAUNCHES 40
#define TIMES_FASTER 16

struct gsh_composition_speed gsh_composition_speed_after(struct gsh_composition_speed state,
                                                         double bytes, double seconds)
{
    return (struct gsh_composition_speed){.last = (float)(seconds / bytes), .before = state.last};
}

double gsh_composition_speed_host(struct gsh_composition_speed state, double bytes)
{
    float least = state.before > 0 ? GSH_MIN(state.last, state.before) : state.last;
    return (double)least * bytes;
}

double gsh_composition_speed_device(const struct gsh_rates *rates, double host)
{
    return LAUNCHES * rates->device_call + host / TIMES_FASTER;
}
