/* SPDX-License-Identifier: Apache-2.0
 *
 * A quotient that forgets.
 */
#include "fetch_share.h"

#define WINDOW 64U

struct gsh_fetch_counts gsh_fetch_share_after_made(struct gsh_fetch_counts counts)
{
    if (counts.made < WINDOW)
        return counts;
    return (struct gsh_fetch_counts){counts.made / 2, counts.fetched / 2};
}

double gsh_fetch_share(struct gsh_fetch_counts counts)
{
    return counts.made == 0 ? 0.0 : GSH_MIN(1.0, (double)counts.fetched / counts.made);
}
