/* SPDX-License-Identifier: Apache-2.0
 *
 * The stats row of a group's time: named by what the group holds, as "group: multiply x2, add, exp -> sum", where the report is wanted. The
 * calls of a group count in their own rows, since the share of one of them in the time is not known; where that is one row for all of
 * them, the time is its, too.
 */
#pragma once

#include "fmt.h"
#include "node.h"
#include "plan.h"

/* nodes: those that the item's numbers are of. Caller holds the DISPATCH lock. */
unsigned gsh_node_group_row_locked(const struct gsh_plan_item *item, const struct gsh_node *nodes);
/* Appends that name. */
void gsh_node_group_row_append(struct gsh_fmt *fmt, const struct gsh_plan_item *item,
                               const struct gsh_node *nodes);
