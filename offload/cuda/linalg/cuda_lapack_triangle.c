/* SPDX-License-Identifier: Apache-2.0
 *
 * trtrs, trtri: systems of triangular matrices, and their inverses. Zeros on the diagonal are left to the caller's
 * LAPACK.
 */
#include "cuda_lapack_routines.h"

/* `one`: the number 1. */
#define FORWARD(letter, ...)                                                                       \
    static gsh_cuda_enum trsm_##letter(const struct gsh_cuda_triangular *t, const void *one,       \
                                       const void *a, void *b)                                     \
    {                                                                                              \
        return gsh_cublas.cublas##letter##trsm_v2(                                                 \
            gsh_cuda_lapack.blas, GSH_CUBLAS_LEFT, t->triangle, t->op, t->diagonal, (int)t->n,     \
            (int)t->columns, one, a, (int)t->a.column, b, (int)t->b.column);                       \
    }
GSH_CUDA_LAPACK_LETTERS(FORWARD)
#undef FORWARD

#define FORWARD(letter, ...) trsm_##letter,
static gsh_cuda_enum (*const trsm[])(const struct gsh_cuda_triangular *t, const void *one,
                                     const void *a, void *b) = {GSH_CUDA_LAPACK_LETTERS(FORWARD)};
#undef FORWARD

enum gsh_status gsh_cuda_lapack_triangle_solve(struct gsh_cuda_lapack_call *call, void *what,
                                               int64_t first, int64_t count)
{
    static const float single[2] = {1, 0};
    static const double twofold[2] = {1, 0};
    const struct gsh_cuda_triangular *t = what;
    const void *one = call->real == GSH_FLOAT32 ? (const void *)single : twofold;
    (void)count;
    return GSH_CUBLAS_TIMED(
        call, trsm[call->letter](t, one, GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &t->a, first)),
                                 GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &t->b, first))));
}

/* Prepares systems with so many right-hand sides; the matrices are read-only. */
static enum gsh_status begin(struct gsh_cuda_lapack_call *call, struct gsh_cuda_triangular *t,
                             int64_t columns)
{
    bool is_unit = (call->launch->lapack.options & GSH_LAPACK_UNIT) != 0;
    *t = (struct gsh_cuda_triangular){.n = gsh_cuda_lapack_rows(call, 0),
                                      .columns = columns,
                                      .triangle = gsh_cuda_lapack_triangle(call),
                                      .op = gsh_cuda_lapack_op(call),
                                      .diagonal = is_unit ? GSH_CUBLAS_UNIT : GSH_CUBLAS_NON_UNIT};
    GSH_TRY(gsh_cuda_lapack_call_borrow(call, 0, &t->a));
    return is_unit ? GSH_OK : gsh_cuda_lapack_call_look_at_diagonal(call, &t->a, t->n, 0);
}

enum gsh_status gsh_cuda_lapack_triangle_trtrs(struct gsh_cuda_lapack_call *call)
{
    struct gsh_cuda_triangular t;
    GSH_TRY(begin(call, &t, gsh_cuda_lapack_columns(call, 1)));
    GSH_TRY(gsh_cuda_lapack_call_receive(call, 1, 2, &t.b));
    GSH_TRY(gsh_cuda_lapack_call_each(call, 1, gsh_cuda_lapack_triangle_solve, &t));
    return gsh_cuda_lapack_call_scatter(call, 2, &t.b, false);
}

/* Solves A X = I. Results that are not finite are declined, for the caller's LAPACK. */
enum gsh_status gsh_cuda_lapack_triangle_trtri(struct gsh_cuda_lapack_call *call)
{
    struct gsh_cuda_triangular t;
    GSH_TRY(begin(call, &t, gsh_cuda_lapack_rows(call, 0)));
    GSH_TRY(gsh_cuda_lapack_call_take_square(call, t.n, &t.b));
    GSH_TRY(gsh_cuda_lapack_call_fill_identity(call, &t.b, t.n));
    GSH_TRY(gsh_cuda_lapack_call_each(call, 1, gsh_cuda_lapack_triangle_solve, &t));
    GSH_TRY(gsh_cuda_lapack_call_look(call, t.b.address, call->batch * t.b.matrix));
    return gsh_cuda_lapack_call_put_triangle(call, 1, &t.b, t.diagonal == GSH_CUBLAS_UNIT, false);
}
