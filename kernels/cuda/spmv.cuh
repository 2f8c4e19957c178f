// SPDX-License-Identifier: Apache-2.0
//
// SPMV: a sparse matrix in CSR form times a vector, in the way of CSR-stream (Greathouse and Daga, Efficient sparse matrix-vector
// multiplication on GPUs using the CSR storage format, 2014). A block has neighbouring rows, at most one for each thread. All its
// threads compute the products of its rows, tile by tile, neighbouring threads those of neighbouring numbers, whichever rows they
// belong to. Then each row's thread adds the row's products, in order, as the CPU does.
//
// No start or column is trusted: an access out of bounds would end the program's use of the GPU. Where starts descend within a
// block, its rows are no range of numbers, and each thread reads its own row.
struct Args {
    u64 starts, columns, numbers, vector, initial, output;
    i64 rows, count, width; // the matrix's rows, numbers and columns
    i64 block_rows;         // of a block
};
constexpr int TILE = BLOCK * EACH, LINE = 128 / (int)sizeof(T); // a LINE passes all banks of shared memory once

template <class F> FN F plus(F a, F b)
{
    if constexpr (IS_INTEGER)
        return (F)((u64)a + (u64)b);
    else
        return a + b;
}
template <class F> FN F times(F a, F b)
{
    if constexpr (IS_INTEGER)
        return (F)((u64)a * (u64)b);
    else
        return a * b;
}
template <class F> FN Complex<F> plus(Complex<F> a, Complex<F> b) { return gsh_plus(a, b); }
template <class F> FN Complex<F> times(Complex<F> a, Complex<F> b) { return times_unfused(a, b); }
// Of minus zeros, which change no sum.
template <class F> FN void clear(F &x) { x = (F)-0.0; }
template <class F> FN void clear(Complex<F> &x) { x = {(F)-0.0, (F)-0.0}; }

FN i64 bounded(i64 at, i64 low, i64 high) { return at < low ? low : at > high ? high : at; }
FN i64 start_of(const Args &args, i64 row) { return bounded(((const I *)args.starts)[row], 0, args.count); }
// Column of a number; -1: it is outside of the vector.
FN I column_of(const Args &args, i64 at)
{
    const I column = ((const I *)args.columns)[at];
    return column < args.width ? column : -1;
}
FN T product_of(const Args &args, T number, I column)
{
    T product;
    clear(product);
    if (column >= 0)
        product = times(number, ((const T *)args.vector)[column]);
    return product;
}
// Where product i of a tile lies: the first ones of rows of 16 numbers, say, would else share a bank.
FN int place(int i) { return i + i / LINE; }

// The products of the numbers first .. end - 1, at most a tile of them. A thread's loads are on their way together.
FN void fill(const Args &args, i64 first, i64 end, T *tile)
{
    I columns[EACH];
    T numbers[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const i64 at = first + i * BLOCK + (int)threadIdx.x;
        columns[i] = -1;
        if (at < end) {
            columns[i] = column_of(args, at);
            numbers[i] = ((const T *)args.numbers)[at];
        }
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
        tile[place(i * BLOCK + (int)threadIdx.x)] = product_of(args, numbers[i], columns[i]);
}

extern "C" __global__ void __launch_bounds__(BLOCK) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ T tile[TILE + TILE / LINE];
    const i64 first_row = blockIdx.x * args.block_rows;
    const i64 last_row = bounded(first_row + args.block_rows, 0, args.rows), row = first_row + threadIdx.x;
    const bool has_row = row < last_row;
    const i64 begin = has_row ? start_of(args, row) : 0, end = has_row ? start_of(args, row + 1) : 0;
    T sum;
    clear(sum);
    if (has_row)
        sum = ((const T *)args.initial)[row];
    if (__syncthreads_or(begin > end)) {
        for (i64 at = begin; at < end; at++)
            sum = plus(sum, product_of(args, ((const T *)args.numbers)[at], column_of(args, at)));
    } else {
        const i64 last = start_of(args, last_row);
        for (i64 first = start_of(args, first_row); first < last; first += TILE) {
            fill(args, first, last, tile);
            __syncthreads();
            const int to = (int)bounded(end - first, 0, TILE);
#pragma unroll 4
            for (int i = (int)bounded(begin - first, 0, TILE); i < to; i++)
                sum = plus(sum, tile[place(i)]);
            __syncthreads();
        }
    }
    if (has_row)
        ((T *)args.output)[row] = sum;
}
