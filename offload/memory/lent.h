/* SPDX-License-Identifier: Apache-2.0
 *
 * Values lent to readers outside our stream: what an array holds on the device, read there by other users of the
 * device. A lent value is not written, and its memory is not released, until it is returned: a write to the array
 * makes a copy first. Readers see the contents at the time of lending, whatever happens to the array. The library
 * never waits for readers.
 *
 * `_locked`: the caller holds the DISPATCH lock; all others take it.
 */
#pragma once

#include "value.h"

/* Lends the newest contents of [address, address + size), which lie in one array. Flushes the pending nodes that
 * write them first. *device is their address; they are there once the work submitted so far has run. NULL: nothing is
 * lent, because they are not all on a device with memory of its own, or calls are no longer accepted. For threads
 * that hold none of our locks. */
struct gsh_value *gsh_lent_begin(const void *address, size_t size, uint64_t *device);
/* Returns the value: the reader has finished. */
void gsh_lent_end(struct gsh_value *value);
/* Returns the value once `is_done(work)` is true. That is called now and then under the DISPATCH lock, and not again
 * after it was true. False: there is no room to remember it; the caller waits and calls gsh_lent_end. */
bool gsh_lent_end_when(struct gsh_value *value, bool (*is_done)(void *work), void *work);
/* gsh_lent_begin for programs, which identify what they were lent by its device address. The contents are there when
 * it returns. 0: as NULL, or the device is no GPU. */
uint64_t gsh_lent_take(const void *address, size_t size);
/* Returns what gsh_lent_take has lent. False: the address was not lent. */
bool gsh_lent_give(uint64_t device);
/* Calls is_done of all values that wait for it, and returns those that are done. */
void gsh_lent_collect_locked(void);
