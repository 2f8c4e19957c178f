/* SPDX-License-Identifier: Apache-2.0
 *
 * Integers and real floating point: NumPy's results on x86-64, bit for bit except for the transcendental functions.
 * Integers are passed as int64_t or uint64_t: the low bits of the results are right for every narrower type.
 * Functions for float and double come from one macro where they do not differ otherwise. Needs -fwrapv and
 * -ffp-contract=off. Used through host_math.h.
 */
#pragma once

#include "host_half.h"

#include <math.h>

/* NumPy's quotient and remainder round to minus infinity. Division by zero yields 0; the least value over -1
 * yields itself. */
static inline int64_t gsh_floor_divide_signed(int64_t a, int64_t b)
{
    if (b == 0 || b == -1)
        return b * a; /* 0 or -a */
    int64_t quotient = a / b;
    return quotient - (quotient * b != a && (a < 0) != (b < 0));
}

static inline uint64_t gsh_floor_divide_unsigned(uint64_t a, uint64_t b)
{
    return b == 0 ? 0 : a / b;
}

static inline int64_t gsh_fmod_signed(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

static inline uint64_t gsh_fmod_unsigned(uint64_t a, uint64_t b)
{
    return b == 0 ? 0 : a % b;
}

static inline int64_t gsh_remainder_signed(int64_t a, int64_t b)
{
    int64_t remainder = gsh_fmod_signed(a, b);
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

#define gsh_remainder_unsigned gsh_fmod_unsigned

static inline uint64_t gsh_power_unsigned(uint64_t a, uint64_t b)
{
    uint64_t result = 1;
    for (; b != 0; b >>= 1, a *= a)
        if ((b & 1) != 0)
            result *= a;
    return result;
}

/* NumPy raises ValueError for negative exponents: no launch has them. */
static inline int64_t gsh_power_signed(int64_t a, int64_t b)
{
    return b < 0 ? 0 : (int64_t)gsh_power_unsigned((uint64_t)a, (uint64_t)b);
}

static inline uint64_t gsh_gcd_unsigned(uint64_t a, uint64_t b)
{
    while (a != 0) {
        uint64_t rest = b % a;
        b = a;
        a = rest;
    }
    return b;
}

static inline uint64_t gsh_lcm_unsigned(uint64_t a, uint64_t b)
{
    uint64_t divisor = gsh_gcd_unsigned(a, b);
    return divisor == 0 ? 0 : a / divisor * b;
}

static inline uint64_t gsh_magnitude(int64_t a)
{
    return a < 0 ? -(uint64_t)a : (uint64_t)a;
}

static inline int64_t gsh_gcd_signed(int64_t a, int64_t b)
{
    return (int64_t)gsh_gcd_unsigned(gsh_magnitude(a), gsh_magnitude(b));
}

static inline int64_t gsh_lcm_signed(int64_t a, int64_t b)
{
    return (int64_t)gsh_lcm_unsigned(gsh_magnitude(a), gsh_magnitude(b));
}

/* A shift by the number of bits or more, or by a negative number, leaves nothing but the sign. */
static inline int64_t gsh_left_shift_signed(int64_t a, int64_t b)
{
    return (uint64_t)b < 64 ? a << b : 0;
}

static inline uint64_t gsh_left_shift_unsigned(uint64_t a, uint64_t b)
{
    return b < 64 ? a << b : 0;
}

static inline int64_t gsh_right_shift_signed(int64_t a, int64_t b)
{
    return a >> ((uint64_t)b < 64 ? b : 63);
}

static inline uint64_t gsh_right_shift_unsigned(uint64_t a, uint64_t b)
{
    return b < 64 ? a >> b : 0;
}

static inline int gsh_bit_count_signed(int64_t a)
{
    return __builtin_popcountll(gsh_magnitude(a));
}

static inline int gsh_bit_count_unsigned(uint64_t a)
{
    return __builtin_popcountll(a);
}

static inline int gsh_sign_signed(int64_t a)
{
    return (a > 0) - (a < 0);
}

static inline int gsh_sign_unsigned(uint64_t a)
{
    return a != 0;
}

static inline int64_t gsh_abs_signed(int64_t a)
{
    return a < 0 ? -a : a;
}

static inline uint64_t gsh_abs_unsigned(uint64_t a)
{
    return a;
}

/* (T)(1.0 / a). Infinity becomes the result of the conversion to T: for 32 and 64 bits the least value, whose low
 * bits are 0 in narrower types; for unsigned types 0. */
static inline int64_t gsh_reciprocal_signed(int64_t a)
{
    return a == 0 ? INT64_MIN : a == 1 || a == -1 ? a : 0;
}

static inline int32_t gsh_reciprocal_int32(int32_t a)
{
    return a == 0 ? INT32_MIN : a == 1 || a == -1 ? a : 0;
}

static inline uint64_t gsh_reciprocal_unsigned(uint64_t a)
{
    return a == 1;
}

/* C's functions under NumPy's names, for float and double. */
#define GSH_SAME_IN_C(name, c_name)                                                                \
    static inline float gsh_##name##_float(float a)                                                \
    {                                                                                              \
        return c_name##f(a);                                                                       \
    }                                                                                              \
    static inline double gsh_##name##_double(double a)                                             \
    {                                                                                              \
        return c_name(a);                                                                          \
    }
#define GSH_SAME_IN_C2(name, c_name)                                                               \
    static inline float gsh_##name##_float(float a, float b)                                       \
    {                                                                                              \
        return c_name##f(a, b);                                                                    \
    }                                                                                              \
    static inline double gsh_##name##_double(double a, double b)                                   \
    {                                                                                              \
        return c_name(a, b);                                                                       \
    }
GSH_SAME_IN_C(abs, fabs)
GSH_SAME_IN_C(sqrt, sqrt)
GSH_SAME_IN_C(cbrt, cbrt)
GSH_SAME_IN_C(exp, exp)
GSH_SAME_IN_C(exp2, exp2)
GSH_SAME_IN_C(expm1, expm1)
GSH_SAME_IN_C(log, log)
GSH_SAME_IN_C(log2, log2)
GSH_SAME_IN_C(log10, log10)
GSH_SAME_IN_C(log1p, log1p)
GSH_SAME_IN_C(sin, sin)
GSH_SAME_IN_C(cos, cos)
GSH_SAME_IN_C(tan, tan)
GSH_SAME_IN_C(arcsin, asin)
GSH_SAME_IN_C(arccos, acos)
GSH_SAME_IN_C(arctan, atan)
GSH_SAME_IN_C(sinh, sinh)
GSH_SAME_IN_C(cosh, cosh)
GSH_SAME_IN_C(tanh, tanh)
GSH_SAME_IN_C(arcsinh, asinh)
GSH_SAME_IN_C(arccosh, acosh)
GSH_SAME_IN_C(arctanh, atanh)
GSH_SAME_IN_C(rint, rint)
GSH_SAME_IN_C2(power, pow)
GSH_SAME_IN_C2(fmod, fmod)
GSH_SAME_IN_C2(arctan2, atan2)
GSH_SAME_IN_C2(hypot, hypot)
GSH_SAME_IN_C2(copysign, copysign)
#undef GSH_SAME_IN_C
#undef GSH_SAME_IN_C2

/* The other functions, once for each type; f(x) is C's function of that type. */
#define GSH_DEFINE(T, type, f)                                                                     \
    /* The quotient rounded to an integer by way of the remainder, as Python does it. */           \
    static inline T gsh_floor_divide_##type(T a, T b)                                              \
    {                                                                                              \
        if (b == 0)                                                                                \
            return a / b;                                                                          \
        T mod = f(fmod)(a, b), div = (a - mod) / b;                                                \
        if (mod != 0 && isless(b, 0) != isless(mod, 0))                                            \
            div -= 1;                                                                              \
        if (div == 0)                                                                              \
            return f(copysign)(0, a / b);                                                          \
        T floored = f(floor)(div);                                                                 \
        return isgreater(div - floored, (T)0.5) ? floored + 1 : floored;                           \
    }                                                                                              \
    static inline T gsh_remainder_##type(T a, T b)                                                 \
    {                                                                                              \
        T mod = f(fmod)(a, b);                                                                     \
        if (b == 0)                                                                                \
            return mod;                                                                            \
        if (mod == 0)                                                                              \
            return f(copysign)(0, b);                                                              \
        return isless(b, 0) != isless(mod, 0) ? mod + b : mod;                                     \
    }                                                                                              \
    static inline T gsh_reciprocal_##type(T a)                                                     \
    {                                                                                              \
        return 1 / a;                                                                              \
    }                                                                                              \
    static inline T gsh_sign_##type(T a)                                                           \
    {                                                                                              \
        return a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a;                                            \
    }                                                                                              \
    static inline T gsh_logaddexp_##type(T a, T b)                                                 \
    {                                                                                              \
        T difference = a - b;                                                                      \
        if (a == b) /* infinities too */                                                           \
            return a + (T)M_LN2;                                                                   \
        if (difference > 0)                                                                        \
            return a + f(log1p)(f(exp)(-difference));                                              \
        return difference <= 0 ? b + f(log1p)(f(exp)(difference)) : difference;                    \
    }                                                                                              \
    static inline T gsh_logaddexp2_##type(T a, T b)                                                \
    {                                                                                              \
        T difference = a - b;                                                                      \
        if (a == b)                                                                                \
            return a + 1;                                                                          \
        if (difference > 0)                                                                        \
            return a + (T)M_LOG2E * f(log1p)(f(exp2)(-difference));                                \
        return difference <= 0 ? b + (T)M_LOG2E * f(log1p)(f(exp2)(difference)) : difference;      \
    }                                                                                              \
    static inline T gsh_degrees_##type(T a)                                                        \
    {                                                                                              \
        return a * ((T)180 / (T)M_PI);                                                             \
    }                                                                                              \
    static inline T gsh_radians_##type(T a)                                                        \
    {                                                                                              \
        return a * ((T)M_PI / (T)180);                                                             \
    }                                                                                              \
    static inline T gsh_round_##type(T a, T b, bool is_half)                                       \
    {                                                                                              \
        T scale = f(fabs)(b), scaled = b > 0 ? a * scale : a / scale;                              \
        T whole =                                                                                  \
            f(rint)(is_half ? (T)gsh_half_to_float(gsh_half_of_float((float)scaled)) : scaled);    \
        return b > 0 ? whole / scale : whole * scale;                                              \
    }                                                                                              \
    static inline T gsh_heaviside_##type(T a, T b)                                                 \
    {                                                                                              \
        return isnan(a) ? (T)NAN : a == 0 ? b : a < 0 ? 0 : 1;                                     \
    }                                                                                              \
    static inline T gsh_nextafter_##type(T a, T b, bool is_half)                                   \
    {                                                                                              \
        return is_half ? (T)gsh_half_nextafter((float)a, (float)b) : f(nextafter)(a, b);           \
    }                                                                                              \
    /* The distance to the next number away from zero, with the sign of a. */                      \
    static inline T gsh_spacing_##type(T a, bool is_half)                                          \
    {                                                                                              \
        if (is_half)                                                                               \
            return (T)gsh_half_spacing((float)a);                                                  \
        if (isinf(a))                                                                              \
            return (T)NAN;                                                                         \
        if (a == 0)                                                                                \
            return f(nextafter)(0, 1);                                                             \
        return f(nextafter)(a, f(copysign)((T)INFINITY, a)) - a;                                   \
    }                                                                                              \
    static inline T gsh_modf_fraction_##type(T a)                                                  \
    {                                                                                              \
        return f(copysign)(isinf(a) ? 0 : a - f(trunc)(a), a);                                     \
    }                                                                                              \
    static inline T gsh_frexp_mantissa_##type(T a)                                                 \
    {                                                                                              \
        int exponent;                                                                              \
        return f(frexp)(a, &exponent);                                                             \
    }                                                                                              \
    static inline int gsh_frexp_exponent_##type(T a)                                               \
    {                                                                                              \
        int exponent;                                                                              \
        (void)f(frexp)(a, &exponent);                                                              \
        return isfinite(a) ? exponent : 0;                                                         \
    }                                                                                              \
    static inline bool gsh_isinf_##type(T a)                                                       \
    {                                                                                              \
        return f(fabs)(a) == (T)INFINITY;                                                          \
    }                                                                                              \
    static inline bool gsh_isfinite_##type(T a)                                                    \
    {                                                                                              \
        return f(fabs)(a) < (T)INFINITY;                                                           \
    }                                                                                              \
    static inline bool gsh_signbit_##type(T a)                                                     \
    {                                                                                              \
        return signbit(a) != 0;                                                                    \
    }                                                                                              \
    static inline T gsh_ldexp_##type(T a, int64_t b)                                               \
    {                                                                                              \
        return f(ldexp)(a, b > INT32_MAX ? INT32_MAX : b < INT32_MIN ? INT32_MIN : (int)b);        \
    }
#define GSH_OF_FLOAT(name) name##f
#define GSH_OF_DOUBLE(name) name
GSH_DEFINE(float, float, GSH_OF_FLOAT)
GSH_DEFINE(double, double, GSH_OF_DOUBLE)
#undef GSH_DEFINE
#undef GSH_OF_FLOAT
#undef GSH_OF_DOUBLE
