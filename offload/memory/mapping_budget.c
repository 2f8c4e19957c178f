/* SPDX-License-Identifier: Apache-2.0
 *
 * Each block's charge is updated as its states change. The sum is never less than the number of boundaries; they are
 * counted only where the sum exceeds the budget.
 */
#include "mapping_budget.h"

#include "arena_internal.h"
#include "pages.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define CHANGES_TO_COUNT 1024 /* of states, until boundaries are counted again */

static _Atomic int64_t charged;
static _Atomic int64_t counted;  /* boundaries when they were last counted */
static _Atomic uint32_t changes; /* of states since then */
static int64_t budget;

void gsh_mapping_budget_set(int64_t boundaries)
{
    budget = boundaries;
}

/* Boundaries between pages of different protection that this block is charged with. */
static uint32_t charge_of_sigsafe(const struct gsh_block *block)
{
    int usual = block->device_born ? PROT_NONE : PROT_READ | PROT_WRITE;
    int previous = usual;
    uint32_t count = 0;
    for (unsigned chunk = 0; chunk < block->chunks; chunk++) {
        int protection = gsh_pages_protection(block->state[chunk]);
        count += protection != previous;
        previous = protection;
    }
    return count + (previous != usual);
}

void gsh_mapping_budget_charge_sigsafe(struct gsh_block *block)
{
    uint32_t count = charge_of_sigsafe(block);
    if (count != block->boundaries)
        atomic_fetch_add_explicit(&charged, (int64_t)count - (int64_t)block->boundaries,
                                  memory_order_relaxed);
    atomic_fetch_add_explicit(&changes, 1, memory_order_relaxed);
    block->boundaries = count;
}

static int protection_at_sigsafe(const struct gsh_block *block, bool at_end)
{
    if (block->chunks == 0)
        return block->device_born ? PROT_NONE : PROT_READ | PROT_WRITE;
    return gsh_pages_protection(block->state[at_end ? block->chunks - 1 : 0]);
}

/* Boundaries within the block, and the one below it. */
static int64_t count_boundaries_sigsafe(const struct gsh_block *block)
{
    const struct gsh_block *below = gsh_arena_block_beside_sigsafe(block, false);
    int64_t count =
        below != NULL && protection_at_sigsafe(below, true) != protection_at_sigsafe(block, false);
    for (unsigned chunk = 1; chunk < block->chunks; chunk++)
        count += gsh_pages_protection(block->state[chunk - 1]) !=
                 gsh_pages_protection(block->state[chunk]);
    return count;
}

/* Neighbours with the same protection share a mapping, which the charges of single blocks do not take into account.
 * Other threads may change states meanwhile: the count is accurate to about CHANGES_TO_COUNT. */
static void count_all_boundaries_sigsafe(void)
{
    uint32_t end = gsh_arena_block_end_sigsafe();
    int64_t count = 0;
    for (uint32_t index = 1; index < end; index++)
        count += count_boundaries_sigsafe(gsh_block_at(index));
    atomic_store_explicit(&counted, count, memory_order_relaxed);
}

bool gsh_mapping_budget_has_room_sigsafe(void)
{
    if (GSH_LIKELY(atomic_load_explicit(&charged, memory_order_relaxed) < budget))
        return true;
    if (atomic_load_explicit(&changes, memory_order_relaxed) >= CHANGES_TO_COUNT) {
        atomic_store_explicit(&changes, 0, memory_order_relaxed);
        count_all_boundaries_sigsafe();
    }
    return atomic_load_explicit(&counted, memory_order_relaxed) < budget;
}
