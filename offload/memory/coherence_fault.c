/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "coherence_fault.h"

#include "coherence_open.h"
#include "coherence_stop.h"
#include "mapping_budget.h"
#include "stats.h"

/* Opens the chunk, or the whole block where mappings are short. Caller holds the block. */
static enum gsh_fault_outcome open_held_sigsafe(struct gsh_block *block, unsigned chunk)
{
    bool needs_device = block->state[chunk] == GSH_CHUNK_DEVICE;
    if (!needs_device && gsh_mapping_budget_has_room_sigsafe() &&
        gsh_coherence_open_sigsafe(block, chunk, chunk) == GSH_OK)
        return GSH_FAULT_RESOLVED;
    if (gsh_block_has_state(block, GSH_CHUNK_DEVICE))
        return GSH_FAULT_NEEDS_SERVICE;
    if (gsh_coherence_open_joined_sigsafe(block) != GSH_OK)
        gsh_coherence_stop_sigsafe(block, "the system refuses to change the protection of pages");
    return GSH_FAULT_RESOLVED;
}

static enum gsh_fault_outcome resolve_held_sigsafe(struct gsh_block *block, unsigned chunk,
                                                   bool write)
{
    if (!gsh_block_needs_opening(block, chunk, write))
        return block->is_altered ? GSH_FAULT_PROGRAMS : GSH_FAULT_ALREADY_OPEN;
    enum gsh_fault_outcome outcome = open_held_sigsafe(block, chunk);
    if (outcome == GSH_FAULT_RESOLVED)
        gsh_stats_add_sigsafe(GSH_COUNTER_FAULTS_WRITE, 1);
    return outcome;
}

enum gsh_fault_outcome gsh_coherence_fault_sigsafe(const void *address, bool write)
{
    struct gsh_block *block = gsh_arena_find_block_sigsafe(address);
    if (block == NULL ||
        (uintptr_t)address - block->base >= gsh_round_up(block->size, GSH_GRANULE_SMALL))
        return GSH_FAULT_UNMANAGED;
    unsigned chunk =
        GSH_MIN(gsh_block_chunk(block, (uintptr_t)address - block->base), block->chunks - 1U);
    gsh_block_acquire_sigsafe(block);
    enum gsh_fault_outcome outcome = resolve_held_sigsafe(block, chunk, write);
    gsh_block_release_sigsafe(block);
    return outcome;
}

void gsh_coherence_fault_stop_child_sigsafe(const void *address)
{
    const struct gsh_block *block = gsh_arena_find_block_sigsafe(address);
    if (block != NULL)
        gsh_coherence_stop_sigsafe(block,
                                   "a forked child needs what only its parent's device holds");
}
