/* SPDX-License-Identifier: Apache-2.0
 *
 * A quotient that forgets.
 */
#include "fetch_share.h"

#define WINDOW 64U
#define FIRST_TRIAL 8U
#define MOST_DOUBLINGS 7U

static bool is_trial(struct gsh_fetch_counts counts)
{
    return counts.left >= FIRST_TRIAL << GSH_MIN(counts.trials, MOST_DOUBLINGS);
}

static double share_of(struct gsh_fetch_counts counts)
{
    return counts.made == 0 ? 0.0 : GSH_MIN(1.0, (double)counts.fetched / counts.made);
}

double gsh_fetch_share(struct gsh_fetch_counts counts)
{
    return is_trial(counts) ? 0.0 : share_of(counts);
}

struct gsh_fetch_counts gsh_fetch_share_after_made(struct gsh_fetch_counts counts)
{
    if (counts.made >= WINDOW) {
        counts.made /= 2;
        counts.fetched /= 2;
    }
    counts.left = 0;
    if (2 * counts.fetched < counts.made)
        counts.trials = 0;
    return counts;
}

struct gsh_fetch_counts gsh_fetch_share_after_asked(struct gsh_fetch_counts counts)
{
    if (!is_trial(counts)) {
        counts.left++;
        return counts;
    }
    uint32_t was_fetched = 2 * share_of(counts) >= 1;
    return (struct gsh_fetch_counts){
        .made = 1, .fetched = was_fetched, .trials = counts.trials + 1};
}
