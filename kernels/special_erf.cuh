// SPDX-License-Identifier: Apache-2.0
//
// The error function and the normal distribution. See special_base.cuh.
//
// scale exp(x^2) erfc(x), x >= 1.
SPECIAL double special_erfc_ratio(double x, double scale)
{
    if (x < 8.0) {
        const double over[] = {2.46196981473530512524E-10, 5.64189564831068821977E-1, 7.46321056442269912687E0,
                               4.86371970985681366614E1,   1.96520832956077098242E2,  5.26445194995477358631E2,
                               9.34528527171957607540E2,   1.02755188689515710272E3,  5.57535335369399327526E2};
        const double under[] = {1.0,
                                1.32281951154744992508E1, 8.67072140885989742329E1, 3.54937778887819891062E2,
                                9.75708501743205489753E2, 1.82390916687909736289E3, 2.24633760818710981792E3,
                                1.65666309194161350182E3, 5.57535340817727675546E2};
        return scale * special_polynomial(x, over) / special_polynomial(x, under);
    }
    const double over[] = {5.64189583547755073984E-1, 1.27536670759978104416E0, 5.01905042251180477414E0,
                           6.16021097993053585195E0,  7.40974269950448939160E0, 2.97886665372100240670E0};
    const double under[] = {1.0,
                            2.26052863220117276590E0, 9.39603524938001434673E0, 1.20489539808096656605E1,
                            1.70814450747565897222E1, 9.60896809063285878198E0, 3.36907645100081516050E0};
    return scale * special_polynomial(x, over) / special_polynomial(x, under);
}
// erf(x), |x| <= 1.
SPECIAL_INLINE double special_erf_near(double x)
{
    const double over[] = {9.60497373987051638749E0, 9.00260197203842689217E1, 2.23200534594684319226E3,
                           7.00332514112805075473E3, 5.55923013010394962768E4};
    const double under[] = {1.0,
                            3.35617141647503099647E1, 5.21357949780152679795E2, 4.59432382970980127987E3,
                            2.26290000613890934246E4, 4.92673942608635921086E4};
    const double square = x * x;
    return x * special_polynomial(square, over) / special_polynomial(square, under);
}
// erfc(x), x >= 1.
SPECIAL_INLINE double special_erfc_far(double x)
{
    const double power = -x * x;
    return power < -7.09782712893383973096E2 ? 0.0 : special_erfc_ratio(x, exp(power));
}
SPECIAL double gsh_special_erfc(double x)
{
    const double size = fabs(x);
    if (size < 1.0)
        return 1.0 - special_erf_near(x);
    if (!(size >= 1.0))
        return SPECIAL_NAN;
    return x < 0.0 ? 2.0 - special_erfc_far(size) : special_erfc_far(size);
}
SPECIAL double gsh_special_erf(double x)
{
    const double size = fabs(x);
    if (!(size > 1.0))
        return special_erf_near(x);
    const double far = 1.0 - special_erfc_far(size);
    return x < 0.0 ? -far : far;
}
SPECIAL double gsh_special_ndtr(double x)
{
    const double at = x * 0.70710678118654752440, size = fabs(at);
    if (size < 1.0)
        return 0.5 + 0.5 * special_erf_near(at);
    if (!(size >= 1.0))
        return SPECIAL_NAN;
    const double tail = 0.5 * special_erfc_far(size);
    return at > 0.0 ? 1.0 - tail : tail;
}
// ndtri(0.5 + at), |at| < 3 / 8.
SPECIAL_INLINE double special_ndtri_middle(double at)
{
    const double over[] = {-5.99633501014107895267E1, 9.80010754185999661536E1, -5.66762857469070293439E1,
                           1.39312609387279679503E1, -1.23916583867381258016E0};
    const double under[] = {1.0,
                            1.95448858338141759834E0, 4.67627912898881538453E0, 8.63602421390890590575E1,
                            -2.25462687854119370527E2, 2.00260212380060660359E2, -8.20372256168333339912E1,
                            1.59056225126211695515E1, -1.18331621121330003142E0};
    const double square = at * at;
    return (at + at * (square * special_polynomial(square, over) / special_polynomial(square, under))) *
           2.50662827463100050242E0;
}
// What is subtracted from sqrt(-2 log y) - log(sqrt(-2 log y)) / sqrt(-2 log y), 1 / z = sqrt(-2 log y).
SPECIAL_INLINE double special_ndtri_tail(double z, bool is_near)
{
    if (is_near) {
        const double over[] = {4.05544892305962419923E0, 3.15251094599893866154E1, 5.71628192246421288162E1,
                               4.40805073893200834700E1, 1.46849561928858024014E1, 2.18663306850790267539E0,
                               -1.40256079171354495875E-1, -3.50424626827848203418E-2, -8.57456785154685413611E-4};
        const double under[] = {1.0,
                                1.57799883256466749731E1, 4.53907635128879210584E1, 4.13172038254672030440E1,
                                1.50425385692907503408E1, 2.50464946208309415979E0, -1.42182922854787788574E-1,
                                -3.80806407691578277194E-2, -9.33259480895457427372E-4};
        return z * special_polynomial(z, over) / special_polynomial(z, under);
    }
    const double over[] = {3.23774891776946035970E0, 6.91522889068984211695E0, 3.93881025292474443415E0,
                           1.33303460815807542389E0, 2.01485389549179081538E-1, 1.23716634817820021358E-2,
                           3.01581553508235416007E-4, 2.65806974686737550832E-6, 6.23974539184983293730E-9};
    const double under[] = {1.0,
                            6.02427039364742014255E0, 3.67983563856160859403E0, 1.37702099489081330271E0,
                            2.16236993594496635890E-1, 1.34204006088543189037E-2, 3.28014464682127739104E-4,
                            2.89247864745380683936E-6, 6.79019408009981274425E-9};
    return z * special_polynomial(z, over) / special_polynomial(z, under);
}
// x > 0 with ndtr(-x) = tail, tail < exp(-2).
SPECIAL double special_ndtri_far(double tail)
{
    const double root = sqrt(-2.0 * log(tail));
    return root - log(root) / root - special_ndtri_tail(1.0 / root, root < 8.0);
}
SPECIAL double gsh_special_ndtri(double p)
{
    const double edge = 0.13533528323661269189; // exp(-2)
    if (p == 0.0 || p == 1.0)
        return p == 0.0 ? -SPECIAL_INF : SPECIAL_INF;
    if (!(p > 0.0 && p < 1.0))
        return SPECIAL_NAN;
    const bool is_upper = p > 1.0 - edge;
    const double y = is_upper ? 1.0 - p : p;
    if (y > edge)
        return special_ndtri_middle(y - 0.5);
    return is_upper ? special_ndtri_far(y) : -special_ndtri_far(y);
}
// SciPy takes this from Boost; here it is ndtri of (1 + x) / 2, without the rounding of that.
SPECIAL double gsh_special_erfinv(double x)
{
    const double half = 0.70710678118654752440, size = fabs(x);
    if (!(size < 1.0))
        return size == 1.0 ? copysign(SPECIAL_INF, x) : SPECIAL_NAN;
    if (size < 0.7)
        return x == 0.0 ? 0.0 : half * special_ndtri_middle(0.5 * x);
    return copysign(half * special_ndtri_far(0.5 * (1.0 - size)), x);
}
SPECIAL double gsh_special_erfcinv(double x)
{
    if (!(x > 0.0 && x < 2.0))
        return x == 0.0 ? SPECIAL_INF : x == 2.0 ? -SPECIAL_INF : SPECIAL_NAN;
    return -gsh_special_ndtri(0.5 * x) * 0.70710678118654752440;
}
// SciPy takes this from the Faddeeva package; here it is the quotient that erfc has, too.
SPECIAL double gsh_special_erfcx(double x)
{
    const double size = fabs(x);
    double y;
    if (x < -26.7)
        return SPECIAL_INF;
    if (x < -6.1)
        return 2.0 * exp(x * x);
    if (size < 1.0)
        y = exp(x * x) * (1.0 - special_erf_near(size));
    else if (size > 50.0) {
        const double square = x * x;
        y = size > 5e7 ? 0.56418958354775628694807945156 / size
                       : 0.56418958354775628694807945156 * (square * (square + 4.5) + 2.0) /
                             (size * (square * (square + 5.0) + 3.75));
    } else
        y = special_erfc_ratio(size, 1.0);
    return x < 0.0 ? 2.0 * exp(x * x) - y : y;
}
SPECIAL double gsh_special_log_ndtr(double x)
{
    const double at = x * 0.70710678118654752440;
    return x < -1.0 ? log(gsh_special_erfcx(-at) / 2.0) - at * at : log1p(-gsh_special_erfc(at) / 2.0);
}
// x > 0, of whose square twice the logarithm of a tail is the negative: the inverse of log_ndtr.
SPECIAL double special_ndtri_exp_far(double y)
{
    const double root = y >= -1.7976931348623157e308 * 0.5 ? sqrt(-2.0 * y) : 1.41421356237309504880 * sqrt(-y);
    return special_ndtri_tail(1.0 / root, root < 8.0) - (root - log(root) / root);
}
SPECIAL double gsh_special_ndtri_exp(double y)
{
    if (y == -SPECIAL_INF)
        return y;
    if (y < -2.0)
        return special_ndtri_exp_far(y);
    return y > -0.14541345786885906 ? -gsh_special_ndtri(-expm1(y)) : gsh_special_ndtri(exp(y));
}
// Dawson's integral, by Cephes' formulas; SciPy takes others.
SPECIAL double gsh_special_dawsn(double x)
{
    const double near_over[] = {1.13681498971755972054E-11, 8.49262267667473811108E-10, 1.94434204175553054283E-8,
                                9.53151741254484363489E-7, 3.07828309874913200438E-6, 3.52513368520288738649E-4,
                                -8.50149846724410912031E-4, 4.22618223005546594270E-2, -9.17480371773452345351E-2,
                                9.99999999999999994612E-1};
    const double near_under[] = {2.40372073066762605484E-11, 1.48864681368493396752E-9, 5.21265281010541664570E-8,
                                 1.27258478273186970203E-6, 2.32490249820789513991E-5, 3.25524741826057911661E-4,
                                 3.48805814657162590916E-3, 2.79448531198828973716E-2, 1.58874241960120565368E-1,
                                 5.74918629489320327824E-1, 1.00000000000000000539E0};
    const double middle_over[] = {5.08955156417900903354E-1, -2.44754418142697847934E-1, 9.41512335303534411857E-2,
                                  -2.18711255142039025206E-2, 3.66207612329569181322E-3, -4.23209114460388756528E-4,
                                  3.59641304793896631888E-5, -2.14640351719968974225E-6, 9.10010780076391431042E-8,
                                  -2.40274520828250956942E-9, 3.59233385440928410398E-11};
    const double middle_under[] = {1.0,
                                   -6.31839869873368190192E-1, 2.36706788228248691528E-1, -5.31806367003223277662E-2,
                                   8.48041718586295374409E-3, -9.47996768486665330168E-4, 7.81025592944552338085E-5,
                                   -4.55875153252442634831E-6, 1.89100358111421846170E-7, -4.91324691331920606875E-9,
                                   7.18466403235734541950E-11};
    const double far_over[] = {-5.90592860534773254987E-1, 6.29235242724368800674E-1, -1.72858975380388136411E-1,
                               1.64837047825189632310E-2, -4.86827613020462700845E-4};
    const double far_under[] = {1.0,
                                -2.69820057197544900361E0, 1.73270799045947845857E0, -3.93708582281939493482E-1,
                                3.44278924041233391079E-2, -9.73655226040941223894E-4};
    const double size = fabs(x), square = size * size, z = 1.0 / square;
    if (!(size >= 3.25))
        return x * special_polynomial(square, near_over) / special_polynomial(square, near_under);
    if (size > 1.0e9)
        return 0.5 / x;
    const double ratio = size < 6.25 ? special_polynomial(z, middle_over) / special_polynomial(z, middle_under)
                                     : special_polynomial(z, far_over) / special_polynomial(z, far_under);
    return 0.5 * (1.0 / x + z * ratio / x);
}
SPECIAL_INLINE double gsh_special_erfi(double x)
{
    if (x * x > 720.0)
        return x > 0.0 ? SPECIAL_INF : -SPECIAL_INF;
    return exp(x * x) * (1.12837916709551257390 * gsh_special_dawsn(x));
}
// The two-sided survival function of A. N. Kolmogorov's distribution.
SPECIAL double gsh_special_kolmogorov(double x)
{
    const double pi = 3.14159265358979323846;
    double result;
    if (x <= pi / sqrt(5968.0))
        return 1.0;
    if (x <= 0.82) {
        const double w = sqrt(2.0 * pi) / x, logarithm = -pi * pi / (x * x), u = exp(logarithm / 8.0);
        double sum = exp(logarithm / 8.0 + log(w));
        if (u != 0.0) {
            const double u8 = exp(logarithm), cube = pow(u8, 3.0);
            sum = 1.0 + cube;
            sum = 1.0 + u8 * u8 * sum;
            sum = 1.0 + u8 * sum;
            sum = w * u * sum;
        }
        result = 1.0 - sum;
    } else {
        const double v = exp(-2.0 * x * x), square = v * v, cube = pow(v, 3.0);
        result = 1.0 - cube * cube * v;
        result = 1.0 - cube * square * result;
        result = 1.0 - cube * result;
        result = 2.0 * v * result;
    }
    return result < 0.0 ? 0.0 : result > 1.0 ? 1.0 : result;
}
