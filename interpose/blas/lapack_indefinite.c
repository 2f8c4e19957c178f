/* SPDX-License-Identifier: Apache-2.0
 *
 * Symmetric matrices that need not be definite, including complex ones: factorisation by diagonal
 * pivoting, and systems and inverses computed from it: ?sytrf, ?sytrs, ?sytri. Checked by
 * tests/unit/interpose/blas/test_lapack_symbols.c.
 */
#include "lapack_launch.h"

#include <stdlib.h>

/* A matrix of which only `triangle` is read and written. */
struct indefinite {
    char letter;
    int64_t n, lda;
    void *a;
};

static bool fits_indefinite(const struct indefinite *s)
{
    return gsh_lapack_launch_is_triangle(s->letter) && s->n > 0 && s->lda >= s->n;
}

/* uplo, n, a, lda, ipiv, ... */
static bool read_indefinite(const struct gsh_blas_entry_call *call, struct indefinite *s)
{
    *s = (struct indefinite){gsh_blas_entry_letter(call, 0), gsh_blas_entry_integer(call, 1),
                             gsh_blas_entry_integer(call, 3), gsh_blas_entry_address(call, 2)};
    return fits_indefinite(s);
}

static bool factor_indefinite(struct gsh_blas_entry_call *call, const struct indefinite *s)
{
    int32_t *pivots = gsh_lapack_launch_memory(call, s->n, sizeof(*pivots));
    if (pivots == NULL)
        return false;
    gsh_lapack_launch_begin(call, GSH_LAPACK_SYTRF, gsh_lapack_launch_triangle(s->letter));
    gsh_lapack_launch_matrix(call, 0, s->a, s->n, s->n, s->lda);
    gsh_lapack_launch_matrix(call, 1, s->a, s->n, s->n, s->lda);
    gsh_lapack_launch_vector(call, 2, pivots, s->n);
    bool is_done = gsh_blas_entry_launch(call);
    if (is_done)
        gsh_lapack_launch_write_integers(call, 4, pivots, s->n);
    free(pivots);
    return is_done;
}

/* ..., work, lwork, info */
static bool run_sytrf(struct gsh_blas_entry_call *call)
{
    struct indefinite s;
    struct gsh_lapack_workspace space = {5, 6, 1, 'T'};
    return read_indefinite(call, &s) && gsh_lapack_launch_has_space(call, &space, 1) &&
           factor_indefinite(call, &s) && gsh_lapack_launch_end(call, &space, 1);
}

/* Runs a launch on factors. Argument k has the pivots. The caller has described all operands except
 * the pivots and the factors. */
static bool launch_with_pivots(struct gsh_blas_entry_call *call, const struct indefinite *s,
                               unsigned k)
{
    gsh_lapack_launch_matrix(call, 0, s->a, s->n, s->n, s->lda);
    int32_t *pivots = gsh_lapack_launch_memory(call, s->n, sizeof(*pivots));
    if (pivots == NULL)
        return false;
    gsh_lapack_launch_vector(call, 1, pivots, s->n);
    bool is_done = gsh_lapack_launch_read_block_pivots(call, k, pivots, s->n) &&
                   gsh_blas_entry_launch(call) && gsh_lapack_launch_end(call, NULL, 0);
    free(pivots);
    return is_done;
}

/* uplo, n, nrhs, a, lda, ipiv, b, ldb, info */
static bool run_sytrs(struct gsh_blas_entry_call *call)
{
    const struct indefinite s = {gsh_blas_entry_letter(call, 0), gsh_blas_entry_integer(call, 1),
                                 gsh_blas_entry_integer(call, 4), gsh_blas_entry_address(call, 3)};
    int64_t count = gsh_blas_entry_integer(call, 2), ldb = gsh_blas_entry_integer(call, 7);
    if (!fits_indefinite(&s) || count <= 0 || ldb < s.n)
        return false;
    gsh_lapack_launch_begin(call, GSH_LAPACK_SYTRS, gsh_lapack_launch_triangle(s.letter));
    gsh_lapack_launch_matrix(call, 2, gsh_blas_entry_address(call, 6), s.n, count, ldb);
    gsh_lapack_launch_matrix(call, 3, gsh_blas_entry_address(call, 6), s.n, count, ldb);
    return launch_with_pivots(call, &s, 5);
}

/* ..., work, info */
static bool run_sytri(struct gsh_blas_entry_call *call)
{
    struct indefinite s;
    if (!read_indefinite(call, &s))
        return false;
    gsh_lapack_launch_begin(call, GSH_LAPACK_SYTRI, gsh_lapack_launch_triangle(s.letter));
    gsh_lapack_launch_matrix(call, 2, s.a, s.n, s.n, s.lda);
    return launch_with_pivots(call, &s, 4);
}

/* ---- the table ---- */

const struct gsh_blas_entry_shape gsh_blas_entry_shape_SYTRF = {
    .sizes = {1, 1, GSH_BLAS_ENTRY_NONE},
    .matrices = {2, GSH_BLAS_ENTRY_NONE},
    .arguments = 8 + 1,
    .info = 7,
    .lapack_routine = GSH_LAPACK_SYTRF,
    .run = run_sytrf,
};
const struct gsh_blas_entry_shape gsh_blas_entry_shape_SYTRS = {
    .sizes = {1, 1, GSH_BLAS_ENTRY_NONE},
    .matrices = {3, 6, GSH_BLAS_ENTRY_NONE},
    .arguments = 9 + 1,
    .info = 8,
    .lapack_routine = GSH_LAPACK_SYTRS,
    .run = run_sytrs,
};
const struct gsh_blas_entry_shape gsh_blas_entry_shape_SYTRI = {
    .sizes = {1, 1, GSH_BLAS_ENTRY_NONE},
    .matrices = {2, GSH_BLAS_ENTRY_NONE},
    .arguments = 7 + 1,
    .info = 6,
    .lapack_routine = GSH_LAPACK_SYTRI,
    .run = run_sytri,
};
