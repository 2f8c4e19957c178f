// SPDX-License-Identifier: Apache-2.0
//
// Joins maps: of `group_size` tiles to one of a group (SPREADS 0), or from the stream's beginning to each tile (SPREADS 1). Each
// block has a group. A tile's beginning is its entry, and the values before it times 256.
constexpr int AT_ONCE = 64; // tiles

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ u32 maps[AT_ONCE * ENTRIES];
    const i64 group = blockIdx.x, first = group * args.group_size;
    const i64 end = first + args.group_size < args.tiles ? first + args.group_size : args.tiles;
    const u32 *groups = (const u32 *)args.group_maps;
    u32 at = SPREADS ? 0 : threadIdx.x;
    u64 values = 0;
    if (SPREADS && threadIdx.x == 0)
        for (i64 g = 0; g < group; g++) {
            const u32 map = groups[g * ENTRIES + at];
            values += map >> 8;
            at = map & 255;
        }
    for (i64 tile = first; tile < end; tile += AT_ONCE) {
        const int count = (int)(end - tile < AT_ONCE ? end - tile : AT_ONCE);
        for (int i = threadIdx.x; i < count * ENTRIES; i += BLOCK)
            maps[i] = ((const u32 *)args.maps)[tile * ENTRIES + i];
        __syncthreads();
        for (int i = 0; i < count && threadIdx.x < (SPREADS ? 1 : ENTRIES); i++) {
            if (SPREADS)
                ((u64 *)args.begins)[tile + i] = values << 8 | at;
            const u32 map = maps[i * ENTRIES + at];
            values += map >> 8;
            at = map & 255;
        }
        __syncthreads();
    }
    if (!SPREADS && threadIdx.x < ENTRIES)
        ((u32 *)args.group_maps)[group * ENTRIES + threadIdx.x] = at | (u32)values << 8;
}
