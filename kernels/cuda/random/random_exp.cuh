// SPDX-License-Identifier: Apache-2.0
//
// exp as any C library rounds it whose error is below 0.514 units in the last place (glibc from 2.28 on: 0.511), where the exact
// value is so far from the middle between two numbers that it can round in one way only. Its table: special_exp_table.cuh.
struct Rounded { double value; bool is_sure; };

FN Rounded round_exp(double x)
{
    if (!(fabs(x) < 700)) // the result may not be a normal number
        return {0, false};
    const double steps = rint(x * 92.332482616893656877); // 64 / log(2)
    const int k = (int)steps;
    // log(2) / 64 in two parts; multiples of the first one are exact
    const double high = x - steps * of_bits(0x3f862e42fee00000ull), low = -steps * of_bits(0x3d8a39ef35793c76ull);
    const double r = high + low;
    const double rest = r * r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * (1.0 / 5040))))));
    const double power = special_power_high[k & 63], power_low = special_power_low[k & 63];
    const double product = power * high, error = fma(power, high, -product);
    const double first = power + product;
    const double second = (power - first) + product + (error + power_low + power * (low + rest) + power_low * r);
    const double sum = first + second, left = (first - sum) + second;
    const double margin = of_bits(bits_of(sum) & 0x7ff0000000000000ull) * (0.014 / 4503599627370496.0);
    const double down = sum + (left - margin), up = sum + (left + margin);
    return {of_bits(bits_of(up) + ((u64)(i64)(k >> 6) << 52)), down == up};
}
