/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The DISPATCH lock guards the tables of snapshots.
 */
#include "snapshot.h"

#include "arena_internal.h"
#include "backend.h"
#include "coherence_events.h"
#include "device.h"
#include "dispatch_lock.h"
#include "eviction.h"
#include "transfer.h"
#include "value.h"

#include <stdlib.h>

#define MOST_LATER 256

struct later {
    struct gsh_value *value;
    bool (*is_done)(void *work);
    void *work;
};

struct taken {
    struct gsh_value *value;
    uint64_t device;
    struct taken *next;
};

static struct taken *takens;
static struct later laters[MOST_LATER];
static unsigned later_count;

static bool is_on_device(const struct gsh_block *block, size_t begin, size_t size)
{
    if (block->value == NULL || !gsh_value_is_on_device(block->value) || block->value->is_poisoned)
        return false;
    unsigned last = gsh_block_chunk(block, begin + size - 1);
    for (unsigned chunk = gsh_block_chunk(block, begin); chunk <= last; chunk++)
        if (block->state[chunk] != GSH_CHUNK_SHARED && block->state[chunk] != GSH_CHUNK_DEVICE)
            return false;
    return true;
}

/* Caller holds the block. */
static struct gsh_value *acquire_locked(struct gsh_block *block, size_t begin, size_t size)
{
    while (block->value != NULL &&
           atomic_load_explicit(&block->value->writers, memory_order_acquire) != 0) {
        gsh_value_note_looked(block->value);
        gsh_coherence_events.run_for_host_read_locked();
    }
    if (begin > block->size || size > block->size - begin || !is_on_device(block, begin, size))
        return NULL;
    struct gsh_value *value = block->value;
    gsh_value_retain(value);
    gsh_eviction_touch_locked(value);
    value->snapshots++;
    return value;
}

struct gsh_value *gsh_snapshot_acquire(const void *address, size_t size, uint64_t *device)
{
    struct gsh_block *block = gsh_arena_find_block(address);
    if (block == NULL || size == 0 || gsh_device_get_state() != GSH_DEVICE_READY)
        return NULL;
    size_t begin = (uintptr_t)address - block->base;
    gsh_dispatch_lock_acquire();
    gsh_block_acquire_sigsafe(block);
    struct gsh_value *value = acquire_locked(block, begin, size);
    gsh_block_release_sigsafe(block);
    gsh_dispatch_lock_release();
    if (value != NULL)
        *device = value->address + begin;
    return value;
}

static void give_back_locked(struct gsh_value *value)
{
    value->snapshots--;
    gsh_value_release_sigsafe(value);
}

void gsh_snapshot_release(struct gsh_value *value)
{
    gsh_dispatch_lock_acquire();
    give_back_locked(value);
    gsh_dispatch_lock_release();
}

/* ---- by address ---- */

uint64_t gsh_snapshot_acquire_address(const void *address, size_t size)
{
    uint64_t device = 0;
    struct taken *entry = malloc(sizeof *entry);
    struct gsh_value *value = NULL;
    if (entry != NULL && gsh_backend_get() == &gsh_cuda_backend)
        value = gsh_snapshot_acquire(address, size, &device);
    if (value != NULL && gsh_transfer_finish() != GSH_OK) {
        gsh_snapshot_release(value);
        value = NULL;
    }
    if (value == NULL) {
        free(entry);
        return 0;
    }
    gsh_dispatch_lock_acquire();
    *entry = (struct taken){value, device, takens};
    takens = entry;
    gsh_dispatch_lock_release();
    return device;
}

bool gsh_snapshot_release_address(uint64_t device)
{
    gsh_dispatch_lock_acquire();
    struct taken **place = &takens;
    while (*place != NULL && (*place)->device != device)
        place = &(*place)->next;
    struct taken *entry = *place;
    if (entry != NULL) {
        *place = entry->next;
        give_back_locked(entry->value);
    }
    gsh_dispatch_lock_release();
    free(entry);
    return entry != NULL;
}

/* ---- later ---- */

void gsh_snapshot_collect_locked(void)
{
    unsigned left = 0;
    if (later_count == 0 || gsh_device_get_state() != GSH_DEVICE_READY)
        return;
    for (unsigned i = 0; i < later_count; i++) {
        if (laters[i].is_done(laters[i].work))
            give_back_locked(laters[i].value);
        else
            laters[left++] = laters[i];
    }
    later_count = left;
}

bool gsh_snapshot_release_when(struct gsh_value *value, bool (*is_done)(void *work), void *work)
{
    gsh_dispatch_lock_acquire();
    if (later_count == MOST_LATER)
        gsh_snapshot_collect_locked();
    bool has_place = later_count < MOST_LATER;
    if (has_place)
        laters[later_count++] = (struct later){value, is_done, work};
    gsh_dispatch_lock_release();
    return has_place;
}
