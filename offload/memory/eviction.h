/* SPDX-License-Identifier: Apache-2.0
 *
 * Eviction of values from device memory, least recently used first (struct gsh_value, block.h). An evicted value's contents are
 * in its block's host memory. `_locked`: the caller holds the DISPATCH lock.
 */
#pragma once

#include "block.h"

/* Adds a value as the most recently used. It is in the list until gsh_eviction_remove_locked. */
void gsh_eviction_add_locked(struct gsh_value *value);
void gsh_eviction_remove_locked(struct gsh_value *value);
/* Makes the value the most recently used. */
void gsh_eviction_touch_locked(struct gsh_value *value);
/* Evicts the least recently used value that no node needs, that is not lent, and whose block no thread holds. Returns its size
 * in bytes; 0: there is none. */
size_t gsh_eviction_evict_one_locked(void);
/* Evicts such values until `bytes` bytes are freed. False: there was none. */
bool gsh_eviction_evict_locked(size_t bytes);
