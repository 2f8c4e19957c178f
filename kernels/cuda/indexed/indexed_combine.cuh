// SPDX-License-Identifier: Apache-2.0
//
// PUT with an operation: reads the old value, computes, and stores by compare-and-swap; repeats this if another
// thread changed the value in between. The operations give the same result in any order. ORDERED 1 (maximum) and 2
// (minimum) of floats do so by a rule for zeros of either sign and for NaNs.
template <class V> FN V untied(V a, V b, V joined)
{
    if constexpr (ORDERED != 0) {
        if (a == b)
            return of_bits(ORDERED == 1 ? bits_of(a) & bits_of(b) : bits_of(a) | bits_of(b));
        if (a != a && b != b)
            return bits_of(a) < bits_of(b) ? a : b;
    }
    return joined;
}

template <class W> FN W swap_if(W *at, W old, W fresh) { return atomicCAS(at, old, fresh); }
template <class W> FN W swap_within(W *at, W old, W fresh) // by a swap of the aligned word around it
{
    constexpr u32 mask = (1u << 8 * sizeof(W)) - 1;
    u32 *const word = (u32 *)((u64)at & ~(u64)3);
    const u32 shift = (u32)((u64)at & 3) * 8;
    u32 seen = *(volatile u32 *)word;
    while ((W)(seen >> shift) == old) {
        const u32 before = atomicCAS(word, seen, (seen & ~(mask << shift)) | (u32)fresh << shift);
        if (before == seen)
            return old;
        seen = before;
    }
    return (W)(seen >> shift);
}
FN u8 swap_if(u8 *at, u8 old, u8 fresh) { return swap_within(at, old, fresh); }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700 // its atomicCAS has no 16-bit form
FN u16 swap_if(u16 *at, u16 old, u16 fresh) { return swap_within(at, old, fresh); }
#endif

template <class V> FN void combine(const Args &args, char *place, V x)
{
    union Both { Cell bits; Out stored; } seen, fresh;
    seen.bits = *(volatile Cell *)place;
    for (;;) {
        const V old = value(Convert<Stored, Out>::of(seen.stored));
        const V joined = untied(old, x, gsh_join(old, x));
        fresh.stored = Convert<Out, Stored>::of(Cast<Stored>::of(joined));
        const Cell before = fresh.bits == seen.bits ? seen.bits : swap_if((Cell *)place, seen.bits, fresh.bits);
        if (before == seen.bits) {
            look(args, old, x, joined);
            return;
        }
        seen.bits = before;
    }
}
