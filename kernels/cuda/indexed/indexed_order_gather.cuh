// SPDX-License-Identifier: Apache-2.0
//
// The values in the order in which they are joined: of each free place a line, with the value of each rank in `sorted`.
// A block has a tile of the line. The line is cut into `streams` of consecutive tiles, and neighbouring blocks take tiles of
// different streams. There are as many streams as cells: where all cells have about as many ranks, blocks that run at the
// same time read values that lie close together, each for its own cell, and the cache has them.
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const OrderArgs args)
{
    const u32 streams = args.cells < (i64)gridDim.x ? (u32)args.cells : gridDim.x;
    const u32 tile = blockIdx.x % streams * (gridDim.x / streams) + blockIdx.x / streams;
    const i64 first = (i64)tile * (BLOCK * UNROLL) + threadIdx.x;
    i64 offset[UNROLL];
    bool is_wanted[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        const i64 at = first + u * BLOCK;
        is_wanted[u] = cell_at(args, at) != (u32)args.cells;
        offset[u] = is_wanted[u] ? offset_of(args, args.shape, rank_at(args, at), 0) : 0;
    }
    for (i64 free = 0; free < args.free; free++) {
        const i64 shift = offset_of(args, args.free_shape, free, 0);
        Stored *const line = (Stored *)args.values + free * args.n;
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            if (is_wanted[u])
                line[first + u * BLOCK] = Convert<Stored, In>::of(fetch<In>(args, offset[u] + shift));
    }
}
