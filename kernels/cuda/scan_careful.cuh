// SPDX-License-Identifier: Apache-2.0
//
// When partial products may differ from what the sequence of multiplications gives: where they, or they behind `carry`,
// leave the range in which nothing overflows or is rounded to zero. Behind a zero any finite value does no harm, behind
// an infinity any but zero and NaN, behind a NaN all.
template <class F> constexpr F SAFE = sizeof(F) == 4 ? (F)1e30f : (F)1e300;
template <class F> FN bool is_in_range(F size) { return size > 1 / SAFE<F> && size < SAFE<F>; }
template <class F> FN F size_of(F x) { return fabs(x); }
template <class F> FN F size_of(Complex<F> z)
{
    const F re = fabs(z.re), im = fabs(z.im);
    return re == re && im == im ? (re > im ? re : im) : re + im;
}
template <class F> constexpr bool IS_COMPLEX = false;
template <class F> constexpr bool IS_COMPLEX<Complex<F>> = true;
typedef decltype(size_of(A())) Size;

FN bool is_strange(A x, A carry, bool has_carry)
{
    const Size size = size_of(x), before = has_carry ? size_of(carry) : (Size)1, infinite = (Size)INFINITE;
    return before == 0          ? !(size < infinite)
         : before == infinite   ? IS_COMPLEX<A> || !(size > 0)
         : before == before     ? !is_in_range(size)
                                : false;
}

struct Range {
    Size low, high; // NaN is highest
    FN void note(A x)
    {
        const Size size = size_of(x);
        widen({size, size});
    }
    FN void widen(Range other)
    {
        low = other.low < low ? other.low : low;
        high = other.high <= high || high != high ? high : other.high;
    }
    FN bool is_safe(A carry, bool has_carry) const
    {
        const Size before = has_carry ? size_of(carry) : (Size)1, infinite = (Size)INFINITE;
        if (before == 0)
            return high < infinite;
        if (before == infinite)
            return !IS_COMPLEX<A> && low > 0 && high == high;
        if (before != before)
            return true;
        return is_in_range(low) && is_in_range(high) && is_in_range(before * low) && is_in_range(before * high);
    }
};
FN Range no_range() { return {(Size)INFINITE, 0}; }
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
