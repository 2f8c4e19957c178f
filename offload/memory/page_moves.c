/* SPDX-License-Identifier: Apache-2.0
 *
 * mremap(2) unmaps the destination before it looks at the source. Only EINVAL (a kernel that does not know the flag) comes before that.
 */
#include "page_moves.h"

#include "pages.h"
#include "raw_syscall.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define MAPPINGS_SHARE 8 /* of the process's mappings, one part of so many */

static bool are_possible;
static int64_t units_left; /* that blocks may have; each takes two mappings at most */

void gsh_page_moves_init(void)
{
    are_possible = true;
    units_left = gsh_pages_max_mappings() / MAPPINGS_SHARE;
}

void gsh_page_moves_end(void)
{
    are_possible = false;
}

bool gsh_page_moves_are_possible(void)
{
    return are_possible;
}

size_t gsh_page_moves_huge_end(const struct gsh_block *block)
{
    if (!block->large)
        return 0;
    return block->has_small_tail ? block->capacity - GSH_GRANULE_LARGE : block->capacity;
}

size_t gsh_page_moves_small_end(const struct gsh_block *block)
{
    return block->capacity & -GSH_PAGE_MOVES_SMALL;
}

bool gsh_page_moves_admit(struct gsh_block *block)
{
    size_t huge = gsh_page_moves_huge_end(block);
    int64_t units =
        (int64_t)(huge / GSH_GRANULE_LARGE + (block->capacity - huge) / GSH_PAGE_MOVES_SMALL);
    if (block->has_moved_pages)
        return true;
    if (units > units_left)
        return false;
    units_left -= units;
    block->has_moved_pages = true;
    return true;
}

enum gsh_status gsh_page_moves_move(uintptr_t from, uintptr_t to, size_t unit)
{
    long moved = gsh_raw_syscall5(SYS_mremap, (long)from, (long)unit, (long)unit,
                                  MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, (long)to);
    if (moved == (long)to)
        return GSH_OK;
    are_possible = false;
    return moved == -EINVAL ? GSH_DECLINED : GSH_FAILED;
}
