// SPDX-License-Identifier: Apache-2.0
//
// Functions of a complex number's length.
template <class F> FN F gsh_abs(Complex<F> a) { return length_of(a.re, a.im); }
// a / |a|; where a part is infinite, the direction of its axis.
template <class F> FN Complex<F> gsh_sign(Complex<F> a)
{
    const F length = length_of(a.re, a.im), nan = of_bits(Bits<F>::infinite | Bits<F>::quiet);
    if (length != length || (gsh_isinf(a.re) && gsh_isinf(a.im)))
        return {nan, nan};
    if (gsh_isinf(a.re))
        return {a.re > 0 ? (F)1 : (F)-1, 0};
    if (gsh_isinf(length))
        return {0, a.im > 0 ? (F)1 : (F)-1};
    return length == 0 ? Complex<F>{0, 0} : Complex<F>{a.re / length, a.im / length};
}
