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

/* Whether there is memory for a value of so many bytes beside the existing ones, without eviction. */
bool gsh_value_has_room_locked(size_t size);
/* Creates a value of `size` bytes with one reference and undefined contents. Its memory is reserved but not yet
 * allocated. Where memory is short, evicts values whose blocks are not held and that no node needs; FAILED when that
 * is not enough. `block` is the index of its block, 0: none. */
enum gsh_status gsh_value_create_locked(size_t size, uint32_t block, struct gsh_value **value);
/* Allocates the value's device memory if it has none, and uploads its spill copy, which stays. FAILED: the device has no
 * memory left, or refuses. */
enum gsh_status gsh_value_make_resident_locked(struct gsh_value *value);
/* Call before the device's contents are written: frees the spill copy, which is then stale. Nobody may be reading the
 * value: it has a writer, or the caller holds its block. */
void gsh_value_drop_spill_locked(struct gsh_value *value);
/* Moves the memory of `from`, with its contents, to `to`, which has none and is of the same size. */
void gsh_value_move_locked(struct gsh_value *from, struct gsh_value *to);
/* Ensures that the host can write the value's contents, in device memory or in a spill copy. FAILED: there is no memory on
 * either side. */
enum gsh_status gsh_value_make_writable_locked(struct gsh_value *value);
/* Whether reading the value waits for work submitted before. */
static inline bool gsh_value_is_waited_for(const struct gsh_value *value)
{
    return value->address != 0 && value->spill == NULL;
}
/* Whether the contents are read by a transfer of the device, which may reach pages that are closed to the host. */
static inline bool gsh_value_is_on_device(const struct gsh_value *value)
{
    return gsh_value_is_waited_for(value) && value->word == NULL;
}
/* Copies `size` bytes from `offset` on to `to`, from the device or the spill copy; undefined bytes where nothing was ever
 * written. FAILED: the device does not answer, or the contents are lost. Any thread that holds the value's block or
 * the DISPATCH lock. */
enum gsh_status gsh_value_read(const struct gsh_value *value, void *to, size_t offset, size_t size,
                               bool registered);
/* Writes `size` bytes at `offset`. The value has device memory or a spill copy. */
enum gsh_status gsh_value_write_locked(struct gsh_value *value, const void *from, size_t offset,
                                       size_t size);
/* Notes that the host reads the value: it is not an expiring value (graph/expiring.h). Any thread that holds its
 * block. */
static inline void gsh_value_note_looked(struct gsh_value *value)
{
    atomic_store_explicit(&value->expiring, 0, memory_order_relaxed);
}
/* Adds one reference. */
static inline void gsh_value_retain(struct gsh_value *value)
{
    atomic_fetch_add_explicit(&value->references, 1, memory_order_relaxed);
}
/* Gives the memory of dead values (value_release.h) back to the device, and their structures to the pool. Nothing while a launch
 * is in flight (dispatch_lock.h). */
void gsh_value_reap_locked(void);
/* Notes that a write to the value is pending or done: it gets a new version. */
void gsh_value_note_written_locked(struct gsh_value *value);
