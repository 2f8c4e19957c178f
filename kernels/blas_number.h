/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads and writes elements of matrices of any of the four dtypes of BLAS and LAPACK as complex numbers of double precision.
 * For host code that computes without them.
 */
#pragma once

#include "dtypes.h"

#include <complex.h>

static inline double _Complex gsh_blas_number_load(const void *matrix, enum gsh_dtype dtype,
                                                   int64_t index)
{
    switch (dtype) {
    case GSH_FLOAT32:
        return (double)((const float *)matrix)[index];
    case GSH_FLOAT64:
        return ((const double *)matrix)[index];
    case GSH_COMPLEX64:
        return ((const float _Complex *)matrix)[index];
    default:
        return ((const double _Complex *)matrix)[index];
    }
}

static inline double _Complex gsh_blas_number_load_as(const void *matrix, enum gsh_dtype dtype,
                                                      int64_t index, bool is_conjugate)
{
    double _Complex value = gsh_blas_number_load(matrix, dtype, index);
    return is_conjugate ? conj(value) : value;
}

/* Stores only the real part where the dtype is real. */
static inline void gsh_blas_number_store(void *matrix, enum gsh_dtype dtype, int64_t index,
                                         double _Complex value)
{
    switch (dtype) {
    case GSH_FLOAT32:
        ((float *)matrix)[index] = (float)creal(value);
        break;
    case GSH_FLOAT64:
        ((double *)matrix)[index] = creal(value);
        break;
    case GSH_COMPLEX64:
        ((float _Complex *)matrix)[index] = (float _Complex)value;
        break;
    default:
        ((double _Complex *)matrix)[index] = value;
    }
}
