// SPDX-License-Identifier: Apache-2.0
//
// The walk and the tree of a reduction; kernels/codegen/source_reduce.c describes them. Defined in front of it: Args,
// Total (the accumulators of a unit of outputs), Origin (where the elements of a unit of outputs begin), and
//   origin_of, begin_of             a unit's Origin; its total before any join
//   read_unit, take_unit<CHECKED>   load a unit of elements; make PACK totals of it
//   join_rest                       joins, one by one, the elements behind the last whole unit
//   join_totals<CHECKED>            joins any two totals
//   join_next<CHECKED>              joins two totals; elements of the first come before those of the second
//   choose_totals, is_fine, LOOKS   below
//   finish                          stores the total
//   BOUNDS                          the launch bounds
// CHECKED: each join is checked for errors.
struct Lane { // what a thread works on
    Origin origin;
    Index first, end; // every lanes-th unit
    u32 lanes;
    bool has_rest; // and the elements behind the last whole unit
    Total begin;
};

template <bool CHECKED> FN Total join_unit(const Args &args, const Lane &lane, Index unit, const Unit &held)
{
    Total x[PACK];
    take_unit<CHECKED>(args, lane.origin, lane.begin, unit, held, x);
#pragma unroll
    for (int s = 1; s < PACK; s *= 2)
#pragma unroll
        for (int e = 0; e + s < PACK; e += 2 * s)
            x[e] = join_next<CHECKED>(args, x[e], x[e + s]);
    return x[0];
}
FN Index unit_at(const Lane &lane, Index first, int u)
{
    const Index unit = first + u * lane.lanes;
    return unit < lane.end ? unit : first;
}
// Joins a lane's next UNROLL units to the total, TURNS of them loaded together. Beyond the end the first of them is
// taken again. choose_totals replaces it by the beginning where an element may be joined only once.
template <bool CHECKED> FN Total join_round(const Args &args, const Lane &lane, Index unit, const Total &total)
{
    constexpr int TOGETHER = CHECKED ? 1 : TURNS; // the checked form is rare: small, not fast
    Total round = lane.begin;
#pragma unroll 1
    for (int u = 0; u < UNROLL; u += TOGETHER) {
        Unit held[TOGETHER];
#pragma unroll
        for (int t = 0; t < TOGETHER; t++)
            held[t] = read_unit<CHECKED>(args, lane.origin, unit_at(lane, unit, u + t));
#pragma unroll
        for (int t = 0; t < TOGETHER; t++) {
            const Total x = join_unit<CHECKED>(args, lane, unit_at(lane, unit, u + t), held[t]);
            const bool is_there = unit + (u + t) * lane.lanes < lane.end;
            round = join_next<CHECKED>(args, round, choose_totals(is_there, x, lane.begin));
        }
    }
    return join_next<CHECKED>(args, total, round);
}
// An infinity or a NaN stays in every later join. So where errors are looked for (LOOKS), only rounds whose total is
// not finite (!is_fine) are joined again, with a check at each join.
FN Total join_checked(const Args &args, const Lane &lane, Index unit, const Total &total)
{
    const Total joined = join_round<false>(args, lane, unit, total);
    if constexpr (LOOKS)
        if (!is_fine(joined))
            return join_round<true>(args, lane, unit, total);
    return joined;
}
// Joins all of a lane's elements; chunks keep chains of additions short.
FN Total walk(const Args &args, const Lane &lane)
{
    Total total = lane.begin;
#pragma unroll 1
    for (Index unit = lane.first; unit < lane.end;) {
        Total chunk = lane.begin;
#pragma unroll 1
        for (int k = 0; k < CHAIN && unit < lane.end; k++, unit += UNROLL * lane.lanes)
            chunk = join_checked(args, lane, unit, chunk);
        total = join_next<true>(args, total, chunk);
    }
    return PACK > 1 && lane.has_rest ? join_rest(args, lane.origin, lane.begin, total) : total;
}

// Joins the group's totals in its lane 0: the lanes of each warp first, then the warps.
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

extern "C" __global__ void BOUNDS gsh_kernel(const IN_PLACE Args args)
{
    // powers of two; a group of lanes makes one unit of outputs
    const u32 lanes = (u32)args.lanes, groups = BLOCK / lanes;
    const u32 number = LANES_FAST ? threadIdx.x % lanes : threadIdx.x / groups;
    const u32 group = LANES_FAST ? threadIdx.x / lanes : threadIdx.x % groups;
    const Index tile = blockIdx.x % (u32)args.tiles, segment = blockIdx.x / (u32)args.tiles;
    const Index output = tile * groups + group;
    const bool live = output < (Index)args.outputs;
    const Index first = segment * (Index)args.segment;
    const Index left = (Index)args.units - first, length = (Index)args.segment;
    Lane lane;
    lane.origin = origin_of(args, live ? output : 0);
    lane.first = first + number;
    lane.end = !live ? 0 : first + (length < left ? length : left);
    lane.lanes = lanes;
    lane.has_rest = live && number == 0 && left <= length;
    lane.begin = begin_of(args, lane.origin);
    Total total = walk(args, lane);
    if constexpr (LANES_FAST)
        gather_rows(args, lanes, total);
    else
        gather_columns(args, lanes, total);
    if (number != 0 || !live)
        return;
    finish(args, lane.origin, segment, total);
}
