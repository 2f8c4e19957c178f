/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of blocks and their locks.
 */
#include "block.h"

#include "futex.h"

struct gsh_block *gsh_block_table;

uint32_t gsh_block_index(const struct gsh_block *block)
{
    return (uint32_t)(block - gsh_block_table);
}

struct gsh_block *gsh_block_at(uint32_t index)
{
    return &gsh_block_table[index];
}

void gsh_block_acquire_sigsafe(struct gsh_block *block)
{
    gsh_futex_lock_sigsafe(&block->lock);
}

bool gsh_block_try_acquire_sigsafe(struct gsh_block *block)
{
    return gsh_futex_try_lock_sigsafe(&block->lock);
}

void gsh_block_release_sigsafe(struct gsh_block *block)
{
    gsh_futex_unlock_sigsafe(&block->lock);
}
