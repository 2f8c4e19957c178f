/* SPDX-License-Identifier: Apache-2.0
 *
 * By what the cost model's seconds on the CPU are multiplied, for one operation and one class of such seconds, from the last
 * three ratios of measured time to modelled time. Only calls that run on the CPU give ratios.
 *  - Fewer than three ratios, or the least of them at most 2: the factor is the least ratio, but at most 1. A CPU that is
 *    faster than the model is believed at once.
 *  - Three ratios, all above 2: the factor is half of the least one, so above 1: the CPU is taken to be slow. The device then
 *    gets the calls, and nothing is measured any more. Therefore the oldest ratio is dropped after 8 prices were raised, and
 *    one call runs on the CPU again. If that is slow too, the next drop comes after 16, then 32, up to 256; a ratio of at
 *    most 2 resets this to 8.
 *  - No ratio: the least ratio of the two neighbouring classes, but at most 1.
 * Pure: no clock, no state of its own.
 */
#pragma once

#include "base.h"

enum { GSH_HOST_SPEED_SAMPLES = 3, GSH_HOST_SPEED_CLASSES = 8 };

struct gsh_host_speed {
    float ratios[GSH_HOST_SPEED_SAMPLES]; /* measured over modelled; 0: none */
    unsigned next;                        /* place of the oldest ratio, modulo SAMPLES */
    unsigned raised;                      /* prices, since a ratio was dropped */
    unsigned back_off; /* the next ratio is dropped after 2^(3 + back_off) of them */
};

/* The class of a call that is modelled at so many seconds on the CPU: each class spans a factor of 4, and the last one all
 * that is longer. -1: shorter than 0.1 ms, not worth measuring. */
int gsh_host_speed_class(double seconds);

/* The factor. `below`, `above`: the neighbouring classes, NULL where there is none. */
double gsh_host_speed_factor(const struct gsh_host_speed *own, const struct gsh_host_speed *below,
                             const struct gsh_host_speed *above);

/* The mean of its ratios, whatever follows from them; 0: there is none. */
double gsh_host_speed_mean(const struct gsh_host_speed *state);

/* The state after a call took `ratio` times its modelled time. */
struct gsh_host_speed gsh_host_speed_after_call(struct gsh_host_speed state, double ratio);
/* The state after a price was raised, which is a factor above 1. */
struct gsh_host_speed gsh_host_speed_after_raise(struct gsh_host_speed state);
