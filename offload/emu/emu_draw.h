/* SPDX-License-Identifier: Apache-2.0
 *
 * DRAW launches on several of the CPU's cores.
 */
#pragma once

#include "launch.h"
#include "status.h"

/* The launch is one that gsh_host_draw_supports. DECLINED: the output's contents are undefined, and no stream was stored. */
enum gsh_status gsh_emu_draw_run(const struct gsh_launch *launch);
