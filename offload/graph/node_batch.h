/* SPDX-License-Identifier: Apache-2.0
 *
 * The batch: pending nodes that a flush runs. It runs step by step, so that the DISPATCH lock can be given away between the steps
 * and while each does its work: gsh_node_batch_advance_locked ends a step and prepares the next one, gsh_node_batch_work does its
 * work, which is a plan or a launch. There is one batch at a time. Whoever holds the DISPATCH lock while no launch is in flight
 * (dispatch_lock.h) may take the next step, whichever thread took the one before.
 */
#pragma once

#include "node_types.h"

/* Begins with the first `count` of `all` nodes in program order. The others stay pending; they use values too. The caller leaves the
 * `count` nodes where they are until gsh_node_batch_advance_locked returns false. There is no batch. */
void gsh_node_batch_begin_locked(struct gsh_node *nodes, unsigned count, unsigned all);
/* Whether there is a batch. */
bool gsh_node_batch_is_running_locked(void);
/* The node has been recorded after the batch began, and before it ends. */
void gsh_node_batch_note_recorded_locked(const struct gsh_node *node);
/* False: all steps are done, and the batch has ended. True: call gsh_node_batch_work next. No launch is in flight. */
bool gsh_node_batch_advance_locked(void);
/* Does what was prepared. Holds the DISPATCH lock while no launch is in flight, or is itself one. */
void gsh_node_batch_work(void);
/* Ends it: subtracts what the pending nodes add to their values' `later`. Call it once gsh_node_batch_advance_locked has returned false. */
void gsh_node_batch_end_locked(const struct gsh_node *pending, unsigned count);
/* In a forked child: there is none. */
void gsh_node_batch_reset_after_fork(void);
/* Runs one node that is in no batch. */
enum gsh_status gsh_node_batch_run_alone_locked(const struct gsh_node *node);
