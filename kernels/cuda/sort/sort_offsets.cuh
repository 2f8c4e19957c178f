// SPDX-License-Identifier: Apache-2.0
//
// Replaces a row's counts by the first place of each digit, and notes which passes must run. A block has a row.
extern "C" __global__ void __launch_bounds__(RADIX) gsh_kernel(const IN_PLACE Args args)
{
    u32 *const counts = (u32 *)args.counts + (i64)blockIdx.x * PASSES * RADIX;
    u32 wanted = 0;
    for (u32 pass = 0; pass < PASSES; pass++) {
        u32 &count = counts[pass * RADIX + threadIdx.x];
        const u32 own = count;
        const bool is_alone = __syncthreads_or(own == (u32)args.length);
        wanted |= is_alone ? 0 : 1u << pass;
        count = sum_before(own);
    }
    if (threadIdx.x == 0 && wanted != 0)
        atomicOr((u32 *)args.state, wanted);
}
