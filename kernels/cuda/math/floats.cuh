// SPDX-License-Identifier: Apache-2.0
//
// Operations on floats that need no series: exact ones, and those composed of a few exact ones.
// Quotient and remainder as Python defines them; the quotient is computed from the remainder.
template <class F> __device__ __noinline__ F slow_rest(F a, F b) { return propagate_nan(fmod(a, b), a, b); }
// Whether the quotient is so small that `whole` and `rest` are exact. Python's method then gives the same.
template <class F> FN bool divides_quickly(F a, F b)
{
    return fabs(a) < (F)(1ll << (Bits<F>::mantissa - 2)) * fabs(b) && gsh_isfinite(b);
}
template <class F> FN void divide_quickly(F a, F b, F &whole, F &rest)
{
    whole = trunc(a / b);
    rest = fma(-whole, b, a);
    if (rest != 0 && (rest < 0) != (a < 0)) { // a / b was rounded up to an integer
        whole -= copysign((F)1, whole);
        rest += copysign(b, a);
    }
    rest = rest == 0 ? copysign((F)0, a) : rest;
}
template <class F> FN F rest_of(F a, F b)
{
    F whole, rest;
    if (!divides_quickly(a, b))
        return slow_rest(a, b);
    divide_quickly(a, b, whole, rest);
    return rest;
}
FN float gsh_fmod(float a, float b) { return rest_of(a, b); }
FN double gsh_fmod(double a, double b) { return rest_of(a, b); }
template <class F> __device__ __noinline__ F slow_floor_of_quotient(F a, F b)
{
    if (b == 0)
        return propagate_nan(a / b, a, b);
    const F rest = slow_rest(a, b);
    F quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0))
        quotient -= 1;
    if (quotient == 0)
        return copysign((F)0, a / b);
    const F floored = floor(quotient);
    return propagate_nan(quotient - floored > (F)0.5 ? floored + 1 : floored, a, b);
}
template <class F> FN F floor_of_quotient(F a, F b)
{
    F whole, rest;
    if (!divides_quickly(a, b))
        return slow_floor_of_quotient(a, b);
    divide_quickly(a, b, whole, rest);
    if (rest != 0 && (b < 0) != (rest < 0))
        whole -= 1;
    return whole == 0 ? copysign((F)0, a / b) : whole;
}
FN float gsh_floor_divide(float a, float b) { return floor_of_quotient(a, b); }
FN double gsh_floor_divide(double a, double b) { return floor_of_quotient(a, b); }
template <class F> FN F python_remainder(F a, F b)
{
    const F rest = rest_of(a, b);
    if (b == 0 || rest != rest)
        return rest;
    if (rest == 0)
        return copysign((F)0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}
FN float gsh_remainder(float a, float b) { return python_remainder(a, b); }
FN double gsh_remainder(double a, double b) { return python_remainder(a, b); }
FN float gsh_reciprocal(float a) { return propagate_nan(1 / a, a, a); }
FN double gsh_reciprocal(double a) { return propagate_nan(1 / a, a, a); }

FN float gsh_floor(float a) { return propagate_nan(floorf(a), a, a); }
FN double gsh_floor(double a) { return propagate_nan(floor(a), a, a); }
FN float gsh_ceil(float a) { return propagate_nan(ceilf(a), a, a); }
FN double gsh_ceil(double a) { return propagate_nan(ceil(a), a, a); }
FN float gsh_trunc(float a) { return propagate_nan(truncf(a), a, a); }
FN double gsh_trunc(double a) { return propagate_nan(trunc(a), a, a); }
FN float gsh_rint(float a) { return propagate_nan(rintf(a), a, a); }
FN double gsh_rint(double a) { return propagate_nan(rint(a), a, a); }
template <class I> FN I gsh_floor(I a) { return a; }
template <class I> FN I gsh_ceil(I a) { return a; }
template <class I> FN I gsh_trunc(I a) { return a; }

template <class F> constexpr F pi = (F)3.14159265358979323846;
template <class F> FN F gsh_degrees(F a) { return propagate_nan(a * ((F)180 / pi<F>), a, a); }
template <class F> FN F gsh_radians(F a) { return propagate_nan(a * (pi<F> / (F)180), a, a); }
template <class F> FN F gsh_heaviside(F a, F b)
{
    return a != a ? of_bits(Bits<F>::infinite | Bits<F>::quiet) : a == 0 ? b : (F)(a > 0);
}
template <class F> FN F gsh_copysign(F a, F b)
{
    return of_bits((bits_of(a) & ~Bits<F>::sign) | (bits_of(b) & Bits<F>::sign));
}
template <class F> FN bool gsh_signbit(F a) { return (bits_of(a) & Bits<F>::sign) != 0; }

// The neighbour of a, which is not 0, away from zero or towards it. A float16 steps by 2^13 of a float's units; below
// 2^-14 by 2^-24.
template <class F> FN F step(F a, bool away, bool is_half)
{
    const typename Bits<F>::Word unit = is_half ? 1 << 13 : 1;
    const F size = gsh_abs(a), least = (F)6.103515625e-05;
    if (is_half && size > (F)65504) // infinity's neighbour
        return copysign((F)65504, a);
    if (is_half && (away ? size < least : size <= least))
        return copysign(size + (F)(away ? 5.9604644775390625e-08 : -5.9604644775390625e-08), a);
    return of_bits(away ? bits_of(a) + unit : bits_of(a) - unit);
}
template <class F> FN F least_number(bool is_half) { return is_half ? (F)5.9604644775390625e-08 : of_bits((typename Bits<F>::Word)1); }
template <class F> FN F gsh_nextafter(F a, F b, bool is_half)
{
    if (a != a || b != b)
        return is_half ? of_bits(Bits<F>::infinite | Bits<F>::quiet) : propagate_nan(a + b, a, b);
    if (a == b)
        return b;
    if (a == 0)
        return copysign(least_number<F>(is_half), b);
    return step(a, (b > a) == (a > 0), is_half);
}
// The distance to the next number away from zero, with the sign of a; for float16, to the next greater number.
template <class F> FN F gsh_spacing(F a, bool is_half)
{
    if (!gsh_isfinite(a))
        return a != a && !is_half ? quiet(a) : of_bits(Bits<F>::infinite | Bits<F>::quiet);
    if (a == 0)
        return least_number<F>(is_half);
    const F next = step(a, a > 0 || !is_half, is_half);
    return is_half && next > (F)65504 ? (F)INFINITE : next - a;
}
template <class F> FN F gsh_modf_fraction(F a)
{
    return propagate_nan(copysign(gsh_isinf(a) ? (F)0 : a - trunc(a), a), a, a);
}
template <class F> FN int gsh_frexp_exponent(F a)
{
    typedef Bits<F> B;
    const F scaled = gsh_abs(a) < of_bits((typename B::Word)1 << B::mantissa) ? a * (F)(1ll << B::mantissa) : a;
    const int exponent = (int)((bits_of(scaled) & B::infinite) >> B::mantissa) - (B::bias - 1);
    return a == 0 || !gsh_isfinite(a) ? 0 : scaled == a ? exponent : exponent - B::mantissa;
}
template <class F> FN F gsh_frexp_mantissa(F a)
{
    typedef Bits<F> B;
    const F scaled = gsh_abs(a) < of_bits((typename B::Word)1 << B::mantissa) ? a * (F)(1ll << B::mantissa) : a;
    if (a == 0 || !gsh_isfinite(a))
        return a != a ? quiet(a) : a;
    return of_bits((bits_of(scaled) & ~B::infinite) | (typename B::Word)(B::bias - 1) << B::mantissa);
}
template <class F> FN F gsh_ldexp(F a, i64 b)
{
    const int power = b > 100000 ? 100000 : b < -100000 ? -100000 : (int)b;
    return propagate_nan(ldexp(a, power), a, a);
}
