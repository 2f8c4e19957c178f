/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of every form other than GE on a GPU, of every type, triangle, side, transposition and diagonal, against the host's
 * plain loops. The elements are small integers, so that all sums are exact: every byte of C's buffer must be the same, but
 * for the sign of a zero. What is not to be read is no number. Skipped where no GPU is.
 */
#include "blas_number.h"
#include "host_product.h"
#include "open_gpu.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEADING 160
#define ELEMENTS ((size_t)LEADING * LEADING)
#define BYTES (ELEMENTS * sizeof(double _Complex))

static unsigned char *host[3], *got;
static uint64_t device[3];

struct variant {
    enum gsh_dtype dtype;
    enum gsh_gemm_form form;
    unsigned options;
    char trans; /* of updates and triangles */
    int64_t m, n, k;
    double _Complex alpha, beta;
};

static bool is_complex(const struct variant *v)
{
    return gsh_dtype_kind(v->dtype) == 'c';
}

/* The strides of a matrix that is stored by columns, as it stands or transposed. */
static void set_strides(bool is_turned, int64_t *row, int64_t *column)
{
    *row = is_turned ? LEADING : 1;
    *column = is_turned ? 1 : LEADING;
}

static struct gsh_gemm describe(const struct variant *v)
{
    struct gsh_gemm g = {.m = v->m,
                         .n = v->n,
                         .k = v->k,
                         .c_row = 1,
                         .c_col = LEADING,
                         .alpha = v->alpha,
                         .beta = v->beta,
                         .form = v->form,
                         .options = v->options};
    bool is_turned = v->trans != 'N', is_conjugate = v->trans == 'C' && is_complex(v);
    bool is_right = (v->options & GSH_GEMM_RIGHT) != 0;
    if (gsh_gemm_writes_triangle(&g)) {
        set_strides(is_turned, &g.a_row, &g.a_col);
        set_strides(!is_turned, &g.b_row, &g.b_col);
        g.a_is_conjugate = is_conjugate;
        g.b_is_conjugate = is_conjugate != gsh_gemm_is_hermitian(&g);
        return g;
    }
    set_strides(is_turned && !is_right, &g.a_row, &g.a_col);
    set_strides(is_turned && is_right, &g.b_row, &g.b_col);
    g.a_is_conjugate = is_conjugate && !is_right;
    g.b_is_conjugate = is_conjugate && is_right;
    return g;
}

/* Whether an element of the matrix of which one triangle is read, as it lies, is not to be read. */
static bool is_hole(const struct variant *v, int64_t row, int64_t column)
{
    bool is_upper = ((v->options & GSH_GEMM_UPPER) != 0) == (v->trans == 'N');
    bool is_diagonal = row == column;
    return is_diagonal ? (v->options & GSH_GEMM_UNIT) != 0 : (row < column) != is_upper;
}

static double _Complex number(const struct variant *v, unsigned which, int64_t i, int64_t j)
{
    double real = (double)((i * 5 + j * 3 + which * 7) % 7 - 3);
    return is_complex(v) ? real + I * (double)((i * 3 + j * 4 + which) % 5 - 2) : real;
}

static void fill(const struct variant *v, const struct gsh_gemm *g)
{
    unsigned holed = gsh_gemm_writes_triangle(g) ? 3 : (v->options & GSH_GEMM_RIGHT) != 0 ? 1 : 0;
    for (unsigned which = 0; which < 3; which++)
        for (int64_t j = 0; j < LEADING; j++)
            for (int64_t i = 0; i < LEADING; i++) {
                bool is_nan = which == holed ? is_hole(v, i, j) : which == 2 && v->beta == 0;
                gsh_blas_number_store(host[which], v->dtype, i + j * LEADING,
                                      is_nan ? (double)NAN : number(v, which, i, j));
            }
}

static unsigned count_wrong(const struct variant *v)
{
    size_t size = gsh_dtype_size(v->dtype) / (is_complex(v) ? 2 : 1), wrong = 0;
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    for (size_t at = 0; at < ELEMENTS * gsh_dtype_size(v->dtype); at += size) {
        uint64_t x = 0, y = 0;
        memcpy(&x, got + at, size);
        memcpy(&y, host[2] + at, size);
        wrong += x != y && ((x | y) & ~sign) != 0;
    }
    return (unsigned)wrong;
}

static void test_variant(const struct variant *v)
{
    struct gsh_gemm g = describe(v);
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_GEMM, .loop = v->dtype, .nin = 2, .nout = 1, .gemm = g};
    bool is_same =
        gsh_gemm_writes_triangle(&g) && (v->form == GSH_GEMM_SYRK || v->form == GSH_GEMM_HERK);
    fill(v, &g);
    for (unsigned k = 0; k < 3; k++) {
        unsigned from = k == 1 && is_same ? 0 : k;
        launch.operands[k] = (struct gsh_operand){.dtype = v->dtype, .address = device[from]};
        CHECK_INT(dev->upload(device[k], host[k], BYTES, false), GSH_OK);
    }
    gsh_host_product_run(&g, v->dtype, host[0], host[is_same ? 0 : 1], host[2]);
    bool is_done = CHECK(dev->supports(&launch)) && CHECK_INT(dev->run(&launch, 0), GSH_OK) &&
                   CHECK_INT(dev->download(got, device[2], BYTES, false), GSH_OK);
    if (is_done && !CHECK_INT(count_wrong(v), 0))
        printf("%s form %d options %u %c m %lld n %lld k %lld alpha %g %g beta %g %g\n",
               gsh_dtype_name(v->dtype), (int)v->form, v->options, v->trans, (long long)v->m,
               (long long)v->n, (long long)v->k, creal(v->alpha), cimag(v->alpha), creal(v->beta),
               cimag(v->beta));
}

/* alpha and beta: real ones, then any. */
static const double _Complex factors[][2] = {{1, 0}, {-2, 1}, {1 - 2 * I, 2 + I}, {I, 0}};

static void test_factors(struct variant v)
{
    bool is_real = v.form == GSH_GEMM_HERK || v.form == GSH_GEMM_HER2K;
    unsigned count = is_complex(&v) && v.form != GSH_GEMM_HERK ? 4 : 2;
    for (unsigned i = 0; i < count; i++) {
        v.alpha = factors[i][0];
        v.beta = v.form == GSH_GEMM_TRMM ? 0 : is_real ? creal(factors[i][1]) : factors[i][1];
        test_variant(&v);
    }
}

static void test_sizes(struct variant v)
{
    static const int64_t sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {33, 70}, {150, 64}};
    bool is_update = v.form <= GSH_GEMM_HER2K;
    for (size_t i = 0; i < GSH_COUNT(sizes); i++) {
        v.m = sizes[i][0];
        v.n = is_update ? v.m : sizes[i][1];
        v.k = is_update ? sizes[i][1] : (v.options & GSH_GEMM_RIGHT) != 0 ? v.n : v.m;
        test_factors(v);
    }
}

/* Whether BLAS has it. */
static bool is_known(const struct variant *v)
{
    bool is_triangular = v->form == GSH_GEMM_TRMM, is_update = v->form <= GSH_GEMM_HER2K;
    bool is_hermitian = v->form == GSH_GEMM_HERK || v->form == GSH_GEMM_HER2K;
    bool has_trans =
        is_triangular || v->trans == 'N' || (is_update && v->trans == (is_hermitian ? 'C' : 'T'));
    return has_trans && (is_triangular || (v->options & GSH_GEMM_UNIT) == 0) &&
           (!is_update || (v->options & GSH_GEMM_RIGHT) == 0);
}

static void test_form(enum gsh_dtype dtype, enum gsh_gemm_form form)
{
    for (unsigned bits = 0; bits < 3 << 3; bits++) {
        struct variant v = {
            .dtype = dtype, .form = form, .options = bits & 7, .trans = "NTC"[bits >> 3]};
        if (is_known(&v))
            test_sizes(v);
    }
}

/* Updates of real numbers as Hermitian ones are nobody's; nor are matrices that step by 2, or lie between two addresses. */
static void test_refused(void)
{
    struct variant v = {.dtype = GSH_FLOAT64,
                        .form = GSH_GEMM_SYRK,
                        .trans = 'N',
                        .m = 5,
                        .n = 5,
                        .k = 3,
                        .alpha = 1};
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_GEMM, .loop = GSH_FLOAT64, .nin = 2, .nout = 1, .gemm = describe(&v)};
    for (unsigned k = 0; k < 3; k++)
        launch.operands[k] = (struct gsh_operand){.dtype = GSH_FLOAT64, .address = device[k]};
    CHECK(dev->supports(&launch));
    launch.operands[0].address += 4;
    CHECK(!dev->supports(&launch));
    launch.operands[0].address -= 4;
    launch.gemm.a_row = 2;
    CHECK(!dev->supports(&launch));
    launch.gemm.a_row = 1;
    launch.gemm.form = GSH_GEMM_HERK;
    CHECK(!dev->supports(&launch));
}

int main(void)
{
    static const enum gsh_dtype dtypes[] = {GSH_FLOAT32, GSH_FLOAT64, GSH_COMPLEX64,
                                            GSH_COMPLEX128};
    int status = open_gpu();
    if (status != 0)
        return status;
    got = malloc(BYTES);
    for (unsigned k = 0; k < 3; k++) {
        host[k] = calloc(1, BYTES);
        CHECK_INT(dev->allocate(BYTES, &device[k]), GSH_OK);
    }
    for (size_t i = 0; i < GSH_COUNT(dtypes); i++)
        for (int form = GSH_GEMM_SYRK; form < GSH_GEMM_FORMS; form++) {
            bool is_hermitian =
                form == GSH_GEMM_HERK || form == GSH_GEMM_HER2K || form == GSH_GEMM_HEMM;
            if (!is_hermitian || gsh_dtype_kind(dtypes[i]) == 'c')
                test_form(dtypes[i], (enum gsh_gemm_form)form);
        }
    test_refused();
    CHECK_INT(dev->synchronize(), GSH_OK);
    for (unsigned k = 0; k < 3; k++)
        free(host[k]);
    free(got);
    return check_result();
}
