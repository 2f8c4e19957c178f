/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers for the tests of BLAS's routines. Results of them are exact in every type.
 */
#pragma once

#include "dtypes.h"

#include <complex.h>

/* alpha and beta: real ones, then any. */
enum { REAL_FACTORS = 3 };
static const double _Complex factors[][2] = {{1, 0}, {-2, 1}, {3, 2}, {1 - 2 * I, 2 + I}, {I, 0}};

/* Element (i, j) of operand `which`: a small whole number, or a pair of them. */
static inline double _Complex number_of(enum gsh_dtype dtype, int which, int i, int j)
{
    double real = (i * 5 + j * 3 + which * 7) % 11 - 5;
    return gsh_dtype_kind(dtype) == 'c' ? real + I * ((i * 3 + j * 4 + which) % 7 - 3) : real;
}
