// SPDX-License-Identifier: Apache-2.0
//
// Puts the listed values in their places. Defined before it: T.
struct Args {
    u64 out, tails, values;
    i64 count;
};
struct Tail { u64 index, bits; };

extern "C" __global__ void gsh_kernel(const IN_PLACE Args args)
{
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < args.count)
        ((T *)args.out)[((const Tail *)args.tails)[i].index & (1ull << 62) - 1] = ((const T *)args.values)[i];
}
