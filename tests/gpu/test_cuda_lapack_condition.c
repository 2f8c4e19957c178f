/* SPDX-License-Identifier: Apache-2.0
 *
 * solve and inv of matrices that must be well conditioned on a GPU: their results, and which matrices are declined, by
 * condition numbers that are known. `--shard K/N` runs a share of the cases. Skipped where no GPU is.
 */
#include "lapack_check.h"

static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64, GSH_COMPLEX128};
static const enum gsh_lapack_routine routines[] = {GSH_LAPACK_SOLVE_CONDITIONED,
                                                   GSH_LAPACK_INV_CONDITIONED};

static struct matrices transpose(const struct matrices *a)
{
    struct matrices turned = make_matrices(a->batch, a->columns, a->rows);
    for (int64_t of = 0; of < a->batch; of++)
        for (int64_t i = 0; i < a->rows; i++)
            for (int64_t j = 0; j < a->columns; j++)
                *at(&turned, of, j, i) = *at(a, of, i, j);
    return turned;
}

static void test_results(struct what what)
{
    bool is_solve = what.routine == GSH_LAPACK_SOLVE_CONDITIONED;
    bool is_transposed = (what.options & GSH_LAPACK_TRANSPOSED) != 0;
    struct matrices given = well_conditioned(&what), a = given, right, x;
    what.columns = 3;
    right = is_solve ? random_matrices(what.batch, what.m, what.columns, what.dtype)
                     : identities(what.batch, what.m);
    const struct matrices inputs[2] = {given, right};
    if (is_transposed)
        a = transpose(&given);
    if (run(&what, inputs, &x)) {
        check_product(&what, &a, &x, &right, is_solve ? "A x - b" : "A X - I");
        free(x.at);
    }
    if (is_transposed)
        free(a.at);
    free(given.at);
    free(right.at);
}

static void test_all_results(enum gsh_lapack_routine routine, enum gsh_dtype dtype)
{
    static const int64_t sides[] = {3, 4, 20, 33, 200}, batches[] = {1, 3, 100};
    for (size_t s = 0; s < GSH_COUNT(sides); s++)
        for (size_t b = 0; b < GSH_COUNT(batches); b++)
            for (int layout = 0; layout < LAYOUTS; layout++) {
                bool is_turned = b % 2 != 0 && routine == GSH_LAPACK_SOLVE_CONDITIONED;
                unsigned options = ((s + b + (size_t)layout) % 2 != 0 ? GSH_LAPACK_DENSE : 0) |
                                   (is_turned ? GSH_LAPACK_TRANSPOSED : 0);
                const struct what what = {routine,    dtype,    (enum layout)layout,
                                          batches[b], sides[s], sides[s],
                                          0,          options,  0};
                if (sides[s] * batches[b] <= 3300)
                    test_results(what);
            }
}

/* The inverse of a matrix that is symmetric, or Hermitian, is exactly so where that is asked for. */
static void test_mirrored(enum gsh_dtype dtype, bool is_conjugated, bool is_dense)
{
    for (int64_t n = 2; n < 100; n = 5 * n + 1) {
        const struct what what = {GSH_LAPACK_INV_CONDITIONED,      dtype, ODD, 2, n, n, 0,
                                  is_dense ? GSH_LAPACK_DENSE : 0, 0};
        struct matrices a = well_conditioned(&what), x;
        bool is_mirrored = true;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) {
                complex_number lower = *at(&a, 1, i, j);
                lower = i != j ? lower : is_conjugated ? creal(lower) + 20 : lower + 20;
                *at(&a, 1, i, j) = lower;
                *at(&a, 1, j, i) = is_conjugated ? conj(lower) : lower;
            }
        round_matrices(&a, dtype);
        if (run(&what, &a, &x)) {
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j <= i; j++) {
                    complex_number other = *at(&x, 1, j, i);
                    is_mirrored &= *at(&x, 1, i, j) == (is_conjugated ? conj(other) : other);
                }
            CHECK(is_mirrored || !is_dense);
            free(x.at);
        }
        free(a.at);
    }
}

/* A launch on random well-conditioned matrices but for the last, of which `a` is all there is. */
static void judge_last(struct what what, const struct matrices *a, bool is_good)
{
    struct matrices inputs[2] = {well_conditioned(&what)}, x;
    what.columns = 1;
    inputs[1] = random_matrices(what.batch, what.m, 1, what.dtype);
    memcpy(at(&inputs[0], what.batch - 1, 0, 0), a->at, (size_t)one_size(a) * sizeof(*a->at));
    if (!is_good)
        declines(&what, inputs);
    else if (run(&what, inputs, &x))
        free(x.at);
    free(inputs[0].at);
    free(inputs[1].at);
}

/* Ones on the diagonal and -1 above it: norm n, norm of the inverse 2^(n - 1), and all pivots 1. */
static struct matrices doubling(int64_t n, bool is_lower, complex_number factor)
{
    struct matrices a = make_matrices(1, n, n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++)
            *at(&a, 0, is_lower ? j : i, is_lower ? i : j) = i == j ? factor : -factor;
    return a;
}

static void test_bound(enum gsh_lapack_routine routine, enum gsh_dtype dtype)
{
    int64_t n = 2;
    while ((double)n * ldexp(1, (int)n - 1) * GSH_LAPACK_CONDITION * epsilon(dtype) < 1)
        n++; /* the first one too many */
    for (int64_t batch = 1; batch < 64; batch *= 7)
        for (int i = 0; i < 4; i++) {
            complex_number factor = gsh_dtype_kind(dtype) == 'c' ? 3 * I : 3;
            const struct matrices good = doubling(n - 1, i % 2 != 0, factor);
            const struct matrices bad = doubling(n, i % 2 != 0, factor);
            struct what what = {routine, dtype, (enum layout)(i % LAYOUTS), batch, n - 1, n - 1, 0,
                                0,       0};
            judge_last(what, &good, true);
            what.options = GSH_LAPACK_DENSE; /* it is triangular */
            judge_last(what, &good, false);
            what.options = 0;
            what.m = what.n = n;
            judge_last(what, &bad, false);
            free(good.at);
            free(bad.at);
        }
}

/* A row of large numbers, so that the infinity norm is n - 1 times the 1-norm; of the inverse the same. */
static void test_rows(enum gsh_lapack_routine routine, enum gsh_dtype dtype)
{
    double large = 0.5 / sqrt(GSH_LAPACK_CONDITION * epsilon(dtype));
    for (int64_t n = 2; n <= 100; n *= 50) {
        const struct what what = {routine, dtype, ROWS, 1, n, n, 0, 0, 0};
        struct matrices a = identities(1, n);
        for (int64_t j = 1; j < n; j++)
            *at(&a, 0, 0, j) = round_to(large, dtype);
        judge_last(what, &a, n == 2);
        free(a.at);
    }
}

/* What is left of a matrix where only elements of some diagonals, from `low` below to `high` above, are. */
static void test_structures(enum gsh_lapack_routine routine, enum gsh_dtype dtype)
{
    static const struct {
        int low, high;
        bool is_dense;
    } bands[] = {{0, 0, false}, {0, 9, false}, {9, 0, false}, {1, 1, false},
                 {0, 1, false}, {2, 1, true},  {1, 2, true},  {9, 9, true}};
    for (size_t b = 0; b < GSH_COUNT(bands); b++)
        for (int64_t batch = 1; batch < 64; batch *= 7) {
            struct what what = {routine, dtype, ROWS, batch, 10, 10, 0, GSH_LAPACK_DENSE, 0};
            struct what one = what;
            one.batch = 1;
            struct matrices a = well_conditioned(&one);
            for (int64_t i = 0; i < 10; i++)
                for (int64_t j = 0; j < 10; j++)
                    if (i - j > bands[b].low || j - i > bands[b].high)
                        *at(&a, 0, i, j) = 0;
                    else if (i == j)
                        *at(&a, 0, i, j) = 20;
            bool is_tridiagonal = bands[b].low == 1 && bands[b].high == 1;
            judge_last(what, &a,
                       bands[b].is_dense ||
                           (is_tridiagonal && routine == GSH_LAPACK_INV_CONDITIONED));
            what.options = 0;
            judge_last(what, &a, true);
            free(a.at);
        }
}

static void test_bad_numbers(enum gsh_lapack_routine routine, enum gsh_dtype dtype)
{
    static const double bad[] = {NAN, INFINITY};
    for (size_t b = 0; b < GSH_COUNT(bad); b++)
        for (int dense = 0; dense < 2; dense++) {
            struct what what = {routine, dtype, ROWS, 1, 10, 10, 0, dense ? GSH_LAPACK_DENSE : 0,
                                0};
            struct matrices a = well_conditioned(&what);
            *at(&a, 0, 2, 3) = bad[b];
            judge_last(what, &a, false);
            for (int64_t j = 0; j < 10; j++)
                *at(&a, 0, 2, j) = 0; /* singular */
            judge_last(what, &a, false);
            free(a.at);
        }
}

static void test_all(void)
{
    for (size_t d = 0; d < GSH_COUNT(dtypes); d++)
        for (size_t r = 0; r < GSH_COUNT(routines); r++) {
            if (shard_takes_case())
                test_all_results(routines[r], dtypes[d]);
            if (routines[r] == GSH_LAPACK_INV_CONDITIONED && shard_takes_case())
                for (int i = 0; i < 4; i++)
                    test_mirrored(dtypes[d], i % 2 != 0, i / 2 != 0);
            if (!shard_takes_case())
                continue;
            test_bound(routines[r], dtypes[d]);
            test_rows(routines[r], dtypes[d]);
            test_structures(routines[r], dtypes[d]);
            test_bad_numbers(routines[r], dtypes[d]);
        }
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv, test_all);
}
