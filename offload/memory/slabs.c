/* SPDX-License-Identifier: Apache-2.0
 *
 * If pages are discarded while they are being locked, the host and the device have different pages. A thread that
 * discards pages of a single block, and one that locks its slab, therefore announce it first and then check for the
 * other. A slab that is being unlocked is LEAVING: its blocks are held, so that a thread that takes one waits. The
 * driver is not called under the ARENA lock, as it may wait for the device. All blocks of an unlocked slab are open,
 * so that it can be locked again.
 */
#include "slabs.h"

#include "arena_internal.h"
#include "idle.h"
#include "pages.h"
#include "pin.h"
#include "raw_syscall.h"

#include <sys/mman.h>
#include <sys/syscall.h>

enum state { UNTRIED, REFUSED, LOCKING, REGISTERED, LEAVING, GIVEN_BACK };

struct slab {
    _Atomic uint8_t state;     /* enum state */
    _Atomic uint32_t discards; /* of single blocks, in progress */
    uint32_t live;             /* blocks that are not free; ARENA lock, also for the next member */
    uint32_t idle_since;       /* idle.c's clock when the last of them was freed */
};

static uintptr_t zone_base;
static struct slab *slabs;
static size_t slab_count;

bool gsh_slabs_init(uintptr_t base, size_t size)
{
    size_t count = size / GSH_SLAB_BYTES;
    void *range = mmap(NULL, count * sizeof *slabs, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return false;
    zone_base = base;
    slab_count = count;
    slabs = range;
    return true;
}

static struct slab *slab_of(uintptr_t address)
{
    return &slabs[(address - zone_base) / GSH_SLAB_BYTES];
}

static uintptr_t address_of(const struct slab *slab)
{
    return zone_base + (size_t)(slab - slabs) * GSH_SLAB_BYTES;
}

static enum state state_of(struct slab *slab)
{
    return (enum state)atomic_load_explicit(&slab->state, memory_order_acquire);
}

static void set_state(struct slab *slab, enum state state)
{
    atomic_store_explicit(&slab->state, (uint8_t)state, memory_order_release);
}

bool gsh_slabs_is_registered(uintptr_t address)
{
    return state_of(slab_of(address)) == REGISTERED;
}

bool gsh_slabs_has_registered(const struct gsh_block *block)
{
    return !block->large && gsh_slabs_is_registered(block->base);
}

/* ---- locking ---- */

bool gsh_slabs_begin_discard(const struct gsh_block *block)
{
    struct slab *slab = slab_of(block->base);
    atomic_fetch_add(&slab->discards, 1);
    enum state state = (enum state)atomic_load(&slab->state);
    if (state != LOCKING && state != REGISTERED)
        return true;
    gsh_slabs_end_discard(block);
    return false;
}

void gsh_slabs_end_discard(const struct gsh_block *block)
{
    atomic_fetch_sub(&slab_of(block->base)->discards, 1);
}

/* Locks a slab that is LOCKING: discards that begin from now on are refused. The slab is not locked while a discard
 * is in progress. */
static void lock(struct slab *slab, enum state busy, enum state failed)
{
    if (atomic_load(&slab->discards) != 0)
        set_state(slab, busy);
    else
        set_state(slab, gsh_pin_try(address_of(slab), GSH_SLAB_BYTES) ? REGISTERED : failed);
}

void gsh_slabs_register_locked(uintptr_t address)
{
    struct slab *slab = slab_of(address);
    atomic_store(&slab->state, LOCKING);
    lock(slab, UNTRIED, UNTRIED);
}

/* Fails, once, where a neighbour's pages are closed or read-only. */
void gsh_slabs_register_old(const struct gsh_block *block)
{
    struct slab *slab = slab_of(block->base);
    uint8_t untried = UNTRIED;
    if (!gsh_pin_is_possible() || block->device_born ||
        !atomic_compare_exchange_strong(&slab->state, &untried, LOCKING))
        return;
    lock(slab, UNTRIED, REFUSED);
}

void gsh_slabs_note_taken_locked(const struct gsh_block *block)
{
    struct slab *slab = slab_of(block->base);
    if (slab->live++ != 0 || state_of(slab) != GIVEN_BACK)
        return;
    atomic_store(&slab->state, LOCKING);
    lock(slab, GIVEN_BACK, UNTRIED);
}

void gsh_slabs_note_freed_locked(const struct gsh_block *block)
{
    struct slab *slab = slab_of(block->base);
    if (--slab->live == 0)
        slab->idle_since = gsh_idle_clock_locked();
}

void gsh_slabs_unregister_all_locked(void)
{
    for (struct slab *slab = slabs; slab < slabs + slab_count; slab++)
        if (state_of(slab) == REGISTERED) {
            gsh_pin_release(address_of(slab), GSH_SLAB_BYTES);
            set_state(slab, UNTRIED);
        }
}

/* ---- giving back ---- */

/* The slab's next block from `*address` on, which is moved behind it; NULL: there is none. */
static struct gsh_block *next_block(const struct slab *slab, uintptr_t *address)
{
    for (uintptr_t end = address_of(slab) + GSH_SLAB_BYTES; *address < end;) {
        struct gsh_block *block = gsh_arena_block_of_sigsafe((void *)*address);
        *address += block != NULL ? block->capacity : GSH_GRANULE_SMALL;
        if (block != NULL)
            return block;
    }
    return NULL;
}

/* Releases the slab's blocks below `end`. */
static void release_blocks(const struct slab *slab, uintptr_t end)
{
    uintptr_t address = address_of(slab);
    for (struct gsh_block *block;
         (block = next_block(slab, &address)) != NULL && block->base < end;)
        gsh_block_release_sigsafe(block);
}

/* Acquires all blocks of the slab. False: another thread holds one, or one is not as the pools keep them. */
static bool hold_blocks(const struct slab *slab)
{
    uintptr_t address = address_of(slab);
    for (struct gsh_block *block; (block = next_block(slab, &address)) != NULL;) {
        bool is_held = gsh_block_try_acquire_sigsafe(block);
        if (is_held && block->chunks != 0 && !block->is_altered)
            continue;
        if (is_held)
            gsh_block_release_sigsafe(block);
        release_blocks(slab, block->base);
        return false;
    }
    return true;
}

/* Opens the blocks, which the caller holds. False: the system refuses, and nothing has changed. */
static bool open_blocks(const struct slab *slab)
{
    uintptr_t address = address_of(slab);
    if (!gsh_pages_protect_sigsafe(address, GSH_SLAB_BYTES, PROT_READ | PROT_WRITE))
        return false;
    for (struct gsh_block *block; (block = next_block(slab, &address)) != NULL;)
        if (block->state[0] != GSH_CHUNK_HOST)
            (void)gsh_arena_open_idle_sigsafe(block); /* their pages are open, so it cannot fail */
    return true;
}

/* Caller holds the blocks. */
static void discard_pages(const struct slab *slab)
{
    uintptr_t address = address_of(slab);
    if (gsh_raw_syscall3(SYS_madvise, (long)address, GSH_SLAB_BYTES, MADV_DONTNEED) != 0)
        return; /* the program has locked them */
    for (struct gsh_block *block; (block = next_block(slab, &address)) != NULL;) {
        block->backed = 0;
        block->opened_idle = false;
    }
}

static bool begin(struct slab *slab, uint32_t looks, bool *has_left)
{
    gsh_arena_lock();
    bool is_free = slab->live == 0 && state_of(slab) == REGISTERED &&
                   !gsh_arena_is_cut_from_locked(address_of(slab), GSH_SLAB_BYTES);
    bool is_due =
        is_free && gsh_idle_clock_locked() - slab->idle_since >= looks && hold_blocks(slab);
    if (is_due)
        set_state(slab, LEAVING);
    gsh_arena_unlock();
    *has_left |= is_free && !is_due;
    return is_due;
}

bool gsh_slabs_trim(uint32_t looks)
{
    bool has_left = false;
    for (struct slab *slab = slabs; slab < slabs + slab_count; slab++) {
        if (state_of(slab) != REGISTERED || !begin(slab, looks, &has_left))
            continue;
        gsh_pin_release(address_of(slab), GSH_SLAB_BYTES);
        bool is_open = open_blocks(slab);
        discard_pages(slab);
        set_state(slab, is_open ? GIVEN_BACK : REFUSED);
        release_blocks(slab, UINTPTR_MAX);
    }
    return has_left;
}
