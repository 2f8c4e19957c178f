/* SPDX-License-Identifier: Apache-2.0
 *
 * Releasing values. Releasing the last reference only queues the value, so that the fault handler can do it too. What
 * the value holds is freed under the DISPATCH lock (value.c).
 */
#pragma once

#include "block.h"

/* Drops one reference; dropping the last one queues the value. NULL is ignored. Any thread, any locks. */
void gsh_value_release_sigsafe(struct gsh_value *value);
/* Takes all queued values, linked by next_dead; the caller owns them. NULL: none. Caller holds the DISPATCH lock. */
struct gsh_value *gsh_value_release_take_locked(void);
