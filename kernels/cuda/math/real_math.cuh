// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions of doubles; only rare arguments branch. Coefficients are in constant memory, because as
// immediate operands each costs one more instruction. tests/conformance/real_math_vs_long_double.py bounds the
// errors: 1.75 ulp. In namespace fast nothing branches: a NaN stands for arguments that the code does not handle,
// and a group's fast path detects it (cuda/group/group_paths.cuh).
FN u32 high_word(double x) { return (u32)(bits_of(x) >> 32); }
FN double of_words(u32 high, u32 low) { return of_bits((u64)high << 32 | low); }
// x * 2^power, where x and the result are normal numbers.
FN double times_power(double x, i32 power) { return of_words(high_word(x) + ((u32)power << 20), (u32)bits_of(x)); }
FN double nan_where(bool special, double x) { return special ? of_words(0x7ff80000, (u32)bits_of(x)) : x; }
// 1 / x, with a relative error of some 2^-20.
FN double about_inverse(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}
FN double about_inverse_root(double x)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}
template <int N> FN double polynomial(double x, const double (&terms)[N])
{
    double sum = terms[0];
#pragma unroll
    for (int k = 1; k < N; k++)
        sum = fma(sum, x, terms[k]);
    return sum;
}
struct Ln2 { double inverse, high, low; };
static __constant__ Ln2 ln2_parts = {1.4426950408889634, 0.6931471805599453, 2.3190468138462996e-17};

// e^x = 2^n e^r, |r| <= log(2) / 2; e^r = 1 + r + r^2 (...).
static __constant__ double exp_terms[] = {
    2.4999988775310957e-08, 2.7630379039924463e-07, 2.7557587256957847e-06, 2.480149276170725e-05, 0.00019841269504878626,
    0.0013888888943923625, 0.00833333333349556, 0.041666666666529184, 0.1666666666666641, 0.5000000000000011, 1.0, 1.0};
FN double exp_fraction(double x, i32 &n)
{
    constexpr double integers = 6755399441055744.0; // its sum with a small integer has that integer in the low word
    const double shifted = fma(x, ln2_parts.inverse, integers), whole = shifted - integers;
    n = (i32)bits_of(shifted);
    return polynomial(fma(-whole, ln2_parts.low, fma(-whole, ln2_parts.high, x)), exp_terms);
}
// In two steps: the first step's result is normal, the second step's need not be.
FN double times_wide_power(double x, i32 n) { return times_power(x, n >> 1) * times_power(1.0, n - (n >> 1)); }
FN double exp_of(double x)
{
    i32 n;
    const double fraction = exp_fraction(x, n);
    if ((high_word(x) & 0x7fffffff) < 0x40862000) // |x| < 708
        return times_power(fraction, n);
    if (x > -750.0 && x < 710.0)
        return times_wide_power(fraction, n);
    return x > 0 ? INFINITE : x < 0 ? 0.0 : x;
}

// log(1 + f) = f - f^2 / 2 + s (f^2 + z (...)), s = f / (4 + 2 f), z = s^2, where 1 + f lies between the square roots
// of 1/2 and 2. The logarithm of 2^n (1 + f) is that plus n log(2). n counts down, so that a zero keeps its sign.
static __constant__ double log_terms[] = {4848.592192552179, 1254.5209952628975, 372.3994526476335, 113.777656447346,
                                          36.571428790811126, 12.799999999812131, 5.333333333333388};
FN double log1p_rest(double f) // without f itself
{
    const double d = fma(f, 2.0, 4.0), y = about_inverse(d), e = fma(-d, y, 1.0);
    const double s = f * fma(y, fma(e, e, e), y), z = s * s, square = f * f;
    return fma(square, -0.5, s * fma(z, polynomial(z, log_terms), square));
}
FN double as_double(i32 n) { return of_words(0x43300000, (u32)n ^ 0x80000000) - 4503601774854144.0; }
FN double log_of_fraction(double f, i32 down)
{
    const double rest = log1p_rest(f), n = as_double(down);
    return fma(-n, ln2_parts.high, f) + fma(-n, ln2_parts.low, rest);
}
FN i32 power_away(u32 high) { return (i32)(0x3ff6a09d - high) >> 20; } // minus n
// Whether the positive number with this high word is normal and has a normal inverse.
FN bool is_ordinary(u32 high) { return high - 0x00100000u < 0x7fc00000u; }
FN double log_ordinary(double x)
{
    const i32 down = power_away(high_word(x));
    return log_of_fraction(times_power(x, down) - 1.0, down);
}
// 1 + x = 2^n (1 + f), where f = (x - (2^n - 1)) / 2^n is exact.
FN double log1p_ordinary(double x, double above)
{
    const i32 down = power_away(high_word(above));
    const double scale = times_power(1.0, down);
    return log_of_fraction(fma(x, scale, -(1.0 - scale)), down);
}

// Constants of the logarithm to a base: 1 / log(base) and log(2) / log(base), in two parts each. The first part of
// the latter times any n is exact, so that powers of the base have exact logarithms.
struct Base { double inverse, inverse_low, ln2, ln2_low; };
static __constant__ Base base_2 = {1.4426950408889634, 2.0355273740931033e-17, 1.0, 0.0};
static __constant__ Base base_10 = {0.4342944819032518, 1.098319650216765e-17, 0.30102999566383914, 1.42050232272661e-13};
FN double log_ordinary(double x, const Base &base)
{
    const i32 down = power_away(high_word(x));
    const double f = times_power(x, down) - 1.0, rest = log1p_rest(f), n = as_double(down);
    const double whole = -n * base.ln2, part = f * base.inverse, sum = whole + part;
    const double low = fma(f, base.inverse, -part) + fma(-n, base.ln2_low, fma(f, base.inverse_low, rest * base.inverse));
    return sum + ((part - (sum - whole)) + low);
}
// Scales numbers near the ends of the range by 2^64 towards its middle.
__device__ __noinline__ double rare_log2(double x)
{
    const double there = x < 1 ? 18446744073709551616.0 : 1 / 18446744073709551616.0;
    return x > 0 && x < INFINITE ? log_ordinary(x * there, base_2) + (x < 1 ? -64.0 : 64.0) : log2(x);
}
__device__ __noinline__ double rare_log10(double x) { return log10(x); }
FN double log2_of(double x) { return is_ordinary(high_word(x)) ? log_ordinary(x, base_2) : rare_log2(x); }
FN double log10_of(double x) { return is_ordinary(high_word(x)) ? log_ordinary(x, base_10) : rare_log10(x); }

__device__ __noinline__ double rare_log(double x) { return log(x); }
__device__ __noinline__ double rare_log1p(double x) { return log1p(x); }
FN double log_of(double x) { return is_ordinary(high_word(x)) ? log_ordinary(x) : rare_log(x); }
FN double log1p_of(double x) { return is_ordinary(high_word(x + 1.0)) ? log1p_ordinary(x, x + 1.0) : rare_log1p(x); }

// The steps of CUDA's sqrt for zeros, and for numbers that are neither tiny nor infinite.
FN double root_ordinary(double x)
{
    const double guess = about_inverse_root(x);
    const double y = of_words(high_word(guess) < 0x5fe00000 ? high_word(guess) : 0x5fe00000, 0);
    const double e = fma(x, -(y * y), 1.0);
    const double inverse = fma(fma(e, 0.375, 0.5), y * e, y), root = x * inverse;
    return fma(fma(root, -root, x), times_power(inverse, -1), root);
}
// The steps of CUDA's division where no number is near the ends of the range; 0 / b has the product's sign.
FN double quotient_ordinary(double a, double b, double &product)
{
    const double guess = of_words(high_word(about_inverse(b)), 1), e = fma(-b, guess, 1.0);
    const double near = fma(guess, fma(e, e, e), guess), inverse = fma(near, fma(-b, near, 1.0), near);
    product = a * inverse;
    return fma(fma(-b, product, a), inverse, product);
}

namespace fast {
FN double gsh_over(double a, double b)
{
    double product;
    const double quotient = quotient_ordinary(a, b, product);
    const u32 high = high_word(quotient), size = (high & 0x7fffffff) - 0x00100001u;
    const bool special = size >= 0x7f6fffffu || (high_word(a) & 0x7fffffff) < 0x03600000u;
    return of_words(a == 0 ? high_word(product) : special ? 0x7ff80000 : high, (u32)bits_of(quotient));
}
FN float gsh_exp(float x) { return expf(x); }
FN double gsh_exp(double x)
{
    const u32 high = high_word(x); // as an integer: positive ones to 720, negative ones to -752 at most
    const u32 below = (i32)high < 0x40868000 ? high : 0x40868000;
    i32 n;
    const double fraction = exp_fraction(of_words(below < 0xc0878000 ? below : 0xc0878000, (u32)bits_of(x)), n);
    return nan_where(x != x, times_wide_power(fraction, n));
}
FN float gsh_log(float x) { return logf(x); }
FN double gsh_log(double x) { return nan_where(!is_ordinary(high_word(x)), log_ordinary(x)); }
FN float gsh_log1p(float x) { return log1pf(x); }
FN double gsh_log1p(double x) { return nan_where(!is_ordinary(high_word(x + 1.0)), log1p_ordinary(x, x + 1.0)); }
FN float gsh_sqrt(float x) { return sqrtf(x); }
FN double gsh_sqrt(double x)
{
    return nan_where(x != 0 && high_word(x) - 0x03500000u >= 0x7ca00000u, root_ordinary(x));
}
}
