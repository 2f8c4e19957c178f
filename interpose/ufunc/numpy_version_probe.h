/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations whose result for some input is not the same in all versions of NumPy: whether the one
 * in this process computes what our loops do is asked of its own loop, on that input.
 */
#pragma once

#include "numpy_loops.h"

/* Whether NumPy's loop gives our result where versions are known to differ. At attach, with the
 * GIL. */
bool gsh_numpy_version_probe_agrees(const struct gsh_numpy_loop *loop);
