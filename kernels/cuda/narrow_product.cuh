// SPDX-License-Identifier: Apache-2.0
//
// C = A @ B for a matrix A of at most ROWS rows: each element of B is read once. Threads share the columns of B, and
// DOWN of them the rows of B of each column; so do blocks, where there are few columns: each sums a part of the rows,
// and the same text with IS_SUM, which takes no A, adds the parts. Defined before it: F, the type of the parts of
// an element; IS_COMPLEX; IS_SUM; ROWS; ACROSS, the columns of a block; ALONG: neighbouring threads read
// along the rows of B; DEPTH, the columns of A where ROWS > 1.
constexpr int THREADS = 256, DOWN = THREADS / ACROSS;

#if IS_COMPLEX
struct __align__(2 * sizeof(F)) E {
    F re, im;
};
FN void add(E &sum, E x)
{
    sum.re += x.re;
    sum.im += x.im;
}
FN void add_product(E &sum, E x, E y)
{
    sum.re = fma(x.re, y.re, fma(-x.im, y.im, sum.re));
    sum.im = fma(x.re, y.im, fma(x.im, y.re, sum.im));
}
FN E load(const E *from, bool conjugates)
{
    const E x = *from;
    return {x.re, conjugates ? -x.im : x.im};
}
#else
typedef F E;
FN void add(E &sum, E x) { sum += x; }
FN void add_product(E &sum, E x, E y) { sum = fma(x, y, sum); }
FN E load(const E *from, bool) { return *from; }
#endif

struct Args {
    u64 a, b, c;
    i64 m, n, k, a_row, a_column, b_row, b_column, c_row, c_column; // strides in elements
    i64 tiles, part; // of the columns; rows of B that a block sums
    i64 a_conjugates, b_conjugates;
};

extern "C" __global__ void __launch_bounds__(THREADS) gsh_kernel(const IN_PLACE Args args)
{
    const int across = ALONG ? threadIdx.x / DOWN : threadIdx.x % ACROSS;
    const int down = ALONG ? threadIdx.x % DOWN : threadIdx.x / ACROSS;
    const i64 part = blockIdx.x / args.tiles, j = blockIdx.x % args.tiles * ACROSS + across;
    const i64 first = part * args.part;
    const i64 last = first + args.part < args.k ? first + args.part : args.k;
    const E *const a = (const E *)args.a;
    const E *const b = (const E *)args.b + j * args.b_column;
    E sums[ROWS] = {};
#if ROWS > 1
    __shared__ E all_of_a[ROWS * DEPTH];
    for (int at = threadIdx.x; at < ROWS * DEPTH; at += THREADS) {
        const int i = at / DEPTH, l = at % DEPTH;
        all_of_a[at] = i < args.m && l < args.k ? load(a + i * args.a_row + l * args.a_column, args.a_conjugates) : E{};
    }
    __syncthreads();
#endif
    if (j < args.n) {
#pragma unroll 8
        for (i64 l = first + down; l < last; l += DOWN) {
            const E y = load(b + l * args.b_row, args.b_conjugates);
#if IS_SUM
            add(sums[0], y);
#elif ROWS > 1
            for (int i = 0; i < ROWS; i++)
                add_product(sums[i], all_of_a[i * DEPTH + l], y);
#else
            add_product(sums[0], load(a + l * args.a_column, args.a_conjugates), y);
#endif
        }
    }
    if (DOWN > 1) { // then ROWS is 1
        __shared__ E partial[THREADS];
        partial[down * ACROSS + across] = sums[0];
        for (int half = DOWN / 2; half > 0; half /= 2) {
            __syncthreads();
            if (down < half)
                add(partial[down * ACROSS + across], partial[(down + half) * ACROSS + across]);
        }
        sums[0] = partial[across];
    }
    if (j >= args.n || down != 0)
        return;
    for (int i = 0; i < ROWS; i++)
        if (i < args.m)
            ((E *)args.c)[(part + i) * args.c_row + j * args.c_column] = sums[i];
}
#undef IS_COMPLEX
#undef IS_SUM
#undef ROWS
