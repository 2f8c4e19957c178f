/* SPDX-License-Identifier: Apache-2.0
 *
 * Products with a matrix of which only one triangle is read: ?symm, ?hemm, ?trmm. Checked by
 * tests/unit/kernels/test_blas_form.c and tests/preload/test_blas_forms.py.
 */
#include "blas_launch.h"

#include "blas_number.h"
#include "lapack_launch.h"

/* The arguments of one call. ?symm and ?hemm: side, uplo, m, n, alpha, a, lda, b, ldb, beta, c,
 * ldc. ?trmm: side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb. */
struct product_with_triangle {
    char side, triangle, trans, diagonal;
    int64_t m, n, lda, ldb, ldc;
    double _Complex alpha, beta;
    void *a, *b, *c;
};

static struct product_with_triangle read_symmetric(const struct gsh_blas_entry_call *call)
{
    return (struct product_with_triangle){
        .side = gsh_blas_entry_letter(call, 0),
        .triangle = gsh_blas_entry_letter(call, 1),
        .trans = 'N',
        .diagonal = 'N',
        .m = gsh_blas_entry_integer(call, 2),
        .n = gsh_blas_entry_integer(call, 3),
        .alpha = gsh_blas_number_load(gsh_blas_entry_address(call, 4), call->dtype, 0),
        .a = gsh_blas_entry_address(call, 5),
        .lda = gsh_blas_entry_integer(call, 6),
        .b = gsh_blas_entry_address(call, 7),
        .ldb = gsh_blas_entry_integer(call, 8),
        .beta = gsh_blas_number_load(gsh_blas_entry_address(call, 9), call->dtype, 0),
        .c = gsh_blas_entry_address(call, 10),
        .ldc = gsh_blas_entry_integer(call, 11)};
}

static struct product_with_triangle read_triangular(const struct gsh_blas_entry_call *call)
{
    return (struct product_with_triangle){
        .side = gsh_blas_entry_letter(call, 0),
        .triangle = gsh_blas_entry_letter(call, 1),
        .trans = gsh_blas_entry_letter(call, 2),
        .diagonal = gsh_blas_entry_letter(call, 3),
        .m = gsh_blas_entry_integer(call, 4),
        .n = gsh_blas_entry_integer(call, 5),
        .alpha = gsh_blas_number_load(gsh_blas_entry_address(call, 6), call->dtype, 0),
        .a = gsh_blas_entry_address(call, 7),
        .lda = gsh_blas_entry_integer(call, 8),
        .b = gsh_blas_entry_address(call, 9),
        .ldb = gsh_blas_entry_integer(call, 10),
        .c = gsh_blas_entry_address(call, 9),
        .ldc = gsh_blas_entry_integer(call, 10)};
}

static struct product_with_triangle read_product(const struct gsh_blas_entry_call *call)
{
    return call->routine->shape->form == GSH_GEMM_TRMM ? read_triangular(call)
                                                       : read_symmetric(call);
}

static int64_t order_of_triangle(const struct product_with_triangle *p)
{
    return p->side == 'L' ? p->m : p->n;
}

/* False for arguments that BLAS refuses. */
static bool is_legal_product(const struct product_with_triangle *p)
{
    return (p->side == 'L' || p->side == 'R') && gsh_lapack_launch_is_triangle(p->triangle) &&
           gsh_lapack_launch_is_transposition(p->trans) &&
           gsh_lapack_launch_is_diagonal(p->diagonal) && p->m >= 0 && p->n >= 0 &&
           p->lda >= GSH_MAX(1, order_of_triangle(p)) && p->ldb >= GSH_MAX(1, p->m) &&
           p->ldc >= GSH_MAX(1, p->m);
}

static void describe_with_triangle(const struct gsh_blas_entry_call *call,
                                   const struct product_with_triangle *p, struct gsh_gemm *gemm,
                                   struct gsh_blas_view *views)
{
    bool is_right = p->side == 'R', is_upper = (p->triangle == 'U') == (p->trans == 'N');
    *gemm = (struct gsh_gemm){.m = p->m,
                              .n = p->n,
                              .k = order_of_triangle(p),
                              .alpha = p->alpha,
                              .beta = p->beta,
                              .form = call->routine->shape->form,
                              .options = (is_upper ? GSH_GEMM_UPPER : 0U) |
                                         (p->diagonal == 'U' ? GSH_GEMM_UNIT : 0U) |
                                         (is_right ? GSH_GEMM_RIGHT : 0U)};
    views[is_right ? 1 : 0] = gsh_blas_launch_view(call, p->a, p->lda, p->trans);
    views[is_right ? 0 : 1] = gsh_blas_launch_view(call, p->b, p->ldb, 'N');
    views[2] = gsh_blas_launch_view(call, p->c, p->ldc, 'N');
}

static bool run_with_triangle(struct gsh_blas_entry_call *call)
{
    struct product_with_triangle p = read_product(call);
    struct gsh_gemm gemm;
    struct gsh_blas_view views[3];
    if (!is_legal_product(&p) || p.m == 0 || p.n == 0 ||
        !gsh_lapack_launch_expect(call, p.alpha != 0))
        return false;
    describe_with_triangle(call, &p, &gemm, views);
    return gsh_blas_launch_run(call, &gemm, views);
}

static bool stand_in_with_triangle(struct gsh_blas_entry_call *call)
{
    struct product_with_triangle p = read_product(call);
    struct gsh_gemm gemm;
    struct gsh_blas_view views[3];
    if (!is_legal_product(&p))
        return false;
    if (p.alpha == 0 && p.beta == 1)
        return true;
    describe_with_triangle(call, &p, &gemm, views);
    gsh_blas_launch_stand_in(call, &gemm, views);
    return true;
}

#define DEFINE_SYMMETRIC(name)                                                                     \
    const struct gsh_blas_entry_shape gsh_blas_entry_shape_##name = {                              \
        .sizes = {2, 3, GSH_BLAS_ENTRY_NONE},                                                      \
        .matrices = {5, 7, 10, GSH_BLAS_ENTRY_NONE},                                               \
        .arguments = 12 + 2,                                                                       \
        .info = GSH_BLAS_ENTRY_NONE,                                                               \
        .lends = GSH_BLAS_ENTRY_NONE,                                                              \
        .form = GSH_GEMM_##name,                                                                   \
        .run = run_with_triangle,                                                                  \
        .stand_in = stand_in_with_triangle};
DEFINE_SYMMETRIC(SYMM)
DEFINE_SYMMETRIC(HEMM)

const struct gsh_blas_entry_shape gsh_blas_entry_shape_TRMM = {
    .sizes = {4, 5, GSH_BLAS_ENTRY_NONE},
    .matrices = {7, 9, GSH_BLAS_ENTRY_NONE},
    .arguments = 11 + 4,
    .info = GSH_BLAS_ENTRY_NONE,
    .lends = GSH_BLAS_ENTRY_NONE,
    .form = GSH_GEMM_TRMM,
    .run = run_with_triangle,
    .stand_in = stand_in_with_triangle};
