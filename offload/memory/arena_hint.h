/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread's hint to the allocator that it is creating an array for the device.
 */
#pragma once

#include "base.h"

/* Between begin and end, this thread's allocations through NumPy's handler are DEVICE blocks of the arena, whatever
 * their size. Does not nest. */
void gsh_arena_hint_begin(void);
void gsh_arena_hint_end(void);
bool gsh_arena_hint_is_set(void);
