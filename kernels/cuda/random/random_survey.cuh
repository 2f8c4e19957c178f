// SPDX-License-Identifier: Apache-2.0
//
// First pass: what each tile makes of each entry, as a map. Where each piece is kept or not, threads count those that they make.
#if !CHAIN
// How many pieces of the word, made at that place, are in the tile and kept.
FN int count_kept(int place, u64 word, const Args &args)
{
    int kept = 0;
#pragma unroll
    for (int k = 0; k < PIECES_OF_WORD; k++) {
        const int i = place * PIECES_OF_WORD + k - (int)args.shift;
        const Piece piece = piece_of(&word, k);
        kept += i >= 0 && i < PIECES && is_kept(piece, args);
    }
    return kept;
}

// In all threads of the block: the sum of their numbers. `sums`: a number for each warp, in shared memory.
FN int sum_of_block(int *sums, int own)
{
    for (int by = 16; by > 0; by /= 2)
        own += __shfl_down_sync(~0u, own, by, 32);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = own;
    __syncthreads();
    int sum = 0;
    for (int warp = 0; warp < BLOCK / 32; warp++)
        sum += sums[warp];
    __syncthreads();
    return sum;
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 4) gsh_kernel(const IN_PLACE Args args)
{
#if CHAIN
    __shared__ Tile tile;
    begin(tile);
#else
    __shared__ int sums[BLOCK / 32];
#endif
    Stream stream;
    stream.begin(args);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *(Result *)args.result = {0, 0, 0};
    for (i64 number = blockIdx.x; number < args.tiles; number += gridDim.x) {
        u32 *map = (u32 *)args.maps + number * ENTRIES;
#if CHAIN
        fill(tile, stream, args, number);
        if (threadIdx.x < ENTRIES)
            map[threadIdx.x] = follow(tile, threadIdx.x, [](int, u32, int) {});
        __syncthreads();
#else
        int kept = 0;
        stream.make(args, number, [&](int place, u64 word) { kept += count_kept(place, word, args); });
        kept = sum_of_block(sums, kept);
        if (threadIdx.x == 0)
            map[0] = make_map(0, kept);
#endif
    }
}
