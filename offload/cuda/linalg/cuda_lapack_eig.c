/* SPDX-License-Identifier: Apache-2.0
 *
 * eig and eigvals of general matrices. Outputs are complex for real matrices too.
 */
#include "cuda_lapack_routines.h"

struct eig {
    int64_t n;
    gsh_cuda_enum job, w_type;
    size_t w_size;
    struct gsh_cuda_view a, w, vectors; /* vectors: as the library writes them */
};

static enum gsh_status decompose(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                 int64_t count)
{
    const struct eig *e = what;
    size_t device_bytes = 0, host_bytes = 0;
    void *a = GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &e->a, first));
    void *w = GSH_CUDA_POINTER(e->w.address + (uint64_t)(first * e->n) * e->w_size);
    void *vectors = e->job == GSH_CUSOLVER_VECTORS
                        ? GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &e->vectors, first))
                        : NULL;
    (void)count;
    GSH_TRY(GSH_CUSOLVER(gsh_cusolver.cusolverDnXgeev_bufferSize(
        gsh_cuda_lapack.solver, gsh_cuda_lapack.params, GSH_CUSOLVER_NO_VECTORS, e->job, e->n,
        call->type, a, e->n, e->w_type, w, call->type, NULL, e->n, call->type, vectors, e->n,
        call->type, &device_bytes, &host_bytes)));
    GSH_TRY(gsh_cuda_lapack_call_reserve(call, device_bytes, host_bytes));
    return GSH_CUSOLVER_TIMED(
        call, gsh_cusolver.cusolverDnXgeev(
                  gsh_cuda_lapack.solver, gsh_cuda_lapack.params, GSH_CUSOLVER_NO_VECTORS, e->job,
                  e->n, call->type, a, e->n, e->w_type, w, call->type, NULL, e->n, call->type,
                  vectors, e->n, call->type, GSH_CUDA_POINTER(call->device), device_bytes,
                  call->host, host_bytes, GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, first))));
}

/* For a real matrix, the library stores the real and imaginary parts of a pair of conjugate vectors in two columns. */
static enum gsh_status give_vectors(struct gsh_cuda_lapack_call *call, const struct eig *e)
{
    struct gsh_cuda_view whole = e->vectors;
    if (gsh_dtype_kind(call->loop) != 'c') {
        GSH_TRY(
            gsh_cuda_lapack_call_take(call, call->batch * whole.matrix, e->w_size, &whole.address));
        GSH_TRY(gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_unpack_vectors,
                                            (struct gsh_cuda_lapack_args){.a = e->vectors.address,
                                                                          .b = e->w.address,
                                                                          .c = whole.address,
                                                                          .batch = call->batch,
                                                                          .rows = e->n,
                                                                          .columns = e->n}));
    }
    return gsh_cuda_lapack_call_scatter(call, 2, &whole, false);
}

enum gsh_status gsh_cuda_lapack_eig(struct gsh_cuda_lapack_call *call)
{
    bool has_vectors = call->launch->nout == 2;
    struct eig e = {.n = gsh_cuda_lapack_rows(call, 0),
                    .job = has_vectors ? GSH_CUSOLVER_VECTORS : GSH_CUSOLVER_NO_VECTORS,
                    .w_type = call->real == GSH_FLOAT32 ? GSH_CUDA_C_32F : GSH_CUDA_C_64F,
                    .w_size = 2 * call->real_size};
    GSH_TRY(gsh_cuda_lapack_call_gather(call, 0, false, &e.a));
    GSH_TRY(gsh_cuda_lapack_call_judge(call)); /* an iteration on NaN might never end */
    GSH_TRY(gsh_cuda_lapack_call_place(call, 1, false, &e.w));
    e.vectors = e.a;
    if (has_vectors)
        GSH_TRY(gsh_cuda_lapack_call_take(call, call->batch * e.a.matrix, call->size,
                                          &e.vectors.address));
    GSH_TRY(gsh_cuda_lapack_call_each(call, 1, decompose, &e));
    if (has_vectors)
        GSH_TRY(give_vectors(call, &e));
    return gsh_cuda_lapack_call_scatter(call, 1, &e.w, false);
}
