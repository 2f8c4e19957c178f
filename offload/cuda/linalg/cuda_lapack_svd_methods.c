/* SPDX-License-Identifier: Apache-2.0
 *
 * cuSOLVER's three methods for the singular value decomposition, and the comparison of their results with the
 * original matrix.
 */
#include "cuda_lapack_svd.h"

#include "cuda_mem.h"

#define TOLERANCE                                                                                  \
    25 /* times the rows and the unit in the last place; the tests of LAPACK allow 30 */

enum { OF_U, OF_V, OF_PRODUCT, COMPARISONS };

#define FORWARD(letter, ...)                                                                       \
    static gsh_cuda_enum size_##letter(const struct gsh_cuda_lapack_svd *svd, int *elements,       \
                                       int count)                                                  \
    {                                                                                              \
        int m = (int)svd->rows, n = (int)svd->columns;                                             \
        return gsh_cusolver.cusolverDn##letter##gesvdjBatched_bufferSize(                          \
            gsh_cuda_lapack.solver, GSH_CUSOLVER_VECTORS, m, n, GSH_CUDA_POINTER(svd->a), m,       \
            GSH_CUDA_POINTER(svd->s), GSH_CUDA_POINTER(svd->u), m, GSH_CUDA_POINTER(svd->v), n,    \
            elements, gsh_cuda_lapack.jacobi, count);                                              \
    }                                                                                              \
    static gsh_cuda_enum gesvdj_##letter(const struct gsh_cuda_lapack_svd *svd, void *work,        \
                                         int elements, int *info, int count)                       \
    {                                                                                              \
        int m = (int)svd->rows, n = (int)svd->columns;                                             \
        return gsh_cusolver.cusolverDn##letter##gesvdjBatched(                                     \
            gsh_cuda_lapack.solver, GSH_CUSOLVER_VECTORS, m, n, GSH_CUDA_POINTER(svd->a), m,       \
            GSH_CUDA_POINTER(svd->s), GSH_CUDA_POINTER(svd->u), m, GSH_CUDA_POINTER(svd->v), n,    \
            work, elements, info, gsh_cuda_lapack.jacobi, count);                                  \
    }
GSH_CUDA_LAPACK_LETTERS(FORWARD)
#undef FORWARD

#define FORWARD(letter, ...) {size_##letter, gesvdj_##letter},
static const struct {
    gsh_cuda_enum (*size)(const struct gsh_cuda_lapack_svd *svd, int *elements, int count);
    gsh_cuda_enum (*gesvdj)(const struct gsh_cuda_lapack_svd *svd, void *work, int elements,
                            int *info, int count);
} table[] = {GSH_CUDA_LAPACK_LETTERS(FORWARD)};
#undef FORWARD

enum gsh_status gsh_cuda_lapack_svd_methods_jacobi(struct gsh_cuda_lapack_call *call,
                                                   const struct gsh_cuda_lapack_svd *svd,
                                                   int64_t matrix, int64_t count)
{
    int elements = 0;
    GSH_TRY(GSH_CUSOLVER(table[call->letter].size(svd, &elements, (int)count)));
    GSH_TRY(gsh_cuda_lapack_call_reserve(call, (size_t)elements * call->size, 0));
    return GSH_CUSOLVER_TIMED(
        call, table[call->letter].gesvdj(svd, GSH_CUDA_POINTER(call->device), elements,
                                         GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, matrix)),
                                         (int)count));
}

enum gsh_status gsh_cuda_lapack_svd_methods_polar(struct gsh_cuda_lapack_call *call,
                                                  const struct gsh_cuda_lapack_svd *svd,
                                                  int64_t matrix)
{
    static double perturbation; /* not used: the result is compared with the matrix */
    size_t device_bytes = 0, host_bytes = 0;
    int64_t n = svd->columns;
    void *a = GSH_CUDA_POINTER(svd->a), *s = GSH_CUDA_POINTER(svd->s);
    void *u = GSH_CUDA_POINTER(svd->u), *v = GSH_CUDA_POINTER(svd->v);
    GSH_TRY(GSH_CUSOLVER(gsh_cusolver.cusolverDnXgesvdp_bufferSize(
        gsh_cuda_lapack.solver, gsh_cuda_lapack.params, GSH_CUSOLVER_VECTORS, 0, n, n, call->type,
        a, n, call->real_type, s, call->type, u, n, call->type, v, n, call->type, &device_bytes,
        &host_bytes)));
    GSH_TRY(gsh_cuda_lapack_call_reserve(call, device_bytes, host_bytes));
    return GSH_CUSOLVER_TIMED(
        call, gsh_cusolver.cusolverDnXgesvdp(
                  gsh_cuda_lapack.solver, gsh_cuda_lapack.params, GSH_CUSOLVER_VECTORS, 0, n, n,
                  call->type, a, n, call->real_type, s, call->type, u, n, call->type, v, n,
                  call->type, GSH_CUDA_POINTER(call->device), device_bytes, call->host, host_bytes,
                  GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, matrix)), &perturbation));
}

/* V is the conjugate transpose of QR iteration's result: multiplies that by the identity. */
static enum gsh_status turn_v(struct gsh_cuda_lapack_call *call,
                              const struct gsh_cuda_lapack_svd *svd)
{
    int64_t n = svd->columns;
    GSH_TRY(gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_make_identity,
        (struct gsh_cuda_lapack_args){.a = svd->gram, .batch = 1, .rows = n, .columns = n}));
    return gsh_cuda_lapack_call_multiply(
        call, &(struct gsh_cuda_lapack_product){.op_a = GSH_CUBLAS_OP_C,
                                                .m = n,
                                                .n = n,
                                                .k = n,
                                                .count = 1,
                                                .a = {.address = svd->copy, .column = n},
                                                .b = {.address = svd->gram, .column = n},
                                                .c = {.address = svd->v, .column = n},
                                                .alpha = 1});
}

enum gsh_status gsh_cuda_lapack_svd_methods_iterate(struct gsh_cuda_lapack_call *call,
                                                    const struct gsh_cuda_lapack_svd *svd,
                                                    int64_t matrix)
{
    size_t device_bytes = 0, host_bytes = 0;
    int64_t n = svd->columns;
    void *a = GSH_CUDA_POINTER(svd->a), *s = GSH_CUDA_POINTER(svd->s);
    void *u = GSH_CUDA_POINTER(svd->u), *vh = GSH_CUDA_POINTER(svd->copy);
    GSH_TRY(GSH_CUSOLVER(gsh_cusolver.cusolverDnXgesvd_bufferSize(
        gsh_cuda_lapack.solver, gsh_cuda_lapack.params, 'A', 'A', n, n, call->type, a, n,
        call->real_type, s, call->type, u, n, call->type, vh, n, call->type, &device_bytes,
        &host_bytes)));
    GSH_TRY(gsh_cuda_lapack_call_reserve(call, device_bytes, host_bytes));
    GSH_TRY(GSH_CUSOLVER_TIMED(
        call, gsh_cusolver.cusolverDnXgesvd(
                  gsh_cuda_lapack.solver, gsh_cuda_lapack.params, 'A', 'A', n, n, call->type, a, n,
                  call->real_type, s, call->type, u, n, call->type, vh, n, call->type,
                  GSH_CUDA_POINTER(call->device), device_bytes, call->host, host_bytes,
                  GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, matrix)))));
    return turn_v(call, svd);
}

/* ---- comparison ---- */

enum gsh_status gsh_cuda_lapack_svd_methods_take_checks(struct gsh_cuda_lapack_call *call,
                                                        struct gsh_cuda_lapack_svd *svd,
                                                        int64_t count)
{
    int64_t elements = count * svd->rows * svd->columns;
    GSH_TRY(gsh_cuda_lapack_call_take(call, elements, call->size, &svd->copy));
    GSH_TRY(gsh_cuda_lapack_call_take(call, elements, call->size, &svd->scaled));
    GSH_TRY(gsh_cuda_lapack_call_take(call, COMPARISONS * count, sizeof(uint64_t), &svd->sums));
    return gsh_cuda_lapack_call_take(call, count * svd->rows * svd->rows, call->size, &svd->gram);
}

/* Runs a comparison kernel on `count` matrices; their sum of squares begins at 0. */
static enum gsh_status compare(struct gsh_cuda_lapack_call *call,
                               const struct gsh_cuda_lapack_svd *svd, int comparison, int64_t count,
                               struct gsh_cuda_lapack_args args)
{
    size_t bytes = (size_t)count * sizeof(uint64_t);
    args.c = svd->sums + (uint64_t)comparison * bytes;
    args.batch = count * args.columns;
    args.bound = TOLERANCE * (double)svd->rows * call->epsilon;
    GSH_TRY(gsh_cuda_mem_clear(args.c, bytes));
    return gsh_cuda_lapack_call_kernel(call,
                                       comparison == OF_PRODUCT
                                           ? GSH_CUDA_LAPACK_compare_with_first
                                           : GSH_CUDA_LAPACK_compare_with_identity,
                                       args);
}

/* Compares square matrices of n rows with orthogonal ones. */
static enum gsh_status compare_orthogonal(struct gsh_cuda_lapack_call *call,
                                          const struct gsh_cuda_lapack_svd *svd, int comparison,
                                          int64_t count)
{
    const int64_t n = comparison == OF_U ? svd->rows : svd->columns;
    const struct gsh_cuda_view view = {
        .address = comparison == OF_U ? svd->u : svd->v, .column = n, .matrix = n * n};
    const struct gsh_cuda_view gram = {.address = svd->gram, .column = n, .matrix = n * n};
    GSH_TRY(gsh_cuda_lapack_call_multiply(call,
                                          &(struct gsh_cuda_lapack_product){.op_a = GSH_CUBLAS_OP_C,
                                                                            .m = n,
                                                                            .n = n,
                                                                            .k = n,
                                                                            .count = count,
                                                                            .a = view,
                                                                            .b = view,
                                                                            .c = gram,
                                                                            .alpha = 1}));
    return compare(call, svd, comparison, count,
                   (struct gsh_cuda_lapack_args){.a = svd->gram, .rows = n, .columns = n});
}

/* Compares copy - u s v^H with the largest singular value. */
static enum gsh_status compare_product(struct gsh_cuda_lapack_call *call,
                                       const struct gsh_cuda_lapack_svd *svd, int64_t count)
{
    const int64_t m = svd->rows, n = svd->columns;
    struct gsh_cuda_lapack_args args = {.a = svd->u,
                                        .c = svd->scaled,
                                        .batch = count,
                                        .rows = m,
                                        .columns = n,
                                        .extra = m,
                                        .step = m * m};
    GSH_TRY(gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_copy_block, args));
    args.a = svd->scaled;
    args.b = svd->s;
    GSH_TRY(gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_scale_columns, args));
    GSH_TRY(gsh_cuda_lapack_call_multiply(
        call, &(struct gsh_cuda_lapack_product){
                  .op_b = GSH_CUBLAS_OP_C,
                  .m = m,
                  .n = n,
                  .k = n,
                  .count = count,
                  .a = {.address = svd->scaled, .column = m, .matrix = m * n},
                  .b = {.address = svd->v, .column = n, .matrix = n * n},
                  .c = {.address = svd->copy, .column = m, .matrix = m * n},
                  .alpha = -1,
                  .beta = 1}));
    args.a = svd->copy;
    return compare(call, svd, OF_PRODUCT, count, args);
}

enum gsh_status gsh_cuda_lapack_svd_methods_compare(struct gsh_cuda_lapack_call *call,
                                                    const struct gsh_cuda_lapack_svd *svd,
                                                    int64_t count)
{
    GSH_TRY(compare_orthogonal(call, svd, OF_U, count));
    GSH_TRY(compare_orthogonal(call, svd, OF_V, count));
    return compare_product(call, svd, count);
}
