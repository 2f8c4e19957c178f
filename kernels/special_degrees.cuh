// SPDX-License-Identifier: Apache-2.0
//
// Functions of angles in degrees, cube root, rounding. See special_base.cuh.
//
// The sine (is_cosine: cosine) of an angle of which y is the whole number of 45 degrees, even; z: the rest in radians.
SPECIAL_INLINE double special_wave_of_rest(double z, bool is_cosine)
{
    const double sine[] = {1.58962301572218447952E-10, -2.50507477628503540135E-8, 2.75573136213856773549E-6,
                           -1.98412698295895384658E-4, 8.33333333332211858862E-3, -1.66666666666666307295E-1};
    const double cosine[] = {1.13678171382044553091E-11, -2.08758833757683644217E-9, 2.75573155429816611547E-7,
                             -2.48015872936186303776E-5, 1.38888888888806666760E-3, -4.16666666666666348141E-2,
                             4.99999999999999999798E-1};
    const double square = z * z;
    return is_cosine ? 1.0 - square * special_polynomial(square, cosine)
                     : z + z * (square * special_polynomial(square, sine));
}
SPECIAL double special_wave_of_degrees(double x, bool is_cosine)
{
    const bool is_negative = x < 0.0;
    x = is_negative ? -x : x;
    if (!(x <= 1.0e14))
        return x != x ? x : 0.0;
    double parts = floor(x / 45.0);
    int octant = (int)(parts - ldexp(floor(ldexp(parts, -4)), 4));
    if ((octant & 1) != 0) {
        octant += 1;
        parts += 1.0;
    }
    octant &= 7;
    bool flips = is_cosine ? false : is_negative;
    if (octant > 3) {
        flips = !flips;
        octant -= 4;
    }
    flips = is_cosine && octant > 1 ? !flips : flips;
    const double rest = (x - parts * 45.0) * 1.745329251994329576923690768488612713443E-2;
    const double y = special_wave_of_rest(rest, (octant == 1 || octant == 2) != is_cosine);
    return flips ? -y : y;
}
SPECIAL_INLINE double gsh_special_sindg(double x)
{
    return special_wave_of_degrees(x, false);
}
SPECIAL_INLINE double gsh_special_cosdg(double x)
{
    return special_wave_of_degrees(x, true);
}
SPECIAL double special_tangent_of_degrees(double x, bool is_cotangent)
{
    double sign = x < 0.0 ? -1.0 : 1.0;
    x = x < 0.0 ? -x : x;
    if (!(x <= 1.0e14))
        return x != x ? x : 0.0;
    x = x - 180.0 * floor(x / 180.0);
    sign = x > 90.0 ? -sign : sign;
    if (is_cotangent)
        x = x <= 90.0 ? 90.0 - x : x - 90.0;
    else
        x = x > 90.0 ? 180.0 - x : x;
    if (x == 0.0)
        return 0.0;
    if (x == 45.0)
        return sign;
    return x == 90.0 ? SPECIAL_INF : sign * tan(x * 1.745329251994329576923690768488612713443E-2);
}
SPECIAL_INLINE double gsh_special_tandg(double x)
{
    return special_tangent_of_degrees(x, false);
}
SPECIAL_INLINE double gsh_special_cotdg(double x)
{
    return special_tangent_of_degrees(x, true);
}
SPECIAL_INLINE double gsh_special_radian(double degrees, double minutes, double seconds)
{
    return ((degrees * 60.0 + minutes) * 60.0 + seconds) * 4.848136811095359935899141023579479759563533023727e-6;
}
SPECIAL_INLINE double gsh_special_round(double x)
{
    const double below = floor(x), rest = x - below;
    if (rest == 0.5)
        return below + (below - 2.0 * floor(0.5 * below) == 1.0 ? 1.0 : 0.0);
    return rest > 0.5 ? below + 1.0 : below;
}
// Two steps of Newton's method from a polynomial of the significand.
SPECIAL double gsh_special_cbrt(double x)
{
    const double start[] = {-1.3466110473359520655053e-1, 5.4664601366395524503440e-1, -9.5438224771509446525043e-1,
                            1.1399983354697293273738e0, 4.0238979564544752126924e-1};
    const double size = fabs(x);
    int exponent = 0;
    if (x == 0.0 || !(size < SPECIAL_INF))
        return x;
    double root = special_polynomial(frexp(size, &exponent), start);
    const int rest = exponent % 3;
    if (rest == 1 || rest == 2)
        root *= rest == 1 ? 1.2599210498948731647672 : 1.5874010519681994747517;
    if (rest == -1 || rest == -2)
        root *= rest == -1 ? 0.79370052598409973737585 : 0.62996052494743658238361;
    root = ldexp(root, exponent / 3);
    root -= (root - (size / (root * root))) * 0.33333333333333333333;
    root -= (root - (size / (root * root))) * 0.33333333333333333333;
    return x < 0.0 ? -root : root;
}
