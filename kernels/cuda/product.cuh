// SPDX-License-Identifier: Apache-2.0
//
// C = A @ B for each of a batch, with any strides. A block of 256 threads computes TILE x TILE elements, each thread
// 4 x 4 of them, and loops over all of k. Defined before it: E, an element in memory; BATCH, the batch's dimensions;
// NDIM, room for them; HALF: E is float16; TILE; DEPTH, how much of k lies in shared memory at a time.
constexpr int EACH = 4, ACROSS = TILE / EACH, THREADS = ACROSS * ACROSS;

// The type of the sums. Integers wrap.
template <class T> struct Sums {
    typedef typename Wrap<T>::type Sum;
    static FN Sum load(T x) { return (Sum)x; }
    static FN Sum join(Sum sum, Sum x, Sum y) { return sum + x * y; }
    static FN T store(Sum sum) { return (T)sum; }
};
template <> struct Sums<Bool> {
    typedef u32 Sum;
    static FN Sum load(Bool x) { return x.byte != 0; }
    static FN Sum join(Sum sum, Sum x, Sum y) { return sum | (x & y); }
    static FN Bool store(Sum sum) { return Bool{(u8)sum}; }
};
#if HALF
template <> struct Sums<Half> { // in float, rounded once
    typedef float Sum;
    static FN Sum load(Half x) { return value(x); }
    static FN Sum join(Sum sum, Sum x, Sum y) { return sum + x * y; }
    static FN Half store(Sum sum) { return Half{round_half(sum)}; }
};
#endif
typedef Sums<E>::Sum Sum;

struct Args {
    u64 a, b, c;
    i64 m, n, k, a_row, a_column, b_row, b_column, c_row, c_column; // strides in elements
    i64 row_tiles, column_tiles;
    i64 shape[NDIM], a_step[NDIM], b_step[NDIM], c_step[NDIM]; // of the batch, in bytes
};

// A's columns or B's rows [first, first + DEPTH) for this tile, 0 where there are none. Neighbouring threads read
// along the smaller stride.
struct Panel {
    const E *base; // the tile's first element
    i64 step, depth_step, extent, depth; // along the tile and along k; what is left of both
};
FN void load(Sum (*to)[TILE + 1], const Panel &from, i64 first)
{
    const bool along_depth = (from.depth_step < 0 ? -from.depth_step : from.depth_step) <
                             (from.step < 0 ? -from.step : from.step);
    for (int at = threadIdx.x; at < TILE * DEPTH; at += THREADS) {
        const int i = along_depth ? at / DEPTH : at % TILE, l = along_depth ? at % DEPTH : at / TILE;
        to[l][i] = i < from.extent && first + l < from.depth
                       ? Sums<E>::load(from.base[i * from.step + (first + l) * from.depth_step])
                       : Sum(0);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ Sum a[DEPTH][TILE + 1], b[DEPTH][TILE + 1];
    Sum sums[EACH][EACH] = {};
    i64 block = blockIdx.x;
    const i64 column = block % args.column_tiles * TILE;
    block /= args.column_tiles;
    const i64 row = block % args.row_tiles * TILE;
    block /= args.row_tiles;
    u64 at_a = args.a, at_b = args.b, at_c = args.c;
    for (int d = BATCH - 1; d >= 0; d--) {
        const i64 x = block % args.shape[d];
        block /= args.shape[d];
        at_a += x * args.a_step[d];
        at_b += x * args.b_step[d];
        at_c += x * args.c_step[d];
    }
    const Panel from_a = {(const E *)at_a + row * args.a_row, args.a_row, args.a_column, args.m - row, args.k};
    const Panel from_b = {(const E *)at_b + column * args.b_column, args.b_column, args.b_row, args.n - column, args.k};
    const int my_row = threadIdx.x / ACROSS * EACH, my_column = threadIdx.x % ACROSS * EACH;
    for (i64 first = 0; first < args.k; first += DEPTH) {
        load(a, from_a, first);
        load(b, from_b, first);
        __syncthreads();
        for (int l = 0; l < DEPTH; l++)
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sums[i][j] = Sums<E>::join(sums[i][j], a[l][my_row + i], b[l][my_column + j]);
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            if (row + my_row + i < args.m && column + my_column + j < args.n)
                ((E *)at_c)[(row + my_row + i) * args.c_row + (column + my_column + j) * args.c_column] =
                    Sums<E>::store(sums[i][j]);
}
#undef HALF
