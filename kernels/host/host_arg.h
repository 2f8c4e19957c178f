/* SPDX-License-Identifier: Apache-2.0
 *
 * REDUCE launches of INDEX rows (argmax, argmin) on the CPU; entry point: host_ops.h.
 */
#pragma once

#include "launch.h"

/* Computes a launch that gsh_host_reduce_supports. */
void gsh_host_arg_run(const struct gsh_launch *launch);
