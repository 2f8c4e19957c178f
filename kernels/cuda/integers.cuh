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
template <class I> FN I gsh_reciprocal(I a) // what the conversion of 1.0 / a leaves
{
    return a == 1 || a == (I)-1 ? (a == 1 || is_signed<I> ? a : (I)0) : a == 0 && is_signed<I> && sizeof(I) >= 4 ? lowest_integer<I> : (I)0;
}
template <class I> FN typename Wrap<I>::type magnitude(I a)
{
    typedef typename Wrap<I>::type U;
    return a < 0 ? (U)0 - (U)a : (U)a;
}
template <class U> FN U common_divisor(U a, U b)
{
    while (a != 0) {
        const U rest = b % a;
        b = a;
        a = rest;
    }
    return b;
}
template <class I> FN I gsh_gcd(I a, I b) { return (I)common_divisor(magnitude(a), magnitude(b)); }
template <class I> FN I gsh_lcm(I a, I b)
{
    const typename Wrap<I>::type x = magnitude(a), y = magnitude(b), divisor = common_divisor(x, y);
    return divisor == 0 ? (I)0 : (I)(x / divisor * y);
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
