// SPDX-License-Identifier: Apache-2.0
//
// Exponential integrals of a whole order, which is a double here. See special_base.cuh. The op takes the loop of integers, of which
// SciPy makes an int; that of floats warns of fractions.
//
// Coefficients of the powers of lambda, row by row; the first number of a row is that of the highest power.
SPECIAL_TABLE double special_expn_terms[] = {
    -2.0, 1.0,
    6.0, -8.0, 1.0,
    -24.0, 58.0, -22.0, 1.0,
    120.0, -444.0, 328.0, -52.0, 1.0,
    -720.0, 3708.0, -4400.0, 1452.0, -114.0, 1.0,
    5040.0, -33984.0, 58140.0, -32120.0, 5610.0, -240.0, 1.0,
    -40320.0, 341136.0, -785304.0, 644020.0, -195800.0, 19950.0, -494.0, 1.0,
    362880.0, -3733920.0, 11026296.0, -12440064.0, 5765500.0, -1062500.0, 67260.0, -1004.0, 1.0,
    -3628800.0, 44339040.0, -162186912.0, 238904904.0, -155357384.0, 44765000.0, -5326160.0, 218848.0, -2026.0, 1.0,
    39916800.0, -568356480.0, 2507481216.0, -4642163952.0, 4002695088.0, -1648384304.0, 314369720.0, -25243904.0,
    695038.0, -4072.0, 1.0,
    -479001600.0, 7827719040.0, -40788301824.0, 92199790224.0, -101180433024.0, 56041398784.0, -15548960784.0,
    2051482776.0, -114876376.0, 2170626.0, -8166.0, 1.0,
};
// E_n(x) of a large n (DLMF 8.20).
SPECIAL double special_expn_uniform(double n, double x)
{
    const double lambda = x / n, ratio = 1.0 / n / (lambda + 1.0) / (lambda + 1.0);
    const double scale = exp(-lambda * n) / (lambda + 1.0) / n;
    if (scale == 0.0)
        return 0.0;
    double power = ratio, sum = 1.0 + ratio;
    const double *row = special_expn_terms;
    for (int k = 2; k < 13; k++) {
        power *= ratio;
        double value = row[0];
        for (int i = 1; i < k; i++)
            value = value * lambda + row[i];
        row += k;
        const double term = power * value;
        sum += term;
        if (fabs(term) < 1.1102230246251565404236316680908203125E-16 * fabs(sum))
            break;
    }
    return scale * sum;
}
SPECIAL double special_expn_fraction(int n, double x)
{
    const double big = 1.44115188075855872E+17;
    double p2 = 1.0, q2 = x, p1 = 1.0, q1 = x + n, result = p1 / q1;
    for (int k = 2; k < 100000; k++) {
        const bool is_odd = k % 2 != 0;
        const double y = is_odd ? 1.0 : x, w = is_odd ? n + (k - 1) / 2 : k / 2;
        const double p = p1 * y + p2 * w, q = q1 * y + q2 * w;
        double change = 1.0;
        if (q != 0.0) {
            const double ratio = p / q;
            change = fabs((result - ratio) / ratio);
            result = ratio;
        }
        const double scale = fabs(p) > big ? big : 1.0;
        p2 = p1 / scale;
        p1 = p / scale;
        q2 = q1 / scale;
        q1 = q / scale;
        if (!(change > 1.1102230246251565404236316680908203125E-16))
            break;
    }
    return result * exp(-x);
}
SPECIAL double special_expn_series(int n, double x)
{
    double start = -0.577215664901532860606512090082402431 - log(x), power = 1.0, under = 1.0 - n;
    for (int i = 1; i < n; i++)
        start = start + 1.0 / i;
    double sum = n == 1 ? 0.0 : 1.0 / under;
    for (int i = 1; i < 1000; i++) {
        const double k = i;
        power *= -x / k;
        under += 1.0;
        if (under != 0.0)
            sum += power / under;
        if (sum != 0.0 && !(fabs(power / sum) > 1.1102230246251565404236316680908203125E-16))
            break;
    }
    return pow(-x, n - 1.0) * start * gsh_special_rgamma(n) - sum;
}
// The integral of exp(-x t) / t^n.
SPECIAL double gsh_special_expn(double n, double x)
{
    if (!(n >= 0.0 && x >= 0.0))
        return SPECIAL_NAN;
    if (x > 7.09782712893383973096E2)
        return 0.0;
    if (x == 0.0)
        return n < 2.0 ? SPECIAL_INF : 1.0 / (n - 1.0);
    if (n == 0.0)
        return exp(-x) / x;
    if (n > 50.0)
        return special_expn_uniform(n, x);
    return x > 1.0 ? special_expn_fraction((int)n, x) : special_expn_series((int)n, x);
}
