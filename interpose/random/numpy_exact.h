/* SPDX-License-Identifier: Apache-2.0
 *
 * log, exp and pow as the C library rounds them, for the texts of numpy_composed_*.py: NumPy's draws call the library's. They find here
 *   certain_log(x), certain_exp(x), certain_power(x, y): an array of a float64 array x, on the device, with NaN where it is not certain
 *                   how the library rounds (kernels/special_certain.cuh, special_power.cuh); None: x is not to be computed on the device
 *   libm_log(x), libm_exp(x), libm_power(x, y): the library's, on the CPU
 * of arrays of one dimension without gaps; y is a number.
 */
#pragma once

#include "python_api.h"

#include <stdbool.h>

/* Puts them into the namespace of the texts. False: they cannot be compiled now. GIL. */
bool gsh_numpy_exact_offer(void);
