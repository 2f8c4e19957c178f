// SPDX-License-Identifier: Apache-2.0
//
// Clears the claims of all places.
struct Args {
    u64 winners;
    i64 words;
};
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const Args args)
{
    const i64 first = (i64)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
        if (first + u * BLOCK < args.words)
            ((u64 *)args.winners)[first + u * BLOCK] = 0;
}
