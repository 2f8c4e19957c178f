/* SPDX-License-Identifier: Apache-2.0
 *
 * Which side holds the newest bytes, and how they are transferred. Each chunk of each block has a
 * state, which page protection enforces.
 *
 *            host page  device value  host read           host write        device write
 *   HOST     rw         none/stale    -                   -                 upload unless all -> DEVICE
 *   SHARED   r          valid         -                   -> HOST           -> DEVICE
 *   DEVICE   none       valid         download -> SHARED  download -> HOST  -
 *
 * Order: tighten protection before host bytes are read, loosen it after the last byte is in place,
 * publish the state after the protection.
 *
 * This header is for callers outside offload/, which fetch ranges to the host. None of these may be
 * called with a lock held.
 */
#pragma once

#include "arena.h"
#include "base.h"

#include <stdatomic.h>

/* Makes [address, address + size) readable (write false) or readable and writeable (write true) by the host, in as
 * few transfers as possible. Unmanaged parts of the range are left alone. Not for signal handlers. */
void gsh_coherence_fetch(const void *address, size_t size, bool write);

/* Notes whether the program holds the array's address as a number, and may use it after the array is freed. Any
 * thread. */
void gsh_coherence_note_address(const void *address, bool is_taken);
/* Call before the block that begins at the address is freed. If the program holds its address, its contents are
 * fetched to its pages, where they stay until the memory is used again. Other blocks are left alone. Thread rules as
 * for gsh_coherence_fetch. */
void gsh_coherence_fetch_if_address_taken(const void *address);

/* Copies the newest bytes of [address, address + size), which lie in one block, to plain memory. Opens no page and
 * changes no state: for bytes that are read once. For the policy this is a fetch only where the whole contents are read.
 * False: nothing was copied; use gsh_coherence_fetch. */
bool gsh_coherence_peek(void *to, const void *address, size_t size);

/* As gsh_coherence_fetch; the range then stays on the host until it is unpinned: no device work tightens its
 * protection. For system calls, which get EFAULT instead of a fault. Pins count and may be taken by several threads.
 * Keeps errno. */
void gsh_coherence_pin(const void *address, size_t size, bool write);
void gsh_coherence_unpin(const void *address, size_t size, bool write);

enum gsh_residency { GSH_UNMANAGED, GSH_RESIDENT_HOST, GSH_RESIDENT_SHARED, GSH_RESIDENT_DEVICE };
/* Where the newest copy of the byte is. */
enum gsh_residency gsh_coherence_residency(const void *address);

/* False while all memory of the arena is plain host memory: no look-up is needed then. */
static inline bool gsh_coherence_is_in_use(void)
{
    return atomic_load_explicit(&gsh_arena_departures, memory_order_relaxed) != 0;
}

/* Whether a chunk of the block that contains `address` is closed to the host. A stale answer is possible while device
 * work is submitted. */
bool gsh_coherence_block_is_closed(const void *address);

/* gsh_coherence_is_resident, for an address in the arena. */
bool gsh_coherence_block_is_resident(const void *address);

/* True where any chunk of the block that contains `address` is not plain host memory: a hook on a small array must
 * then examine it. */
static inline bool gsh_coherence_is_resident(const void *address)
{
    return gsh_coherence_is_in_use() && gsh_arena_contains(address) &&
           gsh_coherence_block_is_resident(address);
}
