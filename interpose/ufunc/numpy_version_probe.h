/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations whose result differs between NumPy versions for some input. NumPy's own loop is called
 * on that input, to test whether it agrees with the device's.
 */
#pragma once

#include "numpy_loops.h"

/* Whether NumPy's loop gives the device's result on the inputs where versions are known to differ.
 * Called at attach, with the GIL. */
bool gsh_numpy_version_probe_agrees(const struct gsh_numpy_loop *loop);
/* Whether NumPy's loop of power takes the square root where the exponent is 1/2 for all elements. Floats; any thread. */
bool gsh_numpy_version_probe_takes_root(const struct gsh_numpy_loop *loop);
