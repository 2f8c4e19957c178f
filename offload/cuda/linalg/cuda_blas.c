/* SPDX-License-Identifier: Apache-2.0
 *
 * cuBLAS takes column-major matrices, plain or transposed. A matrix with a unit row stride is column-major with its
 * column stride as leading dimension; one with a unit column stride is the transpose of such a matrix. A row-major C
 * is computed as C' = B' A'. Products with a vector use gemv, those of two vectors dot, those of a batch the batched
 * form of gemm. The workspace is ours: cuBLAS allocates nothing later, and results do not depend on other work.
 * Everything under the DISPATCH lock.
 */
#include "cuda_blas.h"

#include "cuda_context.h"
#include "cuda_loader.h"
#include "cuda_mem.h"
#include "options.h"

#include <complex.h>
#include <limits.h>

/* cuBLAS's manual recommends this for compute capability 9.0 and later; it is enough for the others. */
#define WORKSPACE_HOPPER ((size_t)32 << 20)
#define WORKSPACE ((size_t)8 << 20)
#define LARGEST_BATCH 65535 /* of one call: a dimension of a grid */

/* A matrix as cuBLAS takes it. */
struct matrix {
    gsh_cuda_enum op; /* N: column-major; T: the transpose is column-major */
    int64_t leading;
    uint64_t address;
};

/* One routine's arguments, for any type. */
struct product {
    gsh_cuda_enum op_a, op_b;
    int64_t m, n, k, a_leading, b_leading, c_leading; /* gemv: k unused, b and c are increments */
    int64_t count, a_step, b_step, c_step;            /* of a batch */
    uint64_t a, b, c;
    double _Complex alpha, beta;
    bool is_conjugate; /* dot: the first vector */
};

/* The routines of one element type and one width of integers. */
struct routines {
    gsh_cuda_enum (*gemm)(const struct product *product);
    gsh_cuda_enum (*gemv)(const struct product *product);
    gsh_cuda_enum (*dot)(const struct product *product);
};

static cublasHandle_t handle;

#define POINTER(number, address) ((number *)(uintptr_t)(address))
/* For a real type the real part is used. */
#define FACTOR(number, real, name)                                                                 \
    ((const number *)(const real[]){(real)creal(p->name), (real)cimag(p->name)})
#define FORWARD(name, letter, dot, dot_conjugate, suffix, integer, number, real)                   \
    static gsh_cuda_enum gemm_##name(const struct product *p)                                      \
    {                                                                                              \
        return gsh_cublas.cublas##letter##gemm_v2##suffix(                                         \
            handle, p->op_a, p->op_b, (integer)p->m, (integer)p->n, (integer)p->k,                 \
            FACTOR(number, real, alpha), POINTER(const number, p->a), (integer)p->a_leading,       \
            POINTER(const number, p->b), (integer)p->b_leading, FACTOR(number, real, beta),        \
            POINTER(number, p->c), (integer)p->c_leading);                                         \
    }                                                                                              \
    static gsh_cuda_enum gemv_##name(const struct product *p)                                      \
    {                                                                                              \
        return gsh_cublas.cublas##letter##gemv_v2##suffix(                                         \
            handle, p->op_a, (integer)p->m, (integer)p->n, FACTOR(number, real, alpha),            \
            POINTER(const number, p->a), (integer)p->a_leading, POINTER(const number, p->b),       \
            (integer)p->b_leading, FACTOR(number, real, beta), POINTER(number, p->c),              \
            (integer)p->c_leading);                                                                \
    }                                                                                              \
    static gsh_cuda_enum dot_##name(const struct product *p)                                       \
    {                                                                                              \
        return (p->is_conjugate ? gsh_cublas.cublas##letter##dot_conjugate##_v2##suffix            \
                                : gsh_cublas.cublas##letter##dot##_v2##suffix)(                    \
            handle, (integer)p->k, POINTER(const number, p->a), (integer)p->a_leading,             \
            POINTER(const number, p->b), (integer)p->b_leading, POINTER(number, p->c));            \
    }
#define FORWARD_ALL(width, suffix, integer)                                                        \
    FORWARD(f32##width, S, dot, dot, suffix, integer, float, float)                                \
    FORWARD(f64##width, D, dot, dot, suffix, integer, double, double)                              \
    FORWARD(c64##width, C, dotu, dotc, suffix, integer, struct float2, float)                      \
    FORWARD(c128##width, Z, dotu, dotc, suffix, integer, struct double2, double)
FORWARD_ALL(, , int)
FORWARD_ALL(_wide, _64, int64_t)

#define ROUTINES(name)                                                                             \
    {                                                                                              \
        {gemm_##name, gemv_##name, dot_##name},                                                    \
        {                                                                                          \
            gemm_##name##_wide, gemv_##name##_wide, dot_##name##_wide                              \
        }                                                                                          \
    }
static const struct {
    struct routines routines[2]; /* of int, of int64_t */
    gsh_cuda_enum type, compute;
    bool is_single;
} types[GSH_DTYPE_COUNT] = {
    [GSH_FLOAT32] = {ROUTINES(f32), GSH_CUDA_R_32F, GSH_CUBLAS_COMPUTE_32F, true},
    [GSH_FLOAT64] = {ROUTINES(f64), GSH_CUDA_R_64F, GSH_CUBLAS_COMPUTE_64F, false},
    [GSH_COMPLEX64] = {ROUTINES(c64), GSH_CUDA_C_32F, GSH_CUBLAS_COMPUTE_32F, true},
    [GSH_COMPLEX128] = {ROUTINES(c128), GSH_CUDA_C_64F, GSH_CUBLAS_COMPUTE_64F, false},
};

/* The wide routines came together, so one stands for all. */
static bool has_wide_routines(void)
{
    return gsh_cublas.cublasSgemm_v2_64 && gsh_cublas.cublasZgemm_v2_64 &&
           gsh_cublas.cublasSgemv_v2_64 && gsh_cublas.cublasZgemv_v2_64 &&
           gsh_cublas.cublasSdot_v2_64 && gsh_cublas.cublasZdotc_v2_64;
}

/* Called by any thread (cuda_loader.h). */
static enum gsh_status open_handle(void)
{
    uint64_t workspace;
    size_t size = gsh_cuda.arch >= 90 ? WORKSPACE_HOPPER : WORKSPACE;
    GSH_TRY(GSH_CUBLAS(gsh_cublas.cublasCreate_v2(&handle)));
    GSH_TRY(GSH_CUBLAS(gsh_cublas.cublasSetStream_v2(handle, gsh_cuda.compute)));
    GSH_TRY(gsh_cuda_mem_allocate_apart(size, &workspace));
    /* After SetStream, which would restore cuBLAS's own workspace. */
    GSH_TRY(
        GSH_CUBLAS(gsh_cublas.cublasSetWorkspace_v2(handle, (void *)(uintptr_t)workspace, size)));
    /* DEFAULT computes float32 in float32. PEDANTIC would also keep float64 off the tensor cores, which have the same
     * precision. */
    return GSH_CUBLAS(gsh_cublas.cublasSetMathMode(handle, gsh_option_number(GSH_OPTION_TF32)
                                                               ? GSH_CUBLAS_TF32_MATH
                                                               : GSH_CUBLAS_DEFAULT_MATH));
}

cublasHandle_t gsh_cuda_blas_handle(void)
{
    return handle;
}

struct gsh_cuda_loader gsh_cuda_blas_loader = {
    .work = "matrix products stay",
    .libraries = {GSH_CUDA_LIBRARY_CUBLAS},
    .library_count = 1,
    .get_property = &gsh_cublas.cublasGetProperty,
    .open_handles = open_handle,
    .kept = GSH_CUDA_LOAD_TIME_CUBLAS,
    .seconds = 0.2,
    .seconds_at_hand = 0.07,
};

/* Strides as (op, leading dimension); false where cuBLAS has no such matrix. An extent of 1 (or 0) makes its stride
 * irrelevant, so the other stride describes the matrix. */
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

bool gsh_cuda_blas_takes(const struct gsh_core *core, int64_t size)
{
    struct matrix matrix;
    return core->stride[0] % size == 0 && core->stride[1] % size == 0 &&
           describe(core->extent[0], core->extent[1], core->stride[0] / size,
                    core->stride[1] / size, &matrix);
}

static bool describe_all(const struct gsh_gemm *g, const uint64_t *addresses, struct matrix *a,
                         struct matrix *b, struct matrix *c)
{
    bool is_known = describe(g->m, g->k, g->a_row, g->a_col, a) &&
                    describe(g->k, g->n, g->b_row, g->b_col, b) &&
                    describe(g->m, g->n, g->c_row, g->c_col, c);
    a->address = addresses[0];
    b->address = addresses[1];
    c->address = addresses[2];
    return is_known;
}

bool gsh_cuda_blas_has_loop(enum gsh_dtype loop)
{
    return types[loop].routines[0].gemm != NULL &&
           gsh_cuda_loader_state(&gsh_cuda_blas_loader) != GSH_CUDA_ABSENT;
}

static gsh_cuda_enum flip(gsh_cuda_enum op)
{
    return op == GSH_CUBLAS_OP_N ? GSH_CUBLAS_OP_T : GSH_CUBLAS_OP_N;
}

/* The matrix times a vector: `rows` and `columns` are the matrix's own; `transposed` multiplies by its transpose. */
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
    if (GSH_CUBLAS(gsh_cublas.cublasSetPointerMode_v2(handle, GSH_CUBLAS_POINTER_HOST)) != GSH_OK) {
        gsh_cuda_loader_close(
            &gsh_cuda_blas_loader); /* all other calls pass factors in host memory */
        return GSH_FAILED;
    }
    return status;
}

/* gemv leaves C unchanged where k is 0 (gemm scales it), and dot has neither alpha nor beta. */
static enum gsh_status submit(const struct gsh_gemm *g, enum gsh_dtype loop, const struct matrix *a,
                              const struct matrix *b, const struct matrix *c)
{
    struct product product = {.alpha = g->alpha, .beta = g->beta};
    bool is_dot = gsh_cuda_blas_is_dot(g);
    bool is_gemv = !is_dot && g->k > 0 && (g->m == 1 || g->n == 1);
    if (is_dot) {
        product = (struct product){.k = g->k,
                                   .is_conjugate = g->a_is_conjugate,
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
    const struct routines *routines = &types[loop].routines[wide];
    if (is_dot)
        return run_dot(routines, &product);
    return is_gemv ? GSH_CUBLAS(routines->gemv(&product)) : GSH_CUBLAS(routines->gemm(&product));
}

/* At most LARGEST_BATCH products. */
static enum gsh_status submit_batch(const struct product *p, enum gsh_dtype loop)
{
    const float singles[2][2] = {{(float)creal(p->alpha), (float)cimag(p->alpha)},
                                 {(float)creal(p->beta), (float)cimag(p->beta)}};
    const double doubles[2][2] = {{creal(p->alpha), cimag(p->alpha)},
                                  {creal(p->beta), cimag(p->beta)}};
    bool is_single = types[loop].is_single;
    gsh_cuda_enum type = types[loop].type;
    return GSH_CUBLAS(gsh_cublas.cublasGemmStridedBatchedEx(
        handle, p->op_a, p->op_b, (int)p->m, (int)p->n, (int)p->k,
        is_single ? (const void *)singles[0] : doubles[0], POINTER(void, p->a), type,
        (int)p->a_leading, p->a_step, POINTER(void, p->b), type, (int)p->b_leading, p->b_step,
        is_single ? (const void *)singles[1] : doubles[1], POINTER(void, p->c), type,
        (int)p->c_leading, p->c_step, (int)p->count, types[loop].compute, GSH_CUBLAS_GEMM_DEFAULT));
}

static enum gsh_status submit_batches(const struct gsh_gemm *g, enum gsh_dtype loop,
                                      const struct gsh_cuda_blas_batch *batch,
                                      const struct matrix *a, const struct matrix *b,
                                      const struct matrix *c)
{
    struct product product = {.alpha = g->alpha, .beta = g->beta};
    uint64_t size = gsh_dtype_size(loop);
    bool is_plain = c->op == GSH_CUBLAS_OP_N; /* else a and b are exchanged: see set_gemm */
    set_gemm(&product, g, a, b, c);
    if (is_wide(&product))
        return GSH_DECLINED;
    product.a_step = batch->steps[is_plain ? 0 : 1];
    product.b_step = batch->steps[is_plain ? 1 : 0];
    product.c_step = batch->steps[2];
    for (int64_t left = batch->count; left > 0; left -= product.count) {
        product.count = GSH_MIN(left, LARGEST_BATCH);
        GSH_TRY(submit_batch(&product, loop));
        product.a += (uint64_t)(product.count * product.a_step) * size;
        product.b += (uint64_t)(product.count * product.b_step) * size;
        product.c += (uint64_t)(product.count * product.c_step) * size;
    }
    return GSH_OK;
}

enum gsh_status gsh_cuda_blas_run(const struct gsh_gemm *g, enum gsh_dtype loop,
                                  const uint64_t *addresses,
                                  const struct gsh_cuda_blas_batch *batch)
{
    struct matrix a, b, c;
    if (!gsh_cuda_loader_is_ready(&gsh_cuda_blas_loader) || !describe_all(g, addresses, &a, &b, &c))
        return GSH_DECLINED;
    return batch->count == 1 ? submit(g, loop, &a, &b, &c)
                             : submit_batches(g, loop, batch, &a, &b, &c);
}
