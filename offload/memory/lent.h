/* SPDX-License-Identifier: Apache-2.0
 *
 * Values lent to others: what an array holds on the device, read there by work that is not in our stream. A lent value is
 * not written and its memory is not given back until it is returned: what would write it makes a copy, so that others see
 * the contents of the moment in which they asked, whatever becomes of the array. We never wait for others.
 *
 * `_locked`: the caller holds the DISPATCH lock; all others take it.
 */
#pragma once

#include "value.h"

/* Lends the newest contents of [address, address + size), which lie in one array: runs what is recorded to write them first.
 * *device is where they are once the work submitted so far has run. NULL: they are not all on a device that has memory of
 * its own, or calls are no longer accepted; nothing has changed. For threads that hold none of our locks. */
struct gsh_value *gsh_lent_begin(const void *address, size_t size, uint64_t *device);
/* Nobody else reads it any more. */
void gsh_lent_end(struct gsh_value *value);
/* The same once `is_done(work)`, which is asked now and then under the DISPATCH lock, and not again when it has said so.
 * False: there is no place to remember it; the caller waits and calls gsh_lent_end. */
bool gsh_lent_end_when(struct gsh_value *value, bool (*is_done)(void *work), void *work);
/* The same for programs, which name what they were lent by its address: the contents are there when this returns. 0: as
 * NULL, or the device is no GPU. */
uint64_t gsh_lent_take(const void *address, size_t size);
/* Nobody reads there any more. False: it was not lent. */
bool gsh_lent_give(uint64_t device);
/* Asks for all that are still to be returned. */
void gsh_lent_collect_locked(void);
