// SPDX-License-Identifier: Apache-2.0
//
// The reduction kernel; geometry and tree are described in kernels/source_reduce.c. In front of it
// stand the types In and Out (stored), A (the accumulator) and what converts, joins and begins. A unit is PACK neighbours along the reduced dimensions (rows) or OUTPUTS
// neighbouring outputs (columns); one of the two is 1.
struct Args {
    u64 input, output, mask;
    i64 outputs, units, elements; // units of outputs; of the reduced; reduced elements
    i64 segment, tiles, segment_stride, lanes, output_step, mask_step;
    u64 initial[2];
    Sink sink;
    i64 kept_shape[KEPT + 1];
    u64 kept_magic[KEPT + 1];
    i64 kept_stride[3][KEPT + 1]; // input, output, mask
    i64 reduced_shape[REDUCED + 1];
    u64 reduced_magic[REDUCED + 1];
    i64 reduced_stride[3][REDUCED + 1]; // input, unused, mask
};
constexpr int WIDTH = PACK * OUTPUTS;

template <int N>
FN void locate(Index left, const i64 *shape, const u64 *magic, const i64 (*stride)[N + 1], i64 (&offset)[3])
{
#pragma unroll
    for (int k = 0; k < 3; k++)
        offset[k] = 0;
#pragma unroll
    for (int d = N - 1; d >= 0; d--) {
        const Index outer = d > 0 ? divide(left, shape[d], magic[d]) : 0;
        const Index at = d > 0 ? left - outer * (Index)shape[d] : left;
        left = outer;
#pragma unroll
        for (int k = 0; k < 3; k++)
            offset[k] += stretch<SHORT>(at, stride[k][d]);
    }
}
template <bool CHECKED> FN A join(const Args &args, A a, A b)
{
    const A r = join_values(a, b);
#if ERRORS
    if constexpr (CHECKED)
        check_join<SinkType, MAY>(args.sink, a, b, r);
#endif
    return r;
}
// Elements of a come before those of b.
template <bool CHECKED> FN A join_next(const Args &args, A a, A b)
{
    return ERRORS ? join<CHECKED>(args, a, b) : join_later(a, b);
}

struct Lane { // what a thread works on
    const char *input, *mask;
    Index first, end; // every lanes-th unit
    u32 lanes;
    bool has_rest;    // and the elements that are no whole unit
    A begin[OUTPUTS]; // the neutral value
};

FN bool is_live(const Args &args, const Lane &lane, i64 mask_offset, int e)
{
    return !MASKED || *(const u8 *)(lane.mask + mask_offset + e * args.mask_step) != 0;
}
FN void load_unit(const Args &args, const Lane &lane, Index unit, Pack<In, WIDTH> &held, Pack<Bool, WIDTH> &live)
{
    i64 offset[3];
    locate<REDUCED>(unit, args.reduced_shape, args.reduced_magic, args.reduced_stride, offset);
    load_pack<ALIGNED>(held, lane.input + offset[0]);
#pragma unroll
    for (int e = 0; e < WIDTH; e++)
        live.element[e].byte = is_live(args, lane, offset[2], e);
}

// Joins the elements that a unit has for output o.
template <bool CHECKED>
FN A join_unit(const Args &args, const Lane &lane, const Pack<In, WIDTH> &held, const Pack<Bool, WIDTH> &live, Index unit, int o)
{
    A x[PACK];
#pragma unroll
    for (int e = 0; e < PACK; e++) {
        const int k = PACK > 1 ? e : o;
        x[e] = !MASKED || live.element[k].byte ? accumulate(held.element[k], (i64)unit * PACK + e) : lane.begin[o];
    }
#pragma unroll
    for (int s = 1; s < PACK; s *= 2)
#pragma unroll
        for (int e = 0; e + s < PACK; e += 2 * s)
            x[e] = join_next<CHECKED>(args, x[e], x[e + s]);
    return x[0];
}
// Joins a lane's next UNROLL units to the totals. Beyond the end the first of them is loaded once
// more (nothing depends on a condition, so that all are loaded together), and the neutral value
// stands for it where an element may be joined only once.
template <bool CHECKED> FN void join_round(const Args &args, const Lane &lane, Index unit, A (&total)[OUTPUTS])
{
    constexpr int TURNS = CHECKED ? 1 : UNROLL; // the checked one is rare: small, not fast
    A round[OUTPUTS];
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
        round[o] = lane.begin[o];
#pragma unroll TURNS
    for (int u = 0; u < UNROLL; u++) {
        const bool is_there = unit + u * lane.lanes < lane.end;
        const Index at = is_there ? unit + u * lane.lanes : unit;
        Pack<In, WIDTH> held;
        Pack<Bool, WIDTH> live;
        load_unit(args, lane, at, held, live);
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++) {
            const A x = join_unit<CHECKED>(args, lane, held, live, at, o);
            round[o] = join_next<CHECKED>(args, round[o], REPEATS || is_there ? x : lane.begin[o]);
        }
    }
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
        total[o] = join_next<CHECKED>(args, total[o], round[o]);
}
// An infinity or a NaN, once met, comes out of every later join: only rounds whose total is one are
// joined a second time, with a look at each join.
FN void join_watched(const Args &args, const Lane &lane, Index unit, A (&total)[OUTPUTS])
{
#if ERRORS
    A again[OUTPUTS];
    bool finite = true;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
        again[o] = total[o];
    join_round<false>(args, lane, unit, total);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
        finite = finite && gsh_isfinite(total[o]);
    if (!finite)
        join_round<true>(args, lane, unit, again);
#else
    join_round<false>(args, lane, unit, total);
#endif
}
// Joins all of a lane's elements; chunks keep chains of additions short.
FN void walk(const Args &args, const Lane &lane, A (&total)[OUTPUTS])
{
    const Index step = UNROLL * lane.lanes;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
        total[o] = lane.begin[o];
#pragma unroll 1
    for (Index unit = lane.first; unit < lane.end;) {
        A chunk[OUTPUTS];
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++)
            chunk[o] = lane.begin[o];
#pragma unroll 1
        for (int k = 0; k < CHAIN && unit < lane.end; k++, unit += step)
            join_watched(args, lane, unit, chunk);
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++)
            total[o] = join_next<true>(args, total[o], chunk[o]);
    }
    if constexpr (PACK > 1 && REDUCED == 1)
#pragma unroll 1
        for (i64 i = lane.has_rest ? args.units * PACK : args.elements; i < args.elements; i++)
            if (is_live(args, lane, i * args.reduced_stride[2][0] / PACK, 0))
                total[0] = join_next<true>(args, total[0], accumulate(((const In *)lane.input)[i], i));
}

// The group's totals to its lane 0: a warp's lanes first, then the warps.
FN void gather_rows(const Args &args, u32 lanes, A &total)
{
    __shared__ A shared[BLOCK];
    const u32 width = lanes < 32 ? lanes : 32;
#pragma unroll 1
    for (u32 s = width / 2; s > 0; s /= 2) {
        const A other = shuffle_down(total, s, width);
        if (threadIdx.x % width < s)
            total = join<true>(args, total, other);
    }
    if (lanes <= 32)
        return;
    shared[threadIdx.x] = total;
    __syncthreads();
#pragma unroll 1
    for (u32 w = 32; threadIdx.x % lanes == 0 && w < lanes; w += 32)
        total = join<true>(args, total, shared[threadIdx.x + w]);
}
FN void gather_columns(const Args &args, u32 lanes, A (&total)[OUTPUTS])
{
    __shared__ A shared[OUTPUTS][BLOCK];
    const u32 groups = BLOCK / lanes;
#pragma unroll 1
    for (u32 s = lanes / 2; s > 0; s /= 2) {
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++)
            shared[o][threadIdx.x] = total[o];
        __syncthreads();
        if (threadIdx.x / groups < s)
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++)
                total[o] = join<true>(args, total[o], shared[o][threadIdx.x + s * groups]);
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const Args args)
{
    // powers of two; a group makes one unit of outputs
    const u32 lanes = (u32)args.lanes, groups = BLOCK / lanes;
    const u32 number = LANES_FAST ? threadIdx.x % lanes : threadIdx.x / groups;
    const u32 group = LANES_FAST ? threadIdx.x / lanes : threadIdx.x % groups;
    const Index tile = blockIdx.x % (u32)args.tiles, segment = blockIdx.x / (u32)args.tiles;
    const Index output = tile * groups + group;
    const bool live = output < (Index)args.outputs;
    i64 offset[3];
    locate<KEPT>(live ? output : 0, args.kept_shape, args.kept_magic, args.kept_stride, offset);
    const Index first = segment * (Index)args.segment;
    const Index left = (Index)args.units - first, length = (Index)args.segment;
    Lane lane;
    lane.input = (const char *)args.input + offset[0];
    lane.mask = (const char *)args.mask + offset[2];
    lane.first = first + number;
    lane.end = !live ? 0 : first + (length < left ? length : left);
    lane.lanes = lanes;
    lane.has_rest = live && number == 0 && left <= length;
    A total[OUTPUTS];
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
        lane.begin[o] = begin_value(args, lane.input, o);
    walk(args, lane, total);
    if constexpr (LANES_FAST)
        gather_rows(args, lanes, total[0]);
    else
        gather_columns(args, lanes, total);
    if (number != 0 || !live)
        return;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) {
        const A whole = JOINS_INITIAL ? join<true>(args, initial_value(args), total[o]) : total[o];
#if ERRORS
        check_rounding<Result>(args.sink, whole);
#endif
        char *const at = (char *)args.output + offset[1] + (i64)segment * args.segment_stride + o * args.output_step;
        *(Out *)at = result_of(whole);
    }
}
