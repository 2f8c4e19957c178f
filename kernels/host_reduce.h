/* SPDX-License-Identifier: Apache-2.0
 *
 * REDUCE launches on the CPU; see host_ops.h, which is the way in.
 */
#pragma once

#include "launch.h"

/* Computes a REDUCE launch that gsh_host_ops_supports. Uses about 60 KiB of stack. */
void gsh_host_reduce_run(const struct gsh_launch *launch);
