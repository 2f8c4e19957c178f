// SPDX-License-Identifier: Apache-2.0
//
// The passes of a RANGE_CHECKED scan over chunks. The first leaves the chunks' totals in sums and their descriptions
// (Chunk) in supers; scan_walk.cuh makes the value before each chunk of them. STAGE_FINAL writes the outputs. It does
// not read inputs that are known to change nothing.
constexpr u32 EARLY = 256;

extern "C" __global__ void __launch_bounds__(BLOCK, 4) gsh_kernel(const Args args)
{
    __shared__ Shared shared;
    // Products mostly leave the range in the first chunks, which then take longest, so these run first. The others
    // run backwards: what the first stage read last may still be in the cache.
    const u32 block = STAGE_FINAL && blockIdx.x >= EARLY ? gridDim.x - 1 - (blockIdx.x - EARLY) : blockIdx.x;
    const u32 number = block / (u32)args.tiles;
    const Scan scan(args, shared, block % (u32)args.tiles, number);
    const i64 row = scan.live ? (i64)scan.first_row + scan.group : 0, width = ITEMS << scan.log2;
    const i64 sum = row * args.chunks + number;
    bool has_carry = STAGE_FINAL && number > 0;
    A carry = has_carry ? ((const A *)args.sums)[sum] : A();
    Lane mine;
    Chunk chunk;
    chunk.begin();
    const bool repeats = has_carry && !__syncthreads_or(scan.live && !((const Chunk *)args.supers)[sum].repeats(carry));
    for (i64 start = (i64)number * args.chunk; start < scan.end; start += width) {
        const i64 stop = start + width < scan.end ? start + width : scan.end;
        const int left = scan.live ? (int)(stop - start) - (int)scan.lane * ITEMS : 0;
        mine.count = left < 0 ? 0 : left < ITEMS ? left : ITEMS;
        if (repeats) {
            mine.fill(carry);
            scan.stage(mine);
        } else if (STAGE_FINAL) {
            scan.load_tile(mine, start);
            take_tile(scan, mine, (int)(stop - start), carry, has_carry);
            scan.stage(mine);
            scan.check(mine, start);
        } else {
            scan.load_tile(mine, start);
            chunk.note_inputs(mine);
            scan.join_lanes(mine);
            if (has_carry)
                mine.put_before(carry);
            chunk.note_products(mine, scan.staged_of(scan.lane));
        }
        if (left > 0 && left <= ITEMS)
            shared.tile_total[scan.group] = mine.last();
        __syncthreads();
        carry = shared.tile_total[scan.group];
        has_carry = true;
        if (STAGE_FINAL)
            scan.store_tile(mine, start);
        if (LANES_FAST)
            __syncthreads();
    }
    if (!STAGE_FINAL) {
        const Chunk all = chunk_of_block(shared, chunk);
        if (threadIdx.x == 0) {
            ((A *)args.sums)[sum] = carry;
            ((Chunk *)args.supers)[sum] = all;
        }
    }
}
