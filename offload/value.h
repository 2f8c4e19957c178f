/* SPDX-License-Identifier: Apache-2.0
 *
 * Values: reference-counted versions of a block's contents on the device (struct gsh_value,
 * block.h). A value is only written while it has a single user. `_locked`: the caller holds the
 * DISPATCH lock.
 */
#pragma once

#include "block.h"
#include "status.h"

/* A value of `size` bytes with one reference, contents undefined. Evicts values of blocks that
 * nobody holds where memory is short; FAILED when that does not help. `block` is the index of its
 * block, 0 for none. */
enum gsh_status gsh_value_create_locked(size_t size, uint32_t block, struct gsh_value **value);
/* One reference less; the last one queues the value for gsh_value_reap_locked. NULL is ignored. */
void gsh_value_release_sigsafe(struct gsh_value *value);
/* Gives the memory of dead values back to the device, and the structures to the pool. */
void gsh_value_reap_locked(void);
/* Notes a use, for eviction. */
void gsh_value_touch_locked(struct gsh_value *value);
