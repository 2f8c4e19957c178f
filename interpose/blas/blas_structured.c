/* SPDX-License-Identifier: Apache-2.0
 *
 * Products with a matrix of which only one triangle is read: ?symm, ?hemm, ?trmm. Checked by
 * tests/unit/kernels/test_blas_form.c and tests/preload/test_blas_forms.py.
 */
#include "blas_launch.h"

#include "lapack_launch.h"

/* One call: C = alpha A B + beta C, or with the factors in the other order. ?trmm: C is B. */
struct product_with_triangle {
    struct gsh_blas_triangular factors;
    double _Complex beta;
    void *c;
    int64_t ldc;
};

/* ?symm and ?hemm: side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc. */
static struct product_with_triangle read_symmetric(const struct gsh_blas_entry_call *call)
{
    return (struct product_with_triangle){.factors = {.side = gsh_blas_entry_letter(call, 0),
                                                      .triangle = gsh_blas_entry_letter(call, 1),
                                                      .trans = 'N',
                                                      .diagonal = 'N',
                                                      .m = gsh_blas_entry_integer(call, 2),
                                                      .n = gsh_blas_entry_integer(call, 3),
                                                      .alpha = gsh_blas_entry_factor(call, 4),
                                                      .a = gsh_blas_entry_address(call, 5),
                                                      .lda = gsh_blas_entry_integer(call, 6),
                                                      .b = gsh_blas_entry_address(call, 7),
                                                      .ldb = gsh_blas_entry_integer(call, 8)},
                                          .beta = gsh_blas_entry_factor(call, 9),
                                          .c = gsh_blas_entry_address(call, 10),
                                          .ldc = gsh_blas_entry_integer(call, 11)};
}

static struct product_with_triangle read_triangular(const struct gsh_blas_entry_call *call)
{
    struct gsh_blas_triangular factors = gsh_blas_launch_read_triangular(call);
    return (struct product_with_triangle){.factors = factors, .c = factors.b, .ldc = factors.ldb};
}

static struct product_with_triangle read_product(const struct gsh_blas_entry_call *call)
{
    return call->routine->shape->form == GSH_GEMM_TRMM ? read_triangular(call)
                                                       : read_symmetric(call);
}

/* False for arguments that BLAS refuses. */
static bool is_legal_product(const struct product_with_triangle *p)
{
    return gsh_blas_launch_is_legal_triangle(&p->factors) && p->ldc >= GSH_MAX(1, p->factors.m);
}

static void describe_with_triangle(const struct gsh_blas_entry_call *call,
                                   const struct product_with_triangle *p, struct gsh_gemm *gemm,
                                   struct gsh_blas_view *views)
{
    const struct gsh_blas_triangular *f = &p->factors;
    bool is_right = f->side == 'R', is_upper = (f->triangle == 'U') == (f->trans == 'N');
    *gemm = (struct gsh_gemm){.m = f->m,
                              .n = f->n,
                              .k = gsh_blas_launch_triangle_order(f),
                              .alpha = f->alpha,
                              .beta = p->beta,
                              .form = call->routine->shape->form,
                              .options = (is_upper ? GSH_GEMM_UPPER : 0U) |
                                         (f->diagonal == 'U' ? GSH_GEMM_UNIT : 0U) |
                                         (is_right ? GSH_GEMM_RIGHT : 0U)};
    views[is_right ? 1 : 0] = gsh_blas_launch_view(call, f->a, f->lda, f->trans);
    views[is_right ? 0 : 1] = gsh_blas_launch_view(call, f->b, f->ldb, 'N');
    views[2] = gsh_blas_launch_view(call, p->c, p->ldc, 'N');
}

static bool run_with_triangle(struct gsh_blas_entry_call *call)
{
    struct product_with_triangle p = read_product(call);
    struct gsh_gemm gemm;
    struct gsh_blas_view views[3];
    if (!is_legal_product(&p) || p.factors.m == 0 || p.factors.n == 0 ||
        !gsh_lapack_launch_expect(call, p.factors.alpha != 0))
        return false;
    describe_with_triangle(call, &p, &gemm, views);
    return gsh_blas_launch_run(call, &gemm, views);
}

static bool reference_with_triangle(struct gsh_blas_entry_call *call)
{
    struct product_with_triangle p = read_product(call);
    struct gsh_gemm gemm;
    struct gsh_blas_view views[3];
    if (!is_legal_product(&p))
        return false;
    if (p.factors.alpha == 0 && p.beta == 1)
        return true;
    describe_with_triangle(call, &p, &gemm, views);
    gsh_blas_launch_run_reference(call, &gemm, views);
    return true;
}

#define DEFINE_SYMMETRIC(name)                                                                     \
    const struct gsh_blas_entry_shape gsh_blas_entry_shape_##name = {                              \
        .sizes = {2, 3, GSH_BLAS_ENTRY_NONE},                                                      \
        .matrices = {5, 7, 10, GSH_BLAS_ENTRY_NONE},                                               \
        .arguments = 12 + 2,                                                                       \
        .info = GSH_BLAS_ENTRY_NONE,                                                               \
        .lapack_routine = GSH_BLAS_ENTRY_NONE,                                                     \
        .form = GSH_GEMM_##name,                                                                   \
        .run = run_with_triangle,                                                                  \
        .run_reference = reference_with_triangle};
DEFINE_SYMMETRIC(SYMM)
DEFINE_SYMMETRIC(HEMM)

const struct gsh_blas_entry_shape gsh_blas_entry_shape_TRMM = {
    .sizes = {4, 5, GSH_BLAS_ENTRY_NONE},
    .matrices = {7, 9, GSH_BLAS_ENTRY_NONE},
    .arguments = 11 + 4,
    .info = GSH_BLAS_ENTRY_NONE,
    .lapack_routine = GSH_BLAS_ENTRY_NONE,
    .form = GSH_GEMM_TRMM,
    .run = run_with_triangle,
    .run_reference = reference_with_triangle};
