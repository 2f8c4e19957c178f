/* SPDX-License-Identifier: Apache-2.0
 *
 * Types and conversions of elements, one for each dtype. gsh_value_<dtype>: an element as a value of the computation
 * (a float16 as float). gsh_stored_<dtype>: an element in memory, where a bool may be any byte (a view of other data)
 * and arrays of different dtypes may share memory. gsh_bytes_<dtype>: that type for a variable, as GCC's _Generic
 * takes no alias of a complex type for it. Conversions give NumPy's results on x86-64: floats out of range as the
 * conversion instructions convert them, complex to real by dropping the imaginary part.
 */
#pragma once

#include "host_half.h"

#include <complex.h>
#include <emmintrin.h>

#define X(name, c_type, c_stored, ...)                                                             \
    typedef c_type gsh_value_##name;                                                               \
    typedef c_stored gsh_bytes_##name;                                                             \
    typedef c_stored gsh_stored_##name __attribute__((may_alias));
#include "dtypes.def"
#undef X

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

/* Unsigned: the upper half of the range is converted through the lower one, as compilers do. */
static inline uint32_t gsh_float_to_uint32(float x)
{
    return x >= 0x1p31f ? (uint32_t)gsh_float_to_int32(x - 0x1p31f) ^ UINT32_C(1) << 31
                        : (uint32_t)gsh_float_to_int32(x);
}

static inline uint32_t gsh_double_to_uint32(double x)
{
    return x >= 0x1p31 ? (uint32_t)gsh_double_to_int32(x - 0x1p31) ^ UINT32_C(1) << 31
                       : (uint32_t)gsh_double_to_int32(x);
}

static inline uint64_t gsh_float_to_uint64(float x)
{
    return x >= 0x1p63f ? (uint64_t)gsh_float_to_int64(x - 0x1p63f) ^ UINT64_C(1) << 63
                        : (uint64_t)gsh_float_to_int64(x);
}

static inline uint64_t gsh_double_to_uint64(double x)
{
    return x >= 0x1p63 ? (uint64_t)gsh_double_to_int64(x - 0x1p63) ^ UINT64_C(1) << 63
                       : (uint64_t)gsh_double_to_int64(x);
}

#define GSH_REAL_PART(x)                                                                           \
    _Generic((x), float _Complex : crealf(x), double _Complex : creal(x), default : (x))
#define GSH_TO_INTEGER(x, target)                                                                  \
    _Generic((x), float                                                                            \
             : gsh_float_to_##target((float)(x)), double                                           \
             : gsh_double_to_##target((double)(x)), default                                        \
             : (x))

/* Casts of a value, one for each target dtype; the result is as stored. */
#define gsh_to_BOOL(x) ((x) != 0)
#define gsh_to_INT8(x) ((int8_t)GSH_TO_INTEGER(GSH_REAL_PART(x), int32))
#define gsh_to_INT16(x) ((int16_t)GSH_TO_INTEGER(GSH_REAL_PART(x), int32))
#define gsh_to_INT32(x) ((int32_t)GSH_TO_INTEGER(GSH_REAL_PART(x), int32))
#define gsh_to_INT64(x) ((int64_t)GSH_TO_INTEGER(GSH_REAL_PART(x), int64))
#define gsh_to_UINT8(x) ((uint8_t)GSH_TO_INTEGER(GSH_REAL_PART(x), int32))
#define gsh_to_UINT16(x) ((uint16_t)GSH_TO_INTEGER(GSH_REAL_PART(x), int32))
#define gsh_to_UINT32(x) ((uint32_t)GSH_TO_INTEGER(GSH_REAL_PART(x), uint32))
#define gsh_to_UINT64(x) ((uint64_t)GSH_TO_INTEGER(GSH_REAL_PART(x), uint64))
#define gsh_to_FLOAT16(x)                                                                          \
    _Generic((x), double                                                                           \
             : gsh_half_of_double((double)GSH_REAL_PART(x)), double _Complex                       \
             : gsh_half_of_double((double)GSH_REAL_PART(x)), default                               \
             : gsh_half_of_float((float)GSH_REAL_PART(x)))
#define gsh_to_FLOAT32(x) ((float)GSH_REAL_PART(x))
#define gsh_to_FLOAT64(x) ((double)GSH_REAL_PART(x))
#define gsh_to_COMPLEX64(x) ((float _Complex)(x))
#define gsh_to_COMPLEX128(x) ((double _Complex)(x))

/* The value of an element x of type gsh_bytes_<from> that is cast to the dtype `to`. A float16 keeps its payload
 * in a cast to double. NumPy casts it to uint32 through int64. */
#define gsh_from(from, to, x)                                                                      \
    _Generic(                                                                                      \
        (struct gsh_dtype_##from *)0, struct gsh_dtype_FLOAT16 *                                   \
        : _Generic((gsh_value_##to)0, double                                                       \
                   : gsh_half_to_double((uint16_t)GSH_REAL_PART(x)), double _Complex               \
                   : gsh_half_to_double((uint16_t)GSH_REAL_PART(x)), uint32_t                      \
                   : gsh_float_to_int64(gsh_half_to_float((uint16_t)GSH_REAL_PART(x))), default    \
                   : gsh_half_to_float((uint16_t)GSH_REAL_PART(x))),                               \
          default                                                                                  \
        : (gsh_value_##from)(x))

/* Precedes a loop with independent iterations: the output is exactly an input or overlaps none. */
#ifdef __clang__
#define GSH_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define GSH_INDEPENDENT _Pragma("GCC ivdep")
#endif
