/* SPDX-License-Identifier: Apache-2.0
 *
 * solve, inv, det, slogdet, getrf, getrs and getri, and the conditioned forms of solve and inv: LU with partial
 * pivoting of the matrices themselves (not of their transposes, so that pivots and singularity are LAPACK's up to
 * rounding). Declined, for the caller's LAPACK: a factor with a pivot so small that rounding alone explains it.
 */
#include "cuda_lapack_condition.h"
#include "cuda_lapack_routines.h"

struct lu {
    int64_t rows, n, least; /* of a: rows, columns, the smaller of both */
    int64_t columns;        /* of b */
    gsh_cuda_enum op;       /* on a, when systems are solved */
    struct gsh_cuda_view a, b;
    bool is_many;
    uint64_t pivots; /* `least` for each matrix, of pivot_bytes */
    size_t pivot_bytes;
    uint64_t a_pointers, b_pointers; /* is_many */
};

/* ---- many at a time ---- */

#define FORWARD(letter, ...)                                                                       \
    static gsh_cuda_enum getrf_##letter(int n, void *a, int *pivots, int *info, int count)         \
    {                                                                                              \
        return gsh_cublas.cublas##letter##getrfBatched(gsh_cuda_lapack.blas, n, a, n, pivots,      \
                                                       info, count);                               \
    }                                                                                              \
    static gsh_cuda_enum getrs_##letter(gsh_cuda_enum op, int n, int columns, void *a,             \
                                        int *pivots, void *b, int *info, int count)                \
    {                                                                                              \
        return gsh_cublas.cublas##letter##getrsBatched(gsh_cuda_lapack.blas, op, n, columns, a, n, \
                                                       pivots, b, n, info, count);                 \
    }                                                                                              \
    static gsh_cuda_enum getri_##letter(int n, void *a, int *pivots, void *c, int *info,           \
                                        int count)                                                 \
    {                                                                                              \
        return gsh_cublas.cublas##letter##getriBatched(gsh_cuda_lapack.blas, n, a, n, pivots, c,   \
                                                       n, info, count);                            \
    }
GSH_CUDA_LAPACK_LETTERS(FORWARD)
#undef FORWARD

#define FORWARD(letter, ...) {getrf_##letter, getrs_##letter, getri_##letter},
static const struct {
    gsh_cuda_enum (*getrf)(int n, void *a, int *pivots, int *info, int count);
    gsh_cuda_enum (*getrs)(gsh_cuda_enum op, int n, int columns, void *a, int *pivots, void *b,
                           int *info, int count);
    gsh_cuda_enum (*getri)(int n, void *a, int *pivots, void *c, int *info, int count);
} table[] = {GSH_CUDA_LAPACK_LETTERS(FORWARD)};
#undef FORWARD

static uint64_t pivots_at(const struct lu *lu, int64_t matrix)
{
    return lu->pivots + (uint64_t)(matrix * lu->least) * lu->pivot_bytes;
}

static void *pointers_at(uint64_t pointers, int64_t matrix)
{
    return GSH_CUDA_POINTER(pointers + (uint64_t)matrix * sizeof(uint64_t));
}

static enum gsh_status factor_many(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                   int64_t count)
{
    const struct lu *lu = what;
    return GSH_CUBLAS_TIMED(
        call,
        table[call->letter].getrf((int)lu->n, pointers_at(lu->a_pointers, first),
                                  GSH_CUDA_POINTER(pivots_at(lu, first)),
                                  GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, first)), (int)count));
}

static enum gsh_status solve_many(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                  int64_t count)
{
    const struct lu *lu = what;
    int info = 0; /* of the arguments */
    return GSH_CUBLAS_TIMED(call, table[call->letter].getrs(lu->op, (int)lu->n, (int)lu->columns,
                                                            pointers_at(lu->a_pointers, first),
                                                            GSH_CUDA_POINTER(pivots_at(lu, first)),
                                                            pointers_at(lu->b_pointers, first),
                                                            &info, (int)count));
}

static enum gsh_status invert_many(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                   int64_t count)
{
    const struct lu *lu = what;
    return GSH_CUBLAS_TIMED(
        call, table[call->letter].getri(
                  (int)lu->n, pointers_at(lu->a_pointers, first),
                  GSH_CUDA_POINTER(pivots_at(lu, first)), pointers_at(lu->b_pointers, first),
                  GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, first)), (int)count));
}

/* ---- one at a time ---- */

static enum gsh_status factor_one(struct gsh_cuda_lapack_call *call, void *what, int64_t first,
                                  int64_t count)
{
    const struct lu *lu = what;
    size_t device_bytes = 0, host_bytes = 0;
    void *a = GSH_CUDA_POINTER(gsh_cuda_lapack_at(call, &lu->a, first));
    (void)count;
    GSH_TRY(GSH_CUSOLVER(gsh_cusolver.cusolverDnXgetrf_bufferSize(
        gsh_cuda_lapack.solver, gsh_cuda_lapack.params, lu->rows, lu->n, call->type, a, lu->rows,
        call->type, &device_bytes, &host_bytes)));
    GSH_TRY(gsh_cuda_lapack_call_reserve(call, device_bytes, host_bytes));
    return GSH_CUSOLVER_TIMED(
        call, gsh_cusolver.cusolverDnXgetrf(
                  gsh_cuda_lapack.solver, gsh_cuda_lapack.params, lu->rows, lu->n, call->type, a,
                  lu->rows, GSH_CUDA_POINTER(pivots_at(lu, first)), call->type,
                  GSH_CUDA_POINTER(call->device), device_bytes, call->host, host_bytes,
                  GSH_CUDA_POINTER(gsh_cuda_lapack_info(call, first))));
}

/* The order of rows by the pivots. cuSOLVER's getrs exchanges rows one after the other, which takes as long as the
 * rest of it. */
static enum gsh_status trace_rows(struct gsh_cuda_lapack_call *call, const struct lu *lu,
                                  uint64_t *order)
{
    GSH_TRY(gsh_cuda_lapack_call_take(call, call->batch * lu->n, sizeof(int64_t), order));
    return gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_trace_rows,
        (struct gsh_cuda_lapack_args){
            .b = lu->pivots, .c = *order, .batch = call->batch, .rows = lu->n, .columns = 1});
}

/* Copies B's rows in their order, or (is_back) back from it, to `to`, which is not lu->b. */
static enum gsh_status order_rows(struct gsh_cuda_lapack_call *call, const struct lu *lu,
                                  uint64_t order, bool is_back, const struct gsh_cuda_view *to)
{
    return gsh_cuda_lapack_call_kernel(call, GSH_CUDA_LAPACK_order_rows,
                                       (struct gsh_cuda_lapack_args){.a = lu->b.address,
                                                                     .b = order,
                                                                     .c = to->address,
                                                                     .batch = call->batch,
                                                                     .rows = lu->n,
                                                                     .columns = lu->columns,
                                                                     .extra = is_back});
}

/* Solves the systems with both triangular factors, one after the other, in b's memory. */
static enum gsh_status solve_triangles(struct gsh_cuda_lapack_call *call, const struct lu *lu,
                                       const struct gsh_cuda_view *b)
{
    struct gsh_cuda_triangular t = {
        .n = lu->n, .columns = lu->columns, .op = lu->op, .a = lu->a, .b = *b};
    for (int step = 0; step < 2; step++) {
        bool is_lower = (lu->op == GSH_CUBLAS_OP_N) == (step == 0);
        t.triangle = is_lower ? GSH_CUBLAS_LOWER : GSH_CUBLAS_UPPER;
        t.diagonal = is_lower ? GSH_CUBLAS_UNIT : GSH_CUBLAS_NON_UNIT;
        GSH_TRY(gsh_cuda_lapack_call_each(call, 1, gsh_cuda_lapack_triangle_solve, &t));
    }
    return GSH_OK;
}

/* Solves with the rows in the order given by the pivots. */
static enum gsh_status solve_in_order(struct gsh_cuda_lapack_call *call, const struct lu *lu,
                                      uint64_t order, const struct gsh_cuda_view *x)
{
    if (lu->op == GSH_CUBLAS_OP_N) {
        GSH_TRY(order_rows(call, lu, order, false, x));
        return solve_triangles(call, lu, x);
    }
    GSH_TRY(solve_triangles(call, lu, &lu->b));
    return order_rows(call, lu, order, true, x);
}

static enum gsh_status solve_one(struct gsh_cuda_lapack_call *call, const struct lu *lu,
                                 const struct gsh_cuda_view *x)
{
    uint64_t order;
    GSH_TRY(trace_rows(call, lu, &order));
    return solve_in_order(call, lu, order, x);
}

/* ---- the routines ---- */

static enum gsh_status point(struct gsh_cuda_lapack_call *call, const struct gsh_cuda_view *view,
                             uint64_t *pointers)
{
    return gsh_cuda_lapack_call_point(call, view->address, view->matrix * (int64_t)call->size,
                                      call->batch, pointers);
}

static enum gsh_status take_pivots(struct gsh_cuda_lapack_call *call, struct lu *lu)
{
    lu->pivot_bytes = lu->is_many ? sizeof(int) : sizeof(int64_t);
    return gsh_cuda_lapack_call_take(call, call->batch * lu->least, lu->pivot_bytes, &lu->pivots);
}

/* Factors the matrices in lu->a, column by column. */
static enum gsh_status factor_there(struct gsh_cuda_lapack_call *call, struct lu *lu)
{
    const struct gsh_cuda_view columns = {lu->a.address, 1, lu->rows, lu->a.matrix};
    GSH_TRY(take_pivots(call, lu));
    if (lu->is_many) {
        GSH_TRY(point(call, &lu->a, &lu->a_pointers));
        GSH_TRY(gsh_cuda_lapack_call_each(call, GSH_CUDA_LAPACK_MANY, factor_many, lu));
    } else {
        GSH_TRY(gsh_cuda_lapack_call_each(call, 1, factor_one, lu));
    }
    return gsh_cuda_lapack_call_look_at_diagonal(call, &columns, lu->least,
                                                 GSH_CUDA_LAPACK_LEAST * call->epsilon);
}

static enum gsh_status factor(struct gsh_cuda_lapack_call *call, struct lu *lu, bool is_flipped)
{
    GSH_TRY(gsh_cuda_lapack_call_gather(call, 0, is_flipped, &lu->a));
    return factor_there(call, lu);
}

static struct lu begin(const struct gsh_cuda_lapack_call *call)
{
    int64_t m = gsh_cuda_lapack_rows(call, 0), n = gsh_cuda_lapack_columns(call, 0);
    return (struct lu){.rows = m,
                       .n = n,
                       .least = GSH_MIN(m, n),
                       .op = GSH_CUBLAS_OP_N,
                       .is_many = m == n && gsh_cuda_lapack_call_is_many(call, n)};
}

/* Solves the systems with the factors in lu->a and the right-hand sides in lu->b. Batched: x is in lu->b's memory.
 * One at a time: lu->b is new memory, and x is in operand `to` if that is packed. */
static enum gsh_status solve(struct gsh_cuda_lapack_call *call, struct lu *lu, unsigned to,
                             struct gsh_cuda_view *x)
{
    if (!lu->is_many) {
        GSH_TRY(gsh_cuda_lapack_call_place(call, to, false, x));
        return solve_one(call, lu, x);
    }
    *x = lu->b;
    GSH_TRY(point(call, &lu->b, &lu->b_pointers));
    return gsh_cuda_lapack_call_each(call, GSH_CUDA_LAPACK_MANY, solve_many, lu);
}

/* As solve, one at a time, with identities as right-hand sides. */
static enum gsh_status solve_identity(struct gsh_cuda_lapack_call *call, struct lu *lu, unsigned to,
                                      struct gsh_cuda_view *x)
{
    uint64_t order;
    lu->columns = lu->n;
    GSH_TRY(gsh_cuda_lapack_call_place(call, to, false, x));
    GSH_TRY(trace_rows(call, lu, &order));
    GSH_TRY(gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_make_permutation,
        (struct gsh_cuda_lapack_args){
            .b = order, .c = x->address, .batch = call->batch, .rows = lu->n, .columns = lu->n}));
    return solve_triangles(call, lu, x);
}

enum gsh_status gsh_cuda_lapack_lu_solve(struct gsh_cuda_lapack_call *call)
{
    struct lu lu = begin(call);
    struct gsh_cuda_view x;
    lu.columns = gsh_cuda_lapack_columns(call, 1);
    GSH_TRY(factor(call, &lu, false));
    GSH_TRY(gsh_cuda_lapack_call_gather(call, 1, false, &lu.b));
    GSH_TRY(solve(call, &lu, 2, &x));
    return gsh_cuda_lapack_call_scatter(call, 2, &x, false);
}

/* Batched: the inverse of the transpose is the transpose of the inverse, so nothing is transposed. One at a time:
 * solves A X = I, as NumPy does. */
enum gsh_status gsh_cuda_lapack_lu_inv(struct gsh_cuda_lapack_call *call)
{
    struct lu lu = begin(call);
    struct gsh_cuda_view x;
    GSH_TRY(factor(call, &lu, lu.is_many));
    if (lu.is_many) {
        GSH_TRY(gsh_cuda_lapack_call_place(call, 1, true, &x));
        GSH_TRY(point(call, &x, &lu.b_pointers));
        GSH_TRY(gsh_cuda_lapack_call_each(call, GSH_CUDA_LAPACK_MANY, invert_many, &lu));
    } else {
        GSH_TRY(solve_identity(call, &lu, 1, &x));
    }
    return gsh_cuda_lapack_call_scatter(call, 1, &x, false);
}

/* ---- conditioned solve and inv ---- */

struct inverse {
    const struct lu *lu;
    uint64_t order;
};

/* As gsh_cuda_lapack_inverse. */
static enum gsh_status apply_inverse(struct gsh_cuda_lapack_call *call, void *what, bool is_adjoint,
                                     const struct gsh_cuda_view *b, const struct gsh_cuda_view *x)
{
    const struct inverse *inverse = what;
    struct lu lu = *inverse->lu;
    lu.op = is_adjoint ? GSH_CUBLAS_OP_C : GSH_CUBLAS_OP_N;
    lu.columns = GSH_CUDA_LAPACK_TRIALS;
    lu.b = *b;
    return solve_in_order(call, &lu, inverse->order, x);
}

static bool has_structure(const struct gsh_cuda_lapack_call *call)
{
    return (call->launch->lapack.options & GSH_LAPACK_DENSE) != 0;
}

/* Factors the matrices one at a time. Also the norms of the matrices, and marks of their structure where requested. */
static enum gsh_status factor_with_norms(struct gsh_cuda_lapack_call *call, struct lu *lu,
                                         uint64_t *norms, uint64_t *marks)
{
    lu->is_many = false;
    GSH_TRY(gsh_cuda_lapack_call_gather(call, 0, false, &lu->a));
    if (has_structure(call))
        GSH_TRY(gsh_cuda_lapack_condition_look_at_structure(call, &lu->a, lu->n, marks));
    GSH_TRY(gsh_cuda_lapack_condition_take_norms(call, &lu->a, lu->n, true, norms));
    return factor_there(call, lu);
}

enum gsh_status gsh_cuda_lapack_lu_solve_conditioned(struct gsh_cuda_lapack_call *call)
{
    struct lu lu = begin(call);
    struct inverse inverse = {.lu = &lu};
    struct gsh_cuda_view x;
    uint64_t norms, inverse_norms, marks;
    lu.columns = gsh_cuda_lapack_columns(call, 1);
    GSH_TRY(factor_with_norms(call, &lu, &norms, &marks));
    GSH_TRY(trace_rows(call, &lu, &inverse.order));
    GSH_TRY(gsh_cuda_lapack_condition_estimate_inverse(call, lu.n, apply_inverse, &inverse,
                                                       &inverse_norms));
    GSH_TRY(gsh_cuda_lapack_condition_look(call, norms, inverse_norms));
    lu.op = gsh_cuda_lapack_op(call);
    GSH_TRY(gsh_cuda_lapack_call_gather(call, 1, false, &lu.b));
    GSH_TRY(gsh_cuda_lapack_call_place(call, 2, false, &x));
    GSH_TRY(solve_in_order(call, &lu, inverse.order, &x));
    return gsh_cuda_lapack_call_scatter(call, 2, &x, false);
}

enum gsh_status gsh_cuda_lapack_lu_inv_conditioned(struct gsh_cuda_lapack_call *call)
{
    struct lu lu = begin(call);
    struct gsh_cuda_view x;
    uint64_t norms, inverse_norms, marks;
    GSH_TRY(factor_with_norms(call, &lu, &norms, &marks));
    GSH_TRY(solve_identity(call, &lu, 1, &x));
    GSH_TRY(gsh_cuda_lapack_condition_take_norms(call, &x, lu.n, false, &inverse_norms));
    GSH_TRY(gsh_cuda_lapack_condition_look(call, norms, inverse_norms));
    if (has_structure(call))
        GSH_TRY(gsh_cuda_lapack_condition_mirror(call, &x, lu.n, marks));
    return gsh_cuda_lapack_call_scatter(call, 1, &x, false);
}

/* det: the determinant; slogdet: its sign and the logarithm of its absolute value. */
enum gsh_status gsh_cuda_lapack_lu_det(struct gsh_cuda_lapack_call *call)
{
    struct lu lu = begin(call);
    struct gsh_cuda_view first, logarithm = {.address = 0};
    bool has_logarithm = gsh_cuda_lapack_which(call) == GSH_LAPACK_SLOGDET;
    GSH_TRY(factor(call, &lu, false));
    GSH_TRY(gsh_cuda_lapack_call_place(call, 1, false, &first));
    if (has_logarithm)
        GSH_TRY(gsh_cuda_lapack_call_place(call, 2, false, &logarithm));
    GSH_TRY(gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_multiply_diagonal,
        (struct gsh_cuda_lapack_args){.a = lu.a.address,
                                      .b = lu.pivots,
                                      .c = first.address,
                                      .batch = call->batch,
                                      .rows = lu.n,
                                      .columns = (int64_t)lu.pivot_bytes,
                                      .extra = (int64_t)logarithm.address}));
    GSH_TRY(gsh_cuda_lapack_call_scatter(call, 1, &first, false));
    return has_logarithm ? gsh_cuda_lapack_call_scatter(call, 2, &logarithm, false) : GSH_OK;
}

/* Converts pivots between integer widths; an invalid pivot raises the flag. */
static enum gsh_status convert_pivots(struct gsh_cuda_lapack_call *call, const struct lu *lu,
                                      uint64_t from, size_t from_bytes, uint64_t to,
                                      size_t to_bytes)
{
    return gsh_cuda_lapack_call_kernel(
        call, GSH_CUDA_LAPACK_convert_pivots,
        (struct gsh_cuda_lapack_args){.a = from,
                                      .c = to,
                                      .rows = call->batch * lu->least,
                                      .columns = (int64_t)from_bytes,
                                      .extra = (int64_t)to_bytes,
                                      .step = lu->rows});
}

enum gsh_status gsh_cuda_lapack_lu_getrf(struct gsh_cuda_lapack_call *call)
{
    struct lu lu = begin(call);
    struct gsh_cuda_view pivots;
    GSH_TRY(gsh_cuda_lapack_call_receive(call, 0, 1, &lu.a));
    GSH_TRY(factor_there(call, &lu));
    GSH_TRY(gsh_cuda_lapack_call_place(call, 2, false, &pivots));
    GSH_TRY(convert_pivots(call, &lu, lu.pivots, lu.pivot_bytes, pivots.address, sizeof(int32_t)));
    GSH_TRY(gsh_cuda_lapack_call_scatter(call, 1, &lu.a, false));
    return gsh_cuda_lapack_call_scatter(call, 2, &pivots, false);
}

/* Takes factors that were made before, and their pivots. */
static enum gsh_status borrow_factor(struct gsh_cuda_lapack_call *call, struct lu *lu)
{
    struct gsh_cuda_view pivots;
    GSH_TRY(gsh_cuda_lapack_call_borrow(call, 0, &lu->a));
    GSH_TRY(gsh_cuda_lapack_call_borrow(call, 1, &pivots));
    GSH_TRY(take_pivots(call, lu));
    return convert_pivots(call, lu, pivots.address, sizeof(int32_t), lu->pivots, lu->pivot_bytes);
}

enum gsh_status gsh_cuda_lapack_lu_getrs(struct gsh_cuda_lapack_call *call)
{
    struct lu lu = begin(call);
    struct gsh_cuda_view x;
    lu.op = gsh_cuda_lapack_op(call);
    lu.columns = gsh_cuda_lapack_columns(call, 2);
    GSH_TRY(borrow_factor(call, &lu));
    if (lu.is_many) {
        GSH_TRY(gsh_cuda_lapack_call_receive(call, 2, 3, &lu.b));
        GSH_TRY(point(call, &lu.a, &lu.a_pointers));
    } else {
        GSH_TRY(gsh_cuda_lapack_call_gather(call, 2, false, &lu.b));
    }
    GSH_TRY(solve(call, &lu, 3, &x));
    return gsh_cuda_lapack_call_scatter(call, 3, &x, false);
}

/* Solves A X = I. Results that are not finite are declined, for the caller's LAPACK. */
enum gsh_status gsh_cuda_lapack_lu_getri(struct gsh_cuda_lapack_call *call)
{
    struct lu lu = begin(call);
    struct gsh_cuda_view x;
    lu.is_many = false;
    GSH_TRY(borrow_factor(call, &lu));
    GSH_TRY(gsh_cuda_lapack_call_look_at_diagonal(call, &lu.a, lu.n, 0));
    GSH_TRY(solve_identity(call, &lu, 2, &x));
    GSH_TRY(gsh_cuda_lapack_call_look(call, x.address, call->batch * x.matrix));
    return gsh_cuda_lapack_call_scatter(call, 2, &x, false);
}
