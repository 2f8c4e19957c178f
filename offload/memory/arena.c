/* SPDX-License-Identifier: Apache-2.0
 *
 * The arena's two zones and its block table. Each zone is cut from its lower end upwards
 * for blocks that the host writes first and from its upper end downwards for blocks that the device
 * writes first, so that open and closed pages stay apart and share few mappings. A block's place
 * and capacity never change: freed blocks wait in a pool (arena_pool.h) with
 * their pages and registration.
 *
 * ARENA lock: pools, zone ends. Block lock: protection and state (arena_internal.h).
 */
#include "arena_internal.h"
#include "arena_pool.h"

#include "expected.h"
#include "forked.h"
#include "idle.h"
#include "lock.h"
#include "log.h"
#include "mapping_budget.h"
#include "memory_limit.h"
#include "options.h"
#include "page_cost.h"
#include "page_moves.h"
#include "pages.h"
#include "pin.h"
#include "raw_syscall.h"
#include "size_class.h"
#include "slabs.h"
#include "value_release.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define BLOCK_LIMIT ((uint32_t)1 << 21)
#define EAGER_ZERO_BYTES ((size_t)16 << 20) /* they stay in a cache until they are used */
#define REGISTER_MIN_BYTES ((size_t)1 << 20)

struct zone {
    uintptr_t base, end;
    uintptr_t host_top;      /* first byte not yet cut for host-born blocks */
    uintptr_t device_bottom; /* first byte already cut for device-born blocks */
    uintptr_t
        device_closed; /* small zone: [device_closed, device_bottom) is closed and not cut yet */
    unsigned shift;    /* log2 of the granule */
    uint32_t *index;   /* per granule: the block's index, 0 none */
};

uintptr_t gsh_arena_base, gsh_arena_end;
_Atomic uint64_t gsh_arena_departures;

static struct gsh_lock arena_lock = GSH_LOCK_INITIALIZER(GSH_RANK_ARENA);
static struct zone small_zone = {.shift = GSH_SHIFT_SMALL};
static struct zone large_zone = {.shift = GSH_SHIFT_LARGE};
static uint32_t block_count = 1; /* 0 is no block */
bool gsh_arena_is_frozen;
static uint32_t block_limit = BLOCK_LIMIT;
static size_t memory; /* available to the process */
static bool is_host_alone;

/* ---- reservation ---- */

/* Excluded from core dumps: the kernel would write it whole. */
static void *reserve(size_t size)
{
    void *range = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return NULL;
    madvise(range, size, MADV_DONTDUMP);
    return range;
}

/* Includes what blocks are cut from in core dumps. Pages that were never touched, or were given back, are holes in
 * the dump. */
static void include_in_dump(uintptr_t base, size_t size)
{
    gsh_raw_syscall3(SYS_madvise, (long)base, (long)size, MADV_DODUMP);
}

static void init_zone(struct zone *zone, uintptr_t base, size_t size)
{
    zone->base = base;
    zone->end = base + size;
    zone->host_top = base;
    zone->device_bottom = zone->end;
    zone->device_closed = zone->end;
    zone->index = reserve((size >> zone->shift) * sizeof *zone->index);
}

static bool reserve_zones(size_t large_bytes)
{
    size_t small_bytes = large_bytes / 16;
    size_t total = small_bytes + large_bytes + GSH_SLAB_BYTES;
    void *range = reserve(total);
    if (range == NULL)
        return false;
    uintptr_t base = gsh_round_up((uintptr_t)range, GSH_SLAB_BYTES);
    *(volatile char *)base = 0; /* a page touched before the split lets the parts merge again */
    init_zone(&small_zone, base, small_bytes);
    init_zone(&large_zone, base + small_bytes, large_bytes);
    gsh_block_table = reserve(BLOCK_LIMIT * sizeof *gsh_block_table);
    if (small_zone.index == NULL || large_zone.index == NULL || gsh_block_table == NULL ||
        !gsh_slabs_init(small_zone.base, small_bytes)) {
        munmap(range, total);
        return false;
    }
    madvise((void *)small_zone.base, small_bytes, MADV_NOHUGEPAGE);
    madvise((void *)large_zone.base, large_bytes, MADV_HUGEPAGE);
    return true;
}

static size_t limit_of(enum gsh_option option, size_t fallback)
{
    int64_t value = gsh_option_number(option);
    return value > 0 ? (size_t)value : fallback;
}

/* Whether a limit of the address space, to which reserved ranges count, leaves the rest of the program as much as the
 * machine could give it. */
static bool leaves_enough(uint64_t limit, size_t large_bytes)
{
    return limit == RLIM_INFINITY || (limit / 2 >= large_bytes && limit / 4 >= memory);
}

static uint64_t least_limit(void)
{
    struct rlimit space = {.rlim_cur = RLIM_INFINITY}, data = space;
    getrlimit(RLIMIT_AS, &space);
    getrlimit(RLIMIT_DATA, &data);
    return GSH_MIN(space.rlim_cur, data.rlim_cur);
}

static _Atomic bool is_refused;

void gsh_arena_permit(bool permitted)
{
    atomic_store(&is_refused, !permitted);
}

enum gsh_status gsh_arena_init(void)
{
    size_t large_bytes = (size_t)1 << 40;
    memory = (size_t)gsh_memory_limit();
    while (atomic_load(&is_refused) || !leaves_enough(least_limit(), large_bytes) ||
           !reserve_zones(large_bytes)) {
        large_bytes /= 4;
        if (large_bytes < (size_t)1 << 30) {
            gsh_log(GSH_LOG_INFO, "there is no address range to reserve for the arena");
            return GSH_DECLINED;
        }
    }
    gsh_arena_pool_init(limit_of(GSH_OPTION_POOL_LIMIT, memory / 4));
    gsh_pin_set_limit(limit_of(GSH_OPTION_PIN_LIMIT, memory / 2));
    gsh_mapping_budget_set(gsh_pages_max_mappings() / 4);
    /* in this order: no address is in the arena until both are set */
    __atomic_store_n(&gsh_arena_base, small_zone.base, __ATOMIC_RELEASE);
    __atomic_store_n(&gsh_arena_end, large_zone.end, __ATOMIC_RELEASE);
    return GSH_OK;
}

/* Unmaps what no block was cut from yet, except the rest of a slab that may be page-locked. */
static void give_up_reserve(struct zone *zone)
{
    uintptr_t begin = GSH_MIN(gsh_round_up(zone->host_top, GSH_SLAB_BYTES), zone->device_closed);
    munmap((void *)begin, zone->device_closed - begin);
    zone->host_top = zone->device_closed;
}

void gsh_arena_yield(uint64_t limit)
{
    if (gsh_arena_end == 0 || leaves_enough(limit, large_zone.end - large_zone.base))
        return;
    GSH_LOCKED(&arena_lock);
    gsh_page_moves_end();
    give_up_reserve(&small_zone);
    give_up_reserve(&large_zone);
    block_limit = GSH_MIN(block_limit, block_count + GSH_SLAB_BYTES / GSH_GRANULE_SMALL);
    uintptr_t begin = gsh_round_up((uintptr_t)&gsh_block_table[block_limit], GSH_GRANULE_SMALL);
    uintptr_t end = gsh_round_up((uintptr_t)&gsh_block_table[BLOCK_LIMIT], GSH_GRANULE_SMALL);
    munmap((void *)begin, end - begin);
}

/* ---- look-up ---- */

static struct zone *zone_of_sigsafe(uintptr_t address)
{
    return address >= large_zone.base ? &large_zone : &small_zone;
}

struct gsh_block *gsh_arena_block_of_sigsafe(const void *address)
{
    const struct zone *zone = zone_of_sigsafe((uintptr_t)address);
    uint32_t index = __atomic_load_n(&zone->index[((uintptr_t)address - zone->base) >> zone->shift],
                                     __ATOMIC_ACQUIRE);
    return index == 0 ? NULL : &gsh_block_table[index];
}

struct gsh_block *gsh_arena_find_block_sigsafe(const void *address)
{
    struct gsh_block *block =
        gsh_arena_contains(address) ? gsh_arena_block_of_sigsafe(address) : NULL;
    return block != NULL && atomic_load_explicit(&block->live, memory_order_acquire) ? block : NULL;
}

/* ---- mappings ---- */

struct gsh_block *gsh_arena_block_beside_sigsafe(const struct gsh_block *block, bool above)
{
    const void *address = (void *)(above ? block->base + block->capacity : block->base - 1);
    return gsh_arena_contains(address) ? gsh_arena_block_of_sigsafe(address) : NULL;
}

bool gsh_arena_is_cut_from_locked(uintptr_t base, size_t size)
{
    return base + size > small_zone.host_top && base < small_zone.device_bottom;
}

uint32_t gsh_arena_block_end_sigsafe(void)
{
    return __atomic_load_n(&block_count, __ATOMIC_ACQUIRE);
}

size_t gsh_arena_page_bytes_sigsafe(bool large, size_t size)
{
    return gsh_round_up(size, large && !is_host_alone ? GSH_GRANULE_LARGE : GSH_GRANULE_SMALL);
}

/* The block's pages may be populated from now on. */
static void note_backed_sigsafe(struct gsh_block *block)
{
    block->backed = GSH_MAX(block->backed, gsh_arena_page_bytes_sigsafe(block->large, block->size));
}

static void publish_state_sigsafe(struct gsh_block *block, unsigned first, unsigned last,
                                  enum gsh_chunk_state state)
{
    uint32_t resident = atomic_load_explicit(&block->resident, memory_order_relaxed);
    uint32_t closed = atomic_load_explicit(&block->closed, memory_order_relaxed);
    bool opens_or_closes = false;
    for (unsigned chunk = first; chunk <= last; chunk++) {
        opens_or_closes |= gsh_pages_protection(block->state[chunk]) != gsh_pages_protection(state);
        resident -= block->state[chunk] != GSH_CHUNK_HOST;
        resident += state != GSH_CHUNK_HOST;
        closed -= block->state[chunk] >= GSH_CHUNK_DEVICE;
        closed += state >= GSH_CHUNK_DEVICE;
        __atomic_store_n(&block->state[chunk], (uint8_t)state, __ATOMIC_RELAXED);
    }
    if (opens_or_closes && state != GSH_CHUNK_HOST)
        atomic_fetch_add_explicit(&gsh_arena_departures, 1, memory_order_relaxed);
    atomic_store_explicit(&block->closed, closed, memory_order_relaxed);
    atomic_store_explicit(&block->resident, resident, memory_order_release);
    if (opens_or_closes)
        gsh_mapping_budget_charge_sigsafe(block);
}

enum gsh_status gsh_arena_protect_sigsafe(struct gsh_block *block, unsigned first, unsigned last,
                                          enum gsh_chunk_state state)
{
    int wanted = gsh_pages_protection(state);
    bool differs = false;
    for (unsigned chunk = first; chunk <= last; chunk++)
        differs |= gsh_pages_protection(block->state[chunk]) != wanted;
    size_t begin = gsh_block_chunk_offset(block, first);
    size_t end =
        last + 1U == block->chunks ? block->capacity : gsh_block_chunk_offset(block, last + 1);
    if (differs && !gsh_pages_protect_sigsafe(block->base + begin, end - begin, wanted))
        return GSH_FAILED;
    if (state == GSH_CHUNK_HOST || state == GSH_CHUNK_SHARED)
        note_backed_sigsafe(block);
    publish_state_sigsafe(block, first, last, state);
    return GSH_OK;
}

bool gsh_arena_open_idle_sigsafe(struct gsh_block *block)
{
    if (atomic_load_explicit(&block->live, memory_order_acquire) || block->chunks == 0 ||
        block->is_altered)
        return false;
    if (!gsh_pages_protect_sigsafe(block->base, block->capacity, PROT_READ | PROT_WRITE))
        return false;
    block->opened_idle = true;
    publish_state_sigsafe(block, 0, block->chunks - 1U, GSH_CHUNK_HOST);
    return true;
}

/* A block that was opened while free may have been taken since, and its open pages written. */
static void note_opened_idle(struct gsh_block *block)
{
    if (block->opened_idle)
        note_backed_sigsafe(block);
    block->opened_idle = false;
}

/* ---- registration ---- */

static void unregister_block(struct gsh_block *block)
{
    if (block->registered_bytes == 0)
        return;
    gsh_pin_release(block->base, block->registered_bytes);
    block->registered_bytes = 0;
}

void gsh_arena_register(struct gsh_block *block)
{
    if (!block->large)
        gsh_slabs_register_old(block);
    size_t size = gsh_round_up(block->size, GSH_GRANULE_SMALL);
    if (!block->large || block->registered_bytes >= size || block->size < REGISTER_MIN_BYTES ||
        !gsh_pin_is_possible())
        return;
    unregister_block(block);
    if (gsh_pin_try(block->base, size)) {
        block->registered_bytes = size;
        note_backed_sigsafe(block);
    }
}

bool gsh_arena_is_registered(const struct gsh_block *block, size_t offset, size_t size)
{
    if (block->large)
        return offset + size <= block->registered_bytes;
    return gsh_slabs_is_registered(block->base);
}

/* ---- cutting new blocks from a zone ---- */

/* A transfer must lie within one registration, so no small block straddles two slabs: the rest of a slab is skipped
 * if the next block does not fit. */
static uintptr_t cut_device_small(struct zone *zone, size_t capacity)
{
    if (zone->device_bottom - zone->device_closed < capacity) {
        if (zone->device_closed - zone->host_top < 2 * GSH_SLAB_BYTES)
            return 0;
        uintptr_t slab = zone->device_closed - GSH_SLAB_BYTES;
        include_in_dump(slab, GSH_SLAB_BYTES);
        gsh_slabs_register_locked(slab);
        if (!gsh_pages_protect_sigsafe(slab, GSH_SLAB_BYTES, PROT_NONE))
            return 0;
        zone->device_bottom = zone->device_closed;
        zone->device_closed = slab;
    }
    zone->device_bottom -= capacity;
    return zone->device_bottom;
}

static uintptr_t cut_device_large(struct zone *zone, size_t capacity)
{
    uintptr_t base = zone->device_bottom - capacity;
    if (zone->device_bottom - zone->host_top < capacity ||
        !gsh_pages_protect_sigsafe(base, capacity, PROT_NONE))
        return 0;
    include_in_dump(base, capacity);
    zone->device_bottom = zone->device_closed = base;
    return base;
}

static uintptr_t cut_device(struct zone *zone, size_t capacity)
{
    return zone == &small_zone ? cut_device_small(zone, capacity)
                               : cut_device_large(zone, capacity);
}

static uintptr_t cut_host(struct zone *zone, size_t capacity)
{
    uintptr_t base = zone->host_top;
    uintptr_t slab_end = gsh_round_up(base, GSH_SLAB_BYTES);
    if (zone == &small_zone && base + capacity > slab_end && base != slab_end)
        base = slab_end;
    if (zone->device_closed - zone->host_top < base - zone->host_top + capacity)
        return 0;
    zone->host_top = base + capacity;
    if (zone == &large_zone)
        include_in_dump(base, capacity);
    if (zone == &small_zone && base % GSH_SLAB_BYTES == 0) {
        include_in_dump(base, GSH_SLAB_BYTES);
        gsh_slabs_register_locked(base);
    }
    return base;
}

static struct gsh_block *cut_block(struct zone *zone, size_t capacity, bool closed)
{
    if (block_count >= block_limit)
        return NULL;
    uintptr_t base = closed ? cut_device(zone, capacity) : cut_host(zone, capacity);
    if (base == 0)
        return NULL;
    uint32_t index = block_count;
    struct gsh_block *block = &gsh_block_table[index];
    block->base = base;
    block->capacity = capacity;
    block->large = zone == &large_zone;
    block->device_born = closed;
    size_t first = (base - zone->base) >> zone->shift;
    for (size_t granule = 0; granule < capacity >> zone->shift; granule++)
        __atomic_store_n(&zone->index[first + granule], index, __ATOMIC_RELEASE);
    __atomic_store_n(&block_count, index + 1, __ATOMIC_RELEASE);
    return block;
}

/* A raw system call: the program may interpose libc's function. */
static bool advise(const struct gsh_block *block, size_t bytes, int advice)
{
    return gsh_raw_syscall3(SYS_madvise, (long)block->base, (long)bytes, advice) == 0;
}

/* The system refuses where the pages are locked: they stay then, with their contents. */
void gsh_arena_give_pages_back_held(struct gsh_block *block)
{
    if (!block->large && !gsh_slabs_begin_discard(block))
        return;
    unregister_block(block);
    if (advise(block, block->capacity, MADV_DONTNEED))
        block->backed = 0;
    if (!block->large)
        gsh_slabs_end_discard(block);
}

/* ---- allocation ---- */

/* Of a block that had no array yet: what an array leaves unused of the last huge page would be resident with the rest. */
static void save_tail(struct gsh_block *block, size_t size)
{
    uintptr_t last = block->base + block->capacity - GSH_GRANULE_LARGE;
    if (block->large && block->size == 0 && block->capacity - size > size / GSH_ARENA_UNUSED_SHARE)
        block->has_small_tail =
            gsh_raw_syscall3(SYS_madvise, (long)last, GSH_GRANULE_LARGE, MADV_NOHUGEPAGE) == 0;
}

/* Takes a block of the size's class: a pooled one, else a new one. NULL also where a closed block would need a mapping and the budget is
 * spent. */
static struct gsh_block *take_block(struct zone *zone, size_t size, enum gsh_arena_use use)
{
    unsigned class;
    bool closed = use == GSH_ARENA_DEVICE;
    size_t rounded = gsh_size_class_round(((size - 1) >> zone->shift) + 1, &class);
    bool large = zone == &large_zone;
    size_t needed = gsh_arena_page_bytes_sigsafe(large, size);
    if (class >= GSH_SIZE_CLASSES)
        return NULL;
    GSH_LOCKED(&arena_lock);
    struct gsh_block *block = gsh_arena_pool_take_locked(large, class, needed, closed);
    if (block == NULL && (!closed || gsh_mapping_budget_has_room_sigsafe()))
        block = cut_block(zone, rounded << zone->shift, closed);
    if (block == NULL)
        return NULL;
    if (is_host_alone)
        save_tail(block, size);
    if (!block->large)
        gsh_slabs_note_taken_locked(block);
    bool keeps_pages = use != GSH_ARENA_ZERO || size <= EAGER_ZERO_BYTES;
    block->is_replaced = !gsh_arena_pool_note_taken_locked(block, needed, keeps_pages);
    return block->is_replaced ? NULL : block;
}

/* A free block's pages are all open or all closed; its chunks say which. */
static bool is_closed(const struct gsh_block *block)
{
    return block->chunks == 0 ? block->device_born : block->state[0] == GSH_CHUNK_BLANK;
}

static void set_size(struct gsh_block *block, size_t size, bool closed)
{
    unsigned shift = 21;
    while (((size - 1) >> shift) >= GSH_MAX_CHUNKS)
        shift++;
    block->size = size;
    block->chunk_shift = (uint8_t)shift;
    block->chunks = (uint8_t)(((size - 1) >> shift) + 1);
    memset(block->state, closed ? GSH_CHUNK_BLANK : GSH_CHUNK_HOST, sizeof block->state);
    atomic_store_explicit(&block->resident, closed ? block->chunks : 0, memory_order_relaxed);
    atomic_store_explicit(&block->closed, closed ? block->chunks : 0, memory_order_relaxed);
    if (closed)
        atomic_fetch_add_explicit(&gsh_arena_departures, 1, memory_order_relaxed);
    block->next_chunk = 0;
    block->run = 0;
    block->row = 0;
    block->ledger = (struct gsh_ledger){0};
    block->rent = (struct gsh_element_rent){0};
    gsh_expected_begin(block);
    atomic_store_explicit(&block->is_address_taken, false, memory_order_relaxed);
    atomic_store_explicit(&block->read_pins, 0, memory_order_relaxed);
    atomic_store_explicit(&block->write_pins, 0, memory_order_relaxed);
    gsh_mapping_budget_charge_sigsafe(block);
}

static bool set_protection(struct gsh_block *block, bool was_closed, bool closed)
{
    if (was_closed == closed)
        return true;
    return gsh_pages_protect_sigsafe(block->base, block->capacity,
                                     closed ? PROT_NONE : PROT_READ | PROT_WRITE);
}

/* Page-locks a pooled block whose pages are in memory: it is likely to be transferred again. */
static void register_recycled(struct gsh_block *block, bool *was_closed)
{
    if (block->backed == 0 || !block->large || block->registered_bytes >= block->size ||
        !gsh_pin_is_possible() || !set_protection(block, *was_closed, false))
        return;
    *was_closed = false;
    gsh_arena_register(block);
}

/* The kernel clears huge pages when they are touched, as fast as memset, and small ones more slowly. */
static void zero_block(struct gsh_block *block)
{
    size_t given = 0, huge = block->size & -GSH_GRANULE_LARGE;
    if (block->backed == 0)
        return;
    if (block->size > EAGER_ZERO_BYTES) {
        unregister_block(block);
        given = advise(block, huge, MADV_DONTNEED) ? huge : 0;
    }
    memset((void *)(block->base + given), 0, block->size - given);
}

static bool prepare_block(struct gsh_block *block, size_t size, enum gsh_arena_use use)
{
    bool closed = use == GSH_ARENA_DEVICE;
    bool was_closed = is_closed(block);
    note_opened_idle(block);
    block->size = size;
    if (closed)
        register_recycled(block, &was_closed);
    if (!set_protection(block, was_closed, closed)) {
        set_size(block, size, was_closed);
        return false;
    }
    set_size(block, size, closed);
    if (use == GSH_ARENA_ZERO)
        zero_block(block);
    if (!closed)
        note_backed_sigsafe(block);
    return true;
}

static void give_to_pool(struct gsh_block *block)
{
    GSH_LOCKED(&arena_lock);
    if (!block->large)
        gsh_slabs_note_freed_locked(block);
    gsh_arena_pool_give_locked(block, is_closed(block));
}

void gsh_arena_serve_host_alone(void)
{
    is_host_alone = true;
    gsh_arena_pool_reuse_any_size();
    gsh_page_moves_init();
}

void *gsh_arena_allocate(size_t size, enum gsh_arena_use use)
{
    gsh_forked_check();
    if (gsh_arena_base == 0 || gsh_arena_is_frozen)
        return NULL;
    size = GSH_MAX(size, 1);
    struct zone *zone = size >= GSH_GRANULE_LARGE ? &large_zone : &small_zone;
    if (size > zone->end - zone->base || !gsh_pages_are_granted(size))
        return NULL;
    struct gsh_block *block = take_block(zone, size, use);
    if (block == NULL)
        return NULL;
    gsh_block_acquire_sigsafe(block);
    size_t kept = use == GSH_ARENA_HOST ? block->backed : 0;
    bool prepared = prepare_block(block, size, use);
    gsh_block_release_sigsafe(block);
    if (!prepared) {
        give_to_pool(block);
        return NULL;
    }
    gsh_page_cost_note_reused(size, kept);
    atomic_store_explicit(&block->live, true, memory_order_release);
    return (void *)block->base;
}

/* Makes the freed block's pages uniform: blocks that the device wrote stay closed, others are
 * opened. */
static bool close_or_open(struct gsh_block *block)
{
    bool closed = block->state[0] != GSH_CHUNK_HOST;
    enum gsh_chunk_state state = closed ? GSH_CHUNK_BLANK : GSH_CHUNK_HOST;
    if (gsh_arena_protect_sigsafe(block, 0, block->chunks - 1U, state) == GSH_OK)
        return true;
    return gsh_arena_protect_sigsafe(block, 0, block->chunks - 1U, GSH_CHUNK_HOST) == GSH_OK;
}

void gsh_arena_note_changed_held(struct gsh_block *block, enum gsh_page_change change)
{
    if (change != GSH_PAGES_ALTERED)
        unregister_block(block);
    block->is_altered = true;
    block->is_replaced |= change == GSH_PAGES_REPLACED ||
                          (change == GSH_PAGES_DISCARDED && gsh_slabs_has_registered(block));
}

/* Restores a freed block's pages to their initial protection and flags. False: they were replaced, or the system
 * refuses the protection. Where a later call fails, it had nothing to undo. */
static bool restore_pages(struct gsh_block *block)
{
    if (block->is_replaced ||
        !gsh_pages_protect_sigsafe(block->base, block->capacity, PROT_READ | PROT_WRITE))
        return false;
    gsh_raw_syscall3(SYS_munlock, (long)block->base, (long)block->capacity, 0);
    advise(block, block->capacity, MADV_DOFORK);
    advise(block, block->capacity, MADV_KEEPONFORK);
    block->is_altered = false;
    return true;
}

bool gsh_arena_free(void *address)
{
    struct gsh_block *block = gsh_arena_find_block(address);
    if (block == NULL)
        return false;
    gsh_block_acquire_sigsafe(block);
    atomic_store_explicit(&block->live, false, memory_order_release);
    struct gsh_value *value = block->value;
    block->value = NULL;
    gsh_value_release_sigsafe(value);
    note_opened_idle(block);
    bool usable = !block->is_altered || restore_pages(block);
    usable = usable && close_or_open(block);
    gsh_block_release_sigsafe(block);
    if (!usable || gsh_arena_is_frozen)
        return true; /* its pages are not uniform, or not ours: its addresses are not used again */
    give_to_pool(block);
    gsh_idle_note();
    return true;
}

size_t gsh_arena_usable(void *address)
{
    const struct gsh_block *block = gsh_arena_find_block(address);
    return block == NULL ? 0 : block->size - ((uintptr_t)address - block->base);
}

/* ---- all blocks ---- */

void gsh_arena_lock(void)
{
    gsh_lock_acquire(&arena_lock);
}

void gsh_arena_unlock(void)
{
    gsh_lock_release(&arena_lock);
}

void gsh_arena_visit_live_locked(void (*visit)(struct gsh_block *block, void *context),
                                 void *context)
{
    for (uint32_t index = 1; index < block_count; index++)
        if (atomic_load_explicit(&gsh_block_table[index].live, memory_order_acquire))
            visit(&gsh_block_table[index], context);
}

void gsh_arena_unregister_all_locked(void)
{
    for (uint32_t index = 1; index < block_count; index++) {
        struct gsh_block *block = &gsh_block_table[index];
        if (!block->held_by_fork) /* another thread may be taking it from the pool */
            gsh_block_acquire_sigsafe(block);
        unregister_block(block);
        if (!block->held_by_fork)
            gsh_block_release_sigsafe(block);
    }
    gsh_slabs_unregister_all_locked();
}

void gsh_arena_reset_after_fork(void)
{
    gsh_lock_reset_after_fork(&arena_lock);
}
