/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks, chunks and values: the structures that arena.c, coherence.c, value.c and dispatch.c share. Block structures
 * live in a reserved table and are never unmapped, so the fault handler may read them at any time.
 *
 * A block's bit lock guards state[], value, registered_bytes, rent and increments of the pins. It is held while protections
 * change and while bytes move, never while Python or an original function runs. Its rank, and which threads may wait
 * for several blocks: lock_ranks.def.
 */
#pragma once

#include "base.h"
#include "element_rent.h"
#include "ledger.h"
#include "status.h"

#include <stdatomic.h>

#define GSH_SHIFT_SMALL 12
#define GSH_SHIFT_LARGE 21
#define GSH_GRANULE_SMALL ((size_t)1 << GSH_SHIFT_SMALL)
#define GSH_GRANULE_LARGE ((size_t)1 << GSH_SHIFT_LARGE)
#define GSH_MAX_CHUNKS 64
#define GSH_PINNED_FOR_GOOD                                                                        \
    ((uint32_t)1 << 31) /* in write_pins: until the block is freed (page_changes.h) */

/* State of one chunk's host pages; see coherence.h. BLANK: closed, contents undefined, no device value. */
enum gsh_chunk_state { GSH_CHUNK_HOST, GSH_CHUNK_SHARED, GSH_CHUNK_DEVICE, GSH_CHUNK_BLANK };

/* One version of a block's contents on the device. Guarded by the DISPATCH lock, except `references`, and what the planner alone
 * uses, which is guarded by that of the plan (graph/plan.h). */
struct gsh_value {
    _Atomic uint32_t references; /* the block's, and one for each node that reads it */
    uint64_t address;            /* device address; 0: no memory yet, contents undefined */
    size_t size;                 /* bytes allocated */
    uint64_t last_use;           /* dispatch's clock, for eviction */
    uint64_t version;            /* of the contents after all pending nodes; unique; 0: undefined */
    uint32_t block; /* index of its block; 0: none (copy of an operand in unmanaged memory) */
    _Atomic uint32_t pending; /* references by pending nodes, one for each operand */
    _Atomic uint32_t writers; /* of `pending`, those by outputs */
    bool is_poisoned;  /* the node that was to write it failed on the device and on the host */
    char *spill;       /* host copy where the device had no memory, until overwritten; or NULL */
    bool is_read_next; /* one element that the host reads next: placed in a mapped scalar */
    const char *word;  /* its host address then (mapped_scalar.h); or NULL */
    _Atomic uint8_t expiring; /* call site (expiring.h) whose hint says that it expires; 0: none */
    bool is_retained;         /* expiring, and not read after the current flush */
    bool is_read;       /* by another node of the current plan; used by graph/plan_live.c alone */
    bool is_live_out;   /* as the current plan sees it; used by graph/plan_live.c alone */
    bool is_marked;     /* used by expiring.c */
    bool is_counted;    /* counted in node.c's held_bytes */
    uint32_t snapshots; /* readers outside our stream (snapshot.h); it is not written meanwhile */
    uint32_t plan_epoch, plan_slot; /* used by the planner */
    uint32_t later; /* of `pending`, references by nodes after those that are planned (node.c) */
    uint64_t written_at, accessed_at; /* used by node_iterations.c: numbers of nodes */
    bool is_whole_written;            /* used by node_iterations.c */
    struct gsh_value *older, *newer;  /* all values, by last use */
    struct gsh_value *next_dead;      /* link of the list of values to release */
};

struct gsh_block {
    uintptr_t base;        /* first byte; fixed for the structure's life */
    size_t capacity;       /* bytes reserved, whole granules; fixed */
    size_t size;           /* bytes asked for */
    size_t backed;         /* bytes from base on that may have host pages; ARENA lock while free */
    uint32_t next_free;    /* link of the free list, index; ARENA lock */
    _Atomic uint32_t lock; /* of rank BLOCK: 0 free, 1 held, 2 held and waited for */
    _Atomic bool live;
    bool held_by_fork; /* locked by fork, until its parent handler */
    bool large;        /* in the large zone */
    bool device_born;  /* cut from the zone's closed region */
    size_t pooled;     /* free: bytes of its pages that its pool can give back; ARENA lock */
    size_t unused;     /* of `backed`, what its array does not need; ARENA lock */
    bool is_trimmed;   /* its pool gave its pages back; ARENA lock */
    bool
        has_small_tail; /* its last GSH_GRANULE_LARGE bytes have small pages; ARENA lock while free */
    bool has_moved_pages; /* it has had pages of other blocks (page_moves.h); ARENA lock */
    size_t top
        [2]; /* free, `backed` != 0: ends of the small [false] and huge pages that did not move away (page_moves.h); ARENA lock */
    uint32_t idle_since;           /* idle.c's clock when it was freed; ARENA lock */
    bool opened_idle;              /* opened while it was free; `backed` does not include that */
    _Atomic bool is_address_taken; /* by the program, which may use it after the block is freed */
    bool is_altered;               /* the program has changed its pages: restored when freed */
    bool is_replaced;              /* the program has replaced its pages: never used again */
    uint8_t chunk_shift;           /* log2 of the chunk's bytes */
    uint8_t chunks;                /* chunks that `size` covers, 1..64 */
    uint8_t state[GSH_MAX_CHUNKS]; /* enum gsh_chunk_state; written atomically */
    _Atomic uint32_t resident;     /* chunks that are not HOST */
    _Atomic uint32_t closed;       /* chunks that are DEVICE or BLANK */
    _Atomic uint32_t read_pins, write_pins;
    struct gsh_value *value;
    size_t registered_bytes; /* page-locked from base on (large blocks) */
    uint32_t boundaries;     /* protection boundaries charged to this block */
    uint32_t next_chunk;     /* read-ahead: the chunk that continues the last fault's run */
    uint32_t run;            /* read-ahead: chunks fetched by the last fault */
    uint32_t row;            /* stats row of the call that wrote the contents on the device */
    struct gsh_ledger ledger;
    struct gsh_element_rent rent; /* of single elements (dispatch/element.h) */
    _Atomic uint64_t expected;    /* chunks, as bits (expected.h) */
};

/* A chunk's state, read without holding the block, for callers that tolerate a stale answer (pricing). */
static inline enum gsh_chunk_state gsh_block_peek_state(const struct gsh_block *block,
                                                        unsigned chunk)
{
    return (enum gsh_chunk_state)__atomic_load_n(&block->state[chunk], __ATOMIC_RELAXED);
}

/* Whether any chunk has the state. Caller holds the block. */
static inline bool gsh_block_has_state(const struct gsh_block *block, enum gsh_chunk_state state)
{
    for (unsigned chunk = 0; chunk < block->chunks; chunk++)
        if (block->state[chunk] == state)
            return true;
    return false;
}

/* One past the last chunk of the run of equal states that begins at `first`, at most `end`. Caller holds the block. */
static inline unsigned gsh_block_run_end(const struct gsh_block *block, unsigned first,
                                         unsigned end)
{
    unsigned chunk = first + 1;
    while (chunk < end && block->state[chunk] == block->state[first])
        chunk++;
    return chunk;
}

/* Whether the access to the chunk faults. Caller holds the block. */
static inline bool gsh_block_needs_opening(const struct gsh_block *block, unsigned chunk,
                                           bool write)
{
    return block->state[chunk] != GSH_CHUNK_HOST &&
           (write || block->state[chunk] != GSH_CHUNK_SHARED);
}

/* Whether pending nodes write the block's contents. Caller holds the block. */
static inline bool gsh_block_is_written(const struct gsh_block *block)
{
    return block->value != NULL &&
           atomic_load_explicit(&block->value->writers, memory_order_acquire) != 0;
}

/* All blocks. Reserved by arena.c; the part that contains blocks is never unmapped. */
extern struct gsh_block *gsh_block_table;

/* Index of a block in the table; 0: no block. */
static inline uint32_t gsh_block_index(const struct gsh_block *block)
{
    return (uint32_t)(block - gsh_block_table);
}

static inline struct gsh_block *gsh_block_at(uint32_t index)
{
    return &gsh_block_table[index];
}

/* Waits for the block's lock, which the thread must not hold. The thread may hold other blocks only if it holds the
 * DISPATCH lock. */
void gsh_block_acquire_sigsafe(struct gsh_block *block);
bool gsh_block_try_acquire_sigsafe(struct gsh_block *block);
void gsh_block_release_sigsafe(struct gsh_block *block);

/* The chunk that contains byte `offset`; a chunk's first byte and its size. The last chunk ends with the last page of
 * the contents. */
static inline unsigned gsh_block_chunk(const struct gsh_block *block, size_t offset)
{
    return (unsigned)(offset >> block->chunk_shift);
}

static inline size_t gsh_block_chunk_offset(const struct gsh_block *block, unsigned chunk)
{
    return (size_t)chunk << block->chunk_shift;
}

/* Chunks first..last as bits. */
static inline uint64_t gsh_block_chunk_bits(unsigned first, unsigned last)
{
    return UINT64_MAX >> (GSH_MAX_CHUNKS - 1 - (last - first)) << first;
}

/* Bytes from the start of chunk `first` to the end of chunk `last`, whole pages. */
static inline size_t gsh_block_run_bytes(const struct gsh_block *block, unsigned first,
                                         unsigned last)
{
    size_t begin = gsh_block_chunk_offset(block, first);
    size_t end = gsh_block_chunk_offset(block, last + 1);
    size_t pages = gsh_round_up(block->size, GSH_GRANULE_SMALL);
    return GSH_MIN(end, pages) - begin;
}
