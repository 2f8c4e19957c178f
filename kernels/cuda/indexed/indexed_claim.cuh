// SPDX-License-Identifier: Apache-2.0
//
// Of several elements that PUT writes to one place the last one must win. Each claims its place with its rank; the
// largest rank stays.
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const Args args)
{
    const Index first = (Index)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        Element element;
        element.locate(first + u * BLOCK, args);
        if (element.wanted)
            atomicMax((Winner *)args.winners + element.cell, (Winner)(element.rank + 1));
    }
}
