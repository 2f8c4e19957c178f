// SPDX-License-Identifier: Apache-2.0
//
// The accumulator of a product of floats whose elements are joined in any order: its value, and whether a partial
// product left the range of numbers, so that another order may have another result (cuda/ordered.cuh).
template <class V> struct alignas(8) Running {
    V value;
    u32 left;
};
template <class F> FN F larger_part(F x) { return gsh_abs(x); }
template <class F> FN F larger_part(Complex<F> z)
{
    const F re = gsh_abs(z.re), im = gsh_abs(z.im);
    return re != re || re > im ? re : im; // NaN, if any is
}
// Neither zero nor subnormal, infinite or NaN.
template <class V> FN bool is_normal(V x)
{
    typedef decltype(larger_part(x)) F;
    constexpr typename Bits<F>::Word least = (typename Bits<F>::Word)1 << Bits<F>::mantissa;
    return bits_of(larger_part(x)) - least < Bits<F>::infinite - least;
}
template <class V> FN bool is_number_but_zero(V x) { return gsh_isfinite(x) && larger_part(x) != 0; }
// Where r is the product of a and b.
template <class V> FN bool leaves(V a, V b, V r)
{
    return !is_normal(r) && ((is_number_but_zero(a) && is_number_but_zero(b)) ||
                             (gsh_isnan(r) && !gsh_isnan(a) && !gsh_isnan(b)));
}
template <class V> FN Running<V> run_on(Running<V> a, Running<V> b, V product)
{
    return {product, a.left | b.left | (u32)leaves(a.value, b.value, product)};
}
// Where only the rounding of a total to float16 overflows.
template <class V> FN bool rounds_away(V total, V rounded) { return gsh_isfinite(total) && !gsh_isfinite(rounded); }
