// SPDX-License-Identifier: Apache-2.0
//
// Joins the runs of `sorted` (indexed_order.cuh), each to its place, one value after the other.
//
// Of SPREAD or more free places a thread has one, of a rank; neighbours have neighbouring places, and read the values
// where they lie. Of fewer, values stand gathered, and a warp has a part of a line: the runs that begin there. A lane joins
// a run of at most SHORT elements alone. All lanes load a longer one side by side, and the first of them joins it.
constexpr u32 ITEMS = 128 / sizeof(A), TILE = 32 * ITEMS, SHORT = 512;
constexpr u32 AT_ONCE = 8; // elements of a tile that are on their way to registers
constexpr u32 AHEAD = 8;   // reads of a lane from memory that are on their way

FN bool begins(const OrderArgs &args, i64 at)
{
    const u32 cell = cell_at(args, at);
    return cell != (u32)args.cells && (at == 0 || cell_at(args, at - 1) != cell);
}
// Values of one free place.
template <bool IS_GATHERED> struct Values {
    i64 shift;
    FN Values(const OrderArgs &args, i64 free)
        : shift(IS_GATHERED ? free * args.n : offset_of(args, args.free_shape, free, 0)) {}
    FN A at(const OrderArgs &args, i64 at) const
    {
        if (IS_CONSTANT)
            return (A)value(Convert<Stored, In>::of(fetch<In>(args, 0)));
        if (IS_GATHERED)
            return (A)value(((const Stored *)args.values)[shift + at]);
        return (A)value(
            Convert<Stored, In>::of(fetch<In>(args, offset_of(args, args.shape, rank_at(args, at), 0) + shift)));
    }
};
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
template <bool IS_GATHERED> FN void join_alone(const OrderArgs &args, i64 first, i64 free)
{
    const Values<IS_GATHERED> values(args, free);
    const u32 cell = cell_at(args, first);
    Out *const place = place_of(args, first, free);
    A total = loaded(*place);
    u32 count = AHEAD;
    for (i64 at = first; count == AHEAD; at += AHEAD) {
        u32 cells[AHEAD];
        A x[AHEAD];
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++)
            cells[k] = cell_at(args, at + k);
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++)
            if (IS_GATHERED ? at + k < args.n : cells[k] == cell)
                x[k] = values.at(args, at + k);
        count = 0;
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++)
            if (cells[k] == cell) {
                total = joined(args, total, x[k]);
                count++;
            }
    }
    *place = stored(total);
}

// A tile of a warp, on its way to registers; the cell of its last element tells whether the tile is all of one run.
struct Tile {
    u32 last_cell;
    A x[ITEMS];
    FN void load(const OrderArgs &args, const Values<true> &values, i64 start)
    {
        last_cell = cell_at(args, start + TILE - 1);
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++)
            if (start + k * 32 + threadIdx.x < args.n)
                x[k] = values.at(args, start + k * 32 + threadIdx.x);
    }
    // How many elements of the run it has: the first ones.
    FN u32 count(const OrderArgs &args, i64 start, u32 run) const
    {
        if (last_cell == run)
            return TILE;
        u32 sum = 0;
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++)
            sum += __popc(__ballot_sync(~0u, cell_at(args, start + k * 32 + threadIdx.x) == run));
        return sum;
    }
    FN void share(A *tile) const
    {
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++)
            tile[k * 32 + threadIdx.x] = x[k];
    }
};
// IS_PLAIN: an addition waits for the one before, and for nothing else.
template <bool IS_PLAIN> FN A join_next(const OrderArgs &args, A total, A x)
{
    return IS_PLAIN ? joined_plainly(total, x) : joined(args, total, x);
}
FN void read(A *x, const A *tile)
{
#pragma unroll
    for (u32 k = 0; k < AT_ONCE; k++)
        x[k] = tile[k];
}
template <bool IS_PLAIN> FN A join_some(const OrderArgs &args, A total, const A *x)
{
#pragma unroll
    for (u32 k = 0; k < AT_ONCE; k++)
        total = join_next<IS_PLAIN>(args, total, x[k]);
    return total;
}
// While some are joined the next ones are read.
template <bool IS_PLAIN> FN A join_values(const OrderArgs &args, A total, const A *tile, u32 count)
{
    u32 i = 0;
    if (count >= 2 * AT_ONCE) {
        A x[AT_ONCE], y[AT_ONCE];
        read(x, tile);
        for (; i + 2 * AT_ONCE <= count; i += 2 * AT_ONCE) {
            read(y, tile + i + AT_ONCE);
            total = join_some<IS_PLAIN>(args, total, x);
            read(x, tile + (i + 2 * AT_ONCE) % TILE);
            total = join_some<IS_PLAIN>(args, total, y);
        }
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
FN void join_together(const OrderArgs &args, i64 first, i64 free)
{
    __shared__ A shared[TILE];
    const Values<true> values(args, free);
    const u32 run = cell_at(args, first);
    Out *const place = place_of(args, first, free);
    A total = loaded(*place);
    u32 count = TILE;
    Tile tile;
    tile.load(args, values, first);
    for (i64 start = first; count == TILE; start += TILE) {
        count = tile.count(args, start, run);
        __syncwarp(); // the tile before is joined
        tile.share(shared);
        __syncwarp();
        if (count == TILE)
            tile.load(args, values, start + TILE); // under way while the first lane joins
        if (threadIdx.x == 0)
            total = join_tile(args, total, shared, count);
    }
    __syncwarp();
    if (threadIdx.x == 0)
        *place = stored(total);
}

// Where runs begin in a part, from its first element on. Gives their count.
FN u32 find_runs(const OrderArgs &args, i64 start, u16 *runs)
{
    const u32 lane = threadIdx.x;
    u32 count = 0, before = start == 0 ? ~0u : cell_at(args, start - 1); // ~0u is no cell
    for (u32 first = lane; first < PART; first += 32 * AHEAD) {
        u32 cell[AHEAD];
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++)
            cell[k] = cell_at(args, start + first + k * 32);
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++) {
            const u32 left = __shfl_up_sync(~0u, cell[k], 1, 32);
            const bool is_first = cell[k] != (u32)args.cells && cell[k] != (lane == 0 ? before : left);
            const u32 firsts = __ballot_sync(~0u, is_first);
            if (is_first)
                runs[count + __popc(firsts & ((1u << lane) - 1))] = (u16)(first + k * 32);
            count += __popc(firsts);
            before = __shfl_sync(~0u, cell[k], 31, 32);
        }
    }
    __syncwarp();
    return count;
}
// A block is one warp: while a long run is joined, it holds up no other.
FN void join_part(const OrderArgs &args, i64 start, i64 free)
{
    __shared__ u16 runs[PART];
    const u32 count = find_runs(args, start, runs);
    for (u32 next = 0; next < count; next += 32) {
        const bool is_run = next + threadIdx.x < count;
        const i64 first = is_run ? start + runs[next + threadIdx.x] : 0;
        const bool is_long = is_run && cell_at(args, first + SHORT) == cell_at(args, first);
        if (is_run && !is_long)
            join_alone<true>(args, first, free);
        for (u32 left = __ballot_sync(~0u, is_long); left != 0; left &= left - 1)
            join_together(args, start + runs[next + __popc((left & -left) - 1)], free);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 2) gsh_kernel(const OrderArgs args)
{
    if (args.free >= SPREAD) {
        const i64 thread = (i64)blockIdx.x * BLOCK + threadIdx.x, at = thread / args.free;
        if (at < args.n && begins(args, at))
            join_alone<false>(args, at, thread - at * args.free);
    } else {
        join_part(args, blockIdx.x / args.free * PART, blockIdx.x % args.free);
    }
}
