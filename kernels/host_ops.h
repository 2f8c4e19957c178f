/* SPDX-License-Identifier: Apache-2.0
 *
 * The op table compiled for the CPU: runs an ELEMENTWISE or REDUCE launch whose addresses are host
 * addresses. The reference that every other device is compared with. Allocates nothing, no locks.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* True where the tables have a loop for the launch's op and loop dtype. */
bool gsh_host_ops_supports(const struct gsh_launch *launch);
/* Computes the launch in the calling thread. DECLINED where !supports. */
enum gsh_status gsh_host_ops_run(const struct gsh_launch *launch);
