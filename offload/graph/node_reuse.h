/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of values that a group reads and nobody needs afterwards, for values that it writes: a long
 * chain then takes no more of it than its results do. Under the DISPATCH lock.
 */
#pragma once

#include "plan.h"

/* What a group's written arrays took over: the values that had the memory before, NULL for none. */
struct gsh_node_reuse {
    struct gsh_value *from[GSH_GROUP_ARRAYS];
    size_t bytes; /* of them all */
};

/* Gives the value that the group's store number `store` writes, where it has no memory yet, that of a value that dies with
 * the group and is read element by element where the store writes. `nodes`: what the item's numbers stand for. */
void gsh_node_reuse_locked(const struct gsh_plan_item *item, const struct gsh_node *nodes,
                           unsigned store, struct gsh_node_reuse *reuse);
/* The group was not run: everything as it was. */
void gsh_node_reuse_undo_locked(const struct gsh_plan_item *item,
                                const struct gsh_node_reuse *reuse);
