// SPDX-License-Identifier: Apache-2.0
//
// The functions of cuda/math/errors.cuh for a FastPath instead of a Sink: they only set the flag that there may be an
// error.
namespace fast {
template <int MAY, class R, class A, class B, class C> FN void check_result(const FastPath &fast, R r, A, B, C)
{
    fast.is_special |= !gsh_isfinite(r);
}
template <class I> FN void check_division(const FastPath &fast, int, I a, I b)
{
    fast.is_special |= b == 0 || (is_signed<I> && a == lowest_integer<I> && b == (I)-1);
}
template <class I> FN void check_reciprocal(const FastPath &fast, I a) { fast.is_special |= a == 0; }
template <class To, class From, class A, class B, class C>
FN void check_cast(const FastPath &fast, From x, To y, A, B, C)
{
    if constexpr (Kind<From>::integer == 0 && Kind<To>::integer != 0)
        fast.is_special |= is_beyond<To>(real_part(value(x)));
    else
        fast.is_special |= !gsh_isfinite(real_part(value(y))) || !gsh_isfinite(imaginary_part(value(y)));
}
}
