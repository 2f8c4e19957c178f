// SPDX-License-Identifier: Apache-2.0
//
// Of each rank the cell that it writes; NO_CELL where it writes none.
constexpr u32 NO_CELL = ~0u;
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const Args args)
{
    const Index first = (Index)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        const Index rank = first + u * BLOCK;
        Element element;
        element.locate(rank, args);
        if (rank < (Index)args.n)
            ((u32 *)args.winners)[rank] = element.wanted ? (u32)element.cell : NO_CELL;
    }
}
