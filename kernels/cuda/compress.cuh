// SPDX-License-Identifier: Apache-2.0
//
// Elements selected by a mask. COMPRESS writes the elements where the mask is true one after the other. EXPAND fills
// the places where it is true from consecutive elements. A block takes a chunk tile by tile. It reads a tile's mask
// once and counts elements by votes. First stage (!STAGE_FINAL): the chunks' counts, of which scan_sums.cuh makes
// prefixes.
struct Args : Errors {
    u64 mask, input, output, sums, supers;
    i64 n, chunk, step, extent; // step, extent: of the counted operand
    i64 shape[NDIM], mask_stride[NDIM], place_stride[NDIM];
};
constexpr int WARPS = BLOCK / 32;

FN void locate(Index left, const Args &args, i64 &mask_offset, i64 &place_offset)
{
    mask_offset = place_offset = 0;
#pragma unroll
    for (int d = NDIM - 1; d >= 0; d--) {
        const Index outer = d > 0 ? left / (Index)args.shape[d] : 0;
        const i64 at = left - outer * (Index)args.shape[d];
        left = outer;
        mask_offset += at * args.mask_stride[d];
        place_offset += at * args.place_stride[d];
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const Args args)
{
    __shared__ u32 counts[BLOCK]; // [item][warp]
    const u32 warp = threadIdx.x / 32, in_warp = threadIdx.x % 32;
    const u32 chunk = STAGE_FINAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    const i64 begin = (i64)chunk * args.chunk;
    const i64 end = begin + args.chunk < args.n ? begin + args.chunk : args.n;
    i64 base = 0;
    if (STAGE_FINAL && chunk % WIDE > 0)
        base = ((const i64 *)args.sums)[chunk];
    if (STAGE_FINAL && chunk >= WIDE)
        base += ((const i64 *)args.supers)[chunk / WIDE];
    for (i64 start = begin; start < end; start += BLOCK * ITEMS) {
        i64 place[ITEMS], offset;
        u32 votes[ITEMS];
        bool wanted[ITEMS];
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            const i64 at = start + j * BLOCK + threadIdx.x;
            wanted[j] = false;
            if (at < end) {
                locate((Index)at, args, offset, place[j]);
                wanted[j] = *((const u8 *)args.mask + offset) != 0;
            }
        }
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            votes[j] = __ballot_sync(~0u, wanted[j]);
            if (in_warp == 0)
                counts[j * WARPS + warp] = __popc(votes[j]);
        }
        __syncthreads();
        u32 before = 0, total = 0; // lane j: count of item j in the warps before this one, and in all
        for (u32 w = 0; w < WARPS && in_warp < ITEMS; w++) {
            before += w < warp ? counts[in_warp * WARPS + w] : 0;
            total += counts[in_warp * WARPS + w];
        }
        u32 upto = total; // up to item j, inclusive
#pragma unroll
        for (u32 s = 1; s < ITEMS; s *= 2) {
            const u32 more = __shfl_up_sync(~0u, upto, s, 32);
            upto += in_warp >= s ? more : 0;
        }
        const u32 first = upto - total + before;
        Moved x[ITEMS];
        i64 rank[ITEMS];
#pragma unroll
        for (int j = 0; STAGE_FINAL && j < ITEMS; j++) {
            rank[j] = base + __shfl_sync(~0u, first, j, 32) + __popc(votes[j] & ((1u << in_warp) - 1));
            wanted[j] = wanted[j] && rank[j] < args.extent;
            if (wanted[j])
                x[j] = *(const Moved *)((const char *)args.input + (IS_COMPRESS ? place[j] : rank[j] * args.step));
        }
#pragma unroll
        for (int j = 0; STAGE_FINAL && j < ITEMS; j++)
            if (wanted[j])
                *(Out *)((char *)args.output + (IS_COMPRESS ? rank[j] * args.step : place[j])) = convert(args, x[j]);
        base += __shfl_sync(~0u, upto, ITEMS - 1, 32);
        __syncthreads();
    }
    if (!STAGE_FINAL && threadIdx.x == 0)
        ((i64 *)args.sums)[chunk] = base;
}
