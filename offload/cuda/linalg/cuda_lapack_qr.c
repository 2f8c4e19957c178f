/* SPDX-License-Identifier: Apache-2.0
 *
 * QR by Householder reflectors: the factorisation, Q from its reflectors, and products with Q.
 */
#include "cuda_lapack_qr.h"

/* ---- one at a time ---- */

static gsh_cuda_enum side_of(const struct gsh_cuda_lapack_qr *qr)
{
    return qr->is_right ? GSH_CUBLAS_RIGHT : GSH_CUBLAS_LEFT;
}

static int rows_of_c(const struct gsh_cuda_lapack_qr *qr)
{
    return (int)(qr->is_right ? qr->columns : qr->m);
}

static int columns_of_c(const struct gsh_cuda_lapack_qr *qr)
{
    return (int)(qr->is_right ? qr->m : qr->columns);
}

#define FORWARD(letter, orgqr, ormqr, ...)                                                         \
    static gsh_cuda_enum factor_size_##letter(const struct gsh_cuda_lapack_qr *qr, int *elements)  \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##geqrf_bufferSize(                                  \
            gsh_cuda_lapack.solver, (int)qr->m, (int)qr->columns, GSH_CUDA_POINTER(qr->a),         \
            (int)qr->m, elements);                                                                 \
    }                                                                                              \
    static gsh_cuda_enum factor_##letter(const struct gsh_cuda_lapack_qr *qr, void *work,          \
                                         int elements, int *info)                                  \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##geqrf(                                             \
            gsh_cuda_lapack.solver, (int)qr->m, (int)qr->columns, GSH_CUDA_POINTER(qr->a),         \
            (int)qr->m, GSH_CUDA_POINTER(qr->tau), work, elements, info);                          \
    }                                                                                              \
    static gsh_cuda_enum form_size_##letter(const struct gsh_cuda_lapack_qr *qr, int *elements)    \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##orgqr##_bufferSize(                                \
            gsh_cuda_lapack.solver, (int)qr->m, (int)qr->columns, (int)qr->reflectors,             \
            GSH_CUDA_POINTER(qr->a), (int)qr->m, GSH_CUDA_POINTER(qr->tau), elements);             \
    }                                                                                              \
    static gsh_cuda_enum form_##letter(const struct gsh_cuda_lapack_qr *qr, void *work,            \
                                       int elements, int *info)                                    \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##orgqr(                                             \
            gsh_cuda_lapack.solver, (int)qr->m, (int)qr->columns, (int)qr->reflectors,             \
            GSH_CUDA_POINTER(qr->a), (int)qr->m, GSH_CUDA_POINTER(qr->tau), work, elements, info); \
    }                                                                                              \
    static gsh_cuda_enum apply_size_##letter(const struct gsh_cuda_lapack_qr *qr, int *elements)   \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##ormqr##_bufferSize(                                \
            gsh_cuda_lapack.solver, side_of(qr), qr->op, rows_of_c(qr), columns_of_c(qr),          \
            (int)qr->reflectors, GSH_CUDA_POINTER(qr->a), (int)qr->m, GSH_CUDA_POINTER(qr->tau),   \
            GSH_CUDA_POINTER(qr->c), rows_of_c(qr), elements);                                     \
    }                                                                                              \
    static gsh_cuda_enum apply_##letter(const struct gsh_cuda_lapack_qr *qr, void *work,           \
                                        int elements, int *info)                                   \
    {                                                                                              \
        return gsh_cusolver.cusolverDn##letter##ormqr(                                             \
            gsh_cuda_lapack.solver, side_of(qr), qr->op, rows_of_c(qr), columns_of_c(qr),          \
            (int)qr->reflectors, GSH_CUDA_POINTER(qr->a), (int)qr->m, GSH_CUDA_POINTER(qr->tau),   \
            GSH_CUDA_POINTER(qr->c), rows_of_c(qr), work, elements, info);                         \
    }                                                                                              \
    static gsh_cuda_enum geqrf_##letter(int m, int n, void *a, void *tau, int *info, int count)    \
    {                                                                                              \
        return gsh_cublas.cublas##letter##geqrfBatched(gsh_cuda_lapack.blas, m, n, a, m, tau,      \
                                                       info, count);                               \
    }
GSH_CUDA_LAPACK_LETTERS(FORWARD)
#undef FORWARD

typedef gsh_cuda_enum size_function(const struct gsh_cuda_lapack_qr *qr, int *elements);
typedef gsh_cuda_enum work_function(const struct gsh_cuda_lapack_qr *qr, void *work, int elements,
                                    int *info);
#define FORWARD(letter, ...)                                                                       \
    {factor_size_##letter, factor_##letter, form_size_##letter, form_##letter,                     \
     apply_size_##letter,  apply_##letter,  geqrf_##letter},
static const struct {
    size_function *factor_size;
    work_function *factor;
    size_function *form_size;
    work_function *form;
    size_function *apply_size;
    work_function *apply;
    gsh_cuda_enum (*geqrf)(int m, int n, void *a, void *tau, int *info, int count);
} table[] = {GSH_CUDA_LAPACK_LETTERS(FORWARD)};
#undef FORWARD

static enum gsh_status work_on(struct gsh_cuda_lapack_call *call,
                               const struct gsh_cuda_lapack_qr *qr, int64_t matrix,
                               size_function *size, work_function *work)
{
    int elements = 0;
    GSH_TRY(GSH_CUSOLVER(size(qr, &elements)));
    GSH_TRY(gsh_cuda_lapack_call_reserve(call, (size_t)elements * call->size, 0));
    return GSH_CUSOLVER_TIMED(call, work(qr, GSH_CUDA_POINTER(call->device), elements,
                                         GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, matrix))));
}

enum gsh_status gsh_cuda_lapack_qr_factor(struct gsh_cuda_lapack_call *call,
                                          const struct gsh_cuda_lapack_qr *qr, int64_t matrix)
{
    return work_on(call, qr, matrix, table[call->letter].factor_size, table[call->letter].factor);
}

enum gsh_status gsh_cuda_lapack_qr_expand(struct gsh_cuda_lapack_call *call,
                                          const struct gsh_cuda_lapack_qr *qr, int64_t matrix)
{
    return work_on(call, qr, matrix, table[call->letter].form_size, table[call->letter].form);
}

enum gsh_status gsh_cuda_lapack_qr_apply(struct gsh_cuda_lapack_call *call,
                                         const struct gsh_cuda_lapack_qr *qr, int64_t matrix)
{
    return work_on(call, qr, matrix, table[call->letter].apply_size, table[call->letter].apply);
}

/* ---- the routines ---- */

struct batch {
    int64_t m, n, reflectors, columns; /* columns: of Q */
    struct gsh_cuda_view a, tau;
    uint64_t a_pointers, tau_pointers;
};

static struct gsh_cuda_lapack_qr one_of(const struct gsh_cuda_lapack_call *call,
                                        const struct batch *batch, int64_t columns, int64_t matrix)
{
    return (struct gsh_cuda_lapack_qr){.m = batch->m,
                                       .columns = columns,
                                       .reflectors = batch->reflectors,
                                       .a = gsh_cuda_lapack_at(call, &batch->a, matrix),
                                       .tau = gsh_cuda_lapack_at(call, &batch->tau, matrix)};
}

static enum gsh_status factor_one(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                  int64_t count)
{
    const struct batch *batch = what;
    const struct gsh_cuda_lapack_qr qr = one_of(call, batch, batch->n, first);
    (void)count;
    return gsh_cuda_lapack_qr_factor(call, &qr, first);
}

static enum gsh_status expand_one(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                  int64_t count)
{
    const struct batch *batch = what;
    const struct gsh_cuda_lapack_qr qr = one_of(call, batch, batch->columns, first);
    (void)count;
    return gsh_cuda_lapack_qr_expand(call, &qr, first);
}

static enum gsh_status factor_many(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                   int64_t count)
{
    const struct batch *batch = what;
    int info = 0; /* of the arguments */
    uint64_t skip = (uint64_t)first * sizeof(uint64_t);
    return GSH_CUBLAS_TIMED(
        call, table[call->letter].geqrf(
                  (int)batch->m, (int)batch->n, GSH_CUDA_POINTER(batch->a_pointers + skip),
                  GSH_CUDA_POINTER(batch->tau_pointers + skip), &info, (int)count));
}

static enum gsh_status point(struct gsh_cuda_lapack_call *call, const struct gsh_cuda_view *view,
                             uint64_t *pointers)
{
    return gsh_cuda_lapack_call_point(call, view->address, view->matrix * (int64_t)call->size,
                                      call->batch, pointers);
}

static struct batch describe(const struct gsh_cuda_lapack_call *call)
{
    int64_t m = gsh_cuda_lapack_rows(call, 0), n = gsh_cuda_lapack_columns(call, 0);
    return (struct batch){.m = m, .n = n, .reflectors = GSH_MIN(m, n)};
}

/* Judges before the first output is written, which may be the input: NumPy needs the input if a number is not finite.
 * Nothing else can go wrong, so nothing waits for the factorisation. */
enum gsh_status gsh_cuda_lapack_qr_raw(struct gsh_cuda_lapack_call *call)
{
    struct batch batch = describe(call);
    GSH_TRY(gsh_cuda_lapack_call_gather(call, 0, false, &batch.a));
    GSH_TRY(gsh_cuda_lapack_call_judge(call));
    GSH_TRY(gsh_cuda_lapack_call_place(call, 2, false, &batch.tau));
    if (gsh_cuda_lapack_call_is_many(call, GSH_MAX(batch.m, batch.n))) {
        GSH_TRY(point(call, &batch.a, &batch.a_pointers));
        GSH_TRY(point(call, &batch.tau, &batch.tau_pointers));
        GSH_TRY(gsh_cuda_lapack_call_each(call, GSH_CUDA_LAPACK_MANY, factor_many, &batch));
    } else {
        GSH_TRY(gsh_cuda_lapack_call_each(call, 1, factor_one, &batch));
    }
    call->is_judged = true;
    GSH_TRY(gsh_cuda_lapack_call_scatter(call, 1, &batch.a, false));
    return gsh_cuda_lapack_call_scatter(call, 2, &batch.tau, false);
}

static enum gsh_status expand_many(struct gsh_cuda_lapack_call *call, const struct batch *batch,
                                   struct gsh_cuda_view *q)
{
    GSH_TRY(gsh_cuda_lapack_call_place(call, 2, false, q));
    return gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_multiply_reflectors,
                                       (struct gsh_cuda_lapack_args){.a = batch->a.address,
                                                                     .b = batch->tau.address,
                                                                     .c = q->address,
                                                                     .batch = call->batch,
                                                                     .rows = batch->m,
                                                                     .columns = batch->columns,
                                                                     .extra = batch->reflectors,
                                                                     .step = batch->a.matrix});
}

/* Overwrites the reflectors, in memory wide enough for both, with Q. Nothing is judged: reflectors that are not
 * finite make Q not finite, and NumPy reports nothing either. */
enum gsh_status gsh_cuda_lapack_qr_form(struct gsh_cuda_lapack_call *call)
{
    struct batch batch = describe(call);
    struct gsh_cuda_view q;
    batch.columns = gsh_cuda_lapack_columns(call, 2);
    batch.a = (struct gsh_cuda_view){
        .row = 1, .column = batch.m, .matrix = batch.m * GSH_MAX(batch.n, batch.columns)};
    GSH_TRY(gsh_cuda_lapack_call_take(call, call->batch * batch.a.matrix, call->size,
                                      &batch.a.address));
    GSH_TRY(gsh_cuda_lapack_call_gather_into(call, 0, &batch.a));
    GSH_TRY(gsh_cuda_lapack_call_borrow(call, 1, &batch.tau));
    q = batch.a;
    if (gsh_cuda_lapack_call_is_many(call, GSH_MAX(batch.m, batch.n)))
        GSH_TRY(expand_many(call, &batch, &q));
    else
        GSH_TRY(gsh_cuda_lapack_call_each(call, 1, expand_one, &batch));
    call->is_judged = true;
    return gsh_cuda_lapack_call_scatter(call, 2, &q, false);
}

/* ---- products ---- */

struct application {
    struct gsh_cuda_lapack_qr qr; /* without addresses */
    struct gsh_cuda_view a, tau, c;
};

static enum gsh_status apply_one(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                 int64_t count)
{
    const struct application *application = what;
    struct gsh_cuda_lapack_qr qr = application->qr;
    (void)count;
    qr.a = gsh_cuda_lapack_at(call, &application->a, first);
    qr.tau = gsh_cuda_lapack_at(call, &application->tau, first);
    qr.c = gsh_cuda_lapack_at(call, &application->c, first);
    return gsh_cuda_lapack_qr_apply(call, &qr, first);
}

/* Where Q is on its right side, C is described as its transpose: row by row, that is C column by column. The library
 * accepts only the transposition of the type: not "C" for real, not "T" for complex numbers. */
enum gsh_status gsh_cuda_lapack_qr_ormqr(struct gsh_cuda_lapack_call *call)
{
    bool is_right = (call->launch->lapack.options & GSH_LAPACK_RIGHT) != 0;
    struct application application = {.qr = {.m = gsh_cuda_lapack_rows(call, 0),
                                             .columns = gsh_cuda_lapack_columns(call, 2),
                                             .reflectors = gsh_cuda_lapack_columns(call, 0),
                                             .op = gsh_cuda_lapack_op(call),
                                             .is_right = is_right}};
    GSH_TRY(gsh_cuda_lapack_call_borrow(call, 0, &application.a));
    GSH_TRY(gsh_cuda_lapack_call_borrow(call, 1, &application.tau));
    GSH_TRY(gsh_cuda_lapack_call_place(call, 3, is_right, &application.c));
    GSH_TRY(gsh_cuda_lapack_call_gather_into(call, 2, &application.c));
    GSH_TRY(
        gsh_cuda_lapack_call_look(call, application.c.address, call->batch * application.c.matrix));
    GSH_TRY(gsh_cuda_lapack_call_each(call, 1, apply_one, &application));
    return gsh_cuda_lapack_call_scatter(call, 3, &application.c, false);
}
