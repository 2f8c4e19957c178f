/* SPDX-License-Identifier: Apache-2.0 */
#include "arena_pool.h"

#include "arena_internal.h"
#include "backend.h"
#include "idle.h"
#include "mapping_budget.h"
#include "page_moves.h"
#include "pages.h"
#include "raw_syscall.h"
#include "size_class.h"
#include "slabs.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#define NEWEST 8
#define SPARE_BYTES ((size_t)8 << 20)
#define MOVING_SPARE_BYTES ((size_t)1 << 18)

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

/* Bytes of the free block's pages that an array leaves unused which needs `needed` bytes: of those that it has, and of the last huge one
 * that the array touches. The few of a block of its own class are none. */
static size_t find_unused(const struct gsh_block *block, size_t needed)
{
    bool is_huge = needed < gsh_page_moves_huge_end(block);
    size_t touched = is_huge ? gsh_round_up(needed, GSH_GRANULE_LARGE) : needed;
    size_t unused = GSH_MAX(block->pooled, touched) - needed;
    return unused > needed / GSH_ARENA_UNUSED_SHARE ? unused : 0;
}

/* Sets how many bytes of the free block's pages can be given back. */
static void set_pooled(struct gsh_block *block, size_t bytes)
{
    size_t *of_class = &pools[block->large].pooled[class_of(block)];
    pooled_bytes += bytes - block->pooled;
    *of_class += bytes - block->pooled;
    block->pooled = bytes;
}

/* ---- units of a free block's pages, of small [false] and of huge ones [true] (page_moves.h) ---- */

static const size_t units[2] = {GSH_PAGE_MOVES_SMALL, GSH_GRANULE_LARGE};

static size_t find_begin(const struct gsh_block *block, bool is_huge)
{
    return is_huge ? 0 : gsh_page_moves_huge_end(block);
}

static size_t find_end(const struct gsh_block *block, bool is_huge)
{
    return is_huge ? gsh_page_moves_huge_end(block) : gsh_page_moves_small_end(block);
}

/* All pages up to `backed`. */
static void set_tops(struct gsh_block *block)
{
    for (int is_huge = 0; is_huge < 2; is_huge++)
        block->top[is_huge] =
            GSH_MAX(GSH_MIN(block->backed, find_end(block, is_huge)), find_begin(block, is_huge));
}

static size_t find_top(const struct gsh_block *block, bool is_huge)
{
    return block->backed != 0 ? block->top[is_huge] : find_begin(block, is_huge);
}

/* Notes that the block's pages from `last` on, up to the top, are gone. */
static void note_gone(struct gsh_block *block, bool is_huge, size_t last)
{
    set_pooled(block, block->pooled - (block->top[is_huge] - last));
    block->top[is_huge] = last;
    if (block->pooled == 0)
        block->backed = 0;
}

/* Gives back pages of the block until the limit is kept: the last ones, huge ones first, which fault in sooner. False: the system refuses
 * where pages are locked. */
static bool give_surplus_back(struct gsh_block *block, size_t limit)
{
    for (int is_huge = 1; is_huge >= 0 && pooled_bytes > limit; is_huge--) {
        size_t top = find_top(block, is_huge), begin = find_begin(block, is_huge);
        size_t surplus = gsh_round_up(pooled_bytes - limit, units[is_huge]);
        size_t last = top - begin > surplus ? (top - surplus) & -units[is_huge] : begin;
        if (last < top && gsh_raw_syscall3(SYS_madvise, (long)(block->base + last),
                                           (long)(top - last), MADV_DONTNEED) != 0)
            return false;
        if (last < top)
            note_gone(block, is_huge, last);
    }
    return true;
}

/* ---- the pools ---- */

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
    set_tops(block);
}

/* Bytes of pages that free blocks may keep beyond what the program held at most. Few where an array can have the pages of any of them. */
static size_t find_spare(void)
{
    if (gsh_page_moves_are_possible())
        return most_live_bytes / 64 + MOVING_SPARE_BYTES;
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

/* The pool with the least recently used class of blocks with pages, of those last used after `used`; NULL: there is none. */
static const struct pool *find_idle_class(uint64_t used, unsigned *class)
{
    const struct pool *found = NULL;
    for (const struct pool *pool = pools; pool < pools + GSH_COUNT(pools); pool++)
        for (unsigned k = 0; k < GSH_SIZE_CLASSES; k++)
            if (pool->pooled[k] != 0 && pool->used[k] > used &&
                (found == NULL || pool->used[k] < found->used[*class])) {
                found = pool;
                *class = k;
            }
    return found;
}

static void give_back(struct gsh_block *block, size_t limit)
{
    block->is_trimmed = true;
    if (gsh_page_moves_are_possible() && give_surplus_back(block, limit) && pooled_bytes <= limit)
        return;
    set_pooled(block, 0);
    gsh_arena_give_pages_back_held(block);
}

/* Gives back pages of the class's free blocks until the limit is kept. */
static void trim_class(const struct pool *pool, unsigned class, size_t limit)
{
    for (unsigned closed = 0; closed < 2; closed++)
        for (uint32_t index = pool->first[closed][class]; index != 0 && pooled_bytes > limit;
             index = gsh_block_table[index].next_free) {
            struct gsh_block *block = &gsh_block_table[index];
            if (block->pooled != 0)
                give_back(block, limit);
        }
}

static void trim(void)
{
    size_t limit = find_pool_limit();
    unsigned class = 0;
    for (const struct pool *pool;
         pooled_bytes > limit && (pool = find_idle_class(0, &class)) != NULL;)
        trim_class(pool, class, limit);
}

/* ---- pages of free blocks for one that is taken ---- */

/* Offsets in a block of its next unit that is to get pages, and of the end of these: [true] of its huge pages, [false] of others. */
struct wants {
    size_t next[2], end[2];
};

static struct wants find_wants(const struct gsh_block *block, size_t needed)
{
    struct wants wants;
    for (int is_huge = 0; is_huge < 2; is_huge++) {
        wants.next[is_huge] = gsh_round_up(find_top(block, is_huge), units[is_huge]);
        wants.end[is_huge] = GSH_MIN(needed, find_end(block, is_huge)) & -units[is_huge];
    }
    return wants;
}

static bool has_wants(const struct wants *wants)
{
    return wants->next[false] < wants->end[false] || wants->next[true] < wants->end[true];
}

/* Moves the free block's last unit of such pages to the block that wants it. DECLINED: nothing has changed. */
static enum gsh_status move_unit(struct gsh_block *victim, bool is_huge, struct gsh_block *block,
                                 struct wants *wants)
{
    size_t top = find_top(victim, is_huge), last = (top - 1) & -units[is_huge];
    if (top == find_begin(victim, is_huge) || wants->next[is_huge] >= wants->end[is_huge])
        return GSH_DECLINED;
    GSH_TRY(gsh_page_moves_move(victim->base + last, block->base + wants->next[is_huge],
                                units[is_huge]));
    wants->next[is_huge] += units[is_huge];
    note_gone(victim, is_huge, last);
    return GSH_OK;
}

static enum gsh_status move_from(struct gsh_block *victim, size_t limit, struct gsh_block *block,
                                 struct wants *wants)
{
    enum gsh_status status = GSH_OK;
    while (status == GSH_OK && victim->pooled != 0 && pooled_bytes > limit) {
        status = move_unit(victim, true, block, wants);
        if (status == GSH_DECLINED)
            status = move_unit(victim, false, block, wants);
    }
    return status;
}

static bool move_from_class(const struct pool *pool, unsigned class, size_t limit,
                            struct gsh_block *block, struct wants *wants)
{
    for (uint32_t index = pool->first[false][class]; index != 0 && has_wants(wants);
         index = gsh_block_table[index].next_free)
        if (move_from(&gsh_block_table[index], limit, block, wants) == GSH_FAILED)
            return false;
    return true;
}

/* Moves pages beyond the limit to the block. False: its own are lost. */
static bool move_surplus(struct gsh_block *block, size_t needed)
{
    const struct pool *pool;
    struct wants wants = find_wants(block, needed), before = wants;
    size_t limit = find_pool_limit();
    uint64_t used = 0;
    bool is_usable = true;
    for (unsigned class; is_usable && pooled_bytes > limit && has_wants(&wants) &&
                         (pool = find_idle_class(used, &class)) != NULL;
         used = pool->used[class])
        is_usable = move_from_class(pool, class, limit, block, &wants);
    if (wants.next[true] != before.next[true] || wants.next[false] != before.next[false])
        block->backed = GSH_MAX(block->backed, needed);
    return is_usable;
}

/* Another thread, which holds the block, may be giving its pages back. */
static bool get_pages_of_others(struct gsh_block *block, size_t needed)
{
    if (!gsh_page_moves_are_possible() || pooled_bytes <= find_pool_limit() ||
        !gsh_page_moves_admit(block) || !gsh_block_try_acquire_sigsafe(block))
        return true;
    bool is_usable = move_surplus(block, needed);
    gsh_block_release_sigsafe(block);
    return is_usable;
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

bool gsh_arena_pool_note_taken_locked(struct gsh_block *block, size_t needed, bool keeps_pages)
{
    live_bytes += needed;
    unused_bytes += block->unused;
    most_live_bytes = GSH_MAX(most_live_bytes, live_bytes);
    missed_bytes += block->is_trimmed ? needed : 0;
    block->is_trimmed = false;
    pools[block->large].used[class_of(block)] = ++pool_clock;
    bool is_usable = !keeps_pages || get_pages_of_others(block, needed);
    if (!is_usable)
        live_bytes -= needed;
    trim();
    return is_usable;
}

void gsh_arena_pool_give_locked(struct gsh_block *block, bool closed)
{
    live_bytes -= gsh_arena_page_bytes_sigsafe(block->large, block->size);
    unused_bytes -= block->unused;
    offer_surplus(block);
    push(block, closed);
    trim();
}
