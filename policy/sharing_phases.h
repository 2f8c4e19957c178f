/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether threads that are awake pay for a series of loops that are too short for the model to tell. What one core reads from another
 * one's cache takes as long as a short computation; but where all loops are shared, each core finds its part in its own cache. So
 * a series of loops is tried both ways: A is shared, B is alone. Pure: no clock.
 */
#pragma once

#include "ab_trial.h"

extern const struct gsh_ab_rules gsh_sharing_phases;
