// SPDX-License-Identifier: Apache-2.0
//
// SEARCH: a binary search of a sorted line for each value. A thread looks for AT_ONCE values side by side: their reads
// of the line do not wait for each other.
struct Args {
    u64 line, values, output;
    i64 line_step, extent;      // of the line, step in bytes
    i64 value_step, output_step; // in bytes
    i64 count;                  // of values
    u64 constant[2];            // the value, if IS_CONSTANT
};
FN Raw value_at(const Args &args, i64 at)
{
    return IS_CONSTANT ? *(const Raw *)args.constant : *(const Raw *)(args.values + at * args.value_step);
}
FN bool is_behind(Raw value, Raw other) { return IS_RIGHT ? !is_before(value, other) : is_before(other, value); }
FN Raw other_at(const Args &args, i64 at) { return *(const Raw *)(args.line + at * args.line_step); }
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    constexpr i64 TILE = BLOCK * AT_ONCE;
    for (i64 start = blockIdx.x * TILE + threadIdx.x; start < args.count; start += gridDim.x * TILE) {
        Raw value[AT_ONCE];
        i64 low[AT_ONCE]; // the place is low + length at most
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            value[k] = value_at(args, start + k * BLOCK < args.count ? start + k * BLOCK : start);
            low[k] = 0;
        }
        i64 length = args.extent;
        for (; length > 1; length -= length / 2)
#pragma unroll
            for (u32 k = 0; k < AT_ONCE; k++)
                low[k] += is_behind(value[k], other_at(args, low[k] + length / 2 - 1)) ? length / 2 : 0;
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            low[k] += is_behind(value[k], other_at(args, low[k]));
            if (start + k * BLOCK < args.count)
                *(i64 *)(args.output + (start + k * BLOCK) * args.output_step) = low[k];
        }
    }
}
