/* SPDX-License-Identifier: Apache-2.0
 *
 * The entry point of the CPU's kernels: runs a launch of any kind but GEMM, with host addresses. It is the reference
 * that every other device is compared with. Allocates nothing but for SORT, no locks.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* True where the launch can be run. */
bool gsh_host_ops_supports(const struct gsh_launch *launch);
/* Computes the launch in the calling thread. DECLINED where !supports. FAILED: no memory; nothing was written. */
enum gsh_status gsh_host_ops_run(const struct gsh_launch *launch);
