// SPDX-License-Identifier: Apache-2.0
//
// The words of MT19937, by one block of threads: each computes three words of a block of 624, which need only words of the block before
// and its own, so that one barrier a block suffices.
constexpr int WORDS = 624, FAR = 397, NEAR = WORDS - FAR;

struct Args {
    u64 out;
    i64 count, at; // words to make; words of the block that are taken
    u32 key[WORDS];
};

FN u32 twist(u32 word, u32 next)
{
    const u32 mixed = (word & 0x80000000u) | (next & 0x7fffffffu);
    return mixed >> 1 ^ (0u - (mixed & 1u) & 0x9908b0dfu);
}
FN u32 temper(u32 word)
{
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680u;
    word ^= word << 15 & 0xefc60000u;
    return word ^ word >> 18;
}
FN void put(const Args &args, i64 place, u32 word)
{
    if (place < args.count)
        ((u32 *)args.out)[place] = temper(word);
}

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ u32 blocks[2][WORDS];
    const int t = threadIdx.x;
    for (int i = t; i < WORDS; i += BLOCK) {
        blocks[0][i] = args.key[i];
        if (i >= args.at)
            put(args, i - args.at, args.key[i]);
    }
    __syncthreads();
    int now = 0;
    for (i64 first = WORDS - args.at; first < args.count; first += WORDS, now ^= 1) {
        const u32 *old = blocks[now];
        u32 *next = blocks[now ^ 1];
        if (t < NEAR) {
            const u32 a = old[t + FAR] ^ twist(old[t], old[t + 1]);
            const u32 b = a ^ twist(old[t + NEAR], old[t + NEAR + 1]);
            next[t] = a;
            next[t + NEAR] = b;
            put(args, first + t, a);
            put(args, first + t + NEAR, b);
            if (t + 2 * NEAR < WORDS) {
                const bool is_last = t + 2 * NEAR == WORDS - 1;
                const u32 behind = is_last ? old[FAR] ^ twist(old[0], old[1]) : old[t + 2 * NEAR + 1];
                const u32 c = b ^ twist(old[t + 2 * NEAR], behind);
                next[t + 2 * NEAR] = c;
                put(args, first + t + 2 * NEAR, c);
            }
        }
        __syncthreads();
    }
}
