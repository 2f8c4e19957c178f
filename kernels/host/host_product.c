/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Checked by tests/unit/interpose/blas/test_blas.c and tests/unit/kernels/test_blas_form.c.
 */
#include "host_product.h"

#include "blas_number.h"

struct product {
    const struct gsh_gemm *gemm;
    enum gsh_dtype dtype;
    const void *a, *b;
    void *c;
};

/* One of the two matrices that are multiplied. */
struct factor {
    const void *address;
    enum gsh_dtype dtype;
    int64_t row, column;
    bool is_conjugate;
    enum gsh_gemm_form form; /* GE: all of it is read */
    unsigned options;
};

static struct factor factor_of(const struct product *p, bool is_second)
{
    const struct gsh_gemm *g = p->gemm;
    bool is_structured =
        !gsh_gemm_writes_triangle(g) && is_second == ((g->options & GSH_GEMM_RIGHT) != 0);
    return (struct factor){.address = is_second ? p->b : p->a,
                           .dtype = p->dtype,
                           .row = is_second ? g->b_row : g->a_row,
                           .column = is_second ? g->b_col : g->a_col,
                           .is_conjugate = is_second ? g->b_is_conjugate : g->a_is_conjugate,
                           .form = is_structured ? g->form : GSH_GEMM_GE,
                           .options = g->options};
}

static bool is_inside(unsigned options, int64_t row, int64_t column)
{
    return (options & GSH_GEMM_UPPER) != 0 ? row <= column : row >= column;
}

static double _Complex stored(const struct factor *from, int64_t row, int64_t column)
{
    return gsh_blas_number_load_as(from->address, from->dtype,
                                   row * from->row + column * from->column, from->is_conjugate);
}

static double _Complex element(const struct factor *from, int64_t row, int64_t column)
{
    bool is_read = from->form == GSH_GEMM_GE || is_inside(from->options, row, column);
    double _Complex value = is_read ? stored(from, row, column) : stored(from, column, row);
    if (from->form != GSH_GEMM_HEMM)
        return value;
    return row == column ? creal(value) : is_read ? value : conj(value);
}

/* Whether an element has a value that is not read from memory: 0, or 1 (*is_one). */
static bool is_left_out(const struct factor *from, int64_t row, int64_t column, bool *is_one)
{
    bool is_triangular = from->form == GSH_GEMM_TRMM;
    *is_one = is_triangular && row == column && (from->options & GSH_GEMM_UNIT) != 0;
    return is_triangular && !is_inside(from->options, row, column);
}

/* An element of A B. */
static double _Complex sum_at(const struct product *p, int64_t row, int64_t column)
{
    const struct factor a = factor_of(p, false), b = factor_of(p, true);
    double _Complex sum = 0;
    for (int64_t l = 0; l < p->gemm->k; l++) {
        bool a_is_one, b_is_one;
        if (is_left_out(&a, row, l, &a_is_one) || is_left_out(&b, l, column, &b_is_one))
            continue;
        sum += a_is_one   ? element(&b, l, column)
               : b_is_one ? element(&a, row, l)
                          : element(&a, row, l) * element(&b, l, column);
    }
    return sum;
}

static double _Complex product_at(const struct product *p, int64_t row, int64_t column)
{
    const struct gsh_gemm *g = p->gemm;
    if (g->alpha == 0)
        return 0;
    double _Complex value = g->alpha * sum_at(p, row, column);
    if (g->form == GSH_GEMM_SYR2K)
        value += g->alpha * sum_at(p, column, row);
    if (g->form == GSH_GEMM_HER2K)
        value += conj(g->alpha * sum_at(p, column, row));
    return value;
}

static void compute(const struct product *p, int64_t row, int64_t column)
{
    const struct gsh_gemm *g = p->gemm;
    int64_t at = row * g->c_row + column * g->c_col;
    bool is_real = row == column && gsh_gemm_writes_triangle(g) && gsh_gemm_is_hermitian(g);
    double _Complex value = product_at(p, row, column);
    if (g->beta != 0) {
        double _Complex old = gsh_blas_number_load(p->c, p->dtype, at);
        value += g->beta * (is_real ? creal(old) : old);
    }
    gsh_blas_number_store(p->c, p->dtype, at, is_real ? creal(value) : value);
}

/* Visits elements in an order in which the product of a triangle may overwrite the other factor. */
void gsh_host_product_run(const struct gsh_gemm *gemm, enum gsh_dtype dtype, const void *a,
                          const void *b, void *c)
{
    const struct product product = {gemm, dtype, a, b, c};
    bool is_upper = (gemm->options & GSH_GEMM_UPPER) != 0;
    for (int64_t i = 0; i < gemm->m; i++)
        for (int64_t j = 0; j < gemm->n; j++) {
            int64_t row = is_upper ? i : gemm->m - 1 - i;
            int64_t column = is_upper ? gemm->n - 1 - j : j;
            if (!gsh_gemm_writes_triangle(gemm) || is_inside(gemm->options, row, column))
                compute(&product, row, column);
        }
}
