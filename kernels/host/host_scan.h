/* SPDX-License-Identifier: Apache-2.0
 *
 * SCAN launches on the CPU; entry point: host_ops.h.
 */
#pragma once

#include "launch.h"

/* True where a loop exists for the scan's combine and dtypes; INDEX rows have none. */
bool gsh_host_scan_supports(const struct gsh_launch *launch);
/* Computes a SCAN launch that is supported. Uses about 70 KiB of stack. */
void gsh_host_scan_run(const struct gsh_launch *launch);
