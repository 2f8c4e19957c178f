/* SPDX-License-Identifier: Apache-2.0
 *
 * Inverses, most of them computed from factors: ?getri, ?potri, ?trtri. Checked by
 * tests/unit/interpose/blas/test_lapack_symbols.c.
 */
#include "lapack_launch.h"

#include <stdlib.h>

/* ---- from LU factors ---- */

/* n, a, lda, ipiv, work, lwork, info */
static bool run_getri(struct gsh_blas_entry_call *call)
{
    int64_t n = gsh_blas_entry_integer(call, 0), lda = gsh_blas_entry_integer(call, 2);
    void *a = gsh_blas_entry_address(call, 1);
    struct gsh_lapack_workspace space = {4, 5, n, 'T'};
    if (n <= 0 || lda < n || !gsh_lapack_launch_has_space(call, &space, 1))
        return false;
    gsh_lapack_launch_begin(call, GSH_LAPACK_GETRI, 0);
    gsh_lapack_launch_matrix(call, 0, a, n, n, lda);
    gsh_lapack_launch_matrix(call, 2, a, n, n, lda);
    int32_t *pivots = gsh_lapack_launch_memory(call, n, sizeof(*pivots));
    if (pivots == NULL)
        return false;
    gsh_lapack_launch_vector(call, 1, pivots, n);
    bool is_done =
        gsh_lapack_launch_read_pivots(call, 3, pivots, n, n) && gsh_blas_entry_launch(call);
    free(pivots);
    return is_done && gsh_lapack_launch_end(call, &space, 1);
}

/* ---- triangular matrices and Cholesky factors ---- */

/* The inverse overwrites the triangle. */
static bool run_triangle(struct gsh_blas_entry_call *call, enum gsh_lapack_routine routine,
                         unsigned options, unsigned n_at)
{
    int64_t n = gsh_blas_entry_integer(call, n_at), lda = gsh_blas_entry_integer(call, n_at + 2);
    void *a = gsh_blas_entry_address(call, n_at + 1);
    if (n <= 0 || lda < n)
        return false;
    gsh_lapack_launch_begin(call, routine, options);
    gsh_lapack_launch_matrix(call, 0, a, n, n, lda);
    gsh_lapack_launch_matrix(call, 1, a, n, n, lda);
    return gsh_blas_entry_launch(call) && gsh_lapack_launch_end(call, NULL, 0);
}

/* uplo, n, a, lda, info */
static bool run_potri(struct gsh_blas_entry_call *call)
{
    char letter = gsh_blas_entry_letter(call, 0);
    return gsh_lapack_launch_is_triangle(letter) &&
           run_triangle(call, GSH_LAPACK_POTRI, gsh_lapack_launch_triangle(letter), 1);
}

/* uplo, diag, n, a, lda, info */
static bool run_trtri(struct gsh_blas_entry_call *call)
{
    char triangle = gsh_blas_entry_letter(call, 0), diagonal = gsh_blas_entry_letter(call, 1);
    return gsh_lapack_launch_is_triangle(triangle) && gsh_lapack_launch_is_diagonal(diagonal) &&
           run_triangle(call, GSH_LAPACK_TRTRI,
                        gsh_lapack_launch_triangle(triangle) | gsh_lapack_launch_diagonal(diagonal),
                        2);
}

/* ---- the table ---- */

const struct gsh_blas_entry_shape gsh_blas_entry_shape_GETRI = {
    .sizes = {0, 0, GSH_BLAS_ENTRY_NONE},
    .matrices = {1, GSH_BLAS_ENTRY_NONE},
    .arguments = 7,
    .info = 6,
    .lapack_routine = GSH_LAPACK_GETRI,
    .run = run_getri,
};
const struct gsh_blas_entry_shape gsh_blas_entry_shape_POTRI = {
    .sizes = {1, 1, GSH_BLAS_ENTRY_NONE},
    .matrices = {2, GSH_BLAS_ENTRY_NONE},
    .arguments = 5 + 1,
    .info = 4,
    .lapack_routine = GSH_LAPACK_POTRI,
    .run = run_potri,
};
const struct gsh_blas_entry_shape gsh_blas_entry_shape_TRTRI = {
    .sizes = {2, 2, GSH_BLAS_ENTRY_NONE},
    .matrices = {3, GSH_BLAS_ENTRY_NONE},
    .arguments = 6 + 2,
    .info = 5,
    .lapack_routine = GSH_LAPACK_TRTRI,
    .run = run_trtri,
};
