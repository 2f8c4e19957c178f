/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes: recorded operations that read and write values. Recording and running are apart, so that
 * how nodes are grouped when they are flushed concerns node.c alone. All under the DISPATCH lock.
 */
#pragma once

#include "launch.h"
#include "status.h"
#include "value.h"

struct gsh_node {
    struct gsh_launch launch; /* addresses are byte offsets from the start of the operand's value */
    struct gsh_value *values[GSH_MAX_OPERANDS]; /* NULL for constants; a reference each */
    unsigned row;                               /* stats row */
};

/* Adds the node to the pending list; takes a reference to each value, those of the outputs included.
 */
enum gsh_status gsh_node_record_locked(const struct gsh_node *node);
/* Submits every pending node in order and forgets it. FAILED: a node was refused; it and its
 * successors wrote nothing. */
enum gsh_status gsh_node_flush_locked(void);
