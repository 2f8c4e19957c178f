/* SPDX-License-Identifier: Apache-2.0
 *
 * cuBLAS knows column-major matrices, plain or transposed. A matrix with a unit row stride is
 * column-major with its column stride as leading dimension; one with a unit column stride is the
 * transpose of such a one. A row-major C is computed as C' = B' A'. Products with a vector go to
 * gemv, those of two vectors to dot. Workspace is ours: cuBLAS allocates nothing later on, and
 * results do not depend on what else runs. Everything under the DISPATCH lock.
 */
#include "cuda_blas.h"

#include "cuda_context.h"
#include "cuda_mem.h"
#include "cuda_timing.h"
#include "fmt.h"
#include "log.h"
#include "stats.h"

#include <limits.h>

/* What cuBLAS's manual recommends for compute capability 9.0 and later; enough for the others. */
#define WORKSPACE_HOPPER ((size_t)32 << 20)
#define WORKSPACE ((size_t)8 << 20)

enum state { UNTRIED, READY, ABSENT };

/* A matrix as cuBLAS wants it. */
struct matrix {
    gsh_cuda_enum op; /* N: column-major as it stands; T: the transpose is */
    int64_t leading;
    uint64_t address;
};

/* One routine's arguments, whatever its types. */
struct product {
    gsh_cuda_enum op_a, op_b;
    int64_t m, n, k, a_leading, b_leading, c_leading; /* gemv: k unused, b and c are increments */
    uint64_t a, b, c;
    double alpha, beta;
};

/* The routines of one element type and one width of integers. */
struct routines {
    gsh_cuda_enum (*gemm)(const struct product *product);
    gsh_cuda_enum (*gemv)(const struct product *product);
    gsh_cuda_enum (*dot)(const struct product *product);
};

static enum state state; /* atomic, relaxed: supports() reads it anywhere */
static cublasHandle_t handle;
static char version[32];

#define POINTER(real, address) ((real *)(uintptr_t)(address))
#define FORWARD(name, letter, suffix, integer, real)                                               \
    static gsh_cuda_enum gemm_##name(const struct product *p)                                      \
    {                                                                                              \
        real alpha = (real)p->alpha, beta = (real)p->beta;                                         \
        return gsh_cublas.cublas##letter##gemm_v2##suffix(                                         \
            handle, p->op_a, p->op_b, (integer)p->m, (integer)p->n, (integer)p->k, &alpha,         \
            POINTER(const real, p->a), (integer)p->a_leading, POINTER(const real, p->b),           \
            (integer)p->b_leading, &beta, POINTER(real, p->c), (integer)p->c_leading);             \
    }                                                                                              \
    static gsh_cuda_enum gemv_##name(const struct product *p)                                      \
    {                                                                                              \
        real alpha = (real)p->alpha, beta = (real)p->beta;                                         \
        return gsh_cublas.cublas##letter##gemv_v2##suffix(                                         \
            handle, p->op_a, (integer)p->m, (integer)p->n, &alpha, POINTER(const real, p->a),      \
            (integer)p->a_leading, POINTER(const real, p->b), (integer)p->b_leading, &beta,        \
            POINTER(real, p->c), (integer)p->c_leading);                                           \
    }                                                                                              \
    static gsh_cuda_enum dot_##name(const struct product *p)                                       \
    {                                                                                              \
        return gsh_cublas.cublas##letter##dot_v2##suffix(                                          \
            handle, (integer)p->k, POINTER(const real, p->a), (integer)p->a_leading,               \
            POINTER(const real, p->b), (integer)p->b_leading, POINTER(real, p->c));                \
    }
FORWARD(f32, S, , int, float)
FORWARD(f64, D, , int, double)
FORWARD(f32_wide, S, _64, int64_t, float)
FORWARD(f64_wide, D, _64, int64_t, double)

static const struct routines table[2][2] = {
    {{gemm_f32, gemv_f32, dot_f32}, {gemm_f32_wide, gemv_f32_wide, dot_f32_wide}},
    {{gemm_f64, gemv_f64, dot_f64}, {gemm_f64_wide, gemv_f64_wide, dot_f64_wide}},
};

static bool has_wide_routines(void)
{
    return gsh_cublas.cublasSgemm_v2_64 && gsh_cublas.cublasDgemm_v2_64 &&
           gsh_cublas.cublasSgemv_v2_64 && gsh_cublas.cublasDgemv_v2_64 &&
           gsh_cublas.cublasSdot_v2_64 && gsh_cublas.cublasDdot_v2_64;
}

static enum gsh_status open_handle(void)
{
    uint64_t workspace;
    size_t size = gsh_cuda.arch >= 90 ? WORKSPACE_HOPPER : WORKSPACE;
    GSH_TRY(GSH_CUBLAS(gsh_cublas.cublasCreate_v2(&handle)));
    GSH_TRY(GSH_CUBLAS(gsh_cublas.cublasSetStream_v2(handle, gsh_cuda.compute)));
    GSH_TRY(gsh_cuda_mem_allocate(size, &workspace));
    /* After SetStream, which would bring back cuBLAS's own workspace. */
    GSH_TRY(
        GSH_CUBLAS(gsh_cublas.cublasSetWorkspace_v2(handle, (void *)(uintptr_t)workspace, size)));
    /* DEFAULT computes float32 as such. PEDANTIC would also keep float64 off the tensor cores,
     * which are exact to the same precision. */
    return GSH_CUBLAS(gsh_cublas.cublasSetMathMode(handle, GSH_CUBLAS_DEFAULT_MATH));
}

static enum gsh_status open_library(void)
{
    char why[256];
    int major = 0, minor = 0, patch = 0;
    if (gsh_cuda_libs_load(GSH_CUDA_LIBRARY_CUBLAS, gsh_cuda.driver / 1000, 0, why, sizeof why) !=
        GSH_OK) {
        gsh_log(GSH_LOG_WARN, "%s: matrix products stay on the CPU", why);
        return GSH_FAILED;
    }
    GSH_TRY(open_handle());
    gsh_cublas.cublasGetProperty(GSH_CUBLAS_MAJOR_VERSION, &major);
    gsh_cublas.cublasGetProperty(GSH_CUBLAS_MINOR_VERSION, &minor);
    gsh_cublas.cublasGetProperty(GSH_CUBLAS_PATCH_LEVEL, &patch);
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, version, sizeof version);
    gsh_fmt_printf(&fmt, "%d.%d.%d", major, minor, patch);
    return GSH_OK;
}

const char *gsh_cuda_blas_version(void)
{
    return version;
}

static bool is_ready(void)
{
    if (__atomic_load_n(&state, __ATOMIC_RELAXED) == UNTRIED)
        __atomic_store_n(&state, open_library() == GSH_OK ? READY : ABSENT, __ATOMIC_RELAXED);
    return state == READY;
}

/* Strides as (op, leading dimension); false where cuBLAS has no such matrix. Extents of 1 (and 0)
 * leave their stride free, so such a matrix is described by its other one. */
static bool describe(int64_t rows, int64_t columns, int64_t row, int64_t column,
                     struct matrix *matrix)
{
    bool is_plain = columns > 1 && (rows <= 1 || row == 1);
    matrix->op = is_plain ? GSH_CUBLAS_OP_N : GSH_CUBLAS_OP_T;
    matrix->leading = is_plain ? column : row;
    if (rows <= 1 && columns <= 1)
        matrix->leading = 1;
    if (!is_plain && columns > 1 && column != 1)
        return false;
    return matrix->leading >= GSH_MAX(is_plain ? rows : columns, 1);
}

static bool describe_all(const struct gsh_gemm *g, struct matrix *a, struct matrix *b,
                         struct matrix *c)
{
    return g->m > 0 && g->n > 0 && g->k >= 0 && describe(g->m, g->k, g->a_row, g->a_col, a) &&
           describe(g->k, g->n, g->b_row, g->b_col, b) &&
           describe(g->m, g->n, g->c_row, g->c_col, c);
}

bool gsh_cuda_blas_supports(const struct gsh_launch *launch)
{
    struct matrix a, b, c;
    if (__atomic_load_n(&state, __ATOMIC_RELAXED) == ABSENT || launch->nin != 2 ||
        (launch->loop != GSH_FLOAT32 && launch->loop != GSH_FLOAT64))
        return false;
    for (unsigned i = 0; i <= launch->nin; i++)
        if (launch->operands[i].dtype != launch->loop || launch->operands[i].is_constant)
            return false;
    return describe_all(&launch->gemm, &a, &b, &c);
}

static gsh_cuda_enum flip(gsh_cuda_enum op)
{
    return op == GSH_CUBLAS_OP_N ? GSH_CUBLAS_OP_T : GSH_CUBLAS_OP_N;
}

/* The matrix times a vector: `rows` and `columns` are the matrix's own, `transposed` multiplies by
 * its transpose. */
static void set_gemv(struct product *product, const struct matrix *matrix, int64_t rows,
                     int64_t columns, bool transposed)
{
    bool is_plain = matrix->op == GSH_CUBLAS_OP_N;
    product->op_a = transposed ? flip(matrix->op) : matrix->op;
    product->m = is_plain ? rows : columns;
    product->n = is_plain ? columns : rows;
    product->a = matrix->address;
    product->a_leading = matrix->leading;
}

static void set_gemm(struct product *product, const struct gsh_gemm *g, const struct matrix *a,
                     const struct matrix *b, const struct matrix *c)
{
    bool is_plain = c->op == GSH_CUBLAS_OP_N;
    const struct matrix *first = is_plain ? a : b, *second = is_plain ? b : a;
    product->op_a = is_plain ? first->op : flip(first->op);
    product->op_b = is_plain ? second->op : flip(second->op);
    product->m = is_plain ? g->m : g->n;
    product->n = is_plain ? g->n : g->m;
    product->k = g->k;
    product->a = first->address;
    product->b = second->address;
    product->c = c->address;
    product->a_leading = first->leading;
    product->b_leading = second->leading;
    product->c_leading = c->leading;
}

static int64_t increment(int64_t extent, int64_t stride)
{
    return extent > 1 ? stride : 1;
}

static bool is_wide(const struct product *p)
{
    int64_t largest = GSH_MAX(GSH_MAX(p->m, p->n), p->k);
    int64_t leading = GSH_MAX(GSH_MAX(p->a_leading, p->b_leading), p->c_leading);
    return GSH_MAX(largest, leading) > INT_MAX;
}

static enum gsh_status run_dot(const struct routines *routines, const struct product *product)
{
    GSH_TRY(GSH_CUBLAS(gsh_cublas.cublasSetPointerMode_v2(handle, GSH_CUBLAS_POINTER_DEVICE)));
    enum gsh_status status = GSH_CUBLAS(routines->dot(product));
    GSH_TRY(GSH_CUBLAS(gsh_cublas.cublasSetPointerMode_v2(handle, GSH_CUBLAS_POINTER_HOST)));
    return status;
}

/* gemv leaves C alone where k is 0 (gemm scales it), and dot knows neither alpha nor beta. */
static enum gsh_status submit(const struct gsh_gemm *g, bool is_double, const struct matrix *a,
                              const struct matrix *b, const struct matrix *c)
{
    struct product product = {.alpha = g->alpha, .beta = g->beta};
    bool is_dot = g->m == 1 && g->n == 1 && g->k > 0 && g->alpha == 1 && g->beta == 0;
    bool is_gemv = !is_dot && g->k > 0 && (g->m == 1 || g->n == 1);
    if (is_dot) {
        product = (struct product){.k = g->k,
                                   .a = a->address,
                                   .b = b->address,
                                   .c = c->address,
                                   .a_leading = increment(g->k, g->a_col),
                                   .b_leading = increment(g->k, g->b_row)};
    } else if (is_gemv) {
        bool column = g->n == 1; /* C = A b, else C' = B' a' */
        set_gemv(&product, column ? a : b, column ? g->m : g->k, column ? g->k : g->n, !column);
        product.b = column ? b->address : a->address;
        product.b_leading = column ? increment(g->k, g->b_row) : increment(g->k, g->a_col);
        product.c = c->address;
        product.c_leading = column ? increment(g->m, g->c_row) : increment(g->n, g->c_col);
    } else {
        set_gemm(&product, g, a, b, c);
    }
    bool wide = is_wide(&product);
    if (wide && !has_wide_routines())
        return GSH_DECLINED;
    const struct routines *routines = &table[is_double][wide];
    if (is_dot)
        return run_dot(routines, &product);
    return is_gemv ? GSH_CUBLAS(routines->gemv(&product)) : GSH_CUBLAS(routines->gemm(&product));
}

enum gsh_status gsh_cuda_blas_run(const struct gsh_launch *launch, unsigned row)
{
    struct matrix a, b, c;
    if (!gsh_cuda_blas_supports(launch) || !is_ready() || !describe_all(&launch->gemm, &a, &b, &c))
        return GSH_DECLINED;
    a.address = launch->operands[0].address;
    b.address = launch->operands[1].address;
    c.address = launch->operands[2].address;
    bool is_timed = gsh_cuda_timing_begin(row);
    GSH_TRY(submit(&launch->gemm, launch->loop == GSH_FLOAT64, &a, &b, &c));
    if (is_timed)
        gsh_cuda_timing_end();
    gsh_stats_add(GSH_COUNTER_LAUNCHES, 1);
    return GSH_OK;
}
