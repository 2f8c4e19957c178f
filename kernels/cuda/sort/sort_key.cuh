// SPDX-License-Identifier: Apache-2.0
//
// The code of an element. Part is the unsigned type of its size, or of a complex number's parts. Complex numbers are
// ordered by which parts are NaN, then by the real, then by the imaginary part, as NumPy does. Bytes below FIRST_BYTE are
// in order already.
#if IS_COMPLEX
struct Raw { Part re, im; };
#else
typedef Part Raw;
#endif
constexpr Part SIGN = (Part)((Part)1 << (8 * sizeof(Part) - 1));
constexpr u32 BYTES = sizeof(Part), PASSES = IS_COMPLEX ? 2 * BYTES + 1 : BYTES - FIRST_BYTE;

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
// A byte of the code, without a branch.
FN u32 digit_of_part(Part x, u32 pass)
{
    const u32 byte = (u32)(x >> 8 * pass) & (RADIX - 1), top = pass == BYTES - 1 ? RADIX / 2 : 0;
    if (!IS_FLOAT)
        return IS_SIGNED ? byte ^ top : byte;
    const Part size = (Part)(x << 1);
    u32 digit = byte ^ (x & SIGN ? RADIX - 1 : top);
    digit = size == 0 ? top : digit;
    return size > (Part)(INFINITE_BITS << 1) ? RADIX - 1 : digit;
}
#if IS_COMPLEX
FN u32 group_of(Raw x) { return (is_not_a_number(x.re) ? 2 : 0) + (is_not_a_number(x.im) ? 1 : 0); }
FN u32 digit_of(Raw x, u32 pass)
{
    if (pass >= 2 * BYTES)
        return group_of(x);
    return digit_of_part(pass < BYTES ? x.im : x.re, pass % BYTES);
}
FN Raw last_of_all() { return {(Part)~(Part)0, (Part)~(Part)0}; }
FN bool is_before(Raw a, Raw b)
{
    const u32 x = group_of(a), y = group_of(b);
    const Part re_a = code_of(a.re), re_b = code_of(b.re);
    if (x != y)
        return x < y;
    return re_a != re_b ? re_a < re_b : code_of(a.im) < code_of(b.im);
}
#else
FN u32 digit_of(Raw x, u32 pass) { return digit_of_part(x, pass + FIRST_BYTE); }
// An element that no other one is behind.
FN Raw last_of_all() { return IS_SIGNED ? (Part)~SIGN : (Part)~(Part)0; }
FN bool is_before(Raw a, Raw b) { return code_of(a) < code_of(b); }
#endif
