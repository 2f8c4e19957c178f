/* SPDX-License-Identifier: Apache-2.0
 *
 * Remembers how many elements of a mask are true: z[m] = f(z[m], c[m]) needs the count of the same mask three times.
 * A count belongs to one view of one version of a value (block.h); every write makes a new version. Nothing is
 * remembered about pages that the host may write at any time. Takes the DISPATCH lock.
 */
#pragma once

#include "launch.h"

/* The view of operand 0, in host addresses; only shape, strides and address matter. */
struct gsh_mask_count {
    const struct gsh_launch *mask;
    uint64_t version; /* set by find; 0: the contents may change unseen */
};

/* False: the count is not known. */
bool gsh_mask_count_find(struct gsh_mask_count *of, int64_t *count);
/* Remembers the count made after find has failed. Has no effect if the mask was written meanwhile. */
void gsh_mask_count_note(const struct gsh_mask_count *of, int64_t count);
