// SPDX-License-Identifier: Apache-2.0
//
// First pass: what each tile makes of each entry, as a map.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ Tile tile;
    Stream stream;
    stream.begin(args);
    begin(tile);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *(Result *)args.result = {0, 0, 0};
    for (i64 number = blockIdx.x; number < args.tiles; number += gridDim.x) {
        u32 *map = (u32 *)args.maps + number * ENTRIES;
        fill(tile, stream, args, number);
#if CHAIN
        if (threadIdx.x < ENTRIES)
            map[threadIdx.x] = follow(tile, threadIdx.x, [](int, u32, int) {});
#else
        if (threadIdx.x == 0)
            map[0] = make_map(0, tile.kept.before[MASKS]);
#endif
        __syncthreads();
    }
}
