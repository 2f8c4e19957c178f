/* SPDX-License-Identifier: Apache-2.0
 *
 * SCAN launches on the CPU; see host_ops.h, which is the way in.
 */
#pragma once

#include "launch.h"

/* True where there is a loop for the scan's combine and dtypes; INDEX rows have none. */
bool gsh_host_scan_supports(const struct gsh_launch *launch);
/* Computes a SCAN launch that is supported. Uses about 70 KiB of stack. */
void gsh_host_scan_run(const struct gsh_launch *launch);
