/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of sparse matrices in CSR form with vectors as text (kernels/cuda/spmv.cuh): the dtypes of numbers and indices decide it.
 */
#include "source_parts.h"
#include "source_texts.h"

#define WIDE_EACH 4  /* products of a thread in a tile; of complex128 */
#define PLAIN_EACH 8 /* of other dtypes */

static int each_of(const struct gsh_launch *launch)
{
    return launch->loop == GSH_COMPLEX128 ? WIDE_EACH : PLAIN_EACH;
}

/* Rows of a block: as many as a tile has room for, with an eighth to spare for longer ones, where rows are of one length. */
static int64_t rows_of_block(const struct gsh_launch *launch)
{
    int64_t tile = (int64_t)GSH_SOURCE_BLOCK * each_of(launch) * 7 / 8;
    int64_t mean = gsh_source_divide_up(launch->spmv.lines[GSH_SPMV_NUMBERS].extent,
                                        gsh_launch_elements(launch));
    return GSH_MIN(GSH_MAX(tile / GSH_MAX(mean, 1), 1), GSH_SOURCE_BLOCK);
}

static void write_key(const struct gsh_launch *launch, char *key)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, "spmv");
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->loop));
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->operands[GSH_SPMV_STARTS].dtype));
}

enum gsh_status gsh_source_spmv_plan(const struct gsh_launch *launch, uint64_t scratch,
                                     struct gsh_source_plan *plan)
{
    struct gsh_source_stage *stage = &plan->stages[0];
    const int64_t rows = gsh_launch_elements(launch);
    (void)scratch;
    if (!gsh_launch_is_spmv(launch) || rows == 0)
        return GSH_DECLINED;
    const int64_t words[] = {rows, launch->spmv.lines[GSH_SPMV_NUMBERS].extent,
                             launch->spmv.lines[GSH_SPMV_VECTOR].extent, rows_of_block(launch)};
    plan->scratch_bytes = 0;
    plan->stage_count = 1;
    write_key(launch, stage->key);
    stage->argument_bytes = 0;
    stage->shared_bytes = 0; /* the kernel's shared memory is static */
    for (unsigned k = 0; k <= GSH_SPMV_INPUTS; k++)
        GSH_TRY(gsh_source_put(stage, launch->operands[k].address));
    GSH_TRY(gsh_source_put_many(stage, words, (int)GSH_COUNT(words), (int)GSH_COUNT(words)));
    return gsh_source_set_grid(stage, gsh_source_divide_up(rows, rows_of_block(launch)));
}

void gsh_source_spmv_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    const struct gsh_source_prelude prelude = {
        .dtypes = 1u << launch->loop | 1u << GSH_COMPLEX64, /* for the names of complex numbers */
        .expressions = {"gsh_plus(a, b)"}};
    const bool is_integer = (1u << launch->loop & (unsigned)GSH_SET_INTEGERS) != 0;
    (void)stage;
    gsh_source_text_write_prelude(fmt, &prelude);
    gsh_fmt_printf(fmt, "typedef %s T;\ntypedef %s I;\n", gsh_dtype_cuda_stored(launch->loop),
                   gsh_dtype_cuda_stored(launch->operands[GSH_SPMV_STARTS].dtype));
    gsh_fmt_printf(fmt, "constexpr int BLOCK = %d, EACH = %d;\nconstexpr bool IS_INTEGER = %s;\n",
                   GSH_SOURCE_BLOCK, each_of(launch), is_integer ? "true" : "false");
    gsh_fmt_text(fmt, gsh_cuda_text_spmv);
}
