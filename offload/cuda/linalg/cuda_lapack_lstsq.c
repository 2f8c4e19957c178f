/* SPDX-License-Identifier: Apache-2.0
 *
 * lstsq: the least-squares solution of least norm, as ?gelsd computes it.
 *
 *   square   A = U S V^H                                 X = V S^+ U^H B
 *   tall     A = Q R, R = U S V^H                        Q^H B: below the first n rows, the residual;
 *                                                        X = V S^+ U^H of the first n
 *   wide     A^T = Q R, R = U S V^H                      conjugate(X) = Q U S^+ V^H conjugate(B)
 *
 * S^+ has 0 for singular values within the tolerance.
 */
#include "cuda_lapack_qr.h"
#include "cuda_lapack_svd.h"
#include "cuda_mem.h"

enum { A, B, X, S }; /* operands */

struct lstsq {
    int64_t rows, columns, right; /* of A, or of A^T where it is wide: rows >= columns */
    bool is_wide;
    struct gsh_cuda_view a, x, s; /* x: `rows` rows, B at first */
    struct gsh_cuda_lapack_svd core;
    uint64_t tau, turned; /* turned: columns x right */
};

/* Overwrites B, the upper rows of x: x = V S^+ U^H B; for a wide A, x = U S^+ V^H B. */
static enum gsh_status solve_core(struct gsh_cuda_lapack_call *call, const struct lstsq *l,
                                  uint64_t x)
{
    const int64_t n = l->columns;
    const uint64_t left = l->is_wide ? l->core.v : l->core.u;
    const uint64_t right = l->is_wide ? l->core.u : l->core.v;
    struct gsh_cuda_lapack_product product = {.op_a = GSH_CUBLAS_OP_C,
                                              .m = n,
                                              .n = l->right,
                                              .k = n,
                                              .count = 1,
                                              .a = {.address = left, .column = n},
                                              .b = {.address = x, .column = l->rows},
                                              .c = {.address = l->turned, .column = n},
                                              .alpha = 1};
    double tolerance = gsh_lapack_tolerance(call->launch->lapack.tolerance, call->loop);
    GSH_TRY(gsh_cuda_lapack_call_multiply(call, &product));
    GSH_TRY(gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_divide_rows,
                                        (struct gsh_cuda_lapack_args){.a = l->turned,
                                                                      .b = l->core.s,
                                                                      .batch = 1,
                                                                      .rows = n,
                                                                      .columns = l->right,
                                                                      .bound = tolerance}));
    product.op_a = GSH_CUBLAS_OP_N;
    product.a.address = right;
    product.b = product.c;
    product.c = (struct gsh_cuda_view){.address = x, .column = l->rows};
    return gsh_cuda_lapack_call_multiply(call, &product);
}

static enum gsh_status solve_one(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                 int64_t count)
{
    struct lstsq *l = what;
    const gsh_cuda_enum adjoint =
        gsh_dtype_kind(call->loop) == 'c' ? GSH_CUBLAS_OP_C : GSH_CUBLAS_OP_T;
    struct gsh_cuda_lapack_qr qr = {.m = l->rows,
                                    .columns = l->columns,
                                    .a = gsh_cuda_lapack_at(call, &l->a, first),
                                    .tau = l->tau};
    struct gsh_cuda_lapack_qr application = qr;
    (void)count;
    application.columns = l->right;
    application.reflectors = l->columns;
    application.c = gsh_cuda_lapack_at(call, &l->x, first);
    application.op = l->is_wide ? GSH_CUBLAS_OP_N : adjoint;
    l->core.s = l->s.address + (uint64_t)(first * l->columns) * call->real_size;
    if (l->rows > l->columns)
        GSH_TRY(gsh_cuda_lapack_qr_factor(call, &qr, first));
    GSH_TRY(gsh_cuda_lapack_svd_core(call, &l->core, l->rows, qr.a, first));
    if (l->rows > l->columns && !l->is_wide)
        GSH_TRY(gsh_cuda_lapack_qr_apply(call, &application, first));
    GSH_TRY(solve_core(call, l, application.c));
    return l->is_wide ? gsh_cuda_lapack_qr_apply(call, &application, first) : GSH_OK;
}

static enum gsh_status take_core(struct gsh_cuda_lapack_call *call, struct lstsq *l)
{
    const int64_t n = l->columns;
    l->core = (struct gsh_cuda_lapack_svd){.rows = n, .columns = n};
    GSH_TRY(gsh_cuda_lapack_call_take(call, n, call->size, &l->tau));
    GSH_TRY(gsh_cuda_lapack_call_take(call, n * l->right, call->size, &l->turned));
    GSH_TRY(gsh_cuda_lapack_call_take(call, n * n, call->size, &l->core.a));
    GSH_TRY(gsh_cuda_lapack_call_take(call, n * n, call->size, &l->core.u));
    GSH_TRY(gsh_cuda_lapack_call_take(call, n * n, call->size, &l->core.v));
    return gsh_cuda_lapack_svd_methods_take_checks(call, &l->core, 1);
}

/* Copies B, or its conjugate, to x, whose further rows are 0. A conjugate uses separate memory, as it is conjugated
 * again on its way to the output. */
static enum gsh_status receive_right(struct gsh_cuda_lapack_call *call, struct lstsq *l)
{
    const int64_t matrix = l->rows * l->right, numbers = call->batch * matrix;
    if (l->is_wide) {
        l->x = (struct gsh_cuda_view){.row = 1, .column = l->rows, .matrix = matrix};
        GSH_TRY(gsh_cuda_lapack_call_take(call, numbers, call->size, &l->x.address));
        GSH_TRY(gsh_cuda_mem_clear(l->x.address, (size_t)numbers * call->size));
        GSH_TRY(gsh_cuda_lapack_call_gather_conjugate(call, B, &l->x));
    } else {
        GSH_TRY(gsh_cuda_lapack_call_place(call, X, false, &l->x));
        GSH_TRY(gsh_cuda_lapack_call_gather_into(call, B, &l->x));
    }
    return gsh_cuda_lapack_call_look(call, l->x.address, numbers);
}

enum gsh_status gsh_cuda_lapack_lstsq(struct gsh_cuda_lapack_call *call)
{
    int64_t m = gsh_cuda_lapack_rows(call, A), n = gsh_cuda_lapack_columns(call, A);
    struct lstsq l = {.rows = GSH_MAX(m, n),
                      .columns = GSH_MIN(m, n),
                      .right = gsh_cuda_lapack_columns(call, B),
                      .is_wide = m < n};
    GSH_TRY(gsh_cuda_lapack_call_gather(call, A, l.is_wide, &l.a));
    GSH_TRY(receive_right(call, &l));
    GSH_TRY(gsh_cuda_lapack_call_judge(call)); /* an iteration on NaN might never end */
    GSH_TRY(gsh_cuda_lapack_call_place(call, S, false, &l.s));
    GSH_TRY(take_core(call, &l));
    GSH_TRY(gsh_cuda_lapack_call_each(call, 1, solve_one, &l));
    GSH_TRY(gsh_cuda_lapack_call_scatter(call, S, &l.s, false));
    return gsh_cuda_lapack_call_scatter(call, X, &l.x, l.is_wide);
}
