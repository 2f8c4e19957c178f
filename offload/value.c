/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory of values, their order of use, and eviction. The list of dead values is a lock-free
 * stack, because the fault handler drops values too; everything else is under the DISPATCH lock.
 */
#include "value.h"

#include "arena_internal.h"
#include "backend.h"
#include "coherence_internal.h"
#include "stats.h"

#include <stdlib.h>

static struct gsh_value *_Atomic dead_values;
static struct gsh_value *free_structures;
static struct gsh_value *oldest, *newest;
static uint64_t use_clock;

static void unlink_value(struct gsh_value *value)
{
    *(value->older != NULL ? &value->older->newer : &oldest) = value->newer;
    *(value->newer != NULL ? &value->newer->older : &newest) = value->older;
}

static void link_newest(struct gsh_value *value)
{
    value->last_use = ++use_clock;
    value->older = newest;
    value->newer = NULL;
    *(newest != NULL ? &newest->newer : &oldest) = value;
    newest = value;
}

void gsh_value_touch_locked(struct gsh_value *value)
{
    if (value == newest)
        return;
    unlink_value(value);
    link_newest(value);
}

void gsh_value_release_sigsafe(struct gsh_value *value)
{
    if (value == NULL ||
        atomic_fetch_sub_explicit(&value->references, 1, memory_order_acq_rel) != 1)
        return;
    struct gsh_value *head = atomic_load_explicit(&dead_values, memory_order_relaxed);
    do
        value->next_dead = head;
    while (!atomic_compare_exchange_weak_explicit(&dead_values, &head, value, memory_order_release,
                                                  memory_order_relaxed));
}

void gsh_value_reap_locked(void)
{
    if (atomic_load_explicit(&dead_values, memory_order_relaxed) == NULL)
        return;
    struct gsh_value *value = atomic_exchange_explicit(&dead_values, NULL, memory_order_acquire);
    while (value != NULL) {
        struct gsh_value *next = value->next_dead;
        unlink_value(value);
        gsh_backend_get()->release(value->address, value->size);
        value->next_dead = free_structures;
        free_structures = value;
        value = next;
    }
}

static struct gsh_value *new_structure(void)
{
    struct gsh_value *value = free_structures;
    if (value == NULL)
        return malloc(sizeof *value);
    free_structures = value->next_dead;
    return value;
}

/* Brings the least recently used value that nobody else uses home and frees it. */
static bool evict_one(void)
{
    for (struct gsh_value *value = oldest; value != NULL; value = value->newer) {
        struct gsh_block *block = gsh_block_at(value->block);
        if (value->block == 0 || !gsh_block_try_acquire(block))
            continue;
        bool evicted = block->value == value && gsh_coherence_evict_held(block) == GSH_OK;
        gsh_block_release_sigsafe(block);
        if (!evicted)
            continue;
        gsh_stats_add(GSH_COUNTER_EVICTIONS, 1);
        gsh_value_reap_locked();
        return true;
    }
    return false;
}

static bool could_fit(size_t size)
{
    size_t free_bytes = 0, total_bytes = 0;
    gsh_backend_get()->memory(&free_bytes, &total_bytes);
    return size <= total_bytes;
}

enum gsh_status gsh_value_create_locked(size_t size, uint32_t block, struct gsh_value **result)
{
    gsh_value_reap_locked();
    uint64_t address = 0;
    size = gsh_round_up(size, 256);
    while (gsh_backend_get()->allocate(size, &address) != GSH_OK)
        if (!could_fit(size) || !evict_one())
            return GSH_FAILED;
    struct gsh_value *value = new_structure();
    if (value == NULL) {
        gsh_backend_get()->release(address, size);
        return GSH_FAILED;
    }
    *value = (struct gsh_value){.references = 1, .address = address, .size = size, .block = block};
    link_newest(value);
    *result = value;
    return GSH_OK;
}
