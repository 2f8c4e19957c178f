// SPDX-License-Identifier: Apache-2.0
//
// Elements in memory: packs of neighbours moved by one instruction, and where an element of an array lies.
template <int BYTES> struct Word;
template <> struct Word<1> { typedef u8 type; };
template <> struct Word<2> { typedef u16 type; };
template <> struct Word<4> { typedef u32 type; };
template <> struct Word<8> { typedef uint2 type; };
template <> struct Word<16> { typedef uint4 type; };
template <> struct Word<24> { struct type { u64 word[3]; }; };
template <class S, int N> union Pack {
    typename Word<(int)sizeof(S) * N>::type word;
    S element[N];
};
template <class S> union Pack<S, 0> { u8 word; }; // of nothing
// ALIGNED: the address is a multiple of the whole pack's size.
template <bool ALIGNED, class S, int N> FN void load_pack(Pack<S, N> &pack, const char *at)
{
    typedef typename Word<(int)sizeof(S) * N>::type W;
    if constexpr (ALIGNED) {
        pack.word = *(const W *)at;
    } else {
#pragma unroll
        for (int e = 0; e < N; e++)
            pack.element[e] = ((const S *)at)[e];
    }
}

// x / d for x < 2^31, d's magic number being m = gsh_source_text_magic(d): multiplier, shift.
FN u32 divide(u32 x, i64, u64 m) { return (__umulhi(x, (u32)m) + x) >> (u32)(m >> 32); }
FN u64 divide(u64 x, i64 d, u64) { return x / (u64)d; }
// at * stride, the stride fitting 32 bits where SHORT.
template <bool SHORT> FN i64 stretch(u32 at, i64 stride) { return SHORT ? (i64)(i32)at * (i32)stride : (i64)at * stride; }
template <bool SHORT> FN i64 stretch(u64 at, i64 stride) { return (i64)at * stride; }
// Adds to the offsets those of element `left`, in C order, of the dimensions [FIRST, END).
template <bool SHORT, int FIRST, int END, class Index, int N, int D>
FN void advance(Index left, const i64 *shape, const u64 *magic, const i64 (&stride)[N][D], i64 (&offset)[N])
{
#pragma unroll
    for (int d = END - 1; d >= FIRST; d--) {
        const Index outer = d > FIRST ? divide(left, shape[d], magic[d]) : 0;
        const Index at = d > FIRST ? left - outer * (Index)shape[d] : left;
        left = outer;
#pragma unroll
        for (int k = 0; k < N; k++)
            offset[k] += stretch<SHORT>(at, stride[k][d]);
    }
}
