// SPDX-License-Identifier: Apache-2.0
//
// Each piece is a value. A tile's values are written one beside the other.
constexpr bool IS_DIRECT = GENERATOR < 2 && WIDTH == 64;

extern "C" __global__ void __launch_bounds__(BLOCK, 4) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ u64 words[IS_DIRECT ? 1 : MADE_WORDS];
    constexpr int EACH = TILE_WORDS * PIECES_OF_WORD;
    Stream stream;
    stream.begin(args);
    for (i64 tile = blockIdx.x; tile < args.tiles; tile += gridDim.x) {
        T *out = (T *)args.out + tile * EACH;
        const i64 left = args.count - tile * EACH;
        if (IS_DIRECT) {
            stream.make(args, tile, [&](int i, u64 word) {
                if (i < left)
                    out[i] = value_of((Piece)word, args);
            });
            continue;
        }
        stream.make(args, tile, [&](int i, u64 word) { words[i] = word; });
        __syncthreads();
        for (int i = threadIdx.x; i < EACH && i < left; i += BLOCK)
            out[i] = value_of(piece_of(words, i + (int)args.shift), args);
        __syncthreads();
    }
}
