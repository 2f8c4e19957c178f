/* SPDX-License-Identifier: Apache-2.0
 *
 * The arena: one reserved address range from which large arrays and all device outputs are allocated. It has two
 * zones: blocks of 2 MiB granules with huge pages, and blocks of 4 KiB granules for smaller sizes. Whether an address
 * is in the arena takes two compares; its block takes one table look-up. Freed blocks are pooled with their pages,
 * their protection and their registration. Returned memory is aligned to at least 4096 bytes.
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
/* The same for callers other than the fault handler. */
static inline struct gsh_block *gsh_arena_find_block(const void *address)
{
    return gsh_arena_find_block_sigsafe(address);
}

/* How often pages were given another protection than plain host memory has. 0: all memory of the arena is plain host memory. While it
 * does not change, no page is closed to the host. Relaxed: a reader may see a stale number. */
extern _Atomic uint64_t gsh_arena_departures;

/* The first use of the memory. */
enum gsh_arena_use {
    GSH_ARENA_HOST,  /* the host writes first: open pages, contents undefined */
    GSH_ARENA_ZERO,  /* the host may read zeros */
    GSH_ARENA_DEVICE /* the device writes all of it first: closed pages, contents undefined */
};

/* Allocates `size` bytes (0 counts as 1). NULL: the arena is exhausted or not live, the mapping budget is spent, or
 * the system would not grant the size. */
void *gsh_arena_allocate(size_t size, enum gsh_arena_use use);
/* Frees the block that begins at `address`. Device work in flight on it continues; never waits for the device. False:
 * no live block is there; addresses that the arena gave up may belong to others. */
bool gsh_arena_free(void *address);
/* The program is about to limit its address space or its data to `limit` bytes. If the reserved range is too large
 * for that, the arena unmaps its unused part and does not grow any more. Takes the ARENA lock. */
void gsh_arena_yield(uint64_t limit);
/* From now on no device fills pages, for which all pages of a block must be of one kind: memory that arrays leave unused is not resident,
 * and free pages serve arrays of all smaller sizes. Once, before arrays are allocated. */
void gsh_arena_serve_host_alone(void);
/* Whether gsh_arena_init may reserve address space. False where reserved memory would be populated at once. */
void gsh_arena_permit(bool permitted);
/* Usable bytes from `address` to the end of its block; 0: not in a live block. */
size_t gsh_arena_usable(void *address);
