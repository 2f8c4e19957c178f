// SPDX-License-Identifier: Apache-2.0
//
// All threads, one for each digit: the sum of `x` in the threads before.
FN u32 sum_before(u32 x)
{
    __shared__ u32 totals[RADIX / 32];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 upto = x, before = 0;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        const u32 more = __shfl_up_sync(~0u, upto, by, 32);
        upto += lane >= by ? more : 0;
    }
    if (lane == 31)
        totals[warp] = upto;
    __syncthreads();
#pragma unroll
    for (u32 w = 0; w < RADIX / 32; w++)
        before += w < warp ? totals[w] : 0;
    __syncthreads();
    return before + upto - x;
}
