// SPDX-License-Identifier: Apache-2.0
//
// Incomplete elliptic integrals, and the mean that they are computed by. See special_base.cuh. Of a negative parameter they are
// B. C. Carlson's symmetric integrals (arXiv math/9409227).
//
SPECIAL_INLINE double special_farthest(double mean, double x, double y, double z)
{
    return fmax(fabs(mean - x), fmax(fabs(mean - y), fabs(mean - z)));
}
// The series of R_F about its mean.
SPECIAL_INLINE double special_carlson_f(double x, double y, double z)
{
    const double e2 = x * y - z * z, e3 = x * y * z;
    return 1.0 - e2 / 10.0 + e3 / 14.0 + e2 * e2 / 24.0 - 3.0 * e2 * e3 / 44.0;
}
SPECIAL double special_ellipk_negative(double phi, double m)
{
    const double product = (m * phi) * phi;
    if (-product < 1e-6 && phi < -m)
        return phi + (-product * phi * phi / 30.0 + 3.0 * product * product / 40.0 + product / 6.0) * phi;
    if (-product > 4e7) {
        const double root = sqrt(-m), sine = sin(phi), cosine = cos(phi);
        const double a = log(4.0 * sine * root / (1.0 + cosine));
        const double b = -(1.0 + cosine / sine / sine - a) / 4.0 / m;
        return (a + b) / root;
    }
    double x = 1.0, y = 1.0 - m * phi * phi, z = 1.0, scale = phi;
    if (phi > 1e-153 && m > -1e305) {
        const double sine = sin(phi), tangent = tan(phi);
        z = 1.0 / (sine * sine);
        x = 1.0 / (tangent * tangent);
        y = z - m;
        scale = 1.0;
    }
    if (x == y && x == z)
        return scale / sqrt(x);
    const double start = (x + y + z) / 3.0;
    double mean = start, far = 400.0 * special_farthest(start, x, y, z), x1 = x, y1 = y, z1 = z;
    int n = 0;
    while (far > fabs(mean) && n <= 100) {
        const double sx = sqrt(x1), sy = sqrt(y1), sz = sqrt(z1), lambda = sx * sy + sx * sz + sy * sz;
        x1 = (x1 + lambda) / 4.0;
        y1 = (y1 + lambda) / 4.0;
        z1 = (z1 + lambda) / 4.0;
        mean = (x1 + y1 + z1) / 3.0;
        n += 1;
        far /= 4.0;
    }
    const double power = ldexp(1.0, 2 * n);
    const double x2 = (start - x) / mean / power, y2 = (start - y) / mean / power;
    return scale * special_carlson_f(x2, y2, -(x2 + y2)) / sqrt(mean);
}
SPECIAL double special_ellipe_negative(double phi, double m)
{
    const double product = (m * phi) * phi;
    if (-product < 1e-6 && phi < -m)
        return phi + (product * phi * phi / 30.0 - product * product / 40.0 - product / 6.0) * phi;
    if (-product > 1e6) {
        const double root = sqrt(-m), sine = sin(phi), cosine = cos(phi);
        const double a = -gsh_special_cosm1(phi), b = log(4.0 * sine * root / (1.0 + cosine));
        return (a + -(0.5 + b) / 2.0 / m + (0.75 + cosine / sine / sine - b) / 16.0 / m / m) * root;
    }
    double x = 1.0, y = 1.0 - product, z = 1.0, scale = phi, scale_d = product * phi / 3.0;
    if (phi > 1e-153 && m > -1e200) {
        const double sine = sin(phi), tangent = tan(phi);
        z = 1.0 / sine / sine;
        x = 1.0 / tangent / tangent;
        y = z - m;
        scale = 1.0;
        scale_d = m / 3.0;
    }
    if (x == y && x == z)
        return (scale + scale_d / x) / sqrt(x);
    const double start = (x + y + z) / 3.0, start_d = (x + y + 3.0 * z) / 5.0;
    double mean = start, mean_d = start_d, far = 400.0 * special_farthest(start, x, y, z);
    double x1 = x, y1 = y, z1 = z, sum = 0.0, share = 1.0;
    int n = 0;
    while (far > fabs(mean) && far > fabs(mean_d) && n <= 100) {
        const double sx = sqrt(x1), sy = sqrt(y1), sz = sqrt(z1), lambda = sx * sy + sx * sz + sy * sz;
        sum += share / (sz * (z1 + lambda));
        x1 = (x1 + lambda) / 4.0;
        y1 = (y1 + lambda) / 4.0;
        z1 = (z1 + lambda) / 4.0;
        mean = (x1 + y1 + z1) / 3.0;
        mean_d = (mean_d + lambda) / 4.0;
        n += 1;
        far /= 4.0;
        share /= 4.0;
    }
    const double power = ldexp(1.0, 2 * n);
    const double xf = (start - x) / mean / power, yf = (start - y) / mean / power;
    const double xd = (start_d - x) / mean_d / power, yd = (start_d - y) / mean_d / power, zd = -(xd + yd) / 3.0;
    const double e2 = xd * yd - 6.0 * zd * zd, e3 = (3.0 * xd * yd - 8.0 * zd * zd) * zd;
    const double e4 = 3.0 * (xd * yd - zd * zd) * zd * zd, e5 = xd * yd * zd * zd * zd;
    double result = scale * special_carlson_f(xf, yf, -(xf + yf)) / sqrt(mean);
    result -= scale_d *
              (1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0 - 3.0 * e4 / 22.0 - 9.0 * e2 * e3 / 52.0 +
               3.0 * e5 / 26.0) /
              power / mean_d / sqrt(mean_d);
    result -= 3.0 * scale_d * sum;
    return result;
}
// F(phi, m), 0 < m < 1, by means of 1 and sqrt(1 - m); and the sum that E differs by.
struct special_descent {
    double first, sines;
};
SPECIAL struct special_descent special_descend(double phi, double m)
{
    const double pi = 3.14159265358979323846, least = 1.1102230246251565404236316680908203125E-16;
    double a = 1.0, b = sqrt(1.0 - m), c = sqrt(m), t = tan(phi);
    int turns = 0, doubled = 1;
    struct special_descent result = {0.0, 0.0};
    while (fabs(c / a) > least) {
        const double ratio = b / a;
        phi = phi + atan(t * ratio) + turns * pi;
        const double under = 1.0 - ratio * t * t;
        if (fabs(under) > 10.0 * least) {
            t = t * (1.0 + ratio) / under;
            turns = (int)((phi + 1.57079632679489661923) / pi);
        } else {
            t = tan(phi);
            turns = (int)floor((phi - atan(t)) / pi);
        }
        c = (a - b) / 2.0;
        const double root = sqrt(a * b);
        a = (a + b) / 2.0;
        b = root;
        doubled += doubled;
        result.sines += c * sin(phi);
    }
    result.first = (atan(t) + turns * pi) / (doubled * a);
    return result;
}
// An angle as a number of quarter turns, an even one, and what is left, and its sign.
struct special_angle {
    double quarters, rest, sign;
};
SPECIAL_INLINE struct special_angle special_split_angle(double phi)
{
    const double quarter = 1.57079632679489661923;
    struct special_angle angle = {floor(phi / quarter), phi, 1.0};
    if (fmod(fabs(angle.quarters), 2.0) == 1.0)
        angle.quarters += 1.0;
    angle.rest = phi - angle.quarters * quarter;
    if (angle.rest < 0.0) {
        angle.rest = -angle.rest;
        angle.sign = -1.0;
    }
    return angle;
}
// The tangent of the amplitude that makes up a quarter of the period with phi, where phi is near a quarter turn; else no number.
SPECIAL_INLINE double special_complement(double phi, double m)
{
    const double tangent = tan(phi), other = 1.0 / (sqrt(1.0 - m) * tangent);
    return fabs(tangent) > 10.0 && fabs(other) < 10.0 ? other : SPECIAL_NAN;
}
SPECIAL double gsh_special_ellipkinc(double phi, double m)
{
    const bool is_far = fabs(phi) == SPECIAL_INF, is_steep = fabs(m) == SPECIAL_INF;
    if (!(phi == phi && m <= 1.0) || (is_far && is_steep))
        return SPECIAL_NAN;
    if (is_far || is_steep)
        return is_far ? phi : 0.0;
    if (m == 0.0)
        return phi;
    if (1.0 - m == 0.0)
        return fabs(phi) >= 1.57079632679489661923 ? SPECIAL_INF : asinh(tan(phi));
    const struct special_angle angle = special_split_angle(phi);
    const double whole = gsh_special_ellipkm1(1.0 - m);
    double part;
    if (1.0 - m > 1.0)
        part = special_ellipk_negative(phi == 0.0 ? phi : angle.rest, m);
    else {
        const double other = special_complement(angle.rest, m);
        if (other == other) {
            const double rest = atan(other), size = special_descend(fabs(rest), m).first;
            part = whole - (rest < 0.0 ? -size : size);
        } else
            part = special_descend(angle.rest, m).first;
    }
    if (angle.sign < 0.0)
        part = -part;
    return part + angle.quarters * whole;
}
// E(phi, m), 0 < m < 1, 0 <= phi; of a phi whose complement is not asked for.
SPECIAL double special_ellipe_part(double phi, double m, double whole)
{
    if (phi < 0.135) {
        const double m11 =
            (((((-7.0 / 2816.0) * m + (5.0 / 1056.0)) * m - (7.0 / 2640.0)) * m + (17.0 / 41580.0)) * m - (1.0 / 155925.0)) * m;
        const double m9 = ((((-5.0 / 1152.0) * m + (1.0 / 144.0)) * m - (1.0 / 360.0)) * m + (1.0 / 5670.0)) * m;
        const double m7 = ((-m / 112.0 + (1.0 / 84.0)) * m - (1.0 / 315.0)) * m, m5 = (-m / 40.0 + (1.0 / 30.0)) * m;
        const double square = phi * phi;
        return ((((m11 * square + m9) * square + m7) * square + m5) * square + -m / 6.0) * square * phi + phi;
    }
    const struct special_descent descent = special_descend(phi, m);
    return whole / gsh_special_ellipkm1(1.0 - m) * descent.first + descent.sines;
}
SPECIAL double gsh_special_ellipeinc(double phi, double m)
{
    if (!(phi == phi && m <= 1.0))
        return SPECIAL_NAN;
    if (fabs(phi) == SPECIAL_INF || m == 0.0)
        return phi;
    if (fabs(m) == SPECIAL_INF)
        return -m;
    const struct special_angle angle = special_split_angle(phi);
    const double whole = gsh_special_ellipe(m);
    double part;
    if (1.0 - m == 0.0)
        part = sin(angle.rest);
    else if (1.0 - m > 1.0)
        part = special_ellipe_negative(angle.rest, m);
    else {
        const double other = angle.rest < 0.135 ? SPECIAL_NAN : special_complement(angle.rest, m);
        if (other == other) {
            const double rest = atan(other), size = special_ellipe_part(fabs(rest), m, whole);
            part = whole + m * sin(angle.rest) * sin(rest) - (rest < 0.0 ? -size : size);
        } else
            part = special_ellipe_part(angle.rest, m, whole);
    }
    if (angle.sign < 0.0)
        part = -part;
    return part + angle.quarters * whole;
}
// The arithmetic-geometric mean.
SPECIAL double gsh_special_agm(double a, double b)
{
    const double large = 9.480751908109176e+153, small = 1.0547686614863e-154;
    if (!(a == a && b == b) || (a < 0.0 && b > 0.0) || (a > 0.0 && b < 0.0))
        return SPECIAL_NAN;
    if (a == 0.0 || b == 0.0)
        return fabs(a) == SPECIAL_INF || fabs(b) == SPECIAL_INF ? SPECIAL_NAN : 0.0;
    if (a == b)
        return a;
    const double sign = a < 0.0 ? -1.0 : 1.0;
    a = fabs(a);
    b = fabs(b);
    if (small < a && a < large && small < b && b < large)
        return sign * 0.78539816339744830962 * (a + b) / gsh_special_ellipkm1(4.0 * a * b / ((a + b) * (a + b)));
    double mean = 0.5 * a + 0.5 * b;
    for (int count = 20; count > 0 && mean != a && mean != b; count--) {
        const double root = sqrt(a) * sqrt(b);
        a = mean;
        b = root;
        mean = 0.5 * a + 0.5 * b;
    }
    return sign * mean;
}
