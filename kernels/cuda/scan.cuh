// SPDX-License-Identifier: Apache-2.0
//
// Scans. A group of `lanes` threads takes a row tile by tile; a lane has ITEMS neighbours of a tile. Values are
// joined in chains only, level by level: within a lane (L), over the lanes before it among its SPAN (T), over the
// spans before (W), over the tiles before in the chunk (C), the chunks before among its WIDE (P), what is before
// those (S):
//
//   out = S + (P + (C + (W + (T + L))))        what does not exist is left out
//
// Each level's prefix is its predecessor's prefix joined with the predecessor's whole: its last output. So a running
// sum of what is not negative never falls, whatever the rounding, and no path is longer than the sequential loop's.
// ONE_ROW: all lanes are one group. DENSE: both operands' rows are contiguous. This file has what the kernels of
// scan_pass.cuh (chunks' wholes; outputs) and scan_walk.cuh share.
//
// CAREFUL (products of floats): where a partial result of a tile is out of the safe range, one lane takes the tile
// element by element, so that nothing overflows or vanishes that would not in sequence.
struct Args : Errors {
    u64 input, output, sums, supers;
    i64 rows, length, chunk, chunks, tiles, in_step, out_step, lanes_log2;
    i64 shape[KEPT], in_stride[KEPT], out_stride[KEPT];
};
constexpr int SPAN = 16, BLOCK_LOG2 = 8;
constexpr int FEW = 4; // elements that a lane on its own has in flight; divides ITEMS
constexpr int PAD = ITEMS + 1; // keeps the first elements of a warp's lanes in different banks

struct Shared {
    A staged[LANES_FAST ? BLOCK * PAD : 1], lane_total[BLOCK], span_total[BLOCK], tile_total[BLOCK];
    i64 in_base[BLOCK], out_base[BLOCK]; // offsets of the groups' rows
};

FN A load(const Args &args, const char *at)
{
    const In in = *(const In *)at;
    const Stored stored = Convert<Stored, In>::of(in);
    look_cast(args, in, stored, in);
    return value(stored);
}
FN void store(const Args &args, char *at, A x)
{
    const Stored stored = Cast<Stored>::of(x);
    const Out out = Convert<Out, Stored>::of(stored);
    look_cast(args, stored, out, stored);
    *(Out *)at = out;
}

// The chain over totals[0], totals[step], ..: `count` > 0 of them.
FN A chain(const A *totals, u32 step, u32 count)
{
    A all = totals[0];
    for (u32 k = 1; k < count; k++)
        all = gsh_join(all, totals[k * step]);
    return all;
}

struct Lane { // one thread's part of a tile; what is beyond its `count` elements is joined too, and not used
    A x[ITEMS];
    A before; // the output before x[0], for the error check
    int count;
    bool has_before;
    Range range; // CAREFUL: of partial results, those of wholes' tiles together
    FN void begin()
    {
        has_before = false;
        if (STAGE_FINAL)
            range = no_range();
#pragma unroll
        for (int i = 1; i < ITEMS; i++)
            x[i] = gsh_join(x[i - 1], x[i]);
    }
    FN void put_before(A prefix)
    {
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            x[i] = gsh_join(prefix, x[i]);
        if (ERRORS)
            before = has_before ? gsh_join(prefix, before) : prefix;
        has_before = true;
    }
    FN A last() const
    {
        A found = x[0];
#pragma unroll
        for (int i = 1; i < ITEMS; i++)
            found = i < count ? x[i] : found;
        return found;
    }
    FN void inspect() // CAREFUL: for values that spoil what follows
    {
#pragma unroll
        for (int i = 0; CAREFUL && i < ITEMS; i++)
            if (i < count)
                range.note(x[i]);
    }
};

struct Scan {
    const Args &args;
    Shared &shared;
    u32 log2, lanes, groups, lane, group;
    Index first_row;
    i64 end;
    bool live;
    FN Scan(const Args &a, Shared &s, u32 row_tile, i64 chunk) : args(a), shared(s)
    {
        log2 = ONE_ROW ? BLOCK_LOG2 : (u32)args.lanes_log2;
        lanes = 1u << log2;
        groups = BLOCK >> log2;
        lane = LANES_FAST ? threadIdx.x & (lanes - 1) : threadIdx.x / groups;
        group = LANES_FAST ? threadIdx.x >> log2 : threadIdx.x & (groups - 1);
        first_row = (Index)row_tile * groups;
        live = first_row + group < (Index)args.rows;
        end = (chunk + 1) * args.chunk < args.length ? (chunk + 1) * args.chunk : args.length;
        if (lane == 0)
            locate();
        __syncthreads();
    }
    FN void locate()
    {
        Index left = live ? first_row + group : 0;
        i64 in_offset = 0, out_offset = 0;
#pragma unroll
        for (int d = KEPT - 1; d >= 0; d--) {
            const Index outer = d > 0 ? left / (Index)args.shape[d] : 0;
            const i64 at = left - outer * (Index)args.shape[d];
            left = outer;
            in_offset += at * args.in_stride[d];
            out_offset += at * args.out_stride[d];
        }
        shared.in_base[group] = in_offset;
        shared.out_base[group] = out_offset;
    }
    FN const char *in(u32 g, i64 at) const
    {
        const char *const row = (const char *)args.input + shared.in_base[ONE_ROW ? 0 : g];
        return DENSE ? (const char *)((const In *)row + at) : row + at * args.in_step;
    }
    FN char *out(u32 g, i64 at) const
    {
        char *const row = (char *)args.output + shared.out_base[ONE_ROW ? 0 : g];
        return DENSE ? (char *)((Out *)row + at) : row + at * args.out_step;
    }
    // Rows: neighbouring threads move neighbours. The j-th that this thread moves: group, place in the row.
    FN bool moved(int j, i64 start, u32 &g, i64 &at) const
    {
        if (ONE_ROW) { // one address and constant offsets
            g = 0;
            at = start + threadIdx.x + (i64)(j * BLOCK);
            return at < end;
        }
        const u32 flat = j * BLOCK + threadIdx.x;
        g = flat / ITEMS >> log2;
        at = start + (flat & ((ITEMS << log2) - 1));
        return at < end && first_row + g < (Index)args.rows;
    }
    FN A &staged(int j) const
    {
        const u32 own = threadIdx.x / ITEMS * PAD + threadIdx.x % ITEMS;
        return shared.staged[own + j * (BLOCK / ITEMS * PAD)];
    }
    FN void load_tile(Lane &mine, i64 start) const
    {
        u32 g;
        i64 at;
        const i64 own = start + (i64)lane * ITEMS;
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            mine.x[j] = A();
            if (LANES_FAST ? moved(j, start, g, at) : j < mine.count)
                mine.x[j] = load(args, LANES_FAST ? in(g, at) : in(group, own + j));
        }
        if (!LANES_FAST)
            return;
#pragma unroll
        for (int j = 0; j < ITEMS; j++)
            staged(j) = mine.x[j];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            mine.x[i] = shared.staged[threadIdx.x * PAD + i];
    }
    // Between a barrier after `stage` and the next.
    FN void store_tile(const Lane &mine, i64 start) const
    {
        u32 g;
        i64 at;
        const i64 own = start + (i64)lane * ITEMS;
#pragma unroll
        for (int j = 0; j < ITEMS; j++)
            if (LANES_FAST ? moved(j, start, g, at) : j < mine.count)
                store(args, LANES_FAST ? out(g, at) : out(group, own + j), LANES_FAST ? staged(j) : mine.x[j]);
    }
    FN void stage(const Lane &mine) const
    {
#pragma unroll
        for (int i = 0; LANES_FAST && i < ITEMS; i++)
            shared.staged[threadIdx.x * PAD + i] = mine.x[i];
    }
    // Lanes that have elements have only full ones before them.
    FN void join_lanes(Lane &mine) const
    {
        const u32 in_span = lane % SPAN, span = lane / SPAN;
        mine.begin();
        mine.inspect();
        shared.lane_total[lane * groups + group] = mine.x[ITEMS - 1];
        __syncthreads();
        if (in_span > 0 && mine.count > 0) {
            mine.put_before(chain(&shared.lane_total[span * SPAN * groups + group], groups, in_span));
            mine.inspect();
        }
        if (lanes <= SPAN)
            return;
        if (in_span == SPAN - 1)
            shared.span_total[span * groups + group] = mine.x[ITEMS - 1];
        __syncthreads();
        if (span > 0 && mine.count > 0) {
            mine.put_before(chain(&shared.span_total[group], groups, span));
            mine.inspect();
        }
    }
    // One lane's way through its group's staged tile, in place; the last output.
    FN A walk_staged(i64 length, A run, bool has_run) const
    {
        A *at = &shared.staged[(group << log2) * PAD];
        for (i64 done = 0; done < length; done += ITEMS, at += PAD)
#pragma unroll 1
            for (int part = 0; part < ITEMS; part += FEW) {
                A x[FEW];
#pragma unroll
                for (int i = 0; i < FEW; i++)
                    x[i] = at[part + i];
#pragma unroll
                for (int i = 0; i < FEW; i++)
                    if (done + part + i < length)
                        at[part + i] = step(run, has_run, x[i]);
            }
        return run;
    }
    // The same from memory to memory.
    FN A walk(i64 start, i64 stop, A run, bool has_run) const
    {
        for (; start < stop; start += FEW) {
            A x[FEW];
#pragma unroll
            for (int i = 0; i < FEW; i++)
                x[i] = start + i < stop ? load(args, in(group, start + i)) : A();
#pragma unroll
            for (int i = 0; i < FEW; i++)
                if (start + i < stop)
                    store(args, out(group, start + i), step(run, has_run, x[i]));
        }
        return run;
    }
    // All threads: the value at the end of a chunk of the only row, `run` being before it; nothing is stored.
    FN A walk_chunk(i64 chunk, A run, bool has_run)
    {
        const i64 begin = chunk * args.chunk, width = ITEMS << log2;
        end = begin + args.chunk < args.length ? begin + args.chunk : args.length;
        for (i64 start = begin; start < end; start += width) {
            Lane mine;
            load_tile(mine, start);
            if (threadIdx.x == 0)
                shared.tile_total[0] = walk_staged(start + width < end ? width : end - start, run, has_run);
            __syncthreads();
            run = shared.tile_total[0];
            has_run = true;
            __syncthreads();
        }
        return run;
    }
    FN A step(A &run, bool &has_run, A x) const
    {
        const A joined = has_run ? gsh_join(run, x) : x;
        if (ERRORS && has_run)
            look(args, run, x, joined);
        run = joined;
        has_run = true;
        return joined;
    }
    // Before the tile is stored: its inputs are still there.
    FN void check(const Lane &mine, i64 start) const
    {
        bool odd = false;
#pragma unroll
        for (int i = 0; ERRORS && i < ITEMS; i++)
            odd = odd || (i < mine.count && !gsh_isfinite(value(Cast<Stored>::of(mine.x[i]))));
        if (!ERRORS || !odd)
            return;
        A outputs[ITEMS]; // in memory, so that the loop need not be unrolled
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            outputs[i] = mine.x[i];
        A before = mine.before;
#pragma unroll 1
        for (int i = 0; i < mine.count; i++) {
            if (i > 0 || mine.has_before)
                look(args, before, load(args, in(group, start + lane * ITEMS + i)), outputs[i]);
            before = outputs[i];
        }
    }
};
