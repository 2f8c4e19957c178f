// SPDX-License-Identifier: Apache-2.0
//
// What a reduction's kernel (cuda/tree.cuh) joins: elements of an array. Defined in front of it: the types In and Out
// (stored) and A (the accumulator), and the functions that convert, join and begin. A unit is PACK neighbours along
// the reduced dimensions (rows) or OUTPUTS neighbouring outputs (columns); one of the two is 1.
struct Args {
    u64 input, output, mask;
    i64 outputs, units, elements; // units of outputs; units of reduced elements; reduced elements
    i64 segment, tiles, segment_stride, lanes, output_step, mask_step;
    u64 flags, initial[2];
    Sink sink;
    i64 kept_shape[KEPT + 1];
    u64 kept_magic[KEPT + 1];
    i64 kept_stride[3][KEPT + 1]; // input, output, mask
    i64 reduced_shape[REDUCED + 1];
    u64 reduced_magic[REDUCED + 1];
    i64 reduced_stride[3][REDUCED + 1]; // input, unused, mask
};
// Declares four blocks per multiprocessor as enough. With the default the compiler saves registers by loading one
// unit after another.
#define BOUNDS __launch_bounds__(BLOCK, 4)
constexpr int WIDTH = PACK * OUTPUTS;

constexpr bool LOOKS = ERRORS;
struct Total {
    A of[OUTPUTS];
};
struct Origin {
    const char *input, *mask;
    i64 output; // offset
    Index number;
};
FN Origin origin_of(const Args &args, Index output)
{
    i64 offset[3] = {0, 0, 0};
    advance<SHORT, 0, KEPT>(output, args.kept_shape, args.kept_magic, args.kept_stride, offset);
    return {(const char *)args.input + offset[0], (const char *)args.mask + offset[2], offset[1], output};
}
FN Total begin_of(const Args &args, const Origin &origin)
{
    Total begin;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
        begin.of[o] = begin_value(args, origin.input, o);
    return begin;
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
template <bool CHECKED> FN Total join_totals(const Args &args, const Total &a, const Total &b)
{
    Total r;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
        r.of[o] = join<CHECKED>(args, a.of[o], b.of[o]);
    return r;
}
template <bool CHECKED> FN Total join_next(const Args &args, const Total &a, const Total &b)
{
    Total r;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
        r.of[o] = ERRORS ? join<CHECKED>(args, a.of[o], b.of[o]) : join_later(a.of[o], b.of[o]);
    return r;
}
FN Total choose_totals(bool is_there, const Total &x, const Total &begin)
{
    Total r;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
        r.of[o] = REPEATS || is_there ? x.of[o] : begin.of[o];
    return r;
}
FN bool is_fine(const Total &total)
{
    bool fine = true;
#if ERRORS
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++)
        fine = fine && gsh_isfinite(total.of[o]);
#endif
    return fine;
}

FN bool is_live(const Args &args, const Origin &origin, i64 mask_offset, int e)
{
    return !MASKED || *(const u8 *)(origin.mask + mask_offset + e * args.mask_step) != 0;
}
struct Unit {
    Pack<In, WIDTH> pack;
    bool live[WIDTH];
};
template <bool> FN Unit read_unit(const Args &args, const Origin &origin, Index unit)
{
    i64 offset[3] = {0, 0, 0};
    Unit held;
    advance<SHORT, 0, REDUCED>(unit, args.reduced_shape, args.reduced_magic, args.reduced_stride, offset);
    load_pack<ALIGNED>(held.pack, origin.input + offset[0]);
#pragma unroll
    for (int e = 0; e < WIDTH; e++)
        held.live[e] = is_live(args, origin, offset[2], e);
    return held;
}
template <bool>
FN void take_unit(const Args &, const Origin &, const Total &begin, Index unit, const Unit &held, Total (&x)[PACK])
{
#pragma unroll
    for (int e = 0; e < WIDTH; e++) {
        const int o = e % OUTPUTS, at = e / OUTPUTS;
        x[at].of[o] = held.live[e] ? accumulate(held.pack.element[e], (i64)unit * PACK + at) : begin.of[o];
    }
}
FN Total join_rest(const Args &args, const Origin &origin, const Total &, Total total)
{
    if constexpr (REDUCED == 1)
#pragma unroll 1
        for (i64 i = args.units * PACK; i < args.elements; i++)
            if (is_live(args, origin, i * args.reduced_stride[2][0] / PACK, 0))
                total = join_next<true>(args, total, {accumulate(((const In *)origin.input)[i], i)});
    return total;
}

FN void finish(const Args &args, const Origin &origin, Index segment, const Total &total)
{
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) {
        const A whole = JOINS_INITIAL ? join<true>(args, initial_value(args), total.of[o]) : total.of[o];
#if ERRORS
        check_total(args.sink, whole);
#endif
        char *const at = (char *)args.output + origin.output + (i64)segment * args.segment_stride + o * args.output_step;
        if (COPIES && args.elements == 1)
            *(In *)at = ((const In *)origin.input)[o];
        else
            *(Out *)at = result_of(whole);
        if constexpr (FLAGS)
            ((u8 *)args.flags)[origin.number * OUTPUTS + o] = is_flagged(whole);
    }
}
