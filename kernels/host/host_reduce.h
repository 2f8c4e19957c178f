/* SPDX-License-Identifier: Apache-2.0
 *
 * REDUCE launches on the CPU; entry point: host_ops.h.
 */
#pragma once

#include "launch.h"

/* False for a launch that may need a value to begin with and has none: a FIRST row without an initial value that
 * is empty or masked. */
bool gsh_host_reduce_supports(const struct gsh_launch *launch);
/* Whether a collapsed launch is reduced by columns (host_tree.h), else by rows. */
bool gsh_host_reduce_prefers_columns(const struct gsh_launch *launch);
/* Computes a launch that is supported. Uses about 150 KiB of stack. */
void gsh_host_reduce_run(const struct gsh_launch *launch);
