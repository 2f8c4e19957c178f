// SPDX-License-Identifier: Apache-2.0
//
// The interpreter of groups without sinks. Defined in front of it: compute(), which does a step's operation or cast. All
// threads of a block do the same step at a time. A thread's elements are neighbours where arrays are packed; else
// neighbouring threads have neighbouring elements. An element behind the last one is the thread's first element again,
// which is computed twice and stored once. All loads of a program come before its stores.
extern __shared__ uint4 slots[]; // a word for each element of a thread, two words of a thread side by side

struct Place { // of a thread's elements
    u32 first, apart;
};
FN u32 element_at(const Args &args, const Place &place, int v)
{
    const u32 at = place.first + v * place.apart;
    return at < args.n ? at : place.first;
}
FN void read_slot(u32 slot, u64 (&x)[ELEMENTS])
{
    EACH if (v % 2 == 0) {
        Pack<u64, 2> pair;
        pair.word = slots[(slot * (ELEMENTS / 2) + v / 2) * blockDim.x + threadIdx.x];
        x[v] = pair.element[0];
        x[v + 1] = pair.element[1];
    }
}
FN void write_slot(u32 slot, const u64 (&x)[ELEMENTS])
{
    EACH if (v % 2 == 0) {
        Pack<u64, 2> pair;
        pair.element[0] = x[v];
        pair.element[1] = x[v + 1];
        slots[(slot * (ELEMENTS / 2) + v / 2) * blockDim.x + threadIdx.x] = pair.word;
    }
}
FN void fetch(const Args &args, u32 from, u64 (&x)[ELEMENTS])
{
    if (from < FIRST_CONSTANT) {
        read_slot(from, x);
        return;
    }
    const u64 constant = args.constants[from - FIRST_CONSTANT];
    EACH x[v] = constant;
}
FN u64 offset_of(const Args &args, u32 array, u32 element)
{
    i64 offset = 0;
#pragma unroll 1
    for (int d = (int)args.ndim - 1; d > 0; d--) {
        const u32 outer = divide(element, 0, args.magic[d]);
        offset += (i64)(element - outer * (u32)args.shape[d]) * args.stride[array][d];
        element = outer;
    }
    return args.base[array] + (u64)(offset + (i64)element * args.stride[array][0]);
}

FN u64 load_word(u64 at, u32 dtype)
{
    switch (dtype) {
    case 0: return *(const u8 *)at;
    case 1: return to_word(*(const i8 *)at);
    case 2: return *(const u16 *)at;
    case 3: return to_word(*(const i16 *)at);
    case 4: return *(const u32 *)at;
    case 5: return to_word(*(const i32 *)at);
    }
    return *(const u64 *)at;
}
FN void store_word(u64 at, u32 dtype, u64 word)
{
    switch (dtype >> 1) {
    case 0: *(u8 *)at = (u8)word; return;
    case 1: *(u16 *)at = (u16)word; return;
    case 2: *(u32 *)at = (u32)word; return;
    }
    *(u64 *)at = word;
}
// Neighbours as they are in memory. They become words in a function of its own, so that the load need not be waited for
// before the next one begins.
struct Neighbours { uint4 low, high; };
FN void load_together(u64 at, u32 dtype, Neighbours &found)
{
    const u32 power = dtype >> 1; // of the size
    if (power >= 2) {
        found.low = ((const uint4 *)at)[0];
        if (power > 2)
            found.high = ((const uint4 *)at)[1];
    } else {
        found.low.x = ((const u32 *)at)[0];
        if (power == 1)
            found.low.y = ((const u32 *)at)[1];
    }
}
template <class S> FN void widen_as(const Neighbours &found, u64 (&x)[ELEMENTS])
{
    union { uint4 word; S element[sizeof(uint4) / sizeof(S)]; } pack = {found.low};
    EACH x[v] = to_word(pack.element[v]);
}
FN void widen(const Neighbours &found, u32 dtype, u64 (&x)[ELEMENTS])
{
    switch (dtype) {
    case 0: widen_as<u8>(found, x); return;
    case 1: widen_as<i8>(found, x); return;
    case 2: widen_as<u16>(found, x); return;
    case 3: widen_as<i16>(found, x); return;
    case 4: widen_as<u32>(found, x); return;
    case 5: widen_as<i32>(found, x); return;
    }
    union { Neighbours words; u64 element[ELEMENTS]; } pack = {found};
    EACH x[v] = pack.element[v];
}
template <class S> FN void store_pack_of(u64 at, const u64 (&x)[ELEMENTS])
{
    Pack<S, ELEMENTS> pack;
    EACH pack.element[v] = (S)x[v];
    *(typename Word<(int)sizeof(S) * ELEMENTS>::type *)at = pack.word;
}
template <> FN void store_pack_of<u64>(u64 at, const u64 (&x)[ELEMENTS])
{
    Pack<u64, 2> pack[2];
    EACH pack[v / 2].element[v % 2] = x[v];
    ((uint4 *)at)[0] = pack[0].word;
    ((uint4 *)at)[1] = pack[1].word;
}
FN void store_together(u64 at, u32 dtype, const u64 (&x)[ELEMENTS])
{
    switch (dtype >> 1) {
    case 0: store_pack_of<u8>(at, x); return;
    case 1: store_pack_of<u16>(at, x); return;
    case 2: store_pack_of<u32>(at, x); return;
    }
    store_pack_of<u64>(at, x);
}

// Whether the thread's elements of a packed array exist all.
FN bool is_whole(const Args &args, const Place &place) { return args.n - place.first >= ELEMENTS; }
FN bool is_pack_load(const Args &args, u32 k)
{
    return k < args.steps && args.step[k].code() == LOAD && args.step[k].is_pack();
}
FN void load_each(const Args &args, const Step &step, const Place &place)
{
    u64 x[ELEMENTS];
    EACH x[v] = load_word(offset_of(args, step.in1(), element_at(args, place, v)), step.dtype());
    write_slot(step.out(), x);
}
FN void keep_pack(const Step &step, const Neighbours &found)
{
    u64 x[ELEMENTS];
    widen(found, step.dtype(), x);
    write_slot(step.out(), x);
}
// Does the load k. Of two packs in a row the second load begins before the first has ended. Returns the step done last.
FN u32 load_some(const Args &args, u32 k, const Place &place)
{
    const Step step = args.step[k];
    if (!step.is_pack() || !is_whole(args, place)) {
        load_each(args, step, place);
        return k;
    }
    Neighbours found = {}, more = {}; // else what no load sets would be kept from step to step
    const bool are_two = is_pack_load(args, k + 1);
    const Step next = args.step[are_two ? k + 1 : k];
    const u64 at = offset_of(args, step.in1(), place.first), next_at = offset_of(args, next.in1(), place.first);
    load_together(at, step.dtype(), found);
    if (are_two)
        load_together(next_at, next.dtype(), more);
    keep_pack(step, found);
    if (are_two)
        keep_pack(next, more);
    return k + are_two;
}
FN void locate(const Args &args, const Step &step, const Place &place)
{
    u64 x[ELEMENTS];
    EACH x[v] = offset_of(args, step.in1(), element_at(args, place, v));
    write_slot(step.out(), x);
}
FN void store(const Args &args, const Step &step, const Place &place)
{
    u64 x[ELEMENTS];
    fetch(args, step.in0(), x);
    if (step.is_pack() && is_whole(args, place)) {
        store_together(offset_of(args, step.in1(), place.first), step.dtype(), x);
        return;
    }
    EACH if (v == 0 || element_at(args, place, v) != place.first)
        store_word(offset_of(args, step.in1(), element_at(args, place, v)), step.dtype(), x[v]);
}

// The errors of a result that is not finite; 1 stands for inputs that the operation does not have.
template <class F> FN void judge_word(const Sink &sink, const Step &step, u64 r, u64 a, u64 b, u64 c)
{
    const F result = Word_as<F>::of(r), x = Word_as<F>::of(a);
    const F y = step.count() > 1 ? Word_as<F>::of(b) : (F)1, z = step.count() > 2 ? Word_as<F>::of(c) : (F)1;
    switch (step.may()) {
    case MAY_OVERFLOW: judge<MAY_OVERFLOW>(sink, result, x, y, z); return;
    case MAY_POLE: judge<MAY_POLE>(sink, result, x, y, z); return;
    case MAY_INVALID: judge<MAY_INVALID>(sink, result, x, y, z); return;
    case MAY_POLE | MAY_OVERFLOW: judge<(MAY_POLE | MAY_OVERFLOW)>(sink, result, x, y, z); return;
    case MAY_POLE | MAY_INVALID: judge<(MAY_POLE | MAY_INVALID)>(sink, result, x, y, z); return;
    case MAY_OVERFLOW | MAY_INVALID: judge<(MAY_OVERFLOW | MAY_INVALID)>(sink, result, x, y, z); return;
    case MAY_POLE | MAY_OVERFLOW | MAY_INVALID: judge<(MAY_POLE | MAY_OVERFLOW | MAY_INVALID)>(sink, result, x, y, z);
    }
}
__device__ __noinline__ void report(const Sink &sink, Step step, u64 r, u64 a, u64 b, u64 c)
{
    if (step.may() >= OF_CAST)
        report_error(sink, step.may() - OF_CAST, a, None(), None());
    else if (step.dtype() != 0)
        judge_word<double>(sink, step, r, a, b, c);
    else
        judge_word<float>(sink, step, r, a, b, c);
}
// Elements whose result is not finite, a bit each.
FN u32 special_results(const Step &step, const u64 (&y)[ELEMENTS])
{
    u32 special = 0;
    if (step.dtype() != 0)
        EACH special |= (u32)!gsh_isfinite(Word_as<double>::of(y[v])) << v;
    else
        EACH special |= (u32)!gsh_isfinite(Word_as<float>::of(y[v])) << v;
    return special;
}
FN void operate(const Args &args, const Step &step)
{
    u64 a[ELEMENTS], b[ELEMENTS], c[ELEMENTS], y[ELEMENTS];
    u32 special = 0, chosen = (1u << ELEMENTS) - 1;
    fetch(args, step.in0(), a);
    if (step.count() > 1)
        fetch(args, step.in1(), b);
    if (step.count() > 2)
        fetch(args, step.in2(), c);
    compute(step.code(), a, b, c, y, special);
    if (step.mask() != NOWHERE) {
        u64 mask[ELEMENTS], old[ELEMENTS];
        fetch(args, step.mask(), mask);
        fetch(args, step.old(), old);
        chosen = 0;
        EACH chosen |= (u32)(mask[v] != 0) << v;
        EACH y[v] = mask[v] != 0 ? y[v] : old[v];
    }
    if (step.sink() != 0) {
        special = chosen & (step.may() >= OF_CAST ? special : special_results(step, y));
        if (special != 0)
            EACH if (special >> v & 1)
                report(args.sinks[step.sink() - 1], step, y[v], a[v], b[v], c[v]);
    }
    write_slot(step.out(), y);
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) gsh_kernel(const IN_PLACE Args args)
{
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    const Place packed = {thread * ELEMENTS, 1}, apart = {blockIdx.x * blockDim.x * ELEMENTS + threadIdx.x, blockDim.x};
    const Place place = args.is_packed ? packed : apart;
    if (place.first >= args.n)
        return;
#pragma unroll 1
    for (u32 k = 0; k < args.steps; k++) {
        const Step step = args.step[k];
        if (step.code() == LOAD)
            k = load_some(args, k, place);
        else if (step.code() == STORE)
            store(args, step, place);
        else if (step.code() == LOCATE)
            locate(args, step, place);
        else
            operate(args, step);
    }
}
