/* SPDX-License-Identifier: Apache-2.0
 *
 * DRAW launches on the CPU: column `host` of launch_kinds.def.
 */
#pragma once

#include "launch.h"

/* True for draws without gaps in their output, of dtypes that have them. */
bool gsh_host_draw_supports(const struct gsh_launch *launch);
/* Makes the words of MT19937. False: the draw is from another generator. */
bool gsh_host_draw_twist(const struct gsh_launch *launch);
/* Makes the values with NumPy's bits in the calling thread, and stores the stream behind them in *launch->draw.end. Where there is no
 * memory, or the stream's words are not random at all, nothing is stored there, and the output's contents are undefined. */
void gsh_host_draw_run(const struct gsh_launch *launch);
