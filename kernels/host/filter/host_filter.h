/* SPDX-License-Identifier: Apache-2.0
 *
 * FILTER launches on the CPU; entry point: host_ops.h.
 */
#pragma once

#include "launch.h"

/* True where the launch is a filter as launch.h describes it. */
bool gsh_host_filter_supports(const struct gsh_launch *launch);
/* Computes a FILTER launch that is supported. */
void gsh_host_filter_run(const struct gsh_launch *launch);
