/* SPDX-License-Identifier: Apache-2.0
 *
 * gels: least squares where A has at least as many rows as columns, and full rank: A = Q R, X = R^-1 Q^H B. Possible
 * zeros on R's diagonal are left to the caller's LAPACK.
 */
#include "cuda_lapack_qr.h"

enum { A, B, FACTORS, X }; /* operands; X has B's rows */

struct gels {
    struct gsh_cuda_lapack_qr factor, application; /* without addresses */
    struct gsh_cuda_triangular system;             /* of the first rows; a: FACTORS, b: X */
};

static enum gsh_status solve_one(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                 int64_t count)
{
    struct gels *gels = what;
    gels->factor.a = gsh_cuda_lapack_at(call, &gels->system.a, first);
    gels->application.a = gels->factor.a;
    gels->application.c = gsh_cuda_lapack_at(call, &gels->system.b, first);
    GSH_TRY(gsh_cuda_lapack_qr_factor(call, &gels->factor, first));
    GSH_TRY(gsh_cuda_lapack_qr_apply(call, &gels->application, first));
    return gsh_cuda_lapack_triangle_solve(call, &gels->system, first, count);
}

enum gsh_status gsh_cuda_lapack_gels(struct gsh_cuda_lapack_call *call)
{
    const int64_t m = gsh_cuda_lapack_rows(call, A), n = gsh_cuda_lapack_columns(call, A);
    const int64_t right = gsh_cuda_lapack_columns(call, B);
    const bool is_pair = gsh_dtype_kind(call->loop) == 'c';
    struct gels gels = {.factor = {.m = m, .columns = n},
                        .application = {.m = m,
                                        .columns = right,
                                        .reflectors = n,
                                        .op = is_pair ? GSH_CUBLAS_OP_C : GSH_CUBLAS_OP_T},
                        .system = {.n = n,
                                   .columns = right,
                                   .triangle = GSH_CUBLAS_UPPER,
                                   .op = GSH_CUBLAS_OP_N,
                                   .diagonal = GSH_CUBLAS_NON_UNIT}};
    GSH_TRY(gsh_cuda_lapack_call_take(call, n, call->size, &gels.factor.tau));
    gels.application.tau = gels.factor.tau;
    GSH_TRY(gsh_cuda_lapack_call_receive(call, A, FACTORS, &gels.system.a));
    GSH_TRY(gsh_cuda_lapack_call_receive(call, B, X, &gels.system.b));
    GSH_TRY(gsh_cuda_lapack_call_each(call, 1, solve_one, &gels));
    GSH_TRY(gsh_cuda_lapack_call_look_at_diagonal(call, &gels.system.a, n,
                                                  GSH_CUDA_LAPACK_LEAST * call->epsilon));
    GSH_TRY(gsh_cuda_lapack_call_scatter(call, FACTORS, &gels.system.a, false));
    return gsh_cuda_lapack_call_scatter(call, X, &gels.system.b, false);
}
