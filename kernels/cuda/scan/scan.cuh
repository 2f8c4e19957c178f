// SPDX-License-Identifier: Apache-2.0
//
// Scans. A group of `lanes` threads takes a row tile by tile; a lane has ITEMS neighbours of a tile. Values are
// joined in chains only, level by level: the elements of a lane (L), the lanes before it in its SPAN (T), the spans
// before (W), the tiles before in the chunk (C), the chunks before in its WIDE (P), the WIDEs before (S):
//
//   out = S + (P + (C + (W + (T + L))))        absent terms are left out
//
// Each level's prefix is its predecessor's prefix joined with the predecessor's total, which is its last output. So a
// running sum of numbers that are not negative never falls, whatever the rounding, and no path is longer than the
// sequential loop's. ONE_ROW: all lanes are one group. DENSE: both operands' rows are contiguous. The kernels of
// scan_pass.cuh (chunks' totals; outputs) and the RANGE_CHECKED ones share this file. RANGE_CHECKED is for products of
// floats: nothing may overflow or vanish there that would not in sequence (scan_range_checked.cuh).
struct Args : Errors {
    u64 input, output, sums, supers;
    i64 rows, length, chunk, chunks, tiles, in_step, out_step, lanes_log2;
    i64 shape[KEPT], in_stride[KEPT], out_stride[KEPT];
};
constexpr int SPAN = 16, BLOCK_LOG2 = 8;
constexpr bool HAS_STAGE = LANES_FAST || RANGE_CHECKED;
constexpr int PAD = ITEMS + 1; // keeps the first elements of a warp's lanes in different banks

struct Shared {
    A staged[HAS_STAGE ? BLOCK * PAD : 1], lane_total[BLOCK], span_total[BLOCK], tile_total[BLOCK];
    i64 in_base[BLOCK], out_base[BLOCK]; // offsets of the groups' rows
    u32 mark[RANGE_CHECKED ? BLOCK : 1]; // a lane of the group
};

// How a lane holds an element: as its value. A bool is held as its byte, because a row's first output is a copy.
template <class S> struct Held {
    template <class From> static FN S cast(From in) { return Convert<S, From>::of(in); }
    static FN A of(S stored) { return value(stored); }
    static FN S stored(A x) { return Cast<S>::of(x); }
};
template <> struct Held<Bool> {
    template <class From> static FN Bool cast(From in) { return Convert<Bool, From>::of(in); }
    static FN Bool cast(Bool in) { return in; }
    static FN u8 of(Bool stored) { return stored.byte; }
    static FN Bool stored(u8 x) { return Bool{x}; }
};
FN A load(const Args &args, const char *at)
{
    const In in = *(const In *)at;
    const Stored stored = Held<Stored>::cast(in);
    look_cast(args, in, stored, in);
    return Held<Stored>::of(stored);
}
FN void store(const Args &args, char *at, A x)
{
    const Stored stored = Held<Stored>::stored(x);
    const Out out = Held<Out>::cast(stored);
    look_cast(args, stored, out, stored);
    *(Out *)at = out;
}

// Joins totals[0], totals[step], ... in a chain; `count` > 0 of them.
FN A chain(const A *totals, u32 step, u32 count)
{
    A all = totals[0];
    for (u32 k = 1; k < count; k++)
        all = gsh_join(all, totals[k * step]);
    return all;
}

struct Lane { // one thread's part of a tile; elements beyond `count` are joined too, but not used
    A x[ITEMS];
    A before; // the output before x[0]
    int count;
    bool has_before;
    Range range; // RANGE_CHECKED: of x
    FN void begin()
    {
        has_before = false;
        range.begin();
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            if (i > 0)
                x[i] = gsh_join(x[i - 1], x[i]);
            if (i < count)
                range.note(x[i]);
        }
    }
    FN void put_before(A prefix)
    {
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            x[i] = gsh_join(prefix, x[i]);
        before = has_before ? gsh_join(prefix, before) : prefix;
        has_before = true;
        range.put_behind(prefix);
    }
    FN void fill(A value)
    {
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            x[i] = value;
    }
    FN A last() const
    {
        A found = x[0];
#pragma unroll
        for (int i = 1; i < ITEMS; i++)
            found = i < count ? x[i] : found;
        return found;
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
    // Rows: neighbouring threads move neighbours. Finds the group, and the place in its row, of the j-th one that
    // this thread moves.
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
        if (!LANES_FAST && RANGE_CHECKED)
            stage(mine);
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
    // Called between a barrier after `stage` and the next barrier.
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
        for (int i = 0; HAS_STAGE && i < ITEMS; i++)
            shared.staged[threadIdx.x * PAD + i] = mine.x[i];
    }
    FN A *staged_of(u32 which) const // lane of the group
    {
        return &shared.staged[(LANES_FAST ? (group << log2) + which : which * groups + group) * PAD];
    }
    // Every lane before one with elements is full.
    FN void join_lanes(Lane &mine) const
    {
        const u32 in_span = lane % SPAN, span = lane / SPAN;
        mine.begin();
        shared.lane_total[lane * groups + group] = mine.x[ITEMS - 1];
        __syncthreads();
        if (in_span > 0 && mine.count > 0) {
            mine.put_before(chain(&shared.lane_total[span * SPAN * groups + group], groups, in_span));
        }
        if (lanes <= SPAN)
            return;
        if (in_span == SPAN - 1)
            shared.span_total[span * groups + group] = mine.x[ITEMS - 1];
        __syncthreads();
        if (span > 0 && mine.count > 0) {
            mine.put_before(chain(&shared.span_total[group], groups, span));
        }
    }
    // Called before the tile is stored, while its inputs are still in memory.
    FN void check(const Lane &mine, i64 start) const
    {
        bool special = false;
#pragma unroll
        for (int i = 0; ERRORS && i < ITEMS; i++)
            special = special || (i < mine.count && !gsh_isfinite(value(Cast<Stored>::of(mine.x[i]))));
        if (!ERRORS || !special)
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
