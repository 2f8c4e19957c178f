/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels used here are described in lapack.cuh.
 */
#include "cuda_lapack_condition.h"

#include "cuda_mem.h"

#define ROUNDS 2 /* each replaces the vectors by unit vectors (turn_round) */

/* Allocates `count` zeroed elements of `size` bytes. */
static enum gsh_status take_zeros(struct gsh_cuda_lapack_call *call, int64_t count, size_t size,
                                  uint64_t *address)
{
    GSH_TRY(gsh_cuda_lapack_call_take(call, count, size, address));
    return gsh_cuda_mem_clear(*address, (size_t)count * size);
}

enum gsh_status gsh_cuda_lapack_condition_look_at_structure(struct gsh_cuda_lapack_call *call,
                                                            const struct gsh_cuda_view *view,
                                                            int64_t n, uint64_t *marks)
{
    bool is_solve = call->launch->lapack.routine == GSH_LAPACK_SOLVE_CONDITIONED;
    GSH_TRY(take_zeros(call, call->batch, sizeof(uint32_t), marks));
    GSH_TRY(gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_mark_structure,
        (struct gsh_cuda_lapack_args){
            .a = view->address, .c = *marks, .batch = call->batch, .rows = n, .columns = n}));
    GSH_TRY(gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_judge_structure,
                                        (struct gsh_cuda_lapack_args){.a = *marks,
                                                                      .rows = call->batch,
                                                                      .extra = is_solve && n > 3}));
    return gsh_cuda_lapack_call_judge(call);
}

enum gsh_status gsh_cuda_lapack_condition_mirror(struct gsh_cuda_lapack_call *call,
                                                 const struct gsh_cuda_view *view, int64_t n,
                                                 uint64_t marks)
{
    return gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_mirror_triangle,
        (struct gsh_cuda_lapack_args){
            .a = marks, .c = view->address, .batch = call->batch, .rows = n, .columns = n});
}

/* Sets each norm at `norms` to the maximum of itself and the 1-norms of its matrix's columns. */
static enum gsh_status join_norms(struct gsh_cuda_lapack_call *call,
                                  const struct gsh_cuda_view *view, int64_t rows, int64_t columns,
                                  uint64_t norms)
{
    return gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_sum_columns,
                                       (struct gsh_cuda_lapack_args){.a = view->address,
                                                                     .c = norms,
                                                                     .batch = call->batch * columns,
                                                                     .rows = rows,
                                                                     .columns = columns});
}

enum gsh_status gsh_cuda_lapack_condition_take_norms(struct gsh_cuda_lapack_call *call,
                                                     const struct gsh_cuda_view *view, int64_t n,
                                                     bool either, uint64_t *norms)
{
    GSH_TRY(take_zeros(call, call->batch, sizeof(double), norms));
    GSH_TRY(join_norms(call, view, n, n, *norms));
    if (!either)
        return GSH_OK;
    return gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_sum_rows,
        (struct gsh_cuda_lapack_args){
            .a = view->address, .c = *norms, .rows = call->batch * n, .columns = n});
}

static enum gsh_status take_vectors(struct gsh_cuda_lapack_call *call, int64_t n,
                                    struct gsh_cuda_view *view)
{
    *view = (struct gsh_cuda_view){.row = 1, .column = n, .matrix = n * GSH_CUDA_LAPACK_TRIALS};
    return gsh_cuda_lapack_call_take(call, call->batch * view->matrix, call->size, &view->address);
}

/* Replaces x by unit vectors: applies the adjoint inverse to the signs of y, and takes the largest element of each
 * result. */
static enum gsh_status turn_round(struct gsh_cuda_lapack_call *call, int64_t n,
                                  gsh_cuda_lapack_inverse *inverse, void *what,
                                  const struct gsh_cuda_view *x, const struct gsh_cuda_view *y)
{
    GSH_TRY(gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_take_signs,
        (struct gsh_cuda_lapack_args){.a = y->address, .rows = call->batch * y->matrix}));
    GSH_TRY(inverse(call, what, true, y, x));
    return gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_take_units,
        (struct gsh_cuda_lapack_args){
            .a = x->address, .batch = call->batch * GSH_CUDA_LAPACK_TRIALS, .rows = n});
}

enum gsh_status gsh_cuda_lapack_condition_estimate_inverse(struct gsh_cuda_lapack_call *call,
                                                           int64_t n,
                                                           gsh_cuda_lapack_inverse *inverse,
                                                           void *what, uint64_t *norms)
{
    struct gsh_cuda_view x, y;
    GSH_TRY(take_zeros(call, call->batch, sizeof(double), norms));
    GSH_TRY(take_vectors(call, n, &x));
    GSH_TRY(take_vectors(call, n, &y));
    GSH_TRY(gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_begin_estimate,
        (struct gsh_cuda_lapack_args){
            .c = x.address, .batch = call->batch, .rows = n, .columns = GSH_CUDA_LAPACK_TRIALS}));
    for (int round = 0; round <= ROUNDS; round++) {
        GSH_TRY(inverse(call, what, false, &x, &y));
        GSH_TRY(join_norms(call, &y, n, GSH_CUDA_LAPACK_TRIALS, *norms));
        if (round < ROUNDS)
            GSH_TRY(turn_round(call, n, inverse, what, &x, &y));
    }
    return GSH_OK;
}

enum gsh_status gsh_cuda_lapack_condition_look(struct gsh_cuda_lapack_call *call, uint64_t norms,
                                               uint64_t inverse_norms)
{
    return gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_judge_condition,
        (struct gsh_cuda_lapack_args){.a = norms,
                                      .b = inverse_norms,
                                      .rows = call->batch,
                                      .bound = GSH_LAPACK_CONDITION * call->epsilon});
}
