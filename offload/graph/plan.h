/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan of a flush. It removes dead nodes, and fuses the others into groups (kernels/group.h). A plan is a list of items;
 * an item is one node or one group.
 *
 * Contract: running the items in order leaves in every live byte what running the nodes in program order leaves. A byte is
 * live if its value has a reference that no pending node holds, if a later node of the plan reads it, or if a pending node that
 * is not in the plan uses its value.
 *
 * All functions: the caller holds the DISPATCH lock, or the LAUNCH lock where the comment says so (dispatch_lock.h). They allocate
 * nothing.
 */
#pragma once

#include "group.h"
#include "node_types.h"

#define GSH_PLAN_NODES GSH_NODE_LIMIT /* most nodes of a plan */
#define GSH_PLAN_ITEM_NODES (GSH_GROUP_STEPS + GSH_GROUP_SINKS)

struct gsh_plan_item {
    int node;               /* >= 0: run this node alone; else the group */
    struct gsh_group group; /* collapsed; addresses are byte offsets into values[] */
    struct gsh_value *values[GSH_GROUP_ARRAYS]; /* of each array; NULL for index arrays */
    unsigned row;                               /* stats row of the first node */
    unsigned node_count;
    uint16_t nodes
        [GSH_PLAN_ITEM_NODES]; /* the item's nodes in program order; run one by one they do the same */
    bool is_again
        [GSH_PLAN_ITEM_NODES]; /* a later item computes the node again and needs its operands */
};

/* Whether values that no node reads are computed although no array has them any more: for measurements. Any thread. */
void gsh_plan_live_keep_results(bool keeps);
/* Begins the plan of `count` nodes in program order: notes which of their values are live-out. Their launches are not collapsed. The
 * caller leaves `nodes` unchanged until gsh_plan_next has returned NULL. A value is live-out if it has more references than pending
 * ones and is not set aside, or if later nodes use it (`later` in block.h, expiring.h). */
void gsh_plan_begin_locked(const struct gsh_node *nodes, unsigned count);
/* Makes the plan that was begun. Also under the LAUNCH lock. */
void gsh_plan_make(void);
/* Whether the node with this number is dead: no live byte depends on it, and it is in no item. Call it before the first
 * gsh_plan_next. */
bool gsh_plan_is_dead(unsigned number);
/* The next item, valid until the next call; NULL after the last one. */
const struct gsh_plan_item *gsh_plan_next(void);
