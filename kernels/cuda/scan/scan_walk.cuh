// SPDX-License-Identifier: Apache-2.0
//
// RANGE_CHECKED scans, between their passes: replaces the chunks' totals by the values before each chunk. The chunks
// are scanned as elements are; a lane has ITEMS of them. Where a chunk does not count as one factor, the scan joins its
// elements before it continues with the next chunk. One block a row.

// All threads. The value at the end of a chunk, where `run` is the value before it; nothing is stored.
FN A take_chunk(Scan &scan, i64 number, A run, bool has_run)
{
    const i64 begin = number * scan.args.chunk, width = ITEMS << scan.log2;
    scan.end = begin + scan.args.chunk < scan.args.length ? begin + scan.args.chunk : scan.args.length;
    for (i64 start = begin; start < scan.end; start += width) {
        Lane mine;
        const int length = (int)(start + width < scan.end ? width : scan.end - start);
        const int left = length - (int)scan.lane * ITEMS;
        mine.count = left < 0 ? 0 : left < ITEMS ? left : ITEMS;
        scan.load_tile(mine, start);
        take_tile(scan, mine, length, run, has_run);
        if (left > 0 && left <= ITEMS)
            scan.shared.tile_total[0] = mine.last();
        __syncthreads();
        run = scan.shared.tile_total[0];
        has_run = true;
        __syncthreads();
    }
    return run;
}

struct Row {
    A *sums;
    const Chunk *chunks;
    i64 count;
    // All threads. Joins the chunks from `first` on. Whether a chunk of this lane does not count as one factor.
    FN bool join(const Scan &scan, Lane &mine, i64 first, A run) const
    {
        const i64 own = first + (i64)scan.lane * ITEMS;
        const bool has_run = first > 0;
        const Mode mode = mode_behind(run, has_run);
        bool spoils = false;
        mine.count = own >= count ? 0 : count - own < ITEMS ? (int)(count - own) : ITEMS;
        A *const wholes = scan.staged_of(scan.lane);
#pragma unroll 4
        for (int i = 0; i < ITEMS; i++)
            if (i < mine.count)
                wholes[i] = mode == PRODUCTS ? sums[own + i] : chunks[own + i].counted(sums[own + i], run, mode, spoils);
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            mine.x[i] = i < mine.count ? wholes[i] : A();
        scan.join_lanes(mine);
        if (has_run)
            mine.put_before(run);
        if (mode != PRODUCTS)
            return spoils;
        spoils = mine.count > 0 && !mine.range.is_safe();
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (i < mine.count) {
                const i32 by = i > 0 ? size_of(mine.x[i - 1]) : mine.has_before ? size_of(mine.before) : 0;
                spoils = spoils || !chunks[own + i].fits(by);
            }
        return spoils;
    }
    FN void leave_befores(const Scan &scan, const Lane &mine, i64 first) const
    {
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (i < mine.count)
                sums[first + (i64)scan.lane * ITEMS + i] = i > 0 ? mine.x[i - 1] : mine.before;
    }
    // One lane, one chunk after the other, up to the first whose elements must be joined; returns the number of that
    // chunk.
    FN u32 leave_some(const Scan &scan, const Lane &mine, i64 first, A &run, bool has_run) const
    {
        const i64 own = first + (i64)scan.lane * ITEMS;
#pragma unroll 1
        for (int i = 0; i < mine.count; i++) {
            const A whole = sums[own + i];
            const Mode mode = mode_behind(run, has_run);
            bool spoils = mode == PRODUCTS && !chunks[own + i].fits(has_run ? size_of(run) : 0);
            const A factor = mode == PRODUCTS ? whole : chunks[own + i].counted(whole, run, mode, spoils);
            sums[own + i] = run;
            if (spoils)
                return scan.lane * ITEMS + i;
            run = has_run ? gsh_join(run, factor) : factor;
            has_run = true;
        }
        return scan.lane * ITEMS + mine.count;
    }
};

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const Args args)
{
    __shared__ Shared shared;
    Scan scan(args, shared, blockIdx.x, 0);
    const i64 place = blockIdx.x * args.chunks;
    const Row row = {(A *)args.sums + place, (const Chunk *)args.supers + place, args.chunks};
    A run = A();
    for (i64 first = 0; first < args.chunks;) {
        Lane mine;
        const bool spoils = row.join(scan, mine, first, run);
        const u32 stop = first_that_spoils(scan, spoils);
        if (scan.lane < stop)
            row.leave_befores(scan, mine, first);
        if (scan.lane == stop) {
            run = mine.before;
            shared.mark[1] = row.leave_some(scan, mine, first, run, mine.has_before);
            shared.tile_total[0] = run;
        } else if (stop == scan.lanes && scan.lane == stop - 1) {
            shared.mark[1] = BLOCK * ITEMS;
            shared.tile_total[0] = mine.last();
        }
        __syncthreads();
        first += shared.mark[1];
        run = shared.tile_total[0];
        if (stop == scan.lanes || first >= args.chunks)
            continue;
        if (threadIdx.x == 0)
            row.sums[first] = run;
        run = take_chunk(scan, first, run, first > 0);
        first++;
    }
}
