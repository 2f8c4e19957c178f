/* SPDX-License-Identifier: Apache-2.0
 *
 * What one run of a script says about the next: whether starting the device paid, so that the next run starts it at once
 * instead of waiting until calls have foregone its price (one_time_cost.h). Pure functions; all times are seconds.
 */
#pragma once

#include "base.h"

/* Whether a start at once pays, if the next run gains as much. A script that has a profile keeps it while its runs gain half the
 * price, so that one whose gains are near the price does not have a profile every other time. */
bool gsh_script_profile_pays(double gains, double price, bool has_profile);

/* A run at its end. */
struct gsh_script_run {
    double gains;     /* of all calls that the device does sooner: made there, and foregone */
    double price;     /* that gains must reach for the device to be started */
    bool has_profile; /* of an earlier run */
    bool has_failed;  /* the device could not be started, or was retired */
    bool
        has_set_devices; /* changed CUDA's variables, which a driver that is open does not read again */
    bool forked_before_start; /* a start at once would give these children a parent with threads */
};

/* Whether the run leaves a profile. One that does not removes the script's profile. */
bool gsh_script_profile_is_left(const struct gsh_script_run *run);
