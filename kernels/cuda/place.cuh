// SPDX-License-Identifier: Apache-2.0
//
// The accumulator of argmax and argmin: an element and its index among the reduced ones. The first NaN wins, else the
// first of the greatest (least) elements.
template <class V, class I> struct alignas(8) Place {
    V value;
    I index;
};
template <bool GREATEST, class V> FN bool is_better(V x, V y) // NaN is best
{
    return !gsh_isnan(y) && !(GREATEST ? gsh_less_equal(x, y) : gsh_greater_equal(x, y));
}
// Requires that a comes before b.
template <bool GREATEST, class P> FN P better_later(P a, P b) { return is_better<GREATEST>(b.value, a.value) ? b : a; }
template <bool GREATEST, class P> FN P better_place(P a, P b)
{
    if (is_better<GREATEST>(b.value, a.value))
        return b;
    return is_better<GREATEST>(a.value, b.value) || a.index <= b.index ? a : b;
}
