// SPDX-License-Identifier: Apache-2.0
//
// What the kernel of a group with sinks (cuda/tree.cuh) joins: evaluated elements. Defined in front of it: the
// definitions that cuda/group/group.cuh needs, Total (an accumulator for each sink), and the functions that make
// totals of elements, join and finish them. An element may be evaluated and stored more than once, because the kernel
// reads nothing that it stores.
struct Origin {
    Index output;
    Spot spot; // of the output's first element
    Same same;
};
FN Origin origin_of(const Args &args, Index output)
{
    Origin origin = {output, {}, load_same(args)};
    advance<SHORT, 0, KEPT>(output, args.shape, args.magic, args.stride, origin.spot.offset);
    return origin;
}

// Evaluates one element exactly as separate launches of the steps would.
template <class Given> __device__ __noinline__ Result examine(const Given &args, Index output, Index at)
{
    Spot spot = {};
    const SlowPath slow = {args.sinks};
    advance<SHORT, 0, KEPT>(output, args.shape, args.magic, args.stride, spot.offset);
    advance<SHORT, KEPT, NDIM>(at, args.shape, args.magic, args.stride, spot.offset);
    const Result result = evaluate(args, element_at(args, spot, 0), slow);
    store_one(args, spot, 0, result);
    return result;
}
FN Total begin_of(const Args &args, const Origin &origin)
{
    Result one;
    if constexpr (BEGINS_WITH_FIRST)
        one = examine(args, origin.output, 0);
    return begin_totals(args, one);
}

FN Spot spot_of(const Args &args, const Origin &origin, Index element)
{
    Spot spot = origin.spot;
    advance<SHORT, KEPT, NDIM>(element, args.shape, args.magic, args.stride, spot.offset);
    return spot;
}
struct Unit {
    Held packs[PACK / VECTOR];
};
template <bool CHECKED> FN Unit read_unit(const Args &args, const Origin &origin, Index unit)
{
    Unit held;
    if constexpr (!CHECKED)
#pragma unroll
        for (int v = 0; v < PACK; v += VECTOR)
            load(args, spot_of(args, origin, unit * PACK + v), held.packs[v / VECTOR]);
    return held;
}
template <bool CHECKED>
FN void take_unit(const Args &args, const Origin &origin, const Total &begin, Index unit, const Unit &held,
                  Total (&x)[PACK])
{
    const fast::FastPath fast = {false};
    if constexpr (!CHECKED) {
#pragma unroll
        for (int v = 0; v < PACK; v += VECTOR) {
            const Spot spot = spot_of(args, origin, unit * PACK + v);
            Results results;
#pragma unroll
            for (int e = 0; e < VECTOR; e++) {
                const Element element = element_of(args, spot, origin.same, held.packs[v / VECTOR], e);
                const Result result = evaluate(args, element, fast);
                keep(results, e, result);
                x[v + e] = totals_of(begin, result);
            }
            store(args, spot, results);
        }
    }
    if (CHECKED || (IS_EXAMINED && fast.is_special))
#pragma unroll
        for (int e = 0; e < PACK; e++)
            x[e] = totals_of(begin, examine(args, origin.output, unit * PACK + e));
}
FN Total join_rest(const Args &args, const Origin &origin, const Total &begin, Total total)
{
#pragma unroll 1
    for (i64 i = args.units * PACK; i < args.elements; i++)
        total = join_totals<true>(args, total, totals_of(begin, examine(args, origin.output, (Index)i)));
    return total;
}
template <bool CHECKED> FN Total join_next(const Args &args, const Total &a, const Total &b)
{
    return join_totals<CHECKED>(args, a, b);
}

FN void finish(const Args &args, const Origin &origin, Index segment, const Total &total)
{
    i64 at[ENDS] = {};
    advance<SHORT, 0, KEPT>(origin.output, args.shape, args.magic, args.output_stride, at);
#pragma unroll
    for (int k = 0; k < ENDS; k++)
        at[k] += (i64)args.ends[k].output + (i64)segment * args.ends[k].segment_stride;
    store_totals(args, at, total);
}
