// SPDX-License-Identifier: Apache-2.0
//
// CAREFUL scans, between their passes: what is before each chunk, in place of the chunks' wholes. A chunk whose partial
// results do no harm behind what is before it counts as its whole; else one lane takes it element by element.
// One block a row.
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const Args args)
{
    __shared__ Shared shared;
    __shared__ Range ranges[BLOCK];
    A *const wholes = shared.lane_total, *const before = shared.span_total; // which a walk does not use
    Scan scan(args, shared, blockIdx.x, 0);
    A *const sums = (A *)args.sums + blockIdx.x * args.chunks;
    const Range *const all_ranges = (const Range *)args.supers + blockIdx.x * args.chunks;
    A run = A();
    for (i64 first = 0; first < args.chunks; first += BLOCK) {
        const i64 mine = first + threadIdx.x;
        if (mine < args.chunks) {
            wholes[threadIdx.x] = sums[mine];
            ranges[threadIdx.x] = all_ranges[mine];
        }
        __syncthreads();
        for (int c = 0; c < BLOCK && first + c < args.chunks; c++) { // all threads alike
            const bool has_run = first + c > 0;
            if (threadIdx.x == 0)
                before[c] = run;
            if (ranges[c].is_safe(run, has_run))
                run = has_run ? gsh_join(run, wholes[c]) : wholes[c];
            else
                run = scan.walk_chunk(first + c, run, has_run);
        }
        __syncthreads();
        if (mine < args.chunks)
            sums[mine] = before[threadIdx.x];
        __syncthreads();
    }
}
