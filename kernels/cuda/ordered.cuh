// SPDX-License-Identifier: Apache-2.0
//
// Joins the elements of the outputs whose flag is set once more, one after the other as NumPy does.
// cuda/reduction.cuh with units of one element stands in front of it. A block has args.lanes outputs, at most one for
// each thread, and takes those with a flag one by one: its threads load elements side by side, its first thread joins
// them. After a zero, an infinity or a NaN real elements count only by their signs, which all threads count.
constexpr u32 ITEMS = 8, TILE = BLOCK * ITEMS;
template <class F> FN bool is_absorbing(F total) { return total == 0 || !gsh_isfinite(total); }
template <class F> FN bool is_absorbing(Complex<F> total) { return gsh_isnan(total.re) && gsh_isnan(total.im); }
// Whether an element may change an absorbing total in more than its sign.
template <class F> FN bool overrides(F total, F x)
{
    return !gsh_isnan(total) && (gsh_isnan(x) || (total == 0 ? !gsh_isfinite(x) : x == 0));
}
template <class F> FN bool overrides(Complex<F>, Complex<F>) { return false; }
template <class F> FN bool is_negative(F x) { return (bits_of(x) & Bits<F>::sign) != 0; }
template <class F> FN bool is_negative(Complex<F>) { return false; }

FN A element_of(const Args &args, const Origin &origin, Index at, A neutral)
{
    const Unit held = read_unit<false>(args, origin, at);
    return held.live[0] ? accumulate(held.pack.element[0], at) : neutral;
}
FN A join_tile(const Args &args, const A *tile, u32 count, A total)
{
    A joined = total;
    for (u32 i = 0; i < count; i++)
        joined = join<false>(args, joined, tile[i]);
#if ERRORS
    if (!gsh_isfinite(joined))
#pragma unroll 1
        for (u32 i = 0; i < count; i++)
            total = join<true>(args, total, tile[i]);
#endif
    return joined;
}
__device__ __noinline__ void join_in_order(const Args &args, Index output)
{
    __shared__ A tile[TILE], shared_total;
    const Origin origin = origin_of(args, output);
    const A neutral = begin_value(args, origin.input, 0);
    A total = HAS_INITIAL ? initial_value(args) : neutral;
    for (Index start = 0; start < (Index)args.elements; start += TILE) {
        const Index left = (Index)args.elements - start;
        const u32 count = left < TILE ? (u32)left : TILE;
        bool is_changing = !is_absorbing(total), is_odd = false;
        __syncthreads(); // the previous tile is joined
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            const u32 i = threadIdx.x + k * BLOCK;
            const A x = i < count ? element_of(args, origin, start + i, neutral) : neutral;
            tile[i] = x;
            is_changing = is_changing || overrides(total, x);
            is_odd = is_odd != is_negative(x);
        }
        if (!__syncthreads_or(is_changing)) {
            total = __syncthreads_count(is_odd) % 2 != 0 ? gsh_negate(total) : total;
            continue;
        }
        if (threadIdx.x == 0)
            shared_total = join_tile(args, tile, count, total);
        __syncthreads();
        total = shared_total;
    }
    if (threadIdx.x == 0)
        finish(args, origin, 0, {{total}});
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    const u8 *const flags = (const u8 *)args.flags;
    const Index first = (Index)blockIdx.x * (Index)args.lanes, left = (Index)args.outputs - first;
    const u32 count = left < (Index)args.lanes ? (u32)left : (u32)args.lanes;
    if (!__syncthreads_or(threadIdx.x < count && flags[first + threadIdx.x]))
        return;
    for (u32 next = 0; next < count; next++)
        if (flags[first + next])
            join_in_order(args, first + next);
}
