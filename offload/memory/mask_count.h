/* SPDX-License-Identifier: Apache-2.0
 *
 * How many elements of a mask are true, remembered: z[m] = f(z[m], c[m]) asks three times for the same mask. A count is that
 * of one view of one version of a value (block.h), which no write leaves as it is; nothing is known of pages that the host
 * may write at any time. Takes the DISPATCH lock.
 */
#pragma once

#include "launch.h"

/* Of operand 0's view, in host addresses; only shape, strides and address count. */
struct gsh_mask_count {
    const struct gsh_launch *mask;
    uint64_t version; /* set by find; 0: the contents may change unseen */
};

/* False: it is not known. */
bool gsh_mask_count_find(struct gsh_mask_count *of, int64_t *count);
/* Remembers what was counted after find had failed; of no use where the mask has been written meanwhile. */
void gsh_mask_count_note(const struct gsh_mask_count *of, int64_t count);
