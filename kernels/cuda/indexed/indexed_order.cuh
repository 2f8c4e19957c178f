// SPDX-License-Identifier: Apache-2.0
//
// PUT with an operation whose order matters: `sorted` has each rank, and its cell above it (indexed_key.cuh), by their
// cells, equal ones in C order. What one place takes stands together there, as a run, in the order in which NumPy takes
// it. Of each run there are `free` places, for the dimensions that have no ranks of their own.
struct OrderArgs : Args {
    u64 sorted, values; // of each free place a line of values (indexed_order_gather.cuh)
    i64 cells; // their count, which stands for none
    i64 free, free_shape[NDIM];
};

FN u32 rank_at(const OrderArgs &args, i64 at) { return (u32)((const u64 *)args.sorted)[at]; }
FN u32 cell_at(const OrderArgs &args, i64 at)
{
    return (u32)(at < args.n ? ((const u64 *)args.sorted)[at] >> 32 : args.cells);
}
// The offset of a number of elements in operand k, in dimensions of that shape.
FN i64 offset_of(const OrderArgs &args, const i64 *shape, i64 number, int k)
{
    Index left = (Index)number;
    i64 offset = 0;
#pragma unroll
    for (int d = NDIM - 1; d >= 0; d--) {
        const Index outer = d > 0 ? left / (Index)shape[d] : 0;
        offset += (i64)(left - outer * (Index)shape[d]) * args.stride[k][d];
        left = outer;
    }
    return offset;
}
