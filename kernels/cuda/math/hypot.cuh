// SPDX-License-Identifier: Apache-2.0
//
// Lengths: within one ulp, without intermediate overflow or underflow.
// sqrt(a * a + b * b), corrected by its remainder (Borges 2019). Operands near the ends of the range are scaled.
FN double length_of(double a, double b)
{
    double x = fabs(a), y = fabs(b);
    if (gsh_isinf(x) || gsh_isinf(y))
        return INFINITE;
    if (x < y) {
        const double t = x;
        x = y;
        y = t;
    }
    if (x != x || y != y)
        return x + y;
    const double scale = x > 1e150 ? 0x1p-600 : x < 1e-150 ? 0x1p600 : 1;
    x *= scale;
    y *= scale;
    const double h = sqrt(fma(x, x, y * y)), hh = h * h, xx = x * x;
    const double excess = fma(-y, y, hh - xx) + fma(h, h, -hh) - fma(x, x, -xx);
    return h == 0 ? h : (h - excess / (2 * h)) / scale;
}
FN float length_of(float a, float b)
{
    const double x = a, y = b;
    return gsh_isinf(a) || gsh_isinf(b) ? INFINITE : (float)sqrt(x * x + y * y);
}
FN float gsh_hypot(float a, float b) { return length_of(a, b); }
FN double gsh_hypot(double a, double b) { return length_of(a, b); }
