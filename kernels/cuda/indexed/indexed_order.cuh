// SPDX-License-Identifier: Apache-2.0
//
// PUT with an operation whose order matters. `cells` has each rank's cell (indexed_key.cuh), `order` the ranks sorted by
// their cells, equal ones in C order: what one place takes stands together there, as a run, in the order in which NumPy
// takes it. Of each run there are `free` places, for the dimensions that have no ranks of their own.
//
// Of many free places a thread has one, of a rank, and neighbours have neighbouring places. Of few a lane has a rank, for
// one free place. It joins a short run alone. The lanes of a warp load a long one side by side, and the first of them
// joins it.
struct OrderArgs : Args {
    u64 cells, order;
    i64 free, free_shape[NDIM];
};
constexpr u32 NO_CELL = ~0u, WARPS = BLOCK / 32, ITEMS = 8, TILE = 32 * ITEMS, SHORT = 32;
constexpr u32 AT_ONCE = 16; // elements of a tile that are on their way to registers
constexpr u32 AHEAD = 4;    // the same for a thread alone, from memory

FN i64 rank_at(const OrderArgs &args, i64 at) { return ((const i64 *)args.order)[at]; }
FN u32 cell_at(const OrderArgs &args, i64 at)
{
    return at < args.n ? ((const u32 *)args.cells)[rank_at(args, at)] : NO_CELL;
}
FN bool begins(const OrderArgs &args, i64 at)
{
    const u32 cell = cell_at(args, at);
    return cell != NO_CELL && (at == 0 || cell_at(args, at - 1) != cell);
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
FN A value_at(const OrderArgs &args, i64 at, i64 shift)
{
    const i64 offset = IS_CONSTANT ? 0 : offset_of(args, args.shape, rank_at(args, at), 0) + shift;
    return (A)value(Convert<Stored, In>::of(fetch<In>(args, offset)));
}
FN Out *place_of(const OrderArgs &args, i64 at, i64 free)
{
    Element element;
    element.locate((Index)rank_at(args, at), args);
    return (Out *)((char *)args.output + element.output + offset_of(args, args.free_shape, free, 2));
}
FN A loaded(Out stored) { return (A)value(Convert<Stored, Out>::of(stored)); }
FN Out stored(A total) { return Convert<Out, Stored>::of(Cast<Stored>::of(total)); }
// As if the total were stored and loaded again.
FN A joined(const OrderArgs &args, A total, A x)
{
    const A both = gsh_join(total, x);
    look(args, total, x, both);
    return loaded(stored(both));
}
// The same without a look at NaNs and errors, for totals that stay finite.
FN A joined_plainly(A total, A x) { return loaded(stored(gsh_join_plainly(total, x))); }

// A run of one lane.
FN void join_alone(const OrderArgs &args, i64 first, i64 free)
{
    const i64 shift = offset_of(args, args.free_shape, free, 0);
    const u32 cell = cell_at(args, first);
    Out *const place = place_of(args, first, free);
    A total = loaded(*place);
    u32 count = AHEAD;
    for (i64 at = first; count == AHEAD; at += AHEAD) {
        A x[AHEAD];
        count = 0;
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++)
            if (cell_at(args, at + k) == cell) {
                x[k] = value_at(args, at + k, shift);
                count++;
            }
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++)
            if (k < count)
                total = joined(args, total, x[k]);
    }
    *place = stored(total);
}

// Each lane's elements of a tile. Gives how many elements of the run the tile has: the first ones.
FN u32 load_tile(const OrderArgs &args, i64 start, u32 cell, i64 shift, A *x)
{
    u32 count = 0;
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        const i64 at = start + k * 32 + threadIdx.x % 32;
        const bool is_in = cell_at(args, at) == cell;
        if (is_in)
            x[k] = value_at(args, at, shift);
        count += __popc(__ballot_sync(~0u, is_in));
    }
    return count;
}
// IS_PLAIN: an addition waits for the one before, and for nothing else.
template <bool IS_PLAIN> FN A join_next(const OrderArgs &args, A total, A x)
{
    return IS_PLAIN ? joined_plainly(total, x) : joined(args, total, x);
}
template <bool IS_PLAIN> FN A join_values(const OrderArgs &args, A total, const A *tile, u32 count)
{
    u32 i = 0;
    for (; i + AT_ONCE <= count; i += AT_ONCE) {
        A x[AT_ONCE];
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++)
            x[k] = tile[i + k];
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++)
            total = join_next<IS_PLAIN>(args, total, x[k]);
    }
    for (; i < count; i++)
        total = join_next<IS_PLAIN>(args, total, tile[i]);
    return total;
}
FN A join_tile(const OrderArgs &args, A total, const A *tile, u32 count)
{
    if (KEEPS_NONFINITE) {
        const A plain = join_values<true>(args, total, tile, count);
        if (gsh_isfinite(plain))
            return plain;
    }
    return join_values<false>(args, total, tile, count);
}
FN void join_together(const OrderArgs &args, i64 first, i64 free, A *tile)
{
    const u32 lane = threadIdx.x % 32, cell = cell_at(args, first);
    const i64 shift = offset_of(args, args.free_shape, free, 0);
    Out *const place = place_of(args, first, free);
    A total = loaded(*place), x[ITEMS];
    u32 next = load_tile(args, first, cell, shift, x), count = TILE;
    for (i64 start = first + TILE; count == TILE; start += TILE) {
        count = next;
        __syncwarp(); // the tile before is joined
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++)
            if (k * 32 + lane < count)
                tile[k * 32 + lane] = x[k];
        __syncwarp();
        if (count == TILE)
            next = load_tile(args, start, cell, shift, x); // under way while the first lane joins
        if (lane == 0)
            total = join_tile(args, total, tile, count);
    }
    __syncwarp();
    if (lane == 0)
        *place = stored(total);
}

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const OrderArgs args)
{
    const i64 thread = (i64)blockIdx.x * BLOCK + threadIdx.x;
    if (args.free >= LEAST_SPREAD) {
        const i64 at = thread / args.free;
        if (at < args.n && begins(args, at))
            join_alone(args, at, thread - at * args.free);
        return;
    }
    __shared__ A tiles[WARPS][TILE];
    const i64 warp = thread / 32, part = warp / args.free, free = warp - part * args.free;
    const i64 start = part * 32, at = start + threadIdx.x % 32;
    const bool is_first = at < args.n && begins(args, at);
    const bool is_long = is_first && cell_at(args, at + SHORT) == cell_at(args, at);
    if (is_first && !is_long)
        join_alone(args, at, free);
    for (u32 left = __ballot_sync(~0u, is_long); left != 0; left &= left - 1)
        join_together(args, start + __popc((left & -left) - 1), free, tiles[threadIdx.x / 32]);
}
