/* SPDX-License-Identifier: Apache-2.0
 *
 * A table with one entry for each hash; a new key replaces the one that it meets. In a forked child it may stay in use for good.
 */
#include "work_memo.h"

#include "hash.h"

#include <stdatomic.h>
#include <string.h>

#define ENTRIES 64

static struct entry {
    struct gsh_work_memo_key key;
    struct gsh_work work;
} entries[ENTRIES];
static _Atomic bool is_used;

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Constants differ from arrays, but not from each other. */
static uint64_t operands_of(const struct gsh_launch *launch)
{
    uint64_t word = 0;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        word =
            word << 8 | (uint64_t)launch->operands[k].dtype << 1 | launch->operands[k].is_constant;
    return word;
}

_Static_assert(GSH_DTYPE_COUNT <= 128 && GSH_MAX_OPERANDS <= 8, "an operand is a byte of a word");
_Static_assert(GSH_LAUNCH_KINDS <= 256 && GSH_OP_COUNT <= 65536, "see the shifts");

bool gsh_work_memo_make_key(const struct gsh_launch *launch, double host_ns, double cache_bytes,
                            struct gsh_work_memo_key *key)
{
    unsigned count = 4, operands = gsh_launch_operands(launch);
    if (launch->ndim > GSH_WORK_MEMO_DIMS ||
        gsh_launch_has(launch, GSH_TRAIT_INDEXES_INPUT | GSH_TRAIT_INDEXES_OUTPUT |
                                   GSH_TRAIT_DRAWS | GSH_TRAIT_BATCH))
        return false;
    key->words[0] = (uint64_t)launch->kind | (uint64_t)launch->op << 8 |
                    (uint64_t)launch->loop << 24 | (uint64_t)launch->nin << 32 |
                    (uint64_t)launch->nout << 36 | (uint64_t)launch->has_mask << 40 |
                    (uint64_t)launch->ndim << 44 | (uint64_t)launch->nreduce << 52;
    key->words[1] = operands_of(launch);
    key->words[2] = bits_of(host_ns);
    key->words[3] = bits_of(cache_bytes);
    for (int d = 0; d < launch->ndim; d++) {
        key->words[count++] = (uint64_t)launch->shape[d];
        for (unsigned k = 0; k < operands; k++)
            key->words[count++] = (uint64_t)launch->strides[k][d];
    }
    key->count = count;
    return true;
}

static struct entry *entry_of(const struct gsh_work_memo_key *key)
{
    uint64_t hash = GSH_HASH_BEGIN;
    for (unsigned word = 0; word < key->count; word++)
        hash = gsh_hash_add(hash, key->words[word]) ^ hash >> 29;
    return &entries[gsh_hash_spread(hash) % ENTRIES];
}

static bool is_same(const struct gsh_work_memo_key *x, const struct gsh_work_memo_key *y)
{
    bool is_same = x->count == y->count;
    for (unsigned word = 0; word < x->count && is_same; word++)
        is_same = x->words[word] == y->words[word];
    return is_same;
}

static bool take(void)
{
    return !atomic_exchange_explicit(&is_used, true, memory_order_acquire);
}

static void give_back(void)
{
    atomic_store_explicit(&is_used, false, memory_order_release);
}

bool gsh_work_memo_find(const struct gsh_work_memo_key *key, struct gsh_work *work)
{
    if (!take())
        return false;
    const struct entry *entry = entry_of(key);
    bool is_found = is_same(key, &entry->key);
    if (is_found)
        *work = entry->work;
    give_back();
    return is_found;
}

void gsh_work_memo_keep(const struct gsh_work_memo_key *key, const struct gsh_work *work)
{
    if (!take())
        return;
    *entry_of(key) = (struct entry){*key, *work};
    give_back();
}
