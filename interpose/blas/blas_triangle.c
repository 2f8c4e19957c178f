/* SPDX-License-Identifier: Apache-2.0
 *
 * Triangular systems with the triangle on either side: ?trsm. The device computes them as LAPACK's
 * ?trtrs. Checked by tests/unit/interpose/blas/test_blas_triangle.c and
 * tests/unit/interpose/blas/test_lapack_symbols.c.
 */
#include "blas_launch.h"

#include "blas_number.h"
#include "lapack_launch.h"

/* ---- the launch ---- */

/* X op(A) = B is solved as op(A)^T X^T = B^T. */
static unsigned options_of(const struct gsh_blas_triangular *s)
{
    unsigned options = gsh_lapack_launch_transposition(s->trans);
    if (s->side == 'R')
        options = options == 0 ? GSH_LAPACK_TRANSPOSED : 0;
    return options | gsh_lapack_launch_triangle(s->triangle) |
           gsh_lapack_launch_diagonal(s->diagonal);
}

static bool run_trsm(struct gsh_blas_entry_call *call)
{
    struct gsh_blas_triangular s = gsh_blas_launch_read_triangular(call);
    if (!gsh_blas_launch_is_legal_triangle(&s) || s.m == 0 || s.n == 0)
        return false;
    bool is_plain = s.alpha == 1;
    bool is_conjugate = s.trans == 'C' && gsh_blas_entry_is_complex(call);
    if (!gsh_lapack_launch_expect(call, is_plain && !(s.side == 'R' && is_conjugate)))
        return false;
    gsh_blas_entry_find_other(call, "trtrs_"); /* registers it with the host device */
    gsh_lapack_launch_begin(call, GSH_LAPACK_TRTRS, options_of(&s));
    int64_t order = gsh_blas_launch_triangle_order(&s);
    gsh_lapack_launch_matrix(call, 0, s.a, order, order, s.lda);
    for (unsigned k = 1; k < 3; k++)
        if (s.side == 'L')
            gsh_lapack_launch_matrix(call, k, s.b, s.m, s.n, s.ldb);
        else
            gsh_lapack_launch_transpose(call, k, s.b, s.n, s.m, s.ldb);
    return gsh_blas_entry_launch(call);
}

/* ---- without BLAS ---- */

/* The matrix of the system for one column of B, or of B^T: A, or its transpose if is_turned. */
struct substitution {
    const struct gsh_blas_triangular *system;
    enum gsh_dtype dtype;
    bool is_turned, is_conjugate;
    int64_t first, step; /* position of the column in B */
};

static double _Complex coefficient(const struct substitution *from, int64_t row, int64_t column)
{
    const struct gsh_blas_triangular *s = from->system;
    int64_t at = from->is_turned ? column + row * s->lda : row + column * s->lda;
    return gsh_blas_number_load_as(s->a, from->dtype, at, from->is_conjugate);
}

/* Computes unknown i. The unknowns from `known` to `end` are already in place. */
static void find_unknown(const struct substitution *from, int64_t i, int64_t known, int64_t end,
                         double _Complex alpha)
{
    const struct gsh_blas_triangular *s = from->system;
    int64_t at = from->first + i * from->step;
    double _Complex rest = alpha * gsh_blas_number_load(s->b, from->dtype, at);
    for (int64_t j = known; j < end; j++)
        rest -= coefficient(from, i, j) *
                gsh_blas_number_load(s->b, from->dtype, from->first + j * from->step);
    if (s->diagonal == 'N')
        rest /= coefficient(from, i, i);
    gsh_blas_number_store(s->b, from->dtype, at, rest);
}

static void substitute(const struct substitution *from, double _Complex alpha)
{
    int64_t order = gsh_blas_launch_triangle_order(from->system);
    bool is_lower = (from->system->triangle == 'L') != from->is_turned;
    for (int64_t k = 0; k < order; k++) {
        int64_t i = is_lower ? k : order - 1 - k;
        if (alpha == 0) /* A is not read */
            gsh_blas_number_store(from->system->b, from->dtype, from->first + i * from->step, 0);
        else
            find_unknown(from, i, is_lower ? 0 : i + 1, is_lower ? i : order, alpha);
    }
}

static bool reference_trsm(struct gsh_blas_entry_call *call)
{
    struct gsh_blas_triangular s = gsh_blas_launch_read_triangular(call);
    if (!gsh_blas_launch_is_legal_triangle(&s))
        return false;
    bool is_left = s.side == 'L';
    struct substitution substitution = {.system = &s,
                                        .dtype = call->dtype,
                                        .is_turned = (s.trans != 'N') == is_left,
                                        .is_conjugate =
                                            s.trans == 'C' && gsh_blas_entry_is_complex(call),
                                        .step = is_left ? 1 : s.ldb};
    for (int64_t column = 0; column < (is_left ? s.n : s.m); column++) {
        substitution.first = column * (is_left ? s.ldb : 1);
        substitute(&substitution, s.alpha);
    }
    return true;
}

const struct gsh_blas_entry_shape gsh_blas_entry_shape_TRSM = {
    .sizes = {4, 5, GSH_BLAS_ENTRY_NONE},
    .matrices = {7, 9, GSH_BLAS_ENTRY_NONE},
    .arguments = 11 + 4,
    .info = GSH_BLAS_ENTRY_NONE,
    .lapack_routine = GSH_BLAS_ENTRY_NONE,
    .run = run_trsm,
    .run_reference = reference_trsm,
};
