/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether threads that are awake pay for a series of loops that are too short for the model to tell. What one core reads from another
 * one's cache takes as long as a short computation; but where all loops are shared, each core finds its part in its own cache. So it
 * is the series that is tried: some loops in a row are shared, some are not, and the time that passes for so much modelled work says
 * which is quicker. The other way is tried again from time to time. Pure: no clock.
 */
#pragma once

#include "base.h"

struct gsh_sharing_phases { /* zeros: initial */
    double last;            /* s: when the last loop began */
    double begun;           /* s: when the measured part of this phase began; 0: it has not */
    double work;            /* modelled s since then; before: since the phase began */
    float passed[2];    /* s for each modelled s: of phases that were shared, and alone; 0: none */
    unsigned phases;    /* in a row that went this way */
    unsigned confirmed; /* trials in a row, of which none was better */
    bool is_alone;      /* loops of this phase are not shared */
    bool is_trial;      /* this phase goes the way that was not the better one */
};

/* The state for a loop of so many modelled seconds that begins `now` (s, any origin): its is_alone is for this loop. */
struct gsh_sharing_phases gsh_sharing_phases_after(struct gsh_sharing_phases state, double seconds,
                                                   double now);
