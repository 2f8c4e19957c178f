/* SPDX-License-Identifier: Apache-2.0
 *
 * A recorded node that the device refuses: its outputs were promised when it was recorded, so the
 * host computes them from what the device holds.
 */
#pragma once

#include "node_types.h"

/* Under the DISPATCH lock. Where the device does not give the inputs or take the outputs, or the host has no
 * implementation, the outputs' values are marked as lost: whoever looks at them stops the process. */
void gsh_node_fallback_run_locked(const struct gsh_node *node);
