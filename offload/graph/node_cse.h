/* SPDX-License-Identifier: Apache-2.0
 *
 * Common subexpressions among reductions: `x.std()` sums x as `x.mean()` does before it. The later reduction becomes
 * a copy of the earlier result, and its call gets the errors of the earlier one (errors.h).
 */
#pragma once

#include "node_types.h"

/* If one of `count` recorded nodes leaves the same bytes, makes the node, which is to be recorded after them, a copy
 * of its result. Takes no references. Under the DISPATCH lock. */
void gsh_node_cse_copy_locked(const struct gsh_node *recorded, unsigned count,
                              struct gsh_node *node);
/* Remembers recorded reductions, which run while later calls are still being recorded. Takes a reference to each
 * result. */
void gsh_node_cse_keep_locked(const struct gsh_node *recorded, unsigned count);
/* Forgets them and releases the references. */
void gsh_node_cse_forget_locked(void);
