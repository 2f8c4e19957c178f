/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products as text: narrow ones (source_narrow_product.h), and those of dtypes that BLAS lacks (kernels/cuda/product.cuh):
 * integers, bools and float16.
 */
#include "source_narrow_product.h"
#include "source_parts.h"
#include "source_texts.h"

#define TILE 64  /* rows and columns of C that a block computes */
#define DEPTH 16 /* columns of A and rows of B in shared memory at a time */
/* A block loops over all of k. With fewer blocks than this and a longer k, the GPU is no faster than a CPU. */
#define FEWEST_BLOCKS 16
#define LONGEST 65536

#define SUPPORTED (GSH_SET_BOOL | GSH_SET_INTEGERS | 1u << GSH_FLOAT16)

struct tiles {
    int64_t rows, columns, blocks;
};

static struct tiles tiles_of(const struct gsh_launch *launch)
{
    struct tiles tiles = {.rows = gsh_source_divide_up(launch->gemm.m, TILE),
                          .columns = gsh_source_divide_up(launch->gemm.n, TILE)};
    tiles.blocks = tiles.rows * tiles.columns * gsh_launch_elements(launch);
    return tiles;
}

static bool is_supported(const struct gsh_launch *launch)
{
    const struct gsh_gemm *g = &launch->gemm;
    if ((1u << launch->loop & SUPPORTED) == 0 || launch->nin != 2 || g->m <= 0 || g->n <= 0 ||
        g->alpha != 1 || g->beta != 0)
        return false;
    for (unsigned k = 0; k < 3; k++)
        if (launch->operands[k].dtype != launch->loop || launch->operands[k].is_constant)
            return false;
    return g->k <= LONGEST || tiles_of(launch).blocks >= FEWEST_BLOCKS;
}

static void write_key(const struct gsh_launch *launch, char *key)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, "product_");
    gsh_fmt_text(&fmt, gsh_dtype_name(launch->loop));
    gsh_source_key_part(&fmt, "s");
    gsh_fmt_decimal(&fmt, (uint64_t)launch->ndim);
}

bool gsh_source_product_is_made(const struct gsh_launch *launch)
{
    return gsh_source_narrow_product_is_made(launch);
}

size_t gsh_source_product_scratch(const struct gsh_launch *launch)
{
    return gsh_source_narrow_product_is_made(launch) ? gsh_source_narrow_product_scratch(launch)
                                                     : 0;
}

enum gsh_status gsh_source_product_plan(const struct gsh_launch *launch, uint64_t scratch,
                                        struct gsh_source_plan *plan)
{
    if (gsh_source_narrow_product_is_made(launch))
        return gsh_source_narrow_product_plan(launch, scratch, plan);
    if (!is_supported(launch))
        return GSH_DECLINED;
    const struct gsh_gemm *g = &launch->gemm;
    struct gsh_source_stage *stage = &plan->stages[0];
    struct tiles tiles = tiles_of(launch);
    int ndim = launch->ndim, room = GSH_MAX(ndim, 1);
    const int64_t words[] = {(int64_t)launch->operands[0].address,
                             (int64_t)launch->operands[1].address,
                             (int64_t)launch->operands[2].address,
                             g->m,
                             g->n,
                             g->k,
                             g->a_row,
                             g->a_col,
                             g->b_row,
                             g->b_col,
                             g->c_row,
                             g->c_col,
                             tiles.rows,
                             tiles.columns};
    plan->scratch_bytes = 0;
    plan->stage_count = 1;
    stage->argument_bytes = 0;
    stage->shared_bytes = 0; /* the kernel's shared memory is static */
    write_key(launch, stage->key);
    GSH_TRY(gsh_source_put_many(stage, words, (int)GSH_COUNT(words), (int)GSH_COUNT(words)));
    GSH_TRY(gsh_source_put_many(stage, launch->shape, ndim, room));
    for (unsigned k = 0; k < 3; k++)
        GSH_TRY(gsh_source_put_many(stage, launch->strides[k], ndim, room));
    return gsh_source_set_grid(stage, tiles.blocks);
}

void gsh_source_product_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    if (gsh_source_narrow_product_is_made(launch)) {
        gsh_source_narrow_product_text(launch, stage, fmt);
        return;
    }
    const struct gsh_source_prelude prelude = {.dtypes = 1u << launch->loop,
                                               .is_half = launch->loop == GSH_FLOAT16};
    gsh_source_text_write_prelude(fmt, &prelude);
    gsh_fmt_printf(fmt, "typedef %s E;\n#define HALF %d\n", gsh_dtype_cuda_stored(launch->loop),
                   prelude.is_half);
    gsh_fmt_printf(fmt, "constexpr int NDIM = %d, BATCH = %d, TILE = %d, DEPTH = %d;\n",
                   GSH_MAX(launch->ndim, 1), launch->ndim, TILE, DEPTH);
    gsh_fmt_text(fmt, gsh_cuda_text_product);
}
