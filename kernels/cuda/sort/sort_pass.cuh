// SPDX-License-Identifier: Apache-2.0
//
// Moves a row's elements to the places of their digits in one byte, those of one digit in their order. A block has a
// tile of TILE elements; a thread stands for a digit, too. Tiles are numbered in the order in which blocks begin, so a
// block waits only for blocks that run. It counts its tile's digits first and tells how many elements of each it has.
// While others look back, it brings its elements to shared memory in their order. Then it adds up what tiles before it
// have told, and tells how many there are up to its end. A status is such a number below 2 * pass + 1 or 2 * pass + 2;
// those of other passes are older.
constexpr u32 WARPS = BLOCK / 32, TILE = BLOCK * ITEMS, LOOK = 4;
static_assert(BLOCK == RADIX, "a thread for each digit");

FN u64 status_word(u32 pass, bool is_whole, u32 count) { return (u64)(2 * pass + 1 + is_whole) << 32 | count; }
// How many elements of the thread's digit the tiles before this one have, which is not the first. Several statuses are
// read at once: a row's first one is whole, and is read again where there is none before it.
FN u32 look_back(const volatile u64 *own, u32 tile, u32 pass)
{
    u32 sum = 0;
    for (u32 left = tile;; left -= LOOK, own -= LOOK * RADIX) {
        u64 words[LOOK];
#pragma unroll
        for (u32 k = 0; k < LOOK; k++)
            words[k] = *(own - (k + 1 < left ? k + 1 : left) * RADIX);
#pragma unroll
        for (u32 k = 0; k < LOOK; k++) {
            while ((u32)(words[k] >> 32) - (2 * pass + 1) > 1)
                words[k] = *(own - (k + 1) * RADIX);
            sum += (u32)words[k];
            if ((u32)(words[k] >> 32) == 2 * pass + 2)
                return sum;
        }
    }
}
// The warp's lanes that have this digit.
FN u32 lanes_of(u32 digit)
{
    u32 same = ~0u;
#pragma unroll
    for (u32 bit = 0; bit < 8; bit++) {
        const u32 is_set = digit >> bit & 1;
        same &= __ballot_sync(~0u, is_set != 0) ^ (is_set - 1);
    }
    return same;
}
// The place of the thread's element among those of its digit, of which the warp takes the next ones. The last lane of a
// digit counts for all.
FN u32 take_place(u32 *places, u32 digit)
{
    const u32 lane = threadIdx.x % 32, same = lanes_of(digit), last = 31 - __clz((int)same);
    const u32 own = __popc(same & ~0u >> (31 - lane)); // with this one
    u32 before = 0;
    if (lane == last)
        before = atomicAdd(&places[digit], own);
    return __shfl_sync(~0u, before, last, 32) + own - 1;
}
extern "C" __global__ void __launch_bounds__(BLOCK, 3) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ union { Raw element[TILE]; u32 index[TILE]; } staged; // one after the other
    __shared__ u32 places[WARPS][RADIX], base[RADIX];
    __shared__ u32 begun;
    const u32 pass = (u32)args.pass, wanted = *(const u32 *)args.state;
    if ((wanted >> pass & 1) == 0)
        return;
    const Run run(wanted, pass);
    const u32 t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0)
        begun = atomicAdd((u32 *)args.state + 1 + pass, 1u);
    for (u32 w = 0; w < WARPS; w++)
        places[w][t] = 0;
    __syncthreads();
    const i64 row = begun / (u32)args.tiles;
    const u32 tile = begun % (u32)args.tiles;
    const i64 start = (i64)tile * TILE;
    const u32 count = args.length - start < (i64)TILE ? (u32)(args.length - start) : TILE;
    const u32 first = warp * 32 * ITEMS + lane;

    // What is missing in the last tile counts as what is behind all others.
    const Raw *const from = source_of(args, run, row) + start + first;
    Raw x[ITEMS];
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++)
        x[k] = count == TILE || first + k * 32 < count ? from[k * 32] : last_of_all();
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++)
        atomicAdd(&places[warp][digit_of(x[k], pass)], 1u);
    __syncthreads();
    u32 total = 0;
    for (u32 w = 0; w < WARPS; w++) {
        const u32 own = places[w][t];
        places[w][t] = total;
        total += own;
    }
    volatile u64 *const status = (u64 *)args.statuses + ((u64)row * args.tiles + tile) * RADIX + t;
    *status = status_word(pass, tile == 0, total); // too many in the last tile, which nobody looks back to
    const u32 place = sum_before(total);
    for (u32 w = 0; w < WARPS; w++)
        places[w][t] += place;
    __syncthreads();

    u32 rank[ITEMS];
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        rank[k] = take_place(places[warp], digit_of(x[k], pass));
        staged.element[rank[k]] = x[k];
    }
    const u32 before = tile == 0 ? 0 : look_back(status, tile, pass);
    if (tile > 0)
        *status = status_word(pass, true, before + total);
    base[t] = ((const u32 *)args.counts)[((u64)row * PASSES + pass) * RADIX + t] + before - place;
    __syncthreads();

    Raw *const to = target_of(args, run, row);
    u32 target[ITEMS];
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        const u32 at = k * BLOCK + t;
        const Raw moved = staged.element[at];
        target[k] = base[digit_of(moved, pass)] + at;
        if (at < count && (!GIVES_ORDER || !run.is_last()))
            to[target[k]] = moved;
    }
    if (!GIVES_ORDER)
        return;
    const u32 *const old = (const u32 *)args.indices[(run.number + 1) % 2] + row * args.length + start;
    u32 *const fresh = (u32 *)args.indices[run.number % 2] + row * args.length;
    i64 *const output = row_at<i64>(args.output, row, args.out_step);
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
