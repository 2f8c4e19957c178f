// SPDX-License-Identifier: Apache-2.0
//
// Zeta functions. See special_base.cuh.
//
// zeta(x) - 1, x >= 0.
SPECIAL double special_zeta_above(double x)
{
    const double whole_numbers[] = {
        -1.50000000000000000000E0,  0.0,
        6.44934066848226436472E-1,  2.02056903159594285400E-1,  8.23232337111381915160E-2,  3.69277551433699263314E-2,
        1.73430619844491397145E-2,  8.34927738192282683980E-3,  4.07735619794433937869E-3,  2.00839282608221441785E-3,
        9.94575127818085337146E-4,  4.94188604119464558702E-4,  2.46086553308048298638E-4,  1.22713347578489146752E-4,
        6.12481350587048292585E-5,  3.05882363070204935517E-5,  1.52822594086518717326E-5,  7.63719763789976227360E-6,
        3.81729326499983985646E-6,  1.90821271655393892566E-6,  9.53962033872796113152E-7,  4.76932986787806463117E-7,
        2.38450502727732990004E-7,  1.19219925965311073068E-7,  5.96081890512594796124E-8,  2.98035035146522801861E-8,
        1.49015548283650412347E-8,  7.45071178983542949198E-9,  3.72533402478845705482E-9,  1.86265972351304900640E-9,
        9.31327432419668182872E-10};
    const double below_one_over[] = {-3.28717474506562731748E-1, 1.55162528742623950834E1, -2.48762831680821954401E2,
                                     1.01050368053237678329E3,   1.26726061410235149405E4, -1.11578094770515181334E5};
    const double below_one_under[] = {1.0, 1.95107674914060531512E1, 3.17710311750646984099E2, 3.03835500874445748734E3,
                                      2.03665876435770579345E4, 7.43853965136767874343E4};
    const double below_ten_over[] = {5.85746514569725319540E11, 2.57534127756102572888E11, 4.87781159567948256438E10,
                                     5.15399538023885770696E9,  3.41646073514754094281E8,  1.60837006880656492731E7,
                                     5.92785467342109522998E5,  1.51129169964938823117E4,  2.01822444485997955865E2};
    const double below_ten_under[] = {1.0,
                                      3.90497676373371157516E11, 5.22858235368272161797E10, 5.64451517271280543351E9,
                                      3.39006746015350418834E8,  1.79410371500126453702E7,  5.66666825131384797029E5,
                                      1.60382976810944131506E4,  1.96436237223387314144E2};
    const double below_fifty_over[] = {8.70728567484590192539E6,   1.76506865670346462757E8,  2.60889506707483264896E10,
                                       5.29806374009894791647E11,  2.26888156119238241487E13, 3.31884402932705083599E14,
                                       5.13778997975868230192E15,  -1.98123688133907171455E15, -9.92763810039983572356E16,
                                       7.82905376180870586444E16,  9.26786275768927717187E16};
    const double below_fifty_under[] = {1.0,
                                        -7.92625410563741062861E6,  -1.60529969932920229676E8,
                                        -2.37669260975543221788E10, -4.80319584350455169857E11,
                                        -2.07820961754173320170E13, -2.96075404507272223680E14,
                                        -4.86299103694609136686E15, 5.34589509675789930199E15,
                                        5.71464111092297631292E16,  -1.79915597658676556828E16};
    if (x == 1.0)
        return SPECIAL_INF;
    if (x >= 127.0)
        return 0.0;
    if (x == floor(x) && x < 31.0)
        return whole_numbers[(int)x];
    if (x < 1.0) {
        const double rest = 1.0 - x;
        return special_polynomial(x, below_one_over) / (rest * special_polynomial(x, below_one_under));
    }
    if (x <= 10.0) {
        const double scale = pow(2.0, x) * (x - 1.0), inverse = 1.0 / x;
        return x * special_polynomial(inverse, below_ten_over) / (scale * special_polynomial(inverse, below_ten_under));
    }
    if (x <= 50.0)
        return exp(special_polynomial(x, below_fifty_over) / special_polynomial(x, below_fifty_under)) + pow(2.0, -x);
    double sum = 0.0, odd = 1.0, term;
    do {
        odd += 2.0;
        term = pow(odd, -x);
        sum += term;
    } while (term / sum > 1.1102230246251565404236316680908203125E-16);
    const double two = pow(2.0, -x);
    return (sum + two) / (1.0 - two);
}
// zeta(-x), x >= 0.01, by its reflection.
SPECIAL double special_zeta_reflected(double x)
{
    const double pi = 3.14159265358979323846, e = 2.71828182845904523536, g = 6.024680040776729583740234375;
    if (x / 2.0 == floor(x / 2.0))
        return 0.0;
    double small = -7.978845608028653558798921198687637369517E-1 * sin(0.5 * pi * fmod(x, 4.0));
    small *= special_lanczos(x + 1.0) * special_zeta(x + 1.0, 1.0);
    const double base = (x + g + 0.5) / (2.0 * pi * e), large = pow(base, x + 0.5);
    if (large < SPECIAL_INF)
        return large * small;
    const double root = pow(base, 0.5 * x + 0.25);
    return root * small * root;
}
// zeta(x) - whole.
SPECIAL double special_riemann(double x, double whole)
{
    const double series[] = {-1.0000000009110164892,     -1.0000000057646759799, -9.9999983138417361078e-1,
                             -1.0000013011460139596,     -1.000001940896320456,  -9.9987929950057116496e-1,
                             -1.000785194477042408,      -1.0031782279542924256, -9.1893853320467274178e-1,
                             -1.5};
    if (!(x > -SPECIAL_INF))
        return SPECIAL_NAN;
    if (x < 0.0 && !(x > -0.01))
        return whole == 0.0 ? special_zeta_reflected(-x) : special_zeta_reflected(-x) - 1.0;
    const double rest = x < 0.0 ? special_polynomial(x, series) : special_zeta_above(x);
    return whole == 0.0 ? 1.0 + rest : rest;
}
SPECIAL_INLINE double gsh_special_riemann_zeta(double x)
{
    return special_riemann(x, 0.0);
}
SPECIAL_INLINE double gsh_special_zetac(double x)
{
    return special_riemann(x, 1.0);
}
SPECIAL double gsh_special_zeta(double x, double q)
{
    if (x == 1.0)
        return SPECIAL_INF;
    if (x < 1.0)
        return SPECIAL_NAN;
    if (q <= 0.0) {
        if (q == floor(q))
            return SPECIAL_INF;
        if (x != floor(x))
            return SPECIAL_NAN;
    }
    if (q > 1e8)
        return (1.0 / (x - 1.0) + 1.0 / (2.0 * q)) * pow(q, 1.0 - x);
    if (q >= -1e5)
        return special_zeta(x, q);
    // SciPy adds up to 2^52 terms of a negative base here; they are a difference of two functions
    const double rest = q - floor(q), sign = fmod(x, 2.0) != 0.0 ? -1.0 : 1.0;
    return sign * (special_zeta(x, 1.0 - rest) - special_zeta(x, 1.0 - q)) + special_zeta(x, rest);
}
