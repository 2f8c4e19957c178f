/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of values: whoever gives the last reference back only queues the value, as the fault handler does too. What the
 * value holds is given back under the DISPATCH lock (value.c).
 */
#pragma once

#include "block.h"

/* One reference less; the last one queues the value. NULL is ignored. Any thread, any locks. */
void gsh_value_release_sigsafe(struct gsh_value *value);
/* The queued values, linked by next_dead, which are the caller's from then on; NULL: none. Caller holds the DISPATCH lock. */
struct gsh_value *gsh_value_release_take_locked(void);
