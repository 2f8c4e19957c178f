// SPDX-License-Identifier: Apache-2.0
//
// exp and pow as any C library rounds them whose errors are below 0.5115 units in the last place and 0.0001 times |y log(x)| of these (glibc
// from 2.28 on: exp 0.511; pow 0.511 and 0.00005 |y log(x)|). NaN where the exact value is so near the middle between two numbers
// that it is not certain how it rounds, 1 number of 40 for exp, and where the result may not be normal, or x of pow is not positive, normal
// and finite. See special_base.cuh.
//
// 2^(i / 64) in two parts.
SPECIAL_TABLE double special_power_high[] = {
    1.0, 1.0108892860517005, 1.0218971486541166, 1.0330248790212284, 1.0442737824274138, 1.0556451783605572, 1.0671404006768237,
    1.0787607977571199, 1.0905077326652577, 1.102382583307841, 1.1143867425958924, 1.1265216186082418, 1.1387886347566916,
    1.1511892299529827, 1.1637248587775775, 1.1763969916502812, 1.189207115002721, 1.202156731452703, 1.215247359980469,
    1.22848053610687, 1.241857812073484, 1.255380757024691, 1.2690509571917332, 1.2828700160787783, 1.2968395546510096,
    1.3109612115247644, 1.3252366431597413, 1.339667524053303, 1.3542555469368927, 1.3690024229745905, 1.383909881963832,
    1.3989796725383112, 1.4142135623730951, 1.42961333839197, 1.4451808069770467, 1.460917794180647, 1.4768261459394993,
    1.4929077282912648, 1.5091644275934228, 1.5255981507445384, 1.5422108254079407, 1.559004400237837, 1.5759808451078865,
    1.593142151342267, 1.6104903319492543, 1.6280274218573478, 1.645755478153965, 1.6636765803267364, 1.681792830507429,
    1.7001063537185235, 1.718619298122478, 1.7373338352737062, 1.7562521603732995, 1.7753764925265212, 1.7947090750031072,
    1.8142521755003989, 1.8340080864093424, 1.8539791250833855, 1.8741676341103, 1.8945759815869656, 1.9152065613971474,
    1.9360617934922943, 1.9571441241754002, 1.978456026387951,
};
SPECIAL_TABLE double special_power_low[] = {
    0.0, -1.5234778603368577e-17, 5.109225028973444e-17, 7.600838874027088e-18, 8.551889705537965e-17, 1.759325738772092e-18,
    -7.899853966841582e-17, -6.656660436056593e-17, -3.046782079812471e-17, 5.2660368715706944e-17, 1.0410278456845571e-16,
    5.165856758795457e-17, 8.912812676025408e-17, 3.250710218863827e-17, 3.8292048369240935e-17, 5.554203254218079e-17,
    3.982015231465646e-17, 6.644981499252301e-17, -7.712630692681488e-17, -1.89878163130253e-17, 4.658027591836937e-17,
    -6.7113898212968784e-18, 2.667932131342186e-18, 1.713594918243561e-17, 2.5382502794888315e-17, -7.181536135519454e-17,
    -2.8587312100388614e-17, 8.927282594831732e-17, 7.70094837980299e-17, 9.593797919118849e-17, -6.770511658794786e-17,
    -9.614213209051323e-17, -9.667293313452913e-17, -1.2031642489053655e-17, -3.0237581349939873e-17, -5.600377186075216e-17,
    -3.483994556892796e-17, 1.4192920154284036e-17, -1.016455327754295e-16, -1.1024941712342561e-16, 7.949834809697621e-17,
    3.7812070533575275e-17, -1.0136916471278304e-17, -1.0094406542311964e-16, 2.4707192569797888e-17, -6.712955084707084e-17,
    -1.0125679913674773e-16, 5.8909926967131e-17, 8.199010020581497e-17, -8.0237193703977e-18, -1.851380418263111e-17,
    3.164389299292957e-17, 2.960140695448873e-17, 6.429731796556572e-17, 1.8227458427912087e-17, -9.969531538920349e-17,
    3.283107224245627e-17, 9.761887490727594e-17, -6.122763413004143e-17, 3.4034035352165297e-17, -1.0619946056195963e-16,
    1.0332385960676326e-16, 8.960767791036668e-17, 4.0388753109278167e-17,
};
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
