// SPDX-License-Identifier: Apache-2.0
//
// SELECT: of each window's COUNT elements, the one of rank RANK, by forgetful selection. A thread holds the fewest elements that tell
// something: where more than ABOVE others are held, which are not below the least one, the wanted element, with ABOVE others above it,
// is not the least one, which is dropped; likewise the greatest one. Another element takes its place, until one is left. The
// loops have constant bounds, so that all elements are in registers. Neighbouring threads have neighbouring windows.
// Defined before it: T, an element in memory; V, the same in a register; HELD, how many are held at first.
struct Args {
    u64 in, offsets, out;
    i64 step, n; // of the offsets, in bytes; windows
    i64 shape[DIMS];
    u64 magic[DIMS];
    i64 stride[2][DIMS]; // of in and out
};
template <class U> FN void order_pair(U &low, U &high)
{
    const bool wrong = high < low;
    const U lesser = wrong ? high : low;
    high = wrong ? low : high;
    low = lesser;
}
FN void order_pair(float &low, float &high)
{
    const float lesser = fminf(low, high);
    high = fmaxf(low, high);
    low = lesser;
}
// The least, the greatest, or both of the first K elements to the ends of these.
template <int K> FN void move_least(V (&held)[HELD])
{
#pragma unroll
    for (int i = 1; i < K; i++)
        order_pair(held[0], held[i]);
}
template <int K> FN void move_greatest(V (&held)[HELD])
{
#pragma unroll
    for (int i = 0; i < K - 1; i++)
        order_pair(held[i], held[K - 1]);
}
template <int K> FN void move_both(V (&held)[HELD])
{
#pragma unroll
    for (int i = 0; i < K / 2; i++)
        order_pair(held[i], held[K - 1 - i]);
#pragma unroll
    for (int i = 1; i <= (K - 1) / 2; i++)
        order_pair(held[0], held[i]);
#pragma unroll
    for (int i = K / 2; i < K - 1; i++)
        order_pair(held[i], held[K - 1]);
}
FN V load(const char *window, const i64 *offsets, int k) { return *(const T *)(window + offsets[k]); }
// The wanted element is among the first K held ones and those from NEXT on, with so many below and above it.
template <int K, int BELOW, int ABOVE, int NEXT> FN V choose(V (&held)[HELD], const char *window, const i64 *offsets)
{
    if constexpr (K == 1) {
        return held[0];
    } else {
        constexpr bool LEAST = BELOW > 0 && K - 1 > ABOVE, GREATEST = ABOVE > 0 && K - 1 > BELOW, LOADS = NEXT < COUNT;
        static_assert(LEAST || GREATEST, "too few elements are held");
        if constexpr (LEAST && GREATEST)
            move_both<K>(held);
        else if constexpr (LEAST)
            move_least<K>(held);
        else
            move_greatest<K>(held);
        constexpr int KEPT = K - GREATEST; // the greatest one is the last
        if constexpr (LEAST) // the first one: another takes its place
            held[0] = LOADS ? load(window, offsets, LOADS ? NEXT : 0) : held[KEPT - 1];
        else if constexpr (LOADS)
            held[KEPT] = load(window, offsets, NEXT);
        return choose<KEPT - LEAST + LOADS, BELOW - LEAST, ABOVE - GREATEST, NEXT + LOADS>(held, window, offsets);
    }
}
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ i64 offsets[COUNT];
    for (int k = threadIdx.x; k < COUNT; k += BLOCK)
        offsets[k] = args.step * ((const i64 *)args.offsets)[k];
    __syncthreads();
    for (Index at = (Index)blockIdx.x * BLOCK + threadIdx.x; at < (Index)args.n; at += gridDim.x * BLOCK) {
        i64 offset[2] = {0, 0};
        advance<false, 0, DIMS>(at, args.shape, args.magic, args.stride, offset);
        const char *window = (const char *)args.in + offset[0];
        V held[HELD];
#pragma unroll
        for (int k = 0; k < HELD; k++)
            held[k] = load(window, offsets, k);
        *(T *)(args.out + offset[1]) = (T)choose<HELD, RANK, COUNT - 1 - RANK, HELD>(held, window, offsets);
    }
}
