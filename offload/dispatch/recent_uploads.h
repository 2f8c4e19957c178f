/* SPDX-License-Identifier: Apache-2.0
 *
 * Device copies of small inputs that lie outside the arena, such as the weights of a filter, which a loop reads again and again. A
 * copy is used as long as the host's bytes are the same, which is found by comparing all of them. An array is kept from its second
 * upload on, and no more if its bytes have changed twice. `_locked`: the caller holds the DISPATCH lock. Checked by
 * tests/unit/offload/dispatch/test_recent_uploads.c.
 */
#pragma once

#include "value.h"

#define GSH_RECENT_UPLOADS_BYTES ((size_t)64 << 10) /* largest input that is kept */

/* The value with these bytes, with one more reference for the caller; NULL: none is kept. */
struct gsh_value *gsh_recent_uploads_take_locked(uint64_t address, size_t bytes);
/* Notes that the value was uploaded from there, and may keep it: takes a reference of its own. Nobody may write the value. */
void gsh_recent_uploads_note_locked(uint64_t address, size_t bytes, struct gsh_value *value);
/* Gives all values back. */
void gsh_recent_uploads_drop_locked(void);
/* In a forked child: forgets them. */
void gsh_recent_uploads_forget_after_fork(void);
/* For prices: whether the last input with this address and length had the same bytes at 16 places. Remembers this one. Any thread. */
bool gsh_recent_uploads_expects(uint64_t address, size_t bytes);
