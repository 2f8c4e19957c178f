// SPDX-License-Identifier: Apache-2.0
//
// Last pass: the values, one beside the other. Those that hang on the C library are listed: of the ziggurat's tail, and where it
// is not certain how it rounds exp. `bits` are then those of exp's argument.
#if CHAIN
// Marks the pieces that make a value, for attempts from the entry on. One thread.
FN void mark(const Tile &tile, Marks &made, int entry, u64 first, const Args &args)
{
    for (int i = 0; i < MASKS; i++)
        made.mask[i] = i * 32 >= entry ? ~0u : i * 32 + 32 <= entry ? 0 : ~0u << entry % 32;
    follow(tile, entry, [&](int at, u32 what, int lost) {
        if ((what & FAILED) != 0 && first + at - lost < (u64)args.count)
            ((Result *)args.result)->failed = 1;
        for (int i = (what & EMITS) != 0; i < (int)(what & SPAN) && at + i < PIECES; i++)
            made.mask[(at + i) / 32] &= ~(1u << (at + i) % 32);
    });
}

constexpr u64 IS_ARGUMENT = 1ull << 62; // in a number

FN void list(u64 number, u64 bits, const Args &args)
{
    const u64 slot = atomicAdd(&((Result *)args.result)->tails, 1ull);
    if (slot < (u64)args.tail_room)
        ((Tail *)args.tails)[slot] = {number, bits};
}

FN void list_tail(const Tile &tile, int at, int span, u64 index, const Args &args)
{
    const int shift = (int)args.shift;
    const u64 bits = piece_of(tile.words, at + (DRAW == 1 ? span - 2 : 1) + shift) >> (WIDTH == 64 ? 11 : 8);
    const u64 is_negative = DRAW == 1 ? steps_of(piece_of(tile.words, at + shift)) >> 8 & 1 : 0;
    list(index, bits | is_negative << 63, args);
}

FN void store(double x, bool is_listed, u64 index, const Args &args)
{
#if IS_EXP
    const double argument = formed(x, args);
    const Rounded rounded = round_exp(argument);
    if (!rounded.is_sure && !is_listed)
        list(index | IS_ARGUMENT, bits_of(argument), args);
    ((T *)args.out)[index] = rounded.value;
#else
    ((T *)args.out)[index] = formed((Real)x, args);
#endif
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 4) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ Tile tile;
#if CHAIN
    __shared__ Marks made;
#else
    Marks &made = tile.kept;
#endif
    Stream stream;
    stream.begin(args);
    begin(tile);
    for (i64 number = blockIdx.x; number < args.tiles; number += gridDim.x) {
        const u64 begins = ((const u64 *)args.begins)[number], first = begins >> 8;
        if (first >= (u64)args.count)
            break;
        fill(tile, stream, args, number);
#if CHAIN
        if (threadIdx.x == 0)
            mark(tile, made, (int)(begins & 255), first, args);
        made.count();
#endif
        for (int k = 0; k < ITEMS; k++) {
            const int i = k * BLOCK + threadIdx.x;
            const u64 index = first + made.rank(i);
            if (!made.has(i) || index >= (u64)args.count)
                continue;
            const Piece piece = piece_of(tile.words, i + (int)args.shift);
            int span = 1;
#if CHAIN
            const bool is_tail = tile.longs.has(i) && layer_of(piece) == 0;
            if (tile.longs.has(i))
                span = tile.spans[tile.longs.rank(i)] & SPAN;
            if (is_tail)
                list_tail(tile, i, span, index, args);
            store(size_of(piece, tile.widths), is_tail, index, args);
#else
            ((T *)args.out)[index] = value_of(piece, args);
#endif
            if (index + 1 == (u64)args.count)
                ((Result *)args.result)->consumed = (u64)number * PIECES + i + span;
        }
        __syncthreads();
    }
}
