/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches with an operand that is addressed by an index or a count, on the CPU: TAKE, PUT, COMPRESS and EXPAND;
 * entry point: host_ops.h.
 */
#pragma once

#include "launch.h"

/* True where gsh_host_index_run computes the launch. */
bool gsh_host_index_supports(const struct gsh_launch *launch);
/* Computes a TAKE, PUT, COMPRESS or EXPAND launch that is supported, element by element in C order. Skips elements
 * whose index is out of bounds. */
void gsh_host_index_run(const struct gsh_launch *launch);
