// SPDX-License-Identifier: Apache-2.0
//
// exp as any C library rounds it whose error is below 0.514 units in the last place (glibc from 2.28 on: 0.511), where the exact
// value is so far from the middle between two numbers that it can round in one way only.
//
// 2^(i / 64) as bits of two numbers.
__device__ const u64 powers_high[] = {
    0x3ff0000000000000ull, 0x3ff02c9a3e778061ull, 0x3ff059b0d3158574ull, 0x3ff0874518759bc8ull,
    0x3ff0b5586cf9890full, 0x3ff0e3ec32d3d1a2ull, 0x3ff11301d0125b51ull, 0x3ff1429aaea92de0ull,
    0x3ff172b83c7d517bull, 0x3ff1a35beb6fcb75ull, 0x3ff1d4873168b9aaull, 0x3ff2063b88628cd6ull,
    0x3ff2387a6e756238ull, 0x3ff26b4565e27cddull, 0x3ff29e9df51fdee1ull, 0x3ff2d285a6e4030bull,
    0x3ff306fe0a31b715ull, 0x3ff33c08b26416ffull, 0x3ff371a7373aa9cbull, 0x3ff3a7db34e59ff7ull,
    0x3ff3dea64c123422ull, 0x3ff4160a21f72e2aull, 0x3ff44e086061892dull, 0x3ff486a2b5c13cd0ull,
    0x3ff4bfdad5362a27ull, 0x3ff4f9b2769d2ca7ull, 0x3ff5342b569d4f82ull, 0x3ff56f4736b527daull,
    0x3ff5ab07dd485429ull, 0x3ff5e76f15ad2148ull, 0x3ff6247eb03a5585ull, 0x3ff6623882552225ull,
    0x3ff6a09e667f3bcdull, 0x3ff6dfb23c651a2full, 0x3ff71f75e8ec5f74ull, 0x3ff75feb564267c9ull,
    0x3ff7a11473eb0187ull, 0x3ff7e2f336cf4e62ull, 0x3ff82589994cce13ull, 0x3ff868d99b4492edull,
    0x3ff8ace5422aa0dbull, 0x3ff8f1ae99157736ull, 0x3ff93737b0cdc5e5ull, 0x3ff97d829fde4e50ull,
    0x3ff9c49182a3f090ull, 0x3ffa0c667b5de565ull, 0x3ffa5503b23e255dull, 0x3ffa9e6b5579fdbfull,
    0x3ffae89f995ad3adull, 0x3ffb33a2b84f15fbull, 0x3ffb7f76f2fb5e47ull, 0x3ffbcc1e904bc1d2ull,
    0x3ffc199bdd85529cull, 0x3ffc67f12e57d14bull, 0x3ffcb720dcef9069ull, 0x3ffd072d4a07897cull,
    0x3ffd5818dcfba487ull, 0x3ffda9e603db3285ull, 0x3ffdfc97337b9b5full, 0x3ffe502ee78b3ff6ull,
    0x3ffea4afa2a490daull, 0x3ffefa1bee615a27ull, 0x3fff50765b6e4540ull, 0x3fffa7c1819e90d8ull,
};
__device__ const u64 powers_low[] = {
    0x0000000000000000ull, 0xbc719083535b085dull, 0x3c8d73e2a475b465ull, 0x3c6186be4bb284ffull,
    0x3c98a62e4adc610bull, 0x3c403a1727c57b53ull, 0xbc96c51039449b3aull, 0xbc932fbf9af1369eull,
    0xbc819041b9d78a76ull, 0x3c8e5b4c7b4968e4ull, 0x3c9e016e00a2643cull, 0x3c8dc775814a8495ull,
    0x3c99b07eb6c70573ull, 0x3c82bd339940e9d9ull, 0x3c8612e8afad1255ull, 0x3c90024754db41d5ull,
    0x3c86f46ad23182e4ull, 0x3c932721843659a6ull, 0xbc963aeabf42eae2ull, 0xbc75e436d661f5e3ull,
    0x3c8ada0911f09ebcull, 0xbc5ef3691c309278ull, 0x3c489b7a04ef80d0ull, 0x3c73c1a3b69062f0ull,
    0x3c7d4397afec42e2ull, 0xbc94b309d25957e3ull, 0xbc807abe1db13cadull, 0x3c99bb2c011d93adull,
    0x3c96324c054647adull, 0x3c9ba6f93080e65eull, 0xbc9383c17e40b497ull, 0xbc9bb60987591c34ull,
    0xbc9bdd3413b26456ull, 0xbc6bbe3a683c88abull, 0xbc816e4786887a99ull, 0xbc90245957316dd3ull,
    0xbc841577ee04992full, 0x3c705d02ba15797eull, 0xbc9d4c1dd41532d8ull, 0xbc9fc6f89bd4f6baull,
    0x3c96e9f156864b27ull, 0x3c85cc13a2e3976cull, 0xbc675fc781b57ebcull, 0xbc9d185b7c1b85d1ull,
    0x3c7c7c46b071f2beull, 0xbc9359495d1cd533ull, 0xbc9d2f6edb8d41e1ull, 0x3c90fac90ef7fd31ull,
    0x3c97a1cd345dcc81ull, 0xbc62805e3084d708ull, 0xbc75584f7e54ac3bull, 0x3c823dd07a2d9e84ull,
    0x3c811065895048ddull, 0x3c92884dff483cadull, 0x3c7503cbd1e949dbull, 0xbc9cbc3743797a9cull,
    0x3c82ed02d75b3707ull, 0x3c9c2300696db532ull, 0xbc91a5cd4f184b5cull, 0x3c839e8980a9cc8full,
    0xbc9e9c23179c2893ull, 0x3c9dc7f486a4b6b0ull, 0x3c99d3e12dd8a18bull, 0x3c874853f3a5931eull,
};
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
    const double power = of_bits(powers_high[k & 63]), power_low = of_bits(powers_low[k & 63]);
    const double product = power * high, error = fma(power, high, -product);
    const double first = power + product;
    const double second = (power - first) + product + (error + power_low + power * (low + rest) + power_low * r);
    const double sum = first + second, left = (first - sum) + second;
    const double margin = of_bits(bits_of(sum) & 0x7ff0000000000000ull) * (0.014 / 4503599627370496.0);
    const double down = sum + (left - margin), up = sum + (left + margin);
    return {of_bits(bits_of(up) + ((u64)(i64)(k >> 6) << 52)), down == up};
}
