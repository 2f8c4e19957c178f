// SPDX-License-Identifier: Apache-2.0
//
// The kernel of a group without sinks. In front of it stand what it loads (Same, Held), one element's
// inputs and results (Element, Result), evaluate(), which takes the one to the other, and what moves
// them from and to memory. A thread loads all that it needs before it stores anything, so that loads
// overlap although an array may be read and written.
// The step again, from memory, as nothing of it has been stored.
template <class Given> __device__ __noinline__ void examine(const Given &args, Index step)
{
    const Spot spot = locate(args, step);
    const int whole = whole_of(args, step);
    const Witness witness = {args.sinks};
    const Same same = load_same(args);
    Held held;
    Results results;
    load(args, spot, whole, held);
#pragma unroll 1
    for (int e = 0; e < VECTOR; e++)
        if (e < whole)
            keep(results, e, evaluate(args, element_of(args, spot, same, held, e), witness));
    store(args, spot, whole, results);
}

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    const Index first = (Index)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
    const Index steps = (Index)(NDIM == 0 ? (args.n + VECTOR - 1) / VECTOR : args.n);
    const Same same = load_same(args);
    Spot spot[UNROLL];
    Held held[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        const Index step = first + u * BLOCK;
        if (step >= steps)
            break;
        spot[u] = locate(args, step);
        load(args, spot[u], whole_of(args, step), held[u]);
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        const Index step = first + u * BLOCK;
        if (step >= steps)
            break;
        const quick::Glance glance = {false};
        Results results;
#pragma unroll
        for (int e = 0; e < VECTOR; e++)
            keep(results, e, evaluate(args, element_of(args, spot[u], same, held[u], e), glance));
        if (IS_EXAMINED && glance.is_odd)
            examine(args, step);
        else
            store(args, spot[u], whole_of(args, step), results);
    }
}
