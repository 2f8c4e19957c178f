/* SPDX-License-Identifier: Apache-2.0
 *
 * Slabs of the arena's small zone. The blocks of a slab are page-locked together, and stay so while one of them is in
 * use. Free blocks of a page-locked slab keep their pages. Once all of them have been free for long enough, the slab
 * is unlocked and its pages are given back; it is locked again when its next block is taken. The states are read
 * without a lock.
 */
#pragma once

#include "block.h"

#define GSH_SLAB_BYTES ((size_t)4 << 20)

/* For the zone [base, base + size), a multiple of slabs. False: there is no memory. */
bool gsh_slabs_init(uintptr_t base, size_t size);
/* Locks a newly cut slab of open pages. Caller holds the ARENA lock. */
void gsh_slabs_register_locked(uintptr_t address);
/* Locks the slab of a block that is about to be transferred, if it was cut before the device was ready. Caller holds
 * the block. */
void gsh_slabs_register_old(const struct gsh_block *block);
bool gsh_slabs_is_registered(uintptr_t address);
/* Whether the block is small and in such a slab. */
bool gsh_slabs_has_registered(const struct gsh_block *block);
/* A small block was taken from the pool or cut; a small block was returned to the pool. Caller holds the ARENA lock. */
void gsh_slabs_note_taken_locked(const struct gsh_block *block);
void gsh_slabs_note_freed_locked(const struct gsh_block *block);
/* Enclose the discarding of a free small block's pages. begin returns false where they must not be discarded; end is
 * not called then. */
bool gsh_slabs_begin_discard(const struct gsh_block *block);
void gsh_slabs_end_discard(const struct gsh_block *block);
/* Unlocks slabs whose blocks have all been free for so many looks (idle.h), and gives their pages back. True where
 * other slabs are free too. Any thread that holds no lock. */
bool gsh_slabs_trim(uint32_t looks);
/* For fork: unlocks all slabs. Caller holds the ARENA lock. */
void gsh_slabs_unregister_all_locked(void);
