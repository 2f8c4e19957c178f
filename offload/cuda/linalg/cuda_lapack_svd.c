/* SPDX-License-Identifier: Apache-2.0
 *
 * Singular values and vectors of X = U S V^H, where X is the matrix or, if it is wide, its transpose.
 *
 *   up to 32 rows    Jacobi's method, many at a time
 *   square           polar decomposition and eigenvectors of its Hermitian part, several times as fast as QR iteration
 *   tall             the square R, where X = Q R; then U = Q U_R
 *
 * cuSOLVER perturbs a matrix whose singular values come close to 0, so its result is compared with X. Where U or V
 * is not orthogonal or U S V^H is not X, both up to rounding, QR iteration is used instead.
 */
#include "cuda_lapack_svd.h"

#include "cuda_lapack_qr.h"
#include "cuda_mem.h"

#define FEW 16

enum { S_ALONE = 1, U = 1, S = 2, VH = 3 }; /* operands */

struct svd {
    int64_t rows, columns; /* of X, rows >= columns */
    int64_t u_columns;
    bool is_wide, has_vectors;
    struct gsh_cuda_view x, u, s, v; /* v: V, not its transpose */
    struct gsh_cuda_lapack_svd core; /* of a square matrix; its memory is used for each in turn */
    uint64_t tau;
};

/* ---- many small matrices ---- */

static enum gsh_status decompose_many(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                      int64_t count)
{
    const struct svd *svd = what;
    struct gsh_cuda_lapack_svd part = {.rows = svd->rows,
                                       .columns = svd->columns,
                                       .a = gsh_cuda_lapack_at(call, &svd->x, first),
                                       .u = gsh_cuda_lapack_at(call, &svd->u, first),
                                       .v = gsh_cuda_lapack_at(call, &svd->v, first)};
    part.s = svd->s.address + (uint64_t)(first * svd->columns) * call->real_size;
    return gsh_cuda_lapack_svd_methods_jacobi(call, &part, first, count);
}

/* ---- one at a time ---- */

/* Copies the square matrix to decompose: X, or if X has more rows its factor R. */
static enum gsh_status extract(struct gsh_cuda_lapack_call *call, int64_t rows, int64_t columns,
                               uint64_t x, uint64_t to)
{
    struct gsh_cuda_lapack_args args = {
        .a = x, .c = to, .batch = 1, .rows = columns, .columns = columns, .extra = rows};
    GSH_TRY(gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_copy_block, args));
    args.a = to;
    args.extra = 0;
    return rows > columns ? gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_clear_triangle, args)
                          : GSH_OK;
}

/* Tries one method, then the other. */
enum gsh_status gsh_cuda_lapack_svd_core(struct gsh_cuda_lapack_call *call,
                                         const struct gsh_cuda_lapack_svd *core, int64_t rows,
                                         uint64_t x, int64_t matrix)
{
    enum gsh_status status = GSH_DECLINED;
    for (int turn = 0; turn < 2 && status == GSH_DECLINED; turn++) {
        GSH_TRY(gsh_cuda_lapack_call_clear_error(call));
        GSH_TRY(extract(call, rows, core->columns, x, core->a));
        if (turn != 0)
            GSH_TRY(gsh_cuda_lapack_svd_methods_iterate(call, core, matrix));
        else if (core->columns <= GSH_CUDA_LAPACK_JACOBI)
            GSH_TRY(gsh_cuda_lapack_svd_methods_jacobi(call, core, matrix, 1));
        else
            GSH_TRY(gsh_cuda_lapack_svd_methods_polar(call, core, matrix));
        GSH_TRY(extract(call, rows, core->columns, x, core->copy));
        GSH_TRY(gsh_cuda_lapack_svd_methods_compare(call, core, 1));
        status = gsh_cuda_lapack_call_judge(call);
    }
    return status;
}

/* U's first columns are Q times the core's U, the others those of Q. Overwrites X. */
static enum gsh_status expand_u(struct gsh_cuda_lapack_call *call, const struct svd *svd,
                                uint64_t x, uint64_t u, int64_t matrix)
{
    const int64_t m = svd->rows, n = svd->columns;
    const size_t bytes = (size_t)(m * n) * call->size;
    const struct gsh_cuda_lapack_qr qr = {
        .m = m, .columns = svd->u_columns, .reflectors = n, .a = u, .tau = svd->tau};
    GSH_TRY(gsh_cuda_mem_copy(u, x, bytes));
    GSH_TRY(gsh_cuda_lapack_qr_expand(call, &qr, matrix));
    GSH_TRY(gsh_cuda_mem_copy(x, u, bytes));
    return gsh_cuda_lapack_call_multiply(
        call, &(struct gsh_cuda_lapack_product){.m = m,
                                                .n = n,
                                                .k = n,
                                                .count = 1,
                                                .a = {.address = x, .column = m},
                                                .b = {.address = svd->core.u, .column = n},
                                                .c = {.address = u, .column = m},
                                                .alpha = 1});
}

static enum gsh_status decompose_one(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                     int64_t count)
{
    struct svd *svd = what;
    const bool is_tall = svd->rows > svd->columns;
    uint64_t x = gsh_cuda_lapack_at(call, &svd->x, first);
    uint64_t u = gsh_cuda_lapack_at(call, &svd->u, first);
    const struct gsh_cuda_lapack_qr qr = {
        .m = svd->rows, .columns = svd->columns, .a = x, .tau = svd->tau};
    (void)count;
    svd->core.s = svd->s.address + (uint64_t)(first * svd->columns) * call->real_size;
    if (svd->has_vectors)
        svd->core.v = gsh_cuda_lapack_at(call, &svd->v, first);
    if (is_tall)
        GSH_TRY(gsh_cuda_lapack_qr_factor(call, &qr, first));
    else if (svd->has_vectors)
        svd->core.u = u;
    GSH_TRY(gsh_cuda_lapack_svd_core(call, &svd->core, svd->rows, x, first));
    return is_tall && svd->has_vectors ? expand_u(call, svd, x, u, first) : GSH_OK;
}

static enum gsh_status run_large(struct gsh_cuda_lapack_call *call, struct svd *svd)
{
    const int64_t n = svd->columns;
    svd->core = (struct gsh_cuda_lapack_svd){.rows = n, .columns = n};
    GSH_TRY(gsh_cuda_lapack_call_take(call, n, call->size, &svd->tau));
    GSH_TRY(gsh_cuda_lapack_call_take(call, n * n, call->size, &svd->core.a));
    if (!svd->has_vectors || svd->rows > n)
        GSH_TRY(gsh_cuda_lapack_call_take(call, n * n, call->size, &svd->core.u));
    if (!svd->has_vectors)
        GSH_TRY(gsh_cuda_lapack_call_take(call, n * n, call->size, &svd->core.v));
    GSH_TRY(gsh_cuda_lapack_svd_methods_take_checks(call, &svd->core, 1));
    return gsh_cuda_lapack_call_each(call, 1, decompose_one, svd);
}

/* If a matrix fails the comparison and there are few, decomposes them one at a time. */
static enum gsh_status run_small(struct gsh_cuda_lapack_call *call, struct svd *svd)
{
    struct gsh_cuda_lapack_svd all = {.rows = svd->rows,
                                      .columns = svd->columns,
                                      .u = svd->u.address,
                                      .s = svd->s.address,
                                      .v = svd->v.address};
    size_t bytes = (size_t)(call->batch * svd->x.matrix) * call->size;
    GSH_TRY(gsh_cuda_lapack_svd_methods_take_checks(call, &all, call->batch));
    GSH_TRY(gsh_cuda_mem_copy(all.copy, svd->x.address, bytes));
    GSH_TRY(gsh_cuda_lapack_call_each(call, GSH_CUDA_LAPACK_MANY, decompose_many, svd));
    GSH_TRY(gsh_cuda_lapack_svd_methods_compare(call, &all, call->batch));
    enum gsh_status status = gsh_cuda_lapack_call_judge(call);
    if (status != GSH_DECLINED || call->batch > FEW)
        return status;
    GSH_TRY(gsh_cuda_lapack_call_gather_into(call, 0, &svd->x));
    return run_large(call, svd);
}

/* ---- the routine ---- */

/* A = U S V^H, or A^T = U S V^H and so A = conjugate(V) S U^T. */
static enum gsh_status give_vectors(struct gsh_cuda_lapack_call *call, const struct svd *svd)
{
    const struct gsh_cuda_view *u = &svd->u, *v = &svd->v;
    const struct gsh_cuda_view u_turned = {u->address, u->column, 1, u->matrix};
    const struct gsh_cuda_view v_turned = {v->address, v->column, 1, v->matrix};
    GSH_TRY(gsh_cuda_lapack_call_scatter(call, U, svd->is_wide ? v : u, svd->is_wide));
    return gsh_cuda_lapack_call_scatter(call, VH, svd->is_wide ? &u_turned : &v_turned,
                                        !svd->is_wide);
}

static enum gsh_status take_vectors(struct gsh_cuda_lapack_call *call, struct svd *svd)
{
    const int64_t m = svd->rows, n = svd->columns;
    svd->u = (struct gsh_cuda_view){.row = 1, .column = m, .matrix = m * svd->u_columns};
    svd->v = (struct gsh_cuda_view){.row = 1, .column = n, .matrix = n * n};
    GSH_TRY(
        gsh_cuda_lapack_call_take(call, call->batch * svd->u.matrix, call->size, &svd->u.address));
    return gsh_cuda_lapack_call_take(call, call->batch * svd->v.matrix, call->size,
                                     &svd->v.address);
}

enum gsh_status gsh_cuda_lapack_svd(struct gsh_cuda_lapack_call *call)
{
    int64_t m = gsh_cuda_lapack_rows(call, 0), n = gsh_cuda_lapack_columns(call, 0);
    struct svd svd = {.rows = GSH_MAX(m, n), .columns = GSH_MIN(m, n), .is_wide = m < n};
    enum gsh_lapack_routine routine = gsh_cuda_lapack_which(call);
    bool is_small = svd.rows <= GSH_CUDA_LAPACK_JACOBI;
    unsigned s = routine == GSH_LAPACK_SVD ? S_ALONE : S;
    svd.has_vectors = routine != GSH_LAPACK_SVD;
    svd.u_columns = is_small || routine == GSH_LAPACK_SVD_F ? svd.rows : svd.columns;
    GSH_TRY(gsh_cuda_lapack_call_gather(call, 0, svd.is_wide, &svd.x));
    GSH_TRY(gsh_cuda_lapack_call_judge(call)); /* an iteration on NaN might never end */
    GSH_TRY(gsh_cuda_lapack_call_place(call, s, false, &svd.s));
    if (svd.has_vectors || is_small) /* small matrices are compared all together */
        GSH_TRY(take_vectors(call, &svd));
    GSH_TRY(is_small ? run_small(call, &svd) : run_large(call, &svd));
    GSH_TRY(gsh_cuda_lapack_call_scatter(call, s, &svd.s, false));
    return svd.has_vectors ? give_vectors(call, &svd) : GSH_OK;
}
