/* SPDX-License-Identifier: Apache-2.0 */
#include "arena_pool.h"

#include "arena_internal.h"
#include "backend.h"
#include "idle.h"
#include "mapping_budget.h"
#include "pages.h"
#include "raw_syscall.h"
#include "size_class.h"
#include "slabs.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#define NEWEST 8
#define SPARE_BYTES ((size_t)8 << 20)

struct pool {
    uint32_t first[2][GSH_SIZE_CLASSES]; /* free blocks by class: open, closed; index, 0 none */
    size_t pooled[GSH_SIZE_CLASSES];     /* bytes of these blocks that may have pages */
    uint64_t used[GSH_SIZE_CLASSES];     /* pool_clock when a block of it was last taken or freed */
};

static struct pool pools[2]; /* of small and of large blocks */
/* Bytes of pages: of free blocks; of what the program holds, now and at most; of its blocks beyond what its arrays need. */
static size_t pooled_bytes, live_bytes, most_live_bytes, unused_bytes;
static size_t missed_bytes; /* of pages that were given back here and then wanted again */
static size_t pool_limit;
static uint64_t pool_clock;
static bool can_offer;
static unsigned wider_classes = 4; /* one and a half times as many bytes */

void gsh_arena_pool_init(size_t limit)
{
    pool_limit = limit;
    can_offer = gsh_pages_can_offer();
}

static unsigned class_of(const struct gsh_block *block)
{
    unsigned class;
    gsh_size_class_round(block->capacity >> (block->large ? GSH_SHIFT_LARGE : GSH_SHIFT_SMALL),
                         &class);
    return class;
}

/* Bytes of the free block's pages that an array leaves unused which needs `needed` bytes. */
static size_t find_unused(const struct gsh_block *block, size_t needed)
{
    return block->pooled > needed ? block->pooled - needed : 0;
}

/* Sets how many bytes of the free block's pages can be given back. */
static void set_pooled(struct gsh_block *block, size_t bytes)
{
    size_t *of_class = &pools[block->large].pooled[class_of(block)];
    pooled_bytes += bytes - block->pooled;
    *of_class += bytes - block->pooled;
    block->pooled = bytes;
}

/* The link to a free block; of the newest ones to one with pages that are not being given back. To 0: there is none. */
static uint32_t *find(struct pool *pool, unsigned class, bool closed)
{
    uint32_t *first = &pool->first[closed][class], *link = first;
    for (int i = 0; i < NEWEST && *link != 0 && gsh_block_table[*link].pooled == 0; i++)
        link = &gsh_block_table[*link].next_free;
    return *link != 0 && gsh_block_table[*link].pooled != 0 ? link : first;
}

/* Takes the block out of its pool; NULL where there is none. The idle thread may be giving the pages of one that is not pooled back. */
static struct gsh_block *unlink_block(uint32_t *link, size_t needed)
{
    if (*link == 0)
        return NULL;
    struct gsh_block *block = &gsh_block_table[*link];
    *link = block->next_free;
    block->unused = find_unused(block, needed);
    set_pooled(block, 0);
    return block;
}

static void push(struct gsh_block *block, bool closed)
{
    struct pool *pool = &pools[block->large];
    unsigned class = class_of(block);
    block->next_free = pool->first[closed][class];
    pool->first[closed][class] = gsh_block_index(block);
    pool->used[class] = ++pool_clock;
    block->idle_since = gsh_idle_clock_locked();
    set_pooled(block, gsh_slabs_has_registered(block) ? 0 : block->backed);
}

/* Bytes of pages that free blocks may keep beyond what the program held at most. */
static size_t find_spare(void)
{
    return most_live_bytes / 10 + SPARE_BYTES;
}

/* Where there are more, the kernel may take a free block's pages when memory is short. Writing an offered page takes microseconds. */
static void offer_surplus(const struct gsh_block *block)
{
    size_t bytes = live_bytes + unused_bytes + pooled_bytes + block->backed;
    bool is_surplus = block->backed != 0 && bytes > most_live_bytes + find_spare();
    if (is_surplus && can_offer && block->large && block->registered_bytes == 0)
        gsh_raw_syscall3(SYS_madvise, (long)block->base, (long)block->capacity, MADV_FREE);
}

void gsh_arena_pool_note_given_back_locked(struct gsh_block *block)
{
    set_pooled(block, 0);
}

/* Most bytes of pages that free blocks may keep. With a device all blocks together may have half as much more than the program held. A
 * program whose loop misses pages that were given back may keep the spare always, not only where it holds most. */
static size_t find_pool_limit(void)
{
    size_t half = gsh_backend_get() != NULL ? most_live_bytes / 2 : 0;
    size_t missed = GSH_MIN(missed_bytes, find_spare());
    size_t beyond = GSH_MAX(most_live_bytes - live_bytes + missed, GSH_MAX(half, find_spare()));
    return GSH_MIN(pool_limit, beyond - GSH_MIN(beyond, unused_bytes));
}

/* The pool with the least recently used class of blocks with pages; NULL: there is none. */
static const struct pool *find_idle_class(unsigned *class)
{
    const struct pool *found = NULL;
    for (const struct pool *pool = pools; pool < pools + GSH_COUNT(pools); pool++)
        for (unsigned k = 0; k < GSH_SIZE_CLASSES; k++)
            if (pool->pooled[k] != 0 && (found == NULL || pool->used[k] < found->used[*class])) {
                found = pool;
                *class = k;
            }
    return found;
}

/* Gives back pages of the class's free blocks until the limit is kept. */
static void trim_class(const struct pool *pool, unsigned class, size_t limit)
{
    for (unsigned closed = 0; closed < 2; closed++)
        for (uint32_t index = pool->first[closed][class]; index != 0 && pooled_bytes > limit;
             index = gsh_block_table[index].next_free) {
            struct gsh_block *block = &gsh_block_table[index];
            if (block->pooled == 0)
                continue;
            set_pooled(block, 0);
            block->is_trimmed = true;
            gsh_arena_give_pages_back_held(block);
        }
}

static void trim(void)
{
    size_t limit = find_pool_limit();
    unsigned class = 0;
    for (const struct pool *pool; pooled_bytes > limit && (pool = find_idle_class(&class)) != NULL;)
        trim_class(pool, class, limit);
}

/* ---- taking and giving ---- */

/* The smallest open block with pages of the classes above, if what would be unused of it is not too much. */
static struct gsh_block *take_wider(struct pool *pool, unsigned class, size_t needed)
{
    unsigned end = GSH_MIN(class + 1 + wider_classes, GSH_SIZE_CLASSES);
    for (unsigned wider = class + 1; wider < end; wider++) {
        if (pool->pooled[wider] == 0)
            continue;
        uint32_t *link = find(pool, wider, false);
        const struct gsh_block *block = &gsh_block_table[*link];
        if (*link != 0 && block->pooled != 0)
            return unused_bytes + find_unused(block, needed) <= find_spare()
                       ? unlink_block(link, needed)
                       : NULL;
    }
    return NULL;
}

void gsh_arena_pool_reuse_any_size(void)
{
    wider_classes = GSH_SIZE_CLASSES;
}

struct gsh_block *gsh_arena_pool_take_locked(bool large, unsigned class, size_t needed, bool closed)
{
    struct pool *pool = &pools[large];
    struct gsh_block *block = unlink_block(find(pool, class, closed), needed);
    if (block == NULL && gsh_mapping_budget_has_room_sigsafe())
        block = unlink_block(find(pool, class, !closed), needed);
    if (block == NULL && !closed)
        block = take_wider(pool, class, needed);
    return block;
}

void gsh_arena_pool_note_taken_locked(struct gsh_block *block, size_t needed)
{
    live_bytes += needed;
    unused_bytes += block->unused;
    most_live_bytes = GSH_MAX(most_live_bytes, live_bytes);
    missed_bytes += block->is_trimmed ? needed : 0;
    block->is_trimmed = false;
    pools[block->large].used[class_of(block)] = ++pool_clock;
    trim();
}

void gsh_arena_pool_give_locked(struct gsh_block *block, bool closed)
{
    live_bytes -= gsh_arena_page_bytes_sigsafe(block->large, block->size);
    unused_bytes -= block->unused;
    offer_surplus(block);
    push(block, closed);
    trim();
}
