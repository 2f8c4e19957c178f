// SPDX-License-Identifier: Apache-2.0
//
// The beta function and its kin. See special_base.cuh.
//
// The sign of gamma(x) as SciPy takes it with log |gamma(x)|: 1 at a pole.
SPECIAL_INLINE double special_gamma_sign(double x)
{
    if (!(x < 0.0) || x == -SPECIAL_INF)
        return 1.0;
    const double whole = floor(-x);
    return whole == -x || special_is_odd(whole) ? 1.0 : -1.0;
}
SPECIAL_INLINE bool special_is_int(double x)
{
    return x == trunc(x) && x >= -2147483648.0 && x <= 2147483647.0;
}
// B(a, b), or the logarithm of its magnitude, where neither is a pole of gamma.
SPECIAL double special_beta_inside(double a, double b, double sign, bool is_log)
{
    const double most = 171.624376956302725, apart = 1e6;
    if (fabs(a) < fabs(b)) {
        const double other = a;
        a = b;
        b = other;
    }
    const double sum = a + b;
    double size;
    if (fabs(a) > apart * fabs(b) && a > apart) {
        size = gsh_special_gammaln(b) - b * log(a);
        size += b * (1.0 - b) / (2.0 * a);
        size += b * (1.0 - b) * (1.0 - 2.0 * b) / (12.0 * a * a);
        size += -b * b * (1.0 - b) * (1.0 - b) / (12.0 * a * a * a);
        sign *= special_gamma_sign(b);
        return is_log ? size : sign * exp(size);
    }
    if (fabs(sum) > most || fabs(a) > most || fabs(b) > most) {
        size = gsh_special_gammaln(a) + (gsh_special_gammaln(b) - gsh_special_gammaln(sum));
        sign *= special_gamma_sign(sum) * special_gamma_sign(b) * special_gamma_sign(a);
        if (is_log)
            return size;
        return size > 7.09782712893383973096E2 ? sign * SPECIAL_INF : sign * exp(size);
    }
    const double under = gsh_special_rgamma(sum), first = gsh_special_gamma(a), second = gsh_special_gamma(b);
    if (fabs(under) == SPECIAL_INF)
        return is_log ? SPECIAL_INF : sign * SPECIAL_INF;
    const bool is_first_far = fabs(fabs(first * under) - 1.0) > fabs(fabs(second * under) - 1.0);
    const double product = is_first_far ? second * under * first : first * under * second;
    return is_log ? log(fabs(product)) : sign * product;
}
SPECIAL double special_beta(double a, double b, bool is_log)
{
    const bool is_first = a <= 0.0 && a == floor(a);
    if (!is_first && !(b <= 0.0 && b == floor(b)))
        return special_beta_inside(a, b, 1.0, is_log);
    const double pole = is_first ? a : b, other = is_first ? b : a;
    if (!special_is_int(pole) || pole <= -2147483647.0 || !special_is_int(other) || !(1.0 - pole - other > 0.0))
        return SPECIAL_INF;
    const double sign = fmod(other, 2.0) == 0.0 ? 1.0 : -1.0;
    if (other <= 0.0)
        return is_log ? SPECIAL_INF : sign * SPECIAL_INF;
    return special_beta_inside(1.0 - pole - other, other, sign, is_log);
}
SPECIAL_INLINE double gsh_special_beta(double a, double b)
{
    return special_beta(a, b, false);
}
SPECIAL_INLINE double gsh_special_betaln(double a, double b)
{
    return special_beta(a, b, true);
}
// The number of choices of k among n where k is far above n.
SPECIAL_INLINE double special_binom_beyond(double n, double k)
{
    const double pi = 3.14159265358979323846, of_n = gsh_special_gamma(1.0 + n), whole = floor(k);
    const double scale = (of_n / fabs(k) + of_n * n / (2.0 * k * k)) / (pi * pow(fabs(k), n));
    if (!special_is_int(whole))
        return scale * sin((k - n) * pi);
    return scale * sin((k - whole - n) * pi) * (fmod(whole, 2.0) == 0.0 ? 1.0 : -1.0);
}
SPECIAL double gsh_special_binom(double n, double k)
{
    const double whole = floor(n);
    if (n < 0.0 && n == whole)
        return SPECIAL_NAN;
    double count = floor(k);
    if (k == count && (fabs(n) > 1E-8 || n == 0.0)) {
        if (whole == n && count > whole / 2.0 && whole > 0.0)
            count = whole - count;
        if (count >= 0.0 && count < 20.0) {
            double over = 1.0, under = 1.0;
            for (int i = 1; i <= (int)count; i++) {
                over *= i + n - count;
                under *= i;
                if (fabs(over) > 1E50) {
                    over /= under;
                    under = 1.0;
                }
            }
            return over / under;
        }
    }
    if (n >= 1E10 * k && k > 0.0)
        return exp(-special_beta(1.0 + n - k, 1.0 + k, true) - log(n + 1.0));
    if (k > 1E8 * fabs(n))
        return special_binom_beyond(n, k);
    return 1.0 / (n + 1.0) / special_beta(1.0 + n - k, 1.0 + k, false);
}
SPECIAL_INLINE bool special_is_pole(double x)
{
    return x <= 0.0 && x == ceil(x) && fabs(x) < 1e13;
}
// gamma(a + m) / gamma(a).
SPECIAL double gsh_special_poch(double a, double m)
{
    double product = 1.0;
    while (m >= 1.0 && a + m != 1.0) {
        m -= 1.0;
        product *= a + m;
        if (!(fabs(product) < SPECIAL_INF) || product == 0.0)
            break;
    }
    while (m <= -1.0 && a + m != 0.0) {
        product /= a + m;
        m += 1.0;
        if (!(fabs(product) < SPECIAL_INF) || product == 0.0)
            break;
    }
    if (m == 0.0)
        return product;
    if (a > 1e4 && fabs(m) <= 1.0)
        return product * pow(a, m) *
               (1.0 + m * (m - 1.0) / (2.0 * a) + m * (m - 1.0) * (m - 2.0) * (3.0 * m - 1.0) / (24.0 * a * a) +
                m * m * (m - 1.0) * (m - 1.0) * (m - 2.0) * (m - 3.0) / (48.0 * a * a * a));
    const bool is_over_pole = special_is_pole(a + m), is_under_pole = special_is_pole(a);
    if (is_over_pole && !is_under_pole && a + m != m)
        return SPECIAL_INF;
    if (!is_over_pole && is_under_pole)
        return 0.0;
    return product * exp(gsh_special_gammaln(a + m) - gsh_special_gammaln(a)) * gsh_special_gammasgn(a + m) *
           gsh_special_gammasgn(a);
}
