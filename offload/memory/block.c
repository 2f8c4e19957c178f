/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of blocks and their locks.
 */
#include "block.h"

#include "lock.h"

struct gsh_block *gsh_block_table;

void gsh_block_acquire_sigsafe(struct gsh_block *block)
{
    gsh_lock_word_acquire_sigsafe(&block->lock, GSH_RANK_BLOCK);
}

bool gsh_block_try_acquire_sigsafe(struct gsh_block *block)
{
    return gsh_lock_word_try_acquire_sigsafe(&block->lock, GSH_RANK_BLOCK);
}

void gsh_block_release_sigsafe(struct gsh_block *block)
{
    gsh_lock_word_release_sigsafe(&block->lock, GSH_RANK_BLOCK);
}
