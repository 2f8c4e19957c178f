/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Reads are charged until the contents change. Stores are charged until the device accepts another
 * call, which would have needed the chunk there again.
 */
#include "element.h"

#include "arena_internal.h"
#include "backend.h"
#include "coherence.h"
#include "dispatch_internal.h"
#include "element_rent.h"
#include "value.h"

/* Tolerates a stale answer. */
static bool is_away(const struct gsh_block *block, const void *address)
{
    return gsh_block_peek_state(block, gsh_block_chunk(block, (uintptr_t)address - block->base)) ==
           GSH_CHUNK_DEVICE;
}

/* The block if only the device holds its chunk at the address; else NULL. */
static struct gsh_block *find_away(const void *address)
{
    struct gsh_block *block = gsh_arena_find_block(address);
    return block != NULL && (uintptr_t)address - block->base < block->size &&
                   is_away(block, address)
               ? block
               : NULL;
}

static uint64_t version_held(const struct gsh_block *block)
{
    return block->value == NULL ? 0 : block->value->version;
}

static struct gsh_element_price price_held(const struct gsh_block *block, const void *address,
                                           bool is_store)
{
    unsigned chunk = gsh_block_chunk(block, (uintptr_t)address - block->base);
    size_t offset = gsh_block_chunk_offset(block, chunk);
    size_t bytes = GSH_MIN(gsh_block_run_bytes(block, chunk, chunk), block->size - offset);
    bool is_pinned = gsh_arena_is_registered(block, offset, bytes);
    return (is_store ? gsh_element_rent_store_price
                     : gsh_element_rent_read_price)(gsh_backend_rates(), (double)bytes, is_pinned);
}

static bool pay_for_read(struct gsh_block *block, const void *address)
{
    gsh_block_acquire_sigsafe(block);
    struct gsh_element_price price = price_held(block, address, false);
    uint64_t version = version_held(block);
    bool is_paid = gsh_element_rent_pay(&block->rent, &price, block->rent.version != version);
    block->rent.version = version;
    gsh_block_release_sigsafe(block);
    return is_paid;
}

static bool pay_for_store(struct gsh_block *block, const void *address)
{
    gsh_block_acquire_sigsafe(block);
    struct gsh_element_price price = price_held(block, address, true);
    bool is_first = block->rent.calls != gsh_dispatch_submitted();
    bool is_paid = gsh_element_rent_pay(&block->rent, &price, is_first);
    gsh_block_release_sigsafe(block);
    return is_paid;
}

bool gsh_element_read(void *to, const void *address, size_t size)
{
    struct gsh_block *block = find_away(address);
    return block != NULL && pay_for_read(block, address) && gsh_coherence_peek(to, address, size);
}

bool gsh_element_is_stored_there(const void *address)
{
    struct gsh_block *block = find_away(address);
    return block != NULL && pay_for_store(block, address);
}

void gsh_element_note_stored(const void *address)
{
    struct gsh_block *block = gsh_arena_find_block(address);
    if (block == NULL)
        return;
    gsh_block_acquire_sigsafe(block);
    block->rent.version = version_held(block);
    block->rent.calls = gsh_dispatch_submitted();
    gsh_block_release_sigsafe(block);
}
