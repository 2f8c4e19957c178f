/* SPDX-License-Identifier: Apache-2.0
 *
 * Host fallback for a pending node that the device refuses. Its outputs were promised when it was recorded, so the
 * host computes them from the device's contents.
 */
#pragma once

#include "node_types.h"

/* Under the DISPATCH lock. Where the device does not give the inputs or take the outputs, or the host has no
 * implementation, the outputs' values are marked as poisoned: the process stops when the host reads them. */
void gsh_node_fallback_run_locked(const struct gsh_node *node);
