/* SPDX-License-Identifier: Apache-2.0
 *
 * Moves pages from a free block to another (mremap with MREMAP_DONTUNMAP, Linux 5.7), which takes a twentieth of the time of faulting new
 * ones in. Pages move by units: one huge page, or 64 KiB of small ones, at a multiple of its size from the block's base. So each unit lies
 * in one mapping, as mremap needs before Linux 6.17. Only where no device is used: there all blocks are open. All functions need the
 * ARENA lock. Checked by tests/unit/offload/memory/test_page_moves.c.
 */
#pragma once

#include "block.h"

#define GSH_PAGE_MOVES_SMALL ((size_t)64 << 10)

/* From now on pages may be moved, until the system refuses or gsh_page_moves_end. Once. */
void gsh_page_moves_init(void);
void gsh_page_moves_end(void);
bool gsh_page_moves_are_possible(void);

/* A block's pages: huge ones up to huge_end, 0: none, then small ones, whole units of them up to small_end. */
size_t gsh_page_moves_huge_end(const struct gsh_block *block);
size_t gsh_page_moves_small_end(const struct gsh_block *block);
/* Whether the block may get pages of others: each such block takes mappings of the process, of which there is a limit. Counts it. */
bool gsh_page_moves_admit(struct gsh_block *block);

/* GSH_OK: the unit's pages have moved, and the place where they were is blank. GSH_DECLINED: nothing has changed. GSH_FAILED: nothing may
 * be mapped at `to` any more, its block must not be used again. In both cases no pages are moved from now on. */
enum gsh_status gsh_page_moves_move(uintptr_t from, uintptr_t to, size_t unit);
