/* SPDX-License-Identifier: Apache-2.0
 *
 * Which share of an operation's results the host fetches, from how many the device made and how many of them were fetched.
 * The counts are halved whenever 64 were made, so that recent results weigh more.
 *
 * While that share keeps an operation's calls on the CPU, nothing is learned about where their results are used: the next call may
 * have moved to the device meanwhile. So one call is priced as if nobody fetched its result, after 8 calls that were left to the
 * CPU, and after twice as many each time that its result was fetched, at most 1024. Where it was not fetched, the share halves.
 * Pure functions of the counts.
 */
#pragma once

#include "base.h"

struct gsh_fetch_counts {
    uint32_t made, fetched;
    uint32_t left;   /* calls that were left to the CPU since one was made */
    uint32_t trials; /* in a row whose results were fetched */
};

/* The counts once one more result was made, which `made` includes: halved where there are many. */
struct gsh_fetch_counts gsh_fetch_share_after_made(struct gsh_fetch_counts counts);
/* Between 0 and 1; 0 where none was made, and for a trial. */
double gsh_fetch_share(struct gsh_fetch_counts counts);
/* The counts once gsh_fetch_share has been asked for a call. */
struct gsh_fetch_counts gsh_fetch_share_after_asked(struct gsh_fetch_counts counts);
