/* SPDX-License-Identifier: Apache-2.0
 *
 * A temporary pin keeps the block on the host until the permanent one is set. Checked by
 * tests/unit/interpose/libc/test_libc_memory.c.
 */
#include "page_changes.h"

#include "block.h"
#include "coherence.h"

static void pin_for_good_held(struct gsh_block *block, const enum gsh_page_change *change)
{
    if (!atomic_load_explicit(&block->live, memory_order_acquire))
        return;
    atomic_fetch_or(&block->write_pins, GSH_PINNED_FOR_GOOD);
    if (change != NULL)
        gsh_arena_note_changed_held(block, *change);
}

static void keep_block_on_host(struct gsh_block *block, const enum gsh_page_change *change)
{
    const void *base = (void *)block->base;
    size_t size = block->size;
    gsh_coherence_pin(base, size, true);
    gsh_block_acquire_sigsafe(block);
    pin_for_good_held(block, change);
    gsh_block_release_sigsafe(block);
    gsh_coherence_unpin(base, size, true);
}

/* `change`: the change that follows; NULL: none. */
static void visit(const void *address, size_t size, const enum gsh_page_change *change)
{
    if (size == 0 || !gsh_arena_overlaps(address, size))
        return;
    uintptr_t place = GSH_MAX((uintptr_t)address, gsh_arena_base);
    struct gsh_block *block = gsh_arena_find_block((void *)place);
    while (block != NULL && block->base < (uintptr_t)address + size) {
        if (atomic_load_explicit(&block->live, memory_order_acquire))
            keep_block_on_host(block, change);
        block = gsh_arena_block_beside_sigsafe(block, true);
    }
}

void gsh_page_changes_keep_on_host(const void *address, size_t size)
{
    visit(address, size, NULL);
}

void gsh_page_changes_prepare(const void *address, size_t size, enum gsh_page_change change)
{
    visit(address, size, &change);
}
