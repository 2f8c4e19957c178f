// SPDX-License-Identifier: Apache-2.0
//
// Shared by the kernels of TAKE and PUT: the arguments, and the places of an element, computed from its number. An
// element whose index is out of bounds, or whose mask is false, is not wanted: nothing is read or written for it.
// TAKE reports an index out of bounds where the launch asks for errors.
struct Args : Errors {
    u64 value, index, output, mask, winners; // value: an address, or the constant itself
    i64 n, step, extent;
    i64 shape[NDIM], stride[4][NDIM]; // of value, index, output, mask
    i64 rank_weight[NDIM], cell_weight[NDIM];
};

struct Element {
    i64 value, output; // offsets
    i64 rank, cell;    // RANKED: the largest rank wins; number of the written place
    bool wanted;
    FN void locate(Index left, const Args &args)
    {
        i64 offset[4] = {0, 0, 0, 0};
        rank = cell = 0;
        wanted = left < (Index)args.n;
        if (!wanted)
            return;
#pragma unroll
        for (int d = NDIM - 1; d >= 0; d--) {
            const Index outer = d > 0 ? left / (Index)args.shape[d] : 0;
            const i64 at = left - outer * (Index)args.shape[d];
            left = outer;
#pragma unroll
            for (int k = 0; k < 4; k++)
                offset[k] += at * args.stride[k][d];
            rank += RANKED ? at * args.rank_weight[d] : 0;
            cell += RANKED ? at * args.cell_weight[d] : 0;
        }
        i64 at = (i64)*(const IndexStored *)((const char *)args.index + offset[1]);
        at += at < 0 ? args.extent : 0;
        const bool inside = at >= 0 && at < args.extent;
        if (!inside)
            look_index(args);
        wanted = inside && (!MASKED || *((const u8 *)args.mask + offset[3]) != 0);
        cell += at;
        value = offset[0] + (IS_TAKE ? at * args.step : 0);
        output = offset[2] + (IS_TAKE ? 0 : at * args.step);
    }
};

template <class S> FN S fetch(const Args &args, i64 offset)
{
    if (!IS_CONSTANT)
        return *(const S *)((const char *)args.value + offset);
    union { u64 words[2]; S stored; } constant = {{args.value, args.winners}};
    return constant.stored;
}
