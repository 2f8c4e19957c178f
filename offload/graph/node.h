/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes of the graph of pending operations. A node is one recorded NumPy call: a launch, and the values that it reads and
 * writes. The list of nodes is in program order. A node runs in a flush; enum gsh_flush_reason lists what causes one.
 *
 * A host write to an operand does not change a recorded node. The write detaches the block from its value (block.h), and the
 * node still reads the value.
 *
 * `_locked`: the caller holds the DISPATCH lock. It guards the nodes, the values and the device's memory.
 */
#pragma once

#include "node_types.h"
#include "status.h"

/* Why the pending nodes run. */
enum gsh_flush_reason {
    GSH_FLUSH_HOST_READ, /* the host reads a value that one of them writes */
    GSH_FLUSH_HOST_WRITE, /* the host has overwritten an operand, and a device call needs the new bytes */
    GSH_FLUSH_NOT_DEFERRABLE, /* the next call cannot be recorded; it runs at once */
    GSH_FLUSH_LIMIT, /* GSH_NODE_LIMIT is reached, or no slot for floating-point errors is free (errors.h) */
    GSH_FLUSH_MEMORY,      /* their operands hold device memory that is wanted */
    GSH_FLUSH_SYNCHRONIZE, /* the program synchronizes with the device */
    GSH_FLUSH_IDLE,        /* the device is idle, and no other reason came for GPUSHIM_FEED_MS */
    GSH_FLUSH_EARLY, /* long reductions lead the list, and the next node reads the result of one (node.c, runs_early) */
    GSH_FLUSH_FORK
};

/* May flush the pending nodes (GSH_FLUSH_EARLY). Call it before the node is recorded and before its floating-point errors get
 * a slot. */
void gsh_node_prepare_locked(const struct gsh_node *node);
/* Appends a copy of the node to the list. Takes over the caller's reference to each operand's value, inputs and outputs. */
void gsh_node_record_locked(const struct gsh_node *node);
/* Flushes iterations (gsh_node_flush_iterations_locked) when GSH_NODE_LIMIT nodes are pending, or when they hold a fourth of the device's
 * memory. Call it after each recording, and after the caller has released its own references: the flush stores every value that has a reference besides
 * those of the nodes. */
void gsh_node_bound_locked(void);
/* Releases the node's values. A second call does nothing. */
void gsh_node_drop_locked(struct gsh_node *node);
/* Runs one node that is not in the list. The pending nodes do not run. FAILED: it wrote nothing. DECLINED: as the backend's
 * run. */
enum gsh_status gsh_node_run_locked(const struct gsh_node *node);
/* Submits every pending node to the device and removes it from the list. A node that the device refuses is computed on the
 * host (node_fallback.h). If that fails as well, its output values are marked as poisoned. */
void gsh_node_flush_locked(enum gsh_flush_reason why);
/* Flushes the whole iterations of a loop of the program (node_iterations.h); the iteration that the program is in, and often the one before,
 * stay pending. Flushes all nodes if no loop is known. */
void gsh_node_flush_iterations_locked(enum gsh_flush_reason why);
/* Takes the DISPATCH lock and flushes. The caller holds no lock. Not for signal handlers. */
void gsh_node_flush(enum gsh_flush_reason why);
/* Feeds the idle device, if `number` still is gsh_node_oldest(). Whole iterations of a loop run at once. The other nodes run when
 * the program has made a long pause (policy/pauses.h), which is noticed when this function is called again and again. If the
 * newest node is a Fourier transform, nothing runs until another node is recorded: the transform of the next dimension would be
 * joined to it, and time must not decide that. Takes the DISPATCH lock, and gives it away while it plans and launches
 * (dispatch_lock.h): other threads record meanwhile. Returns early, and goes on when it is called again, where a page fault waits for the
 * service thread. */
void gsh_node_flush_idle(uint64_t number);
/* Removes the nodes that stayed pending for values that are now dead (expiring.h). This may free what they read. */
void gsh_node_forget_locked(void);
/* A call has returned for which a hint was given (expiring.h). If its expiring values are still alive when the device
 * is idle next, the nodes that write them run. Any thread. */
void gsh_node_note_expired(void);
/* The number of the oldest node that runs when the device is idle (gsh_node_flush_idle); 0: there is none. Any thread.
 * */
uint64_t gsh_node_oldest(void);
/* Empties the list in a forked child. */
void gsh_node_reset_after_fork(void);
