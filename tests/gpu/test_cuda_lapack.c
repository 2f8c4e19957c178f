/* SPDX-License-Identifier: Apache-2.0
 *
 * The gufuncs of kernels/lapack.def on a GPU, each with every dtype, in batches, of matrices of many shapes and layouts:
 * what is left when a result is put back into its equation, and how far vectors are from being orthogonal. Those with
 * LAPACK's conventions have a program of their own (test_cuda_lapack_systems.c). What NumPy
 * must judge (singular matrices, numbers that are not finite) is declined. `--shard K/N` runs a share of the cases.
 * Skipped where no GPU is.
 */
#include "lapack_check.h"

static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64, GSH_COMPLEX128};

/* ---- LU ---- */

static void test_solve(struct what what)
{
    struct matrices inputs[2] = {random_matrices(what.batch, what.m, what.m, what.dtype)}, x;
    what.columns = what.routine == GSH_LAPACK_SOLVE ? 3 : 1;
    inputs[1] = random_matrices(what.batch, what.m, what.columns, what.dtype);
    if (run(&what, inputs, &x)) {
        check_product(&what, &inputs[0], &x, &inputs[1], "A x - b");
        free(x.at);
    }
    free(inputs[0].at);
    free(inputs[1].at);
}

static void test_inv(struct what what)
{
    struct matrices a = random_matrices(what.batch, what.m, what.m, what.dtype), x;
    struct matrices identity = identities(what.batch, what.m);
    if (run(&what, &a, &x)) {
        check_product(&what, &a, &x, &identity, "A X - I");
        free(x.at);
    }
    free(identity.at);
    free(a.at);
}

/* Determinant of one matrix, by elimination with pivots. */
static complex_number eliminate(const struct matrices *m, int64_t of)
{
    int64_t n = m->rows;
    complex_number *a = malloc((size_t)(n * n) * sizeof(complex_number)), product = 1;
    memcpy(a, m->at + of * n * n, (size_t)(n * n) * sizeof(complex_number));
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k; i < n; i++)
            pivot = cabs(a[i * n + k]) > cabs(a[pivot * n + k]) ? i : pivot;
        for (int64_t j = 0; pivot != k && j < n; j++) {
            complex_number kept = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = kept;
        }
        product *= pivot != k ? -a[k * n + k] : a[k * n + k];
        for (int64_t i = k + 1; i < n; i++) {
            complex_number factor = a[i * n + k] / a[k * n + k];
            for (int64_t j = k; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
        }
    }
    free(a);
    return product;
}

/* Near the identity, so that determinants are near 1 and well conditioned; rows in another order. */
static void test_det(struct what what)
{
    struct matrices a = random_matrices(what.batch, what.m, what.m, what.dtype), outputs[2];
    for (int64_t i = 0; i < what.batch * one_size(&a); i++) {
        int64_t row = i / what.m % what.m, column = i % what.m;
        complex_number x = a.at[i] / (4 * sqrt((double)what.m)) + (row == (column + 1) % what.m);
        a.at[i] = complex_of(round_to(creal(x), what.dtype), round_to(cimag(x), what.dtype));
    }
    if (run(&what, &a, outputs)) {
        bool has_logarithm = what.routine == GSH_LAPACK_SLOGDET;
        for (int64_t i = 0; i < what.batch; i++) {
            complex_number expected = eliminate(&a, i), found = outputs[0].at[i];
            if (has_logarithm) {
                is_small(&what, fabs(cabs(found) - 1), 1, "size of the sign");
                found *= exp(creal(outputs[1].at[i]));
            }
            is_small(&what, cabs(found - expected), 4 * cabs(expected), "determinant");
        }
        free(outputs[0].at);
        if (has_logarithm)
            free(outputs[1].at);
    }
    free(a.at);
}

/* ---- Hermitian ---- */

/* A = A^H, positive definite where wanted; the device gets NaN in the triangle that is not looked at. */
static struct matrices hermitian(const struct what *what, bool is_positive, bool is_lower,
                                 struct matrices *given)
{
    struct matrices a = random_matrices(what->batch, what->m, what->m, what->dtype);
    int64_t n = what->m;
    for (int64_t of = 0; of < what->batch; of++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) {
                complex_number *x = a.at + of * n * n + i * n + j;
                if (i == j)
                    *x = creal(*x) + (is_positive ? 2 * (double)n : 0);
                a.at[of * n * n + j * n + i] = conj(*x);
            }
    for (int64_t i = 0; i < what->batch * n * n; i++)
        a.at[i] = complex_of(round_to(creal(a.at[i]), what->dtype),
                             round_to(cimag(a.at[i]), what->dtype));
    *given = copy_matrices(&a);
    for (int64_t i = 0; i < what->batch * n * n; i++)
        if (is_lower ? i / n % n < i % n : i / n % n > i % n)
            given->at[i] = NAN;
    return a;
}

static void test_cholesky(struct what what)
{
    bool is_lower = what.routine == GSH_LAPACK_CHOLESKY_LO;
    struct matrices given, a = hermitian(&what, true, is_lower, &given), factor;
    struct matrices square = make_matrices(what.batch, what.m, what.m);
    if (run(&what, &given, &factor)) {
        unsigned left = 0;
        int64_t n = what.m;
        for (int64_t i = 0; i < what.batch * n * n; i++)
            left += factor.at[i] != 0 && (is_lower ? i / n % n < i % n : i / n % n > i % n);
        CHECK_INT(left, 0);
        for (int64_t i = 0; is_lower && i < what.batch * n * n; i++) /* U = L^H */
            if (i / n % n >= i % n) {
                int64_t across = i / (n * n) * n * n + i % n * n + i / n % n;
                factor.at[across] = conj(factor.at[i]);
                factor.at[i] = i == across ? factor.at[i] : 0;
            }
        for (int64_t of = 0; of < what.batch; of++) {
            multiply(&factor, true, &factor, &square, of);
            is_small(&what, distance(&square, &a, of), norm_of(&a, of), "L L^H - A");
        }
        free(factor.at);
    }
    free(square.at);
    free(given.at);
    free(a.at);
}

/* w and V; columns of V times w are A V. */
static void check_eigenvectors(const struct what *what, const struct matrices *a,
                               const struct matrices *w, const struct matrices *v)
{
    struct matrices left = make_matrices(what->batch, what->m, what->m);
    struct matrices right = copy_matrices(v);
    for (int64_t i = 0; i < what->batch * one_size(v); i++)
        right.at[i] *= w->at[i / one_size(v) * what->m + i % what->m];
    for (int64_t of = 0; of < what->batch; of++) {
        multiply(a, false, v, &left, of);
        is_small(what, distance(&left, &right, of), norm_of(a, of), "A V - V w");
    }
    free(left.at);
    free(right.at);
}

static void test_eigh(struct what what)
{
    bool is_lower = what.routine == GSH_LAPACK_EIGH_LO || what.routine == GSH_LAPACK_EIGVALSH_LO;
    bool has_vectors = what.routine == GSH_LAPACK_EIGH_LO || what.routine == GSH_LAPACK_EIGH_UP;
    struct what with = what;
    struct matrices given, a = hermitian(&what, false, is_lower, &given), full[2], alone;
    with.routine = is_lower ? GSH_LAPACK_EIGH_LO : GSH_LAPACK_EIGH_UP;
    if (run(&with, &given, full)) {
        check_eigenvectors(&with, &a, &full[0], &full[1]);
        check_orthogonal(&with, &full[1], "V^H V - I");
        for (int64_t i = 0; i < what.batch * what.m; i++)
            CHECK(i % what.m == 0 || creal(full[0].at[i]) >= creal(full[0].at[i - 1]));
        if (!has_vectors && run(&what, &given, &alone)) {
            for (int64_t of = 0; of < what.batch; of++)
                is_small(&what, distance(&alone, &full[0], of), norm_of(&a, of), "eigenvalues");
            free(alone.at);
        }
        free(full[0].at);
        free(full[1].at);
    }
    free(given.at);
    free(a.at);
}

/* ---- QR ---- */

static void test_qr(struct what what)
{
    struct matrices a = random_matrices(what.batch, what.m, what.n, what.dtype), raw[2], q;
    struct what form = what;
    form.routine =
        what.m > what.n && what.layout == COLUMNS ? GSH_LAPACK_QR_COMPLETE : GSH_LAPACK_QR_REDUCED;
    what.routine = GSH_LAPACK_QR_R_RAW;
    if (run(&what, &a, raw)) {
        if (run(&form, raw, &q)) {
            struct matrices r = make_matrices(what.batch, q.columns, what.n);
            for (int64_t i = 0; i < what.batch * one_size(&r); i++) {
                int64_t row = i / what.n % q.columns, column = i % what.n;
                if (row <= column)
                    r.at[i] = raw[0].at[i / one_size(&r) * one_size(&a) + row * what.n + column];
            }
            check_product(&form, &q, &r, &a, "Q R - A");
            check_orthogonal(&form, &q, "Q^H Q - I");
            free(r.at);
            free(q.at);
        }
        free(raw[0].at);
        free(raw[1].at);
    }
    free(a.at);
}

/* The first output is the input; a NaN leaves it as it was. */
static void test_qr_in_place(enum gsh_dtype dtype, bool is_bad)
{
    const struct what what = {GSH_LAPACK_QR_R_RAW, dtype, ROWS, 3, 40, 20, 0, 0, 0};
    struct matrices a = random_matrices(what.batch, what.m, what.n, dtype), after, apart[2];
    struct call call = begin(&what, &a);
    const struct operand unused = call.operands[1];
    set_operand(&call, 1, &call.operands[0]);
    if (is_bad) {
        a.at[what.n + 3] = NAN;
        put(dev, &call.operands[0], &a);
    }
    CHECK_INT(submit(&call), is_bad ? GSH_DECLINED : GSH_OK);
    after = get(dev, &call.operands[0]);
    if (is_bad) {
        CHECK(isnan(creal(after.at[what.n + 3])));
        a.at[what.n + 3] = after.at[what.n + 3] = 0;
        CHECK(distance(&a, &after, 0) == 0);
    } else if (run(&what, &a, apart)) {
        CHECK(memcmp(after.at, apart[0].at, (size_t)(3 * one_size(&a)) * sizeof(complex_number)) ==
              0);
        free(apart[0].at);
        free(apart[1].at);
    }
    free(after.at);
    free(a.at);
    set_operand(&call, 1, &unused);
    end(&call);
}

/* ---- SVD ---- */

static void check_svd(const struct what *what, const struct matrices *a, const struct matrices *usv)
{
    const struct matrices *s = &usv[1];
    int64_t least = GSH_MIN(what->m, what->n);
    struct matrices scaled = copy_matrices(&usv[2]), left = usv[0];
    for (int64_t i = 0; i < what->batch * one_size(&scaled); i++) {
        int64_t row = i / what->n % scaled.rows;
        scaled.at[i] *= row < least ? s->at[i / one_size(&scaled) * least + row] : 0;
    }
    struct matrices product = make_matrices(what->batch, what->m, what->n);
    struct matrices cut = make_matrices(what->batch, what->m, least);
    struct matrices rest = make_matrices(what->batch, least, what->n);
    for (int64_t i = 0; i < what->batch * what->m * least; i++)
        cut.at[i] = left.at[i / least * left.columns + i % least];
    for (int64_t i = 0; i < what->batch * one_size(&rest); i++)
        rest.at[i] = scaled.at[i / one_size(&rest) * one_size(&scaled) + i % one_size(&rest)];
    for (int64_t of = 0; of < what->batch; of++) {
        multiply(&cut, false, &rest, &product, of);
        is_small(what, distance(&product, a, of), GSH_MAX(norm_of(a, of), 1e-30), "U S V^H - A");
    }
    check_orthogonal(what, &usv[0], "U^H U - I");
    check_orthogonal_rows(what, &usv[2], "V^H V - I");
    for (int64_t i = 0; i < what->batch * least; i++)
        CHECK(creal(s->at[i]) >= 0 && (i % least == 0 || creal(s->at[i]) <= creal(s->at[i - 1])));
    free(scaled.at);
    free(product.at);
    free(cut.at);
    free(rest.at);
}

/* rank: of the matrices; 0: zero ones; -1: random ones. */
static struct matrices of_rank(const struct what *what, int64_t rank)
{
    struct matrices a = random_matrices(what->batch, what->m, what->n, what->dtype);
    if (rank < 0)
        return a;
    struct matrices x = random_matrices(what->batch, what->m, GSH_MAX(rank, 1), what->dtype);
    struct matrices y = random_matrices(what->batch, GSH_MAX(rank, 1), what->n, what->dtype);
    for (int64_t i = 0; i < what->batch; i++)
        multiply(&x, false, &y, &a, i);
    for (int64_t i = 0; i < what->batch * one_size(&a); i++)
        a.at[i] = rank == 0 ? 0
                            : complex_of(round_to(creal(a.at[i]), what->dtype),
                                         round_to(cimag(a.at[i]), what->dtype));
    free(x.at);
    free(y.at);
    return a;
}

static void test_svd_of(struct what what, int64_t rank)
{
    struct matrices a = of_rank(&what, rank), usv[3], alone;
    struct what with = what;
    if (what.routine == GSH_LAPACK_SVD)
        with.routine = GSH_LAPACK_SVD_S;
    if (run(&with, &a, usv)) {
        check_svd(&with, &a, usv);
        if (what.routine == GSH_LAPACK_SVD && run(&what, &a, &alone)) {
            for (int64_t of = 0; of < what.batch; of++)
                is_small(&what, distance(&alone, &usv[1], of), GSH_MAX(norm_of(&a, of), 1e-30),
                         "singular values");
            free(alone.at);
        }
        for (int k = 0; k < 3; k++)
            free(usv[k].at);
    }
    free(a.at);
}

static void test_svd(struct what what)
{
    test_svd_of(what, -1);
}

/* ---- eig ---- */

static void test_eig(struct what what)
{
    struct matrices a = random_matrices(what.batch, what.m, what.m, what.dtype), full[2], alone;
    struct what with = what;
    with.routine = GSH_LAPACK_EIG;
    struct call probe = begin(&with, &a);
    enum gsh_status status = dev->supports(&probe.launch) ? submit(&probe) : GSH_DECLINED;
    bool is_there = status == GSH_OK || dev->supports(&probe.launch);
    end(&probe);
    if (is_there && run(&with, &a, full)) {
        check_eigenvectors(&with, &a, &full[0], &full[1]);
        for (int64_t i = 0; i < what.batch * what.m; i++) {
            double sum = 0;
            for (int64_t k = 0; k < what.m; k++)
                sum +=
                    pow(cabs(full[1].at[i / what.m * one_size(&a) + k * what.m + i % what.m]), 2);
            is_small(&with, fabs(sum - 1), 1, "length of a vector");
        }
        if (what.routine == GSH_LAPACK_EIGVALS && run(&what, &a, &alone)) {
            for (int64_t i = 0; i < what.batch * what.m; i++) {
                double nearest = INFINITY;
                for (int64_t k = i / what.m * what.m; k < (i / what.m + 1) * what.m; k++)
                    nearest = fmin(nearest, cabs(alone.at[i] - full[0].at[k]));
                /* an eigenvalue may be this badly conditioned */
                is_small(&what, nearest, 100 * norm_of(&a, i / what.m), "eigenvalue");
            }
            free(alone.at);
        }
        free(full[0].at);
        free(full[1].at);
    }
    free(a.at);
}

/* ---- all ---- */

static const struct {
    enum gsh_lapack_routine routine;
    void (*test)(struct what what);
    bool is_square;
} rows[] = {
    {GSH_LAPACK_SOLVE, test_solve, true},
    {GSH_LAPACK_SOLVE1, test_solve, true},
    {GSH_LAPACK_INV, test_inv, true},
    {GSH_LAPACK_DET, test_det, true},
    {GSH_LAPACK_SLOGDET, test_det, true},
    {GSH_LAPACK_CHOLESKY_LO, test_cholesky, true},
    {GSH_LAPACK_CHOLESKY_UP, test_cholesky, true},
    {GSH_LAPACK_EIGH_LO, test_eigh, true},
    {GSH_LAPACK_EIGH_UP, test_eigh, true},
    {GSH_LAPACK_EIGVALSH_LO, test_eigh, true},
    {GSH_LAPACK_EIGVALSH_UP, test_eigh, true},
    {GSH_LAPACK_EIG, test_eig, true},
    {GSH_LAPACK_EIGVALS, test_eig, true},
    {GSH_LAPACK_QR_R_RAW, test_qr, false},
    {GSH_LAPACK_SVD, test_svd, false},
    {GSH_LAPACK_SVD_S, test_svd, false},
    {GSH_LAPACK_SVD_F, test_svd, false},
};

static const int64_t shapes[][2] = {{1, 1},     {2, 2},    {5, 5},    {20, 20}, {32, 32}, {33, 33},
                                    {200, 200}, {5, 3},    {3, 5},    {4, 1},   {1, 4},   {33, 7},
                                    {7, 33},    {200, 33}, {33, 200}, {64, 40}};

static void test_routine(size_t row, enum gsh_dtype dtype)
{
    static const int64_t batches[] = {1, 3, 100};
    for (size_t s = 0; s < GSH_COUNT(shapes); s++)
        for (size_t b = 0; b < GSH_COUNT(batches); b++)
            for (int layout = 0; layout < LAYOUTS; layout++) {
                int64_t m = shapes[s][0], n = shapes[s][1], longest = GSH_MAX(m, n);
                bool is_large = longest > 100, is_one = layout == (int)(row + s + b) % LAYOUTS;
                if ((rows[row].is_square && m != n) ||
                    (is_large && (batches[b] == 100 || !is_one)) ||
                    (longest > 32 && batches[b] == 100 && !is_one))
                    continue;
                const struct what what = {
                    rows[row].routine, dtype, (enum layout)layout, batches[b], m, n, 0, 0, 0};
                rows[row].test(what);
            }
}

static void test_rank(enum gsh_dtype dtype)
{
    static const int64_t sizes[][2] = {{5, 5}, {20, 9}, {40, 40}, {60, 35}, {35, 60}};
    for (size_t s = 0; s < GSH_COUNT(sizes); s++)
        for (int64_t rank = 0; rank < 3; rank++)
            for (int batch = 1; batch < 4; batch += 2) {
                const struct what what = {GSH_LAPACK_SVD_F, dtype, ROWS, batch, sizes[s][0],
                                          sizes[s][1],      0,     0,    0};
                test_svd_of(what, rank);
            }
}

/* A number on the last matrix's diagonal that is not finite. */
static void test_not_finite(enum gsh_dtype dtype)
{
    static const double bad[] = {NAN, INFINITY};
    for (int r = 0; r < GSH_LAPACK_GETRF; r++)
        for (int64_t n = 3; n < 100; n *= 5)
            for (int64_t batch = 1; batch < 64; batch *= 7)
                for (size_t b = 0; b < GSH_COUNT(bad); b++) {
                    enum gsh_lapack_routine routine = (enum gsh_lapack_routine)r;
                    const struct what what = {routine, dtype, ROWS, batch, n, n, 1, 0, 0};
                    if (routine == GSH_LAPACK_QR_REDUCED || routine == GSH_LAPACK_QR_COMPLETE)
                        continue; /* their input is what QR_R_RAW made */
                    struct matrices inputs[2] = {random_matrices(batch, n, n, dtype),
                                                 random_matrices(batch, n, 1, dtype)};
                    inputs[0].at[(batch - 1) * n * n + n + 1] = bad[b];
                    declines(&what, inputs);
                    free(inputs[0].at);
                    free(inputs[1].at);
                }
}

static const enum gsh_lapack_routine by_lu[] = {GSH_LAPACK_SOLVE1, GSH_LAPACK_SOLVE, GSH_LAPACK_INV,
                                                GSH_LAPACK_DET, GSH_LAPACK_SLOGDET};

/* A row of zeros in the last matrix. */
static void test_singular(enum gsh_dtype dtype)
{
    for (size_t r = 0; r < GSH_COUNT(by_lu); r++)
        for (int64_t n = 1; n < 100; n = n * 4 + 1)
            for (int64_t batch = 1; batch < 64; batch *= 7) {
                const struct what what = {by_lu[r], dtype, ROWS, batch, n, n, 1, 0, 0};
                struct matrices inputs[2] = {random_matrices(batch, n, n, dtype),
                                             random_matrices(batch, n, 1, dtype)};
                memset(inputs[0].at + (batch - 1) * n * n + n / 2 * n, 0,
                       (size_t)n * sizeof(complex_number));
                declines(&what, inputs);
                free(inputs[0].at);
                free(inputs[1].at);
            }
}

/* Rows that depend on each other but for the rounding of their numbers: rounding decides what the last pivot is. */
static void test_nearly_singular(enum gsh_dtype dtype)
{
    for (size_t r = 0; r < GSH_COUNT(by_lu); r++)
        for (int64_t batch = 1; batch < 64; batch *= 7) {
            const struct what what = {by_lu[r], dtype, ROWS, batch, 3, 3, 1, 0, 0};
            struct matrices inputs[2] = {random_matrices(batch, 3, 3, dtype),
                                         random_matrices(batch, 3, 1, dtype)};
            for (int64_t i = 0; i < 9; i++)
                inputs[0].at[i] = round_to(0.1 * (double)(i + 1), dtype);
            declines(&what, inputs);
            free(inputs[0].at);
            free(inputs[1].at);
        }
}

static void test_indefinite(enum gsh_dtype dtype)
{
    for (int64_t batch = 1; batch < 64; batch *= 7) {
        const struct what what = {GSH_LAPACK_CHOLESKY_LO, dtype, ROWS, batch, 20, 20, 0, 0, 0};
        struct matrices given, a = hermitian(&what, true, true, &given);
        given.at[(batch - 1) * one_size(&given) + what.m + 1] = -1;
        declines(&what, &given);
        free(given.at);
        free(a.at);
    }
}

static void test_all(void)
{
    for (size_t d = 0; d < GSH_COUNT(dtypes); d++) {
        for (size_t row = 0; row < GSH_COUNT(rows); row++)
            if (shard_takes_case())
                test_routine(row, dtypes[d]);
        if (shard_takes_case())
            test_rank(dtypes[d]);
        if (shard_takes_case()) {
            test_not_finite(dtypes[d]);
            test_singular(dtypes[d]);
            test_nearly_singular(dtypes[d]);
            test_indefinite(dtypes[d]);
            test_qr_in_place(dtypes[d], false);
            test_qr_in_place(dtypes[d], true);
        }
    }
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv, test_all);
}
