/* SPDX-License-Identifier: Apache-2.0
 *
 * Slabs of the arena's small zone: a slab's blocks are page-locked together, for good where one of them is in use. Free
 * blocks of a page-locked slab keep their pages; once all of them have been free for long enough, the slab is unlocked and
 * its pages go. It is locked again when its next block is taken. The states are read without a lock.
 */
#pragma once

#include "block.h"

#define GSH_SLAB_BYTES ((size_t)4 << 20)

/* Of the zone, whose size is a multiple of slabs; false: there is no memory. */
bool gsh_slabs_init(uintptr_t base, size_t size);
/* A slab that is newly cut, of open pages. Caller holds the ARENA lock. */
void gsh_slabs_register_locked(uintptr_t address);
/* The slab of a block that is about to be moved, where it was cut before the device was ready. Caller holds the block. */
void gsh_slabs_register_old(const struct gsh_block *block);
bool gsh_slabs_is_registered(uintptr_t address);
/* A small block leaves the pool, or is cut; it comes to the pool. Caller holds the ARENA lock. */
void gsh_slabs_note_taken_locked(const struct gsh_block *block);
void gsh_slabs_note_freed_locked(const struct gsh_block *block);
/* Around what discards pages of a free small block. False: it must not, and there is no end. */
bool gsh_slabs_begin_discard(const struct gsh_block *block);
void gsh_slabs_end_discard(const struct gsh_block *block);
/* Unlocks slabs whose blocks have all been free for so many looks (idle.h), and gives their pages back; true where others
 * are free. Any thread without a lock. */
bool gsh_slabs_trim(uint32_t looks);
/* fork. Caller holds the ARENA lock. */
void gsh_slabs_unregister_all_locked(void);
