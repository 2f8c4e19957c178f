/* SPDX-License-Identifier: Apache-2.0
 *
 * Updates of one triangle: ?syrk, ?herk, ?syr2k, ?her2k. Checked by tests/unit/kernels/test_blas_form.c and
 * tests/preload/test_blas_forms.py.
 */
#include "blas_launch.h"

#include "lapack_launch.h"

/* One call: uplo, trans, n, k, alpha, a, lda, (b, ldb,) beta, c, ldc. */
struct update {
    char triangle, trans;
    bool is_hermitian;
    int64_t n, k, lda, ldb, ldc;
    double _Complex alpha, beta;
    void *a, *b, *c;
};

static double _Complex read_factor(const struct gsh_blas_entry_call *call, unsigned k, bool is_real)
{
    return is_real ? gsh_blas_entry_number(call, gsh_blas_entry_address(call, k))
                   : gsh_blas_entry_factor(call, k);
}

/* Without a second matrix the first is used for both. */
static struct update read_update(const struct gsh_blas_entry_call *call)
{
    enum gsh_gemm_form form = call->routine->shape->form;
    bool is_twofold = form == GSH_GEMM_SYR2K || form == GSH_GEMM_HER2K;
    unsigned second = is_twofold ? 7 : 5, beta = is_twofold ? 9 : 7;
    return (struct update){
        .triangle = gsh_blas_entry_letter(call, 0),
        .trans = gsh_blas_entry_letter(call, 1),
        .is_hermitian = form == GSH_GEMM_HERK || form == GSH_GEMM_HER2K,
        .n = gsh_blas_entry_integer(call, 2),
        .k = gsh_blas_entry_integer(call, 3),
        .alpha = read_factor(call, 4, form == GSH_GEMM_HERK),
        .a = gsh_blas_entry_address(call, 5),
        .lda = gsh_blas_entry_integer(call, 6),
        .b = gsh_blas_entry_address(call, second),
        .ldb = gsh_blas_entry_integer(call, second + 1),
        .beta = read_factor(call, beta, form == GSH_GEMM_HERK || form == GSH_GEMM_HER2K),
        .c = gsh_blas_entry_address(call, beta + 1),
        .ldc = gsh_blas_entry_integer(call, beta + 2)};
}

static bool is_transposition(const struct gsh_blas_entry_call *call, const struct update *u)
{
    char other = u->is_hermitian ? 'C' : 'T';
    return u->trans == 'N' || u->trans == other ||
           (u->trans == 'C' && !gsh_blas_entry_is_complex(call));
}

/* False for arguments that BLAS refuses. */
static bool is_legal_update(const struct gsh_blas_entry_call *call, const struct update *u)
{
    int64_t rows = u->trans == 'N' ? u->n : u->k;
    return gsh_lapack_launch_is_triangle(u->triangle) && is_transposition(call, u) && u->n >= 0 &&
           u->k >= 0 && u->lda >= GSH_MAX(1, rows) && u->ldb >= GSH_MAX(1, rows) &&
           u->ldc >= GSH_MAX(1, u->n);
}

static void describe_update(const struct gsh_blas_entry_call *call, const struct update *u,
                            struct gsh_gemm *gemm, struct gsh_blas_view *views)
{
    struct gsh_blas_view second = gsh_blas_launch_view(call, u->b, u->ldb, u->trans);
    *gemm = (struct gsh_gemm){.m = u->n,
                              .n = u->n,
                              .k = u->k,
                              .alpha = u->alpha,
                              .beta = u->beta,
                              .form = call->routine->shape->form,
                              .options = u->triangle == 'U' ? GSH_GEMM_UPPER : 0};
    views[0] = gsh_blas_launch_view(call, u->a, u->lda, u->trans);
    views[1] = (struct gsh_blas_view){.address = u->b,
                                      .row = second.column,
                                      .column = second.row,
                                      .is_conjugate = second.is_conjugate != u->is_hermitian};
    views[2] = gsh_blas_launch_view(call, u->c, u->ldc, 'N');
}

static bool run_update(struct gsh_blas_entry_call *call)
{
    struct update u = read_update(call);
    struct gsh_gemm gemm;
    struct gsh_blas_view views[3];
    if (!is_legal_update(call, &u) || u.n == 0 || u.k == 0 ||
        !gsh_lapack_launch_expect(call, u.alpha != 0))
        return false;
    describe_update(call, &u, &gemm, views);
    return gsh_blas_launch_run(call, &gemm, views);
}

static bool reference_update(struct gsh_blas_entry_call *call)
{
    struct update u = read_update(call);
    struct gsh_gemm gemm;
    struct gsh_blas_view views[3];
    if (!is_legal_update(call, &u))
        return false;
    if ((u.alpha == 0 || u.k == 0) && u.beta == 1)
        return true; /* the diagonal of a Hermitian matrix stays as well */
    describe_update(call, &u, &gemm, views);
    gsh_blas_launch_run_reference(call, &gemm, views);
    return true;
}

#define DEFINE_UPDATE(name)                                                                        \
    const struct gsh_blas_entry_shape gsh_blas_entry_shape_##name = {                              \
        .sizes = {2, 2, 3},                                                                        \
        .matrices = {5, 8, GSH_BLAS_ENTRY_NONE},                                                   \
        .arguments = 10 + 2,                                                                       \
        .info = GSH_BLAS_ENTRY_NONE,                                                               \
        .lapack_routine = GSH_BLAS_ENTRY_NONE,                                                     \
        .form = GSH_GEMM_##name,                                                                   \
        .run = run_update,                                                                         \
        .run_reference = reference_update};
#define DEFINE_TWOFOLD_UPDATE(name)                                                                \
    const struct gsh_blas_entry_shape gsh_blas_entry_shape_##name = {                              \
        .sizes = {2, 2, 3},                                                                        \
        .matrices = {5, 7, 10, GSH_BLAS_ENTRY_NONE},                                               \
        .arguments = 12 + 2,                                                                       \
        .info = GSH_BLAS_ENTRY_NONE,                                                               \
        .lapack_routine = GSH_BLAS_ENTRY_NONE,                                                     \
        .form = GSH_GEMM_##name,                                                                   \
        .run = run_update,                                                                         \
        .run_reference = reference_update};
DEFINE_UPDATE(SYRK)
DEFINE_UPDATE(HERK)
DEFINE_TWOFOLD_UPDATE(SYR2K)
DEFINE_TWOFOLD_UPDATE(HER2K)
