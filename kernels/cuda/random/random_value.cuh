// SPDX-License-Identifier: Apache-2.0
//
// Values of pieces: words, halves of words (the lower one first), and so on. Defined before it: WIDTH, bits of a piece; DRAW
// (0: uniform, 1: normal, 2: exponential, 3: integers); FORM (0: x, 1: scale * x, 2: offset + scale * x, 3: exp(offset + scale * x), of which this makes the argument); METHOD of integers (0:
// all bits, 1: masked, 2: Lemire's); T, the type of a value in memory.
constexpr int PIECES_OF_WORD = 64 / WIDTH;
template <int width> struct PieceOf { typedef u32 Stored, Type; };
template <> struct PieceOf<64> { typedef u64 Stored, Type; };
template <> struct PieceOf<16> { typedef u16 Stored; typedef u32 Type; };
template <> struct PieceOf<8> { typedef u8 Stored; typedef u32 Type; };
typedef PieceOf<WIDTH>::Stored Stored; // in memory
typedef PieceOf<WIDTH>::Type Piece;

// Piece i of the words, counted from the first one's beginning.
FN Piece piece_of(const u64 *words, int i)
{
    if (WIDTH == 1)
        return (Piece)(words[i / 64] >> i % 64 & 1);
    return ((const Stored *)words)[i];
}

FN double formed(double x, const Args &args)
{
    if (FORM >= 2)
        return args.offset + args.scale * x;
    return FORM == 1 ? args.scale * x : x;
}
FN float formed(float x, const Args &) { return x; }

FN double unit_of(u64 piece) { return (double)(i64)(piece >> 11) * (1.0 / 9007199254740992.0); }
FN float unit_of(u32 piece) { return (float)(int)(piece >> 8) * (1.0f / 16777216.0f); }

#if DRAW == 0
FN T value_of(Piece piece, const Args &args) { return formed(unit_of(piece), args); }
#elif DRAW == 3
FN bool is_kept(Piece piece, const Args &args)
{
    if (METHOD == 1)
        return (piece & args.bound) <= args.range;
    if (METHOD == 2)
        return (Piece)(piece * (Piece)(args.range + 1) & ((Piece)-1 >> (sizeof(Piece) * 8 - WIDTH))) >= (Piece)args.bound;
    return true;
}
FN T value_of(Piece piece, const Args &args)
{
    u64 value = piece;
    if (METHOD == 1)
        value &= args.bound;
    if (METHOD == 2)
        value = WIDTH == 64 ? __umul64hi(piece, args.range + 1) : (u64)piece * (args.range + 1) >> WIDTH % 64;
    return (T)(args.low + value);
}
#endif
