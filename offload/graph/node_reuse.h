/* SPDX-License-Identifier: Apache-2.0
 *
 * Reuses the memory of values that a group reads and that are dead afterwards for values that it writes. A long chain
 * then takes no more memory than its results. Under the DISPATCH lock.
 */
#pragma once

#include "plan.h"

/* The values whose memory a group's written arrays took over; NULL for none. */
struct gsh_node_reuse {
    struct gsh_value *from[GSH_GROUP_ARRAYS];
    size_t bytes; /* sum of their sizes */
};

/* If the value of the group's store number `store` has no memory yet, gives it the memory of a value that dies with
 * the group and is read element by element where the store writes. `nodes`: those that the item's numbers refer to. */
void gsh_node_reuse_locked(const struct gsh_plan_item *item, const struct gsh_node *nodes,
                           unsigned store, struct gsh_node_reuse *reuse);
/* Restores everything: the group was not run. */
void gsh_node_reuse_undo_locked(const struct gsh_plan_item *item,
                                const struct gsh_node_reuse *reuse);
