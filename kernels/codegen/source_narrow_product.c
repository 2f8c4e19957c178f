/* SPDX-License-Identifier: Apache-2.0
 *
 * The narrow factor is A, of few rows: else the transposes are multiplied, C' = B' A'.
 */
#include "source_narrow_product.h"

#include "source_parts.h"
#include "source_texts.h"

#define FEW_ROWS 4
#define MOST_ROWS 16
#define MOST_COLUMNS 32 /* of a matrix of several rows */
/* Where a vector is shorter and the other factor has so many columns, each thread sums a column alone. */
#define SHORT 16
#define MANY 4096
/* Blocks, and rows for each thread, from which on the rows are not divided among more blocks. */
#define ENOUGH_BLOCKS 512
#define ENOUGH_ROWS 16
#define MOST_PARTS 256

#define SUPPORTED                                                                                  \
    (1u << GSH_FLOAT32 | 1u << GSH_FLOAT64 | 1u << GSH_COMPLEX64 | 1u << GSH_COMPLEX128)

/* A of few rows times B, as they are given or transposed. */
struct product {
    const struct gsh_operand *a, *b;
    int64_t m, n, k, a_row, a_column, b_row, b_column, c_row, c_column;
    bool a_is_conjugate, b_is_conjugate;
};

static struct product describe(const struct gsh_launch *launch)
{
    const struct gsh_gemm *g = &launch->gemm;
    const struct gsh_operand *operands = launch->operands;
    if (g->m <= g->n)
        return (struct product){
            &operands[0],     &operands[1], g->m,     g->n,     g->k,     g->a_row,
            g->a_col,         g->b_row,     g->b_col, g->c_row, g->c_col, g->a_is_conjugate,
            g->b_is_conjugate};
    return (struct product){
        &operands[1],     &operands[0], g->n,     g->m,     g->k,     g->b_col,
        g->b_row,         g->a_col,     g->a_row, g->c_col, g->c_row, g->b_is_conjugate,
        g->a_is_conjugate};
}

bool gsh_source_narrow_product_is_made(const struct gsh_launch *launch)
{
    const struct gsh_gemm *g = &launch->gemm;
    int64_t rows = GSH_MIN(g->m, g->n);
    if ((1u << launch->loop & SUPPORTED) == 0 || g->form != GSH_GEMM_GE || launch->ndim != 0 ||
        launch->nin != 2 || rows <= 0 || g->k <= 0 || g->alpha != 1 || g->beta != 0)
        return false;
    if (rows > 1 && (rows > MOST_ROWS || g->k > MOST_COLUMNS ||
                     launch->operands[0].address == launch->operands[1].address))
        return false;
    for (unsigned k = 0; k < 3; k++)
        if (launch->operands[k].dtype != launch->loop || launch->operands[k].is_constant ||
            launch->operands[k].address % gsh_dtype_size(launch->loop) != 0)
            return false;
    return true;
}

/* ---- form ---- */

struct form {
    int rows;      /* room for those of A: 1, or all of A is in shared memory */
    int across;    /* columns of a block */
    bool is_along; /* neighbouring threads read along the rows of B */
    int64_t tiles, part, parts;
};

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

static void divide_rows(struct form *form, int64_t k)
{
    int64_t down = GSH_SOURCE_BLOCK / form->across;
    int64_t parts = GSH_MIN(gsh_source_divide_up(ENOUGH_BLOCKS, form->tiles),
                            gsh_source_divide_up(k, down * ENOUGH_ROWS));
    int64_t part = gsh_source_divide_up(k, GSH_MIN(parts, MOST_PARTS));
    form->part = gsh_source_divide_up(part, down) * down;
    form->parts = gsh_source_divide_up(k, form->part);
}

static struct form form_of(const struct product *p)
{
    struct form form = {.rows = p->m == 1 ? 1 : p->m <= FEW_ROWS ? FEW_ROWS : MOST_ROWS};
    form.is_along = p->n == 1 || magnitude(p->b_row) < magnitude(p->b_column);
    if (form.rows > 1 || (p->k < SHORT && p->n >= MANY)) {
        form.across = GSH_SOURCE_BLOCK;
        form.is_along = false;
    } else {
        form.across = p->n == 1 ? 1 : form.is_along ? 8 : 32;
    }
    form.tiles = gsh_source_divide_up(p->n, form.across);
    divide_rows(&form, p->k);
    if (form.across == GSH_SOURCE_BLOCK) {
        form.part = p->k;
        form.parts = 1;
    }
    return form;
}

/* ---- text ---- */

/* Of the stage that adds the parts: a matrix of PARTS rows, row by row. */
static struct form sum_form(int64_t n)
{
    struct form form = {.rows = 1, .across = n == 1 ? 1 : 32};
    form.tiles = gsh_source_divide_up(n, form.across);
    return form;
}

static void write_key(const struct form *form, enum gsh_dtype dtype, bool is_sum, char *key)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, is_sum ? "parts_" : "narrow_");
    gsh_fmt_text(&fmt, gsh_dtype_name(dtype));
    gsh_source_key_part(&fmt, form->is_along ? "along" : "across");
    gsh_fmt_decimal(&fmt, (uint64_t)form->across);
    gsh_source_key_part(&fmt, "r");
    gsh_fmt_decimal(&fmt, (uint64_t)form->rows);
}

void gsh_source_narrow_product_text(const struct gsh_launch *launch, unsigned stage,
                                    struct gsh_fmt *fmt)
{
    const struct product product = describe(launch);
    const struct form form = stage == 0 ? form_of(&product) : sum_form(product.n);
    const struct gsh_source_prelude prelude = {.dtypes = 0};
    gsh_source_text_write_prelude(fmt, &prelude);
    gsh_fmt_printf(fmt, "typedef %s F;\n", gsh_dtype_is_single(launch->loop) ? "float" : "double");
    gsh_fmt_printf(fmt, "#define IS_COMPLEX %d\n#define IS_SUM %d\n#define ROWS %d\n",
                   gsh_dtype_kind(launch->loop) == 'c', stage != 0, form.rows);
    gsh_fmt_printf(fmt, "constexpr int ACROSS = %d, ALONG = %d, DEPTH = %d;\n", form.across,
                   form.is_along, MOST_COLUMNS);
    gsh_fmt_text(fmt, gsh_cuda_text_narrow_product);
}

/* ---- plan ---- */

static enum gsh_status put_stage(struct gsh_source_stage *stage, const struct product *p,
                                 const struct form *form, const uint64_t *addresses)
{
    const int64_t words[] = {(int64_t)addresses[0],
                             (int64_t)addresses[1],
                             (int64_t)addresses[2],
                             p->m,
                             p->n,
                             p->k,
                             p->a_row,
                             p->a_column,
                             p->b_row,
                             p->b_column,
                             p->c_row,
                             p->c_column,
                             form->tiles,
                             form->part,
                             p->a_is_conjugate,
                             p->b_is_conjugate};
    stage->argument_bytes = 0;
    stage->shared_bytes = 0; /* the kernel's shared memory is static */
    GSH_TRY(gsh_source_put_many(stage, words, (int)GSH_COUNT(words), (int)GSH_COUNT(words)));
    return gsh_source_set_grid(stage, form->tiles * form->parts);
}

/* Of a product of one row: each part is a row of `scratch`, and the second stage adds them. */
static enum gsh_status put_parts(const struct gsh_launch *launch, const struct product *p,
                                 const struct form *form, uint64_t scratch,
                                 struct gsh_source_plan *plan)
{
    struct product parts = *p, sum = *p;
    struct form adding = sum_form(p->n);
    parts.c_row = p->n;
    parts.c_column = 1;
    sum.k = form->parts;
    sum.b_row = p->n;
    sum.b_column = 1;
    sum.b_is_conjugate = false;
    adding.part = form->parts;
    adding.parts = 1;
    plan->stage_count = 2;
    write_key(&adding, launch->loop, true, plan->stages[1].key);
    GSH_TRY(put_stage(&plan->stages[0], &parts, form,
                      (const uint64_t[]){p->a->address, p->b->address, scratch}));
    return put_stage(&plan->stages[1], &sum, &adding,
                     (const uint64_t[]){0, scratch, launch->operands[2].address});
}

size_t gsh_source_narrow_product_scratch(const struct gsh_launch *launch)
{
    const struct product product = describe(launch);
    const struct form form = form_of(&product);
    return form.parts == 1 ? 0 : (size_t)(form.parts * product.n) * gsh_dtype_size(launch->loop);
}

enum gsh_status gsh_source_narrow_product_plan(const struct gsh_launch *launch, uint64_t scratch,
                                               struct gsh_source_plan *plan)
{
    const struct product product = describe(launch);
    const struct form form = form_of(&product);
    plan->scratch_bytes = gsh_source_narrow_product_scratch(launch);
    plan->stage_count = 1;
    write_key(&form, launch->loop, false, plan->stages[0].key);
    if (form.parts > 1)
        return put_parts(launch, &product, &form, scratch, plan);
    return put_stage(
        &plan->stages[0], &product, &form,
        (const uint64_t[]){product.a->address, product.b->address, launch->operands[2].address});
}
