// SPDX-License-Identifier: Apache-2.0
//
// FILTER: recursive filters, a thread for each line, each line in order. A block is one warp, so that few lines spread over all
// multiprocessors, and no warp waits for another one.
//
// A step waits for the one before it, some 30 cycles. So a thread needs its next elements early, and memory wants neighbouring
// threads to read neighbouring bytes. Both come from tiles of LINES lines times STEPS elements in shared memory: while the threads
// walk along the lines of one tile, the next one is on its way to their registers, STEPS loads of each thread at once. A warp
// reads a tile along the lines where these lie in memory so (128 bytes or more of each line at a time), else across them. The
// tile's rows are one element longer than STEPS, so that the threads, which walk down a column, meet different banks.
//
// The states, and the table where it is short, are in registers: their number is a constant, and all loops over them are unrolled.
// Most kernels have some 250 registers, and up to order 8 and 4 sections nothing in local memory (ptxas for sm_90): 8 warps are on a
// multiprocessor at once, whose loads under way, 64 KB of float64, are some three times what the memory's latency takes.
struct Args {
    u64 table, signal, initial, output, final;
    i64 lines, length;
    i64 signal_step, output_step;           // bytes between elements of a line
    i64 initial_steps[2], final_steps[2];   // and between states
    i64 shape[DIMS];                        // of the batch
    i64 signal_strides[DIMS], initial_strides[DIMS], output_strides[DIMS], final_strides[DIMS];
};
constexpr int LINES = 32;

template <class F> FN F plus(F a, F b) { return a + b; }
template <class F> FN F minus(F a, F b) { return a - b; }
template <class F> FN Complex<F> plus(Complex<F> a, Complex<F> b) { return gsh_plus(a, b); }
template <class F> FN Complex<F> minus(Complex<F> a, Complex<F> b) { return gsh_minus(a, b); }
// The product of a number of a direct filter's table.
template <class F> FN F part(F a, F b, const F *) { return a * b; }
template <class F> FN Complex<F> part(Complex<F> a, Complex<F> b, const Complex<F> *table)
{
    const Complex<F> product = times_unfused(a, b);
    const F square = table[2 * ORDER + 2].re;
    return {product.re / square, product.im / square};
}
// The same of a section's.
template <class F> FN F product(F a, F b) { return a * b; }
template <class F> FN Complex<F> product(Complex<F> a, Complex<F> b) { return times_unfused(a, b); }
template <class F> FN F as_read(F x) { return x; }
template <class F> FN Complex<F> as_read(Complex<F> x) { return {x.re - x.im * 0, x.im + x.re * 0}; }

FN T step_direct(const T *table, T *z, T x)
{
    const T *b = table, *a = table + ORDER + 1;
    const T y = plus(z[0], part(b[0], x, table));
#pragma unroll
    for (int n = 0; n < ORDER - 1; n++)
        z[n] = minus(plus(z[n + 1], part(b[n + 1], x, table)), part(a[n + 1], y, table));
    z[ORDER - 1] = minus(part(b[ORDER], x, table), part(a[ORDER], y, table));
    return y;
}
FN T step_sections(const T *table, T *states, T x)
{
    x = as_read(x);
#pragma unroll
    for (int s = 0; s < ORDER; s++) {
        const T *b = table + 6 * s;
        T *z = states + 2 * s;
        const T y = plus(product(b[0], x), z[0]);
        z[0] = plus(minus(product(b[1], x), product(b[4], y)), z[1]);
        z[1] = minus(product(b[2], x), product(b[5], y));
        x = y;
    }
    return x;
}
FN T step(const T *table, T *z, T x) { return IS_SECTIONS ? step_sections(table, z, x) : step_direct(table, z, x); }

// The element of a tile that a lane moves i-th.
template <bool ALONG> FN int line_of(int lane, int i) { return ALONG ? (lane + i * LINES) / STEPS : (lane + i * LINES) % LINES; }
template <bool ALONG> FN int step_of(int lane, int i) { return ALONG ? (lane + i * LINES) % STEPS : (lane + i * LINES) / LINES; }

FN void move_states(T *z, u64 at, const i64 *steps, bool is_stored)
{
#pragma unroll
    for (int n = 0; n < STATES; n++) {
        T *place = (T *)(at + (IS_SECTIONS ? n / 2 * steps[0] + n % 2 * steps[1] : n * steps[0]));
        if (is_stored)
            *place = z[n];
        else
            z[n] = *place;
    }
}
extern "C" __global__ void __launch_bounds__(LINES) gsh_kernel(const IN_PLACE Args args)
{
    __shared__ T tile[LINES][STEPS + 1];
    __shared__ T shared_table[COUNT];
    __shared__ u64 signals[LINES], outputs[LINES]; // where the lines begin
    const int lane = (int)threadIdx.x;
    const i64 first = (i64)blockIdx.x * LINES;
    const int lines = (int)(args.lines - first < LINES ? args.lines - first : LINES);
    u64 signal = args.signal, initial = args.initial, output = args.output, final = args.final;
    i64 rest = lane < lines ? first + lane : first;
#pragma unroll
    for (int d = DIMS - 1; d >= 0; d--) {
        const i64 at = d == 0 ? rest : rest % args.shape[d];
        rest = d == 0 ? 0 : rest / args.shape[d];
        signal += at * args.signal_strides[d];
        initial += at * args.initial_strides[d];
        output += at * args.output_strides[d];
        final += at * args.final_strides[d];
    }
    signals[lane] = signal;
    outputs[lane] = output;
    for (int i = lane; i < COUNT; i += LINES)
        shared_table[i] = ((const T *)args.table)[i];
    __syncthreads();

    T own_table[IS_SHORT ? COUNT : 1], z[STATES], next[STEPS];
#pragma unroll
    for (int i = 0; IS_SHORT && i < COUNT; i++)
        own_table[i] = shared_table[i];
    const T *table = IS_SHORT ? own_table : shared_table;
#pragma unroll
    for (int n = 0; n < STATES; n++)
        z[n] = T();
    if (HAS_INITIAL && lane < lines)
        move_states(z, initial, args.initial_steps, false);

    auto load = [&](i64 done) {
#pragma unroll
        for (int i = 0; i < STEPS; i++) {
            const int line = line_of<SIGNAL_ALONG>(lane, i), at = step_of<SIGNAL_ALONG>(lane, i);
            if (line < lines && done + at < args.length)
                next[i] = *(const T *)(signals[line] + (done + at) * args.signal_step);
        }
    };
    load(0);
    for (i64 done = 0; done < args.length; done += STEPS) {
        const int count = (int)(args.length - done < STEPS ? args.length - done : STEPS);
#pragma unroll
        for (int i = 0; i < STEPS; i++)
            tile[line_of<SIGNAL_ALONG>(lane, i)][step_of<SIGNAL_ALONG>(lane, i)] = next[i];
        __syncthreads();
        load(done + STEPS);
#pragma unroll 4
        for (int at = 0; at < count; at++)
            tile[lane][at] = step(table, z, tile[lane][at]);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < STEPS; i++) {
            const int line = line_of<OUTPUT_ALONG>(lane, i), at = step_of<OUTPUT_ALONG>(lane, i);
            if (line < lines && at < count)
                *(T *)(outputs[line] + (done + at) * args.output_step) = tile[line][at];
        }
        __syncthreads();
    }
    if (GIVES_FINAL && lane < lines)
        move_states(z, final, args.final_steps, true);
}
