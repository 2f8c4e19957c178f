/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls of the program on the pages of arrays: mprotect, madvise, mlock, munmap, mremap, mmap with MAP_FIXED.
 * Page protection then no longer shows who writes, so such a block stays on the host until it is freed: its newest
 * bytes are fetched, and no device work reads or writes it. A fault on it is the program's own.
 */
#pragma once

#include "arena_internal.h"

/* Fetches every block that [address, address + size) touches, whole, and keeps it on the host until it is freed:
 * others may read or write it unnoticed. Unmanaged memory is left alone. Keeps errno. No lock may be held; not for
 * signal handlers. */
void gsh_page_changes_keep_on_host(const void *address, size_t size);

/* Call before such a system call on [address, address + size). Treats all of each block that the range touches.
 * Unmanaged memory is left alone. Keeps errno. No lock may be held; not for signal handlers. */
void gsh_page_changes_prepare(const void *address, size_t size, enum gsh_page_change change);
