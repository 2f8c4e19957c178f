// SPDX-License-Identifier: Apache-2.0
//
// PUT with an operation, which `combine` performs. Several elements may write one place at the same time.
extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const Args args)
{
    const Index first = (Index)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        Element element;
        element.locate(first + u * BLOCK, args);
        if (!element.wanted)
            continue;
        char *const place = (char *)args.output + element.output;
        combine(args, place, (A)value(Convert<Stored, In>::of(fetch<In>(args, element.value))));
    }
}
