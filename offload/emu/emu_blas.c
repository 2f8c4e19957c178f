/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loops of NumPy's matmul where they are available. For real and complex numbers with any alpha and beta,
 * CBLAS by function pointer, with either width of integers. Plain loops replace both.
 */
#include "emu_blas.h"

#include "emu_blas_forms.h"
#include "host_half.h"
#include "host_routines.h"
#include "host_walk.h"

#include <complex.h>
#include <dlfcn.h>
#include <limits.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112, CONJUGATE_TRANS = 113 };

#define DECLARE(name, type, factor, integer)                                                       \
    typedef void name(int, int, int, integer, integer, integer, factor, const type *, integer,     \
                      const type *, integer, factor, type *, integer);
#define DECLARE_BOTH(name, type, factor)                                                           \
    DECLARE(name##32, type, factor, int32_t)                                                       \
    DECLARE(name##64, type, factor, int64_t)
DECLARE_BOTH(sgemm, float, float)
DECLARE_BOTH(dgemm, double, double)
DECLARE_BOTH(cgemm, float _Complex, const float _Complex *)
DECLARE_BOTH(zgemm, double _Complex, const double _Complex *)

static const char *system_blas; /* file name of the system's BLAS; NULL: none was loaded */

static gsh_host_routines_function *find_gemm(enum gsh_dtype dtype, int *integer_bits)
{
    return gsh_host_routines_find(gsh_host_routines_product(GSH_GEMM_GE), dtype, integer_bits);
}

static bool has_gemm(void)
{
    int integer_bits;
    return find_gemm(GSH_FLOAT64, &integer_bits) != NULL;
}

const char *gsh_emu_blas_name(void)
{
    if (system_blas != NULL)
        return system_blas;
    return has_gemm() ? "the process's own BLAS" : "plain loops";
}

static bool register_from(void *library)
{
    static const struct {
        enum gsh_dtype dtype;
        const char *name;
    } functions[] = {{GSH_FLOAT32, "cblas_sgemm"},
                     {GSH_COMPLEX64, "cblas_cgemm"},
                     {GSH_COMPLEX128, "cblas_zgemm"},
                     {GSH_FLOAT64, "cblas_dgemm"}};
    for (size_t k = 0; k < GSH_COUNT(functions); k++) {
        void *gemm = dlsym(library, functions[k].name);
        if (gemm != NULL)
            gsh_host_routines_register(gsh_host_routines_product(GSH_GEMM_GE), functions[k].dtype,
                                       (gsh_host_routines_function *)gemm, 32);
    }
    return has_gemm();
}

static void find_system_blas(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libcblas.so.3", "libblas.so.3"};
    for (size_t k = 0; k < GSH_COUNT(names) && !has_gemm(); k++) {
        void *library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
        if (library != NULL && register_from(library))
            system_blas = names[k];
    }
}

/* A row-major BLAS operand: stored as it is (column stride 1) or transposed (row stride 1). */
struct matrix {
    int trans;
    int64_t leading; /* 0: not such an operand */
};

static struct matrix describe(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride,
                              bool is_conjugate)
{
    int64_t turned = cols == 1 ? GSH_MAX(rows, 1) : col_stride;
    if (is_conjugate)
        return (struct matrix){CONJUGATE_TRANS, row_stride == 1 || rows == 1 ? turned : 0};
    if (col_stride == 1 || cols == 1)
        return (struct matrix){NO_TRANS, rows == 1 ? GSH_MAX(cols, 1) : row_stride};
    return (struct matrix){TRANS, turned};
}

/* CBLAS takes a leading dimension of at least the row's length, and a row-major C. */
static bool fits_blas(struct matrix matrix, int64_t rows, int64_t cols)
{
    return matrix.leading >= (matrix.trans == NO_TRANS ? cols : rows) && matrix.leading >= 1;
}

/* Whether a vector, which has one stride that matters, or a matrix has a unit stride in one dimension. */
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

/* Computes a C that is stored by columns as C' = B' A'. */
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
                         .beta = g->beta,
                         .a_is_conjugate = g->b_is_conjugate,
                         .b_is_conjugate = g->a_is_conjugate};
    const void *a = product->a;
    product->a = product->b;
    product->b = a;
    *g = t;
}

#define AS_IT_IS(x) (x)
#define FIRST(x) (g->a_is_conjugate ? conj(x) : (x))
#define SECOND(x) (g->b_is_conjugate ? conj(x) : (x))
#define BY_VALUE(type, x) ((type)(x))
#define BY_ADDRESS(type, x) (&(const type){(type)(x)})

#define DEFINE_PRODUCT(name, type, dtype, blas, factor, load_a, load_b)                            \
    static bool name##_blas(const struct product *p)                                               \
    {                                                                                              \
        const struct gsh_gemm *g = &p->gemm;                                                       \
        struct matrix a = describe(g->m, g->k, g->a_row, g->a_col, g->a_is_conjugate);             \
        struct matrix b = describe(g->k, g->n, g->b_row, g->b_col, g->b_is_conjugate);             \
        struct matrix c = describe(g->m, g->n, g->c_row, g->c_col, false);                         \
        int integer_bits;                                                                          \
        gsh_host_routines_function *function = find_gemm(dtype, &integer_bits);                    \
        if (!have_unit_strides(g) || !fits_blas(a, g->m, g->k) || !fits_blas(b, g->k, g->n) ||     \
            !fits_blas(c, g->m, g->n) || c.trans != NO_TRANS || function == NULL)                  \
            return false;                                                                          \
        if (integer_bits == 64) {                                                                  \
            ((blas##64 *)function)(ROW_MAJOR, a.trans, b.trans, g->m, g->n, g->k,                  \
                                   factor(type, g->alpha), p->a, a.leading, p->b, b.leading,       \
                                   factor(type, g->beta), p->c, c.leading);                        \
            return true;                                                                           \
        }                                                                                          \
        int64_t longest = GSH_MAX(GSH_MAX(a.leading, b.leading), c.leading);                       \
        longest = GSH_MAX(longest, GSH_MAX(g->m, GSH_MAX(g->n, g->k)));                            \
        if (longest > INT32_MAX)                                                                   \
            return false;                                                                          \
        ((blas##32 *)function)(ROW_MAJOR, a.trans, b.trans, (int32_t)g->m, (int32_t)g->n,          \
                               (int32_t)g->k, factor(type, g->alpha), p->a, (int32_t)a.leading,    \
                               p->b, (int32_t)b.leading, factor(type, g->beta), p->c,              \
                               (int32_t)c.leading);                                                \
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
                for (int64_t l = 0; l < g->k; l++) {                                               \
                    const type x = a[i * g->a_row + l * g->a_col];                                 \
                    const type y = b[l * g->b_row + j * g->b_col];                                 \
                    sum += (type)load_a(x) * (type)load_b(y);                                      \
                }                                                                                  \
                type *to = &c[i * g->c_row + j * g->c_col];                                        \
                *to = (g->alpha == 1 ? sum : (type)g->alpha * sum) +                               \
                      (g->beta == 0 ? 0 : (type)g->beta * *to);                                    \
            }                                                                                      \
    }                                                                                              \
    static void run_##name(const struct product *p)                                                \
    {                                                                                              \
        if (!name##_blas(p))                                                                       \
            name##_loops(p);                                                                       \
    }

DEFINE_PRODUCT(single, float, GSH_FLOAT32, sgemm, BY_VALUE, AS_IT_IS, AS_IT_IS)
DEFINE_PRODUCT(twofold, double, GSH_FLOAT64, dgemm, BY_VALUE, AS_IT_IS, AS_IT_IS)
DEFINE_PRODUCT(pair, float _Complex, GSH_COMPLEX64, cgemm, BY_ADDRESS, FIRST, SECOND)
DEFINE_PRODUCT(wide_pair, double _Complex, GSH_COMPLEX128, zgemm, BY_ADDRESS, FIRST, SECOND)

/* Products without alpha and beta. */
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

/* Integers wrap, signed or not. */
DEFINE_PLAIN(bool, uint8_t, bool, OR_BOTH, AS_IT_IS, AS_IT_IS, AS_IT_IS)
DEFINE_PLAIN(word8, uint8_t, uint64_t, ADD_PRODUCT, AS_WORD, AS_WORD, CAST_8)
DEFINE_PLAIN(word16, uint16_t, uint64_t, ADD_PRODUCT, AS_WORD, AS_WORD, CAST_16)
DEFINE_PLAIN(word32, uint32_t, uint64_t, ADD_PRODUCT, AS_WORD, AS_WORD, CAST_32)
DEFINE_PLAIN(word64, uint64_t, uint64_t, ADD_PRODUCT, AS_WORD, AS_WORD, AS_WORD)
DEFINE_PLAIN(half, uint16_t, float, ADD_PRODUCT, gsh_half_to_float, gsh_half_to_float,
             gsh_half_of_float)

typedef void run_product(const struct product *product);
static run_product *const runs[GSH_DTYPE_COUNT] = {
    [GSH_BOOL] = bool_plain,     [GSH_INT8] = word8_plain,         [GSH_INT16] = word16_plain,
    [GSH_INT32] = word32_plain,  [GSH_INT64] = word64_plain,       [GSH_UINT8] = word8_plain,
    [GSH_UINT16] = word16_plain, [GSH_UINT32] = word32_plain,      [GSH_UINT64] = word64_plain,
    [GSH_FLOAT16] = half_plain,  [GSH_FLOAT32] = run_single,       [GSH_FLOAT64] = run_twofold,
    [GSH_COMPLEX64] = run_pair,  [GSH_COMPLEX128] = run_wide_pair,
};

static bool is_plain(const struct gsh_gemm *g)
{
    return g->alpha == 1 && g->beta == 0;
}

static bool has_blas(enum gsh_dtype loop)
{
    return ((1u << loop) & (unsigned)GSH_SET_BLAS) != 0;
}

bool gsh_emu_blas_supports(const struct gsh_launch *launch)
{
    if (launch->gemm.form != GSH_GEMM_GE)
        return has_blas(launch->loop) && gsh_emu_blas_forms_supports(launch);
    return is_plain(&launch->gemm) || has_blas(launch->loop);
}

/* Computes one matrix of the batch; `addresses` are its operands'. */
static void run_own(const struct gsh_launch *launch, char *const *addresses)
{
    struct product product = {
        .gemm = launch->gemm, .a = addresses[0], .b = addresses[1], .c = addresses[2]};
    if (has_blas(launch->loop))
        make_row_major(&product);
    runs[launch->loop](&product);
}

static const struct gsh_host_loop *find_loop(const struct gsh_launch *launch)
{
    return gsh_host_routines_find_loop(gsh_host_routines_product(GSH_GEMM_GE), launch->loop);
}

static void run_registered(const struct gsh_launch *launch, char *const *addresses)
{
    const struct gsh_host_loop *loop = find_loop(launch);
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
    loop->function(args, dimensions, steps, loop->data);
}

/* NumPy 1.24's loops write before an output vector that runs backwards (np.matmul(a, x, out=y[::-1])); later versions
 * do not. */
static bool runs_backwards(const struct gsh_gemm *g)
{
    return (g->m > 1 && g->c_row < 0) || (g->n > 1 && g->c_col < 0);
}

enum gsh_status gsh_emu_blas_run(const struct gsh_launch *launch)
{
    const struct gsh_gemm *g = &launch->gemm;
    bool is_registered = find_loop(launch)->function != NULL && is_plain(g) && !g->a_is_conjugate &&
                         !g->b_is_conjugate && !runs_backwards(g);
    struct gsh_host_walk walk = gsh_host_walk_begin(launch, 0, launch->ndim);
    int64_t left = gsh_launch_elements(launch);
    if (g->form != GSH_GEMM_GE) {
        gsh_emu_blas_forms_run(launch);
        return GSH_OK;
    }
    if (!is_registered && !has_gemm())
        find_system_blas();
    for (; left > 0; left--, gsh_host_walk_step(&walk, 1))
        (is_registered ? run_registered : run_own)(launch, walk.address);
    return GSH_OK;
}
