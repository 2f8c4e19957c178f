/* SPDX-License-Identifier: Apache-2.0
 *
 * Products: ?gemm in the C and Fortran interfaces. NumPy's own products are taken over by the
 * matmul hooks, which know more about residency. These entry points serve SciPy and other
 * libraries. Checked by tests/unit/interpose/blas/test_blas.c.
 */
#include "blas_entry.h"

#include "blas_number.h"
#include "host_product.h"

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102 };
enum { NO_TRANSPOSE = 111, TRANSPOSE = 112, CONJUGATE_TRANSPOSE = 113 };

/* One call of ?gemm. */
struct product {
    enum gsh_dtype dtype;
    int order, transpose_a, transpose_b;
    int64_t m, n, k, lda, ldb, ldc;
    double _Complex alpha, beta;
    void *a, *b, *c;
};

/* ---- reading the arguments ---- */

/* Reads the arguments of a C entry point: a, b and c with their leading dimensions follow the
 * dimensions. alpha and beta are passed by address for complex types. */
static struct product read_cblas(const struct gsh_blas_entry_call *call)
{
    bool by_address = gsh_blas_entry_is_complex(call);
    unsigned at = by_address ? 7 : 6, c = by_address ? 12 : 10;
    const double *given = call->frame->vectors;
    return (struct product){
        .dtype = call->dtype,
        .order = (int)gsh_blas_entry_word(call, 0),
        .transpose_a = (int)gsh_blas_entry_word(call, 1),
        .transpose_b = (int)gsh_blas_entry_word(call, 2),
        .m = gsh_blas_entry_integer(call, 3),
        .n = gsh_blas_entry_integer(call, 4),
        .k = gsh_blas_entry_integer(call, 5),
        .a = gsh_blas_entry_address(call, at),
        .lda = gsh_blas_entry_integer(call, at + 1),
        .b = gsh_blas_entry_address(call, at + 2),
        .ldb = gsh_blas_entry_integer(call, at + 3),
        .c = gsh_blas_entry_address(call, c),
        .ldc = gsh_blas_entry_integer(call, c + 1),
        .alpha = gsh_blas_number_load(by_address ? gsh_blas_entry_address(call, 6) : &given[0],
                                      call->dtype, 0),
        .beta = gsh_blas_number_load(by_address ? gsh_blas_entry_address(call, 11) : &given[1],
                                     call->dtype, 0)};
}

static int transposition(char letter)
{
    return letter == 'N'   ? NO_TRANSPOSE
           : letter == 'T' ? TRANSPOSE
           : letter == 'C' ? CONJUGATE_TRANSPOSE
                           : 0;
}

static struct product read_fortran(const struct gsh_blas_entry_call *call)
{
    return (struct product){.dtype = call->dtype,
                            .order = COLUMN_MAJOR,
                            .transpose_a = transposition(gsh_blas_entry_letter(call, 0)),
                            .transpose_b = transposition(gsh_blas_entry_letter(call, 1)),
                            .m = gsh_blas_entry_integer(call, 2),
                            .n = gsh_blas_entry_integer(call, 3),
                            .k = gsh_blas_entry_integer(call, 4),
                            .alpha = gsh_blas_entry_factor(call, 5),
                            .a = gsh_blas_entry_address(call, 6),
                            .lda = gsh_blas_entry_integer(call, 7),
                            .b = gsh_blas_entry_address(call, 8),
                            .ldb = gsh_blas_entry_integer(call, 9),
                            .beta = gsh_blas_entry_factor(call, 10),
                            .c = gsh_blas_entry_address(call, 11),
                            .ldc = gsh_blas_entry_integer(call, 12)};
}

/* ---- the launch ---- */

static struct gsh_operand operand_at(enum gsh_dtype dtype, const void *address)
{
    return (struct gsh_operand){.dtype = dtype, .address = (uint64_t)(uintptr_t)address};
}

/* Element strides of a rows x columns matrix. False: BLAS does not allow the leading dimension. */
static bool set_strides(bool columns_contiguous, int64_t rows, int64_t columns, int64_t leading,
                        int64_t *row_stride, int64_t *column_stride)
{
    *row_stride = columns_contiguous ? leading : 1;
    *column_stride = columns_contiguous ? 1 : leading;
    return leading >= GSH_MAX(1, columns_contiguous ? columns : rows);
}

static bool set_all_strides(const struct product *p, struct gsh_gemm *gemm)
{
    bool row_major = p->order == ROW_MAJOR;
    return set_strides(row_major == (p->transpose_a == NO_TRANSPOSE), p->m, p->k, p->lda,
                       &gemm->a_row, &gemm->a_col) &&
           set_strides(row_major == (p->transpose_b == NO_TRANSPOSE), p->k, p->n, p->ldb,
                       &gemm->b_row, &gemm->b_col) &&
           set_strides(row_major, p->m, p->n, p->ldc, &gemm->c_row, &gemm->c_col);
}

static bool is_known(const struct product *p)
{
    return (p->order == ROW_MAJOR || p->order == COLUMN_MAJOR) && p->transpose_a >= NO_TRANSPOSE &&
           p->transpose_a <= CONJUGATE_TRANSPOSE && p->transpose_b >= NO_TRANSPOSE &&
           p->transpose_b <= CONJUGATE_TRANSPOSE;
}

/* False for arguments that BLAS refuses or that need no computation: they are left to the original.
 */
static bool describe_product(const struct product *p, struct gsh_launch *launch)
{
    if (!is_known(p) || p->m <= 0 || p->n <= 0 || p->k < 0)
        return false;
    struct gsh_gemm gemm = {
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .alpha = p->alpha,
        .beta = p->beta,
        .a_is_conjugate = gsh_dtype_kind(p->dtype) == 'c' && p->transpose_a == CONJUGATE_TRANSPOSE,
        .b_is_conjugate = gsh_dtype_kind(p->dtype) == 'c' && p->transpose_b == CONJUGATE_TRANSPOSE};
    if (!set_all_strides(p, &gemm))
        return false;
    *launch = (struct gsh_launch){
        .kind = GSH_LAUNCH_GEMM, .loop = p->dtype, .nin = 2, .nout = 1, .gemm = gemm};
    launch->operands[0] = operand_at(p->dtype, p->a);
    launch->operands[1] = operand_at(p->dtype, p->b);
    launch->operands[2] = operand_at(p->dtype, p->c);
    return true;
}

static bool run_product(struct gsh_blas_entry_call *call, const struct product *p)
{
    if (p->k == 0 || !describe_product(p, &call->call.launch))
        return false;
    call->why = GSH_REASON_KEYWORDS;
    return p->alpha != 0 && gsh_blas_entry_launch(call); /* alpha 0: BLAS reads neither A nor B */
}

static bool run_cblas_gemm(struct gsh_blas_entry_call *call)
{
    struct product product = read_cblas(call);
    return run_product(call, &product);
}

static bool run_gemm(struct gsh_blas_entry_call *call)
{
    struct product product = read_fortran(call);
    return run_product(call, &product);
}

/* ---- without BLAS ---- */

/* Computes the product with plain loops. False: illegal arguments. */
static bool compute_here(const struct product *p)
{
    struct gsh_launch launch;
    if (!describe_product(p, &launch))
        return p->m == 0 || p->n == 0;
    gsh_host_product_run(&launch.gemm, p->dtype, p->a, p->b, p->c);
    return true;
}

static bool reference_cblas_gemm(struct gsh_blas_entry_call *call)
{
    struct product product = read_cblas(call);
    return compute_here(&product);
}

static bool reference_gemm(struct gsh_blas_entry_call *call)
{
    struct product product = read_fortran(call);
    return compute_here(&product);
}

const struct gsh_blas_entry_shape gsh_blas_entry_shape_CBLAS_GEMM = {
    .sizes = {3, 4, 5},
    .matrices = {6, 8, 10, GSH_BLAS_ENTRY_NONE},
    .arguments = 12,
    .info = GSH_BLAS_ENTRY_NONE,
    .by_value = true,
    .lapack_routine = GSH_BLAS_ENTRY_NONE,
    .run = run_cblas_gemm,
    .run_reference = reference_cblas_gemm};

const struct gsh_blas_entry_shape gsh_blas_entry_shape_CBLAS_GEMM_COMPLEX = {
    .sizes = {3, 4, 5},
    .matrices = {7, 9, 12, GSH_BLAS_ENTRY_NONE},
    .arguments = 14,
    .info = GSH_BLAS_ENTRY_NONE,
    .by_value = true,
    .lapack_routine = GSH_BLAS_ENTRY_NONE,
    .run = run_cblas_gemm,
    .run_reference = reference_cblas_gemm};

const struct gsh_blas_entry_shape gsh_blas_entry_shape_GEMM = {
    .sizes = {2, 3, 4},
    .matrices = {6, 8, 11, GSH_BLAS_ENTRY_NONE},
    .arguments = 13 + 2,
    .info = GSH_BLAS_ENTRY_NONE,
    .lapack_routine = GSH_BLAS_ENTRY_NONE,
    .run = run_gemm,
    .run_reference = reference_gemm};
