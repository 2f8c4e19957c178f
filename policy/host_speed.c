/* SPDX-License-Identifier: Apache-2.0
 *
 * Least ratios, and when the oldest one is dropped.
 */
#include "host_speed.h"

#include <math.h>

#define SHORTEST 1e-4   /* s */
#define SLOW 2          /* times the model: up to this a CPU does not count as slow */
#define LEAST_RAISES 3U /* 2^3 prices are raised before a ratio is dropped, at first */
#define MOST_RAISES 8U  /* 2^8 at last */

int gsh_host_speed_class(double seconds)
{
    int class = -1;
    for (double least = SHORTEST; seconds >= least && class < GSH_HOST_SPEED_CLASSES - 1;
         least *= 4)
        class ++;
    return class;
}

/* The least of the ratios there are, infinity without one; *count: how many there are. */
static double least_ratio(const struct gsh_host_speed *state, unsigned *count)
{
    double least = INFINITY;
    *count = 0;
    for (unsigned i = 0; i < GSH_HOST_SPEED_SAMPLES; i++) {
        double ratio = state->ratios[i];
        *count += ratio > 0;
        least = ratio > 0 ? fmin(least, ratio) : least;
    }
    return least;
}

static double least_of_neighbour(const struct gsh_host_speed *state)
{
    unsigned count;
    return state != NULL ? least_ratio(state, &count) : INFINITY;
}

double gsh_host_speed_factor(const struct gsh_host_speed *own, const struct gsh_host_speed *below,
                             const struct gsh_host_speed *above)
{
    unsigned count;
    double ratio = least_ratio(own, &count);
    if (count == 0)
        return fmin(fmin(least_of_neighbour(below), least_of_neighbour(above)), 1);
    bool is_slow = count == GSH_HOST_SPEED_SAMPLES && ratio > SLOW;
    return is_slow ? ratio / SLOW : fmin(ratio, 1);
}

double gsh_host_speed_mean(const struct gsh_host_speed *state)
{
    double sum = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < GSH_HOST_SPEED_SAMPLES; i++) {
        sum += state->ratios[i];
        count += state->ratios[i] > 0;
    }
    return count > 0 ? sum / count : 0;
}

struct gsh_host_speed gsh_host_speed_after_call(struct gsh_host_speed state, double ratio)
{
    state.ratios[state.next % GSH_HOST_SPEED_SAMPLES] = (float)ratio;
    state.next++;
    if (ratio <= SLOW)
        state.back_off = 0;
    return state;
}

struct gsh_host_speed gsh_host_speed_after_raise(struct gsh_host_speed state)
{
    state.raised++;
    if (state.raised < 1U << (LEAST_RAISES + state.back_off))
        return state;
    state.ratios[state.next % GSH_HOST_SPEED_SAMPLES] = 0;
    state.raised = 0;
    state.back_off = GSH_MIN(state.back_off + 1, MOST_RAISES - LEAST_RAISES);
    return state;
}
