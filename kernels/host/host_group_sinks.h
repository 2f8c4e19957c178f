/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups with sinks on the CPU; entry point: host_group.h.
 */
#pragma once

#include "group.h"
#include "status.h"

bool gsh_host_group_sinks_supports(const struct gsh_group *group);
/* Computes a group that is supported and has sinks. Uses some 150 KiB of stack. */
enum gsh_status gsh_host_group_sinks_run(const struct gsh_group *group);
