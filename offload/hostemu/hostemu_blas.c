/* SPDX-License-Identifier: Apache-2.0
 *
 * CBLAS by function pointer, in either integer width, and the plain loops that stand in for it.
 */
#include "hostemu_blas.h"

#include <dlfcn.h>
#include <limits.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };

typedef void sgemm32(int, int, int, int32_t, int32_t, int32_t, float, const float *, int32_t,
                     const float *, int32_t, float, float *, int32_t);
typedef void dgemm32(int, int, int, int32_t, int32_t, int32_t, double, const double *, int32_t,
                     const double *, int32_t, double, double *, int32_t);
typedef void sgemm64(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t,
                     const float *, int64_t, float, float *, int64_t);
typedef void dgemm64(int, int, int, int64_t, int64_t, int64_t, double, const double *, int64_t,
                     const double *, int64_t, double, double *, int64_t);

static void *borrowed_sgemm, *borrowed_dgemm;
static int borrowed_bits;
static const char *source = "plain loops";

void gsh_hostemu_set_blas(void *sgemm, void *dgemm, int int_bits)
{
    if (sgemm == NULL || dgemm == NULL)
        return;
    borrowed_sgemm = sgemm;
    borrowed_dgemm = dgemm;
    borrowed_bits = int_bits;
    source = "the process's own BLAS";
}

const char *gsh_hostemu_blas_name(void)
{
    return source;
}

static void find_system_blas(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libcblas.so.3", "libblas.so.3"};
    for (size_t k = 0; k < GSH_COUNT(names) && borrowed_dgemm == NULL; k++) {
        void *library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            continue;
        gsh_hostemu_set_blas(dlsym(library, "cblas_sgemm"), dlsym(library, "cblas_dgemm"), 32);
        if (borrowed_dgemm != NULL)
            source = names[k];
    }
}

/* A row-major BLAS operand: stored as it is (column stride 1) or transposed (row stride 1). */
struct matrix {
    int trans;
    int64_t leading;
};

static struct matrix describe(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride)
{
    if (col_stride == 1 || cols == 1)
        return (struct matrix){NO_TRANS, rows == 1 ? GSH_MAX(cols, 1) : row_stride};
    return (struct matrix){TRANS, cols == 1 ? GSH_MAX(rows, 1) : col_stride};
}

/* What CBLAS takes: a leading dimension of at least the row's length, and a row-major C. */
static bool fits_blas(struct matrix matrix, int64_t rows, int64_t cols)
{
    return matrix.leading >= (matrix.trans == NO_TRANS ? cols : rows) && matrix.leading >= 1;
}

struct product {
    struct gsh_gemm gemm;
    const void *a, *b;
    void *c;
};

/* C' = B' A' where C is stored by columns. */
static void make_row_major(struct product *product)
{
    struct gsh_gemm *g = &product->gemm;
    if (g->c_col == 1 || g->n == 1)
        return;
    struct gsh_gemm t = {.m = g->n,
                         .n = g->m,
                         .k = g->k,
                         .a_row = g->b_col,
                         .a_col = g->b_row,
                         .b_row = g->a_col,
                         .b_col = g->a_row,
                         .c_row = g->c_col,
                         .c_col = g->c_row,
                         .alpha = g->alpha,
                         .beta = g->beta};
    const void *a = product->a;
    product->a = product->b;
    product->b = a;
    *g = t;
}

#define DEFINE_PRODUCT(name, type, narrow, wide, pointer)                                          \
    static bool name##_blas(const struct product *p)                                               \
    {                                                                                              \
        const struct gsh_gemm *g = &p->gemm;                                                       \
        struct matrix a = describe(g->m, g->k, g->a_row, g->a_col);                                \
        struct matrix b = describe(g->k, g->n, g->b_row, g->b_col);                                \
        struct matrix c = describe(g->m, g->n, g->c_row, g->c_col);                                \
        if (!fits_blas(a, g->m, g->k) || !fits_blas(b, g->k, g->n) || !fits_blas(c, g->m, g->n) || \
            c.trans != NO_TRANS || (pointer) == NULL)                                              \
            return false;                                                                          \
        type alpha = (type)g->alpha, beta = (type)g->beta;                                         \
        if (borrowed_bits == 64) {                                                                 \
            ((wide *)(pointer))(ROW_MAJOR, a.trans, b.trans, g->m, g->n, g->k, alpha, p->a,        \
                                a.leading, p->b, b.leading, beta, p->c, c.leading);                \
            return true;                                                                           \
        }                                                                                          \
        int64_t longest = GSH_MAX(GSH_MAX(a.leading, b.leading), c.leading);                       \
        longest = GSH_MAX(longest, GSH_MAX(g->m, GSH_MAX(g->n, g->k)));                            \
        if (longest > INT32_MAX)                                                                   \
            return false;                                                                          \
        ((narrow *)(pointer))(ROW_MAJOR, a.trans, b.trans, (int32_t)g->m, (int32_t)g->n,           \
                              (int32_t)g->k, alpha, p->a, (int32_t)a.leading, p->b,                \
                              (int32_t)b.leading, beta, p->c, (int32_t)c.leading);                 \
        return true;                                                                               \
    }                                                                                              \
    static void name##_loops(const struct product *p)                                              \
    {                                                                                              \
        const struct gsh_gemm *g = &p->gemm;                                                       \
        const type *a = p->a, *b = p->b;                                                           \
        type *c = p->c;                                                                            \
        for (int64_t i = 0; i < g->m; i++)                                                         \
            for (int64_t j = 0; j < g->n; j++) {                                                   \
                type sum = 0;                                                                      \
                for (int64_t l = 0; l < g->k; l++)                                                 \
                    sum += a[i * g->a_row + l * g->a_col] * b[l * g->b_row + j * g->b_col];        \
                type *to = &c[i * g->c_row + j * g->c_col];                                        \
                *to = (type)g->alpha * sum + (g->beta == 0 ? 0 : (type)g->beta * *to);             \
            }                                                                                      \
    }

DEFINE_PRODUCT(single, float, sgemm32, sgemm64, borrowed_sgemm)
DEFINE_PRODUCT(twofold, double, dgemm32, dgemm64, borrowed_dgemm)

enum gsh_status gsh_hostemu_blas_run(const struct gsh_launch *launch)
{
    if (launch->loop != GSH_FLOAT32 && launch->loop != GSH_FLOAT64)
        return GSH_DECLINED;
    if (borrowed_dgemm == NULL)
        find_system_blas();
    struct product product = {.gemm = launch->gemm,
                              .a = (const void *)launch->operands[0].address,
                              .b = (const void *)launch->operands[1].address,
                              .c = (void *)launch->operands[2].address};
    make_row_major(&product);
    if (launch->loop == GSH_FLOAT64) {
        if (!twofold_blas(&product))
            twofold_loops(&product);
    } else if (!single_blas(&product)) {
        single_loops(&product);
    }
    return GSH_OK;
}
