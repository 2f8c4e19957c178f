// SPDX-License-Identifier: Apache-2.0
//
// SEARCH: a binary search of a sorted line for each value. The line is taken for a tree of `levels` full levels: places
// past its end stand for its last element, and no result is past its end. A block keeps the first `top` levels in shared
// memory, node k's children being 2k and 2k + 1; the others it searches in the line. A thread looks for AT_ONCE values
// side by side: their reads do not wait for each other.
struct Args {
    const char *line, *values;
    char *output;
    i64 line_step, extent;      // of the line, step in bytes
    i64 value_step, output_step; // in bytes
    i64 count;                  // of values
    u64 constant[2];            // the value, if IS_CONSTANT
    i64 levels, top;
};

// How a value's bound is compared with an element's key: is_behind where the element is counted.
#ifdef NUMBER_OF
// Floats as the GPU compares them, which is false for NaN: other <= bound. The bound is the value or, on the left side, the
// number before it: of NaN infinity, of -infinity NaN. On the right side a NaN is behind all.
typedef decltype(NUMBER_OF((Raw)0)) Key;
FN Key key_of(Raw x) { return NUMBER_OF(x); }
FN Key bound_of(Raw x)
{
    const bool is_zero = (Raw)(x & (Raw)~SIGN) == 0;
    const Raw before = is_zero ? (Raw)(SIGN + 1) : x & SIGN ? (Raw)(x + 1) : (Raw)(x - 1);
    return NUMBER_OF(IS_RIGHT ? x : is_not_a_number(x) ? INFINITE_BITS : before);
}
FN bool is_behind(Key bound, Key other) { return other <= bound; }
FN bool is_behind_all(Key bound) { return IS_RIGHT && bound != bound; }
#else
typedef Raw Key;
FN Key key_of(Raw x) { return x; }
FN Key bound_of(Raw x) { return x; }
FN bool is_behind(Key bound, Key other) { return IS_RIGHT ? !is_before(bound, other) : is_before(other, bound); }
FN bool is_behind_all(Key) { return false; }
#endif

FN Raw value_at(const Args &args, i64 at)
{
    return *(const Raw *)(IS_CONSTANT ? (const char *)args.constant : args.values + at * args.value_step);
}
FN Key other_at(const Args &args, Place at)
{
    const Place last = (Place)(args.extent - 1);
    return key_of(*(const Raw *)(args.line + (at < last ? at : last) * (IS_DENSE ? sizeof(Raw) : (u64)args.line_step)));
}
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) gsh_kernel(const IN_PLACE Args args)
{
    constexpr i64 TILE = BLOCK * AT_ONCE;
    constexpr u32 SIZE = sizeof(Key);
    __shared__ Key tree[1 << MOST_TOP];
    const u32 levels = (u32)args.levels, top = (u32)args.top;
    for (u32 k = 1 + threadIdx.x; k < 1u << top; k += BLOCK) { // node `at` of its level
        const u32 level = 31 - __clz((int)k), at = k - (1u << level);
        tree[k] = other_at(args, ((Place)(2 * at + 1) << (levels - 1 - level)) - 1);
    }
    __syncthreads();
    for (i64 start = blockIdx.x * TILE + threadIdx.x; start < args.count; start += gridDim.x * TILE) {
        Key bound[AT_ONCE];
        u32 node[AT_ONCE]; // in bytes
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            bound[k] = bound_of(value_at(args, start + k * BLOCK < args.count ? start + k * BLOCK : start));
            node[k] = SIZE;
        }
#pragma unroll 4
        for (u32 level = 0; level < top; level++)
#pragma unroll
            for (u32 k = 0; k < AT_ONCE; k++)
                node[k] += node[k] + (is_behind(bound[k], *(const Key *)((const char *)tree + node[k])) ? SIZE : 0);
        Place place[AT_ONCE];
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++)
            place[k] = (Place)(node[k] / SIZE - (1u << top)) << (levels - top);
        for (Place step = ((Place)1 << (levels - top)) / 2; step > 0; step /= 2)
#pragma unroll
            for (u32 k = 0; k < AT_ONCE; k++)
                place[k] += is_behind(bound[k], other_at(args, place[k] + step - 1)) ? step : 0;
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++)
            if (start + k * BLOCK < args.count)
                *(i64 *)(args.output + (start + k * BLOCK) * args.output_step) =
                    is_behind_all(bound[k]) || (i64)place[k] > args.extent ? args.extent : (i64)place[k];
    }
}
