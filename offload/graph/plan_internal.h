/* SPDX-License-Identifier: Apache-2.0
 *
 * What the planner's files share. plan.c puts nodes into items (fusion). plan_live.c finds live bytes and dead nodes.
 * plan_space.c aligns iteration spaces. plan_group.c writes an item as groups. plan_predicate.c turns operations on the selected
 * elements of a mask into operations on all elements under the mask (predication). plan_rematerialise.c computes a value again
 * where that is cheaper than loading it (rematerialisation).
 */
#pragma once

#include "plan.h"

#include <limits.h>

#define GSH_PLAN_NONE (-1)
#define GSH_PLAN_VALUES (GSH_PLAN_NODES * GSH_MAX_OPERANDS)

/* Bytes of a value, [low, high). */
struct gsh_plan_range {
    int64_t low, high;
};

struct gsh_plan_node {
    const struct gsh_node *node; /* as recorded, or its replacement */
    uint16_t origin;             /* the recorded node that it is or repeats */
    bool is_repeated;            /* computed again for this item alone (plan_rematerialise.c) */
    int16_t chain;               /* used by plan_predicate.c alone */
    bool is_dead;                /* no live byte depends on it */
    bool is_fusable;             /* may be part of a group */
    uint8_t overwrites;          /* bit k: operand k is an output that fills its range */
    int16_t item;
    int16_t next; /* of the same item, in program order */
    /* Of each dimension of the item's space: the launch's dimension, and how many steps in it one step makes. */
    uint8_t dims[GSH_MAX_DIMS];
    int64_t factors[GSH_MAX_DIMS];
    int16_t writer[GSH_MAX_OPERANDS]; /* the last write before that touches the range, an access */
    int16_t last_reader
        [GSH_OP_OUTPUTS]; /* the last node of the item that takes the output from its registers */
    bool is_stored[GSH_OP_OUTPUTS]; /* it is live outside of the item */
    uint8_t step;                   /* in the group that is being written */
    uint16_t part;                  /* of the item: the group that it was last written to */
};

/* Nodes that run together. Items run in the order of their indices. */
struct gsh_plan_set {
    int16_t first, last; /* nodes; NONE: the item was joined to another */
    uint16_t count, sinks;
    uint16_t loads, stores; /* arrays, at most */
    int after;              /* no item before this index depends on it */
    int ndim, kept;         /* kept: dimensions before the reduced ones; NONE without sinks */
    int64_t shape[GSH_MAX_DIMS];
    uint64_t needs[GSH_PLAN_NODES / 64]; /* nodes of other items that must have run before */
};

/* What a node does with the value of one of its operands. */
struct gsh_plan_touch {
    struct gsh_plan_range range; /* empty: a constant */
    int64_t step;                /* distances of its elements are multiples of it; 0: one element */
    int64_t width;               /* bytes of an element */
    int16_t older; /* the previous access of the same kind, read or write, to the value */
};

struct gsh_plan_value {
    struct gsh_value *value;
    struct gsh_plan_range written;                 /* by any node */
    struct gsh_plan_range needed;                  /* live bytes */
    int16_t reads, writes;                         /* newest access of each kind */
    struct gsh_plan_range read_range, write_range; /* what all of them touch */
    bool is_contracted; /* array contraction: no memory; it stays in the registers of one group */
    bool is_touched;    /* this member and the next four are used by plan_predicate.c alone */
    int16_t chain, last_write;
    enum gsh_dtype compressed_dtype;
    uint64_t compressed_address;
    bool is_rematerialised; /* no item stores it; used by plan_rematerialise.c alone */
};

struct gsh_plan {
    unsigned node_count, item_count, value_count;
    uint32_t epoch;
    struct gsh_plan_node nodes[GSH_PLAN_NODES];
    struct gsh_plan_touch touches[GSH_MAX_OPERANDS]
                                 [GSH_PLAN_NODES]; /* in the order in which lists are walked */
    struct gsh_plan_set items[GSH_PLAN_NODES];
    struct gsh_plan_value values[GSH_PLAN_VALUES];
    uint16_t
        uses[GSH_PLAN_NODES]; /* of each recorded node: nodes in items that are not written yet */
};

/* An access is a node and one of its operands. */
static inline int16_t gsh_plan_access(int node, unsigned operand)
{
    return (int16_t)(node * 8 + (int)operand);
}
static inline int gsh_plan_access_node(int access)
{
    return access >> 3;
}
static inline unsigned gsh_plan_access_operand(int access)
{
    return (unsigned)access & 7;
}

static inline struct gsh_plan_touch *gsh_plan_touch(struct gsh_plan *plan, int access)
{
    return &plan->touches[gsh_plan_access_operand(access)][gsh_plan_access_node(access)];
}

/* The greatest common divisor. */
static inline int64_t gsh_plan_common_step(int64_t x, int64_t y)
{
    while (y != 0 && x != y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

static inline bool gsh_plan_overlap(struct gsh_plan_range a, struct gsh_plan_range b)
{
    return a.low < b.high && b.low < a.high;
}

/* Whether two accesses to one value may touch the same byte. Elements that lie in different places of a common step do not:
 * planes of an array along its last axis, say, whose ranges overlap. */
static inline bool gsh_plan_collide(const struct gsh_plan_touch *x, const struct gsh_plan_touch *y)
{
    if (!gsh_plan_overlap(x->range, y->range))
        return false;
    int64_t step = gsh_plan_common_step(x->step, y->step);
    if (step == 0)
        return true;
    int64_t distance = (y->range.low - x->range.low) % step;
    if (distance < 0)
        distance += step;
    return distance < x->width || distance + y->width > step;
}

/* Whether whatever shares a byte with `y` collides with `x`. */
static inline bool gsh_plan_covers(const struct gsh_plan_touch *x, const struct gsh_plan_touch *y)
{
    bool is_dense = x->step <= x->width;
    bool is_alike = x->step == y->step && x->width >= y->width && x->step != 0 &&
                    (y->range.low - x->range.low) % x->step == 0;
    return x->range.low <= y->range.low && x->range.high >= y->range.high && (is_dense || is_alike);
}

static inline void gsh_plan_extend(struct gsh_plan_range *range, struct gsh_plan_range by)
{
    if (by.low >= by.high)
        return;
    if (range->low >= range->high) {
        *range = by;
        return;
    }
    range->low = GSH_MIN(range->low, by.low);
    range->high = GSH_MAX(range->high, by.high);
}

/* Starts a new analysis of the same nodes. */
static inline void gsh_plan_forget(struct gsh_plan *plan)
{
    plan->item_count = plan->value_count = 0;
    plan->epoch++;
}

static inline bool gsh_plan_is_sink(const struct gsh_plan_node *node)
{
    return gsh_launch_has(&node->node->launch, GSH_TRAIT_REDUCES);
}

/* ---- plan_live.c ---- */

/* Notes which values of the nodes are live-out: a value may die until the plan is made, but none comes alive. */
void gsh_plan_live_note_locked(const struct gsh_node *nodes, unsigned count);
/* Fills in ranges and marks the dead nodes. */
void gsh_plan_live_find_dead(struct gsh_plan *plan);
/* Fills in is_stored, last_reader, loads and stores, once nodes are in items. */
void gsh_plan_live_find_stores(struct gsh_plan *plan);
/* The entry of the value of a node's operand. */
struct gsh_plan_value *gsh_plan_live_find_value(struct gsh_plan *plan,
                                                const struct gsh_plan_node *node, unsigned operand);
/* Whether the operand is read: an input, a mask, or an output whose old bytes are kept. */
bool gsh_plan_live_is_read(struct gsh_plan *plan, const struct gsh_plan_node *node,
                           unsigned operand);
/* Whether the value was live-out when gsh_plan_live_note_locked was called: read after the flush. */
bool gsh_plan_live_is_live_out(const struct gsh_plan_value *value);

/* ---- plan_space.c ---- */

/* Makes the item the space of its one node: no extents of 1; dimensions in the order in which the launch's own collapsing
 * puts them; neighbours that step as one are one; an ELEMENTWISE node's first output steps forwards. */
void gsh_plan_space_lay_out(struct gsh_plan_set *item, struct gsh_plan_node *node);
/* Byte step of an operand along dimension d of the item's space, and its first element there. */
int64_t gsh_plan_space_stride(const struct gsh_plan_node *node, unsigned operand, int d);
int64_t gsh_plan_space_offset(const struct gsh_plan_set *item, const struct gsh_plan_node *node,
                              unsigned operand);
/* The same of the linear C-order index of the node's elements. */
int64_t gsh_plan_space_index_stride(const struct gsh_plan_node *node, int d);
int64_t gsh_plan_space_index_offset(const struct gsh_plan_set *item,
                                    const struct gsh_plan_node *node);
/* Refines the spaces of two items until they are one, in which the two accesses, one of each item, are the same view. False
 * where there is none; the items then still stand for the same work. */
bool gsh_plan_space_align(struct gsh_plan *plan, int x_access, int y_access);
/* Whether two accesses, of items with one space, are the same view; the dtypes may differ, but not in size. */
bool gsh_plan_space_is_same_view(const struct gsh_plan *plan, int x_access, int y_access);

/* ---- plan_group.c ---- */

/* Writes the nodes of the item from `first` on, as many as fit one group; returns the first that is left, or NONE. */
int gsh_plan_group_write(struct gsh_plan *plan, int first, struct gsh_plan_item *item);

/* ---- plan_predicate.c ---- */

/* Replaces chains from COMPRESS to EXPAND by ELEMENTWISE nodes over all elements of the mask. False: there are none. The
 * intermediate values of a chain have no memory. If the finished plan does not keep them in registers, it must be made again
 * without predication. */
bool gsh_plan_predicate(struct gsh_plan *plan);
/* Whether the finished plan keeps all of them in registers. */
bool gsh_plan_predicate_holds(struct gsh_plan *plan);

/* ---- plan_rematerialise.c ---- */

/* Works on a finished plan. Looks for values that one item stores only for other items to load. Where computing such a value
 * again takes the device less time than moving its bytes, it copies the nodes that compute it in front of the nodes that load
 * it. False: it found none. If true, the plan must be made again from the changed nodes. The copied nodes' values have no
 * memory, as those of gsh_plan_predicate. */
bool gsh_plan_rematerialise(struct gsh_plan *plan);
