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
#if ERRORS
FN A join(const Args &args, A a, A b)
{
    const A r = join_values(a, b);
    check_join<SinkType, MAY>(args.sink, a, b, r);
    return r;
}
#else
FN A join(const Args &, A a, A b) { return join_values(a, b); }
#endif

// Elements of a come before those of b.
FN A join_next(const Args &args, A a, A b)
{
#if ORDERED
    return join_later(a, b);
#else
    return join(args, a, b);
#endif
}

struct Lane { // what a thread works on
    const char *input, *mask;
    Index end;
    A begin[OUTPUTS]; // the neutral value
    A total[OUTPUTS];
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
            x[e] = join_next(args, x[e], x[e + s]);
    return x[0];
}
// The elements that are no whole unit: of one reduced dimension, its last ones.
FN void join_rest(const Args &args, Lane &lane)
{
    for (i64 i = args.units * PACK; i < args.elements; i++)
        if (is_live(args, lane, i * args.reduced_stride[2][0] / PACK, 0))
            lane.total[0] = join(args, lane.total[0], accumulate(((const In *)lane.input)[i], i));
}

// Every lanes-th unit from `unit` on; chunks keep chains of additions short.
FN void walk(const Args &args, Lane &lane, Index unit, u32 lanes)
{
    while (unit < lane.end) {
        A part[UNROLL][OUTPUTS];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++)
                part[u][o] = lane.begin[o];
        for (int k = 0; k < CHAIN && unit < lane.end; k++, unit += UNROLL * lanes) {
            Pack<In, WIDTH> held[UNROLL];
            Pack<Bool, WIDTH> live[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
                if (unit + u * lanes < lane.end)
                    load_unit(args, lane, unit + u * lanes, held[u], live[u]);
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
                if (unit + u * lanes < lane.end)
#pragma unroll
                    for (int o = 0; o < OUTPUTS; o++)
                        part[u][o] = join_next(args, part[u][o], join_unit(args, lane, held[u], live[u], unit + u * lanes, o));
        }
#pragma unroll
        for (int s = UNROLL / 2; s > 0; s /= 2)
#pragma unroll
            for (int u = 0; u < s; u++)
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++)
                    part[u][o] = join(args, part[u][o], part[u + s][o]);
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++)
            lane.total[o] = join(args, lane.total[o], part[0][o]);
    }
}

// The group's totals to its lane 0: a warp's lanes first, then the warps.
FN void gather_rows(const Args &args, Lane &lane, u32 lanes)
{
    __shared__ A shared[BLOCK];
    const u32 width = lanes < 32 ? lanes : 32;
    for (u32 s = width / 2; s > 0; s /= 2) {
        const A other = shuffle_down(lane.total[0], s, width);
        if (threadIdx.x % width < s)
            lane.total[0] = join(args, lane.total[0], other);
    }
    if (lanes <= 32)
        return;
    shared[threadIdx.x] = lane.total[0];
    __syncthreads();
    for (u32 w = 32; threadIdx.x % lanes == 0 && w < lanes; w += 32)
        lane.total[0] = join(args, lane.total[0], shared[threadIdx.x + w]);
}
FN void gather_columns(const Args &args, Lane &lane, u32 lanes)
{
    __shared__ A shared[OUTPUTS][BLOCK];
    const u32 groups = BLOCK / lanes;
    for (u32 s = lanes / 2; s > 0; s /= 2) {
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++)
            shared[o][threadIdx.x] = lane.total[o];
        __syncthreads();
        if (threadIdx.x / groups < s)
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++)
                lane.total[o] = join(args, lane.total[o], shared[o][threadIdx.x + s * groups]);
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
    Lane lane;
    lane.input = (const char *)args.input + offset[0];
    lane.mask = (const char *)args.mask + offset[2];
    const Index first = segment * (Index)args.segment;
    const Index left = (Index)args.units - first, length = (Index)args.segment;
    lane.end = !live ? 0 : first + (length < left ? length : left);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
        lane.total[o] = lane.begin[o] = begin_value(args, lane.input, o);
    walk(args, lane, first + number, lanes);
    if constexpr (PACK > 1 && REDUCED == 1)
        if (live && number == 0 && left <= length)
            join_rest(args, lane);
    if constexpr (LANES_FAST)
        gather_rows(args, lane, lanes);
    else
        gather_columns(args, lane, lanes);
    if (number != 0 || !live)
        return;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) {
        const A total = JOINS_INITIAL ? join(args, initial_value(args), lane.total[o]) : lane.total[o];
#if ERRORS
        check_rounding<Result>(args.sink, total);
#endif
        char *const at = (char *)args.output + offset[1] + (i64)segment * args.segment_stride + o * args.output_step;
        *(Out *)at = result_of(total);
    }
}
