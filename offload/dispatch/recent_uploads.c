/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of the last few arrays that were uploaded, and a smaller one of hashes for prices, which takes no lock.
 */
#include "recent_uploads.h"

#include "eviction.h"
#include "hash.h"

#include <stdatomic.h>
#include <string.h>

enum { ENTRIES = 8, SAMPLES = 16, HASHES = 64, MOST_CHANGES = 2 };

struct entry {
    uint64_t address; /* of the host's bytes; 0: the entry is free */
    size_t bytes;
    unsigned changes;        /* of the bytes, since the entry was made */
    struct gsh_value *value; /* NULL: not kept */
};

static struct entry entries[ENTRIES]; /* DISPATCH lock, as the copies */
static char copies[ENTRIES]
                  [GSH_RECENT_UPLOADS_BYTES]; /* of the host's bytes, as they were uploaded */
static unsigned next_entry;                   /* to be replaced */
static _Atomic uint64_t hashes[HASHES];

static struct entry *find(uint64_t address, size_t bytes)
{
    for (unsigned k = 0; k < ENTRIES; k++)
        if (entries[k].address == address && entries[k].bytes == bytes)
            return &entries[k];
    return NULL;
}

static char *copy_of(const struct entry *entry)
{
    return copies[entry - entries];
}

static void release(struct entry *entry)
{
    gsh_value_release_sigsafe(entry->value);
    entry->value = NULL;
}

struct gsh_value *gsh_recent_uploads_take_locked(uint64_t address, size_t bytes)
{
    struct entry *entry = find(address, bytes);
    if (entry == NULL || entry->value == NULL)
        return NULL;
    bool is_same = memcmp(copy_of(entry), (const void *)address, bytes) == 0;
    entry->changes += !is_same;
    if (!is_same || !gsh_value_is_on_device(entry->value)) {
        release(entry);
        return NULL;
    }
    gsh_value_retain(entry->value);
    gsh_eviction_touch_locked(entry->value);
    return entry->value;
}

static void begin_entry(uint64_t address, size_t bytes)
{
    struct entry *entry = &entries[next_entry++ % ENTRIES];
    release(entry);
    *entry = (struct entry){.address = address, .bytes = bytes};
}

void gsh_recent_uploads_note_locked(uint64_t address, size_t bytes, struct gsh_value *value)
{
    if (bytes == 0 || bytes > GSH_RECENT_UPLOADS_BYTES)
        return;
    struct entry *entry = find(address, bytes);
    if (entry == NULL) {
        begin_entry(address, bytes);
        return;
    }
    if (entry->value != NULL || entry->changes >= MOST_CHANGES)
        return;
    memcpy(copy_of(entry), (const void *)address, bytes);
    gsh_value_retain(value);
    entry->value = value;
}

void gsh_recent_uploads_drop_locked(void)
{
    for (unsigned k = 0; k < ENTRIES; k++) {
        release(&entries[k]);
        entries[k] = (struct entry){0};
    }
}

void gsh_recent_uploads_forget_after_fork(void)
{
    for (unsigned k = 0; k < ENTRIES; k++) {
        entries[k].address = 0;
        entries[k].value = NULL;
    }
}

/* ---- for prices ---- */

static uint64_t hash_samples(uint64_t address, size_t bytes)
{
    uint64_t hash = gsh_hash_add(gsh_hash_add(GSH_HASH_BEGIN, address), bytes);
    for (unsigned k = 0; k < SAMPLES; k++) {
        uint64_t word = 0;
        memcpy(&word, (const char *)address + (bytes - sizeof word) * k / (SAMPLES - 1),
               sizeof word);
        hash = gsh_hash_spread(gsh_hash_add(hash, word));
    }
    return hash | 1; /* 0: no array */
}

bool gsh_recent_uploads_expects(uint64_t address, size_t bytes)
{
    if (bytes < sizeof(uint64_t) || bytes > GSH_RECENT_UPLOADS_BYTES)
        return false;
    uint64_t place = gsh_hash_spread(address ^ bytes) % HASHES, hash = hash_samples(address, bytes);
    return atomic_exchange_explicit(&hashes[place], hash, memory_order_relaxed) == hash;
}
