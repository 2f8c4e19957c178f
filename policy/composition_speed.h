/* SPDX-License-Identifier: Apache-2.0
 *
 * Seconds of a function on the CPU and on the device where no model knows its work: a function that is composed of others
 * (offload/dispatch/composition.h). The CPU's follow from its last calls there, by the bytes of their operands. Pure: no clock, no
 * state of its own.
 */
#pragma once

#include "cost_model.h"

struct gsh_composition_speed {
    float last,
        before; /* seconds a byte of the last call on the CPU and of the one before; 0: none */
};

/* The state after a call with operands of so many bytes, above 0, took `seconds` on the CPU. */
struct gsh_composition_speed gsh_composition_speed_after(struct gsh_composition_speed state,
                                                         double bytes, double seconds);
/* Seconds of such a call on the CPU, by the faster of the two; 0: not known. */
double gsh_composition_speed_host(struct gsh_composition_speed state, double bytes);
/* Seconds on the device of a call that takes `host` seconds on the CPU. An estimate from above: dozens of launches, and a sixteenth of `host`. */
double gsh_composition_speed_device(const struct gsh_rates *rates, double host);
