// SPDX-License-Identifier: Apache-2.0
//
// Complex arithmetic. Comparisons are lexicographic; a number with a NaN part is a NaN.
template <class F> struct Complex { F re, im; };
typedef Complex<float> c64;
typedef Complex<double> c128;

template <class F> FN Complex<F> gsh_plus(Complex<F> a, Complex<F> b) { return {a.re + b.re, a.im + b.im}; }
template <class F> FN Complex<F> gsh_minus(Complex<F> a, Complex<F> b) { return {a.re - b.re, a.im - b.im}; }
// Fused, as in NumPy's vector loops.
template <class F> FN Complex<F> gsh_times(Complex<F> a, Complex<F> b)
{
    return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}
template <class F> FN Complex<F> times_unfused(Complex<F> a, Complex<F> b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// Smith's division.
template <class F> FN Complex<F> gsh_over(Complex<F> a, Complex<F> b)
{
    if (fabs(b.re) >= fabs(b.im)) {
        if (b.re == 0 && b.im == 0)
            return {a.re / fabs(b.re), a.im / fabs(b.im)};
        const F ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
        return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const F ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}
template <class F> FN Complex<F> gsh_reciprocal(Complex<F> a)
{
    if (fabs(a.im) <= fabs(a.re)) {
        const F ratio = a.im / a.re, d = a.re + a.im * ratio;
        return {1 / d, -ratio / d};
    }
    const F ratio = a.re / a.im, d = a.re * ratio + a.im;
    return {ratio / d, -1 / d};
}
template <class F> FN Complex<F> gsh_negate(Complex<F> a) { return {gsh_negate(a.re), gsh_negate(a.im)}; }
template <class F> FN Complex<F> gsh_conjugate(Complex<F> a) { return {a.re, gsh_negate(a.im)}; }
template <class F> FN Complex<F> gsh_rint(Complex<F> a) { return {rint(a.re), rint(a.im)}; }
template <class F> FN bool gsh_isnan(Complex<F> a) { return a.re != a.re || a.im != a.im; }
template <class F> FN bool gsh_isinf(Complex<F> a) { return gsh_isinf(a.re) || gsh_isinf(a.im); }
template <class F> FN bool gsh_isfinite(Complex<F> a) { return gsh_isfinite(a.re) && gsh_isfinite(a.im); }
template <class F> FN bool gsh_equal(Complex<F> a, Complex<F> b) { return a.re == b.re && a.im == b.im; }
template <class F> FN bool gsh_not_equal(Complex<F> a, Complex<F> b) { return a.re != b.re || a.im != b.im; }
template <class F> FN bool gsh_less(Complex<F> a, Complex<F> b)
{
    return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im < b.im);
}
template <class F> FN bool gsh_less_equal(Complex<F> a, Complex<F> b)
{
    return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im <= b.im);
}
template <class F> FN bool gsh_greater(Complex<F> a, Complex<F> b) { return gsh_less(b, a); }
template <class F> FN bool gsh_greater_equal(Complex<F> a, Complex<F> b) { return gsh_less_equal(b, a); }
template <class F> FN Complex<F> gsh_maximum(Complex<F> a, Complex<F> b, bool) { return gsh_isnan(a) || gsh_less_equal(b, a) ? a : b; }
template <class F> FN Complex<F> gsh_minimum(Complex<F> a, Complex<F> b, bool) { return gsh_isnan(a) || gsh_less_equal(a, b) ? a : b; }
template <class F> FN Complex<F> gsh_fmax(Complex<F> a, Complex<F> b, bool) { return gsh_isnan(b) || gsh_less_equal(b, a) ? a : b; }
template <class F> FN Complex<F> gsh_fmin(Complex<F> a, Complex<F> b, bool) { return gsh_isnan(b) || gsh_less_equal(a, b) ? a : b; }
template <class F> FN bool before(Complex<F> a, Complex<F> b) { return a.re == b.re ? a.im < b.im : a.re < b.re; }
template <class F> FN Complex<F> gsh_clip(Complex<F> x, Complex<F> low, Complex<F> high, bool)
{
    const Complex<F> y = gsh_isnan(x) || before(low, x) ? x : low;
    return gsh_isnan(y) || before(y, high) ? y : high;
}
template <class F> FN Complex<F> gsh_ramp(Complex<F> a, Complex<F> b, i64 i)
{
    return {a.re + (F)i * (b.re - a.re), a.im + (F)i * (b.im - a.im)};
}
