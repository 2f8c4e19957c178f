// SPDX-License-Identifier: Apache-2.0
//
// Kernels that complement the routines of the linear algebra libraries. Matrices are packed, column by column, one
// behind the other. Defined before it: R, the real type; COMPLEX, whether elements are pairs of it; ROUTINE, the
// function to run.
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
#define FN __device__ __forceinline__
#define LANES 32 // threads of a block that processes one matrix or column
#define TILE 32        // rows and columns of the tile that a block transposes
#define TILE_LINES 8   // lines of a tile that are moved at once
#define DIAGONAL_LANES 128 // threads of a block that processes a diagonal, whose numbers lie far apart

struct Pair {
    R re, im;
};
struct Double {
    double re, im;
};
#if COMPLEX
typedef Pair E;
FN double re(E x) { return x.re; }
FN double im(E x) { return x.im; }
FN E make(R x, R y) { return {x, y}; }
FN E times(E x, E y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
FN E minus(E x, E y) { return {x.re - y.re, x.im - y.im}; }
FN E plus(E x, E y) { return {x.re + y.re, x.im + y.im}; }
FN E conjugate(E x) { return {x.re, -x.im}; }
#else
typedef R E;
FN double re(E x) { return x; }
FN double im(E x) { return 0; }
FN E make(R x, R y) { return x; }
FN E times(E x, E y) { return x * y; }
FN E minus(E x, E y) { return x - y; }
FN E plus(E x, E y) { return x + y; }
FN E conjugate(E x) { return x; }
#endif

struct Args {
    u64 a, b, c, flag;
    i64 batch, rows, columns, extra, step;
    double bound;
    i64 matrix_steps[2];
};
#define MINE ((i64)blockIdx.x * blockDim.x + threadIdx.x)
#define RAISE (*(i32 *)args.flag = 1)

FN bool is_finite(double x) { return x - x == 0; }
FN double size(E x) { return fabs(re(x)) + fabs(im(x)); }

// Raises the flag if one of `rows` numbers of type R is NaN or infinite.
FN void look_for_infinite(const Args &args)
{
    if (MINE < args.rows && !is_finite(((const R *)args.a)[MINE]))
        RAISE;
}

// Raises the flag if one of `rows` integers is not 0.
FN void look_for_nonzero(const Args &args)
{
    if (MINE < args.rows && ((const i32 *)args.a)[MINE] != 0)
        RAISE;
}

// a = the addresses b, b + columns, ...: `rows` of them.
FN void make_pointers(const Args &args)
{
    if (MINE < args.rows)
        ((u64 *)args.a)[MINE] = args.b + (u64)(MINE * args.columns);
}

// The matrix, row and column of element MINE in matrices of rows x columns.
struct Place {
    i64 matrix, row, column;
};
template <class N> FN Place place_of(N at, N rows, N size) // a division of i64 costs several of u32
{
    const N matrix = at / size, within = at - matrix * size, column = within / rows;
    return {(i64)matrix, (i64)(within - column * rows), (i64)column};
}
FN Place my_place(const Args &args)
{
    const i64 size = args.rows * args.columns;
    return (MINE | size) >> 32 == 0 ? place_of<u32>((u32)MINE, (u32)args.rows, (u32)size)
                                    : place_of<i64>(MINE, args.rows, size);
}

// Sets the elements below the diagonal (extra: above it) to 0.
FN void clear_triangle(const Args &args)
{
    const Place at = my_place(args);
    if (at.matrix < args.batch && (args.extra ? at.row < at.column : at.row > at.column))
        ((E *)args.a)[MINE] = make(0, 0);
}

// c = a in the other storage order, matrices of rows x columns. Element (i, j) lies at i + j * extra in a and at i *
// step + j in c; matrices lie matrix_steps apart. Both are accessed along their lines. A block has a tile.
FN void turn_tile(const Args &args, bool is_conjugated)
{
    __shared__ E tile[TILE][TILE + 1];
    const i64 down = (args.rows + TILE - 1) / TILE, across = (args.columns + TILE - 1) / TILE;
    const i64 matrix = blockIdx.x / (down * across), within = blockIdx.x % (down * across);
    const i64 row = within % down * TILE, column = within / down * TILE;
    const E *from = (const E *)args.a + matrix * args.matrix_steps[0];
    E *to = (E *)args.c + matrix * args.matrix_steps[1];
    const int lane = threadIdx.x % TILE, line = threadIdx.x / TILE;
    for (int j = line; j < TILE && column + j < args.columns; j += TILE_LINES)
        if (row + lane < args.rows)
            tile[j][lane] = from[row + lane + (column + j) * args.extra];
    __syncthreads();
    for (int i = line; i < TILE && row + i < args.rows; i += TILE_LINES)
        if (column + lane < args.columns)
            to[(row + i) * args.step + column + lane] =
                is_conjugated ? conjugate(tile[lane][i]) : tile[lane][i];
}
FN void turn(const Args &args) { turn_tile(args, false); }
FN void turn_conjugate(const Args &args) { turn_tile(args, true); }

// Copies a's upper triangle (extra; else the lower one) to c, beginning with the diagonal that is `step` away from
// the main one. Where bound is not 0, only the real part of the main diagonal is copied.
FN void copy_triangle(const Args &args)
{
    const Place at = my_place(args);
    const i64 away = args.extra ? at.column - at.row : at.row - at.column;
    if (at.matrix >= args.batch || away < args.step)
        return;
    const E x = ((const E *)args.a)[MINE];
    ((E *)args.c)[MINE] = away == 0 && args.bound != 0 ? make((R)re(x), 0) : x;
}

// c (i64) = a (i32): `rows` pivots of ?sytrf, for matrices of `step` rows. An invalid pivot becomes 1 and raises the
// flag.
FN void widen_pivots(const Args &args)
{
    if (MINE >= args.rows)
        return;
    i64 pivot = ((const i32 *)args.a)[MINE];
    const i64 row = pivot < 0 ? -pivot : pivot;
    if (row < 1 || row > args.step) {
        pivot = 1;
        RAISE;
    }
    ((i64 *)args.c)[MINE] = pivot;
}

// c (integers of `extra` bytes) = a (of `columns` bytes): `rows` pivots, for matrices of `step` rows. An invalid
// pivot becomes 1 and raises the flag.
FN void convert_pivots(const Args &args)
{
    if (MINE >= args.rows)
        return;
    i64 pivot = args.columns == 8 ? ((const i64 *)args.a)[MINE] : ((const i32 *)args.a)[MINE];
    if (pivot < 1 || pivot > args.step) {
        pivot = 1;
        RAISE;
    }
    if (args.extra == 8)
        ((i64 *)args.c)[MINE] = pivot;
    else
        ((i32 *)args.c)[MINE] = (i32)pivot;
}

// c (i64): for matrices of `rows` rows the permutation that the pivots in b make (i64, from 1, one for each row). Row
// i holds row c[i], from 0, after the exchanges. An invalid pivot exchanges nothing.
FN void trace_rows(const Args &args)
{
    if (MINE >= args.batch * args.rows)
        return;
    const i32 n = (i32)args.rows;
    const i64 *pivots = (const i64 *)args.b + MINE / n * n;
    i32 row = (i32)(MINE % n);
    for (i32 k = n - 1; k >= 0; k--) {
        const i64 pivot = pivots[k];
        const i32 other = pivot < 1 || pivot > n ? k : (i32)pivot - 1;
        row = row == k ? other : row == other ? k : row;
    }
    ((i64 *)args.c)[MINE] = row;
}

// c, rows x columns, = a with its rows permuted: row i is a's row b[i] (extra: row b[i] is a's row i).
FN void order_rows(const Args &args)
{
    const Place at = my_place(args);
    if (at.matrix >= args.batch)
        return;
    const i64 other = MINE - at.row + ((const i64 *)args.b)[at.matrix * args.rows + at.row];
    ((E *)args.c)[args.extra ? other : MINE] = ((const E *)args.a)[args.extra ? MINE : other];
}

// c = the identity with its rows permuted: row i is row b[i] of the identity.
FN void make_permutation(const Args &args)
{
    const Place at = my_place(args);
    if (at.matrix < args.batch)
        ((E *)args.c)[MINE] = make(((const i64 *)args.b)[at.matrix * args.rows + at.row] == at.column, 0);
}

FN void make_identity(const Args &args)
{
    const Place at = my_place(args);
    if (at.matrix < args.batch)
        ((E *)args.a)[MINE] = make(at.row == at.column, 0);
}

// c, rows x columns, = the upper left part of a. a's columns have `extra` elements; its matrices lie `step` elements
// apart.
FN void copy_block(const Args &args)
{
    const Place at = my_place(args);
    if (at.matrix < args.batch)
        ((E *)args.c)[MINE] = ((const E *)args.a)[at.matrix * args.step + at.row + at.column * args.extra];
}

// c = a with column j times the j-th number of b.
FN void scale_columns(const Args &args)
{
    const Place at = my_place(args);
    if (at.matrix < args.batch)
        ((E *)args.c)[MINE] = times(((const E *)args.a)[MINE],
                                    make(((const R *)args.b)[at.matrix * args.columns + at.column], 0));
}

// Divides row i of a by the i-th of the matrix's numbers in b, which are in falling order. A row becomes 0 if its
// number is at most bound times the first.
FN void divide_rows(const Args &args)
{
    const Place at = my_place(args);
    if (at.matrix >= args.batch)
        return;
    const R *numbers = (const R *)args.b + at.matrix * args.rows;
    const R divisor = numbers[at.row];
    E *x = (E *)args.a + MINE;
    *x = divisor > args.bound * numbers[0] ? make(re(*x) / divisor, im(*x) / divisor) : make(0, 0);
}

// Returns the sum over a block's lanes in lane 0; other lanes get parts of it.
FN double sum_lanes(double sum)
{
    __shared__ double parts[LANES];
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int other = 1; threadIdx.x == 0 && other < LANES; other++)
        sum += parts[other];
    return sum;
}

// Adds the squares of a column, each divided by bound squared, to the matrix's sum in c. The column is column
// blockIdx.x of a, or its difference from the identity's. Sums are integers in units of 1 / ONE, so the order of
// additions does not matter. Raises the flag if the sum exceeds 1. A block has a column.
#define ONE ((u64)1 << 40)
FN double square_over(double x, double bound) { return x == 0 ? 0 : x / bound * (x / bound); }
FN void add_column(const Args &args, bool is_identity, double bound)
{
    const i64 matrix = blockIdx.x / args.columns, column = blockIdx.x % args.columns;
    const E *numbers = (const E *)args.a + (i64)blockIdx.x * args.rows;
    const int lane = threadIdx.x;
    double sum = 0;
    for (i64 row = lane; row < args.rows; row += LANES) {
        const E x = minus(numbers[row], make(is_identity && row == column, 0));
        sum += square_over(re(x), bound) + square_over(im(x), bound);
    }
    sum = sum_lanes(sum);
    if (lane != 0)
        return;
    const u64 units = sum <= 1 ? (u64)(sum * ONE) : ONE + 1; // ONE + 1 also for NaN
    if (atomicAdd((u64 *)args.c + matrix, units) + units > ONE)
        RAISE;
}

// Raises the flag if the Frobenius norm of a minus the identity exceeds bound.
FN void compare_with_identity(const Args &args) { add_column(args, true, args.bound); }

// Raises the flag if a's Frobenius norm exceeds bound times the first of the matrix's `columns` numbers in b.
FN void compare_with_first(const Args &args)
{
    const i64 matrix = blockIdx.x / args.columns;
    add_column(args, false, args.bound * fabs((double)((const R *)args.b)[matrix * args.columns]));
}

// c, rows x columns, = the product of `extra` reflectors and the identity. Their vectors lie below the diagonals of
// a, whose matrices lie `step` elements apart; their factors are in b. A thread has a column.
FN void multiply_reflectors(const Args &args)
{
    const i64 matrix = MINE / args.columns, column = MINE % args.columns, m = args.rows;
    if (matrix >= args.batch)
        return;
    const E *v = (const E *)args.a + matrix * args.step, *tau = (const E *)args.b + matrix * args.extra;
    E *q = (E *)args.c + MINE * m;
    for (i64 row = 0; row < m; row++)
        q[row] = make(row == column, 0);
    // Reflectors behind the column's own meet only zeros in it.
    for (i64 k = args.extra < column + 1 ? args.extra : column + 1; k-- > 0;) {
        E sum = q[k];
        for (i64 row = k + 1; row < m; row++)
            sum = plus(sum, times(conjugate(v[row + k * m]), q[row]));
        sum = times(sum, tau[k]);
        q[k] = minus(q[k], sum);
        for (i64 row = k + 1; row < m; row++)
            q[row] = minus(q[row], times(sum, v[row + k * m]));
    }
}

// c = the complex eigenvectors of real matrices, from a, which holds a conjugate pair as real and imaginary part. b:
// the complex eigenvalues; in each pair the one with positive imaginary part comes first.
FN void unpack_vectors(const Args &args)
{
    const Place at = my_place(args);
    if (at.matrix >= args.batch)
        return;
    const R *v = (const R *)args.a + MINE;
    const R imaginary = ((const Pair *)args.b)[at.matrix * args.columns + at.column].im;
    Pair *to = (Pair *)args.c + MINE;
    if (imaginary > 0)
        *to = {v[0], v[args.rows]};
    else if (imaginary < 0)
        *to = {v[-args.rows], -v[0]};
    else
        *to = {v[0], 0};
}

// Joins the lanes' results. Raises the flag if a lane's `is_good` is false, or if the least size is at most bound
// times the largest.
FN void judge_sizes(const Args &args, double low, double high, bool is_good)
{
    __shared__ double least[DIAGONAL_LANES], most[DIAGONAL_LANES];
    const int lane = threadIdx.x;
    least[lane] = low;
    most[lane] = high;
    __syncthreads();
    for (int other = 0; lane == 0 && other < DIAGONAL_LANES; other++) {
        low = fmin(low, least[other]);
        high = fmax(high, most[other]);
    }
    if (!is_good || (lane == 0 && !(low > args.bound * high)))
        RAISE;
}

// Checks the diagonals of triangular factors. Raises the flag if a number is not finite, is at most bound times the
// largest, or (columns) is not real up to rounding. Diagonals have `rows` numbers; columns have `extra` elements;
// matrices lie `step` elements apart. A block has a matrix.
FN void judge_diagonal(const Args &args)
{
    const E *diagonal = (const E *)args.a + (i64)blockIdx.x * args.step;
    double low = 1e300 * 1e300, high = 0;
    bool is_good = true;
    for (i64 k = threadIdx.x; k < args.rows; k += DIAGONAL_LANES) {
        const E x = diagonal[k * (args.extra + 1)];
        const bool is_real = fabs(im(x)) <= (sizeof(R) == 4 ? 1.2e-7 : 2.3e-16) * fabs(re(x));
        is_good = is_good && is_finite(re(x)) && is_finite(im(x)) && (is_real || args.columns == 0);
        low = fmin(low, size(x));
        high = fmax(high, size(x));
    }
    judge_sizes(args, low, high, is_good);
}

// The same for packed factors of ?sytrf, rows x rows, whose pivots (i32) are in b. Negative pivots mark pairs of
// rows, each a 2 x 2 block. A block counts by the size of its element above the diagonal (extra; else below), because
// ?sytrf takes a block where that element is large.
FN void judge_blocks(const Args &args)
{
    const i64 n = args.rows;
    const E *numbers = (const E *)args.a + (i64)blockIdx.x * n * n;
    const i32 *pivots = (const i32 *)args.b + (i64)blockIdx.x * n;
    double low = 1e300 * 1e300, high = 0;
    bool is_good = true;
    for (i64 k = threadIdx.x; k < n; k += DIAGONAL_LANES) {
        const E x = numbers[k * (n + 1)];
        double found = size(x);
        is_good = is_good && is_finite(re(x)) && is_finite(im(x));
        if (pivots[k] < 0) {
            i64 first = k;
            while (first > 0 && pivots[first - 1] < 0)
                first--;
            first = k - (k - first) % 2; // of the pair
            found = first + 1 < n ? size(numbers[first * (n + 1) + (args.extra ? n : 1)]) : 0;
            is_good = is_good && is_finite(found);
        }
        low = fmin(low, found);
        high = fmax(high, found);
    }
    judge_sizes(args, low, high, is_good);
}

// ---- the condition of a matrix ----

// What was found in square matrices of rows x columns, as bits of the matrix's u32 in c.
#define LOWER 1u // an element below the diagonal is not 0
#define UPPER 2u // an element above it is not 0
#define FAR 4u   // an element neither on the diagonal nor next to it is not 0
#define UNSYMMETRIC 8u
#define UNHERMITIAN 16u
FN u32 structure_at(const E *numbers, i64 row, i64 column, i64 rows, u32 seen)
{
    const E x = numbers[row + column * rows];
    const bool is_far = row - column > 1 || column - row > 1;
    u32 bits = (re(x) == 0 && im(x) == 0) || row == column ? 0 : (row > column ? LOWER : UPPER) | (is_far ? FAR : 0);
    if (row <= column && (seen & (UNSYMMETRIC | UNHERMITIAN)) != (UNSYMMETRIC | UNHERMITIAN)) {
        const E y = numbers[column + row * rows];
        bits |= re(x) == re(y) && im(x) == im(y) ? 0 : UNSYMMETRIC;
        bits |= re(x) == re(y) && im(x) == -im(y) ? 0 : UNHERMITIAN;
    }
    return bits;
}
FN void mark_structure(const Args &args)
{
    const Place at = my_place(args);
    if (at.matrix >= args.batch)
        return;
    volatile u32 *mark = (u32 *)args.c + at.matrix;
    const E *numbers = (const E *)args.a + at.matrix * args.rows * args.columns;
    const u32 seen = *mark, bits = structure_at(numbers, at.row, at.column, args.rows, seen);
    if ((seen & bits) != bits)
        atomicOr((u32 *)mark, bits);
}

// Raises the flag if one of `rows` marks in a is that of a triangular matrix, or (extra) of a tridiagonal one.
FN void judge_structure(const Args &args)
{
    if (MINE >= args.rows)
        return;
    const u32 mark = ((const u32 *)args.a)[MINE];
    if (!(mark & LOWER) || !(mark & UPPER) || (args.extra && !(mark & FAR)))
        RAISE;
}

// Copies the lower triangle of matrices in c, rows x columns, to the upper one, if the mark in a is that of a
// symmetric or Hermitian matrix. For a Hermitian one the copy is conjugated and the diagonal becomes real.
FN void mirror_triangle(const Args &args)
{
    const Place at = my_place(args);
    if (at.matrix >= args.batch || at.row > at.column)
        return;
    const u32 mark = ((const u32 *)args.a)[at.matrix];
    E *numbers = (E *)args.c + at.matrix * args.rows * args.columns;
    const E x = numbers[at.column + at.row * args.rows];
    if (!(mark & UNHERMITIAN))
        numbers[at.row + at.column * args.rows] = at.row == at.column ? make((R)re(x), 0) : conjugate(x);
    else if (!(mark & UNSYMMETRIC))
        numbers[at.row + at.column * args.rows] = x;
}

#if COMPLEX
FN double length(E x) { return hypot(re(x), im(x)); }
#else
FN double length(E x) { return fabs(re(x)); }
#endif

// Atomic maximum of doubles that are not negative, by their bits, which have the same order. A NaN is larger than
// all.
FN void join_largest(u64 *most, double x) { atomicMax(most, (u64)__double_as_longlong(x)); }

// The matrix's double in c becomes the largest sum of lengths in a row, of square matrices of `columns`. A thread has
// a row.
FN void sum_rows(const Args &args)
{
    if (MINE >= args.rows)
        return;
    const i64 n = args.columns, matrix = MINE / n;
    const E *numbers = (const E *)args.a + matrix * n * n + MINE % n;
    double sum = 0;
    for (i64 column = 0; column < n; column++)
        sum += length(numbers[column * n]);
    join_largest((u64 *)args.c + matrix, sum);
}

// The matrix's double in c becomes the largest sum of lengths in a column. A matrix has `columns` columns; a block
// has one.
FN void sum_columns(const Args &args)
{
    const E *numbers = (const E *)args.a + (i64)blockIdx.x * args.rows;
    const int lane = threadIdx.x;
    double sum = 0;
    for (i64 row = lane; row < args.rows; row += LANES)
        sum += length(numbers[row]);
    sum = sum_lanes(sum);
    if (lane == 0)
        join_largest((u64 *)args.c + blockIdx.x / args.columns, sum);
}

// c, rows x columns, = the vectors that begin an estimate of an inverse's 1-norm; the sizes in each sum to 1. The
// first is the mean of all unit vectors. The second has growing numbers of alternating sign. The others have
// pseudo-random signs.
FN void begin_estimate(const Args &args)
{
    const Place at = my_place(args);
    if (at.matrix >= args.batch)
        return;
    const double n = (double)args.rows, grown = args.rows == 1 ? 1 : (1 + at.row / (n - 1)) / (1.5 * n);
    u32 bits = (u32)(at.row * args.columns + at.column) * 0x85ebca6bu; // mixed as in MurmurHash3 (Appleby)
    bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
    const double sign = at.column == 0 ? 1 : at.column == 1 ? (at.row & 1 ? -1 : 1) : (bits >> 16 & 1 ? -1 : 1);
    ((E *)args.c)[MINE] = make((R)(sign * (at.column == 1 ? grown : 1 / n)), 0);
}

// Divides each number of a by its size; 0 becomes 1.
FN void take_signs(const Args &args)
{
    if (MINE >= args.rows)
        return;
    E *x = (E *)args.a + MINE;
    const double size = length(*x);
    *x = size == 0 ? make(1, 0) : make((R)(re(*x) / size), (R)(im(*x) / size));
}

// Replaces each column of a by the unit vector of its largest number, the first one of several. A block has a column.
FN void take_units(const Args &args)
{
    __shared__ double sizes[DIAGONAL_LANES];
    __shared__ i64 rows[DIAGONAL_LANES];
    E *numbers = (E *)args.a + (i64)blockIdx.x * args.rows;
    const int lane = threadIdx.x;
    double most = -1;
    i64 best = 0;
    for (i64 row = lane; row < args.rows; row += DIAGONAL_LANES) {
        const double found = length(numbers[row]);
        if (found > most) {
            most = found;
            best = row;
        }
        numbers[row] = make(0, 0);
    }
    sizes[lane] = most;
    rows[lane] = best;
    __syncthreads();
    if (lane != 0)
        return;
    for (int other = 1; other < DIAGONAL_LANES; other++)
        if (sizes[other] > most || (sizes[other] == most && rows[other] < best)) {
            most = sizes[other];
            best = rows[other];
        }
    numbers[best] = make(1, 0);
}

// Raises the flag if 1 / (norm * norm of the inverse) is at most bound, for one of `rows` norms in a and in b.
FN void judge_condition(const Args &args)
{
    if (MINE < args.rows && !(((const double *)args.a)[MINE] * ((const double *)args.b)[MINE] * args.bound < 1))
        RAISE;
}

// A number as part * 2^power; the larger of part's components is in [0.5, 1).
struct Scaled {
    Double part;
    i64 power;
};
FN Scaled scaled(Double x, i64 power)
{
    int shift = 0;
    frexp(fmax(fabs(x.re), fabs(x.im)), &shift);
    return {{ldexp(x.re, -shift), ldexp(x.im, -shift)}, power + shift};
}
FN Scaled product(const Scaled &x, const Scaled &y)
{
    return scaled({x.part.re * y.part.re - x.part.im * y.part.im, x.part.re * y.part.im + x.part.im * y.part.re},
                  x.power + y.power);
}

// Determinants of LU factorisations, rows x rows, in a. b: the pivots, integers of `columns` bytes, from 1. c: the
// determinant; where extra is an address, its sign, with the logarithm of its size at extra. A block has a matrix.
FN void multiply_diagonal(const Args &args)
{
    __shared__ Scaled parts[LANES];
    const i64 matrix = blockIdx.x, n = args.rows;
    const E *diagonal = (const E *)args.a + matrix * n * n;
    const int lane = threadIdx.x;
    Scaled whole = {{1, 0}, 0};
    for (i64 k = lane; k < n; k += LANES) {
        const E x = diagonal[k * (n + 1)];
        const i64 pivot = args.columns == 8 ? ((const i64 *)args.b)[matrix * n + k] : ((const i32 *)args.b)[matrix * n + k];
        const double sign = pivot == k + 1 ? 1 : -1;
        whole = product(whole, scaled({sign * re(x), sign * im(x)}, 0));
    }
    parts[lane] = whole;
    __syncthreads();
    if (lane != 0)
        return;
    for (int other = 1; other < LANES; other++)
        whole = product(whole, parts[other]);
    const double length = hypot(whole.part.re, whole.part.im);
    E *to = (E *)args.c + matrix;
    if (args.extra) {
        const double logarithm = log(length) + (double)whole.power * 0.69314718055994530942;
        *to = make((R)(whole.part.re / length), (R)(whole.part.im / length));
        ((R *)args.extra)[matrix] = (R)logarithm;
        if (!is_finite(logarithm))
            RAISE;
    } else {
        const int power = (int)(whole.power > 5000 ? 5000 : whole.power < -5000 ? -5000 : whole.power);
        *to = make((R)ldexp(whole.part.re, power), (R)ldexp(whole.part.im, power));
        if (!is_finite(re(*to)) || !is_finite(im(*to)))
            RAISE;
    }
}

extern "C" __global__ void gsh_kernel(const Args args)
{
    ROUTINE(args);
}
