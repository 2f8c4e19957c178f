/* SPDX-License-Identifier: Apache-2.0
 *
 * The gsh_ helpers that ops.def's expressions use, for the CPU. Each is what NumPy computes on
 * x86-64, bit for bit but for the transcendentals: wrapping integers, NaN and signed zeros in
 * maximum and minimum, the conversion instructions' INT_MIN for floats out of range.
 * source_templates.c holds the same helpers for CUDA. Needs -fwrapv and -ffp-contract=off. A dtype
 * without a loop gets the default branch, which is never called.
 */
#pragma once

#include "base.h"

#include <emmintrin.h>
#include <math.h>

#define gsh_plus(a, b) ((a) + (b))
#define gsh_minus(a, b) ((a) - (b))
#define gsh_times(a, b) ((a) * (b))
#define gsh_over(a, b) ((a) / (b))
#define gsh_negate(a) (-(a))

static inline int32_t gsh_abs_int32(int32_t a)
{
    return a < 0 ? -a : a;
}

static inline int64_t gsh_abs_int64(int64_t a)
{
    return a < 0 ? -a : a;
}

#define gsh_abs(a)                                                                                 \
    _Generic((a), float : fabsf, double : fabs, int32_t : gsh_abs_int32, default : gsh_abs_int64)(a)
#define gsh_sqrt(a) _Generic((a), float : sqrtf, default : sqrt)(a)
#define gsh_exp(a) _Generic((a), float : expf, default : exp)(a)
#define gsh_log(a) _Generic((a), float : logf, default : log)(a)
#define gsh_sin(a) _Generic((a), float : sinf, default : sin)(a)
#define gsh_cos(a) _Generic((a), float : cosf, default : cos)(a)
#define gsh_tanh(a) _Generic((a), float : tanhf, default : tanh)(a)

/* The first NaN wins, and of equal operands (zeros of either sign) the second. */
#define gsh_max(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define gsh_min(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))

static inline int32_t gsh_float_to_int32(float x)
{
    return _mm_cvttss_si32(_mm_set_ss(x));
}

static inline int32_t gsh_double_to_int32(double x)
{
    return _mm_cvttsd_si32(_mm_set_sd(x));
}

static inline int64_t gsh_float_to_int64(float x)
{
    return _mm_cvttss_si64(_mm_set_ss(x));
}

static inline int64_t gsh_double_to_int64(double x)
{
    return _mm_cvttsd_si64(_mm_set_sd(x));
}

static inline int32_t gsh_integer_to_int32(int64_t x)
{
    return (int32_t)x;
}

static inline int64_t gsh_integer_to_int64(int64_t x)
{
    return x;
}

/* Casts, one for each target dtype. */
#define gsh_to_BOOL(x) ((x) != 0)
#define gsh_to_INT32(x)                                                                            \
    _Generic((x), float                                                                            \
             : gsh_float_to_int32, double                                                          \
             : gsh_double_to_int32, default                                                        \
             : gsh_integer_to_int32)(x)
#define gsh_to_INT64(x)                                                                            \
    _Generic((x), float                                                                            \
             : gsh_float_to_int64, double                                                          \
             : gsh_double_to_int64, default                                                        \
             : gsh_integer_to_int64)(x)
#define gsh_to_FLOAT32(x) ((float)(x))
#define gsh_to_FLOAT64(x) ((double)(x))

/* gsh_value_<dtype>: an element computed with. gsh_stored_<dtype>: one in memory, where a bool may
 * be any byte (a view of other data); converting it to its value makes it 0 or 1. */
#define X(name, c_type, ...)                                                                       \
    typedef c_type gsh_value_##name;                                                               \
    typedef __typeof__(_Generic((c_type)0, bool                                                    \
                                : (uint8_t)0, default                                              \
                                : (c_type)0)) gsh_stored_##name;
#include "dtypes.def"
#undef X

/* Precedes a loop whose iterations are independent: the output is exactly an input or overlaps
 * none. */
#ifdef __clang__
#define GSH_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define GSH_INDEPENDENT _Pragma("GCC ivdep")
#endif
