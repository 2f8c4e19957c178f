// SPDX-License-Identifier: Apache-2.0
//
// Operations on integers only. Quotient and remainder round to minus infinity; division by zero
// yields 0, the least value over -1 itself.
template <class I> FN I gsh_floor_divide(I a, I b)
{
    if (b == 0)
        return 0;
    if constexpr (is_signed<I>) {
        if (b == -1)
            return gsh_negate(a);
        const I quotient = (I)(a / b);
        return (I)(quotient - (quotient * b != a && (a < 0) != (b < 0)));
    }
    return (I)(a / b);
}
template <class I> FN I gsh_fmod(I a, I b) { return b == 0 || (is_signed<I> && b == (I)-1) ? (I)0 : (I)(a % b); }
template <class I> FN I gsh_remainder(I a, I b)
{
    const I rest = gsh_fmod(a, b);
    return is_signed<I> && rest != 0 && (rest < 0) != (b < 0) ? (I)(rest + b) : rest;
}
template <class I> FN I gsh_power(I a, I b)
{
    typedef typename Wrap<I>::type U;
    if (b < 0)
        return 0;
    U result = 1, square = (U)a;
    for (U left = (U)b; left != 0; left >>= 1, square *= square)
        if (left & 1)
            result *= square;
    return (I)result;
}
template <class I> FN I gsh_reciprocal(I a) // the result of the conversion of 1.0 / a
{
    return a == 1 || a == (I)-1 ? (a == 1 || is_signed<I> ? a : (I)0) : a == 0 && is_signed<I> && sizeof(I) >= 4 ? lowest_integer<I> : (I)0;
}
template <class I> FN typename Wrap<I>::type magnitude(I a)
{
    typedef typename Wrap<I>::type U;
    return a < 0 ? (U)0 - (U)a : (U)a;
}
// Greatest common divisors by shifts and differences: on a GPU a division takes longer than many such steps. Steps
// have 64 bits only while the numbers need them.
FN int trailing_zeros(u32 a) { return 31 - __clz((int)(a & (0 - a))); }
FN int trailing_zeros(u64 a) { return __ffsll((i64)a) - 1; }
FN bool is_short(u64 a, u64 b) { return (a | b) >> 32 == 0; }
FN bool is_short(u32, u32) { return false; } // there is no shorter type
template <class U> FN void step_divisor(U &odd, U &other)
{
    other >>= trailing_zeros(other);
    const U less = odd < other ? odd : other;
    other = odd < other ? other - odd : odd - other;
    odd = less;
}
template <class U> FN U odd_divisor(U odd, U other) // of an odd number and another, which is not 0
{
#pragma unroll 1
    do {
        step_divisor(odd, other);
    } while (other != 0 && !is_short(odd, other));
    if constexpr (sizeof(U) == 8)
        return other == 0 ? odd : odd_divisor((u32)odd, (u32)other);
    return odd;
}
template <class U> FN U common_divisor(U a, U b) // neither is 0
{
    if (is_short(a, b))
        return common_divisor((u32)a, (u32)b);
    return odd_divisor((U)(a >> trailing_zeros(a)), b) << trailing_zeros((U)(a | b));
}
FN u32 inverse(u32 odd) // inverse(odd) * odd == 1, but for what overflows
{
    u32 found = odd * 3 ^ 2; // 5 bits are right; each step doubles them
    for (int bits = 5; bits < 32; bits *= 2)
        found *= 2 - odd * found;
    return found;
}
FN u64 inverse(u64 odd)
{
    const u64 found = inverse((u32)odd);
    return found * (2 - odd * found);
}
template <class U> FN U without_divisor(U a, U b) // a over the common divisor of a and b; neither is 0
{
    if (is_short(a, b))
        return without_divisor((u32)a, (u32)b);
    return (a >> trailing_zeros((U)(a | b))) * inverse(odd_divisor((U)(a >> trailing_zeros(a)), b));
}
template <class I> FN I gsh_gcd(I a, I b)
{
    const typename Wrap<I>::type x = magnitude(a), y = magnitude(b);
    return (I)(x == 0 || y == 0 ? x | y : common_divisor(x, y));
}
template <class I> FN I gsh_lcm(I a, I b)
{
    const typename Wrap<I>::type x = magnitude(a), y = magnitude(b);
    return x == 0 || y == 0 ? (I)0 : (I)(without_divisor(x, y) * y);
}
template <class I> FN I gsh_bit_and(I a, I b) { return (I)(a & b); }
template <class I> FN I gsh_bit_or(I a, I b) { return (I)(a | b); }
template <class I> FN I gsh_bit_xor(I a, I b) { return (I)(a ^ b); }
template <class I> FN I gsh_invert(I a) { return (I)~a; }
FN bool gsh_invert(bool a) { return !a; }
// By as many bits as there are, or more, or a negative number: nothing but the sign is left.
template <class I> FN I gsh_left_shift(I a, I b)
{
    return (u64)(i64)b < 8 * sizeof(I) ? (I)((typename Wrap<I>::type)a << b) : (I)0;
}
template <class I> FN I gsh_right_shift(I a, I b)
{
    return (u64)(i64)b < 8 * sizeof(I) ? (I)(a >> b) : a < 0 ? (I)-1 : (I)0;
}
template <class I> FN u8 gsh_bit_count(I a) { return (u8)__popcll(magnitude(a)); }
