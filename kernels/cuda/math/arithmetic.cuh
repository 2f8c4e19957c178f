// SPDX-License-Identifier: Apache-2.0
//
// What nearly every kernel needs: + - *, comparisons, order, tests, of bool, integers and floats.
// x86-64's NaN results: the first NaN operand, made quiet, else the negative default NaN. Reductions omit this
// (PROPAGATES_NAN is false): which NaN a tree yields is unspecified.
FN float quiet(float x) { return of_bits(bits_of(x) | Bits<float>::quiet); }
FN double quiet(double x) { return of_bits(bits_of(x) | Bits<double>::quiet); }
FN float no_number(float) { return of_bits(0xffc00000u); }
FN double no_number(double) { return of_bits(0xfff8ull << 48); }
template <class F> FN F propagate_nan(F r, F a, F b)
{
    if (!PROPAGATES_NAN)
        return r;
    const F nan = a != a ? a : b != b ? b : no_number(r);
    return r == r ? r : quiet(nan);
}

template <class I> FN I gsh_plus(I a, I b) { return (I)((typename Wrap<I>::type)a + (typename Wrap<I>::type)b); }
template <class I> FN I gsh_minus(I a, I b) { return (I)((typename Wrap<I>::type)a - (typename Wrap<I>::type)b); }
template <class I> FN I gsh_times(I a, I b) { return (I)((typename Wrap<I>::type)a * (typename Wrap<I>::type)b); }
FN bool gsh_plus(bool a, bool b) { return a || b; }
FN bool gsh_times(bool a, bool b) { return a && b; }
FN float gsh_plus(float a, float b) { return propagate_nan(a + b, a, b); }
FN double gsh_plus(double a, double b) { return propagate_nan(a + b, a, b); }
FN float gsh_minus(float a, float b) { return propagate_nan(a - b, a, b); }
FN double gsh_minus(double a, double b) { return propagate_nan(a - b, a, b); }
FN float gsh_times(float a, float b) { return propagate_nan(a * b, a, b); }
FN double gsh_times(double a, double b) { return propagate_nan(a * b, a, b); }
template <class F> FN F gsh_over(F a, F b) { return propagate_nan(a / b, a, b); }
template <class I> FN I gsh_negate(I a) { return (I)(0 - (typename Wrap<I>::type)a); }
FN float gsh_negate(float a) { return of_bits(bits_of(a) ^ Bits<float>::sign); }
FN double gsh_negate(double a) { return of_bits(bits_of(a) ^ Bits<double>::sign); }
template <class I> FN I gsh_abs(I a) { return a < (I)0 ? gsh_negate(a) : a; }
FN bool gsh_abs(bool a) { return a; }
FN float gsh_abs(float a) { return of_bits(bits_of(a) & ~Bits<float>::sign); }
FN double gsh_abs(double a) { return of_bits(bits_of(a) & ~Bits<double>::sign); }
template <class V> FN V gsh_conjugate(V a) { return a; }
template <class V> FN V gsh_sign(V a) { return a > V(0) ? V(1) : a < V(0) ? V(-1) : a == V(0) ? V(0) : a; }

template <class V> FN bool gsh_equal(V a, V b) { return a == b; }
template <class V> FN bool gsh_not_equal(V a, V b) { return a != b; }
template <class V> FN bool gsh_less(V a, V b) { return a < b; }
template <class V> FN bool gsh_less_equal(V a, V b) { return a <= b; }
template <class V> FN bool gsh_greater(V a, V b) { return a > b; }
template <class V> FN bool gsh_greater_equal(V a, V b) { return a >= b; }
template <class I> FN bool gsh_isnan(I) { return false; }
template <class I> FN bool gsh_isinf(I) { return false; }
template <class I> FN bool gsh_isfinite(I) { return true; }
FN bool gsh_isnan(float a) { return a != a; }
FN bool gsh_isnan(double a) { return a != a; }
FN bool gsh_isinf(float a) { return (bits_of(a) & ~Bits<float>::sign) == Bits<float>::infinite; }
FN bool gsh_isinf(double a) { return (bits_of(a) & ~Bits<double>::sign) == Bits<double>::infinite; }
FN bool gsh_isfinite(float a) { return (bits_of(a) & Bits<float>::infinite) != Bits<float>::infinite; }
FN bool gsh_isfinite(double a) { return (bits_of(a) & Bits<double>::infinite) != Bits<double>::infinite; }

// Of equal operands (zeros of either sign) NumPy takes the second; in float16 the first.
template <class V> FN V gsh_maximum(V a, V b, bool first) { return a > b || (first && a == b) || a != a ? a : b; }
template <class V> FN V gsh_minimum(V a, V b, bool first) { return a < b || (first && a == b) || a != a ? a : b; }
template <class V> FN V gsh_fmax(V a, V b, bool first) { return a > b || (first && a == b) || b != b ? a : b; }
template <class V> FN V gsh_fmin(V a, V b, bool first) { return a < b || (first && a == b) || b != b ? a : b; }
template <class V> FN V gsh_clip(V x, V low, V high, bool first) { return gsh_minimum(gsh_maximum(x, low, first), high, first); }
template <class V> FN V gsh_ramp(V a, V b, i64 i) { return gsh_plus(a, gsh_times((V)i, gsh_minus(b, a))); }
