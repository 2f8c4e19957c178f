// SPDX-License-Identifier: Apache-2.0
//
// Prefixes of a row's chunks, between the stages of scan.cuh and compress.cuh. A thread replaces the totals of WIDE
// chunks by the chains before each (P; the first has none), then makes the chain over the totals of the WIDEs before
// (S). One block of WIDE threads a row.
struct Args {
    u64 sums, supers;
    i64 chunks;
};
constexpr int BATCH = 16;

extern "C" __global__ void __launch_bounds__(WIDE) gsh_kernel(const Args args)
{
    __shared__ A wholes[WIDE];
    A *const sums = (A *)args.sums + (i64)blockIdx.x * args.chunks;
    const i64 begin = (i64)threadIdx.x * WIDE;
    const i64 end = begin + WIDE < args.chunks ? begin + WIDE : args.chunks;
    A run = A();
    for (i64 c = begin; c < end; c += BATCH) {
        A x[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++)
            x[k] = c + k < end ? sums[c + k] : A();
#pragma unroll
        for (int k = 0; k < BATCH; k++)
            if (c + k < end) {
                sums[c + k] = run;
                run = c + k > begin ? gsh_join(run, x[k]) : x[k];
            }
    }
    wholes[threadIdx.x] = run;
    __syncthreads();
    if (begin >= end || threadIdx.x == 0)
        return;
    A before = wholes[0];
    for (u32 s = 1; s < threadIdx.x; s++)
        before = gsh_join(before, wholes[s]);
    ((A *)args.supers)[(i64)blockIdx.x * WIDE + threadIdx.x] = before;
}
