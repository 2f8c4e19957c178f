// SPDX-License-Identifier: Apache-2.0
//
// The passes of a scan over chunks. The first leaves the chunks' totals in sums, of which scan_sums.cuh makes
// prefixes. STAGE_FINAL writes the outputs.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) gsh_kernel(const Args args)
{
    __shared__ Shared shared;
    // Backwards: what the first stage read last may still be in the cache.
    const u32 block = STAGE_FINAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    const u32 chunk = block / (u32)args.tiles;
    const Scan scan(args, shared, block % (u32)args.tiles, chunk);
    const i64 row = scan.live ? (i64)scan.first_row + scan.group : 0, width = ITEMS << scan.log2;
    const i64 sum = row * args.chunks + chunk;
    const bool has_near = STAGE_FINAL && chunk % WIDE > 0, has_far = STAGE_FINAL && chunk >= WIDE;
    const A near = has_near ? ((const A *)args.sums)[sum] : A();
    const A far = has_far ? ((const A *)args.supers)[row * WIDE + chunk / WIDE] : A();
    bool has_carry = false;
    A carry = A();
    Lane mine;
    for (i64 start = (i64)chunk * args.chunk; start < scan.end; start += width) {
        const i64 stop = start + width < scan.end ? start + width : scan.end;
        const int left = scan.live ? (int)(stop - start) - (int)scan.lane * ITEMS : 0;
        mine.count = left < 0 ? 0 : left < ITEMS ? left : ITEMS;
        scan.load_tile(mine, start);
        scan.join_lanes(mine);
        if (left > 0 && left <= ITEMS)
            shared.tile_total[scan.group] = mine.last();
        if (STAGE_FINAL && has_carry)
            mine.put_before(carry);
        if (has_near)
            mine.put_before(near);
        if (has_far)
            mine.put_before(far);
        if (STAGE_FINAL) {
            scan.stage(mine);
            scan.check(mine, start);
        }
        __syncthreads();
        const A whole = shared.tile_total[scan.group];
        carry = has_carry ? gsh_join(carry, whole) : whole;
        has_carry = true;
        if (STAGE_FINAL)
            scan.store_tile(mine, start);
        if (LANES_FAST)
            __syncthreads();
    }
    if (!STAGE_FINAL && scan.live && scan.lane == 0)
        ((A *)args.sums)[sum] = carry;
}
