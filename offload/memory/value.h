/* SPDX-License-Identifier: Apache-2.0
 *
 * Values: reference-counted versions of a block's contents on the device (struct gsh_value,
 * block.h). A value is only written while it has a single user. `_locked`: the caller holds the
 * DISPATCH lock.
 */
#pragma once

#include "block.h"
#include "status.h"
#include "value_release.h"

/* Whether there is memory for a value of so many bytes beside those that exist, without eviction. */
bool gsh_value_has_room_locked(size_t size);
/* A value of `size` bytes with one reference, contents undefined, for which there is memory, but which has none yet.
 * Evicts values of blocks that nobody holds and no node needs where memory is short; FAILED when that does not help.
 * `block` is the index of its block, 0 for none. */
enum gsh_status gsh_value_create_locked(size_t size, uint32_t block, struct gsh_value **value);
/* Sees to it that the value has memory on the device, and there what its stash holds, which stays. FAILED: it has none
 * left, or refuses. */
enum gsh_status gsh_value_place_locked(struct gsh_value *value);
/* Before what lies on the device is written: the stash holds it no more. Nobody reads the value now: it has a writer, or the
 * caller holds its block. */
void gsh_value_drop_stash_locked(struct gsh_value *value);
/* Gives the memory of `from`, and what it holds, to `to`, which has none and is of the same size. */
void gsh_value_move_locked(struct gsh_value *from, struct gsh_value *to);
/* Sees to it that the value's contents can be written by the host, on the device or in a stash of its own. FAILED: no
 * memory anywhere. */
enum gsh_status gsh_value_place_anywhere_locked(struct gsh_value *value);
/* Whether reading the value waits for the work submitted before. */
static inline bool gsh_value_is_waited_for(const struct gsh_value *value)
{
    return value->address != 0 && value->stash == NULL;
}
/* Whether the contents come by a transfer of the device, which may reach pages that are closed to the host. */
static inline bool gsh_value_is_on_device(const struct gsh_value *value)
{
    return gsh_value_is_waited_for(value) && value->word == NULL;
}
/* `size` bytes from `offset` on, to `to`, from wherever they are; undefined ones where nothing was ever written. FAILED:
 * the device does not answer, or the contents are lost. Any thread that holds the value's block, or the DISPATCH lock. */
enum gsh_status gsh_value_read(const struct gsh_value *value, void *to, size_t offset, size_t size,
                               bool registered);
/* The other way; the value has a place. */
enum gsh_status gsh_value_write_locked(struct gsh_value *value, const void *from, size_t offset,
                                       size_t size);
/* Somebody looks at the value: it does not pass (graph/expiring.h). Any thread that holds its block. */
static inline void gsh_value_note_looked(struct gsh_value *value)
{
    atomic_store_explicit(&value->expiring, 0, memory_order_relaxed);
}
/* One reference more. */
static inline void gsh_value_retain(struct gsh_value *value)
{
    atomic_fetch_add_explicit(&value->references, 1, memory_order_relaxed);
}
/* Brings the least recently used values that nobody else uses home, and frees them, until so many bytes are. False: there
 * was none. */
bool gsh_value_evict_locked(size_t bytes);
/* Gives the memory of dead values (value_release.h) back to the device, and the structures to the pool. */
void gsh_value_reap_locked(void);
/* Notes that a write to the value was recorded or done: a version of its own. */
void gsh_value_note_written_locked(struct gsh_value *value);
/* Notes a use, for eviction. */
void gsh_value_touch_locked(struct gsh_value *value);
