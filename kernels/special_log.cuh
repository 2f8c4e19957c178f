// SPDX-License-Identifier: Apache-2.0
//
// Functions of exponentials and logarithms. See special_base.cuh.
//
SPECIAL double gsh_special_log1p(double x)
{
    const double over[] = {4.5270000862445199635215E-5, 4.9854102823193375972212E-1, 6.5787325942061044846969E0,
                           2.9911919328553073277375E1, 6.0949667980987787057556E1, 5.7112963590585538103336E1,
                           2.0039553499201281259648E1};
    const double under[] = {1.0, 1.5062909083469192043167E1, 8.3047565967967209469434E1, 2.2176239823732856465394E2,
                            3.0909872225312059774938E2, 2.1642788614495947685003E2, 6.0118660497603843919306E1};
    const double z = 1.0 + x, square = x * x;
    if (z < 0.70710678118654752440 || z > 1.41421356237309504880)
        return log(z);
    return x + (-0.5 * square + x * (square * special_polynomial(x, over) / special_polynomial(x, under)));
}
SPECIAL double gsh_special_expm1(double x)
{
    const double over[] = {1.2617719307481059087798E-4, 3.0299440770744196129956E-2, 9.9999999999999999991025E-1};
    const double under[] = {3.0019850513866445504159E-6, 2.5244834034968410419224E-3, 2.2726554820815502876593E-1,
                            2.0000000000000000000897E0};
    const double square = x * x;
    if (x < -0.5 || x > 0.5)
        return exp(x) - 1.0;
    const double odd = x * special_polynomial(square, over), ratio = odd / (special_polynomial(square, under) - odd);
    return ratio + ratio;
}
SPECIAL double gsh_special_cosm1(double x)
{
    const double series[] = {4.7377507964246204691685E-14, -1.1470284843425359765671E-11, 2.0876754287081521758361E-9,
                             -2.7557319214999787979814E-7, 2.4801587301570552304991E-5, -1.3888888888888872993737E-3,
                             4.1666666666666666609054E-2};
    const double square = x * x;
    if (x < -0.78539816339744830962 || x > 0.78539816339744830962)
        return cos(x) - 1.0;
    return -0.5 * square + square * square * special_polynomial(square, series);
}
SPECIAL double gsh_special_exp2(double x)
{
    const double over[] = {2.30933477057345225087E-2, 2.02020656693165307700E1, 1.51390680115615096133E3};
    const double under[] = {1.0, 2.33184211722314911771E2, 4.36821166879210612817E3};
    if (!(x <= 1024.0) || x < -1024.0)
        return x != x ? x : x > 0.0 ? SPECIAL_INF : 0.0;
    const double whole = floor(x + 0.5), rest = x - whole, square = rest * rest;
    const double odd = rest * special_polynomial(square, over);
    const double ratio = odd / (special_polynomial(square, under) - odd);
    return ldexp(1.0 + 2.0 * ratio, (int)whole);
}
SPECIAL double gsh_special_exp10(double x)
{
    const double over[] = {4.09962519798587023075E-2, 1.17452732554344059015E1, 4.06717289936872725516E2,
                           2.39423741207388267439E3};
    const double under[] = {1.0, 8.50936160849306532625E1, 1.27209271178345121210E3, 2.07960819286001865907E3};
    if (!(fabs(x) <= 308.2547155599167))
        return x != x ? x : x > 0.0 ? SPECIAL_INF : 0.0;
    const double whole = floor(3.32192809488736234787 * x + 0.5);
    x -= whole * 3.01025390625000000000E-1;
    x -= whole * 4.60503898119521373889E-6;
    const double square = x * x, odd = x * special_polynomial(square, over);
    const double ratio = odd / (special_polynomial(square, under) - odd);
    return ldexp(1.0 + 2.0 * ratio, (int)whole);
}
SPECIAL_INLINE double gsh_special_exprel(double x)
{
    if (fabs(x) < 2.220446049250313e-16)
        return 1.0;
    return x > 717.0 ? SPECIAL_INF : expm1(x) / x;
}
// Of floats SciPy computes in float, whose exponential overflows.
SPECIAL_INLINE double gsh_special_expit(double x, bool is_float)
{
    return is_float && x < -88.722839 ? 0.0 : 1.0 / (1.0 + exp(-x));
}
SPECIAL_INLINE double gsh_special_log_expit(double x)
{
    return x < 0.0 ? x - log1p(exp(x)) : -log1p(exp(-x));
}
SPECIAL_INLINE double gsh_special_logit(double x)
{
    if (x < 0.3 || x > 0.65)
        return log(x / (1.0 - x));
    const double s = 2.0 * (x - 0.5);
    return log1p(s) - log1p(-s);
}
SPECIAL_INLINE double gsh_special_xlogy(double x, double y)
{
    return x == 0.0 && y == y ? 0.0 : x * log(y);
}
SPECIAL_INLINE double gsh_special_xlog1py(double x, double y)
{
    return x == 0.0 && y == y ? 0.0 : x * gsh_special_log1p(y);
}
SPECIAL_INLINE double gsh_special_entr(double x)
{
    return x != x ? x : x > 0.0 ? -x * log(x) : x == 0.0 ? 0.0 : -SPECIAL_INF;
}
SPECIAL_INLINE double gsh_special_rel_entr(double x, double y)
{
    if (x != x || y != y)
        return SPECIAL_NAN;
    if (x <= 0.0 || y <= 0.0)
        return x == 0.0 && y >= 0.0 ? 0.0 : SPECIAL_INF;
    const double ratio = x / y;
    if (0.5 < ratio && ratio < 2.0)
        return x * log1p((x - y) / y);
    return ratio > 2.2250738585072014e-308 && ratio < SPECIAL_INF ? x * log(ratio) : x * (log(x) - log(y));
}
SPECIAL_INLINE double gsh_special_kl_div(double x, double y)
{
    if (x != x || y != y)
        return SPECIAL_NAN;
    if (x > 0.0 && y > 0.0)
        return x * log(x / y) - x + y;
    return x == 0.0 && y >= 0.0 ? y : SPECIAL_INF;
}
SPECIAL_INLINE double gsh_special_huber(double delta, double r)
{
    if (delta < 0.0)
        return SPECIAL_INF;
    return fabs(r) <= delta ? 0.5 * r * r : delta * (fabs(r) - 0.5 * delta);
}
SPECIAL_INLINE double gsh_special_pseudo_huber(double delta, double r)
{
    if (delta < 0.0)
        return SPECIAL_INF;
    if (delta == 0.0 || r == 0.0)
        return 0.0;
    const double v = r / delta;
    return delta * delta * expm1(0.5 * log1p(v * v));
}
SPECIAL_INLINE double gsh_special_boxcox(double x, double power)
{
    const double scaled = power * log(x);
    if (fabs(power) < 1e-19)
        return log(x);
    return scaled < 709.78 ? expm1(scaled) / power
                           : copysign(1.0, power) * exp(scaled - log(fabs(power))) - 1.0 / power;
}
SPECIAL_INLINE double gsh_special_boxcox1p(double x, double power)
{
    const double lg = log1p(x), scaled = power * lg;
    if (fabs(power) < 1e-19 || (fabs(lg) < 1e-289 && fabs(power) < 1e273))
        return lg;
    return scaled < 709.78 ? expm1(scaled) / power
                           : copysign(1.0, power) * exp(scaled - log(fabs(power))) - 1.0 / power;
}
// log(1 + power x) / power where the product is finite, and else by its parts.
SPECIAL_INLINE double special_log_of_boxcox(double x, double power)
{
    if (power * x < 1.79e308)
        return log1p(power * x) / power;
    return (log(copysign(1.0, power) * (x + 1.0 / power)) + log(fabs(power))) / power;
}
SPECIAL_INLINE double gsh_special_inv_boxcox(double x, double power)
{
    return exp(power == 0.0 ? x : special_log_of_boxcox(x, power));
}
SPECIAL_INLINE double gsh_special_inv_boxcox1p(double x, double power)
{
    if (power != 0.0 && fabs(power * x) < 1e-154)
        return x;
    return expm1(power == 0.0 ? x : special_log_of_boxcox(x, power));
}
