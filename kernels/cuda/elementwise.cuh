// SPDX-License-Identifier: Apache-2.0
//
// The elementwise kernel. Defined in front of it: In0, In1, In2 and Mask (of cuda/operand.cuh), Out0, Out1 (stored),
// and element(), which computes one element. A step is a pack of VECTOR neighbours along the last dimension. NDIM 0
// means that every array is dense. A thread loads all that it needs before it stores anything, so that loads overlap
// although an output may be an input. Neighbouring threads access neighbouring addresses.
struct Args {
    i64 n; // steps; for dense arrays elements
    u64 in[3][2], out[2], mask;
    Sink sink;
    i64 shape[NDIM + (NDIM == 0)];
    u64 magic[NDIM + (NDIM == 0)];
    i64 stride[OPERANDS][NDIM + (NDIM == 0)];
};

// Offsets of the operands (inputs, outputs, mask) at a step.
FN void locate(const Args &args, Index step, i64 (&offset)[OPERANDS])
{
#pragma unroll
    for (int k = 0; k < OPERANDS; k++)
        offset[k] = NDIM > 0 ? 0 : (i64)step * (VECTOR * size_of(k));
    advance<SHORT, 0, NDIM>(step, args.shape, args.magic, args.stride, offset);
}

template <class S, int N, class M>
FN void store(const M &mask, int u, char *at, const Pack<S, N> &pack, int whole)
{
    bool all = (N > 1 || ALIGNED) && whole == N;
#pragma unroll
    for (int e = 0; e < N; e++)
        all = all && mask.get(u, e);
    if (all) {
        *(decltype(pack.word) *)at = pack.word;
        return;
    }
#pragma unroll
    for (int e = 0; e < N; e++)
        if (e < whole && mask.get(u, e))
            ((S *)at)[e] = pack.element[e];
}
// Elements of a step. The last step of dense arrays may have fewer than N.
FN int whole_of(const Args &args, Index step)
{
    if (NDIM > 0 || VECTOR == 1)
        return VECTOR;
    const i64 left = args.n - (i64)step * VECTOR;
    return left < VECTOR ? (int)left : VECTOR;
}

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const Args args)
{
    const Index first = (Index)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
    const Index steps = (Index)(NDIM == 0 ? (args.n + VECTOR - 1) / VECTOR : args.n);
    In0<VECTOR, UNROLL> in0(args.in[0]);
    In1<VECTOR, UNROLL> in1(args.in[1]);
    In2<VECTOR, UNROLL> in2(args.in[2]);
    Mask<VECTOR, UNROLL> mask(&args.mask);
    char *at0[UNROLL], *at1[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        const Index step = first + u * BLOCK;
        if (step >= steps)
            break;
        i64 offset[OPERANDS];
        locate(args, step, offset);
        const int whole = whole_of(args, step);
        in0.load(u, offset[0], whole);
        in1.load(u, offset[NIN > 1 ? 1 : 0], whole);
        in2.load(u, offset[NIN > 2 ? 2 : 0], whole);
        mask.load(u, offset[OPERANDS - 1], whole);
        at0[u] = (char *)args.out[0] + offset[NIN];
        at1[u] = (char *)args.out[1] + offset[NIN + (NOUT > 1)];
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        const Index step = first + u * BLOCK;
        if (step >= steps)
            break;
        Pack<Out0, VECTOR> out0;
        Pack<Out1, (NOUT > 1 ? VECTOR : 0)> out1;
#pragma unroll
        for (int e = 0; e < VECTOR; e++)
            if (mask.get(u, e))
                element(args.sink, in0.get(u, e), in1.get(u, e), in2.get(u, e), (i64)step * VECTOR + e, out0, out1, e);
        store(mask, u, at0[u], out0, whole_of(args, step));
        if constexpr (NOUT > 1)
            store(mask, u, at1[u], out1, whole_of(args, step));
    }
}
