// SPDX-License-Identifier: Apache-2.0
//
// TAKE, and PUT's assignment. A thread has UNROLL elements; neighbouring threads have neighbouring elements. All are
// loaded before any is stored. RANKED: only the winner of a place is written.
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const Args args)
{
    const Index first = (Index)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
    Element element[UNROLL];
    Moved x[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
        element[u].locate(first + u * BLOCK, args);
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        if (RANKED && element[u].wanted)
            element[u].wanted = ((const Winner *)args.winners)[element[u].cell] == (Winner)(element[u].rank + 1);
        if (element[u].wanted)
            x[u] = fetch<Moved>(args, element[u].value);
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
        if (element[u].wanted)
            *(Out *)((char *)args.output + element[u].output) = convert(args, x[u]);
}
