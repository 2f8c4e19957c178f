// SPDX-License-Identifier: Apache-2.0
//
// The functions of cuda/math/errors.cuh for a Glance instead of a Sink: they only set the flag that there may be an
// error.
namespace quick {
template <int MAY, class R, class A, class B, class C> FN void check_result(const Glance &glance, R r, A, B, C)
{
    glance.is_odd |= !gsh_isfinite(r);
}
template <class I> FN void check_division(const Glance &glance, int, I a, I b)
{
    glance.is_odd |= b == 0 || (is_signed<I> && a == lowest_integer<I> && b == (I)-1);
}
template <class I> FN void check_reciprocal(const Glance &glance, I a) { glance.is_odd |= a == 0; }
template <class To, class From, class A, class B, class C>
FN void check_cast(const Glance &glance, From x, To y, A, B, C)
{
    if constexpr (Kind<From>::integer == 0 && Kind<To>::integer != 0)
        glance.is_odd |= is_beyond<To>(real_part(value(x)));
    else
        glance.is_odd |= !gsh_isfinite(real_part(value(y))) || !gsh_isfinite(imaginary_part(value(y)));
}
}
