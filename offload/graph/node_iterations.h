/* SPDX-License-Identifier: Apache-2.0
 *
 * Pending nodes in pieces that recur. policy/period.h finds the loops of the program in the sequence of all recorded nodes, and
 * says where to cut it; these functions tell it the nodes, and obey. Which nodes run as one kernel then depends on the
 * program, and not on the time at which they are flushed.
 *
 * `_locked`: the caller holds the DISPATCH lock. Arrays of nodes are in program order.
 */
#pragma once

#include "node_types.h"

/* Gives the node its number. Call it for each node, as it is recorded. */
void gsh_node_iterations_note_locked(struct gsh_node *node);
/* The pending nodes run now because of what the program does. */
void gsh_node_iterations_note_boundary_locked(void);
/* The end of the piece that begins with node `first`: the index after its last node. */
unsigned gsh_node_iterations_piece_end_locked(const struct gsh_node *nodes, unsigned first,
                                              unsigned count);
/* How many of the first nodes may run while the program goes on with its loop: whole pieces, without the last one, because the
 * program still holds values that the next iteration replaces. 0: there are none. */
unsigned gsh_node_iterations_settled_locked(const struct gsh_node *nodes, unsigned count);
/* The same, but if there is only one whole piece, that one. */
unsigned gsh_node_iterations_whole_locked(const struct gsh_node *nodes, unsigned count);
/* The timer has come round: whether the program makes a long pause (policy/pauses.h). */
bool gsh_node_iterations_is_pause_locked(void);
