/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches with an operand that is addressed by an index or a count, on the CPU: TAKE, PUT, COMPRESS
 * and EXPAND; see host_ops.h, which is the way in.
 */
#pragma once

#include "launch.h"

/* True where gsh_host_index_run computes the launch. */
bool gsh_host_index_supports(const struct gsh_launch *launch);
/* Computes a TAKE, PUT, COMPRESS or EXPAND launch that is supported, element by element in C order.
 * Elements whose index is out of bounds are left out. */
void gsh_host_index_run(const struct gsh_launch *launch);
