/* SPDX-License-Identifier: Apache-2.0
 *
 * Passing values: a temporary that a call reads and does not outlive, as a * b in (a * b).sum(). It is still alive while
 * the sum is read, so it looks like one that somebody wants. A flush because somebody looks at something else computes it
 * in registers only; the nodes that would write it stay recorded until it is dead, or until somebody wants it after all.
 * That a value passes is a hint: a wrong one costs time and nothing else.
 *
 * `_locked`: the caller holds the DISPATCH lock.
 */
#pragma once

#include "node.h"

/* Ways by which values pass, as the giver of hints tells them apart: 1..GSH_PASSING_WAYS. */
#define GSH_PASSING_WAYS 255

/* Whether the array that begins at `address` has a value that recorded nodes will write; else a hint is of no use. */
bool gsh_passing_is_possible(const void *address);
/* Whether hints of this way were too often wrong, more often than right. */
bool gsh_passing_is_off(unsigned way);
/* The hint: a call that was just recorded reads the value by this way. */
void gsh_passing_note_locked(struct gsh_value *value, unsigned way);
/* Somebody looks at the value. Any thread that holds its block. */
static inline void gsh_passing_note_looked(struct gsh_value *value)
{
    atomic_store_explicit(&value->passing, 0, memory_order_relaxed);
}

/* Before a flush: sets aside the passing values among those that the nodes write, and the nodes that would be needed to
 * compute them again later; those must not be forgotten in the flush. */
void gsh_passing_set_aside_locked(struct gsh_node *nodes, unsigned count);
/* After it: only nodes whose values are alive and still unwritten remain set aside, and report no errors any more. */
void gsh_passing_settle_locked(struct gsh_node *nodes, unsigned count);
/* A node that stayed recorded for a value that passed by this way was forgotten: the hint was right; or has run. */
void gsh_passing_note_passed_locked(unsigned way);
void gsh_passing_note_misjudged_locked(unsigned way);
