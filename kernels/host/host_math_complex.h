/* SPDX-License-Identifier: Apache-2.0
 *
 * Complex numbers as NumPy computes them: multiplication with the fused operations of its vector loops, Smith's
 * division, powers to small whole exponents by multiplication, comparison by the real part first. The rest is C99's
 * library, which NumPy calls too. Parts are always computed separately, because the compiler's complex operators
 * repair NaNs and scale. Used through host_math.h.
 */
#pragma once

#include "host_math_real.h"

#include <complex.h>
#include <math.h>

/* C is the complex type, T its part's; f(x) is C's function of that type. */
#define GSH_DEFINE(C, T, type, f)                                                                  \
    static inline C gsh_pack_##type(T real, T imaginary)                                           \
    {                                                                                              \
        union {                                                                                    \
            T parts[2];                                                                            \
            C whole;                                                                               \
        } value = {.parts = {real, imaginary}};                                                    \
        return value.whole;                                                                        \
    }                                                                                              \
    static inline C gsh_times_##type(C a, C b)                                                     \
    {                                                                                              \
        T ar = f(creal)(a), ai = f(cimag)(a), br = f(creal)(b), bi = f(cimag)(b);                  \
        return gsh_pack_##type(f(fma)(ar, br, -(ai * bi)), f(fma)(ar, bi, ai * br));               \
    }                                                                                              \
    /* As in NumPy's power, which does not fuse. */                                                \
    static inline C gsh_times_plainly_##type(C a, C b)                                             \
    {                                                                                              \
        T ar = f(creal)(a), ai = f(cimag)(a), br = f(creal)(b), bi = f(cimag)(b);                  \
        return gsh_pack_##type(ar * br - ai * bi, ar * bi + ai * br);                              \
    }                                                                                              \
    static inline C gsh_over_##type(C a, C b)                                                      \
    {                                                                                              \
        T ar = f(creal)(a), ai = f(cimag)(a), br = f(creal)(b), bi = f(cimag)(b);                  \
        if (f(fabs)(br) >= f(fabs)(bi)) {                                                          \
            if (br == 0 && bi == 0)                                                                \
                return gsh_pack_##type(ar / f(fabs)(br), ai / f(fabs)(bi));                        \
            T ratio = bi / br, scale = 1 / (br + bi * ratio);                                      \
            return gsh_pack_##type((ar + ai * ratio) * scale, (ai - ar * ratio) * scale);          \
        }                                                                                          \
        T ratio = br / bi, scale = 1 / (bi + br * ratio);                                          \
        return gsh_pack_##type((ar * ratio + ai) * scale, (ai * ratio - ar) * scale);              \
    }                                                                                              \
    static inline C gsh_reciprocal_##type(C a)                                                     \
    {                                                                                              \
        T real = f(creal)(a), imaginary = f(cimag)(a);                                             \
        if (f(fabs)(imaginary) <= f(fabs)(real)) {                                                 \
            T ratio = imaginary / real, divisor = real + imaginary * ratio;                        \
            return gsh_pack_##type(1 / divisor, -ratio / divisor);                                 \
        }                                                                                          \
        T ratio = real / imaginary, divisor = real * ratio + imaginary;                            \
        return gsh_pack_##type(ratio / divisor, -1 / divisor);                                     \
    }                                                                                              \
    static inline T gsh_abs_##type(C a)                                                            \
    {                                                                                              \
        return f(hypot)(f(creal)(a), f(cimag)(a));                                                 \
    }                                                                                              \
    /* NumPy 2's: a / |a|, and the axis of an infinite part. */                                    \
    static inline C gsh_sign_##type(C a)                                                           \
    {                                                                                              \
        T real = f(creal)(a), imaginary = f(cimag)(a), length = f(hypot)(real, imaginary);         \
        if (isnan(length) || (isinf(real) && isinf(imaginary)))                                    \
            return gsh_pack_##type((T)NAN, (T)NAN);                                                \
        if (isinf(real))                                                                           \
            return gsh_pack_##type(real > 0 ? 1 : -1, 0);                                          \
        if (isinf(length))                                                                         \
            return gsh_pack_##type(0, imaginary > 0 ? 1 : -1);                                     \
        if (length == 0)                                                                           \
            return gsh_pack_##type(0, 0);                                                          \
        return gsh_pack_##type(real / length, imaginary / length);                                 \
    }                                                                                              \
    /* a to the whole power n, 0 < |n| < 100. */                                                   \
    static inline C gsh_whole_power_##type(C a, int n)                                             \
    {                                                                                              \
        int count = n < 0 ? -n : n;                                                                \
        if (n == 1)                                                                                \
            return a;                                                                              \
        if (n == 2)                                                                                \
            return gsh_times_plainly_##type(a, a);                                                 \
        if (n == 3)                                                                                \
            return gsh_times_plainly_##type(a, gsh_times_plainly_##type(a, a));                    \
        C result = 1;                                                                              \
        for (; count != 0; count >>= 1) {                                                          \
            if ((count & 1) != 0)                                                                  \
                result = gsh_times_plainly_##type(result, a);                                      \
            if (count > 1)                                                                         \
                a = gsh_times_plainly_##type(a, a);                                                \
        }                                                                                          \
        return n < 0 ? gsh_over_##type(1, result) : result;                                        \
    }                                                                                              \
    static inline C gsh_power_##type(C a, C b)                                                     \
    {                                                                                              \
        T br = f(creal)(b), bi = f(cimag)(b);                                                      \
        if (br == 0 && bi == 0)                                                                    \
            return 1;                                                                              \
        if (f(creal)(a) == 0 && f(cimag)(a) == 0)                                                  \
            return br > 0 ? 0 : gsh_pack_##type((T)NAN, (T)NAN);                                   \
        if (bi == 0 && f(fabs)(br) < 100 && (T)(int)br == br)                                      \
            return gsh_whole_power_##type(a, (int)br);                                             \
        return f(cpow)(a, b);                                                                      \
    }                                                                                              \
    static inline C gsh_scaled_##type(C a, T factor)                                               \
    {                                                                                              \
        return gsh_pack_##type(f(creal)(a) * factor, f(cimag)(a) * factor);                        \
    }                                                                                              \
    static inline C gsh_exp2_##type(C a)                                                           \
    {                                                                                              \
        return f(cexp)(gsh_scaled_##type(a, (T)M_LN2));                                            \
    }                                                                                              \
    static inline C gsh_log2_##type(C a)                                                           \
    {                                                                                              \
        return gsh_scaled_##type(f(clog)(a), (T)M_LOG2E);                                          \
    }                                                                                              \
    static inline C gsh_log10_##type(C a)                                                          \
    {                                                                                              \
        return gsh_scaled_##type(f(clog)(a), (T)M_LOG10E);                                         \
    }                                                                                              \
    static inline C gsh_log1p_##type(C a)                                                          \
    {                                                                                              \
        T real = f(creal)(a) + 1, imaginary = f(cimag)(a);                                         \
        return gsh_pack_##type(f(log)(f(hypot)(real, imaginary)), f(atan2)(imaginary, real));      \
    }                                                                                              \
    static inline C gsh_expm1_##type(C a)                                                          \
    {                                                                                              \
        T real = f(creal)(a), imaginary = f(cimag)(a), half = f(sin)(imaginary / 2);               \
        return gsh_pack_##type(f(expm1)(real) * f(cos)(imaginary) - 2 * half * half,               \
                               f(exp)(real) * f(sin)(imaginary));                                  \
    }                                                                                              \
    static inline C gsh_rint_##type(C a)                                                           \
    {                                                                                              \
        return gsh_pack_##type(f(rint)(f(creal)(a)), f(rint)(f(cimag)(a)));                        \
    }                                                                                              \
    static inline C gsh_round_##type(C a, C b, bool is_half)                                       \
    {                                                                                              \
        T scale = f(creal)(b);                                                                     \
        return gsh_pack_##type(gsh_round_##T(f(creal)(a), scale, is_half),                         \
                               gsh_round_##T(f(cimag)(a), scale, is_half));                        \
    }                                                                                              \
    static inline C gsh_conjugate_##type(C a)                                                      \
    {                                                                                              \
        return gsh_pack_##type(f(creal)(a), -f(cimag)(a));                                         \
    }                                                                                              \
    static inline C gsh_ramp_##type(C a, C b, int64_t i)                                           \
    {                                                                                              \
        T real = f(creal)(b) - f(creal)(a), imaginary = f(cimag)(b) - f(cimag)(a);                 \
        return gsh_pack_##type(f(creal)(a) + (T)i * real, f(cimag)(a) + (T)i * imaginary);         \
    }                                                                                              \
    static inline bool gsh_isnan_##type(C a)                                                       \
    {                                                                                              \
        return isnan(f(creal)(a)) || isnan(f(cimag)(a));                                           \
    }                                                                                              \
    static inline bool gsh_isinf_##type(C a)                                                       \
    {                                                                                              \
        return isinf(f(creal)(a)) || isinf(f(cimag)(a));                                           \
    }                                                                                              \
    static inline bool gsh_isfinite_##type(C a)                                                    \
    {                                                                                              \
        return isfinite(f(creal)(a)) && isfinite(f(cimag)(a));                                     \
    }                                                                                              \
    /* a NaN in an imaginary part makes a difference of the real parts void. */                    \
    static inline bool gsh_less_##type(C a, C b)                                                   \
    {                                                                                              \
        T ar = f(creal)(a), ai = f(cimag)(a), br = f(creal)(b), bi = f(cimag)(b);                  \
        return (ar < br && !isnan(ai) && !isnan(bi)) || (ar == br && ai < bi);                     \
    }                                                                                              \
    static inline bool gsh_less_equal_##type(C a, C b)                                             \
    {                                                                                              \
        T ar = f(creal)(a), ai = f(cimag)(a), br = f(creal)(b), bi = f(cimag)(b);                  \
        return (ar < br && !isnan(ai) && !isnan(bi)) || (ar == br && ai <= bi);                    \
    }                                                                                              \
    static inline C gsh_maximum_##type(C a, C b)                                                   \
    {                                                                                              \
        return gsh_isnan_##type(a) || gsh_less_equal_##type(b, a) ? a : b;                         \
    }                                                                                              \
    static inline C gsh_minimum_##type(C a, C b)                                                   \
    {                                                                                              \
        return gsh_isnan_##type(a) || gsh_less_equal_##type(a, b) ? a : b;                         \
    }                                                                                              \
    static inline C gsh_fmax_##type(C a, C b)                                                      \
    {                                                                                              \
        return gsh_isnan_##type(b) || gsh_less_equal_##type(b, a) ? a : b;                         \
    }                                                                                              \
    static inline C gsh_fmin_##type(C a, C b)                                                      \
    {                                                                                              \
        return gsh_isnan_##type(b) || gsh_less_equal_##type(a, b) ? a : b;                         \
    }                                                                                              \
    /* clip's own order: the imaginary parts decide where the real ones are equal, no more. */     \
    static inline bool gsh_clip_less_##type(C a, C b)                                              \
    {                                                                                              \
        T ar = f(creal)(a), br = f(creal)(b);                                                      \
        return ar == br ? f(cimag)(a) < f(cimag)(b) : ar < br;                                     \
    }                                                                                              \
    static inline C gsh_clip_##type(C a, C low, C high)                                            \
    {                                                                                              \
        a = gsh_isnan_##type(a) || gsh_clip_less_##type(low, a) ? a : low;                         \
        return gsh_isnan_##type(a) || gsh_clip_less_##type(a, high) ? a : high;                    \
    }
#define GSH_OF_FLOAT(name) name##f
#define GSH_OF_DOUBLE(name) name
GSH_DEFINE(float _Complex, float, cfloat, GSH_OF_FLOAT)
GSH_DEFINE(double _Complex, double, cdouble, GSH_OF_DOUBLE)
#undef GSH_DEFINE
#undef GSH_OF_FLOAT
#undef GSH_OF_DOUBLE
