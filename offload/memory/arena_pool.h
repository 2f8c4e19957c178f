/* SPDX-License-Identifier: Apache-2.0
 *
 * The arena's free blocks, by zone and size class, closed or open as they are. They keep their pages up to a limit; beyond it the least
 * recently used classes give theirs back. All functions need the ARENA lock.
 */
#pragma once

#include "base.h"

struct gsh_block;

/* `limit`: most bytes of pages that free blocks may keep, whatever the program held. Once, before blocks are allocated. */
void gsh_arena_pool_init(size_t limit);

/* From now on an array may have a free block of any larger size class, not only of the next ones. Once, before blocks are allocated. */
void gsh_arena_pool_reuse_any_size(void);

/* Takes a free block of the size class out of its pool: one whose pages are already as wanted, else any if the mapping budget has room,
 * else for open pages one of a larger class. `needed`: bytes of pages that the array can make resident. NULL: there is none. */
struct gsh_block *gsh_arena_pool_take_locked(bool large, unsigned class, size_t needed,
                                             bool closed);
/* Counts a block that was taken or cut as the program's, with as many bytes. Where that exceeds the limit, pages of other free blocks move
 * to the block if it lacks some and keeps them (page_moves.h), or are given back. False: its own pages were lost meanwhile, it must not be
 * used. */
bool gsh_arena_pool_note_taken_locked(struct gsh_block *block, size_t needed, bool keeps_pages);
/* Puts a block that the program freed into its pool. */
void gsh_arena_pool_give_locked(struct gsh_block *block, bool closed);
/* Notes that the caller is about to give the free block's pages back: its pool does not count them any more. */
void gsh_arena_pool_note_given_back_locked(struct gsh_block *block);
