/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups on the CPU, whose addresses are host addresses: block by block, so that what passes from
 * step to step stays in the first-level cache, and in several threads where there is enough to do.
 * The bits are those of the same launches one by one, whatever the number of threads.
 *
 * Only the emulated device runs groups on the CPU. What that saves, in mode force on two cores: without it the user seconds of
 * haversine are 1.67 in place of 1.14 (NumPy: 2.21), of an option surface 1.03 in place of 0.44 (NumPy: 0.86).
 */
#pragma once

#include "group.h"
#include "status.h"

/* True where every step and sink can be run. */
bool gsh_host_group_supports(const struct gsh_group *group);
/* Computes the group; collapsed groups are faster. DECLINED where !supports, FAILED where there is
 * no memory for its buffers: nothing is written then. Uses some 150 KiB of stack. */
enum gsh_status gsh_host_group_run(const struct gsh_group *group);
/* Runs a launch like gsh_host_ops_run, in several threads where it is large and can be a group. */
enum gsh_status gsh_host_group_run_launch(const struct gsh_launch *launch);
