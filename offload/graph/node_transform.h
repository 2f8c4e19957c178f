/* SPDX-License-Identifier: Apache-2.0
 *
 * Joins consecutive Fourier transforms over different dimensions of an array, as NumPy computes multidimensional
 * ones, into one launch where nothing else reads the intermediate array. The result differs by rounding only.
 */
#pragma once

#include "node_types.h"

/* The node before nodes[second] whose result only nodes[second] uses and whose transform can be joined to it; -1:
 * there is none. *joined does what both do, from the first one's input to the second one's output. Nodes whose values
 * are NULL are skipped. Under the DISPATCH lock. */
int gsh_node_transform_find(const struct gsh_node *nodes, unsigned second,
                            struct gsh_launch *joined);
