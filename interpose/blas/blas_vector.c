/* SPDX-License-Identifier: Apache-2.0
 *
 * Products with vectors: ?gemv, and ?ger, ?geru, ?gerc, which add the product of two vectors to a
 * matrix. They move as many bytes as they compute, so a transfer pays only if the matrix is used
 * repeatedly. Checked by tests/unit/interpose/blas/test_blas_vector.c and
 * tests/preload/test_blas_vectors.py.
 */
#include "blas_launch.h"

#include "lapack_launch.h"

/* A vector whose elements are `step` elements apart. With a negative step the first element is the
 * last in memory. */
struct vector {
    void *address;
    int64_t length, step;
};

/* One call: C += alpha A B, or C = alpha A B + beta C. One of the matrices is the call's own, the
 * other two are vectors. */
struct product_with_vector {
    struct gsh_gemm gemm;
    struct gsh_blas_view views[3];
    bool is_legal;
};

static struct vector read_vector(const struct gsh_blas_entry_call *call, unsigned k, int64_t length)
{
    return (struct vector){gsh_blas_entry_address(call, k), length,
                           gsh_blas_entry_integer(call, k + 1)};
}

/* The vector as a column or a row. */
static struct gsh_blas_view view_vector(const struct gsh_blas_entry_call *call,
                                        const struct vector *vector, bool is_row)
{
    int64_t back = vector->step < 0 ? (1 - vector->length) * vector->step : 0;
    char *first = (char *)vector->address + back * (int64_t)gsh_dtype_size(call->dtype);
    return (struct gsh_blas_view){
        .address = first, .row = is_row ? 1 : vector->step, .column = is_row ? vector->step : 1};
}

/* trans, m, n, alpha, a, lda, x, incx, beta, y, incy */
static struct product_with_vector read_gemv(const struct gsh_blas_entry_call *call)
{
    char trans = gsh_blas_entry_letter(call, 0);
    int64_t m = gsh_blas_entry_integer(call, 1), n = gsh_blas_entry_integer(call, 2);
    int64_t lda = gsh_blas_entry_integer(call, 5), rows = trans == 'N' ? m : n;
    struct vector x = read_vector(call, 6, trans == 'N' ? n : m);
    struct vector y = read_vector(call, 9, rows);
    return (struct product_with_vector){
        .gemm = {.m = rows,
                 .n = 1,
                 .k = x.length,
                 .alpha = gsh_blas_entry_factor(call, 3),
                 .beta = gsh_blas_entry_factor(call, 8)},
        .views = {gsh_blas_launch_view(call, gsh_blas_entry_address(call, 4), lda, trans),
                  view_vector(call, &x, false), view_vector(call, &y, false)},
        .is_legal = gsh_lapack_launch_is_transposition(trans) && m >= 0 && n >= 0 &&
                    lda >= GSH_MAX(1, m) && x.step != 0 && y.step != 0};
}

/* m, n, alpha, x, incx, y, incy, a, lda */
static struct product_with_vector read_ger(const struct gsh_blas_entry_call *call,
                                           bool is_conjugate)
{
    int64_t m = gsh_blas_entry_integer(call, 0), n = gsh_blas_entry_integer(call, 1);
    int64_t lda = gsh_blas_entry_integer(call, 8);
    struct vector x = read_vector(call, 3, m), y = read_vector(call, 5, n);
    struct product_with_vector product = {
        .gemm = {.m = m, .n = n, .k = 1, .alpha = gsh_blas_entry_factor(call, 2), .beta = 1},
        .views = {view_vector(call, &x, false), view_vector(call, &y, true),
                  gsh_blas_launch_view(call, gsh_blas_entry_address(call, 7), lda, 'N')},
        .is_legal = m >= 0 && n >= 0 && lda >= GSH_MAX(1, m) && x.step != 0 && y.step != 0};
    product.views[1].is_conjugate = is_conjugate;
    return product;
}

/* Whether nothing is read or written; y is not scaled either. */
static bool is_empty(const struct gsh_gemm *gemm)
{
    return gemm->m == 0 || gemm->n == 0 || gemm->k == 0;
}

/* Illegal calls and calls without work are not counted. With alpha 0 neither A nor x is read. */
static bool run_with_vector(struct gsh_blas_entry_call *call,
                            const struct product_with_vector *product)
{
    return product->is_legal && !is_empty(&product->gemm) &&
           gsh_lapack_launch_expect(call, product->gemm.alpha != 0) &&
           gsh_blas_launch_run(call, &product->gemm, product->views);
}

static bool reference_with_vector(const struct gsh_blas_entry_call *call,
                                  const struct product_with_vector *product)
{
    if (product->is_legal && !is_empty(&product->gemm))
        gsh_blas_launch_run_reference(call, &product->gemm, product->views);
    return product->is_legal;
}

#define DEFINE_RUNS(name, read)                                                                    \
    static bool run_##name(struct gsh_blas_entry_call *call)                                       \
    {                                                                                              \
        struct product_with_vector product = read;                                                 \
        return run_with_vector(call, &product);                                                    \
    }                                                                                              \
    static bool reference_##name(struct gsh_blas_entry_call *call)                                 \
    {                                                                                              \
        struct product_with_vector product = read;                                                 \
        return reference_with_vector(call, &product);                                              \
    }
DEFINE_RUNS(gemv, read_gemv(call))
DEFINE_RUNS(ger, read_ger(call, false))
DEFINE_RUNS(gerc, read_ger(call, true))

const struct gsh_blas_entry_shape gsh_blas_entry_shape_GEMV = {
    .sizes = {1, 2, GSH_BLAS_ENTRY_NONE},
    .matrices = {4, 6, 9, GSH_BLAS_ENTRY_NONE},
    .arguments = 11 + 1,
    .info = GSH_BLAS_ENTRY_NONE,
    .lapack_routine = GSH_BLAS_ENTRY_NONE,
    .run = run_gemv,
    .run_reference = reference_gemv};
#define DEFINE_GER(shape, name)                                                                    \
    const struct gsh_blas_entry_shape gsh_blas_entry_shape_##shape = {                             \
        .sizes = {0, 1, GSH_BLAS_ENTRY_NONE},                                                      \
        .matrices = {3, 5, 7, GSH_BLAS_ENTRY_NONE},                                                \
        .arguments = 9,                                                                            \
        .info = GSH_BLAS_ENTRY_NONE,                                                               \
        .lapack_routine = GSH_BLAS_ENTRY_NONE,                                                     \
        .run = run_##name,                                                                         \
        .run_reference = reference_##name}
DEFINE_GER(GER, ger);
DEFINE_GER(GERC, gerc);
