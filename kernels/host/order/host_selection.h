/* SPDX-License-Identifier: Apache-2.0
 *
 * SELECT launches on the CPU; entry point: host_ops.h.
 */
#pragma once

#include "launch.h"

/* Computes a launch of which gsh_launch_is_selection is true. */
void gsh_host_selection_run(const struct gsh_launch *launch);
