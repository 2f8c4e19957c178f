// SPDX-License-Identifier: Apache-2.0
//
// The raw 64-bit words of a stream, for a tile at a time. A block of BLOCK threads makes the tiles blockIdx.x, + gridDim.x, ...
// Defined before it: GENERATOR (0: PCG64, 1: PCG64DXSM, 2: Philox4x64-10); TILE_WORDS, the words from one tile to the next;
// MADE_WORDS, how many are made for a tile, some of which are the next one's.
struct Wide { u64 low, high; }; // 128 bits
FN Wide multiply(Wide a, Wide b)
{
    return {a.low * b.low, __umul64hi(a.low, b.low) + a.low * b.high + a.high * b.low};
}
FN Wide add(Wide a, Wide b)
{
    const u64 low = a.low + b.low;
    return {low, a.high + b.high + (low < a.low)};
}

// x -> factor * x + term, modulo 2^128: a step of a linear congruential generator, or many at once.
struct Steps { Wide factor, term; };
FN Wide apply(Steps steps, Wide x) { return add(multiply(steps.factor, x), steps.term); }

struct Args {
    u64 out;
    i64 count;        // values
    i64 tiles;
    Wide state;       // of the first word, as the output function takes it; Philox: the lower half of the counter of words 0 to 3
    Wide upper, key;  // Philox: the upper half of that counter, and the key
    Steps one, round, stride; // so many words ahead: 1, BLOCK, gridDim.x * TILE_WORDS
    u64 head[4];      // in the place of the first `heads` words
    i64 heads, skipped; // Philox: the first word of a tile is number `skipped` of its counter
    i64 shift;        // pieces of the first word that the stream has behind it already
    double scale, offset;
    u64 low, range, bound; // of integers; bound: the mask, or Lemire's threshold
    u64 maps, group_maps, begins, result, tails; // device addresses of scratch memory
    i64 group_size, groups, tail_room;
};

#if GENERATOR < 2
FN Wide ahead(Wide x, Steps steps, u64 count)
{
    for (; count != 0; count >>= 1) {
        if (count & 1)
            x = apply(steps, x);
        steps.term = add(multiply(steps.factor, steps.term), steps.term);
        steps.factor = multiply(steps.factor, steps.factor);
    }
    return x;
}

#if GENERATOR == 0
FN u64 make_word(Wide x)
{
    const u64 mixed = x.high ^ x.low;
    const u32 turn = (u32)(x.high >> 58);
    return mixed >> turn | mixed << (-turn & 63);
}
#else
FN u64 make_word(Wide x)
{
    u64 word = x.high ^ x.high >> 32;
    word *= 0xda942042e4dd58b5ull;
    word ^= word >> 48;
    return word * (x.low | 1);
}
#endif

// Where this thread stands: the state before word threadIdx.x of its tile.
struct Stream {
    Wide at;
    FN void begin(const Args &args)
    {
        at = ahead(args.state, args.one, (u64)blockIdx.x * TILE_WORDS + threadIdx.x);
    }
    // Calls take(i, word) for the words of the tile that this thread makes, and goes on to the next tile.
    template <class Take> FN void make(const Args &args, i64 tile, Take take)
    {
        Wide x = at;
#pragma unroll
        for (int round = 0; round < (MADE_WORDS + BLOCK - 1) / BLOCK; round++) {
            const int i = round * BLOCK + threadIdx.x;
            if (MADE_WORDS % BLOCK != 0 && i >= MADE_WORDS)
                break;
            const u64 word = make_word(x);
            x = apply(args.round, x);
            take(i, round == 0 && tile == 0 && i < args.heads ? args.head[i] : word);
        }
        at = apply(args.stride, at);
    }
};
#else
FN void philox_round(u64 (&c)[4], u64 k0, u64 k1)
{
    const u64 m0 = 0xd2e7470ee14c6c93ull, m1 = 0xca5a826395121157ull;
    const u64 high0 = __umul64hi(m0, c[0]), low0 = m0 * c[0], high1 = __umul64hi(m1, c[2]), low1 = m1 * c[2];
    c[0] = high1 ^ c[1] ^ k0;
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ k1;
    c[3] = low0;
}

struct Stream {
    FN void begin(const Args &) {}
    template <class Take> FN void make(const Args &args, i64 tile, Take take)
    {
        const u64 first = (u64)tile * TILE_WORDS + (u64)args.skipped;
        for (u64 four = first / 4 + threadIdx.x; four * 4 < first + MADE_WORDS; four += BLOCK) {
            const Wide lower = add(args.state, {four, 0});
            const Wide carry = {lower.high < args.state.high || (lower.high == args.state.high && lower.low < args.state.low), 0};
            const Wide upper = add(args.upper, carry);
            u64 c[4] = {lower.low, lower.high, upper.low, upper.high}, k0 = args.key.low, k1 = args.key.high;
            for (int round = 0; round < 10; round++, k0 += 0x9e3779b97f4a7c15ull, k1 += 0xbb67ae8584caa73bull)
                philox_round(c, k0, k1);
            for (int lane = 0; lane < 4; lane++) {
                const i64 i = (i64)(four * 4 + lane - first);
                const u64 word = four == 0 && lane < args.heads ? args.head[lane] : c[lane];
                if (i >= 0 && i < MADE_WORDS)
                    take((int)i, word);
            }
        }
    }
};
#endif
