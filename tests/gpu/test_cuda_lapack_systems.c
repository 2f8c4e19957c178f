/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of kernels/lapack.def with LAPACK's conventions on a GPU (factors, systems solved by them, least squares), with
 * every dtype, in batches, of many shapes and layouts: what is left when a result is put back into its equation, and which
 * bytes stay as they were. What LAPACK itself must report is declined. `--shard K/N` runs a share of the cases. Skipped
 * where no GPU is.
 */
#include "lapack_blocks.h"
#include "lapack_check.h"

static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64, GSH_COMPLEX128};

/* As LAPACK's op: transposed, conjugated. */
static struct matrices apply_options(const struct matrices *a, unsigned options)
{
    if ((options & GSH_LAPACK_TRANSPOSED) == 0)
        return copy_matrices(a);
    struct matrices turned = make_matrices(a->batch, a->columns, a->rows);
    for (int64_t of = 0; of < a->batch; of++)
        for (int64_t i = 0; i < a->rows; i++)
            for (int64_t j = 0; j < a->columns; j++) {
                complex_number x = *at(a, of, i, j);
                *at(&turned, of, j, i) = (options & GSH_LAPACK_CONJUGATED) != 0 ? conj(x) : x;
            }
    return turned;
}

static const unsigned transposes[] = {0, GSH_LAPACK_TRANSPOSED,
                                      GSH_LAPACK_TRANSPOSED | GSH_LAPACK_CONJUGATED};

/* ---- LU ---- */

static void check_lu(const struct what *what, struct matrices *a, const struct matrices *outputs)
{
    const struct matrices *lu = &outputs[0], *pivots = &outputs[1];
    int64_t least = GSH_MIN(what->m, what->n);
    struct matrices l = make_matrices(what->batch, what->m, least);
    struct matrices u = make_matrices(what->batch, least, what->n);
    for (int64_t of = 0; of < what->batch; of++) {
        for (int64_t k = 0; k < least; k++) {
            int64_t pivot = (int64_t)creal(pivots->at[of * least + k]) - 1;
            if (!CHECK(pivot >= k && pivot < what->m))
                break;
            for (int64_t j = 0; pivot != k && j < what->n; j++) {
                complex_number kept = *at(a, of, k, j);
                *at(a, of, k, j) = *at(a, of, pivot, j);
                *at(a, of, pivot, j) = kept;
            }
        }
        for (int64_t i = 0; i < what->m; i++)
            for (int64_t j = 0; j < what->n; j++) {
                if (i > j)
                    *at(&l, of, i, j) = *at(lu, of, i, j);
                else
                    *at(&u, of, i, j) = *at(lu, of, i, j);
                CHECK(i <= j || cabs(*at(lu, of, i, j)) < 1.5); /* of parts, |re| + |im|, <= 1 */
            }
        for (int64_t i = 0; i < least; i++)
            *at(&l, of, i, i) = 1;
    }
    check_product(what, &l, &u, a, "L U - P A");
    free(l.at);
    free(u.at);
}

/* A X = B for one B and for several, by the routine that takes A's factor in `parts` operands before B. */
static void test_solve(struct what what, enum gsh_lapack_routine routine, const struct matrices *a,
                       const struct matrices *factor, unsigned parts)
{
    what.routine = routine;
    what.columns = what.batch % 2 == 0 ? 1 : 4;
    struct matrices b = random_matrices(what.batch, what.m, what.columns, what.dtype), x;
    struct matrices inputs[] = {factor[0], b, b};
    for (unsigned k = 1; k < parts; k++)
        inputs[k] = factor[k];
    if (run(&what, inputs, &x)) {
        check_product(&what, a, &x, &b, "op(A) X - B");
        free(x.at);
    }
    free(b.at);
}

static void test_getrs(struct what what, const struct matrices *a, const struct matrices *factor)
{
    for (size_t t = 0; t < GSH_COUNT(transposes); t++) {
        struct matrices turned = apply_options(a, transposes[t]);
        what.options = transposes[t];
        test_solve(what, GSH_LAPACK_GETRS, &turned, factor, 2);
        free(turned.at);
    }
}

/* The inverse in the place of what was inverted. */
static void check_inverse(const struct what *what, const struct matrices *a,
                          const struct matrices *inverse)
{
    struct matrices identity = identities(what->batch, what->m);
    check_product(what, a, inverse, &identity, "A X - I");
    free(identity.at);
}

static void test_getri(struct what what, const struct matrices *a, const struct matrices *factor)
{
    struct matrices inverse;
    what.routine = GSH_LAPACK_GETRI;
    if (run(&what, factor, &inverse)) {
        check_inverse(&what, a, &inverse);
        free(inverse.at);
    }
}

static void test_lu(struct what what)
{
    struct matrices a = well_conditioned(&what), factor[2];
    what.routine = GSH_LAPACK_GETRF;
    if (run(&what, &a, factor)) {
        struct matrices ordered = copy_matrices(&a);
        check_lu(&what, &ordered, factor);
        if (what.m == what.n) {
            test_getrs(what, &a, factor);
            test_getri(what, &a, factor);
        }
        free(ordered.at);
        free(factor[0].at);
        free(factor[1].at);
    }
    free(a.at);
}

/* ---- Cholesky ---- */

/* In the triangle that is not to be read. */
#define MARK 12345
static void mark_other_triangle(const struct what *what, struct matrices *given)
{
    bool is_upper = (what->options & GSH_LAPACK_UPPER) != 0;
    for (int64_t of = 0; of < what->batch; of++)
        for (int64_t i = 0; i < what->m; i++)
            for (int64_t j = 0; j < what->m; j++)
                if (is_upper ? i > j : i < j)
                    *at(given, of, i, j) = MARK;
}

/* Copies one triangle to the other one, or its conjugates. */
static void mirror(const struct matrices *a, bool from_upper, bool is_hermitian)
{
    for (int64_t of = 0; of < a->batch; of++)
        for (int64_t i = 0; i < a->rows; i++)
            for (int64_t j = 0; j < i; j++) {
                complex_number *lower = at(a, of, i, j), *upper = at(a, of, j, i);
                complex_number value = from_upper ? *upper : *lower;
                *(from_upper ? lower : upper) = is_hermitian ? conj(value) : value;
            }
}

/* What the device gets of A, which is rounded to its dtype. */
static void give(const struct what *what, struct matrices *a, struct matrices *given)
{
    round_matrices(a, what->dtype);
    *given = copy_matrices(a);
    mark_other_triangle(what, given);
}

/* A = A^H, positive definite; the device gets a mark in the triangle that is not looked at. */
static struct matrices positive(const struct what *what, struct matrices *given)
{
    struct matrices a = random_matrices(what->batch, what->m, what->m, what->dtype);
    for (int64_t of = 0; of < what->batch; of++)
        for (int64_t i = 0; i < what->m; i++)
            *at(&a, of, i, i) = creal(*at(&a, of, i, i)) + 2 * (double)what->m;
    mirror(&a, false, true);
    give(what, &a, given);
    return a;
}

/* The factor of the triangle; the other one must hold the mark. */
static struct matrices cut_factor(const struct what *what, const struct matrices *whole)
{
    struct matrices factor = make_matrices(what->batch, what->m, what->m);
    bool is_upper = (what->options & GSH_LAPACK_UPPER) != 0;
    unsigned lost = 0;
    for (int64_t of = 0; of < what->batch; of++)
        for (int64_t i = 0; i < what->m; i++)
            for (int64_t j = 0; j < what->m; j++)
                if (is_upper ? i <= j : i >= j)
                    *at(&factor, of, i, j) = *at(whole, of, i, j);
                else
                    lost += *at(whole, of, i, j) != MARK;
    CHECK_INT(lost, 0);
    return factor;
}

/* Of the inverse one triangle is there; the other one must hold the mark. */
static void test_triangle_inverse(struct what what, enum gsh_lapack_routine routine,
                                  const struct matrices *a, const struct matrices *factor)
{
    bool is_hermitian = routine == GSH_LAPACK_POTRI;
    struct matrices whole;
    what.routine = routine;
    if (!run(&what, factor, &whole))
        return;
    struct matrices inverse = cut_factor(&what, &whole);
    for (int64_t of = 0; of < what.batch; of++)
        for (int64_t i = 0; i < what.m; i++)
            CHECK(!is_hermitian || cimag(*at(&inverse, of, i, i)) == 0);
    mirror(&inverse, (what.options & GSH_LAPACK_UPPER) != 0, is_hermitian);
    check_inverse(&what, a, &inverse);
    free(inverse.at);
    free(whole.at);
}

static void test_cholesky(struct what what)
{
    for (unsigned upper = 0; upper < 2; upper++) {
        struct matrices given, whole;
        what.options = upper != 0 ? GSH_LAPACK_UPPER : 0;
        struct matrices a = positive(&what, &given);
        what.routine = GSH_LAPACK_POTRF;
        if (run(&what, &given, &whole)) {
            struct matrices factor = cut_factor(&what, &whole);
            struct matrices turned =
                apply_options(&factor, GSH_LAPACK_TRANSPOSED | GSH_LAPACK_CONJUGATED);
            check_product(&what, upper != 0 ? &turned : &factor, upper != 0 ? &factor : &turned, &a,
                          "L L^H - A");
            test_solve(what, GSH_LAPACK_POTRS, &a, &whole, 1);
            test_triangle_inverse(what, GSH_LAPACK_POTRI, &a, &whole);
            free(turned.at);
            free(factor.at);
            free(whole.at);
        }
        free(given.at);
        free(a.at);
    }
}

/* ---- symmetric matrices ---- */

/* A = A^T, with zeros on every other place of the diagonal, so that there are blocks of two rows; the device gets a mark in
 * the triangle that is not looked at. */
static struct matrices symmetric(const struct what *what, struct matrices *given)
{
    struct matrices a = random_matrices(what->batch, what->m, what->m, what->dtype);
    for (int64_t of = 0; of < what->batch; of++)
        for (int64_t i = 0; i < what->m; i++)
            *at(&a, of, i, i) += i % 2 == 0 && what->m > 1 ? -*at(&a, of, i, i) : 1;
    mirror(&a, false, false);
    give(what, &a, given);
    return a;
}

/* The factors are LAPACK's: what ?sytrs makes of them solves A x = b. */
static void check_blocks(const struct what *what, const struct matrices *a,
                         const struct matrices *outputs)
{
    struct what alone = *what;
    alone.columns = 1;
    struct matrices b = random_matrices(what->batch, what->m, 1, what->dtype),
                    x = copy_matrices(&b);
    bool is_lower = (what->options & GSH_LAPACK_UPPER) == 0;
    for (int64_t of = 0; of < what->batch; of++) {
        const struct block_factor factor = {&outputs[0], &outputs[1], of, is_lower};
        bool is_good = true;
        for (int64_t k = 1; k <= what->m; k++) {
            int64_t pivot = pivot_at(&factor, k);
            is_good &= pivot != 0 && pivot <= what->m && pivot >= -what->m;
        }
        if (!CHECK(is_good))
            break;
        solve_down(&factor, x.at + of * what->m);
        solve_up(&factor, x.at + of * what->m);
    }
    check_product(&alone, a, &x, &b, "A x - b by the factors");
    free(b.at);
    free(x.at);
}

static void test_factored(struct what what, const struct matrices *a, const struct matrices *factor)
{
    test_solve(what, GSH_LAPACK_SYTRS, a, factor, 2);
    test_triangle_inverse(what, GSH_LAPACK_SYTRI, a, factor);
}

static void test_symmetric(struct what what)
{
    for (unsigned upper = 0; upper < 2; upper++) {
        struct matrices given, factor[2];
        what.options = upper != 0 ? GSH_LAPACK_UPPER : 0;
        struct matrices a = symmetric(&what, &given);
        what.routine = GSH_LAPACK_SYTRF;
        if (run(&what, &given, factor)) {
            struct matrices cut = cut_factor(&what, &factor[0]);
            check_blocks(&what, &a, factor);
            test_factored(what, &a, factor);
            free(cut.at);
            free(factor[0].at);
            free(factor[1].at);
        }
        free(given.at);
        free(a.at);
    }
}

/* ---- triangular systems ---- */

/* The triangle that the options name, with a diagonal of size or, where they say so, of ones, whose place has a mark as the
 * other triangle has. */
static struct matrices triangular(const struct what *what, struct matrices *given)
{
    struct matrices a = random_matrices(what->batch, what->m, what->m, what->dtype);
    bool is_upper = (what->options & GSH_LAPACK_UPPER) != 0;
    bool is_unit = (what->options & GSH_LAPACK_UNIT) != 0;
    *given = copy_matrices(&a);
    for (int64_t of = 0; of < what->batch; of++)
        for (int64_t i = 0; i < what->m; i++)
            for (int64_t j = 0; j < what->m; j++) {
                complex_number *x = at(&a, of, i, j), *y = at(given, of, i, j);
                if (is_upper ? i > j : i < j) {
                    *x = 0;
                    *y = NAN;
                } else if (i == j) {
                    *x = is_unit ? 1 : *x + 3;
                    *y = is_unit ? MARK : round_to(creal(*x), what->dtype) + I * cimag(*x);
                    *x = is_unit ? 1 : *y;
                } else {
                    *x = *y = round_to(creal(*x) / (double)what->m, what->dtype) +
                              I * round_to(cimag(*x) / (double)what->m, what->dtype);
                }
            }
    return a;
}

static void test_triangles(struct what what)
{
    what.routine = GSH_LAPACK_TRTRS;
    what.columns = what.batch % 2 == 0 ? 1 : 4;
    for (unsigned variant = 0; variant < 12; variant++) {
        what.options = transposes[variant % 3] | (variant / 3 % 2 != 0 ? GSH_LAPACK_UPPER : 0) |
                       (variant / 6 != 0 ? GSH_LAPACK_UNIT : 0);
        struct matrices given, a = triangular(&what, &given), x;
        struct matrices turned = apply_options(&a, what.options);
        struct matrices b = random_matrices(what.batch, what.m, what.columns, what.dtype);
        const struct matrices inputs[] = {given, b};
        if (run(&what, inputs, &x)) {
            check_product(&what, &turned, &x, &b, "op(T) X - B");
            free(x.at);
        }
        free(b.at);
        free(turned.at);
        free(given.at);
        free(a.at);
    }
}

/* What the options do not name stays as it was. */
static void test_trtri(struct what what)
{
    what.routine = GSH_LAPACK_TRTRI;
    for (unsigned variant = 0; variant < 4; variant++) {
        what.options =
            (variant % 2 != 0 ? GSH_LAPACK_UPPER : 0) | (variant / 2 != 0 ? GSH_LAPACK_UNIT : 0);
        struct matrices given, a = triangular(&what, &given), x;
        if (run(&what, &given, &x)) {
            bool is_upper = variant % 2 != 0, is_unit = variant / 2 != 0;
            unsigned lost = 0;
            for (int64_t of = 0; of < what.batch; of++)
                for (int64_t i = 0; i < what.m; i++)
                    for (int64_t j = 0; j < what.m; j++) {
                        complex_number *y = at(&x, of, i, j);
                        bool is_other = is_upper ? i > j : i < j;
                        lost += is_other ? !isnan(creal(*y)) : is_unit && i == j && *y != MARK;
                        *y = is_other ? 0 : is_unit && i == j ? 1 : *y;
                    }
            CHECK_INT(lost, 0);
            check_inverse(&what, &a, &x);
            free(x.at);
        }
        free(given.at);
        free(a.at);
    }
}

/* ---- products with Q ---- */

/* C with Q on its right side is described as its transpose. */
static void test_application(struct what what, const struct matrices *raw, const struct matrices *q)
{
    what.routine = GSH_LAPACK_ORMQR;
    what.columns = what.batch % 2 == 0 ? 1 : 4;
    for (unsigned variant = 0; variant < 4; variant++) {
        bool is_right = variant % 2 != 0, is_adjoint = variant / 2 != 0;
        struct matrices c = random_matrices(what.batch, what.m, what.columns, what.dtype), product;
        const struct matrices inputs[] = {raw[0], raw[1], c};
        what.options = (is_right ? GSH_LAPACK_RIGHT : 0) |
                       (is_adjoint ? GSH_LAPACK_TRANSPOSED | GSH_LAPACK_CONJUGATED : 0);
        if (run(&what, inputs, &product)) {
            /* (C op(Q))^T is op(Q)^T C^T */
            unsigned turn = is_right ? GSH_LAPACK_TRANSPOSED : 0;
            struct matrices applied =
                apply_options(q, is_adjoint ? GSH_LAPACK_TRANSPOSED | GSH_LAPACK_CONJUGATED : 0);
            struct matrices turned = apply_options(&applied, turn);
            check_product(&what, &turned, &c, &product, "op(Q) C");
            free(turned.at);
            free(applied.at);
            free(product.at);
        }
        free(c.at);
    }
}

/* By all reflectors of a tall or square matrix; Q itself is what they make of the identity. */
static void test_orthogonal(struct what what)
{
    struct matrices a = random_matrices(what.batch, what.m, what.n, what.dtype), raw[2], q;
    if (what.m < what.n) {
        free(a.at);
        return;
    }
    struct what form = what;
    what.routine = GSH_LAPACK_QR_R_RAW;
    form.routine = GSH_LAPACK_ORMQR;
    form.columns = what.m;
    if (run(&what, &a, raw)) {
        struct matrices identity = identities(what.batch, what.m);
        const struct matrices inputs[] = {raw[0], raw[1], identity};
        if (run(&form, inputs, &q)) {
            struct matrices r = make_matrices(what.batch, what.m, what.n);
            for (int64_t of = 0; of < what.batch; of++)
                for (int64_t i = 0; i < what.n; i++)
                    for (int64_t j = i; j < what.n; j++)
                        *at(&r, of, i, j) = *at(&raw[0], of, i, j);
            check_product(&form, &q, &r, &a, "Q R - A");
            check_orthogonal(&form, &q, "Q^H Q - I");
            test_application(what, raw, &q);
            free(r.at);
            free(q.at);
        }
        free(identity.at);
        free(raw[0].at);
        free(raw[1].at);
    }
    free(a.at);
}

/* ---- least squares ---- */

/* x = a^-1 x, one matrix, by elimination with pivots. */
static void solve_plain(struct matrices *a, struct matrices *x)
{
    for (int64_t k = 0; k < a->rows; k++) {
        int64_t pivot = k;
        for (int64_t i = k; i < a->rows; i++)
            pivot = cabs(*at(a, 0, i, k)) > cabs(*at(a, 0, pivot, k)) ? i : pivot;
        for (int64_t j = 0; pivot != k && j < a->columns + x->columns; j++) {
            complex_number *p = j < a->columns ? at(a, 0, k, j) : at(x, 0, k, j - a->columns);
            complex_number *q =
                j < a->columns ? at(a, 0, pivot, j) : at(x, 0, pivot, j - a->columns);
            complex_number kept = *p;
            *p = *q;
            *q = kept;
        }
        for (int64_t i = 0; i < a->rows; i++) {
            complex_number factor = i == k ? 0 : *at(a, 0, i, k) / *at(a, 0, k, k);
            for (int64_t j = 0; factor != 0 && j < a->columns; j++)
                *at(a, 0, i, j) -= factor * *at(a, 0, k, j);
            for (int64_t j = 0; factor != 0 && j < x->columns; j++)
                *at(x, 0, i, j) -= factor * *at(x, 0, k, j);
        }
    }
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < x->columns; j++)
            *at(x, 0, i, j) /= *at(a, 0, i, i);
}

static struct matrices matrix_of(const struct matrices *m, int64_t of)
{
    return (struct matrices){1, m->rows, m->columns, m->at + of * one_size(m)};
}

/* x is of the least norm: its own projection onto the space of y's rows, which are those of A = x' y. */
static void check_norm(const struct what *what, const struct matrices *y, const struct matrices *x,
                       double size)
{
    struct matrices turned = apply_options(y, GSH_LAPACK_TRANSPOSED | GSH_LAPACK_CONJUGATED);
    struct matrices gram = make_matrices(1, y->rows, y->rows);
    struct matrices w = make_matrices(1, y->rows, x->columns);
    struct matrices back = make_matrices(1, y->columns, x->columns);
    multiply(y, false, &turned, &gram, 0);
    multiply(y, false, x, &w, 0);
    solve_plain(&gram, &w);
    multiply(&turned, false, &w, &back, 0);
    is_small(what, distance(&back, x, 0), size, "X beside A's rows");
    free(turned.at);
    free(gram.at);
    free(w.at);
    free(back.at);
}

/* `y`: what the norm is judged by, or NULL; its matrices span the rows of A's. */
static void check_lstsq(const struct what *what, const struct matrices *inputs,
                        const struct matrices *outputs, const struct matrices *y, double condition)
{
    for (int64_t of = 0; of < what->batch; of++) {
        const struct matrices a = matrix_of(&inputs[0], of), b = matrix_of(&inputs[1], of);
        const struct matrices left = matrix_of(&outputs[0], of);
        struct matrices x = make_matrices(1, what->n, what->columns), rest = copy_matrices(&b);
        struct matrices normal = make_matrices(1, what->n, what->columns);
        double size, below = 0;
        memcpy(x.at, left.at, (size_t)one_size(&x) * sizeof(complex_number));
        multiply(&a, false, &x, &rest, 0);
        for (int64_t i = 0; i < one_size(&rest); i++)
            rest.at[i] -= b.at[i];
        multiply(&a, true, &rest, &normal, 0);
        size = norm_of(&a, 0) * norm_of(&x, 0) + norm_of(&b, 0);
        is_small(what, norm_of(&normal, 0), norm_of(&a, 0) * size, "A^H (A X - B)");
        for (int64_t i = what->n * what->columns; i < one_size(&left); i++)
            below += pow(cabs(left.at[i]), 2);
        if (what->m > what->n && y == NULL)
            is_small(what, fabs(sqrt(below) - norm_of(&rest, 0)), condition * size, "residual");
        if (y != NULL) {
            const struct matrices span = matrix_of(y, of);
            check_norm(what, &span, &x, condition * norm_of(&x, 0));
        }
        free(x.at);
        free(rest.at);
        free(normal.at);
    }
}

static void check_values(const struct what *what, const struct matrices *a,
                         const struct matrices *s)
{
    struct what alone = *what;
    struct matrices expected;
    alone.routine = GSH_LAPACK_SVD;
    if (!run(&alone, a, &expected))
        return;
    for (int64_t of = 0; of < what->batch; of++)
        is_small(what, distance(&expected, s, of), norm_of(a, of), "singular values");
    free(expected.at);
}

/* The factors are those of ?geqrf alone. */
static void check_factors(const struct what *what, const struct matrices *a,
                          const struct matrices *factors)
{
    struct what alone = *what;
    struct matrices expected[2];
    alone.routine = GSH_LAPACK_QR_R_RAW;
    if (!run(&alone, a, expected))
        return;
    for (int64_t of = 0; of < what->batch; of++)
        is_small(what, distance(&expected[0], factors, of), norm_of(a, of), "factors");
    free(expected[0].at);
    free(expected[1].at);
}

static void test_gels(struct what what)
{
    struct matrices inputs[2] = {well_conditioned(&what)}, outputs[2];
    what.routine = GSH_LAPACK_GELS;
    what.columns = what.batch % 2 == 0 ? 1 : 4;
    inputs[1] = random_matrices(what.batch, what.m, what.columns, what.dtype);
    if (what.m >= what.n && what.batch < 4 && run(&what, inputs, outputs)) {
        check_factors(&what, &inputs[0], &outputs[0]);
        check_lstsq(&what, inputs, &outputs[1], NULL, 1000);
        free(outputs[0].at);
        free(outputs[1].at);
    }
    free(inputs[0].at);
    free(inputs[1].at);
}

static void test_lstsq(struct what what)
{
    struct matrices inputs[2] = {well_conditioned(&what)}, outputs[2];
    what.routine = GSH_LAPACK_LSTSQ;
    what.columns = what.batch % 2 == 0 ? 1 : 4;
    what.tolerance = -1;
    inputs[1] = random_matrices(what.batch, what.m, what.columns, what.dtype);
    if (what.batch < 4 && run(&what, inputs, outputs)) {
        check_lstsq(&what, inputs, outputs, what.m < what.n ? &inputs[0] : NULL, 1000);
        check_values(&what, &inputs[0], &outputs[1]);
        free(outputs[0].at);
        free(outputs[1].at);
    }
    free(inputs[0].at);
    free(inputs[1].at);
}

/* A of a low rank, and what singular values that are only rounding would make of X. */
static void test_rank(enum gsh_dtype dtype)
{
    static const int64_t sizes[][2] = {{5, 5}, {20, 9}, {9, 20}, {40, 40}, {60, 35}, {35, 60}};
    for (size_t s = 0; s < GSH_COUNT(sizes); s++)
        for (int64_t rank = 1; rank < 4; rank++) {
            const struct what what = {GSH_LAPACK_LSTSQ, dtype, ROWS, 2,   sizes[s][0],
                                      sizes[s][1],      3,     0,    1e-4};
            struct matrices x = random_matrices(2, what.m, rank, dtype), outputs[2];
            struct matrices y = random_matrices(2, rank, what.n, dtype);
            struct matrices inputs[2] = {make_matrices(2, what.m, what.n),
                                         random_matrices(2, what.m, 3, dtype)};
            for (int64_t of = 0; of < 2; of++) {
                *at(&x, of, 0, 0) += 1;
                multiply(&x, false, &y, &inputs[0], of);
            }
            round_matrices(&inputs[0], dtype);
            if (run(&what, inputs, outputs)) {
                check_lstsq(&what, inputs, outputs, &y, 1000);
                free(outputs[0].at);
                free(outputs[1].at);
            }
            free(x.at);
            free(y.at);
            free(inputs[0].at);
            free(inputs[1].at);
        }
}

/* ---- what is declined ---- */

/* A matrix of a batch of which one number is not as it should be. */
static void declines_with(enum gsh_lapack_routine routine, enum gsh_dtype dtype, int64_t batch,
                          int64_t place, complex_number bad)
{
    const struct what what = {routine, dtype, COLUMNS, batch, 9, 9, 2, 0, -1};
    struct matrices inputs[2] = {well_conditioned(&what), random_matrices(batch, 9, 2, dtype)};
    for (int64_t of = 0; of < batch; of++)
        for (int64_t i = 0; i < 9; i++)
            *at(&inputs[0], of, i, i) = creal(*at(&inputs[0], of, i, i)) + 20;
    inputs[0].at[batch * 81 - 81 + place * 10] = bad;
    declines(&what, inputs);
    free(inputs[0].at);
    free(inputs[1].at);
}

static void test_declined(enum gsh_dtype dtype)
{
    for (int64_t batch = 1; batch < 64; batch *= 7)
        for (int64_t place = 0; place < 9; place += 4) {
            declines_with(GSH_LAPACK_GETRF, dtype, batch, place, NAN);
            declines_with(GSH_LAPACK_LSTSQ, dtype, batch, place, INFINITY);
            declines_with(GSH_LAPACK_GELS, dtype, batch, place, NAN);
            declines_with(GSH_LAPACK_POTRF, dtype, batch, place, NAN);
            declines_with(GSH_LAPACK_POTRF, dtype, batch, place, -100);
            declines_with(GSH_LAPACK_TRTRS, dtype, batch, place, 0);
            declines_with(GSH_LAPACK_TRTRI, dtype, batch, place, 0);
            declines_with(GSH_LAPACK_TRTRI, dtype, batch, place, NAN);
            declines_with(GSH_LAPACK_POTRI, dtype, batch, place, 0);
            if (gsh_dtype_kind(dtype) == 'c')
                declines_with(GSH_LAPACK_POTRI, dtype, batch, place, 20 + I);
            declines_with(GSH_LAPACK_SYTRF, dtype, batch, place, NAN);
        }
}

/* A row of zeros; pivots that are none. */
static void test_singular(enum gsh_dtype dtype)
{
    for (int64_t batch = 1; batch < 64; batch *= 7) {
        struct what what = {GSH_LAPACK_GETRF, dtype, ROWS, batch, 9, 9, 2, 0, 0};
        struct matrices inputs[3] = {well_conditioned(&what), make_matrices(batch, 9, 1),
                                     random_matrices(batch, 9, 2, dtype)};
        memset(at(&inputs[0], batch - 1, 4, 0), 0, 9 * sizeof(complex_number));
        declines(&what, inputs);
        what.routine =
            GSH_LAPACK_GELS; /* a zero but for rounding; inputs[1] is a right-hand side */
        what.columns = 1;
        declines(&what, inputs);
        what.columns = 2;
        for (int64_t i = 0; i < batch * 9; i++)
            inputs[1].at[i] = (double)(i % 9 + 1);
        inputs[1].at[batch * 9 - 2] = 10;
        what.routine = GSH_LAPACK_GETRS;
        declines(&what, inputs);
        what.routine = GSH_LAPACK_GETRI;
        declines(&what, inputs);
        for (int64_t i = 0; i < 9; i++) /* and a column */
            *at(&inputs[0], batch - 1, i, 4) = 0;
        what.routine = GSH_LAPACK_SYTRF;
        declines(&what, inputs);
        inputs[1].at[batch * 9 - 2] = -8;
        inputs[1].at[batch * 9 - 1] = -8;
        what.routine = GSH_LAPACK_SYTRS;
        declines(&what, inputs);
        what.routine = GSH_LAPACK_SYTRI;
        declines(&what, inputs);
        for (int k = 0; k < 3; k++)
            free(inputs[k].at);
    }
}

/* ---- all ---- */

static const struct {
    void (*test)(struct what what);
    bool is_square;
} rows[] = {{test_lu, false},       {test_cholesky, true}, {test_symmetric, true},
            {test_triangles, true}, {test_trtri, true},    {test_orthogonal, false},
            {test_lstsq, false},    {test_gels, false}};

static const int64_t shapes[][2] = {{1, 1},  {2, 2},    {5, 5},    {33, 33}, {200, 200},
                                    {5, 3},  {3, 5},    {4, 1},    {1, 4},   {33, 7},
                                    {7, 33}, {200, 33}, {33, 200}, {64, 40}};

static void test_row(size_t row, enum gsh_dtype dtype)
{
    static const int64_t batches[] = {1, 2, 3, 100};
    for (size_t s = 0; s < GSH_COUNT(shapes); s++)
        for (size_t b = 0; b < GSH_COUNT(batches); b++) {
            enum layout layout = (enum layout)((s + b + (size_t)dtype) % LAYOUTS);
            int64_t m = shapes[s][0], n = shapes[s][1];
            const struct what what = {GSH_LAPACK_GETRF, dtype, layout, batches[b], m, n, 0, 0, 0};
            bool is_long = GSH_MAX(m, n) > 40 && batches[b] > 2;
            if ((rows[row].is_square && m != n) || is_long)
                continue;
            rows[row].test(what);
        }
}

static void test_all(void)
{
    for (size_t d = 0; d < GSH_COUNT(dtypes); d++) {
        for (size_t row = 0; row < GSH_COUNT(rows); row++)
            if (shard_takes_case())
                test_row(row, dtypes[d]);
        if (shard_takes_case()) {
            test_rank(dtypes[d]);
            test_declined(dtypes[d]);
            test_singular(dtypes[d]);
        }
    }
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv, test_all);
}
