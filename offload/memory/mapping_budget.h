/* SPDX-License-Identifier: Apache-2.0
 *
 * The mapping budget: boundaries between pages of different protection, each of which takes one of the process's
 * mappings (vm.max_map_count), and their limit. No lock.
 */
#pragma once

#include "block.h"

/* Sets the largest number of boundaries; once. */
void gsh_mapping_budget_set(int64_t boundaries);
/* Updates the block's charge after its states have changed. Caller holds it. */
void gsh_mapping_budget_charge_sigsafe(struct gsh_block *block);
/* True while the budget allows more blocks whose protection differs from their neighbours'. */
bool gsh_mapping_budget_has_room_sigsafe(void);
