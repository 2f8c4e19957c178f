/* SPDX-License-Identifier: Apache-2.0
 *
 * Snapshots for readers outside our stream: what an array holds on the device, read there by other users of the device.
 * The value of a snapshot is not written, and its memory is not released, until the snapshot is released: a write to
 * the array copies the value first (copy on write). Readers see the contents at the time of the snapshot, whatever
 * happens to the array. The library never waits for readers.
 *
 * `_locked`: the caller holds the DISPATCH lock; all others take it.
 */
#pragma once

#include "value.h"

/* A snapshot of the newest contents of [address, address + size), which lie in one array. Flushes the pending nodes
 * that write them first. *device is their address; they are there once the work submitted so far has run. NULL: there
 * is none, because they are not all on a device with memory of its own, or calls are no longer accepted. For threads
 * that hold none of our locks. */
struct gsh_value *gsh_snapshot_acquire(const void *address, size_t size, uint64_t *device);
/* Releases the snapshot: the reader has finished. */
void gsh_snapshot_release(struct gsh_value *value);
/* Releases the snapshot once `is_done(work)` is true. That is called now and then under the DISPATCH lock, and not
 * again after it was true. False: there is no room to remember it; the caller waits and calls gsh_snapshot_release. */
bool gsh_snapshot_release_when(struct gsh_value *value, bool (*is_done)(void *work), void *work);
/* gsh_snapshot_acquire for programs, which know a snapshot by its device address. The contents are there when
 * it returns. 0: as NULL, or the device is no GPU. */
uint64_t gsh_snapshot_acquire_address(const void *address, size_t size);
/* Releases it. False: the address is not one of a snapshot. */
bool gsh_snapshot_release_address(uint64_t device);
/* Calls is_done of all snapshots that wait for it, and releases those that are done. */
void gsh_snapshot_collect_locked(void);
