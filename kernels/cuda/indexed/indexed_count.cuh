// SPDX-License-Identifier: Apache-2.0
//
// PUT that adds one number to places of a short line: a privatized histogram. A block counts in shared memory how often each place
// is named, and at its end adds the number as many times. A place has `copies` counters, of which neighbouring threads take different
// ones.
struct CountArgs : Args {
    i64 copies; // a power of two
};

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const CountArgs args)
{
    __shared__ u32 counters[COUNTERS];
    const u32 copies = (u32)args.copies, extent = (u32)args.extent, own = threadIdx.x & (copies - 1);
    for (u32 i = threadIdx.x; i < extent * copies; i += BLOCK)
        counters[i] = 0;
    __syncthreads();
    const u64 step = (u64)gridDim.x * (BLOCK * UNROLL);
    for (u64 first = (u64)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x; first < (u64)args.n; first += step) {
        Element element[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            element[u].locate((Index)(first + u * BLOCK), args);
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            if (element[u].wanted)
                atomicAdd(&counters[(u32)element[u].cell * copies + own], 1u);
    }
    __syncthreads();
    const Cell x = (Cell)(A)value(Convert<Stored, In>::of(fetch<In>(args, 0)));
    for (u32 at = threadIdx.x; at < extent; at += BLOCK) {
        u32 count = 0;
        for (u32 k = 0; k < copies; k++)
            count += counters[at * copies + k];
        if (count != 0)
            combine(args, (char *)args.output + (i64)at * args.step, (A)((Cell)count * x));
    }
}
