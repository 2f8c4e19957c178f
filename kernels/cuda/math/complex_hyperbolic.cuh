// SPDX-License-Identifier: Apache-2.0
//
// Complex trigonometric and hyperbolic functions. Special values are those of C99, annex G;
// complex64 is computed in double.
#define NARROW(name) FN c64 name(c64 z) { return Cast<c64>::of(name(Cast<c128>::of(z))); }

// (sinh x cos y, cosh x sin y) and (cosh x cos y, sinh x sin y) for finite y; sinh and cosh alone may
// overflow.
FN void hyperbolic(double x, double y, c128 &sinh_z, c128 &cosh_z)
{
    double s, c, most = 1, sh, ch;
    sincos(y, &s, &c);
    if (fabs(x) > 700 && fabs(x) < 2000) {
        ch = exp(fabs(x) - 600) / 2;
        sh = copysign(ch, x);
        most = 3.7730203009299398e260; // e^600
    } else {
        sh = sinh(x);
        ch = cosh(x);
    }
    sinh_z = {sh * c * most, ch * s * most};
    cosh_z = {ch * c * most, sh * s * most};
}
FN c128 gsh_sinh(c128 z)
{
    c128 sinh_z, cosh_z;
    if (z.im == 0)
        return {sinh(z.re), z.im};
    if (!gsh_isfinite(z.im))
        return {z.re == 0 ? z.re : gsh_isinf(z.re) ? fabs(z.re) : z.im - z.im, z.im - z.im};
    hyperbolic(z.re, z.im, sinh_z, cosh_z);
    return sinh_z;
}
FN c128 gsh_cosh(c128 z)
{
    c128 sinh_z, cosh_z;
    if (z.im == 0)
        return {cosh(z.re), z.re != z.re ? z.im : z.im * copysign(1.0, z.re)};
    if (!gsh_isfinite(z.im))
        return {gsh_isinf(z.re) ? fabs(z.re) : z.im - z.im, z.re == 0 ? z.re : z.im - z.im};
    hyperbolic(z.re, z.im, sinh_z, cosh_z);
    return cosh_z;
}
// Kahan 1987.
FN c128 gsh_tanh(c128 z)
{
    const double x = z.re, y = z.im;
    if (gsh_isinf(x) || (gsh_isfinite(y) && fabs(x) > 22)) {
        const double im = gsh_isfinite(y) ? 4 * sin(y) * cos(y) * exp(-2 * fabs(x)) : copysign(0.0, y);
        return {copysign(1.0, x), im};
    }
    if (!gsh_isfinite(y) || x != x)
        return {x == 0 ? x : y - y + x, y == 0 ? y : y - y + x};
    const double t = tan(y), s = sinh(x), beta = 1 + t * t, divisor = 1 + beta * s * s;
    return {beta * sqrt(1 + s * s) * s / divisor, t / divisor};
}
NARROW(gsh_sinh)
NARROW(gsh_cosh)
NARROW(gsh_tanh)
FN c128 turned_sin(c128 z)
{
    const c128 w = gsh_sinh(c128{-z.im, z.re});
    return {w.im, gsh_isfinite(z.re) || z.im == 0 ? -w.re : w.re};
}
FN c128 turned_tan(c128 z)
{
    const c128 w = gsh_tanh(c128{-z.im, z.re});
    return {w.im, -w.re};
}
template <class F> FN Complex<F> gsh_sin(Complex<F> z) { return Cast<Complex<F>>::of(turned_sin(Cast<c128>::of(z))); }
template <class F> FN Complex<F> gsh_cos(Complex<F> z) { return gsh_cosh(Complex<F>{-z.im, z.re}); }
template <class F> FN Complex<F> gsh_tan(Complex<F> z) { return Cast<Complex<F>>::of(turned_tan(Cast<c128>::of(z))); }
