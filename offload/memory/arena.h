/* SPDX-License-Identifier: Apache-2.0
 *
 * The arena: one reserved address range in two zones (blocks of 2 MiB granules with huge pages;
 * blocks of 4 KiB granules below that), from which large arrays and all device outputs are taken.
 * "Is it ours" is two compares; "which block" one table look-up. Freed blocks are pooled with their
 * pages, their protection and their registration. Returned memory is at least 4096-byte aligned.
 */
#pragma once

#include "base.h"
#include "status.h"

#include <stdatomic.h>

struct gsh_block;

extern uintptr_t gsh_arena_base, gsh_arena_end; /* both 0 until gsh_arena_init succeeded */

/* Reserves the range and the tables. DECLINED where the system refuses: the library then stays
 * dormant. */
enum gsh_status gsh_arena_init(void);

static inline bool gsh_arena_contains(const void *address)
{
    return (uintptr_t)address - gsh_arena_base < gsh_arena_end - gsh_arena_base;
}

/* True where [address, address + size) touches the arena; size may be 0. */
static inline bool gsh_arena_overlaps(const void *address, size_t size)
{
    return (uintptr_t)address < gsh_arena_end && (uintptr_t)address + size > gsh_arena_base;
}

/* The live block that holds the address, or NULL. */
struct gsh_block *gsh_arena_find_block_sigsafe(const void *address);
/* The same for those that never run in the fault handler. */
static inline struct gsh_block *gsh_arena_find_block(const void *address)
{
    return gsh_arena_find_block_sigsafe(address);
}

/* Set for good when a first chunk stops being plain host memory. */
extern _Atomic bool gsh_arena_has_resident;

/* How the memory will be used first. */
enum gsh_arena_use {
    GSH_ARENA_HOST,  /* the host writes first: open pages, contents undefined */
    GSH_ARENA_ZERO,  /* the host may read zeros */
    GSH_ARENA_DEVICE /* the device writes all of it first: closed pages, contents undefined */
};

/* `size` bytes (0 counts as 1), or NULL: arena exhausted, mappings' budget spent, more than the system gives anybody, or
 * not live. */
void *gsh_arena_allocate(size_t size, enum gsh_arena_use use);
/* Whether the system would give a program so many bytes at once; always true of small sizes. */
bool gsh_arena_is_granted(size_t size);
/* Gives a block back by its first address; device work in flight on it goes on. Never waits for the
 * device. False: it is none, as others may have what the arena gave up. */
bool gsh_arena_free(void *address);
/* The program is about to limit its address space, or its data, to so many bytes: the arena gives up what it has reserved,
 * where that is too much beside them, and grows no more. Takes the ARENA lock. */
void gsh_arena_yield(uint64_t limit);
/* Whether gsh_arena_init may reserve anything: not where that would be populated at once. */
void gsh_arena_permit(bool permitted);
/* Bytes usable from the block's first address on. */
size_t gsh_arena_usable(void *address);
