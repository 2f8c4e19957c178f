/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of values in order of use, and the eviction of the least recently used: under the DISPATCH lock.
 */
#include "eviction.h"

#include "arena_internal.h"
#include "coherence_internal.h"
#include "readers.h"
#include "stats.h"
#include "trace.h"
#include "value.h"

static struct gsh_value *oldest, *newest;
static uint64_t use_clock;

void gsh_eviction_add_locked(struct gsh_value *value)
{
    value->last_use = ++use_clock;
    value->older = newest;
    value->newer = NULL;
    *(newest != NULL ? &newest->newer : &oldest) = value;
    newest = value;
}

void gsh_eviction_remove_locked(struct gsh_value *value)
{
    *(value->older != NULL ? &value->older->newer : &oldest) = value->newer;
    *(value->newer != NULL ? &value->newer->older : &newest) = value->older;
}

void gsh_eviction_touch_locked(struct gsh_value *value)
{
    if (value == newest)
        return;
    gsh_eviction_remove_locked(value);
    gsh_eviction_add_locked(value);
}

/* Whether nothing but its block uses the value's device memory. */
static bool is_evictable(const struct gsh_value *value)
{
    return value->block != 0 && gsh_value_is_on_device(value) && value->snapshots == 0 &&
           atomic_load_explicit(&value->pending, memory_order_relaxed) == 0;
}

/* Makes the host copy of the value's block valid and releases the value. False: the block is in use, or the device refuses. */
static bool evict(struct gsh_value *value)
{
    struct gsh_block *block = gsh_block_at(value->block);
    if (!gsh_block_try_acquire_sigsafe(block))
        return false;
    GSH_TRACE_CAUSE("the device's memory is short", NULL);
    GSH_READER("eviction");
    bool is_evicted = block->value == value && gsh_coherence_evict_held(block) == GSH_OK;
    gsh_block_release_sigsafe(block);
    return is_evicted;
}

size_t gsh_eviction_evict_one_locked(void)
{
    for (struct gsh_value *value = oldest; value != NULL; value = value->newer) {
        size_t size = value->size;
        if (!is_evictable(value) || !evict(value))
            continue;
        gsh_stats_add(GSH_COUNTER_EVICTIONS, 1);
        gsh_value_reap_locked();
        return size;
    }
    return 0;
}

bool gsh_eviction_evict_locked(size_t bytes)
{
    size_t evicted = 0;
    for (size_t size; evicted < bytes && (size = gsh_eviction_evict_one_locked()) != 0;)
        evicted += size;
    return evicted != 0;
}
