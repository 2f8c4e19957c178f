/* SPDX-License-Identifier: Apache-2.0
 *
 * The dtypes that the device supports: dtypes.def as an enum and look-ups. Every fact about a dtype is in its row.
 */
#pragma once

#include "base.h"

enum gsh_dtype {
#define X(name, ...) GSH_##name,
#include "dtypes.def"
#undef X
    GSH_DTYPE_COUNT
};

/* Sets of dtypes, one bit (1 << enum gsh_dtype) each. */
enum gsh_dtype_set {
    GSH_SET_BOOL = 1 << GSH_BOOL,
    GSH_SET_SIGNED = 1 << GSH_INT8 | 1 << GSH_INT16 | 1 << GSH_INT32 | 1 << GSH_INT64,
    GSH_SET_UNSIGNED = 1 << GSH_UINT8 | 1 << GSH_UINT16 | 1 << GSH_UINT32 | 1 << GSH_UINT64,
    GSH_SET_INTEGERS = GSH_SET_SIGNED | GSH_SET_UNSIGNED,
    GSH_SET_FLOATS = 1 << GSH_FLOAT16 | 1 << GSH_FLOAT32 | 1 << GSH_FLOAT64,
    GSH_SET_FLOAT32_64 = 1 << GSH_FLOAT32 | 1 << GSH_FLOAT64,
    GSH_SET_COMPLEX = 1 << GSH_COMPLEX64 | 1 << GSH_COMPLEX128,
    GSH_SET_WIDE = 1 << GSH_FLOAT64 | 1 << GSH_COMPLEX128,
    GSH_SET_REALS = GSH_SET_INTEGERS | GSH_SET_FLOATS,
    GSH_SET_INEXACT = GSH_SET_FLOATS | GSH_SET_COMPLEX,
    GSH_SET_BLAS = GSH_SET_INEXACT & ~(1 << GSH_FLOAT16), /* also LAPACK's: s, d, c, z */
    GSH_SET_NUMBERS = GSH_SET_REALS | GSH_SET_COMPLEX,
    GSH_SET_ALL = GSH_SET_NUMBERS | GSH_SET_BOOL
};

/* One element of any dtype, as stored in memory: a float16 is its two bytes in u16. */
union gsh_scalar {
    bool b;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
    float c64[2];   /* real and imaginary part */
    double c128[2]; /* likewise */
    uint64_t words[2];
};

size_t gsh_dtype_size(enum gsh_dtype dtype);
char gsh_dtype_kind(enum gsh_dtype dtype);
/* Whether it is float32 or complex64. */
static inline bool gsh_dtype_is_single(enum gsh_dtype dtype)
{
    return dtype == GSH_FLOAT32 || dtype == GSH_COMPLEX64;
}
/* For float32, float64, complex64 and complex128: the real dtype, and the complex one, of the same precision. */
static inline enum gsh_dtype gsh_dtype_real(enum gsh_dtype dtype)
{
    return gsh_dtype_is_single(dtype) ? GSH_FLOAT32 : GSH_FLOAT64;
}
static inline enum gsh_dtype gsh_dtype_complex(enum gsh_dtype dtype)
{
    return gsh_dtype_is_single(dtype) ? GSH_COMPLEX64 : GSH_COMPLEX128;
}
char gsh_dtype_numpy_char(enum gsh_dtype dtype);
const char *gsh_dtype_name(enum gsh_dtype dtype);
/* CUDA types of an element as a value (float16: "float") and in memory ("Half", "Bool"). */
const char *gsh_dtype_cuda_type(enum gsh_dtype dtype);
const char *gsh_dtype_cuda_stored(enum gsh_dtype dtype);
/* Bits by which its bound is shifted in GSH_ULPS (ops.h); 32: its results are exact. */
unsigned gsh_dtype_ulps_shift(enum gsh_dtype dtype);
/* NumPy's type number on Linux x86-64. */
int gsh_dtype_numpy_type(enum gsh_dtype dtype);
/* Whether a cast can meet a floating-point error: an integer cannot hold a float (INVALID), or a narrower float a
 * number (OVERFLOW). */
bool gsh_dtype_cast_may_fail(enum gsh_dtype from, enum gsh_dtype to);
