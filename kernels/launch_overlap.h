/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether two operands of a launch share memory in a way that matters to the order in which elements are computed. Pure.
 */
#pragma once

#include "launch.h"

/* True if output `b` may overwrite input `a`: the launch computes in place where both are the same view, or, where it is elementwise,
 * no element that the input reads is written for another index. False also where that cannot be seen at once: NumPy's exact test
 * (mem_overlap.c, NumPy 2.4) searches, which takes exponential time at worst. */
bool gsh_launch_overlap_is_harmless(const struct gsh_launch *launch, unsigned a, unsigned b);
