/* SPDX-License-Identifier: Apache-2.0
 *
 * Expiring values. A value expires when the call that reads it holds its last reference; in (a * b).sum(), a * b expires at
 * the sum. Python releases such an array only after the call has returned. A flush during the call finds a live reference, and
 * would store the value for nobody.
 *
 * The caller gives a hint that a value expires. A flush for another value then keeps an expiring value in registers and does
 * not store it. The nodes that write it stay pending. They are removed when the value is dead. They run when the host reads
 * the value after all. A wrong hint costs time, never a result: the retained nodes compute the same bytes later.
 *
 * Hints are counted by call site. A call site whose hints are wrong more often than right is switched off.
 *
 * What it saves, on an H100: without it, loops of (a * b).sum(), .mean() and .std() over 1e7 float64 take 1.2 to 1.4 times as
 * long, over 1e8 1.5 times, over 1e6 as long. What it costs: 1.3 % of the instructions of `import numpy`, for the call sites.
 *
 * `_locked`: the caller holds the DISPATCH lock.
 */
#pragma once

#include "node_types.h"

/* Call sites are numbered 1..GSH_EXPIRING_CALL_SITES by the caller (numpy_expiring.h). */
#define GSH_EXPIRING_CALL_SITES 255

/* Whether a pending node writes the value of the array that begins at `address`. If not, a hint has no effect. Any thread. */
bool gsh_expiring_is_possible(const void *address);
/* Whether the call site is switched off. Any thread. */
bool gsh_expiring_is_off(unsigned site);
/* Gives the hint: the value expires at the call that was recorded last. */
void gsh_expiring_note_locked(struct gsh_value *value, unsigned site);

/* Call before a flush. Retains the expiring values that the nodes write, and the nodes that could compute them later.
 * The flush must not remove those nodes. */
void gsh_expiring_retain_locked(struct gsh_node *nodes, unsigned count);
/* Call after the flush. Only nodes whose values are alive and unwritten stay retained. Their floating-point errors were
 * reported in the flush; they report none later. */
void gsh_expiring_update_locked(struct gsh_node *nodes, unsigned count);
/* The outcome of a hint, for the call site's count. Expired: the retained node was removed. Misjudged: it ran. */
void gsh_expiring_note_expired_locked(unsigned site);
void gsh_expiring_note_misjudged_locked(unsigned site);
