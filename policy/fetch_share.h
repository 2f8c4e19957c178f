/* SPDX-License-Identifier: Apache-2.0
 *
 * Which share of an operation's results the host fetches, from how many the device made and how many of them were fetched.
 * The counts are halved whenever 64 were made, so that recent results weigh more. Pure functions of the counts.
 */
#pragma once

#include "base.h"

struct gsh_fetch_counts {
    uint32_t made, fetched;
};

/* The counts once one more result was made, which `counts` includes: halved where there are many. */
struct gsh_fetch_counts gsh_fetch_share_after_made(struct gsh_fetch_counts counts);
/* Between 0 and 1; 0 where none was made. */
double gsh_fetch_share(struct gsh_fetch_counts counts);
