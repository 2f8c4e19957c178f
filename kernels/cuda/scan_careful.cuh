// SPDX-License-Identifier: Apache-2.0
//
// When partial products may differ from what the sequence of multiplications gives: where they, or they behind `carry`,
// leave the range in which nothing overflows or is rounded to zero. Behind a zero any finite value does no harm, behind
// an infinity any but zero and NaN, behind a NaN all.
//
// A size is the upper 32 bits of a magnitude (of a complex number's larger part): ordered as magnitudes are, NaN
// highest, and nearly linear in their logarithms. What they cut off makes a value strange at worst.
FN u32 size_of(float x) { return bits_of(x) & 0x7fffffffu; }
FN u32 size_of(double x) { return (u32)(bits_of(x) >> 32) & 0x7fffffffu; }
template <class F> FN u32 size_of(Complex<F> z)
{
    const u32 re = size_of(z.re), im = size_of(z.im);
    return re > im ? re : im;
}
template <class F> FN bool is_zero(F x) { return x == 0; }
template <class F> FN bool is_zero(Complex<F> z) { return z.re == 0 && z.im == 0; }
template <class V> struct Part { typedef V type; };
template <class F> struct Part<Complex<F>> { typedef F type; };
typedef Part<A>::type Real;
constexpr bool IS_COMPLEX = sizeof(Real) != sizeof(A);
constexpr int MANTISSA = Bits<Real>::mantissa % 32, SAFE = sizeof(Real) == 4 ? 100 : 996; // powers of 2
constexpr u32 ONE = (u32)Bits<Real>::bias << MANTISSA, INFINITY_SIZE = (u32)(2 * Bits<Real>::bias + 1) << MANTISSA;
FN bool is_in_range(i64 size) { return size > ONE - ((i64)SAFE << MANTISSA) && size < ONE + ((i64)SAFE << MANTISSA); }

struct Range {
    u32 low, high;
    FN void widen(Range other)
    {
        low = other.low < low ? other.low : low;
        high = other.high > high ? other.high : high;
    }
    FN void note(A x) { widen({size_of(x), size_of(x)}); }
    // Behind a number that is in the range with all of these, `factor` being its size.
    FN bool is_harmless(A carry, bool has_carry, u32 factor) const
    {
        const u32 before = has_carry ? size_of(carry) : ONE;
        if (has_carry && is_zero(carry))
            return high < INFINITY_SIZE;
        if (before == INFINITY_SIZE)
            return !IS_COMPLEX && low > 0 && high <= INFINITY_SIZE;
        const i64 shift = (i64)factor - ONE;
        return before > INFINITY_SIZE || (is_in_range(low) && is_in_range(high) && is_in_range(low + shift) && is_in_range(high + shift));
    }
    FN bool is_safe(A carry, bool has_carry) const { return is_harmless(carry, has_carry, has_carry ? size_of(carry) : ONE); }
};
FN Range no_range() { return {~0u, 0}; }
// Of outputs, and what they were made of but the carry.
FN bool is_strange(Range range, A carry, bool has_carry)
{
    return range.low <= range.high && !range.is_harmless(carry, has_carry, ONE);
}
// All threads; the first one's result counts.
FN Range range_of_block(Range range)
{
    __shared__ Range ranges[BLOCK];
    ranges[threadIdx.x] = range;
    __syncthreads();
    for (u32 s = BLOCK / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            ranges[threadIdx.x].widen(ranges[threadIdx.x + s]);
        __syncthreads();
    }
    return ranges[0];
}
