// SPDX-License-Identifier: Apache-2.0
//
// Complex exponential, logarithm, root and power, and NumPy's functions that derive from them. Special values are
// those of C99, annex G. complex64 is computed in double, except where NumPy rounds intermediate results.
#define NARROW(name) FN c64 name(c64 z) { return Cast<c64>::of(name(Cast<c128>::of(z))); }
constexpr double ln2 = 0.693147180559945309417232121458176568;

// e^x (cos y, sin y) for finite y, where e^x alone may overflow.
FN c128 polar_exp(double x, double y)
{
    double s, c;
    sincos(y, &s, &c);
    if (x > 700 && x < 2000) {
        const double e = exp(x - 600), most = 3.7730203009299398e260; // e^600
        return {e * c * most, e * s * most};
    }
    const double e = exp(x);
    return {e * c, e * s};
}
FN c128 gsh_exp(c128 z)
{
    if (z.im == 0)
        return {exp(z.re), z.im};
    if (gsh_isfinite(z.im))
        return polar_exp(z.re, z.im);
    if (gsh_isinf(z.re))
        return z.re < 0 ? c128{0, copysign(0.0, z.im)} : c128{z.re, z.im - z.im};
    return {z.im - z.im, z.im - z.im};
}
NARROW(gsh_exp)
FN c128 gsh_log(c128 z)
{
    const double x = fabs(z.re), y = fabs(z.im), m = fmax(x, y), n = fmin(x, y), angle = atan2(z.im, z.re);
    if (x != x || y != y || gsh_isinf(m) || m == 0)
        return {log(length_of(x, y)), angle};
    if (m > 0.5 && m < 2 && n < 2) // near 1 the logarithm is small
        return {log1p((m - 1) * (m + 1) + n * n) / 2, angle};
    if (m > 1e300)
        return {log(length_of(x / 2, y / 2)) + ln2, angle};
    if (m < 1e-290)
        return {log(length_of(x * 0x1p108, y * 0x1p108)) - 108 * ln2, angle};
    return {log(length_of(x, y)), angle};
}
NARROW(gsh_log)
FN c128 gsh_sqrt(c128 z)
{
    if (z.re == 0 && z.im == 0)
        return {0, z.im};
    if (gsh_isinf(z.im))
        return {INFINITE, z.im};
    if (gsh_isinf(z.re) && z.re > 0)
        return {z.re, z.im != z.im ? z.im : copysign(0.0, z.im)};
    if (gsh_isinf(z.re))
        return z.im != z.im ? c128{z.im, z.re} : c128{0, copysign((double)INFINITE, z.im)};
    const double m = fmax(fabs(z.re), fabs(z.im));
    const double up = m > 1e300 ? 0x1p-4 : m < 1e-290 ? 0x1p108 : 1, down = m > 1e300 ? 4 : m < 1e-290 ? 0x1p-54 : 1;
    const double x = z.re * up, y = z.im * up;
    const double t = sqrt((fabs(x) + length_of(x, y)) / 2);
    return x >= 0 ? c128{t * down, y / (2 * t) * down} : c128{fabs(y) / (2 * t) * down, copysign(t * down, y)};
}
NARROW(gsh_sqrt)

template <class F> FN Complex<F> scaled(Complex<F> z, F by) { return {z.re * by, z.im * by}; }
template <class F> FN Complex<F> gsh_exp2(Complex<F> z) { return gsh_exp(scaled(z, (F)ln2)); }
template <class F> FN Complex<F> gsh_log2(Complex<F> z) { return scaled(gsh_log(z), (F)1.442695040888963407359924681001892137); }
template <class F> FN Complex<F> gsh_log10(Complex<F> z) { return scaled(gsh_log(z), (F)0.434294481903251827651128918916605082); }
template <class F> FN Complex<F> gsh_log1p(Complex<F> z)
{
    const F x = z.re + 1;
    return {log(length_of(x, z.im)), atan2(z.im, x)};
}
template <class F> FN Complex<F> gsh_expm1(Complex<F> z)
{
    const F half = sin(z.im / 2);
    return {expm1(z.re) * cos(z.im) - 2 * half * half, exp(z.re) * sin(z.im)};
}

// z to the whole power n, 0 < |n| < 100.
template <class F> FN Complex<F> whole_power(Complex<F> z, int n)
{
    if (n == 1)
        return z;
    if (n == 2)
        return times_unfused(z, z);
    if (n == 3)
        return times_unfused(z, times_unfused(z, z));
    Complex<F> result = {1, 0};
    for (int left = n < 0 ? -n : n; left != 0; left >>= 1) {
        if (left & 1)
            result = times_unfused(result, z);
        if (left > 1)
            z = times_unfused(z, z);
    }
    return n < 0 ? gsh_over(Complex<F>{1, 0}, result) : result;
}
// For C99's product (annex G): an infinity times a nonzero number stays infinite.
template <class F> FN bool box_infinities(Complex<F> &a, Complex<F> &b)
{
    if (!gsh_isinf(a))
        return false;
    a = {copysign((F)gsh_isinf(a.re), a.re), copysign((F)gsh_isinf(a.im), a.im)};
    b = {b.re != b.re ? copysign((F)0, b.re) : b.re, b.im != b.im ? copysign((F)0, b.im) : b.im};
    return true;
}
template <class F> FN Complex<F> times_in_c(Complex<F> a, Complex<F> b)
{
    const Complex<F> r = times_unfused(a, b);
    if (r.re == r.re || r.im == r.im)
        return r;
    const bool overflows = gsh_isinf(a.re * b.re) || gsh_isinf(a.im * b.im) || gsh_isinf(a.re * b.im) || gsh_isinf(a.im * b.re);
    const bool first = box_infinities(a, b), second = box_infinities(b, a);
    if (!first && !second && !overflows)
        return r;
    if (!first && !second) {
        a = {a.re != a.re ? copysign((F)0, a.re) : a.re, a.im != a.im ? copysign((F)0, a.im) : a.im};
        b = {b.re != b.re ? copysign((F)0, b.re) : b.re, b.im != b.im ? copysign((F)0, b.im) : b.im};
    }
    return scaled(times_unfused(a, b), (F)INFINITE);
}
template <class F> FN Complex<F> gsh_power(Complex<F> a, Complex<F> b)
{
    const F nan = of_bits(Bits<F>::infinite | Bits<F>::quiet);
    if (b.re == 0 && b.im == 0)
        return {1, 0};
    if (a.re == 0 && a.im == 0)
        return b.re > 0 ? Complex<F>{0, 0} : Complex<F>{nan, nan};
    if (b.im == 0 && fabs(b.re) < 100 && (F)(int)b.re == b.re)
        return whole_power(a, (int)b.re);
    return gsh_exp(times_in_c(b, gsh_log(a))); // rounded where NumPy rounds
}
