/* SPDX-License-Identifier: Apache-2.0
 *
 * Fourier transforms that follow each other over different dimensions of an array, as NumPy computes those of several
 * dimensions, become one launch where nobody looks at what lies between them. Its result is theirs but for rounding.
 */
#pragma once

#include "node_types.h"

/* The node, among those before nodes[second], whose result only nodes[second] uses and whose transform can be done along
 * with it: *joined does what both do, from the first one's input to the second one's output. -1: there is none. Nodes whose
 * values are NULL are no nodes. Under the DISPATCH lock. */
int gsh_node_transform_find(const struct gsh_node *nodes, unsigned second,
                            struct gsh_launch *joined);
