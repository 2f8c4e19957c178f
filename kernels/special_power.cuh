// SPDX-License-Identifier: Apache-2.0
//
// exp and pow as any C library rounds them whose errors are below 0.5115 units in the last place and 0.0001 times |y log(x)| of these (glibc
// from 2.28 on: exp 0.511; pow 0.511 and 0.00005 |y log(x)|). NaN where the exact value is so near the middle between two numbers
// that it is not certain how it rounds, 1 number of 40 for exp, and where the result may not be normal, or x of pow is not positive, normal
// and finite. Their table is special_exp_table.cuh. See special_base.cuh.
// What the product of two numbers lacks.
SPECIAL_INLINE double special_lost_by_product(double a, double b, double product)
{
    const double upper_a = special_upper(a), lower_a = a - upper_a, upper_b = special_upper(b), lower_b = b - upper_b;
    return upper_a * upper_b - product + upper_a * lower_b + lower_a * upper_b + lower_a * lower_b;
}
// exp(x + low), of which so many units in the last place are not certain.
SPECIAL_INLINE double special_rounded_exp(double x, double low, double margin)
{
    const double terms[] = {1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5};
    if (!(fabs(x) < 700.0))
        return SPECIAL_NAN;
    const double steps = rint(x * 92.332482616893656877); // 64 / log(2)
    const int k = (int)steps;
    // log(2) / 64 in two parts; multiples of the first one are exact
    const double high = x - steps * 0.01083042469326756, rest = low - steps * 2.9815858269852933e-12;
    const double r = high + rest, beyond = special_lost(high, rest, r);
    const double power = special_power_high[k & 63], product = power * r, first = power + product;
    const double second = special_lost(power, product, first) +
                          (special_lost_by_product(power, r, product) + special_power_low[k & 63] * (1.0 + r) +
                           power * (beyond + r * r * special_polynomial(r, terms)));
    const double sum = first + second, left = (first - sum) + second;
    const double unit = sum < 1.0 ? 1.1102230246251565e-16 : sum < 2.0 ? 2.220446049250313e-16 : 4.440892098500626e-16;
    const double down = sum + (left - margin * unit), up = sum + (left + margin * unit);
    return down == up ? ldexp(down, k >> 6) : SPECIAL_NAN;
}
SPECIAL double gsh_special_certain_exp(double x)
{
    return special_rounded_exp(x, 0.0, 0.012);
}
SPECIAL double gsh_special_certain_power(double x, double y)
{
    if (!(x >= 2.2250738585072014e-308 && x < SPECIAL_INF && fabs(y) < 1e150))
        return SPECIAL_NAN;
    const struct special_pair log = special_log_pair(x);
    const double product = y * log.high, low = special_lost_by_product(y, log.high, product) + y * log.low;
    return special_rounded_exp(product, low, 0.012 + 0.001 * fabs(product));
}
