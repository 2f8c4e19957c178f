// SPDX-License-Identifier: Apache-2.0
//
// The code of an element. Part is the unsigned type of its size, or of a complex number's parts. Complex numbers are
// ordered by which parts are NaN, then by the real, then by the imaginary part, as NumPy does.
#if IS_COMPLEX
struct Raw { Part re, im; };
#else
typedef Part Raw;
#endif
constexpr Part SIGN = (Part)((Part)1 << (8 * sizeof(Part) - 1));
constexpr u32 BYTES = sizeof(Part), PASSES = IS_COMPLEX ? 2 * BYTES + 1 : BYTES;

FN bool is_not_a_number(Part x) { return IS_FLOAT && (Part)(x & (Part)~SIGN) > INFINITE_BITS; }
FN Part code_of(Part x)
{
    if (IS_FLOAT) {
        if (is_not_a_number(x))
            return (Part)~(Part)0;
        x = x == SIGN ? (Part)0 : x;
        return x & SIGN ? (Part)~x : (Part)(x | SIGN);
    }
    return IS_SIGNED ? (Part)(x ^ SIGN) : x;
}
#if IS_COMPLEX
FN u32 group_of(Raw x) { return (is_not_a_number(x.re) ? 2 : 0) + (is_not_a_number(x.im) ? 1 : 0); }
FN u32 digit_of(Raw x, u32 pass)
{
    if (pass >= 2 * BYTES)
        return group_of(x);
    const Part code = code_of(pass < BYTES ? x.im : x.re);
    return (u32)(code >> 8 * (pass % BYTES)) & (RADIX - 1);
}
FN bool is_before(Raw a, Raw b)
{
    const u32 x = group_of(a), y = group_of(b);
    const Part re_a = code_of(a.re), re_b = code_of(b.re);
    if (x != y)
        return x < y;
    return re_a != re_b ? re_a < re_b : code_of(a.im) < code_of(b.im);
}
#else
FN u32 digit_of(Raw x, u32 pass) { return (u32)(code_of(x) >> 8 * pass) & (RADIX - 1); }
FN bool is_before(Raw a, Raw b) { return code_of(a) < code_of(b); }
#endif
