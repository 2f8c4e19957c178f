/* SPDX-License-Identifier: Apache-2.0
 *
 * The structure of a node, for the files of graph/ that read and change pending nodes for node.c.
 */
#pragma once

#include "launch.h"
#include "value.h"

#define GSH_NODE_LIMIT 512 /* most nodes that are pending at a time */

struct gsh_node {
    struct gsh_launch
        launch; /* not collapsed; addresses are byte offsets from the start of the operand's value */
    struct gsh_value *values[GSH_MAX_OPERANDS]; /* NULL for constants; a reference each */
    unsigned row;                               /* stats row */
    unsigned line;                              /* line profile's row of the call; 0: none */
    uint64_t number;  /* in the sequence of all recorded nodes (node_iterations.h) */
    bool is_retained; /* the current flush does not remove it (expiring.h) */
    uint8_t site;     /* the call site whose hint kept the node pending after a flush; 0: none */
};

/* Whether an output of the node is the value. */
static inline bool gsh_node_writes(const struct gsh_node *node, const struct gsh_value *value)
{
    for (unsigned j = 0; j < node->launch.nout; j++)
        if (node->values[node->launch.nin + j] == value)
            return true;
    return false;
}
