/* SPDX-License-Identifier: Apache-2.0
 *
 * SPMV launches on the CPU; entry point: host_ops.h.
 */
#pragma once

#include "launch.h"

/* Computes a launch that gsh_launch_is_spmv. */
void gsh_host_spmv_run(const struct gsh_launch *launch);
