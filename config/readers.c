/* SPDX-License-Identifier: Apache-2.0
 *
 * A row is claimed by its key, which is written once; a key that another thread is just writing is waited for by nobody: the bytes
 * go to row 0.
 */
#include "readers.h"

#include "hash.h"

#include <stdatomic.h>

#define PAGE_BITS 12

enum { FREE, CLAIMED, PUBLISHED };

static struct row {
    struct gsh_reader reader;
    _Atomic uint32_t state;
    _Atomic uint64_t bytes, transfers;
} rows[GSH_READERS_MAX];

static _Thread_local struct gsh_reader here;

struct gsh_reader gsh_readers_swap_sigsafe(struct gsh_reader reader)
{
    struct gsh_reader before = here;
    here = reader;
    return before;
}

struct gsh_reader gsh_readers_here_sigsafe(void)
{
    return here;
}

static bool is_same_sigsafe(const struct gsh_reader *a, const struct gsh_reader *b)
{
    return a->name == b->name && a->instruction == b->instruction && a->caller == b->caller;
}

/* A library's code begins and ends at a page: what is left of its addresses still tells libraries apart. */
static struct gsh_reader key_of_sigsafe(const struct gsh_reader *reader)
{
    if (reader->name != NULL)
        return (struct gsh_reader){.name = reader->name};
    return (struct gsh_reader){.instruction = reader->instruction >> PAGE_BITS << PAGE_BITS,
                               .caller = reader->caller >> PAGE_BITS << PAGE_BITS};
}

static bool claim_sigsafe(struct row *row, const struct gsh_reader *key)
{
    uint32_t state = FREE;
    if (!atomic_compare_exchange_strong_explicit(&row->state, &state, CLAIMED, memory_order_acquire,
                                                 memory_order_acquire))
        return state == PUBLISHED && is_same_sigsafe(&row->reader, key);
    row->reader = *key;
    atomic_store_explicit(&row->state, PUBLISHED, memory_order_release);
    return true;
}

static struct row *find_sigsafe(const struct gsh_reader *key)
{
    uint64_t hash = gsh_hash_add(GSH_HASH_BEGIN, (uintptr_t)key->name);
    hash = gsh_hash_add(gsh_hash_add(hash, key->instruction), key->caller);
    for (unsigned tries = 0; tries < GSH_READERS_MAX; tries++) {
        struct row *row = &rows[(hash + tries) % GSH_READERS_MAX];
        if (row != &rows[0] && claim_sigsafe(row, key))
            return row;
    }
    return &rows[0];
}

unsigned gsh_readers_count_sigsafe(uint64_t bytes)
{
    struct gsh_reader key = key_of_sigsafe(&here);
    bool is_known = key.name != NULL || key.instruction != 0;
    struct row *row = is_known ? find_sigsafe(&key) : &rows[0];
    atomic_fetch_add_explicit(&row->bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&row->transfers, 1, memory_order_relaxed);
    return (unsigned)(row - rows);
}

void gsh_readers_forget_after_fork(void)
{
    for (size_t i = 0; i < GSH_READERS_MAX; i++) {
        atomic_store_explicit(&rows[i].bytes, 0, memory_order_relaxed);
        atomic_store_explicit(&rows[i].transfers, 0, memory_order_relaxed);
    }
}

bool gsh_readers_get(unsigned index, struct gsh_readers_row *copy)
{
    struct row *row = &rows[index];
    bool is_known = atomic_load_explicit(&row->state, memory_order_acquire) == PUBLISHED;
    *copy = (struct gsh_readers_row){
        .bytes = atomic_load_explicit(&row->bytes, memory_order_relaxed),
        .transfers = atomic_load_explicit(&row->transfers, memory_order_relaxed)};
    if (is_known)
        copy->reader = row->reader;
    return copy->transfers != 0;
}
