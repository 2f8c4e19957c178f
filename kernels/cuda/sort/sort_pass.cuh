// SPDX-License-Identifier: Apache-2.0
//
// Moves a row's elements to the places of their digits in one byte, those of one digit in their order. A block has a
// tile of TILE elements; a thread stands for a digit, too. Tiles are numbered in the order in which blocks begin, so a
// block waits only for blocks that run. It tells first how many elements of each digit its tile has, then how many
// there are up to its end, for which it adds what tiles before it have told. A status is such a number below 2 * pass
// + 1 or 2 * pass + 2; those of other passes are older.
constexpr u32 WARPS = BLOCK / 32, TILE = BLOCK * ITEMS, DIGIT_SHIFT = 16;
static_assert(BLOCK == RADIX, "a thread for each digit");
static_assert(TILE <= 1u << DIGIT_SHIFT, "a rank fits below the digit");

FN u64 status_word(u32 pass, bool is_whole, u32 count) { return (u64)(2 * pass + 1 + is_whole) << 32 | count; }
// How many elements of the thread's digit the tiles before this one have.
FN u32 look_back(const volatile u64 *own, u32 tile, u32 pass)
{
    u32 sum = 0;
    for (bool is_whole = tile == 0; !is_whole;) {
        own -= RADIX;
        u64 word;
        do
            word = *own;
        while ((u32)(word >> 32) - (2 * pass + 1) > 1);
        sum += (u32)word;
        is_whole = (u32)(word >> 32) == 2 * pass + 2;
    }
    return sum;
}
// The number of elements of this digit before this one in the warp's part of the tile. `lanes` has of each digit the lanes that have
// it, and is clear between two calls. The last of these lanes counts for all.
FN u32 rank_in_warp(u32 *counts, u32 *lanes, u32 digit)
{
    const u32 lane = threadIdx.x % 32;
    atomicOr(&lanes[digit], 1u << lane);
    __syncwarp();
    const u32 same = lanes[digit], last = 31 - __clz((int)same);
    const u32 own = __popc(same & ~0u >> (31 - lane)); // with this one
    u32 before = 0;
    if (lane == last) {
        before = counts[digit];
        counts[digit] = before + own;
    }
    before = __shfl_sync(~0u, before, last, 32); // all have read `lanes`
    if (lane == last)
        lanes[digit] = 0;
    __syncwarp();
    return before + own - 1;
}
extern "C" __global__ void __launch_bounds__(BLOCK, 3) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ union { u32 lanes[WARPS][RADIX]; Raw element[TILE]; u32 index[TILE]; } staged; // one after the other
    __shared__ u32 counts[WARPS][RADIX], base[RADIX];
    __shared__ u32 begun;
    const u32 pass = (u32)args.pass, wanted = *(const u32 *)args.state;
    if ((wanted >> pass & 1) == 0)
        return;
    const Run run(wanted, pass);
    const u32 t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0)
        begun = atomicAdd((u32 *)args.state + 1 + pass, 1u);
    for (u32 w = 0; w < WARPS; w++)
        counts[w][t] = staged.lanes[w][t] = 0;
    __syncthreads();
    const i64 row = begun / (u32)args.tiles;
    const u32 tile = begun % (u32)args.tiles;
    const i64 start = (i64)tile * TILE;
    const u32 count = args.length - start < (i64)TILE ? (u32)(args.length - start) : TILE;
    const u32 first = warp * 32 * ITEMS + lane;

    // What is missing in the last tile counts as the last digit, behind all others.
    const Raw *const from = source_of(args, run, row) + start;
    Raw x[ITEMS];
    u32 rank[ITEMS]; // above it the digit, up to the counts of all warps
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++)
        if (first + k * 32 < count)
            x[k] = from[first + k * 32];
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++)
    {
        const u32 digit = first + k * 32 < count ? digit_of(x[k], pass) : RADIX - 1;
        rank[k] = digit << DIGIT_SHIFT | rank_in_warp(counts[warp], staged.lanes[warp], digit);
    }
    __syncthreads();
    u32 total = 0;
    for (u32 w = 0; w < WARPS; w++) {
        const u32 own = counts[w][t];
        counts[w][t] = total;
        total += own;
    }
    const u32 real = t == RADIX - 1 ? total - (TILE - count) : total;
    volatile u64 *const status = (u64 *)args.statuses + ((u64)row * args.tiles + tile) * RADIX + t;
    *status = status_word(pass, tile == 0, real);
    const u32 place = sum_before(total);
    for (u32 w = 0; w < WARPS; w++)
        counts[w][t] += place;
    const u32 before = look_back(status, tile, pass);
    if (tile > 0)
        *status = status_word(pass, true, before + real);
    base[t] = ((const u32 *)args.counts)[((u64)row * PASSES + pass) * RADIX + t] + before - place;
    __syncthreads();

#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        rank[k] = counts[warp][rank[k] >> DIGIT_SHIFT] + (rank[k] & (1u << DIGIT_SHIFT) - 1);
        staged.element[rank[k]] = x[k];
    }
    __syncthreads();
    Raw *const to = target_of(args, run, row);
    u32 target[ITEMS];
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        const u32 at = k * BLOCK + t;
        if (at < count) {
            const Raw moved = staged.element[at];
            target[k] = base[digit_of(moved, pass)] + at;
            if (!GIVES_ORDER || !run.is_last())
                to[target[k]] = moved;
        }
    }
    if (!GIVES_ORDER)
        return;
    const u32 *const old = (const u32 *)args.indices[(run.number + 1) % 2] + row * args.length + start;
    u32 *const fresh = (u32 *)args.indices[run.number % 2] + row * args.length;
    i64 *const output = (i64 *)(args.output + row * args.out_step);
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        const u32 at = first + k * 32;
        if (at < count)
            staged.index[rank[k]] = run.number == 0 ? (u32)start + at : old[at];
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        const u32 at = k * BLOCK + t;
        if (at < count && run.is_last())
            output[target[k]] = staged.index[at];
        else if (at < count)
            fresh[target[k]] = staged.index[at];
    }
}
