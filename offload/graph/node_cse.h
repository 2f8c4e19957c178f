/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions that a recorded one computes already: `x.std()` sums x as `x.mean()` before it does. The later
 * one becomes a copy of the result, and its call is told the errors of the earlier one (errors.h).
 */
#pragma once

#include "node_types.h"

/* Makes the node, which is to be recorded behind `count` others, a copy of what one of them leaves, where that is the same
 * bytes. Takes no references. Under the DISPATCH lock. */
void gsh_node_cse_copy_locked(const struct gsh_node *recorded, unsigned count,
                              struct gsh_node *node);
/* Remembers recorded reductions, which run now while what follows is still being recorded; a reference to each result. */
void gsh_node_cse_keep_locked(const struct gsh_node *recorded, unsigned count);
/* Forgets them. */
void gsh_node_cse_forget_locked(void);
