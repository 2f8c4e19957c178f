// SPDX-License-Identifier: Apache-2.0
//
// float16, rounded to nearest even. A NaN keeps its sign and the upper bits of its payload, and is
// not made quiet: NumPy converts by shifting bits.
FN u16 round_half(float x)
{
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    if (x != x) {
        const u32 payload = bits_of(x) >> 13 & 0x3ff;
        bits = (u16)((bits_of(x) >> 16 & 0x8000) | 0x7c00 | (payload ? payload : 1));
    }
    return bits;
}
FN u16 round_half(double x)
{
    u16 bits;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
    if (x != x) {
        const u32 payload = (u32)(bits_of(x) >> 42) & 0x3ff;
        bits = (u16)((bits_of(x) >> 48 & 0x8000) | 0x7c00 | (payload ? payload : 1));
    }
    return bits;
}
FN float value(Half stored)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(stored.bits));
    const u32 bits = stored.bits;
    return x == x ? x : of_bits((bits & 0x8000) << 16 | 0x7f800000 | (bits & 0x3ff) << 13);
}
template <> struct Cast<Half> {
    template <class From> static FN Half of(From x) { return Half{round_half((float)x)}; }
    static FN Half of(double x) { return Half{round_half(x)}; }
    template <class F> static FN Half of(Complex<F> z) { return Half{round_half(z.re)}; }
};
template <> struct Convert<double, Half> { // keeps a signalling NaN, as NumPy does
    static FN double of(Half stored)
    {
        const float x = value(stored);
        const u64 bits = bits_of(x);
        return x == x ? (double)x : of_bits((bits & 0x80000000u) << 32 | 0x7ff0000000000000ull | (bits & 0x7fffff) << 29);
    }
};
template <> struct Convert<u32, Half> {
    static FN u32 of(Half stored) { return (u32)truncate64(value(stored)); }
};
