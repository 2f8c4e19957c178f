/* SPDX-License-Identifier: Apache-2.0
 *
 * solve and inv of matrices that must be well conditioned on a GPU: their results, and which matrices are declined, by condition numbers that are
 * known. `--shard K/N` runs a share of the cases. Skipped where no GPU is.
 */
#include "lapack_check.h"
#include "options.h"
#include "shard.h"

static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64, GSH_COMPLEX128};
static const enum gsh_lapack_routine routines[] = {GSH_LAPACK_SOLVE_CONDITIONED,
                                                   GSH_LAPACK_INV_CONDITIONED};

static void test_results(struct what what)
{
    struct matrices inputs[2] = {well_conditioned(&what)}, x;
    bool is_solve = what.routine == GSH_LAPACK_SOLVE_CONDITIONED;
    what.columns = 3;
    inputs[1] = is_solve ? random_matrices(what.batch, what.m, what.columns, what.dtype)
                         : identities(what.batch, what.m);
    if (run(&what, inputs, &x)) {
        check_product(&what, &inputs[0], &x, &inputs[1], is_solve ? "A x - b" : "A X - I");
        free(x.at);
    }
    free(inputs[0].at);
    free(inputs[1].at);
}

static void test_all_results(enum gsh_lapack_routine routine, enum gsh_dtype dtype)
{
    static const int64_t sides[] = {3, 4, 20, 33, 200}, batches[] = {1, 3, 100};
    for (size_t s = 0; s < GSH_COUNT(sides); s++)
        for (size_t b = 0; b < GSH_COUNT(batches); b++)
            for (int layout = 0; layout < LAYOUTS; layout++) {
                bool is_dense = (s + b + (size_t)layout) % 2 != 0;
                const struct what what = {routine,
                                          dtype,
                                          (enum layout)layout,
                                          batches[b],
                                          sides[s],
                                          sides[s],
                                          0,
                                          is_dense ? GSH_LAPACK_DENSE : 0,
                                          0};
                if (sides[s] * batches[b] <= 3300)
                    test_results(what);
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
            judge_last(what, &a, bands[b].is_dense);
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
            if (!shard_takes_case())
                continue;
            test_bound(routines[r], dtypes[d]);
            test_structures(routines[r], dtypes[d]);
            test_bad_numbers(routines[r], dtypes[d]);
        }
}

int main(int argc, char **argv)
{
    char why[256] = "";
    if (argc > 1 && !shard_parse(argc, argv)) {
        printf("usage: %s [--shard K/N]\n", argv[0]);
        return 2;
    }
    gsh_options_init();
    if (dev->open(why, sizeof why) != GSH_OK) {
        printf("%s: %s\n", dev->is_present() ? "failed" : "skip: no GPU", why);
        return dev->is_present() ? 1 : CHECK_SKIP;
    }
    test_all();
    CHECK(dev->synchronize() == GSH_OK);
    print_worst();
    shard_print();
    return check_result();
}
