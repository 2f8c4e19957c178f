/* SPDX-License-Identifier: Apache-2.0
 *
 * The gsh_ helpers of ops.def's expressions for the CPU, selected by the type of the first argument: bool, an
 * integer, float, double or a complex type (float16 is computed as float). They are defined in host_math_real.h and
 * host_math_complex.h; kernels/cuda/ defines the same names for the device. An expression must compile for every
 * dtype. For a dtype without a loop it calls gsh_no_loop and is never run.
 */
#pragma once

#include "host_math_complex.h"
#include "host_math_real.h"
#include "host_math_special.h"

static inline int gsh_no_loop(int a, ...)
{
    return a;
}

#define GSH_SIGNED(f)                                                                              \
    int8_t:                                                                                        \
    f##_signed, int16_t : f##_signed, int32_t : f##_signed, int64_t
#define GSH_UNSIGNED(f)                                                                            \
    uint8_t:                                                                                       \
    f##_unsigned, uint16_t : f##_unsigned, uint32_t : f##_unsigned, uint64_t
/* The function of a's type among f_signed, f_unsigned, f_float, f_double, f_cfloat, f_cdouble. */
#define GSH_OF_INTEGERS(f, a)                                                                      \
    _Generic((a), GSH_SIGNED(f) : f##_signed, GSH_UNSIGNED(f) : f##_unsigned, default : gsh_no_loop)
#define GSH_OF_REALS(f, a)                                                                         \
    _Generic((a), GSH_SIGNED(f)                                                                    \
             : f##_signed, GSH_UNSIGNED(f)                                                         \
             : f##_unsigned, float                                                                 \
             : f##_float, double                                                                   \
             : f##_double, default                                                                 \
             : gsh_no_loop)
#define GSH_OF_NUMBERS(f, a)                                                                       \
    _Generic((a), GSH_SIGNED(f)                                                                    \
             : f##_signed, GSH_UNSIGNED(f)                                                         \
             : f##_unsigned, float                                                                 \
             : f##_float, double                                                                   \
             : f##_double, float _Complex                                                          \
             : f##_cfloat, double _Complex                                                         \
             : f##_cdouble, default                                                                \
             : gsh_no_loop)
#define GSH_OF_ALL(f, a) _Generic((a), bool : f##_unsigned, default : GSH_OF_NUMBERS(f, a))
#define GSH_OF_FLOATS(f, a)                                                                        \
    _Generic((a), float : f##_float, double : f##_double, default : gsh_no_loop)
#define GSH_OF_INEXACT(f, f_cfloat, f_cdouble, a)                                                  \
    _Generic((a), float                                                                            \
             : f##_float, double                                                                   \
             : f##_double, float _Complex                                                          \
             : f_cfloat, double _Complex                                                           \
             : f_cdouble, default                                                                  \
             : gsh_no_loop)
#define GSH_OF_COMPLEX(f, a)                                                                       \
    _Generic((a), float _Complex : f##_cfloat, double _Complex : f##_cdouble, default : gsh_no_loop)
/* f for complex numbers, else the expression. */
#define GSH_COMPLEX_OR(f, a, expression, ...)                                                      \
    _Generic((a), float _Complex                                                                   \
             : GSH_OF_COMPLEX(f, a)(__VA_ARGS__), double _Complex                                  \
             : GSH_OF_COMPLEX(f, a)(__VA_ARGS__), default                                          \
             : (expression))
/* f for floats, else the number itself. */
#define GSH_FLOAT_OR_SAME(name, a)                                                                 \
    _Generic((a), float : name##f((float)(a)), double : name((double)(a)), default : (a))
/* An expression for real numbers only; a complex argument, which never occurs, is replaced by a real zero. */
#define GSH_REAL(a) _Generic((a), float _Complex : 0.0f, double _Complex : 0.0, default : (a))

/* For bool: or, and. */
#define gsh_plus(a, b) _Generic((a), bool : (a) || (b), default : (a) + (b))
#define gsh_minus(a, b) ((a) - (b))
#define GSH_TIMES(a, b) _Generic((a), bool : (a) && (b), default : (a) * (b))
#define gsh_times(a, b) GSH_COMPLEX_OR(gsh_times, a, GSH_TIMES(GSH_REAL(a), GSH_REAL(b)), a, b)
#define gsh_over(a, b) GSH_COMPLEX_OR(gsh_over, a, GSH_REAL(a) / GSH_REAL(b), a, b)
#define gsh_floor_divide(a, b) GSH_OF_REALS(gsh_floor_divide, a)(a, b)
#define gsh_remainder(a, b) GSH_OF_REALS(gsh_remainder, a)(a, b)
#define gsh_fmod(a, b) GSH_OF_REALS(gsh_fmod, a)(a, b)
#define gsh_power(a, b) GSH_OF_NUMBERS(gsh_power, a)(a, b)
#define gsh_negate(a) (-(a))
#define gsh_abs(a) GSH_OF_ALL(gsh_abs, a)(a)
#define gsh_sign(a) GSH_OF_NUMBERS(gsh_sign, a)(a)
#define gsh_reciprocal(a)                                                                          \
    _Generic((a), int32_t : gsh_reciprocal_int32, default : GSH_OF_NUMBERS(gsh_reciprocal, a))(a)
#define gsh_conjugate(a) GSH_COMPLEX_OR(gsh_conjugate, a, a, a)
/* numpy.round in NumPy's steps, each rounded to the dtype. b is 10**decimals, or minus 10**-decimals where the
 * decimals are negative and NumPy divides first. */
#define gsh_round(a, b, is_half)                                                                   \
    GSH_OF_INEXACT(gsh_round, gsh_round_cfloat, gsh_round_cdouble, a)(a, b, is_half)
#define gsh_rint(a) GSH_OF_INEXACT(gsh_rint, gsh_rint_cfloat, gsh_rint_cdouble, a)(a)

#define gsh_sqrt(a) GSH_OF_INEXACT(gsh_sqrt, csqrtf, csqrt, a)(a)
#define gsh_exp(a) GSH_OF_INEXACT(gsh_exp, cexpf, cexp, a)(a)
#define gsh_exp2(a) GSH_OF_INEXACT(gsh_exp2, gsh_exp2_cfloat, gsh_exp2_cdouble, a)(a)
#define gsh_expm1(a) GSH_OF_INEXACT(gsh_expm1, gsh_expm1_cfloat, gsh_expm1_cdouble, a)(a)
#define gsh_log(a) GSH_OF_INEXACT(gsh_log, clogf, clog, a)(a)
#define gsh_log2(a) GSH_OF_INEXACT(gsh_log2, gsh_log2_cfloat, gsh_log2_cdouble, a)(a)
#define gsh_log10(a) GSH_OF_INEXACT(gsh_log10, gsh_log10_cfloat, gsh_log10_cdouble, a)(a)
#define gsh_log1p(a) GSH_OF_INEXACT(gsh_log1p, gsh_log1p_cfloat, gsh_log1p_cdouble, a)(a)
#define gsh_sin(a) GSH_OF_INEXACT(gsh_sin, csinf, csin, a)(a)
#define gsh_cos(a) GSH_OF_INEXACT(gsh_cos, ccosf, ccos, a)(a)
#define gsh_tan(a) GSH_OF_INEXACT(gsh_tan, ctanf, ctan, a)(a)
#define gsh_arcsin(a) GSH_OF_INEXACT(gsh_arcsin, casinf, casin, a)(a)
#define gsh_arccos(a) GSH_OF_INEXACT(gsh_arccos, cacosf, cacos, a)(a)
#define gsh_arctan(a) GSH_OF_INEXACT(gsh_arctan, catanf, catan, a)(a)
#define gsh_sinh(a) GSH_OF_INEXACT(gsh_sinh, csinhf, csinh, a)(a)
#define gsh_cosh(a) GSH_OF_INEXACT(gsh_cosh, ccoshf, ccosh, a)(a)
#define gsh_tanh(a) GSH_OF_INEXACT(gsh_tanh, ctanhf, ctanh, a)(a)
#define gsh_arcsinh(a) GSH_OF_INEXACT(gsh_arcsinh, casinhf, casinh, a)(a)
#define gsh_arccosh(a) GSH_OF_INEXACT(gsh_arccosh, cacoshf, cacosh, a)(a)
#define gsh_arctanh(a) GSH_OF_INEXACT(gsh_arctanh, catanhf, catanh, a)(a)

#define gsh_cbrt(a) GSH_OF_FLOATS(gsh_cbrt, a)(a)
#define gsh_arctan2(a, b) GSH_OF_FLOATS(gsh_arctan2, a)(a, b)
#define gsh_hypot(a, b) GSH_OF_FLOATS(gsh_hypot, a)(a, b)
#define gsh_logaddexp(a, b) GSH_OF_FLOATS(gsh_logaddexp, a)(a, b)
#define gsh_logaddexp2(a, b) GSH_OF_FLOATS(gsh_logaddexp2, a)(a, b)
#define gsh_degrees(a) GSH_OF_FLOATS(gsh_degrees, a)(a)
#define gsh_radians(a) GSH_OF_FLOATS(gsh_radians, a)(a)
#define gsh_heaviside(a, b) GSH_OF_FLOATS(gsh_heaviside, a)(a, b)
#define gsh_copysign(a, b) GSH_OF_FLOATS(gsh_copysign, a)(a, b)
#define gsh_nextafter(a, b, is_half) GSH_OF_FLOATS(gsh_nextafter, a)(a, b, is_half)
#define gsh_spacing(a, is_half) GSH_OF_FLOATS(gsh_spacing, a)(a, is_half)
#define gsh_modf_fraction(a) GSH_OF_FLOATS(gsh_modf_fraction, a)(a)
#define gsh_frexp_mantissa(a) GSH_OF_FLOATS(gsh_frexp_mantissa, a)(a)
#define gsh_frexp_exponent(a) GSH_OF_FLOATS(gsh_frexp_exponent, a)(a)
#define gsh_ldexp(a, b) GSH_OF_FLOATS(gsh_ldexp, a)(a, b)
#define gsh_floor(a) GSH_FLOAT_OR_SAME(floor, GSH_REAL(a))
#define gsh_ceil(a) GSH_FLOAT_OR_SAME(ceil, GSH_REAL(a))
#define gsh_trunc(a) GSH_FLOAT_OR_SAME(trunc, GSH_REAL(a))

#define gsh_gcd(a, b) GSH_OF_INTEGERS(gsh_gcd, a)(a, b)
#define gsh_lcm(a, b) GSH_OF_INTEGERS(gsh_lcm, a)(a, b)
#define gsh_left_shift(a, b) GSH_OF_INTEGERS(gsh_left_shift, a)(a, b)
#define gsh_right_shift(a, b) GSH_OF_INTEGERS(gsh_right_shift, a)(a, b)
#define gsh_bit_count(a) GSH_OF_INTEGERS(gsh_bit_count, a)(a)
/* Integers and bool; the inverse of a bool is the logical one. */
#define GSH_INTEGER(a)                                                                             \
    _Generic((a), float : 0, double : 0, float _Complex : 0, double _Complex : 0, default : (a))
#define gsh_bit_and(a, b) (GSH_INTEGER(a) & GSH_INTEGER(b))
#define gsh_bit_or(a, b) (GSH_INTEGER(a) | GSH_INTEGER(b))
#define gsh_bit_xor(a, b) (GSH_INTEGER(a) ^ GSH_INTEGER(b))
#define gsh_invert(a) _Generic((a), bool : !(a), default : ~(GSH_INTEGER(a) + 0))

/* a where `wins`, else b; complex numbers have functions of their own. */
#define GSH_WINNER(f, a, b, wins) GSH_COMPLEX_OR(f, a, (wins) ? GSH_REAL(a) : GSH_REAL(b), a, b)
/* NumPy's vector loops take the second of equal operands (zeros of either sign); its float16 and
 * complex loops the first. */
#define GSH_ABOVE(a, b, is_half) (GSH_REAL(a) > GSH_REAL(b) || ((is_half) && (a) == (b)))
/* The first NaN wins. */
#define gsh_maximum(a, b, is_half)                                                                 \
    GSH_WINNER(gsh_maximum, a, b, GSH_ABOVE(a, b, is_half) || (a) != (a))
#define gsh_minimum(a, b, is_half)                                                                 \
    GSH_WINNER(gsh_minimum, a, b, GSH_ABOVE(b, a, is_half) || (a) != (a))
/* NaNs lose. */
#define gsh_fmax(a, b, is_half) GSH_WINNER(gsh_fmax, a, b, GSH_ABOVE(a, b, is_half) || (b) != (b))
#define gsh_fmin(a, b, is_half) GSH_WINNER(gsh_fmin, a, b, GSH_ABOVE(b, a, is_half) || (b) != (b))
#define GSH_CLIP_REAL(a, low, high, is_half)                                                       \
    gsh_minimum(gsh_maximum(a, low, is_half), high, is_half)
#define gsh_clip(a, low, high, is_half)                                                            \
    GSH_COMPLEX_OR(gsh_clip, a,                                                                    \
                   GSH_CLIP_REAL(GSH_REAL(a), GSH_REAL(low), GSH_REAL(high), is_half), a, low,     \
                   high)

#define gsh_equal(a, b) ((a) == (b))
#define gsh_not_equal(a, b) ((a) != (b))
#define gsh_less(a, b) GSH_COMPLEX_OR(gsh_less, a, GSH_REAL(a) < GSH_REAL(b), a, b)
#define gsh_less_equal(a, b) GSH_COMPLEX_OR(gsh_less_equal, a, GSH_REAL(a) <= GSH_REAL(b), a, b)
#define gsh_greater(a, b) gsh_less(b, a)
#define gsh_greater_equal(a, b) gsh_less_equal(b, a)
#define gsh_isnan(a) GSH_COMPLEX_OR(gsh_isnan, a, (a) != (a), a)
#define gsh_isinf(a)                                                                               \
    GSH_COMPLEX_OR(gsh_isinf, a,                                                                   \
                   _Generic((a), float                                                             \
                            : gsh_isinf_float(GSH_REAL(a)), double                                 \
                            : gsh_isinf_double(GSH_REAL(a)), default                               \
                            : false),                                                              \
                   a)
#define gsh_isfinite(a)                                                                            \
    GSH_COMPLEX_OR(gsh_isfinite, a,                                                                \
                   _Generic((a), float                                                             \
                            : gsh_isfinite_float(GSH_REAL(a)), double                              \
                            : gsh_isfinite_double(GSH_REAL(a)), default                            \
                            : true),                                                               \
                   a)
#define gsh_signbit(a) GSH_OF_FLOATS(gsh_signbit, a)(a)

/* Element i of a sequence that begins with a and b. */
#define gsh_ramp(a, b, i)                                                                          \
    GSH_COMPLEX_OR(gsh_ramp, a,                                                                    \
                   GSH_REAL(a) + (__typeof__(GSH_REAL(a)))(i) * (GSH_REAL(b) - GSH_REAL(a)), a, b, \
                   i)
