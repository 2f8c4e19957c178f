/* SPDX-License-Identifier: Apache-2.0
 *
 * For which numbers (loc, scale, p ...) a method of Generator and the one of that name of RandomState draw as the compositions do, in
 * NumPy 1.22 to 2.5. `numbers`: finite, in the order of the method's parameters.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* (scale): -0.0 is refused, as NumPy refuses it. */
static inline bool gsh_numpy_number_ranges_scale(const double *numbers)
{
    return !signbit(numbers[0]);
}

/* (loc, scale) */
static inline bool gsh_numpy_number_ranges_loc_scale(const double *numbers)
{
    return !signbit(numbers[1]);
}

/* (left, mode, right) */
static inline bool gsh_numpy_number_ranges_triangle(const double *numbers)
{
    return numbers[0] <= numbers[1] && numbers[1] <= numbers[2] && numbers[0] < numbers[2];
}

/* (n, p): NumPy inverts up to an expectation of 30; the composition has 40 terms at most. */
static inline bool gsh_numpy_number_ranges_binomial(const double *numbers)
{
    double n = numbers[0], p = numbers[1], rarer = n * fmin(p, 1 - p);
    return n >= 1 && n <= INT32_MAX && n == floor(n) && p > 0 && p < 1 &&
           (n <= 40 ? rarer <= 30 : rarer <= 8);
}

/* (lam): NumPy multiplies numbers below an expectation of 10. */
static inline bool gsh_numpy_number_ranges_poisson(const double *numbers)
{
    return numbers[0] > 0 && numbers[0] < 10;
}
