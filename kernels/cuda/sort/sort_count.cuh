// SPDX-License-Identifier: Apache-2.0
//
// How often each digit occurs in each byte of a row's codes. A block counts a part of a row.
constexpr u32 AT_ONCE = 4;
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ u32 bins[PASSES][RADIX];
    const i64 row = blockIdx.x / args.parts, begin = blockIdx.x % args.parts * args.chunk;
    const i64 end = begin + args.chunk < args.length ? begin + args.chunk : args.length;
    const Raw *const input = row_at<const Raw>(args.input, row, args.in_step);
    for (u32 i = threadIdx.x; i < PASSES * RADIX; i += BLOCK)
        bins[i / RADIX][i % RADIX] = 0;
    __syncthreads();
    for (i64 start = begin; start < end; start += AT_ONCE * BLOCK) {
        Raw x[AT_ONCE];
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            const i64 at = start + k * BLOCK + threadIdx.x;
            x[k] = input[at < end ? at : start];
        }
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++)
            if (start + k * BLOCK + threadIdx.x < end)
#pragma unroll
                for (u32 pass = 0; pass < PASSES; pass++)
                    atomicAdd(&bins[pass][digit_of(x[k], pass)], 1u);
    }
    __syncthreads();
    u32 *const counts = (u32 *)args.counts + row * PASSES * RADIX;
    for (u32 i = threadIdx.x; i < PASSES * RADIX; i += BLOCK)
        if (bins[i / RADIX][i % RADIX] != 0)
            atomicAdd(&counts[i], bins[i / RADIX][i % RADIX]);
}
