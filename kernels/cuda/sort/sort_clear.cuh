// SPDX-License-Identifier: Apache-2.0
//
// Zeroes state, counts and statuses.
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    for (i64 at = (i64)blockIdx.x * BLOCK + threadIdx.x; at < args.words; at += (i64)gridDim.x * BLOCK)
        ((u64 *)args.state)[at] = 0;
}
