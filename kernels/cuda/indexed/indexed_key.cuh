// SPDX-License-Identifier: Apache-2.0
//
// Of each rank the cell that it writes, above the rank; `cells`, their count, where it writes none.
struct KeyArgs : Args {
    i64 cells;
};
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const KeyArgs args)
{
    const Index first = (Index)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        const Index rank = first + u * BLOCK;
        Element element;
        element.locate(rank, args);
        if (rank < (Index)args.n)
            ((u64 *)args.winners)[rank] = (u64)(element.wanted ? element.cell : args.cells) << 32 | rank;
    }
}
