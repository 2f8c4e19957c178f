/* SPDX-License-Identifier: Apache-2.0
 *
 * A few entries; a new one replaces the oldest. Versions are unique, so an entry is never found again if its mask has
 * been written since, even while it was being counted, or is gone.
 */
#include "mask_count.h"

#include "arena_internal.h"
#include "dispatch_lock.h"

#include <string.h>

#define ENTRIES 4

struct entry {
    uint64_t version, address;
    int ndim;
    int64_t shape[GSH_MAX_DIMS], strides[GSH_MAX_DIMS];
    int64_t count;
};

static struct entry entries[ENTRIES]; /* DISPATCH lock */
static unsigned next_entry;

static uint64_t version_held(const struct gsh_block *block, uint64_t first, size_t bytes)
{
    uint64_t begin = first - block->base;
    if (block->value == NULL || bytes == 0 || first < block->base || begin + bytes > block->size)
        return 0;
    unsigned last = gsh_block_chunk(block, begin + bytes - 1);
    for (unsigned chunk = gsh_block_chunk(block, begin); chunk <= last; chunk++)
        if (block->state[chunk] != GSH_CHUNK_SHARED && block->state[chunk] != GSH_CHUNK_DEVICE)
            return 0;
    return block->value->version;
}

/* The version of the mask's bytes; 0 where the host may write some of them. */
static uint64_t find_version_locked(const struct gsh_launch *mask)
{
    int64_t low = 0, high = 0;
    uint64_t address = mask->operands[0].address;
    struct gsh_block *block = gsh_arena_find_block((const void *)address);
    if (block == NULL)
        return 0;
    gsh_launch_extent(mask, 0, &low, &high);
    gsh_block_acquire_sigsafe(block);
    uint64_t version = version_held(block, address + (uint64_t)low, (size_t)(high - low));
    gsh_block_release_sigsafe(block);
    return version;
}

static bool is_of(const struct entry *entry, const struct gsh_mask_count *of)
{
    size_t bytes = (size_t)of->mask->ndim * sizeof entry->shape[0];
    return entry->version == of->version && entry->address == of->mask->operands[0].address &&
           entry->ndim == of->mask->ndim && memcmp(entry->shape, of->mask->shape, bytes) == 0 &&
           memcmp(entry->strides, of->mask->strides[0], bytes) == 0;
}

static bool find_locked(struct gsh_mask_count *of, int64_t *count)
{
    of->version = find_version_locked(of->mask);
    for (unsigned k = 0; k < ENTRIES; k++) {
        if (!is_of(&entries[k], of))
            continue;
        *count = entries[k].count;
        return true;
    }
    return false;
}

bool gsh_mask_count_find(struct gsh_mask_count *of, int64_t *count)
{
    gsh_dispatch_lock_acquire();
    bool found = find_locked(of, count);
    gsh_dispatch_lock_release();
    return found;
}

void gsh_mask_count_note(const struct gsh_mask_count *of, int64_t count)
{
    if (of->version == 0)
        return;
    gsh_dispatch_lock_acquire();
    struct entry *entry = &entries[next_entry++ % ENTRIES];
    entry->version = of->version;
    entry->address = of->mask->operands[0].address;
    entry->ndim = of->mask->ndim;
    memcpy(entry->shape, of->mask->shape, sizeof entry->shape);
    memcpy(entry->strides, of->mask->strides[0], sizeof entry->strides);
    entry->count = count;
    gsh_dispatch_lock_release();
}
