/* SPDX-License-Identifier: Apache-2.0
 *
 * log as the C library rounds it, for the texts of numpy_composed_*.py: NumPy's draws call the library's. They find here
 *   certain_log(x): an array of a float64 array, on the device, with NaN where it is not certain how the library rounds
 *                   (kernels/special_certain.cuh); None: x is not to be computed on the device
 *   libm_log(x):    the library's, on the CPU
 * of arrays of one dimension without gaps.
 */
#pragma once

#include "python_api.h"

#include <stdbool.h>

/* Puts the two into the namespace of the texts. False: they cannot be compiled now. GIL. */
bool gsh_numpy_exact_offer(void);
