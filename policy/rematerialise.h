/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether an intermediate result is computed again by each kernel that reads it, instead of being stored once and loaded by
 * each: from the bytes that storing and loading moves, the bytes that computing it again has to load, and the arithmetic of
 * that. Pure functions; `rates` NULL: there is no device, and nothing is computed again.
 */
#pragma once

#include "cost_model.h"

/* Whether that could pay if computing it were free; `stored`: bytes stored and loaded. */
bool gsh_rematerialise_could_pay(const struct gsh_rates *rates, double stored);
/* Whether it pays; `loaded`: bytes to be loaded instead; `host_ns`: of a CPU core, for the arithmetic. */
bool gsh_rematerialise_pays(const struct gsh_rates *rates, double stored, double loaded,
                            double host_ns);
