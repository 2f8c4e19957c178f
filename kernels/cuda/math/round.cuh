// SPDX-License-Identifier: Apache-2.0
//
// numpy.round in the steps NumPy takes, each rounded to the dtype: b is 10**decimals, or minus
// 10**-decimals where the decimals are negative and NumPy divides first.
FN double rounded_to_dtype(double x, bool) { return x; }
FN float rounded_to_dtype(float x, bool half)
{
    u16 bits;
    float rounded;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    asm("cvt.f32.f16 %0, %1;" : "=f"(rounded) : "h"(bits));
    return half ? rounded : x;
}
template <class F> FN F gsh_round(F a, F b, bool half)
{
    const F scale = gsh_abs(b);
    const F whole = rint(rounded_to_dtype(b > 0 ? a * scale : a / scale, half));
    return propagate_nan(b > 0 ? whole / scale : whole * scale, a, scale);
}
template <class F> FN Complex<F> gsh_round(Complex<F> a, Complex<F> b, bool half)
{
    return {gsh_round(a.re, b.re, half), gsh_round(a.im, b.re, half)};
}
