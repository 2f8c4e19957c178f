/* SPDX-License-Identifier: Apache-2.0
 *
 * Page protection and the filling of protected pages. Uses raw system calls only, so all of it may run in the fault
 * handler or beside it. Independent of blocks.
 */
#pragma once

#include "base.h"
#include "block.h"
#include "status.h"

#include <sys/mman.h>

/* The protection that goes with a chunk's state: HOST rw, SHARED r, DEVICE and BLANK none. */
static inline int gsh_pages_protection(enum gsh_chunk_state state)
{
    if (state == GSH_CHUNK_HOST)
        return PROT_READ | PROT_WRITE;
    return state == GSH_CHUNK_SHARED ? PROT_READ : PROT_NONE;
}

/* mprotect by raw system call; false where the kernel refuses (no mapping left). Keeps errno. */
bool gsh_pages_protect_sigsafe(uintptr_t base, size_t size, int protection);

/* Whether pages can be offered to the kernel (MADV_FREE) safely and at no cost: that needs huge pages. */
bool gsh_pages_can_offer(void);
/* Whether the system would grant a program so many bytes at once. Always true of small sizes. */
bool gsh_pages_are_granted(size_t size);

/* vm.max_map_count, or its default 65530 where it cannot be read. */
int64_t gsh_pages_max_mappings(void);

/* Chooses how closed pages are filled (option FILL) by testing the methods on scratch pages at [scratch, scratch + 2
 * granules), which are open and unused. DECLINED: no method works. */
enum gsh_status gsh_pages_init(uintptr_t scratch);

/* Puts `size` bytes, whole pages, into closed pages so that no thread sees them half filled, and leaves the pages
 * with `protection`. `fetch` writes the bytes [offset, offset + bytes) to `to`, ordinary open memory; it may be
 * called several times. Serialised by a lock of its own. FAILED: fetch failed or the kernel refused; the pages are
 * closed as before. `base` is page-aligned. */
enum gsh_status gsh_pages_fill(uintptr_t base, size_t size, int protection,
                               enum gsh_status (*fetch)(void *context, void *to, size_t offset,
                                                        size_t bytes),
                               void *context);
/* In a forked child: frees the fill lock. */
void gsh_pages_reset_after_fork(void);
