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

/* (shape, scale): Marsaglia's and Tsang's way to a gamma number takes shapes from 1 on. */
static inline bool gsh_numpy_number_ranges_gamma(const double *numbers)
{
    return numbers[0] >= 1 && !signbit(numbers[1]);
}

/* (shape) */
static inline bool gsh_numpy_number_ranges_shape(const double *numbers)
{
    return numbers[0] >= 1;
}

/* (df) */
static inline bool gsh_numpy_number_ranges_chisquare(const double *numbers)
{
    return numbers[0] >= 2;
}

/* (a, b) */
static inline bool gsh_numpy_number_ranges_beta(const double *numbers)
{
    return numbers[0] >= 1 && numbers[1] >= 1 && numbers[0] + numbers[1] > 2;
}

/* (dfnum, dfden) */
static inline bool gsh_numpy_number_ranges_ratio(const double *numbers)
{
    return numbers[0] >= 2 && numbers[1] >= 2;
}

/* (df, nonc) */
static inline bool gsh_numpy_number_ranges_noncentral(const double *numbers)
{
    return numbers[0] >= 3 && numbers[1] > 0;
}

/* (dfnum, dfden, nonc) */
static inline bool gsh_numpy_number_ranges_noncentral_ratio(const double *numbers)
{
    return numbers[0] >= 3 && numbers[1] >= 2 && numbers[2] > 0;
}

/* (mean, scale) */
static inline bool gsh_numpy_number_ranges_wald(const double *numbers)
{
    return numbers[0] > 0 && numbers[1] > 0;
}

/* (a) of powers: 1 / a is a number. */
static inline bool gsh_numpy_number_ranges_power(const double *numbers)
{
    return numbers[0] > 1e-300;
}

/* (p) of the logarithmic series: of greater ones, logarithms are less certain. */
static inline bool gsh_numpy_number_ranges_logseries(const double *numbers)
{
    return numbers[0] > 0 && numbers[0] <= 0.99;
}

/* (a): numbers far below 2^63, of some words each. */
static inline bool gsh_numpy_number_ranges_zipf(const double *numbers)
{
    return numbers[0] >= 2.75 && numbers[0] <= 100;
}

/* (alpha), so many of them: gamma numbers of these shapes. */
static inline bool gsh_numpy_number_ranges_dirichlet(const double *alpha, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (alpha[i] < 1)
            return false;
    return true;
}

/* (n, pvals), so many of them: binomial numbers by inversion, of probabilities between 0 and 1. */
static inline bool gsh_numpy_number_ranges_multinomial(int64_t n, const double *pvals,
                                                       unsigned count)
{
    double sum = 0;
    for (unsigned i = 0; i + 1 < count; i++) {
        if (!(pvals[i] > 0))
            return false;
        sum += pvals[i];
    }
    return n >= 1 && n <= 40 && sum < 1 - 1e-9 && pvals[count - 1] >= 0 && pvals[count - 1] <= 1;
}

/* (good, bad, sample): so few that they are drawn one after the other, and neither kind comes to its end before. */
static inline bool gsh_numpy_number_ranges_hypergeometric(const double *numbers)
{
    return numbers[2] >= 1 && numbers[2] < 10 && numbers[0] >= numbers[2] &&
           numbers[1] >= numbers[2] && numbers[0] + numbers[1] < 1e9;
}
