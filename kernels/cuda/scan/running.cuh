// SPDX-License-Identifier: Apache-2.0
//
// The accumulator of a product of floats (T) that are joined in any order. Partial products may leave the range of
// numbers where NumPy's, one factor after the other, do not. So a partial product out of the range is kept with an
// exponent of its own, and zeros, infinities and NaNs are recorded. The total is NumPy's result, unless that depends
// on the order (is_ambiguous); cuda/ordered.cuh then computes it. Defined in front of it: T multiply(T, T).
enum Found { FOUND_ZERO = 1, FOUND_INFINITE = 2, FOUND_NAN = 4, WAS_OVER = 8, WAS_UNDER = 16 };
struct alignas(8) Running {
    T factor;     // an element as it is, or a normal number
    i32 exponent; // the value is factor * 2^exponent; 0 within the range
    u32 found;    // bits of Found; recorded elements count as factors of size 1
};
template <class V> struct Part { typedef V type; };
template <class F> struct Part<Complex<F>> { typedef F type; };
typedef Part<T>::type Real;
typedef Bits<Real> Layout;
constexpr bool IS_COMPLEX = sizeof(Real) != sizeof(T);
constexpr i32 LARGEST = Layout::bias, LEAST = 1 - Layout::bias; // exponents of normal numbers
constexpr i32 FARTHEST = 1 << 28;

FN Real size_of(Real x) { return gsh_abs(x); }
template <class F> FN F size_of(Complex<F> z) // of the larger part; NaN, if either is
{
    const F re = gsh_abs(z.re), im = gsh_abs(z.im);
    return re != re || re > im ? re : im;
}
FN Real scaled(Real x, Real by) { return x * by; }
template <class F> FN Complex<F> scaled(Complex<F> z, F by) { return {z.re * by, z.im * by}; }
FN Real signed_as(Real size, Real x) { return of_bits(bits_of(size) | (bits_of(x) & Layout::sign)); }
template <class F> FN Complex<F> signed_as(F size, Complex<F>) { return {size, 0}; }
FN bool is_normal(T x)
{
    constexpr Layout::Word least = (Layout::Word)1 << Layout::mantissa;
    return bits_of(size_of(x)) - least < Layout::infinite - least;
}
FN i32 exponent_of(T x) { return (i32)(bits_of(size_of(x)) >> Layout::mantissa) - Layout::bias; }
FN Real power_of_two(i32 exponent) { return of_bits((Layout::Word)(Layout::bias + exponent) << Layout::mantissa); }
// Splits x, a normal number, into a normal number with an exponent of 0, or near it, and an exponent.
FN void split(T &x, i32 &exponent)
{
    const i32 most = exponent_of(x), by = most < -LEAST ? most : -LEAST;
    x = scaled(x, power_of_two(-by));
    exponent += by;
}
FN Running noted(Running a)
{
    if (!gsh_isfinite(a.factor)) {
        a.found |= gsh_isnan(a.factor) ? FOUND_NAN : FOUND_INFINITE;
        a.factor = signed_as((Real)1, a.factor);
    } else if (size_of(a.factor) == 0) {
        a.found |= FOUND_ZERO;
        a.factor = signed_as((Real)1, a.factor);
    } else {
        if (!is_normal(a.factor)) {
            a.factor = scaled(a.factor, power_of_two(Layout::mantissa + 1));
            a.exponent -= Layout::mantissa + 1;
        }
        split(a.factor, a.exponent);
    }
    return a;
}
__device__ __noinline__ Running join_noted(Running a, Running b)
{
    a = noted(a);
    b = noted(b);
    Running r = {multiply(a.factor, b.factor), a.exponent + b.exponent, a.found | b.found};
    split(r.factor, r.exponent);
    r.exponent = r.exponent > FARTHEST ? FARTHEST : r.exponent < -FARTHEST ? -FARTHEST : r.exponent;
    if (r.exponent > LARGEST) {
        r.found |= WAS_OVER;
    } else if (r.exponent < LEAST) {
        r.found |= WAS_UNDER;
    } else {
        r.factor = scaled(r.factor, power_of_two(r.exponent));
        r.exponent = 0;
    }
    return r;
}
FN Running join_running(const Running &a, const Running &b)
{
    const T product = multiply(a.factor, b.factor);
    if (is_normal(product) && (a.exponent | b.exponent) == 0)
        return {product, 0, a.found | b.found};
    return join_noted(a, b);
}

FN bool has(const Running &total, u32 what) { return (total.found & what) != 0; }
FN bool is_nan(const Running &total) { return has(total, FOUND_NAN) || (has(total, FOUND_ZERO) && has(total, FOUND_INFINITE)); }
// Whether another order may give another result, or meet errors that this one did not. That is so where partial
// products have left the range on a side that the total, or the first zero or infinity, does not determine.
FN bool is_ambiguous(const Running &total)
{
    const bool over = has(total, WAS_OVER), under = has(total, WAS_UNDER);
    if (IS_COMPLEX && (over || has(total, FOUND_INFINITE | FOUND_NAN)))
        return true;
    if (has(total, FOUND_NAN))
        return over || has(total, FOUND_INFINITE);
    if (has(total, FOUND_INFINITE))
        return over || under;
    if (has(total, FOUND_ZERO) || total.exponent < 0)
        return over;
    return total.exponent > 0 ? under : over || under;
}
FN T value_of(const Running &total)
{
    const Real infinite = (Real)INFINITE;
    if (is_nan(total))
        return signed_as(infinite - infinite, T());
    if (has(total, FOUND_INFINITE) || (total.exponent > 0 && !has(total, FOUND_ZERO)))
        return signed_as(infinite, total.factor);
    if (has(total, FOUND_ZERO))
        return signed_as((Real)0, total.factor);
    if (total.exponent == 0)
        return total.factor;
    const i32 rest = total.exponent - LEAST; // one rounding: the first power leaves a normal number
    return scaled(scaled(total.factor, power_of_two(LEAST)), power_of_two(rest > LEAST ? rest : LEAST));
}
FN bool gsh_isfinite(const Running &) { return true; } // joins of Running are not checked
#if ERRORS
template <class S, int MAY> FN void check_join(const Sink &, const Running &, const Running &, const Running &) {}
template <class S> FN void check_running(const Sink &sink, const Running &total)
{
    const T infinite = signed_as((Real)INFINITE, T()), zero = signed_as((Real)0, T());
    const T largest = signed_as(of_bits(Layout::infinite - 1), T());
    if (is_nan(total) && !has(total, FOUND_NAN))
        report_error(sink, INVALID, sample_of<S>(infinite), sample_of<S>(zero), None());
    else if (total.exponent > 0 && !has(total, FOUND_ZERO | FOUND_INFINITE | FOUND_NAN))
        report_error(sink, OVERFLOWED, sample_of<S>(largest), sample_of<S>(largest), None());
}
#endif
