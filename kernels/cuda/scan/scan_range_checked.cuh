// SPDX-License-Identifier: Apache-2.0
//
// Which elements may be joined in another order than one after the other: those whose partial products, by themselves
// and after the prefixes of all levels, stay in the range where nothing overflows or is rounded to a subnormal
// number. After a zero, an infinity or a NaN elements count only by their signs. After another number out of the
// range elements that do not change it do not count. Elements that spoil this are joined one after the other
// (scan_tile.cuh).
//
// A size is the upper 32 bits of a magnitude (of a complex number's larger part) minus those of 1. Sizes have the
// order of magnitudes, NaN highest, and are nearly linear in their logarithms, so the size of a product is about the
// sum of sizes.
template <class V> struct Part { typedef V type; };
template <class F> struct Part<Complex<F>> { typedef F type; };
typedef Part<A>::type Real;
constexpr bool IS_COMPLEX = sizeof(Real) != sizeof(A);
constexpr int MANTISSA = Bits<Real>::mantissa % 32;
constexpr i32 UNIT_SIZE = (i32)Bits<Real>::bias << MANTISSA, INFINITE_SIZE = (i32)(Bits<Real>::bias + 1) << MANTISSA;
constexpr i32 SAFE = (sizeof(Real) == 4 ? 116 : 1012) << MANTISSA;
FN i32 upper_of(float x) { return (i32)bits_of(x); }
FN i32 upper_of(double x) { return (i32)(bits_of(x) >> 32); }
template <class F> FN i32 upper_of(Complex<F>) { return -1; }
template <class F> FN i32 size_of(F x) { return (upper_of(x) & 0x7fffffff) - UNIT_SIZE; }
template <class F> FN i32 size_of(Complex<F> z)
{
    const i32 re = size_of(z.re), im = size_of(z.im);
    return re > im ? re : im;
}
FN bool is_in_range(i32 size) { return size > -SAFE && size < SAFE; }

template <class F> FN bool is_zero(F x) { return x == 0; }
template <class F> FN bool is_zero(Complex<F> z) { return z.re == 0 && z.im == 0; }
template <class F> FN bool is_same(F a, F b) { return a == b; }
template <class F> FN bool is_same(Complex<F>, Complex<F>) { return false; }
template <class F> FN bool is_absorbing(F x) { return x == 0 || !gsh_isfinite(x); }
template <class F> FN bool is_absorbing(Complex<F> z) { return is_zero(z) || (gsh_isnan(z.re) && gsh_isnan(z.im)); }
FN float sign_of(float x) { return copysignf(1.0f, x); }
FN double sign_of(double x) { return copysign(1.0, x); }
template <class F> FN Complex<F> sign_of(Complex<F>) { return {1, 0}; }
template <class F> FN F nan_of(F) { return of_bits(Bits<F>::infinite | Bits<F>::quiet); }
template <class F> FN Complex<F> nan_of(Complex<F>) { return {nan_of(F()), nan_of(F())}; }

// How elements count after a value: as factors, by their signs, or not at all.
enum Mode { PRODUCTS, SIGNS, STAYS };
FN Mode mode_behind(A carry, bool has_carry)
{
    if (!has_carry)
        return PRODUCTS;
    return is_absorbing(carry) ? SIGNS : is_in_range(size_of(carry)) ? PRODUCTS : STAYS;
}
// The factor for which x counts in mode SIGNS or STAYS; sets `spoils` where STAYS does not hold.
FN A counted(A x, A carry, Mode mode, bool &spoils)
{
    const A next = gsh_join(carry, x);
    if (mode == SIGNS)
        return gsh_isnan(next) ? next : sign_of(x);
    spoils = spoils || !is_same(next, carry);
    return sign_of(A());
}

struct Range { // of partial products
    i32 low, high; // sizes
    bool was_left; // the range was left before the last put_behind
    FN void begin()
    {
        low = INFINITE_SIZE;
        high = -INFINITE_SIZE;
        was_left = false;
    }
    FN void note(A x)
    {
        const i32 size = size_of(x);
        low = size < low ? size : low;
        high = size > high ? size : high;
    }
    FN bool is_safe() const { return !was_left && low > -SAFE && high < SAFE; }
    FN void put_behind(A prefix)
    {
        const i32 by = size_of(prefix);
        was_left = !is_safe();
        low = (i32)((u32)low + (u32)by); // wraps only where the range was left
        high = (i32)((u32)high + (u32)by);
    }
};
