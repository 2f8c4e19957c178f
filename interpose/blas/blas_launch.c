/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "blas_launch.h"

#include "host_product.h"
#include "lapack_launch.h"

struct gsh_blas_triangular gsh_blas_launch_read_triangular(const struct gsh_blas_entry_call *call)
{
    return (struct gsh_blas_triangular){.side = gsh_blas_entry_letter(call, 0),
                                        .triangle = gsh_blas_entry_letter(call, 1),
                                        .trans = gsh_blas_entry_letter(call, 2),
                                        .diagonal = gsh_blas_entry_letter(call, 3),
                                        .m = gsh_blas_entry_integer(call, 4),
                                        .n = gsh_blas_entry_integer(call, 5),
                                        .alpha = gsh_blas_entry_factor(call, 6),
                                        .a = gsh_blas_entry_address(call, 7),
                                        .lda = gsh_blas_entry_integer(call, 8),
                                        .b = gsh_blas_entry_address(call, 9),
                                        .ldb = gsh_blas_entry_integer(call, 10)};
}

int64_t gsh_blas_launch_triangle_order(const struct gsh_blas_triangular *t)
{
    return t->side == 'L' ? t->m : t->n;
}

bool gsh_blas_launch_is_legal_triangle(const struct gsh_blas_triangular *t)
{
    return (t->side == 'L' || t->side == 'R') && gsh_lapack_launch_is_triangle(t->triangle) &&
           gsh_lapack_launch_is_transposition(t->trans) &&
           gsh_lapack_launch_is_diagonal(t->diagonal) && t->m >= 0 && t->n >= 0 &&
           t->lda >= GSH_MAX(1, gsh_blas_launch_triangle_order(t)) && t->ldb >= GSH_MAX(1, t->m);
}

struct gsh_blas_view gsh_blas_launch_view(const struct gsh_blas_entry_call *call, void *address,
                                          int64_t leading, char trans)
{
    return (struct gsh_blas_view){.address = address,
                                  .row = trans == 'N' ? 1 : leading,
                                  .column = trans == 'N' ? leading : 1,
                                  .is_conjugate = trans == 'C' && gsh_blas_entry_is_complex(call)};
}

void gsh_blas_launch_place(struct gsh_gemm *gemm, const struct gsh_blas_view *views)
{
    gemm->a_row = views[0].row;
    gemm->a_col = views[0].column;
    gemm->a_is_conjugate = views[0].is_conjugate;
    gemm->b_row = views[1].row;
    gemm->b_col = views[1].column;
    gemm->b_is_conjugate = views[1].is_conjugate;
    gemm->c_row = views[2].row;
    gemm->c_col = views[2].column;
}

bool gsh_blas_launch_run(struct gsh_blas_entry_call *call, const struct gsh_gemm *gemm,
                         const struct gsh_blas_view *views)
{
    struct gsh_launch *launch = &call->call.launch;
    *launch = (struct gsh_launch){
        .kind = GSH_LAUNCH_GEMM, .loop = call->dtype, .nin = 2, .nout = 1, .gemm = *gemm};
    gsh_blas_launch_place(&launch->gemm, views);
    for (unsigned k = 0; k < 3; k++)
        launch->operands[k] = (struct gsh_operand){
            .dtype = call->dtype, .address = (uint64_t)(uintptr_t)views[k].address};
    return gsh_blas_entry_launch(call);
}

void gsh_blas_launch_run_reference(const struct gsh_blas_entry_call *call,
                                   const struct gsh_gemm *gemm, const struct gsh_blas_view *views)
{
    struct gsh_gemm placed = *gemm;
    gsh_blas_launch_place(&placed, views);
    gsh_host_product_run(&placed, call->dtype, views[0].address, views[1].address,
                         views[2].address);
}
