/* SPDX-License-Identifier: Apache-2.0
 *
 * cholesky, potrf, potrs, potri, eigh and eigvalsh: only one triangle of a Hermitian matrix is read.
 */
#include "cuda_lapack_routines.h"

#include <limits.h>

struct symmetric {
    int64_t n;
    gsh_cuda_enum triangle, job;
    struct gsh_cuda_view a, w; /* w: eigenvalues */
    uint64_t pointers;
};

static bool is_lower(const struct gsh_cuda_lapack_call *call)
{
    enum gsh_lapack_routine routine = gsh_cuda_lapack_which(call);
    return routine == GSH_LAPACK_CHOLESKY_LO || routine == GSH_LAPACK_EIGH_LO ||
           routine == GSH_LAPACK_EIGVALSH_LO;
}

/* ---- cholesky ---- */

#define FORWARD(letter, ...)                                                                       \
    static gsh_cuda_enum factor_size_##letter(const struct symmetric *s, void *a, int *elements)   \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##potrf_bufferSize(                                  \
            gsh_cuda_lapack.solver, s->triangle, (int)s->n, a, (int)s->n, elements);               \
    }                                                                                              \
    static gsh_cuda_enum factor_##letter(const struct symmetric *s, void *a, void *work,           \
                                         int elements, int *info)                                  \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##potrf(                                             \
            gsh_cuda_lapack.solver, s->triangle, (int)s->n, a, (int)s->n, work, elements, info);   \
    }                                                                                              \
    static gsh_cuda_enum factor_many_##letter(const struct symmetric *s, void *a, int *info,       \
                                              int count)                                           \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##potrfBatched(                                      \
            gsh_cuda_lapack.solver, s->triangle, (int)s->n, a, (int)s->n, info, count);            \
    }
GSH_CUDA_LAPACK_LETTERS(FORWARD)
#undef FORWARD

#define FORWARD(letter, ...) {factor_size_##letter, factor_##letter, factor_many_##letter},
static const struct {
    gsh_cuda_enum (*size)(const struct symmetric *s, void *a, int *elements);
    gsh_cuda_enum (*one)(const struct symmetric *s, void *a, void *work, int elements, int *info);
    gsh_cuda_enum (*many)(const struct symmetric *s, void *a, int *info, int count);
} potrf[] = {GSH_CUDA_LAPACK_LETTERS(FORWARD)};
#undef FORWARD

static enum gsh_status factor_many(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                   int64_t count)
{
    const struct symmetric *s = what;
    return GSH_CUSOLVER_TIMED(
        call, potrf[call->letter].many(
                  s, GSH_CUDA_POINTER(s->pointers + (uint64_t)first * sizeof(uint64_t)),
                  GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, first)), (int)count));
}

static enum gsh_status factor_one(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                  int64_t count)
{
    const struct symmetric *s = what;
    void *a = GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &s->a, first));
    int elements = 0;
    (void)count;
    GSH_TRY(GSH_CUSOLVER(potrf[call->letter].size(s, a, &elements)));
    GSH_TRY(gsh_cuda_lapack_call_reserve(call, (size_t)elements * call->size, 0));
    return GSH_CUSOLVER_TIMED(
        call, potrf[call->letter].one(s, a, GSH_CUDA_POINTER(call->device), elements,
                                      GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, first))));
}

static enum gsh_status factor(struct gsh_cuda_lapack_call *call, struct symmetric *s)
{
    const struct gsh_cuda_view columns = {s->a.address, 1, s->n, s->a.matrix};
    if (gsh_cuda_lapack_call_is_many(call, s->n)) {
        GSH_TRY(gsh_cuda_lapack_call_point(call, s->a.address, s->a.matrix * (int64_t)call->size,
                                           call->batch, &s->pointers));
        GSH_TRY(gsh_cuda_lapack_call_each(call, GSH_CUDA_LAPACK_MANY, factor_many, s));
    } else {
        GSH_TRY(gsh_cuda_lapack_call_each(call, 1, factor_one, s));
    }
    /* numbers in the triangle that are not finite make the factor's diagonal so */
    return gsh_cuda_lapack_call_look_at_diagonal(call, &columns, s->n, 0);
}

/* Read row by row as column by column, a Hermitian A is its conjugate, and the factor L of A = L L^H is the U of
 * conjugate(A) = U^H U. So everything happens in the output. */
enum gsh_status gsh_cuda_lapack_symmetric_cholesky(struct gsh_cuda_lapack_call *call)
{
    struct symmetric s = {.n = gsh_cuda_lapack_rows(call, 0),
                          .triangle = is_lower(call) ? GSH_CUBLAS_UPPER : GSH_CUBLAS_LOWER};
    struct gsh_cuda_lapack_args args = {.batch = call->batch, .rows = s.n};
    GSH_TRY(gsh_cuda_lapack_call_place(call, 1, true, &s.a));
    GSH_TRY(gsh_cuda_lapack_call_gather_into(call, 0, &s.a));
    GSH_TRY(factor(call, &s));
    args.a = s.a.address;
    args.columns = s.n;
    args.extra = s.triangle == GSH_CUBLAS_LOWER;
    GSH_TRY(gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_clear_triangle, args));
    return gsh_cuda_lapack_call_scatter(call, 1, &s.a, false);
}

/* ---- potrf, potrs and potri ---- */

/* potrf may write anything to the other triangle, whose bytes must stay: the factor is made in separate memory. */
enum gsh_status gsh_cuda_lapack_symmetric_potrf(struct gsh_cuda_lapack_call *call)
{
    struct symmetric s = {.n = gsh_cuda_lapack_rows(call, 0),
                          .triangle = gsh_cuda_lapack_triangle(call)};
    GSH_TRY(gsh_cuda_lapack_call_take_square(call, s.n, &s.a));
    GSH_TRY(gsh_cuda_lapack_call_gather_into(call, 0, &s.a));
    GSH_TRY(factor(call, &s));
    return gsh_cuda_lapack_call_put_triangle(call, 1, &s.a, false, false);
}

struct factored {
    int64_t n, columns;
    gsh_cuda_enum triangle;
    struct gsh_cuda_view a, b;
};

static enum gsh_status solve_one(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                 int64_t count)
{
    const struct factored *f = what;
    (void)count;
    return GSH_CUSOLVER_TIMED(
        call, gsh_cusolver.cusolverDnXpotrs(
                  gsh_cuda_lapack.solver, gsh_cuda_lapack.params, f->triangle, f->n, f->columns,
                  call->type, GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &f->a, first)), f->n,
                  call->type, GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &f->b, first)), f->n,
                  GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, first))));
}

enum gsh_status gsh_cuda_lapack_symmetric_potrs(struct gsh_cuda_lapack_call *call)
{
    struct factored f = {.n = gsh_cuda_lapack_rows(call, 0),
                         .columns = gsh_cuda_lapack_columns(call, 1),
                         .triangle = gsh_cuda_lapack_triangle(call)};
    GSH_TRY(gsh_cuda_lapack_call_borrow(call, 0, &f.a));
    GSH_TRY(gsh_cuda_lapack_call_receive(call, 1, 2, &f.b));
    GSH_TRY(gsh_cuda_lapack_call_each(call, 1, solve_one, &f));
    return gsh_cuda_lapack_call_scatter(call, 2, &f.b, false);
}

/* Solves A X = I and keeps one triangle of X. Declined, for the caller's LAPACK: results that are not finite, and a
 * factor that ?potrf does not make (its diagonal is real). */
enum gsh_status gsh_cuda_lapack_symmetric_potri(struct gsh_cuda_lapack_call *call)
{
    struct factored f = {.n = gsh_cuda_lapack_rows(call, 0),
                         .columns = gsh_cuda_lapack_rows(call, 0),
                         .triangle = gsh_cuda_lapack_triangle(call)};
    GSH_TRY(gsh_cuda_lapack_call_borrow(call, 0, &f.a));
    GSH_TRY(gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_judge_diagonal,
                                        (struct gsh_cuda_lapack_args){.a = f.a.address,
                                                                      .batch = call->batch,
                                                                      .rows = f.n,
                                                                      .columns = true,
                                                                      .extra = f.n,
                                                                      .step = f.a.matrix}));
    GSH_TRY(gsh_cuda_lapack_call_take_square(call, f.n, &f.b));
    GSH_TRY(gsh_cuda_lapack_call_fill_identity(call, &f.b, f.n));
    GSH_TRY(gsh_cuda_lapack_call_each(call, 1, solve_one, &f));
    GSH_TRY(gsh_cuda_lapack_call_look(call, f.b.address, call->batch * f.b.matrix));
    return gsh_cuda_lapack_call_put_triangle(call, 1, &f.b, false, true);
}

/* ---- eigh ---- */

#define FORWARD(letter, orgqr, ormqr, syevj)                                                       \
    static gsh_cuda_enum size_##letter(gsh_cuda_enum job, int n, const void *a, const void *w,     \
                                       int *elements, int count)                                   \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##syevj##Batched_bufferSize(                         \
            gsh_cuda_lapack.solver, job, GSH_CUBLAS_UPPER, n, a, n, w, elements,                   \
            gsh_cuda_lapack.jacobi_symmetric, count);                                              \
    }                                                                                              \
    static gsh_cuda_enum rotate_##letter(gsh_cuda_enum job, int n, void *a, void *w, void *work,   \
                                         int elements, int *info, int count)                       \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##syevj##Batched(                                    \
            gsh_cuda_lapack.solver, job, GSH_CUBLAS_UPPER, n, a, n, w, work, elements, info,       \
            gsh_cuda_lapack.jacobi_symmetric, count);                                              \
    }
GSH_CUDA_LAPACK_LETTERS(FORWARD)
#undef FORWARD

#define FORWARD(letter, ...) {size_##letter, rotate_##letter},
static const struct {
    gsh_cuda_enum (*size)(gsh_cuda_enum job, int n, const void *a, const void *w, int *elements,
                          int count);
    gsh_cuda_enum (*rotate)(gsh_cuda_enum job, int n, void *a, void *w, void *work, int elements,
                            int *info, int count);
} jacobi[] = {GSH_CUDA_LAPACK_LETTERS(FORWARD)};
#undef FORWARD

static enum gsh_status rotate_many(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                   int64_t count)
{
    const struct symmetric *s = what;
    int elements = 0, n = (int)s->n;
    void *a = GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &s->a, first));
    void *w = GSH_CUDA_POINTER(s->w.address + (uint64_t)(first * s->n) * call->real_size);
    GSH_TRY(GSH_CUSOLVER(jacobi[call->letter].size(s->job, n, a, w, &elements, (int)count)));
    GSH_TRY(gsh_cuda_lapack_call_reserve(call, (size_t)elements * call->size, 0));
    return GSH_CUSOLVER_TIMED(
        call, jacobi[call->letter].rotate(s->job, n, a, w, GSH_CUDA_POINTER(call->device), elements,
                                          GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, first)),
                                          (int)count));
}

static enum gsh_status decompose_many(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                      int64_t count)
{
    const struct symmetric *s = what;
    size_t device_bytes = 0, host_bytes = 0;
    void *a = GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &s->a, first));
    void *w = GSH_CUDA_POINTER(s->w.address + (uint64_t)(first * s->n) * call->real_size);
    GSH_TRY(GSH_CUSOLVER(gsh_cusolver.cusolverDnXsyevBatched_bufferSize(
        gsh_cuda_lapack.solver, gsh_cuda_lapack.params, s->job, s->triangle, s->n, call->type, a,
        s->n, call->real_type, w, call->type, &device_bytes, &host_bytes, count)));
    GSH_TRY(gsh_cuda_lapack_call_reserve(call, device_bytes, host_bytes));
    return GSH_CUSOLVER_TIMED(
        call,
        gsh_cusolver.cusolverDnXsyevBatched(
            gsh_cuda_lapack.solver, gsh_cuda_lapack.params, s->job, s->triangle, s->n, call->type,
            a, s->n, call->real_type, w, call->type, GSH_CUDA_POINTER(call->device), device_bytes,
            call->host, host_bytes, GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, first)), count));
}

static enum gsh_status decompose_one(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                     int64_t count)
{
    const struct symmetric *s = what;
    size_t device_bytes = 0, host_bytes = 0;
    void *a = GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &s->a, first));
    void *w = GSH_CUDA_POINTER(s->w.address + (uint64_t)(first * s->n) * call->real_size);
    (void)count;
    GSH_TRY(GSH_CUSOLVER(gsh_cusolver.cusolverDnXsyevd_bufferSize(
        gsh_cuda_lapack.solver, gsh_cuda_lapack.params, s->job, s->triangle, s->n, call->type, a,
        s->n, call->real_type, w, call->type, &device_bytes, &host_bytes)));
    GSH_TRY(gsh_cuda_lapack_call_reserve(call, device_bytes, host_bytes));
    return GSH_CUSOLVER_TIMED(
        call, gsh_cusolver.cusolverDnXsyevd(gsh_cuda_lapack.solver, gsh_cuda_lapack.params, s->job,
                                            s->triangle, s->n, call->type, a, s->n, call->real_type,
                                            w, call->type, GSH_CUDA_POINTER(call->device),
                                            device_bytes, call->host, host_bytes,
                                            GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, first))));
}

/* The triangle that is not read may hold anything, also numbers that are not finite: it is set to zeros. */
static enum gsh_status gather_triangle(struct gsh_cuda_lapack_call *call, struct symmetric *s,
                                       bool is_flipped)
{
    struct gsh_cuda_lapack_args args = {.batch = call->batch, .rows = s->n, .columns = s->n};
    s->a = (struct gsh_cuda_view){
        .row = is_flipped ? s->n : 1, .column = is_flipped ? 1 : s->n, .matrix = s->n * s->n};
    GSH_TRY(gsh_cuda_lapack_call_take(call, call->batch * s->a.matrix, call->size, &s->a.address));
    GSH_TRY(gsh_cuda_lapack_call_gather_into(call, 0, &s->a));
    args.a = s->a.address;
    GSH_TRY(gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_clear_triangle, args));
    return gsh_cuda_lapack_call_look(call, s->a.address, call->batch * s->a.matrix);
}

static enum gsh_status decompose(struct gsh_cuda_lapack_call *call, struct symmetric *s)
{
    int64_t most = GSH_MAX(INT_MAX / s->a.matrix, 1); /* XsyevBatched counts elements in an int */
    bool is_many = gsh_cuda_lapack_call_is_many(call, s->n);
    if (is_many && s->n <= GSH_CUDA_LAPACK_JACOBI)
        return gsh_cuda_lapack_call_each(call, GSH_CUDA_LAPACK_MANY, rotate_many, s);
    if (is_many && gsh_cusolver.cusolverDnXsyevBatched != NULL)
        return gsh_cuda_lapack_call_each(call, GSH_MIN(most, GSH_CUDA_LAPACK_MANY), decompose_many,
                                         s);
    return gsh_cuda_lapack_call_each(call, 1, decompose_one, s);
}

/* The library always reads the upper triangle (cusolverDnXsyevBatched of CUDA 12.6 may fail on the lower one of
 * complex64, github.com/JuliaGPU/CUDA.jl/pull/2577). Read row by row as column by column, a Hermitian A is its
 * conjugate and its lower triangle the upper one; the vectors are conjugate too. They overwrite the matrix. */
enum gsh_status gsh_cuda_lapack_symmetric_eigh(struct gsh_cuda_lapack_call *call)
{
    bool has_vectors = call->launch->nout == 2, is_flipped = is_lower(call);
    struct symmetric s = {.n = gsh_cuda_lapack_rows(call, 0),
                          .triangle = GSH_CUBLAS_UPPER,
                          .job = has_vectors ? GSH_CUSOLVER_VECTORS : GSH_CUSOLVER_NO_VECTORS};
    GSH_TRY(gather_triangle(call, &s, is_flipped));
    GSH_TRY(gsh_cuda_lapack_call_judge(call)); /* an iteration on NaN might never end */
    GSH_TRY(gsh_cuda_lapack_call_place(call, 1, false, &s.w));
    GSH_TRY(decompose(call, &s));
    GSH_TRY(gsh_cuda_lapack_call_scatter(call, 1, &s.w, false));
    s.a.row = 1; /* vectors are column by column */
    s.a.column = s.n;
    return has_vectors ? gsh_cuda_lapack_call_scatter(call, 2, &s.a, is_flipped) : GSH_OK;
}
