// SPDX-License-Identifier: Apache-2.0
//
// Casts as NumPy does them on x86-64. value: an element in memory as a value of the computation. Cast<S>::of: a value
// as an element of type S in memory, with a conversion where the types differ. Convert<To, From>: from memory to
// memory.
template <class S> struct ValueOf { typedef S type; };
template <> struct ValueOf<Bool> { typedef bool type; };
template <> struct ValueOf<Half> { typedef float type; };
template <class S> FN S value(S stored) { return stored; }
FN bool value(Bool stored) { return stored.byte != 0; }

// The results of the conversion instructions: the lowest integer for NaN and for values out of range.
template <class F> FN i32 truncate32(F x)
{
    return x >= (F)-2147483648.0 && x < (F)2147483648.0 ? (i32)x : (i32)0x80000000;
}
template <class F> FN i64 truncate64(F x)
{
    return x >= (F)-9223372036854775808.0 && x < (F)9223372036854775808.0 ? (i64)x
                                                                          : (i64)(1ull << 63);
}
template <class To, class F> FN To truncate(F x)
{
    constexpr F half = is_signed<To> ? 0 : sizeof(To) == 4 ? (F)2147483648.0 : (F)9223372036854775808.0;
    if constexpr (sizeof(To) < 4 || (sizeof(To) == 4 && is_signed<To>))
        return (To)truncate32(x);
    else if constexpr (is_signed<To>)
        return (To)truncate64(x);
    else if constexpr (sizeof(To) == 4) // in two halves, as NumPy's contiguous loop does
        return x >= half ? (u32)truncate32(x - half) ^ 0x80000000u : (u32)truncate32(x);
    else
        return x >= half ? (u64)truncate64(x - half) ^ 1ull << 63 : (u64)truncate64(x);
}

template <class To> struct Cast { // to integers
    template <class From> static FN To of(From x) { return (To)x; }
    static FN To of(float x) { return truncate<To>(x); }
    static FN To of(double x) { return truncate<To>(x); }
    template <class F> static FN To of(Complex<F> z) { return truncate<To>(z.re); }
};
template <> struct Cast<Bool> {
    template <class From> static FN Bool of(From x) { return Bool{(u8)(x != From(0))}; }
    template <class F> static FN Bool of(Complex<F> z) { return Bool{(u8)(z.re != 0 || z.im != 0)}; }
};
template <> struct Cast<float> { // a NaN keeps its sign and the payload's upper bits
    template <class From> static FN float of(From x) { return (float)x; }
    static FN float of(double x)
    {
        const u32 kept = (u32)(bits_of(x) >> 32 & 0x80000000u) | (u32)(bits_of(x) >> 29 & 0x3fffffu);
        return x == x ? (float)x : of_bits(kept | 0x7fc00000u);
    }
    template <class F> static FN float of(Complex<F> z) { return of(z.re); }
};
template <> struct Cast<double> {
    template <class From> static FN double of(From x) { return (double)x; }
    static FN double of(float x)
    {
        const u64 kept = (u64)(bits_of(x) & 0x80000000u) << 32 | (u64)(bits_of(x) & 0x3fffffu) << 29;
        return x == x ? (double)x : of_bits(kept | 0x7ff8000000000000ull);
    }
    template <class F> static FN double of(Complex<F> z) { return of(z.re); }
};
template <class F> struct Cast<Complex<F>> {
    template <class From> static FN Complex<F> of(From x) { return {Cast<F>::of(x), 0}; }
    template <class G> static FN Complex<F> of(Complex<G> z)
    {
        return {Cast<F>::of(z.re), Cast<F>::of(z.im)};
    }
};
template <class To, class From> struct Convert {
    static FN To of(From stored) { return Cast<To>::of(value(stored)); }
};
template <class S> struct Convert<S, S> {
    static FN S of(S stored) { return stored; }
};
template <> struct Convert<Bool, Bool> { // becomes 0 or 1
    static FN Bool of(Bool stored) { return Cast<Bool>::of(value(stored)); }
};
