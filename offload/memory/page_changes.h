/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program does itself to the pages of arrays: mprotect, madvise, mlock, munmap, mremap, mmap with MAP_FIXED.
 * Page protection then tells no longer who writes, so such a block is the host's until it is freed: its newest bytes are
 * brought home, and no device work reads or writes it. A fault on it is the program's own.
 */
#pragma once

#include "arena_internal.h"

/* Brings the blocks that [address, address + size) touches home, whole, and keeps them there until they are freed, for
 * others who read or write them when nobody knows. Foreign memory is left alone. Keeps errno. No lock may be held; not
 * for signal handlers. */
void gsh_page_changes_keep_home(const void *address, size_t size);

/* Before such a system call on [address, address + size): all of each block that the range touches. Foreign memory is left
 * alone. Keeps errno. No lock may be held; not for signal handlers. */
void gsh_page_changes_prepare(const void *address, size_t size, enum gsh_page_change change);
