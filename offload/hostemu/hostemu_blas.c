/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loops of NumPy's matmul where they were lent; for float32 and float64, whatever alpha and beta, CBLAS by
 * function pointer, in either integer width; plain loops that stand in for both.
 */
#include "hostemu_blas.h"

#include "host_half.h"

#include <complex.h>
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

static struct {
    gsh_hostemu_lapack_loop *function;
    void *data;
} lent[GSH_DTYPE_COUNT];

void gsh_hostemu_blas_lend(enum gsh_dtype dtype, gsh_hostemu_lapack_loop *loop, void *data)
{
    lent[dtype].function = loop;
    lent[dtype].data = data;
}

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

/* A vector has one stride that counts, a matrix steps by 1 in one dimension. */
static bool has_unit_stride(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride)
{
    return rows == 1 || cols == 1 || row_stride == 1 || col_stride == 1;
}

static bool have_unit_strides(const struct gsh_gemm *g)
{
    return has_unit_stride(g->m, g->k, g->a_row, g->a_col) &&
           has_unit_stride(g->k, g->n, g->b_row, g->b_col) &&
           has_unit_stride(g->m, g->n, g->c_row, g->c_col);
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
        if (!have_unit_strides(g) || !fits_blas(a, g->m, g->k) || !fits_blas(b, g->k, g->n) ||     \
            !fits_blas(c, g->m, g->n) || c.trans != NO_TRANS || (pointer) == NULL)                 \
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

/* Neither alpha nor beta. */
#define DEFINE_PLAIN(name, stored, type, join, load_a, load_b, store)                              \
    static void name##_plain(const struct product *p)                                              \
    {                                                                                              \
        const struct gsh_gemm *g = &p->gemm;                                                       \
        const stored *a = p->a, *b = p->b;                                                         \
        stored *c = p->c;                                                                          \
        for (int64_t i = 0; i < g->m; i++)                                                         \
            for (int64_t j = 0; j < g->n; j++) {                                                   \
                type sum = 0;                                                                      \
                for (int64_t l = 0; l < g->k; l++) {                                               \
                    const stored x = a[i * g->a_row + l * g->a_col];                               \
                    const stored y = b[l * g->b_row + j * g->b_col];                               \
                    sum = join(sum, load_a(x), load_b(y));                                         \
                }                                                                                  \
                c[i * g->c_row + j * g->c_col] = store(sum);                                       \
            }                                                                                      \
    }
#define ADD_PRODUCT(sum, x, y) ((sum) + (x) * (y))
#define OR_BOTH(sum, x, y) ((sum) || ((x) && (y)))
#define AS_WORD(x) ((uint64_t)(x))
#define CAST_8(x) ((uint8_t)(x))
#define CAST_16(x) ((uint16_t)(x))
#define CAST_32(x) ((uint32_t)(x))
#define AS_IT_IS(x) (x)
#define FIRST(x) (g->a_is_conjugate ? conj(x) : (x))
#define SECOND(x) (g->b_is_conjugate ? conj(x) : (x))

/* Integers wrap, whatever their sign. */
DEFINE_PLAIN(bool, uint8_t, bool, OR_BOTH, AS_IT_IS, AS_IT_IS, AS_IT_IS)
DEFINE_PLAIN(word8, uint8_t, uint64_t, ADD_PRODUCT, AS_WORD, AS_WORD, CAST_8)
DEFINE_PLAIN(word16, uint16_t, uint64_t, ADD_PRODUCT, AS_WORD, AS_WORD, CAST_16)
DEFINE_PLAIN(word32, uint32_t, uint64_t, ADD_PRODUCT, AS_WORD, AS_WORD, CAST_32)
DEFINE_PLAIN(word64, uint64_t, uint64_t, ADD_PRODUCT, AS_WORD, AS_WORD, AS_WORD)
DEFINE_PLAIN(half, uint16_t, float, ADD_PRODUCT, gsh_half_to_float, gsh_half_to_float,
             gsh_half_of_float)
DEFINE_PLAIN(pair, float _Complex, float _Complex, ADD_PRODUCT, (float _Complex)FIRST,
             (float _Complex)SECOND, AS_IT_IS)
DEFINE_PLAIN(wide_pair, double _Complex, double _Complex, ADD_PRODUCT, FIRST, SECOND, AS_IT_IS)

static void run_single(const struct product *p)
{
    if (!single_blas(p))
        single_loops(p);
}

static void run_twofold(const struct product *p)
{
    if (!twofold_blas(p))
        twofold_loops(p);
}

typedef void run_product(const struct product *product);
static run_product *const runs[GSH_DTYPE_COUNT] = {
    [GSH_BOOL] = bool_plain,      [GSH_INT8] = word8_plain,           [GSH_INT16] = word16_plain,
    [GSH_INT32] = word32_plain,   [GSH_INT64] = word64_plain,         [GSH_UINT8] = word8_plain,
    [GSH_UINT16] = word16_plain,  [GSH_UINT32] = word32_plain,        [GSH_UINT64] = word64_plain,
    [GSH_FLOAT16] = half_plain,   [GSH_FLOAT32] = run_single,         [GSH_FLOAT64] = run_twofold,
    [GSH_COMPLEX64] = pair_plain, [GSH_COMPLEX128] = wide_pair_plain,
};

static bool is_plain(const struct gsh_gemm *g)
{
    return g->alpha == 1 && g->beta == 0;
}

bool gsh_hostemu_blas_supports(const struct gsh_launch *launch)
{
    return is_plain(&launch->gemm) || launch->loop == GSH_FLOAT32 || launch->loop == GSH_FLOAT64;
}

/* One matrix of the batch each; the operands' addresses. */
static void run_own(const struct gsh_launch *launch, char *const *addresses)
{
    struct product product = {
        .gemm = launch->gemm, .a = addresses[0], .b = addresses[1], .c = addresses[2]};
    if (launch->loop == GSH_FLOAT32 || launch->loop == GSH_FLOAT64)
        make_row_major(&product);
    runs[launch->loop](&product);
}

static void run_lent(const struct gsh_launch *launch, char *const *addresses)
{
    const struct gsh_gemm *g = &launch->gemm;
    int64_t size = (int64_t)gsh_dtype_size(launch->loop);
    char *args[] = {addresses[0], addresses[1], addresses[2]};
    const int64_t dimensions[] = {1, g->m, g->k, g->n};
    const int64_t steps[] = {0,
                             0,
                             0,
                             g->a_row * size,
                             g->a_col * size,
                             g->b_row * size,
                             g->b_col * size,
                             g->c_row * size,
                             g->c_col * size};
    lent[launch->loop].function(args, dimensions, steps, lent[launch->loop].data);
}

enum gsh_status gsh_hostemu_blas_run(const struct gsh_launch *launch)
{
    const struct gsh_gemm *g = &launch->gemm;
    bool is_lent = lent[launch->loop].function != NULL && is_plain(g) && !g->a_is_conjugate &&
                   !g->b_is_conjugate;
    int64_t index[GSH_MAX_DIMS] = {0};
    if (borrowed_dgemm == NULL && !is_lent)
        find_system_blas();
    for (int d = 0; d >= 0;) {
        char *addresses[3];
        for (unsigned k = 0; k < 3; k++) {
            addresses[k] = (char *)launch->operands[k].address;
            for (int e = 0; e < launch->ndim; e++)
                addresses[k] += index[e] * launch->strides[k][e];
        }
        (is_lent ? run_lent : run_own)(launch, addresses);
        for (d = launch->ndim - 1; d >= 0 && ++index[d] == launch->shape[d]; d--)
            index[d] = 0;
    }
    return GSH_OK;
}
