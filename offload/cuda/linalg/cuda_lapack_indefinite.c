/* SPDX-License-Identifier: Apache-2.0
 *
 * sytrf, sytrs and sytri: symmetric matrices, complex ones too, by diagonal pivoting with blocks of one row or two.
 * Declined, for the caller's LAPACK: input that is not finite, and factors with a block so small that rounding alone
 * explains it.
 */
#include "cuda_lapack_routines.h"

#define LEAST_BLOCK 8 /* units in the last place of the largest */

struct indefinite {
    int64_t n, columns;
    gsh_cuda_enum triangle;
    struct gsh_cuda_view a, b, pivots; /* pivots: int32_t */
    uint64_t wide_pivots;              /* int64_t; for systems */
};

static uint64_t pivots_at(const struct indefinite *s, int64_t matrix)
{
    return s->pivots.address + (uint64_t)(matrix * s->n) * sizeof(int32_t);
}

static struct indefinite begin(const struct gsh_cuda_lapack_call *call)
{
    return (struct indefinite){.n = gsh_cuda_lapack_rows(call, 0),
                               .triangle = gsh_cuda_lapack_triangle(call)};
}

static enum gsh_status look_at_blocks(struct gsh_cuda_lapack_call *call, const struct indefinite *s,
                                      double bound)
{
    return gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_judge_blocks,
        (struct gsh_cuda_lapack_args){.a = s->a.address,
                                      .b = s->pivots.address,
                                      .batch = call->batch,
                                      .rows = s->n,
                                      .extra = s->triangle == GSH_CUBLAS_UPPER,
                                      .bound = bound});
}

/* ---- sytrf ---- */

#define FORWARD(letter, ...)                                                                       \
    static gsh_cuda_enum size_##letter(int n, void *a, int *elements)                              \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##sytrf_bufferSize(gsh_cuda_lapack.solver, n, a, n,  \
                                                                 elements);                        \
    }                                                                                              \
    static gsh_cuda_enum factor_##letter(gsh_cuda_enum triangle, int n, void *a, int *pivots,      \
                                         void *work, int elements, int *info)                      \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##sytrf(gsh_cuda_lapack.solver, triangle, n, a, n,   \
                                                      pivots, work, elements, info);               \
    }
GSH_CUDA_LAPACK_LETTERS(FORWARD)
#undef FORWARD

#define FORWARD(letter, ...) {size_##letter, factor_##letter},
static const struct {
    gsh_cuda_enum (*size)(int n, void *a, int *elements);
    gsh_cuda_enum (*factor)(gsh_cuda_enum triangle, int n, void *a, int *pivots, void *work,
                            int elements, int *info);
} table[] = {GSH_CUDA_LAPACK_LETTERS(FORWARD)};
#undef FORWARD

static enum gsh_status factor_one(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                  int64_t count)
{
    const struct indefinite *s = what;
    int elements = 0, n = (int)s->n;
    void *a = GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &s->a, first));
    (void)count;
    GSH_TRY(GSH_CUSOLVER(table[call->letter].size(n, a, &elements)));
    GSH_TRY(gsh_cuda_lapack_call_reserve(call, (size_t)elements * call->size, 0));
    return GSH_CUSOLVER_TIMED(
        call, table[call->letter].factor(s->triangle, n, a, GSH_CUDA_POINTER(pivots_at(s, first)),
                                         GSH_CUDA_POINTER(call->device), elements,
                                         GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, first))));
}

/* The other triangle may hold anything, and its bytes must stay: the factor is made in separate memory, with zeros
 * there. */
enum gsh_status gsh_cuda_lapack_indefinite_sytrf(struct gsh_cuda_lapack_call *call)
{
    struct indefinite s = begin(call);
    struct gsh_cuda_lapack_args args = {.batch = call->batch, .rows = s.n, .columns = s.n};
    GSH_TRY(gsh_cuda_lapack_call_take_square(call, s.n, &s.a));
    GSH_TRY(gsh_cuda_lapack_call_gather_into(call, 0, &s.a));
    args.a = s.a.address;
    args.extra = s.triangle == GSH_CUBLAS_LOWER;
    GSH_TRY(gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_clear_triangle, args));
    GSH_TRY(gsh_cuda_lapack_call_look(call, s.a.address, call->batch * s.a.matrix));
    GSH_TRY(gsh_cuda_lapack_call_judge(call)); /* NaN has no pivots */
    GSH_TRY(gsh_cuda_lapack_call_place(call, 2, false, &s.pivots));
    GSH_TRY(gsh_cuda_lapack_call_each(call, 1, factor_one, &s));
    GSH_TRY(look_at_blocks(call, &s, LEAST_BLOCK * call->epsilon));
    GSH_TRY(gsh_cuda_lapack_call_scatter(call, 2, &s.pivots, false));
    return gsh_cuda_lapack_call_put_triangle(call, 1, &s.a, false, false);
}

/* ---- sytrs and sytri ---- */

static enum gsh_status solve_one(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                 int64_t count)
{
    const struct indefinite *s = what;
    size_t device_bytes = 0, host_bytes = 0;
    void *a = GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &s->a, first));
    void *b = GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &s->b, first));
    const int64_t *pivots =
        GSH_CUDA_POINTER(s->wide_pivots + (uint64_t)(first * s->n) * sizeof(int64_t));
    (void)count;
    GSH_TRY(GSH_CUSOLVER(gsh_cusolver.cusolverDnXsytrs_bufferSize(
        gsh_cuda_lapack.solver, s->triangle, s->n, s->columns, call->type, a, s->n, pivots,
        call->type, b, s->n, &device_bytes, &host_bytes)));
    GSH_TRY(gsh_cuda_lapack_call_reserve(call, device_bytes, host_bytes));
    return GSH_CUSOLVER_TIMED(
        call, gsh_cusolver.cusolverDnXsytrs(
                  gsh_cuda_lapack.solver, s->triangle, s->n, s->columns, call->type, a, s->n,
                  pivots, call->type, b, s->n, GSH_CUDA_POINTER(call->device), device_bytes,
                  call->host, host_bytes, GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, first))));
}

/* Takes factors made before, without a zero block, and their pivots. */
static enum gsh_status take_factor(struct gsh_cuda_lapack_call *call, struct indefinite *s)
{
    int64_t count = call->batch * s->n;
    GSH_TRY(gsh_cuda_lapack_call_borrow(call, 0, &s->a));
    GSH_TRY(gsh_cuda_lapack_call_borrow(call, 1, &s->pivots));
    GSH_TRY(look_at_blocks(call, s, 0));
    GSH_TRY(gsh_cuda_lapack_call_take(call, count, sizeof(int64_t), &s->wide_pivots));
    return gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_widen_pivots,
        (struct gsh_cuda_lapack_args){
            .a = s->pivots.address, .c = s->wide_pivots, .rows = count, .step = s->n});
}

/* Solves A X = B, with X in B's memory. cuSOLVER 12.0's Xsytrs reads the pivots without waiting for the kernel that
 * writes them; judging the earlier work waits for it. */
static enum gsh_status solve(struct gsh_cuda_lapack_call *call, struct indefinite *s)
{
    GSH_TRY(gsh_cuda_lapack_call_judge(call));
    return gsh_cuda_lapack_call_each(call, 1, solve_one, s);
}

enum gsh_status gsh_cuda_lapack_indefinite_sytrs(struct gsh_cuda_lapack_call *call)
{
    struct indefinite s = begin(call);
    s.columns = gsh_cuda_lapack_columns(call, 2);
    GSH_TRY(take_factor(call, &s));
    GSH_TRY(gsh_cuda_lapack_call_receive(call, 2, 3, &s.b));
    GSH_TRY(solve(call, &s));
    return gsh_cuda_lapack_call_scatter(call, 3, &s.b, false);
}

/* Solves A X = I and keeps one triangle of X. */
enum gsh_status gsh_cuda_lapack_indefinite_sytri(struct gsh_cuda_lapack_call *call)
{
    struct indefinite s = begin(call);
    s.columns = s.n;
    GSH_TRY(take_factor(call, &s));
    GSH_TRY(gsh_cuda_lapack_call_take_square(call, s.n, &s.b));
    GSH_TRY(gsh_cuda_lapack_call_fill_identity(call, &s.b, s.n));
    GSH_TRY(solve(call, &s));
    GSH_TRY(gsh_cuda_lapack_call_look(call, s.b.address, call->batch * s.b.matrix));
    return gsh_cuda_lapack_call_put_triangle(call, 2, &s.b, false, false);
}
