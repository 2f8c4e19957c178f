// SPDX-License-Identifier: Apache-2.0
//
// Elliptic and exponential integrals, the dilogarithm. See special_base.cuh. The exponential integrals are computed as in S. Zhang,
// J. Jin, Computation of Special Functions (Wiley, 1996), whose programs SciPy's are translations of.
//
// K of the complementary parameter p, 0 < p <= 1.
SPECIAL double special_ellipk_near(double p)
{
    const double plain[] = {1.37982864606273237150E-4, 2.28025724005875567385E-3, 7.97404013220415179367E-3,
                            9.85821379021226008714E-3, 6.87489687449949877925E-3, 6.18901033637687613229E-3,
                            8.79078273952743772254E-3, 1.49380448916805252718E-2, 3.08851465246711995998E-2,
                            9.65735902811690126535E-2, 1.38629436111989062502E0};
    const double of_log[] = {2.94078955048598507511E-5, 9.14184723865917226571E-4, 5.94058303753167793257E-3,
                             1.54850516649762399335E-2, 2.39089602715924892727E-2, 3.01204715227604046988E-2,
                             3.73774314173823228969E-2, 4.88280347570998239232E-2, 7.03124996963957469739E-2,
                             1.24999999999870820058E-1, 4.99999999999999999821E-1};
    if (p > 1.1102230246251565404236316680908203125E-16)
        return special_polynomial(p, plain) - log(p) * special_polynomial(p, of_log);
    return 1.3862943611198906188E0 - 0.5 * log(p);
}
SPECIAL_INLINE double gsh_special_ellipkm1(double p)
{
    if (!(p > 0.0))
        return p == 0.0 ? SPECIAL_INF : SPECIAL_NAN;
    if (p > 1.0)
        return p == SPECIAL_INF ? 0.0 : special_ellipk_near(1.0 / p) / sqrt(p);
    return special_ellipk_near(p);
}
SPECIAL_INLINE double gsh_special_ellipk(double m)
{
    return gsh_special_ellipkm1(1.0 - m);
}
// E of the complementary parameter p, 0 < p <= 1.
SPECIAL double special_ellipe_near(double p)
{
    const double plain[] = {1.53552577301013293365E-4, 2.50888492163602060990E-3, 8.68786816565889628429E-3,
                            1.07350949056076193403E-2, 7.77395492516787092951E-3, 7.58395289413514708519E-3,
                            1.15688436810574127319E-2, 2.18317996015557253103E-2, 5.68051945617860553470E-2,
                            4.43147180560990850618E-1, 1.00000000000000000299E0};
    const double of_log[] = {3.27954898576485872656E-5, 1.00962792679356715133E-3, 6.50609489976927491433E-3,
                             1.68862163993311317300E-2, 2.61769742454493659583E-2, 3.34833904888224918614E-2,
                             4.27180926518931511717E-2, 5.85936634471101055642E-2, 9.37499997197644278445E-2,
                             2.49999999999888314361E-1};
    return special_polynomial(p, plain) - log(p) * (p * special_polynomial(p, of_log));
}
SPECIAL_INLINE double gsh_special_ellipe(double m)
{
    const double p = 1.0 - m;
    if (!(p > 0.0))
        return p == 0.0 ? 1.0 : SPECIAL_NAN;
    if (p > 1.0) {
        const double inner = 1.0 - (1.0 - 1.0 / p);
        return (inner == 0.0 ? 1.0 : special_ellipe_near(inner)) * sqrt(p);
    }
    return special_ellipe_near(p);
}
SPECIAL double gsh_special_spence(double x)
{
    const double over[] = {4.65128586073990045278E-5, 7.31589045238094711071E-3, 1.33847639578309018650E-1,
                           8.79691311754530315341E-1, 2.71149851196553469920E0, 4.25697156008121755724E0,
                           3.29771340985225106936E0, 1.00000000000000000126E0};
    const double under[] = {6.90990488912553276999E-4, 2.54043763932544379113E-2, 2.82974860602568089943E-1,
                            1.41172597751831069617E0, 3.63800533345137075418E0, 5.03278880143316990390E0,
                            3.54771340985225096217E0, 9.99999999999999998740E-1};
    const double limit = 3.14159265358979323846 * 3.14159265358979323846 / 6.0;
    if (!(x > 0.0))
        return x == 0.0 ? limit : SPECIAL_NAN;
    if (x == 1.0)
        return 0.0;
    bool is_inverted = x > 2.0;
    x = is_inverted ? 1.0 / x : x;
    const bool is_small = x < 0.5;
    double w = is_small ? -x : x - 1.0;
    if (x > 1.5) {
        w = 1.0 / x - 1.0;
        is_inverted = true;
    }
    double y = -w * special_polynomial(w, over) / special_polynomial(w, under);
    if (is_small)
        y = limit - log(x) * log(1.0 - x) - y;
    if (!is_inverted)
        return y;
    const double z = log(x);
    return -0.5 * z * z - y;
}
SPECIAL double gsh_special_exp1(double x)
{
    if (x == 0.0)
        return SPECIAL_INF;
    if (!(x > 1.0)) {
        double sum = 1.0, term = 1.0;
        for (int k = 1; k < 26; k++) {
            term = -term * k * x / ((k + 1.0) * (k + 1.0));
            sum += term;
            if (fabs(term) <= fabs(sum) * 1e-15)
                break;
        }
        return -0.577215664901532860606512090082402431 - log(x) + x * sum;
    }
    double rest = 0.0;
    for (int k = 20 + (int)(80.0 / x); k > 0; k--)
        rest = k / (1.0 + k / (x + rest));
    return exp(-x) * (1.0 / (x + rest));
}
SPECIAL double gsh_special_expi(double x)
{
    double sum = 1.0, term = 1.0;
    if (x == 0.0)
        return -SPECIAL_INF;
    if (x < 0.0)
        return -gsh_special_exp1(-x);
    if (fabs(x) <= 40.0) {
        for (int k = 1; k <= 100; k++) {
            term = term * k * x / ((k + 1.0) * (k + 1.0));
            sum += term;
            if (fabs(term / sum) <= 1.0e-15)
                break;
        }
        return 0.577215664901532860606512090082402431 + log(x) + x * sum;
    }
    if (x == SPECIAL_INF)
        return x;
    for (int k = 1; k <= 20; k++) {
        term = term * k / x;
        sum += term;
    }
    return exp(x) / x * sum;
}
