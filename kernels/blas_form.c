/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Checked by tests/unit/kernels/test_blas_form.c.
 */
#include "blas_form.h"

/* A matrix stored by columns: as it is (N), transposed (T), or transposed and conjugated (C). */
struct stored {
    char trans;
    int64_t leading;
};

struct strides {
    int64_t row, column;
    bool is_conjugate;
};

/* A dimension of extent 0 or 1 may have any stride. */
static bool describe(int64_t rows, int64_t columns, struct strides strides, struct stored *stored)
{
    if (!strides.is_conjugate && (rows <= 1 || strides.row == 1)) {
        *stored = (struct stored){'N', columns > 1 ? strides.column : GSH_MAX(rows, 1)};
        return stored->leading >= GSH_MAX(rows, 1);
    }
    *stored = (struct stored){strides.is_conjugate ? 'C' : 'T',
                              rows > 1 ? strides.row : GSH_MAX(columns, 1)};
    return (columns <= 1 || strides.column == 1) && stored->leading >= GSH_MAX(columns, 1);
}

static bool describe_as_it_stands(int64_t rows, int64_t columns, struct strides strides,
                                  int64_t *leading)
{
    struct stored stored;
    bool is_known = describe(rows, columns, strides, &stored);
    *leading = stored.leading;
    return is_known && stored.trans == 'N';
}

/* Both matrices of an update are n x k; the launch's second operand is the transpose of BLAS's. */
static bool describe_update(const struct gsh_gemm *g, struct gsh_blas_arguments *to)
{
    bool is_hermitian = gsh_gemm_is_hermitian(g);
    bool is_twofold = g->form == GSH_GEMM_SYR2K || g->form == GSH_GEMM_HER2K;
    struct stored a, b;
    if (g->m != g->n ||
        !describe(g->n, g->k, (struct strides){g->a_row, g->a_col, g->a_is_conjugate}, &a))
        return false;
    to->k = g->k;
    to->trans = a.trans;
    to->a_leading = a.leading;
    if (a.trans == (is_hermitian ? 'T' : 'C'))
        return false;
    if (!is_twofold)
        return true;
    bool is_known = describe(
        g->n, g->k, (struct strides){g->b_col, g->b_row, g->b_is_conjugate != is_hermitian}, &b);
    to->b_leading = b.leading;
    return is_known && a.trans == b.trans;
}

/* BLAS's A is the matrix of which one triangle is read. */
static bool describe_triangle(const struct gsh_gemm *g, struct gsh_blas_arguments *to)
{
    bool is_right = (g->options & GSH_GEMM_RIGHT) != 0, is_trmm = g->form == GSH_GEMM_TRMM;
    int64_t order = is_right ? g->n : g->m;
    struct strides a = {g->a_row, g->a_col, g->a_is_conjugate};
    struct strides b = {g->b_row, g->b_col, g->b_is_conjugate};
    struct stored stored;
    if (g->k != order || !describe(order, order, is_right ? b : a, &stored) ||
        (stored.trans != 'N' && !is_trmm) || (is_trmm && g->beta != 0))
        return false;
    to->a = is_right ? 1 : 0;
    to->b = is_right ? 0 : 1;
    to->trans = stored.trans;
    to->a_leading = stored.leading;
    if (stored.trans != 'N')
        to->triangle = to->triangle == 'U' ? 'L' : 'U';
    return describe_as_it_stands(g->m, g->n, is_right ? a : b, &to->b_leading);
}

bool gsh_blas_form_describe(const struct gsh_gemm *gemm, struct gsh_blas_arguments *arguments)
{
    *arguments =
        (struct gsh_blas_arguments){.side = (gemm->options & GSH_GEMM_RIGHT) != 0 ? 'R' : 'L',
                                    .triangle = (gemm->options & GSH_GEMM_UPPER) != 0 ? 'U' : 'L',
                                    .diagonal = (gemm->options & GSH_GEMM_UNIT) != 0 ? 'U' : 'N',
                                    .m = gemm->m,
                                    .n = gemm->n,
                                    .b = 1};
    return (gsh_gemm_writes_triangle(gemm) ? describe_update(gemm, arguments)
                                           : describe_triangle(gemm, arguments)) &&
           describe_as_it_stands(gemm->m, gemm->n,
                                 (struct strides){gemm->c_row, gemm->c_col, false},
                                 &arguments->c_leading);
}
