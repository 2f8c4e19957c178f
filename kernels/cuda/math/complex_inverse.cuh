// SPDX-License-Identifier: Apache-2.0
//
// Complex inverse trigonometric and hyperbolic functions, after Hull, Fairgrieve and Tang 1997: both parts for a
// number of the first quadrant, from which all six functions are derived. Special values are those of C99, annex G;
// complex64 is computed in double.
#define NARROW(name) FN c64 name(c64 z) { return Cast<c64>::of(name(Cast<c128>::of(z))); }
constexpr double half_pi = 1.57079632679489661923132169163975144;

struct Arcs { double sine, cosine, imaginary; }; // of arcsin and arccos: real parts, common imaginary part

// x, y finite, not negative, not large.
FN Arcs ordinary_arcs(double x, double y)
{
    const double r = length_of(x + 1, y), s = length_of(x - 1, y), a = (r + s) / 2, b = x / a;
    Arcs arcs;
    if (b <= 0.6417) {
        arcs.sine = asin(b);
        arcs.cosine = acos(b);
    } else {
        const double apx = a + x;
        const double side = x <= 1 ? sqrt(apx / 2 * (y * y / (r + x + 1) + (s + (1 - x))))
                                   : y * sqrt((apx / (r + x + 1) + apx / (s + (x - 1))) / 2);
        arcs.sine = atan(x / side);
        arcs.cosine = atan(side / x);
    }
    const double above = (y * y / (r + x + 1) + (x < 1 ? y * y / (s + (1 - x)) : s + (x - 1))) / 2; // a - 1
    arcs.imaginary = a <= 1.5 ? log1p(above + sqrt(above * (a + 1))) : log(a + sqrt(a * a - 1));
    return arcs;
}
FN Arcs arcs_of(double x, double y)
{
    if (x > 1e150 || y > 1e150) // infinities too
        return {atan2(x, y), atan2(y, x), log(length_of(x / 4, y / 4)) + 2.07944154167983592825169636437452970};
    if (y < 0x1p-53 * fabs(x - 1) && x < 1)
        return {asin(x), acos(x), y / sqrt((1 - x) * (1 + x))};
    if (y < 0x1p-53 * fabs(x - 1))
        return {half_pi, y / sqrt((x - 1) * (x + 1)), log1p((x - 1) + sqrt((x - 1) * (x + 1)))};
    return ordinary_arcs(x, y);
}
FN c128 gsh_arcsinh(c128 z)
{
    if (z.re != z.re)
        return {gsh_isinf(z.im) ? INFINITE : z.re, z.im == 0 ? z.im : z.re};
    if (z.im != z.im)
        return {gsh_isinf(z.re) ? z.re : z.im, z.im};
    const Arcs arcs = arcs_of(fabs(z.im), fabs(z.re));
    return {copysign(arcs.imaginary, z.re), copysign(arcs.sine, z.im)};
}
FN c128 gsh_arccos(c128 z)
{
    if (z.re != z.re)
        return {z.re, gsh_isinf(z.im) ? -z.im : z.re};
    if (z.im != z.im)
        return {z.re == 0 ? half_pi : z.im, gsh_isinf(z.re) ? z.re : z.im};
    const Arcs arcs = arcs_of(fabs(z.re), fabs(z.im));
    return {signbit(z.re) ? 2 * half_pi - arcs.cosine : arcs.cosine, copysign(arcs.imaginary, -z.im)};
}
FN c128 gsh_arccosh(c128 z)
{
    const c128 w = gsh_arccos(z);
    if (w.re != w.re || w.im != w.im) // with a NaN the parts have other roles
        return {fabs(w.im), z.re == 0 && z.im != z.im ? half_pi : w.re};
    return {fabs(w.im), copysign(w.re, z.im)};
}
// Real and imaginary part of arctanh for a number of the first quadrant.
FN c128 first_arctanh(double x, double y)
{
    if (x > 1e150 || y > 1e150) {
        const double part = gsh_isinf(x) || gsh_isinf(y) || x == 0 ? 0 : 1 / (x + y * (y / x));
        return {part, half_pi};
    }
    if (x == 1 && y < 1e-150)
        return {y == 0 ? INFINITE : (0.693147180559945309417232121458176568 - log(y)) / 2, y == 0 ? 0 : half_pi / 2};
    const double side = (1 - x) * (1 - x) + y * y;
    return {log1p(4 * x / side) / 4, atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2};
}
FN c128 gsh_arctanh(c128 z)
{
    if (z.re != z.re)
        return {gsh_isinf(z.im) ? 0 : z.re, gsh_isinf(z.im) ? copysign(half_pi, z.im) : z.re};
    if (z.im != z.im)
        return {z.re == 0 || gsh_isinf(z.re) ? copysign(0.0, z.re) : z.im, z.im};
    const c128 w = first_arctanh(fabs(z.re), fabs(z.im));
    return {copysign(w.re, z.re), copysign(w.im, z.im)};
}
NARROW(gsh_arcsinh)
NARROW(gsh_arccos)
NARROW(gsh_arccosh)
NARROW(gsh_arctanh)
FN c128 turned_arcsin(c128 z)
{
    const c128 w = gsh_arcsinh(c128{-z.im, z.re});
    return {w.im, -w.re};
}
FN c128 turned_arctan(c128 z)
{
    const c128 w = gsh_arctanh(c128{-z.im, z.re});
    return {w.im, -w.re};
}
template <class F> FN Complex<F> gsh_arcsin(Complex<F> z) { return Cast<Complex<F>>::of(turned_arcsin(Cast<c128>::of(z))); }
template <class F> FN Complex<F> gsh_arctan(Complex<F> z) { return Cast<Complex<F>>::of(turned_arctan(Cast<c128>::of(z))); }
