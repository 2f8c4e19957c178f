/* SPDX-License-Identifier: Apache-2.0
 *
 * What arena.c offers to the rest of offload/ only.
 */
#pragma once

#include "arena.h"
#include "block.h"

/* Sets the protection that `state` asks for on chunks first..last and publishes the state after it.
 * Caller holds the block. FAILED (no mapping left): protection and state unchanged. Safe in the
 * fault handler. */
enum gsh_status gsh_arena_protect_sigsafe(struct gsh_block *block, unsigned first, unsigned last,
                                          enum gsh_chunk_state state);

/* The block, free or not, that ends where this one begins, or begins where it ends; NULL: none. */
struct gsh_block *gsh_arena_block_beside_sigsafe(const struct gsh_block *block, bool above);
/* Opens a block that is free and stays so, for the sake of its neighbours. Caller holds it. False: it is not free, or the
 * system refuses. */
bool gsh_arena_open_idle_sigsafe(struct gsh_block *block);
/* The block, free or not, that an address in the arena is in; NULL: none. */
struct gsh_block *gsh_arena_block_of_sigsafe(const void *address);
/* Whether more blocks may be cut from small pages in [base, base + size). Caller holds the ARENA lock. */
bool gsh_arena_is_cut_from_locked(uintptr_t base, size_t size);
/* One past the last block's index. */
uint32_t gsh_arena_block_end_sigsafe(void);

/* Page-locks the block's pages for transfers where that can and should be done now (all chunks
 * HOST, or the caller just took a free block). Caller holds the block. */
void gsh_arena_register(struct gsh_block *block);
/* Whether [offset, offset + size) of the block is page-locked. */
bool gsh_arena_is_registered(const struct gsh_block *block, size_t offset, size_t size);

/* What the program's own system calls do to a block's pages (page_changes.h). */
enum gsh_page_change {
    GSH_PAGES_ALTERED,   /* their protection, locks, or what a child inherits of them */
    GSH_PAGES_DISCARDED, /* new pages come in their places */
    GSH_PAGES_REPLACED   /* another mapping comes in their places, or none */
};
/* Before the change: when the block is freed its pages are made as they were, or its addresses are not used again.
 * Caller holds the block. */
void gsh_arena_note_changed_held(struct gsh_block *block, enum gsh_page_change change);

/* Calls `visit` for every live block in ascending order of index. Caller holds the ARENA lock. */
void gsh_arena_visit_live_locked(void (*visit)(struct gsh_block *block, void *context),
                                 void *context);

/* In a child that was forked in the midst of what another thread did to the free lists: no block is given out or taken back
 * any more. */
extern bool gsh_arena_is_frozen;
/* Of a free block with pages that can be given back (is_pooled): they no longer can. Caller holds the ARENA lock. */
void gsh_arena_unpool_locked(struct gsh_block *block);
/* Gives the pages of such a block back to the system. Caller holds the block: who takes it from the pool meanwhile waits. */
void gsh_arena_give_pages_back_held(struct gsh_block *block);

/* fork: takes and gives back the ARENA lock; releases every registration, so that the child's copy
 * is cheap. */
void gsh_arena_lock(void);
void gsh_arena_unlock(void);
void gsh_arena_unregister_all_locked(void);
void gsh_arena_reset_after_fork(void);
