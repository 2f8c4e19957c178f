// SPDX-License-Identifier: Apache-2.0
//
// Draws of which some pieces make no value: a tile of PIECES pieces, and what the pieces of the tile before it have left of it.
// Defined before it: CHAIN, whether attempts may be long (random_ziggurat.cuh), otherwise each piece is kept or not; LOOK, how many
// pieces beyond its first one an attempt may consume; ENTRIES, LOOK + 1: where a tile's first attempt may begin.
constexpr int PIECES = TILE_WORDS * PIECES_OF_WORD, ITEMS = PIECES / BLOCK, MASKS = PIECES / 32;

struct Result { u64 consumed, failed, tails; };
struct Tail { u64 index, bits; };

// A bit for each piece, and how many are set before each mask.
struct Marks {
    u32 mask[MASKS];
    int before[MASKS + 1];
    FN bool has(int i) const { return mask[i / 32] >> i % 32 & 1; }
    FN int rank(int i) const { return before[i / 32] + __popc(mask[i / 32] & ((1u << i % 32) - 1)); }
    // Piece i is this thread's. Call it for items in order, by all threads.
    FN void set(int i, bool bit)
    {
        const u32 votes = __ballot_sync(~0u, bit);
        if (threadIdx.x % 32 == 0)
            mask[i / 32] = votes;
    }
    FN void count()
    {
        const int lane = threadIdx.x % 32;
        int sums[MASKS / 32], sum = 0;
        __syncthreads();
        for (int k = 0; k < MASKS / 32; k++)
            sum += sums[k] = __popc(mask[lane * (MASKS / 32) + k]);
        int all = sum;
        for (int by = 1; by < 32; by *= 2) {
            const int other = __shfl_up_sync(~0u, all, by, 32);
            all += lane >= by ? other : 0;
        }
        if (threadIdx.x < 32) {
            int at = all - sum;
            for (int k = 0; k < MASKS / 32; at += sums[k], k++)
                before[lane * (MASKS / 32) + k] = at;
            if (lane == 31)
                before[MASKS] = all;
        }
        __syncthreads();
    }
};

struct Tile {
    u64 words[MADE_WORDS];
#if CHAIN
    Marks longs;
    u16 places[PIECES]; // of the long ones, in order
    u8 spans[PIECES];
    Real widths[LAYERS];
    Steepness steeps[LAYERS];
#else
    Marks kept;
#endif
};

FN void begin(Tile &tile)
{
#if CHAIN
    for (int i = threadIdx.x; i < LAYERS; i += BLOCK) {
        tile.widths[i] = of_bits(width[i]);
        tile.steeps[i] = steepness[i];
    }
#endif
}

// Makes the words, and finds the long attempts, or the pieces that are kept.
FN void fill(Tile &tile, Stream &stream, const Args &args, i64 number)
{
    const int shift = (int)args.shift;
    stream.make(args, number, [&](int i, u64 word) { tile.words[i] = word; });
    __syncthreads();
    for (int k = 0; k < ITEMS; k++) {
        const int i = k * BLOCK + threadIdx.x;
        const Piece piece = piece_of(tile.words, i + shift);
#if CHAIN
        tile.longs.set(i, steps_of(piece) >= tile.steeps[layer_of(piece)]);
    }
    tile.longs.count();
    for (int k = 0; k < ITEMS; k++) {
        const int i = k * BLOCK + threadIdx.x;
        if (tile.longs.has(i))
            tile.places[tile.longs.rank(i)] = (u16)i;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < tile.longs.before[MASKS]; i += BLOCK)
        tile.spans[i] = (u8)long_span(tile.words, tile.places[i] + shift, tile.widths);
    __syncthreads();
#else
        tile.kept.set(i, is_kept(piece, args));
    }
    tile.kept.count();
#endif
}

// Of a tile or several: where the attempt behind them begins, and the values that they make.
FN u32 make_map(int exit, int values) { return (u32)exit | (u32)values << 8; }

#if CHAIN
// Follows the attempts from an entry. Calls visit(place, description, pieces so far that made no value) for each long one.
template <class Visit> FN u32 follow(const Tile &tile, int entry, Visit visit)
{
    int next = entry, lost = entry;
    const int count = tile.longs.before[MASKS];
    for (int i = 0; i < count; i++) {
        const int at = tile.places[i];
        if (at < next)
            continue;
        const u32 what = tile.spans[i];
        const int span = (int)(what & SPAN);
        visit(at, what, lost);
        lost += (at + span < PIECES ? span : PIECES - at) - ((what & EMITS) != 0);
        next = at + span;
    }
    return make_map(next > PIECES ? next - PIECES : 0, PIECES - lost);
}
#endif
