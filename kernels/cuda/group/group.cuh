// SPDX-License-Identifier: Apache-2.0
//
// The kernel of a group without sinks. Defined in front of it: what it loads (Same, Held), one element's inputs and
// results (Element, Result), evaluate(), which computes the results of the inputs, and the functions that load and
// store them. A thread loads all that it needs before it stores anything, so that loads overlap although an array may
// be read and written.
// Evaluates the first elements of a step one by one, and loads them again: none of them has been stored yet.
template <class Given> __device__ __noinline__ void examine(const Given &args, Index step, int count)
{
    const Spot spot = locate(args, step);
    const SlowPath slow = {args.sinks};
#pragma unroll 1
    for (int e = 0; e < count; e++)
        store_one(args, spot, e, evaluate(args, element_at(args, spot, e), slow));
}

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    const Index first = (Index)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
    const Index steps = (Index)(NDIM == 0 ? args.n / VECTOR : args.n);
    const Same same = load_same(args);
    Spot spot[UNROLL];
    Held held[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        const Index step = first + u * BLOCK;
        if (step >= steps)
            break;
        spot[u] = locate(args, step);
        load(args, spot[u], held[u]);
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        const Index step = first + u * BLOCK;
        if (step >= steps)
            break;
        const fast::FastPath fast = {false};
        Results results;
#pragma unroll
        for (int e = 0; e < VECTOR; e++)
            keep(results, e, evaluate(args, element_of(args, spot[u], same, held[u], e), fast));
        if (IS_EXAMINED && fast.is_special)
            examine(args, step, VECTOR);
        else
            store(args, spot[u], results);
    }
    // Dense arrays: the elements behind the last whole step.
    if (NDIM == 0 && VECTOR > 1 && blockIdx.x == gridDim.x - 1 && threadIdx.x == BLOCK - 1)
        examine(args, steps, (int)(args.n % VECTOR));
}
