/* SPDX-License-Identifier: Apache-2.0
 *
 * The arena's interface for the rest of offload/.
 */
#pragma once

#include "arena.h"
#include "block.h"

#define GSH_ARENA_UNUSED_SHARE 16 /* a 16th of an array's bytes more may be resident */

/* Sets the protection that `state` requires on chunks first..last, then publishes the state. Caller holds the block.
 * FAILED (no mapping left): protection and state unchanged. Safe in the fault handler. */
enum gsh_status gsh_arena_protect_sigsafe(struct gsh_block *block, unsigned first, unsigned last,
                                          enum gsh_chunk_state state);

/* The adjacent block above or below, live or free; NULL: none. */
struct gsh_block *gsh_arena_block_beside_sigsafe(const struct gsh_block *block, bool above);
/* Opens the pages of a free block, which stays free, so that its neighbours share a mapping with it. Caller holds the
 * block. False: it is not free, or the system refuses. */
bool gsh_arena_open_idle_sigsafe(struct gsh_block *block);
/* The block, live or free, that contains an address of the arena; NULL: none. */
struct gsh_block *gsh_arena_block_of_sigsafe(const void *address);
/* Whether blocks may still be cut from [base, base + size) of the small zone. Caller holds the ARENA lock. */
bool gsh_arena_is_cut_from_locked(uintptr_t base, size_t size);
/* One past the last block's index. */
uint32_t gsh_arena_block_end_sigsafe(void);

/* Bytes of pages that an array of `size` bytes in a large or a small block can make resident. */
size_t gsh_arena_page_bytes_sigsafe(bool large, size_t size);

/* Page-locks the block's pages for transfers where that is possible and worthwhile. All chunks must be HOST, or the
 * caller must just have taken a free block. Caller holds the block. */
void gsh_arena_register(struct gsh_block *block);
/* Whether [offset, offset + size) of the block is page-locked. */
bool gsh_arena_is_registered(const struct gsh_block *block, size_t offset, size_t size);

/* The effect of a system call of the program on a block's pages (page_changes.h). */
enum gsh_page_change {
    GSH_PAGES_ALTERED,   /* their protection, locks or inheritance by children change */
    GSH_PAGES_DISCARDED, /* new pages take their places */
    GSH_PAGES_REPLACED   /* another mapping takes their places, or none */
};
/* Records the change before it happens. When the block is freed its pages are restored, or its addresses are not used
 * again. Caller holds the block. */
void gsh_arena_note_changed_held(struct gsh_block *block, enum gsh_page_change change);

/* Calls `visit` for every live block in ascending order of index. Caller holds the ARENA lock. */
void gsh_arena_visit_live_locked(void (*visit)(struct gsh_block *block, void *context),
                                 void *context);

/* Set in a child that was forked while another thread was changing the free lists: no block is allocated or freed any
 * more. */
extern bool gsh_arena_is_frozen;
/* Gives the pages of a free block back to the system, which its pool does not count any more. Caller holds the block, so that a thread
 * that takes it from the pool waits. */
void gsh_arena_give_pages_back_held(struct gsh_block *block);

/* For fork: take and release the ARENA lock; release every registration, so that copying the address space for the
 * child is cheap. */
void gsh_arena_lock(void);
void gsh_arena_unlock(void);
void gsh_arena_unregister_all_locked(void);
void gsh_arena_reset_after_fork(void);
