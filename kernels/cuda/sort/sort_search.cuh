// SPDX-License-Identifier: Apache-2.0
//
// SEARCH: a binary search of a sorted line for each value. A thread takes every so many values.
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
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    for (i64 at = (i64)blockIdx.x * BLOCK + threadIdx.x; at < args.count; at += (i64)gridDim.x * BLOCK) {
        const Raw value = value_at(args, at);
        i64 low = 0, high = args.extent;
        while (low < high) {
            const i64 middle = low + (high - low) / 2;
            const Raw other = *(const Raw *)(args.line + middle * args.line_step);
            if (IS_RIGHT ? !is_before(value, other) : is_before(other, value))
                low = middle + 1;
            else
                high = middle;
        }
        *(i64 *)(args.output + at * args.output_step) = low;
    }
}
