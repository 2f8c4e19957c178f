// SPDX-License-Identifier: Apache-2.0
//
// The kernel of a group with sinks: the walk and the tree of cuda/reduction.cuh, over elements that
// are evaluated instead of loaded. In front of it stand what cuda/group.cuh has there too, Total (an
// accumulator for each sink), and what makes totals of elements, joins and finishes them. All may be
// evaluated and stored more than once, as nothing is read that the kernel stores.
struct Lane { // what a thread works on
    Index output;
    Spot spot; // of the output's first element
    Index first, end; // every lanes-th unit
    u32 lanes;
    Total begin; // neutral
};

// One element, exactly as steps of their own compute it.
template <class Given> __device__ __noinline__ Result examine(const Given &args, Index output, Index at)
{
    Spot spot = {};
    const Witness witness = {args.sinks};
    advance<0, KEPT>(args, output, args.stride, spot.offset);
    advance<KEPT, NDIM>(args, at, args.stride, spot.offset);
    const Result result = evaluate(args, element_at(args, spot), witness);
    store_one(args, spot, result);
    return result;
}

template <bool CHECKED> FN Total join_unit(const Args &args, const Lane &lane, const Same &same, Index unit)
{
    Total x[PACK];
    const quick::Glance glance = {false};
    if constexpr (!CHECKED) {
#pragma unroll
        for (int v = 0; v < PACK; v += VECTOR) {
            Spot spot = lane.spot;
            Held held;
            Results results;
            advance<KEPT, NDIM>(args, unit * PACK + v, args.stride, spot.offset);
            load(args, spot, VECTOR, held);
#pragma unroll
            for (int e = 0; e < VECTOR; e++) {
                const Result result = evaluate(args, element_of(args, spot, same, held, e), glance);
                keep(results, e, result);
                x[v + e] = totals_of(lane.begin, result);
            }
            store(args, spot, VECTOR, results);
        }
    }
    if (CHECKED || (IS_EXAMINED && glance.is_odd))
#pragma unroll
        for (int e = 0; e < PACK; e++)
            x[e] = totals_of(lane.begin, examine(args, lane.output, unit * PACK + e));
#pragma unroll
    for (int s = 1; s < PACK; s *= 2)
#pragma unroll
        for (int e = 0; e + s < PACK; e += 2 * s)
            x[e] = join_totals<CHECKED>(args, x[e], x[e + s]);
    return x[0];
}
template <bool CHECKED> FN Total join_round(const Args &args, const Lane &lane, const Same &same, Index unit, const Total &total)
{
    constexpr int ROUND_TURNS = CHECKED ? 1 : TURNS;
    Total round = lane.begin;
#pragma unroll ROUND_TURNS
    for (int u = 0; u < UNROLL; u++) {
        const bool is_there = unit + u * lane.lanes < lane.end;
        const Total x = join_unit<CHECKED>(args, lane, same, is_there ? unit + u * lane.lanes : unit);
        round = join_totals<CHECKED>(args, round, choose_totals(is_there, x, lane.begin));
    }
    return join_totals<CHECKED>(args, total, round);
}
FN Total join_watched(const Args &args, const Lane &lane, const Same &same, Index unit, const Total &total)
{
    const Total joined = join_round<false>(args, lane, same, unit, total);
    if (LOOKS && !is_fine(joined))
        return join_round<true>(args, lane, same, unit, total);
    return joined;
}
FN Total walk(const Args &args, const Lane &lane, const Same &same, bool has_rest)
{
    Total total = lane.begin;
#pragma unroll 1
    for (Index unit = lane.first; unit < lane.end;) {
        Total chunk = lane.begin;
#pragma unroll 1
        for (int k = 0; k < CHAIN && unit < lane.end; k++, unit += UNROLL * lane.lanes)
            chunk = join_watched(args, lane, same, unit, chunk);
        total = join_totals<true>(args, total, chunk);
    }
    if (PACK > 1 && has_rest) // the elements that are no whole unit
#pragma unroll 1
        for (i64 i = args.units * PACK; i < args.elements; i++)
            total = join_totals<true>(args, total, totals_of(lane.begin, examine(args, lane.output, (Index)i)));
    return total;
}

// The group's totals to its lane 0: a warp's lanes first, then the warps.
FN void gather_rows(const Args &args, u32 lanes, Total &total)
{
    __shared__ Total shared[BLOCK];
    const u32 width = lanes < 32 ? lanes : 32;
#pragma unroll 1
    for (u32 s = width / 2; s > 0; s /= 2) {
        const Total other = shuffle_down(total, s, width);
        if (threadIdx.x % width < s)
            total = join_totals<true>(args, total, other);
    }
    if (lanes <= 32)
        return;
    shared[threadIdx.x] = total;
    __syncthreads();
#pragma unroll 1
    for (u32 w = 32; threadIdx.x % lanes == 0 && w < lanes; w += 32)
        total = join_totals<true>(args, total, shared[threadIdx.x + w]);
}
FN void gather_columns(const Args &args, u32 lanes, Total &total)
{
    __shared__ Total shared[BLOCK];
    const u32 groups = BLOCK / lanes;
#pragma unroll 1
    for (u32 s = lanes / 2; s > 0; s /= 2) {
        shared[threadIdx.x] = total;
        __syncthreads();
        if (threadIdx.x / groups < s)
            total = join_totals<true>(args, total, shared[threadIdx.x + s * groups]);
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    // powers of two; a group of lanes makes one output
    const u32 lanes = (u32)args.lanes, groups = BLOCK / lanes;
    const u32 number = LANES_FAST ? threadIdx.x % lanes : threadIdx.x / groups;
    const u32 group = LANES_FAST ? threadIdx.x / lanes : threadIdx.x % groups;
    const Index tile = blockIdx.x % (u32)args.tiles, segment = blockIdx.x / (u32)args.tiles;
    const Index output = tile * groups + group;
    const bool live = output < (Index)args.outputs;
    const Index first = segment * (Index)args.segment;
    const Index left = (Index)args.units - first, length = (Index)args.segment;
    const Same same = load_same(args);
    Lane lane;
    lane.output = live ? output : 0;
    lane.spot = {};
    advance<0, KEPT>(args, lane.output, args.stride, lane.spot.offset);
    lane.first = first + number;
    lane.end = !live ? 0 : first + (length < left ? length : left);
    lane.lanes = lanes;
    Result one;
    if constexpr (BEGINS_WITH_FIRST)
        one = examine(args, lane.output, 0);
    lane.begin = begin_totals(args, one);
    Total total = walk(args, lane, same, live && number == 0 && left <= length);
    if constexpr (LANES_FAST)
        gather_rows(args, lanes, total);
    else
        gather_columns(args, lanes, total);
    if (number != 0 || !live)
        return;
    i64 offset[ENDS] = {};
    advance<0, KEPT>(args, output, args.output_stride, offset);
#pragma unroll
    for (int k = 0; k < ENDS; k++)
        offset[k] += (i64)args.ends[k].output + (i64)segment * args.ends[k].segment_stride;
    finish(args, offset, total);
}
