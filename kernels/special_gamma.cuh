// SPDX-License-Identifier: Apache-2.0
//
// The gamma function and its kin. See special_base.cuh.
//
// gamma(x), x > 33, by Stirling's formula.
SPECIAL_INLINE double special_stirling(double x)
{
    const double series[] = {7.87311395793093628397E-4, -2.29549961613378126380E-4, -2.68132617805781232825E-3,
                             3.47222221605458667310E-3, 8.33333333333482257126E-2};
    if (x >= 171.624376956302725)
        return SPECIAL_INF;
    const double inverse = 1.0 / x, correction = 1.0 + inverse * special_polynomial(inverse, series), scale = exp(x);
    double power;
    if (x > 143.01608) { // the power alone would overflow
        const double root = pow(x, 0.5 * x - 0.25);
        power = root * (root / scale);
    } else
        power = pow(x, x - 0.5) / scale;
    return 2.50662827463100050242E0 * power * correction;
}
// SciPy asks an int: of a number beyond its range it finds an even one.
SPECIAL_INLINE bool special_is_odd(double whole)
{
    return fabs(whole) <= 2147483647.0 && fmod(whole, 2.0) != 0.0;
}
SPECIAL_INLINE double special_gamma_far(double x)
{
    if (x > 0.0)
        return special_stirling(x);
    const double size = -x;
    double whole = floor(size);
    if (whole == size)
        return SPECIAL_NAN;
    const double sign = special_is_odd(whole) ? 1.0 : -1.0;
    double rest = size - whole;
    if (rest > 0.5) {
        whole += 1.0;
        rest = size - whole;
    }
    const double reflected = size * (rest < 0.0 ? -special_sine_of_pi(-rest) : special_sine_of_pi(rest));
    if (reflected == 0.0)
        return sign * SPECIAL_INF;
    return sign * (3.14159265358979323846 / (fabs(reflected) * special_stirling(size)));
}
SPECIAL double gsh_special_gamma(double x)
{
    const double over[] = {1.60119522476751861407E-4, 1.19135147006586384913E-3, 1.04213797561761569935E-2,
                           4.76367800457137231464E-2, 2.07448227648435975150E-1, 4.94214826801497100753E-1,
                           9.99999999999999996796E-1};
    const double under[] = {-2.31581873324120129819E-5, 5.39605580493303397842E-4, -4.45641913851797240494E-3,
                            1.18139785222060435552E-2, 3.58236398605498653373E-2, -2.34591795718243348568E-1,
                            7.14304917030273074085E-2, 1.00000000000000000320E0};
    if (!(fabs(x) < SPECIAL_INF))
        return x > 0.0 ? x : SPECIAL_NAN;
    if (x == 0.0)
        return copysign(SPECIAL_INF, x);
    if (fabs(x) > 33.0)
        return special_gamma_far(x);
    double product = 1.0;
    while (x >= 3.0) {
        x -= 1.0;
        product *= x;
    }
    while (x < 0.0 && !(x > -1.E-9)) {
        product /= x;
        x += 1.0;
    }
    while (x < 2.0 && x >= 1.E-9) {
        product /= x;
        x += 1.0;
    }
    if (x < 1.E-9) // beside a pole, or at it
        return x == 0.0 ? SPECIAL_NAN : product / ((1.0 + 0.5772156649015329 * x) * x);
    if (x == 2.0)
        return product;
    x -= 2.0;
    return product * special_polynomial(x, over) / special_polynomial(x, under);
}
// log |gamma(x)| for x < 13.
SPECIAL_INLINE double special_gammaln_near(double x)
{
    const double over[] = {-1.37825152569120859100E3, -3.88016315134637840924E4, -3.31612992738871184744E5,
                           -1.16237097492762307383E6, -1.72173700820839662146E6, -8.53555664245765465627E5};
    const double under[] = {1.0,
                            -3.51815701436523470549E2, -1.70642106651881159223E4, -2.20528590553854454839E5,
                            -1.13933444367982507207E6, -2.53252307177582951285E6, -2.01889141433532773231E6};
    double product = 1.0, shift = 0.0, at = x;
    while (at >= 3.0) {
        shift -= 1.0;
        at = x + shift;
        product *= at;
    }
    while (at < 2.0) {
        if (at == 0.0)
            return SPECIAL_INF;
        product /= at;
        shift += 1.0;
        at = x + shift;
    }
    if (at == 2.0)
        return log(fabs(product));
    at = x + (shift - 2.0);
    return log(fabs(product)) + at * special_polynomial(at, over) / special_polynomial(at, under);
}
// The same for x >= 13.
SPECIAL_INLINE double special_gammaln_far(double x)
{
    const double series[] = {8.11614167470508450300E-4, -5.95061904284301438324E-4, 7.93650340457716943945E-4,
                             -2.77777777730099687205E-3, 8.33333333333331927722E-2};
    if (x > 2.556348e305)
        return SPECIAL_INF;
    const double sum = (x - 0.5) * log(x) - x + 0.91893853320467274178;
    if (x > 1.0e8)
        return sum;
    const double inverse = 1.0 / (x * x);
    if (x < 1000.0)
        return sum + special_polynomial(inverse, series) / x;
    return sum + ((7.9365079365079365079365e-4 * inverse - 2.7777777777777777777778e-3) * inverse +
                  0.0833333333333333333333) / x;
}
SPECIAL double gsh_special_gammaln(double x)
{
    if (!(fabs(x) < SPECIAL_INF))
        return x;
    if (x >= -34.0)
        return x < 13.0 ? special_gammaln_near(x) : special_gammaln_far(x);
    const double size = -x, whole = floor(size), above = special_gammaln_far(size);
    if (whole == size)
        return SPECIAL_INF;
    double rest = size - whole;
    if (rest > 0.5)
        rest = whole + 1.0 - size;
    const double reflected = size * special_sine_of_pi(rest);
    return reflected == 0.0 ? SPECIAL_INF : 1.144729885849400174143427351353058711647 - log(reflected) - above;
}
SPECIAL_INLINE double gsh_special_loggamma(double x)
{
    return x < 0.0 ? SPECIAL_NAN : gsh_special_gammaln(x);
}
SPECIAL double gsh_special_gammasgn(double x)
{
    if (x != x)
        return x;
    if (x >= 0.0)
        return x > 0.0 ? 1.0 : copysign(1.0, x);
    const double whole = floor(x);
    if (x == whole)
        return SPECIAL_NAN;
    return special_is_odd(whole) ? -1.0 : 1.0;
}
SPECIAL double gsh_special_rgamma(double x)
{
    const double series[] = {3.13173458231230000000E-17, -6.70718606477908000000E-16, 2.20039078172259550000E-15,
                             2.47691630348254132600E-13, -6.60074100411295197440E-12, 5.13850186324226978840E-11,
                             1.08965386454418662084E-9, -3.33964630686836942556E-8, 2.68975996440595483619E-7,
                             2.96001177518801696639E-6, -8.04814124978471142852E-5, 4.16609138709688864714E-4,
                             5.06579864028608725080E-3, -6.41925436109158228810E-2, -4.98558728684003594785E-3,
                             1.27546015610523951063E-1};
    if (x == 0.0)
        return x;
    if (x < 0.0 && x == floor(x))
        return 0.0;
    if (fabs(x) > 4.0)
        return 1.0 / gsh_special_gamma(x);
    double product = 1.0;
    while (x > 1.0) {
        x -= 1.0;
        product *= x;
    }
    while (x < 0.0) {
        product /= x;
        x += 1.0;
    }
    if (x == 0.0)
        return 0.0;
    return x == 1.0 ? 1.0 / product : x * (1.0 + special_chebyshev(4.0 * x - 2.0, series)) / product;
}
// psi(x), 1 <= x <= 2: a factor of x - root, whose difference is that to three parts of the root.
SPECIAL_INLINE double special_psi_near(double x)
{
    const double over[] = {-0.0020713321167745952, -0.045251321448739056, -0.28919126444774784,
                           -0.65031853770896507, -0.32555031186804491, 0.25479851061131551};
    const double under[] = {-0.55789841321675513e-6, 0.0021284987017821144, 0.054151797245674225,
                            0.43593529692665969, 1.4606242909763515, 2.0767117023730469, 1.0};
    const double apart = x - 1569415565.0 / 1073741824.0 - 381566830.0 / 1073741824.0 / 1073741824.0 -
                         0.9016312093258695918615325266959189453125e-19;
    const double ratio = special_polynomial(x - 1.0, over) / special_polynomial(x - 1.0, under);
    return apart * (double)0.99558162689208984f + apart * ratio;
}
SPECIAL_INLINE double special_psi_far(double x)
{
    const double series[] = {8.33333333333333333333E-2, -2.10927960927960927961E-2, 7.57575757575757575758E-3,
                             -4.16666666666666666667E-3, 3.96825396825396825397E-3, -8.33333333333333333333E-3,
                             8.33333333333333333333E-2};
    const double inverse = 1.0 / (x * x);
    const double rest = x < 1.0e17 ? inverse * special_polynomial(inverse, series) : 0.0;
    return log(x) - 0.5 / x - rest;
}
// Lanczos' sum times exp(-g), with Boost's coefficients.
SPECIAL_INLINE double special_lanczos(double x)
{
    const double over[] = {0.006061842346248906525783753964555936883222, 0.5098416655656676188125178644804694509993,
                           19.51992788247617482847860966235652136208, 449.9445569063168119446858607650988409623,
                           6955.999602515376140356310115515198987526, 75999.29304014542649875303443598909137092,
                           601859.6171681098786670226533699352302507, 3481712.15498064590882071018964774556468,
                           14605578.08768506808414169982791359218571, 43338889.32467613834773723740590533316085,
                           86363131.28813859145546927288977868422342, 103794043.1163445451906271053616070238554,
                           56906521.91347156388090791033559122686859};
    const double under[] = {1.0, 66.0, 1925.0, 32670.0, 357423.0, 2637558.0, 13339535.0, 45995730.0, 105258076.0,
                            150917976.0, 120543840.0, 39916800.0, 0.0};
    const double over_back[] = {56906521.91347156388090791033559122686859, 103794043.1163445451906271053616070238554,
                                86363131.28813859145546927288977868422342, 43338889.32467613834773723740590533316085,
                                14605578.08768506808414169982791359218571, 3481712.15498064590882071018964774556468,
                                601859.6171681098786670226533699352302507, 75999.29304014542649875303443598909137092,
                                6955.999602515376140356310115515198987526, 449.9445569063168119446858607650988409623,
                                19.51992788247617482847860966235652136208, 0.5098416655656676188125178644804694509993,
                                0.006061842346248906525783753964555936883222};
    const double under_back[] = {0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0, 45995730.0, 13339535.0,
                                 2637558.0, 357423.0, 32670.0, 1925.0, 66.0, 1.0};
    if (fabs(x) > 1.0)
        return special_polynomial(1.0 / x, over_back) / special_polynomial(1.0 / x, under_back);
    return special_polynomial(x, over) / special_polynomial(x, under);
}
// Hurwitz's zeta function, x > 1, by the formula of Euler and Maclaurin.
SPECIAL double special_zeta(double x, double q)
{
    const double divisors[] = {12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10,
                               -2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15,
                               1.8152105401943546773e17, -7.1661652561756670113e18};
    const double least = 1.1102230246251565404236316680908203125E-16;
    double a = q, sum = pow(a, -x), b = 0.0;
    for (int i = 0; i < 9 || a <= 9.0; i++) {
        a += 1.0;
        b = pow(a, -x);
        sum += b;
        if (fabs(b / sum) < least)
            return sum;
    }
    const double w = a;
    double k = 0.0;
    sum += b * w / (x - 1.0);
    sum -= 0.5 * b;
    a = 1.0;
    for (int i = 0; i < 12; i++) {
        a *= x + k;
        b /= w;
        const double term = a * b / divisors[i];
        sum = sum + term;
        if (fabs(term / sum) < least)
            return sum;
        k += 1.0;
        a *= x + k;
        b /= w;
        k += 1.0;
    }
    return sum;
}
SPECIAL double special_psi_by_root(double x)
{
    double sum = 7.2897639029768949e-17, power = -1.0;
    x = x - -0.504083008264455409;
    for (int n = 1; n < 100; n++) {
        power *= -x;
        const double term = power * special_zeta(n + 1, -0.504083008264455409);
        sum += term;
        if (fabs(term) < 2.220446049250313e-16 * fabs(sum))
            break;
    }
    return sum;
}
SPECIAL double gsh_special_psi(double x)
{
    const double pi = 3.14159265358979323846;
    double sum = 0.0;
    if (fabs(x - -0.504083008264455409) < 0.3)
        return special_psi_by_root(x);
    if (!(fabs(x) < SPECIAL_INF))
        return x > 0.0 ? x : SPECIAL_NAN;
    if (x == 0.0)
        return copysign(SPECIAL_INF, -x);
    if (x < 0.0) {
        const double rest = x - trunc(x);
        if (rest == 0.0)
            return SPECIAL_NAN;
        sum = -pi / tan(pi * rest);
        x = 1.0 - x;
    }
    if (x <= 10.0 && x == floor(x)) {
        for (int i = 1; i < (int)x; i++)
            sum += 1.0 / i;
        return sum - 0.577215664901532860606512090082402431;
    }
    if (x < 1.0) {
        sum -= 1.0 / x;
        x += 1.0;
    } else if (x < 10.0) {
        while (x > 2.0) {
            x -= 1.0;
            sum += 1.0 / x;
        }
    }
    return sum + (x <= 2.0 ? special_psi_near(x) : special_psi_far(x));
}
