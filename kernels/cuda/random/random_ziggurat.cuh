// SPDX-License-Identifier: Apache-2.0
//
// NumPy's ziggurat as attempts. An attempt begins at a piece, consumes some pieces (its span), and makes a value or none; the
// next attempt begins behind it. Nearly all attempts consume one piece. The others are called long. Decisions hang on exp and
// log1p, of which the CPU's may differ in the last bits: where that could change a decision, the attempt fails. Defined before
// it: Real, Steepness (u64 or u32), and the tables: steepness, and width and height as bits.
constexpr int LAYERS = 256;
constexpr double TAIL_INVERSE = WIDTH == 64 ? 0.27366123732975827203338247596 : (double)0.27366123732975827203338247596f;
constexpr u32 SPAN = 63, EMITS = 64, FAILED = 128; // of the byte that describes a long attempt

FN int layer_of(Piece piece) { return (int)(DRAW == 1 ? piece & 255 : piece >> (WIDTH == 64 ? 3 : 1) & 255); }
FN Piece steps_of(Piece piece)
{
    if (DRAW == 2)
        return piece >> (WIDTH == 64 ? 11 : 9);
    return piece >> 9 & (WIDTH == 64 ? (Piece)0xfffffffffffffull : (Piece)0x7fffff);
}
FN Real size_of(Piece piece, const Real *widths)
{
    const Piece steps = steps_of(piece);
    const Real x = (WIDTH == 64 ? (Real)(i64)steps : (Real)(int)steps) * widths[layer_of(piece)];
    return DRAW == 1 && (piece & 256) != 0 ? -x : x;
}

// Whether x < y, where y is known but for this share of it.
struct Verdict { bool is_less, is_sure; };
FN Verdict compare(double x, double y, double share)
{
    return {x < y, fabs(x - y) > share * fabs(y)};
}

constexpr double SHARE = 1e-14; // twice the errors of CUDA's and any C library's exp and log1p, and more
FN Verdict lies_under_curve(Real at, Real x)
{
    if (DRAW == 1)
        return compare(at, exp(-0.5 * x * x), SHARE);
    const double y = exp(-(double)x);
    if (WIDTH == 64)
        return compare(at, y, SHARE);
    const double share = 2e-9; // expf rounds within 0.51 ulp
    const bool is_less[] = {at < (float)(y * (1 - share)), at < (float)(y * (1 + share))};
    return {is_less[0], is_less[0] == is_less[1]};
}

// The span of the tail's attempts at a normal number: two pieces each.
FN u32 tail_span(const u64 *words, int at)
{
    for (int span = 3; span <= 1 + LOOK; span += 2) {
        const double x = -TAIL_INVERSE * log1p(-(double)unit_of(piece_of(words, at + span - 2)));
        const double y = -log1p(-(double)unit_of(piece_of(words, at + span - 1)));
        const Verdict verdict = compare(x * x, y + y, WIDTH == 64 ? SHARE : 1e-6);
        if (!verdict.is_sure)
            break;
        if (verdict.is_less)
            return span | EMITS;
    }
    return 1 | FAILED;
}

FN u32 long_span(const u64 *words, int at, const Real *widths)
{
    const Piece piece = piece_of(words, at);
    const int layer = layer_of(piece);
    if (layer == 0)
        return DRAW == 1 ? tail_span(words, at) : 2 | EMITS;
    const Real above = of_bits(height[layer - 1]), below = of_bits(height[layer]);
    const Verdict verdict =
        lies_under_curve((above - below) * unit_of(piece_of(words, at + 1)) + below, size_of(piece, widths));
    return 2 | (verdict.is_less ? EMITS : 0) | (verdict.is_sure ? 0 : FAILED);
}
