/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes: recorded operations that read and write values. Recording and running are apart: what is
 * recorded runs when somebody looks at what it writes, or when much has come together. The order of
 * nodes is that of the calls; a host write never disturbs one, since it only detaches a block from
 * its value.
 *
 * `_locked`: the caller holds the DISPATCH lock, which guards nodes, values and the device's memory.
 */
#pragma once

#include "launch.h"
#include "status.h"
#include "value.h"

#define GSH_NODE_LIMIT 512 /* recorded at a time */

/* Why recorded nodes are run. */
enum gsh_flush_reason {
    GSH_FLUSH_LOOKED, /* the host looks at what one writes */
    GSH_FLUSH_OVERWRITTEN, /* the host has written to what one reads, and the device needs the new bytes */
    GSH_FLUSH_ALONE, /* a call that is not recorded comes next */
    GSH_FLUSH_MANY, /* GSH_NODE_LIMIT, or more floating-point errors to look for than there are places */
    GSH_FLUSH_MEMORY, /* they keep memory from being freed */
    GSH_FLUSH_WAIT,   /* somebody waits for the device */
    GSH_FLUSH_IDLE,   /* nobody has run them for a while */
    GSH_FLUSH_EARLY, /* the first calls are long reductions of what is there, and others wait for them */
    GSH_FLUSH_FORK
};

struct gsh_node {
    struct gsh_launch
        launch; /* not collapsed; addresses are byte offsets from the start of the operand's value */
    struct gsh_value *values[GSH_MAX_OPERANDS]; /* NULL for constants; a reference each */
    unsigned row;                               /* stats row */
    bool is_set_aside; /* it is not forgotten in the flush that is going on (passing.h) */
    uint8_t way;       /* it stayed recorded to write a value that passed by this way; 0: no */
};

/* Whether an output of the node is the value. */
static inline bool gsh_node_writes(const struct gsh_node *node, const struct gsh_value *value)
{
    for (unsigned j = 0; j < node->launch.nout; j++)
        if (node->values[node->launch.nin + j] == value)
            return true;
    return false;
}

void gsh_node_lock(void);
void gsh_node_unlock(void);
/* Before the node is recorded, and before its errors are armed: what is recorded may run first (GSH_FLUSH_EARLY). */
void gsh_node_prepare_locked(const struct gsh_node *node);
/* Adds the node to the recorded ones; takes a reference to each value, those of the outputs included. */
void gsh_node_record_locked(const struct gsh_node *node);
/* Runs all recorded nodes where they have become many or hold much of the device's memory. After each recording, when
 * the call has given back its own references: a value that only it still holds would be taken for a wanted one. */
void gsh_node_bound_locked(void);
/* Runs one node by itself, behind those recorded. FAILED: it wrote nothing. DECLINED: as the backend's run. */
enum gsh_status gsh_node_run_locked(const struct gsh_node *node);
/* Submits every recorded node and forgets it. One that the device refuses is computed on the host; where that fails
 * too, its outputs are lost. */
void gsh_node_flush_locked(enum gsh_flush_reason why);
/* The same by a thread that holds no lock. Not for signal handlers. */
void gsh_node_flush(enum gsh_flush_reason why);
/* The same because the device is idle, if the oldest node is still the one with this number. Where a transform was recorded
 * last nothing is run until more is recorded. */
void gsh_node_feed(uint64_t number);
/* Forgets nodes that stayed recorded for values that are dead (passing.h): what they read may be free then. */
void gsh_node_forget_locked(void);
/* A call that values passed by has read its result: they should be dead soon, and are worth computing if they are not.
 * Any thread. */
void gsh_node_note_passed(void);
/* A number that stands for the oldest node that an idle device is to be fed with; 0: there is none. Any thread. */
uint64_t gsh_node_oldest(void);
/* In a forked child, which inherits no recorded nodes. */
void gsh_node_reset_after_fork(void);
