/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan of a flush: which recorded nodes run, in which order, and which of them run together as
 * a group (kernels/group.h). Running the items in order leaves in every value what running the
 * nodes one by one leaves, as far as anybody looks at it later: through a reference that no recorded
 * node holds, or by a node of the same flush. All under the DISPATCH lock; allocates nothing.
 */
#pragma once

#include "group.h"
#include "node.h"

#define GSH_PLAN_NODES GSH_NODE_LIMIT /* most nodes of one plan */
#define GSH_PLAN_ITEM_NODES (GSH_GROUP_STEPS + GSH_GROUP_SINKS)

struct gsh_plan_item {
    int node;               /* >= 0: run this node alone; else the group */
    struct gsh_group group; /* collapsed; addresses are byte offsets into values[] */
    struct gsh_value *values[GSH_GROUP_ARRAYS]; /* of each array; NULL for index arrays */
    unsigned row;                               /* stats row of the first node */
    unsigned node_count;
    uint16_t nodes
        [GSH_PLAN_ITEM_NODES]; /* what the item stands for, in program order; run one by one, each storing
                                            its outputs, they do the same */
    bool is_again
        [GSH_PLAN_ITEM_NODES]; /* a later item stands for the node too, and wants its operands */
};

/* Plans `count` nodes, which are in program order, not collapsed, and stay as they are until the last item was taken.
 * A value is looked at after the flush where it has more references than pending ones and is not set aside (block.h). */
void gsh_plan_make(const struct gsh_node *nodes, unsigned count);
/* Whether nobody looks at what the node with this number writes: it is in no item. The plan has no use for it. Before the
 * first item is taken. */
bool gsh_plan_is_needless(unsigned number);
/* The next item, which lives until the call after; NULL when there is none. */
const struct gsh_plan_item *gsh_plan_next(void);
