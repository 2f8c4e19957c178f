// SPDX-License-Identifier: Apache-2.0
//
// Integrals of sines and cosines, of angles, squares and hyperbolic ones. See special_base.cuh.
//
// cos(pi x), x >= 0.
SPECIAL_INLINE double special_cosine_of_pi(double x)
{
    const double pi = 3.14159265358979323846, rest = fmod(x, 2.0);
    if (rest == 0.5)
        return 0.0;
    return rest < 1.0 ? -sin(pi * (rest - 0.5)) : sin(pi * (rest - 1.5));
}
// Fresnel's integrals for x >= sqrt(2.5625): the sine's, or the cosine's.
SPECIAL double special_fresnel_far(double x, bool is_sine)
{
    const double f_over[] = {4.21543555043677546506E-1, 1.43407919780758885261E-1, 1.15220955073585758835E-2,
                             3.45017939782574027900E-4, 4.63613749287867322088E-6, 3.05568983790257605827E-8,
                             1.02304514164907233465E-10, 1.72010743268161828879E-13, 1.34283276233062758925E-16,
                             3.76329711269987889006E-20};
    const double f_under[] = {1.0, 7.51586398353378947175E-1, 1.16888925859191382142E-1, 6.44051526508858611005E-3,
                              1.55934409164153020873E-4, 1.84627567348930545870E-6, 1.12699224763999035261E-8,
                              3.60140029589371370404E-11, 5.88754533621578410010E-14, 4.52001434074129701496E-17,
                              1.25443237090011264384E-20};
    const double g_over[] = {5.04442073643383265887E-1, 1.97102833525523411709E-1, 1.87648584092575249293E-2,
                             6.84079380915393090172E-4, 1.15138826111884280931E-5, 9.82852443688422223854E-8,
                             4.45344415861750144738E-10, 1.08268041139020870318E-12, 1.37555460633261799868E-15,
                             8.36354435630677421531E-19, 1.86958710162783235106E-22};
    const double g_under[] = {1.0, 1.47495759925128324529E0, 3.37748989120019970451E-1, 2.53603741420338795122E-2,
                              8.14679107184306179049E-4, 1.27545075667729118702E-5, 1.04314589657571990585E-7,
                              4.60680728146520428211E-10, 1.10273215066240270757E-12, 1.38796531259578871258E-15,
                              8.39158816283118707363E-19, 1.86958710162783236342E-22};
    const double pi = 3.14159265358979323846, square = x * x;
    if (x > 36974.0) {
        const double size = 1.0 / (pi * x);
        return is_sine ? 0.5 - size * special_cosine_of_pi(square / 2.0) : 0.5 + size * special_sine_of_pi(square / 2.0);
    }
    const double z = pi * square, u = 1.0 / (z * z), inverse = 1.0 / z;
    const double f = 1.0 - u * special_polynomial(u, f_over) / special_polynomial(u, f_under);
    const double g = inverse * special_polynomial(u, g_over) / special_polynomial(u, g_under);
    const double cosine = special_cosine_of_pi(square / 2.0), sine = special_sine_of_pi(square / 2.0);
    return is_sine ? 0.5 - (f * cosine + g * sine) / (pi * x) : 0.5 + (f * sine - g * cosine) / (pi * x);
}
SPECIAL double gsh_special_fresnel_sine(double x)
{
    const double over[] = {-2.99181919401019853726E3, 7.08840045257738576863E5, -6.29741486205862506537E7,
                           2.54890880573376359104E9, -4.42979518059697779103E10, 3.18016297876567817986E11};
    const double under[] = {1.0, 2.81376268889994315696E2, 4.55847810806532581675E4, 5.17343888770096400730E6,
                            4.19320245898111231129E8, 2.24411795645340920940E10, 6.07366389490084639049E11};
    const double size = fabs(x), square = size * size, z = square * square;
    double y;
    if (size == SPECIAL_INF)
        y = 0.5;
    else if (square < 2.5625)
        y = size * square * special_polynomial(z, over) / special_polynomial(z, under);
    else
        y = special_fresnel_far(size, true);
    return x < 0.0 ? -y : y;
}
SPECIAL double gsh_special_fresnel_cosine(double x)
{
    const double over[] = {-4.98843114573573548651E-8, 9.50428062829859605134E-6, -6.45191435683965050962E-4,
                           1.88843319396703850064E-2, -2.05525900955013891793E-1, 9.99999999999999998822E-1};
    const double under[] = {3.99982968972495980367E-12, 9.15439215774657478799E-10, 1.25001862479598821474E-7,
                            1.22262789024179030997E-5, 8.68029542941784300606E-4, 4.12142090722199792936E-2,
                            1.00000000000000000118E0};
    const double size = fabs(x), square = size * size, z = square * square;
    double y;
    if (size == SPECIAL_INF)
        y = 0.5;
    else if (square < 2.5625)
        y = size * special_polynomial(z, over) / special_polynomial(z, under);
    else
        y = special_fresnel_far(size, false);
    return x < 0.0 ? -y : y;
}
// Auxiliary functions of the sine and cosine integrals, x > 4.
SPECIAL_INLINE double special_sici_f(double x, double z)
{
    if (x < 8.0) {
        const double over[] = {4.23612862892216586994E0, 5.45937717161812843388E0, 1.62083287701538329132E0,
                               1.67006611831323023771E-1, 6.81020132472518137426E-3, 1.08936580650328664411E-4,
                               5.48900223421373614008E-7};
        const double under[] = {1.0, 8.16496634205391016773E0, 7.30828822505564552187E0, 1.86792257950184183883E0,
                                1.78792052963149907262E-1, 7.01710668322789753610E-3, 1.10034357153915731354E-4,
                                5.48900252756255700982E-7};
        return special_polynomial(z, over) / (x * special_polynomial(z, under));
    }
    const double over[] = {4.55880873470465315206E-1, 7.13715274100146711374E-1, 1.60300158222319456320E-1,
                           1.16064229408124407915E-2, 3.49556442447859055605E-4, 4.86215430826454749482E-6,
                           3.20092790091004902806E-8, 9.41779576128512936592E-11, 9.70507110881952024631E-14};
    const double under[] = {1.0, 9.17463611873684053703E-1, 1.78685545332074536321E-1, 1.22253594771971293032E-2,
                            3.58696481881851580297E-4, 4.92435064317881464393E-6, 3.21956939101046018377E-8,
                            9.43720590350276732376E-11, 9.70507110881952025725E-14};
    return special_polynomial(z, over) / (x * special_polynomial(z, under));
}
SPECIAL_INLINE double special_sici_g(double x, double z)
{
    if (x < 8.0) {
        const double over[] = {8.71001698973114191777E-2, 6.11379109952219284151E-1, 3.97180296392337498885E-1,
                               7.48527737628469092119E-2, 5.38868681462177273157E-3, 1.61999794598934024525E-4,
                               1.97963874140963632189E-6, 7.82579040744090311069E-9};
        const double under[] = {1.0, 1.64402202413355338886E0, 6.66296701268987968381E-1, 9.88771761277688796203E-2,
                                6.22396345441768420760E-3, 1.73221081474177119497E-4, 2.02659182086343991969E-6,
                                7.82579218933534490868E-9};
        return z * special_polynomial(z, over) / special_polynomial(z, under);
    }
    const double over[] = {6.97359953443276214934E-1, 3.30410979305632063225E-1, 3.84878767649974295920E-2,
                           1.71718239052347903558E-3, 3.48941165502279436777E-5, 3.47131167084116673800E-7,
                           1.70404452782044526189E-9, 3.85945925430276600453E-12, 3.14040098946363334640E-15};
    const double under[] = {1.0, 1.68548898811011640017E0, 4.87852258695304967486E-1, 4.67913194259625806320E-2,
                            1.90284426674399523638E-3, 3.68475504442561108162E-5, 3.57043223443740838771E-7,
                            1.72693748966316146736E-9, 3.87830166023954706752E-12, 3.14040098946363335242E-15};
    return z * special_polynomial(z, over) / special_polynomial(z, under);
}
SPECIAL double special_sici_far(double x, bool is_sine)
{
    const double z = 1.0 / (x * x), f = special_sici_f(x, z), g = special_sici_g(x, z);
    return is_sine ? 1.57079632679489661923 - f * cos(x) - g * sin(x) : f * sin(x) - g * cos(x);
}
SPECIAL double gsh_special_si(double x)
{
    const double over[] = {-8.39167827910303881427E-11, 4.62591714427012837309E-8, -9.75759303843632795789E-6,
                           9.76945438170435310816E-4, -4.13470316229406538752E-2, 1.00000000000000000302E0};
    const double under[] = {2.03269266195951942049E-12, 1.27997891179943299903E-9, 4.41827842801218905784E-7,
                            9.96412122043875552487E-5, 1.42085239326149893930E-2, 9.99999999999999996984E-1};
    const double size = fabs(x), z = size * size;
    double y;
    if (x == 0.0)
        return 0.0;
    if (size == SPECIAL_INF)
        y = 1.57079632679489661923;
    else if (size > 4.0)
        y = special_sici_far(size, true);
    else
        y = size * special_polynomial(z, over) / special_polynomial(z, under);
    return x < 0.0 ? -y : y;
}
SPECIAL double gsh_special_ci(double x)
{
    const double over[] = {2.02524002389102268789E-11, -1.35249504915790756375E-8, 3.59325051419993077021E-6,
                           -4.74007206873407909465E-4, 2.89159652607555242092E-2, -1.00000000000000000080E0};
    const double under[] = {4.07746040061880559506E-12, 3.06780997581887812692E-9, 1.23210355685883423679E-6,
                            3.17442024775032769882E-4, 5.10028056236446052392E-2, 4.00000000000000000080E0};
    const double size = fabs(x), z = size * size;
    if (x == 0.0)
        return -SPECIAL_INF;
    if (size == SPECIAL_INF)
        return x > 0.0 ? 0.0 : SPECIAL_NAN;
    if (size > 4.0)
        return special_sici_far(size, false);
    return 0.577215664901532860606512090082402431 + log(size) +
           z * special_polynomial(z, over) / special_polynomial(z, under);
}
// x exp(-x) times the hyperbolic sine integral, or the cosine's without its logarithm, 8 <= x <= 88.
SPECIAL_INLINE double special_shi_scaled(double x)
{
    if (x < 18.0) {
        const double near[] = {1.83889230173399459482E-17, -9.55485532279655569575E-17, 2.04326105980879882648E-16,
                               1.09896949074905343022E-15, -1.31313534344092599234E-14, 5.93976226264314278932E-14,
                               -3.47197010497749154755E-14, -1.40059764613117131000E-12, 9.49044626224223543299E-12,
                               -1.61596181145435454033E-11, -1.77899784436430310321E-10, 1.35455469767246947469E-9,
                               -1.03257121792819495123E-9, -3.56699611114982536845E-8, 1.44818877384267342057E-7,
                               7.82018215184051295296E-7, -5.39919118403805073710E-6, -3.12458202168959833422E-5,
                               8.90136741950727517826E-5, 2.02558474743846862168E-3, 2.96064440855633256972E-2,
                               1.11847751047257036625E0};
        return special_chebyshev((576.0 / x - 52.0) / 10.0, near);
    }
    const double far[] = {-1.05311574154850938805E-17, 2.62446095596355225821E-17, 8.82090135625368160657E-17,
                          -3.38459811878103047136E-16, -8.30608026366935789136E-16, 3.93397875437050071776E-15,
                          1.01765565969729044505E-14, -4.21128170307640802703E-14, -1.60818204519802480035E-13,
                          3.34714954175994481761E-13, 2.72600352129153073807E-12, 1.66894954752839083608E-12,
                          -3.49278141024730899554E-11, -1.58580661666482709598E-10, -1.79289437183355633342E-10,
                          1.76281629144264523277E-9, 1.69050228879421288846E-8, 1.25391771228487041649E-7,
                          1.16229947068677338732E-6, 1.61038260117376323993E-5, 3.49810375601053973070E-4,
                          1.28478065259647610779E-2, 1.03665722588798326712E0};
    return special_chebyshev((6336.0 / x - 212.0) / 70.0, far);
}
SPECIAL_INLINE double special_chi_scaled(double x)
{
    if (x < 18.0) {
        const double near[] = {-8.12435385225864036372E-18, 2.17586413290339214377E-17, 5.22624394924072204667E-17,
                               -9.48812110591690559363E-16, 5.35546311647465209166E-15, -1.21009970113732918701E-14,
                               -6.00865178553447437951E-14, 7.16339649156028587775E-13, -2.93496072607599856104E-12,
                               -1.40359438136491256904E-12, 8.76302288609054966081E-11, -4.40092476213282340617E-10,
                               -1.87992075640569295479E-10, 1.31458150989474594064E-8, -4.75513930924765465590E-8,
                               -2.21775018801848880741E-7, 1.94635531373272490962E-6, 4.33505889257316408893E-6,
                               -6.13387001076494349496E-5, -3.13085477492997465138E-4, 4.97164789823116062801E-4,
                               2.64347496031374526641E-2, 1.11446150876699213025E0};
        return special_chebyshev((576.0 / x - 52.0) / 10.0, near);
    }
    const double far[] = {8.06913408255155572081E-18, -2.08074168180148170312E-17, -5.98111329658272336816E-17,
                          2.68533951085945765591E-16, 4.52313941698904694774E-16, -3.10734917335299464535E-15,
                          -4.42823207332531972288E-15, 3.49639695410806959872E-14, 6.63406731718911586609E-14,
                          -3.71902448093119218395E-13, -1.27135418132338309016E-12, 2.74851141935315395333E-12,
                          2.33781843985453438400E-11, 2.71436006377612442764E-11, -2.56600180000355990529E-10,
                          -1.61021375163803438552E-9, -4.72543064876271773512E-9, -3.00095178028681682282E-9,
                          7.79387474390914922337E-8, 1.06942765566401507066E-6, 1.59503164802313196374E-5,
                          3.49592575153777996871E-4, 1.28475387530065247392E-2, 1.03665693917934275131E0};
    return special_chebyshev((6336.0 / x - 212.0) / 70.0, far);
}
// 3F0(a, b, 1; z), an asymptotic series of a small z.
SPECIAL double special_3f0(double a, double b, double z)
{
    const double least = pow(z, -1.0 / 3);
    const int count = least < 50.0 ? (int)least : 50;
    double term = 1.0, sum = 1.0;
    for (int n = 0; n < count; n++) {
        term *= (a + n) * (b + n) * (1.0 + n) * z / (n + 1);
        sum += term;
        if (fabs(term) < 1e-13 * fabs(sum) || term == 0.0)
            break;
    }
    return fabs(term) > 1e-13 * fabs(sum) ? SPECIAL_NAN : sum;
}
SPECIAL double special_shichi_far(double x, bool is_sine)
{
    if (x > 1000.0)
        return SPECIAL_INF;
    const double z = 4.0 / (x * x), a = special_3f0(0.5, 1.0, z), b = special_3f0(1.0, 1.5, z);
    return is_sine ? cosh(x) / x * a + sinh(x) / (x * x) * b : sinh(x) / x * a + cosh(x) / (x * x) * b;
}
// The power series, x < 8, of both.
struct special_shichi {
    double sine, cosine;
};
SPECIAL struct special_shichi special_shichi_near(double x)
{
    struct special_shichi sums = {1.0, 0.0};
    double term = 1.0;
    for (int i = 2; i < 200; i += 2) {
        const double k = i;
        term *= x * x / k;
        sums.cosine += term / k;
        term /= k + 1.0;
        sums.sine += term / (k + 1.0);
        if (!(fabs(term / sums.sine) > 1.1102230246251565404236316680908203125E-16))
            break;
    }
    sums.sine *= x;
    return sums;
}
SPECIAL double gsh_special_shi(double x)
{
    const double size = fabs(x);
    double y;
    if (x == 0.0)
        return 0.0;
    if (size >= 8.0)
        y = size <= 88.0 ? exp(size) / size * special_shi_scaled(size) : special_shichi_far(size, true);
    else
        y = special_shichi_near(size).sine;
    return x < 0.0 ? -y : y;
}
SPECIAL double gsh_special_chi(double x)
{
    const double size = fabs(x);
    if (x == 0.0)
        return -SPECIAL_INF;
    if (size > 88.0)
        return special_shichi_far(size, false);
    const double rest = size >= 8.0 ? exp(size) / size * special_chi_scaled(size) : special_shichi_near(size).cosine;
    return 0.577215664901532860606512090082402431 + log(size) + rest;
}
