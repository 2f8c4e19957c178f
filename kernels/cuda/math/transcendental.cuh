// SPDX-License-Identifier: Apache-2.0
//
// Functions of floats that CUDA's library computes, some ulps from NumPy's.
// x *= y. Each is the sum of two numbers; the second is the rounding error of the first.
FN void multiply_wide(double &x, double &x_rest, double y, double y_rest)
{
    const double product = x * y;
    const double rest = fma(x, y, -product) + (x * y_rest + x_rest * y);
    x = product + rest;
    x_rest = rest - (x - product);
}
// a^n, 0 < n <= 64, as such a sum.
FN void power_wide(double a, int n, double &x, double &x_rest)
{
    double base = a, base_rest = 0.0;
    x = 1.0;
    x_rest = 0.0;
    for (;;) {
        if (n & 1)
            multiply_wide(x, x_rest, base, base_rest);
        n >>= 1;
        if (n == 0)
            return;
        multiply_wide(base, base_rest, base, base_rest);
    }
}
// CUDA's pow is off by an ulp where the C library's is exact: 3^1, 2^12.
__device__ __noinline__ double whole_power(double a, double b)
{
    double x, rest;
    const int n = (int)(b < 0.0 ? -b : b);
    if (n == 0)
        return 1.0;
    power_wide(a, n, x, rest);
    const double size = x < 0.0 ? -x : x;
    if (!(size > 1e-280 && size < 1e280))
        return n == 1 && b > 0.0 ? a : pow(a, b);
    if (b > 0.0)
        return x + rest;
    const double inverse = 1.0 / x;
    return inverse + inverse * (fma(-inverse, x, 1.0) - inverse * rest);
}
FN double gsh_power(double a, double b)
{
    return b == trunc(b) && b >= -64.0 && b <= 64.0 ? whole_power(a, b) : pow(a, b);
}
FN float gsh_power(float a, float b)
{
    return b == truncf(b) && b >= -64.0f && b <= 64.0f ? (float)whole_power(a, b) : powf(a, b);
}
FN float gsh_sqrt(float a) { return propagate_nan(sqrtf(a), a, a); }
FN double gsh_sqrt(double a) { return propagate_nan(sqrt(a), a, a); }
FN float gsh_cbrt(float a) { return cbrtf(a); }
FN double gsh_cbrt(double a) { return cbrt(a); }
FN float gsh_exp(float a) { return expf(a); }
FN double gsh_exp(double a) { return exp_of(a); }
FN float gsh_exp2(float a) { return exp2f(a); }
FN double gsh_exp2(double a) { return exp2(a); }
FN float gsh_expm1(float a) { return expm1f(a); }
FN double gsh_expm1(double a) { return expm1(a); }
FN float gsh_log(float a) { return logf(a); }
FN double gsh_log(double a) { return log_of(a); }
FN float gsh_log2(float a) { return log2f(a); }
FN double gsh_log2(double a) { return log2_of(a); }
FN float gsh_log10(float a) { return log10f(a); }
FN double gsh_log10(double a) { return log10_of(a); }
FN float gsh_log1p(float a) { return log1pf(a); }
FN double gsh_log1p(double a) { return log1p_of(a); }
FN float gsh_sin(float a) { return sinf(a); }
FN double gsh_sin(double a) { return sin(a); }
FN float gsh_cos(float a) { return cosf(a); }
FN double gsh_cos(double a) { return cos(a); }
FN float gsh_tan(float a) { return tanf(a); }
FN double gsh_tan(double a) { return tan(a); }
FN float gsh_arcsin(float a) { return asinf(a); }
FN double gsh_arcsin(double a) { return asin(a); }
FN float gsh_arccos(float a) { return acosf(a); }
FN double gsh_arccos(double a) { return acos(a); }
FN float gsh_arctan(float a) { return atanf(a); }
FN double gsh_arctan(double a) { return atan(a); }
FN float gsh_sinh(float a) { return sinhf(a); }
FN double gsh_sinh(double a) { return sinh(a); }
FN float gsh_cosh(float a) { return coshf(a); }
FN double gsh_cosh(double a) { return cosh(a); }
FN float gsh_tanh(float a) { return tanhf(a); }
FN double gsh_tanh(double a) { return tanh(a); }
FN float gsh_arcsinh(float a) { return asinhf(a); }
FN double gsh_arcsinh(double a) { return asinh(a); }
FN float gsh_arccosh(float a) { return acoshf(a); }
FN double gsh_arccosh(double a) { return acosh(a); }
FN float gsh_arctanh(float a) { return atanhf(a); }
FN double gsh_arctanh(double a) { return atanh(a); }
FN float gsh_arctan2(float a, float b) { return atan2f(a, b); }
FN double gsh_arctan2(double a, double b) { return atan2(a, b); }
template <class F> FN F gsh_logaddexp(F a, F b)
{
    const F difference = a - b, size = fabs(difference);
    if (a == b) // infinities too
        return a + (F)0.693147180559945309417232121458176568;
    return difference != difference ? difference : (difference > 0 ? a : b) + log1p(exp(-size));
}
template <class F> FN F gsh_logaddexp2(F a, F b)
{
    const F difference = a - b, size = fabs(difference);
    if (a == b)
        return a + 1;
    return difference != difference ? difference : (difference > 0 ? a : b) + (F)1.442695040888963407359924681001892137 * log1p(exp2(-size));
}
