/* SPDX-License-Identifier: Apache-2.0
 *
 * SEARCH as text (kernels/cuda/sort/sort_search.cuh): dtype, side and whether the values are one constant decide it, and whether
 * the line is dense. How many levels of the tree a block keeps is an argument.
 */
#include "source_sort.h"

#include "source_parts.h"
#include "source_texts.h"

#include <string.h>

#define BLOCK 512
#define AT_ONCE 2       /* values of a thread */
#define RESIDENT 4      /* blocks of a multiprocessor, which bound a thread's registers */
#define MOST_BLOCKS 528 /* four for each multiprocessor of an H200 */
#define MOST_TOP 12     /* levels that a block keeps, of elements of 8 bytes at most */

static bool is_constant(const struct gsh_launch *launch)
{
    return launch->operands[1].is_constant;
}

/* Contiguous, and 32 bits count its places. */
static bool is_dense(const struct gsh_launch *launch)
{
    const struct gsh_indexed *line = &launch->search.line;
    return line->extent <= INT32_MAX &&
           (line->extent == 1 || line->stride == (int64_t)gsh_dtype_size(launch->loop));
}

/* Values along at most one dimension. */
static bool is_supported(const struct gsh_launch *launch)
{
    const struct gsh_operand *operands = launch->operands;
    return launch->nin == 2 && launch->nout == 1 && !launch->has_mask && !operands[0].is_constant &&
           operands[0].dtype == launch->loop && operands[1].dtype == launch->loop &&
           operands[2].dtype == GSH_INT64 && launch->ndim <= 1 && launch->search.line.extent > 0;
}

static void write_key(const struct gsh_launch *launch, char *key)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, "search");
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->loop));
    gsh_fmt_text(&fmt, launch->search.is_right ? "_right" : "");
    gsh_fmt_text(&fmt, is_constant(launch) ? "_c" : "");
    gsh_fmt_text(&fmt, is_dense(launch) ? "" : "_far");
}

/* Levels that 32 KB of shared memory hold. */
static int most_top(enum gsh_dtype loop)
{
    return gsh_dtype_size(loop) > sizeof(uint64_t) ? MOST_TOP - 1 : MOST_TOP;
}

static int levels_of(int64_t extent)
{
    int levels = 0;
    for (; extent > 0; extent /= 2)
        levels++;
    return levels;
}

/* A tree of as many nodes as a block has threads, each of which reads one, or of about as many as it has values. */
static int top_of(const struct gsh_launch *launch, int64_t count, int64_t blocks)
{
    int64_t nodes = GSH_MAX(2 * gsh_source_divide_up(count, blocks), BLOCK);
    int top = GSH_MIN(levels_of(launch->search.line.extent), most_top(launch->loop));
    while ((INT64_C(1) << top) > nodes)
        top--;
    return top;
}

static enum gsh_status put_arguments(const struct gsh_launch *launch, int64_t count, int64_t blocks,
                                     struct gsh_source_stage *stage)
{
    bool is_line = launch->ndim > 0;
    uint64_t constant[2] = {0};
    if (is_constant(launch))
        memcpy(constant, &launch->operands[1].constant, gsh_dtype_size(launch->loop));
    const int64_t words[] = {(int64_t)launch->operands[0].address,
                             is_constant(launch) ? 0 : (int64_t)launch->operands[1].address,
                             (int64_t)launch->operands[2].address,
                             launch->search.line.stride,
                             launch->search.line.extent,
                             is_line ? launch->strides[1][0] : 0,
                             is_line ? launch->strides[2][0] : 0,
                             count,
                             (int64_t)constant[0],
                             (int64_t)constant[1],
                             levels_of(launch->search.line.extent),
                             top_of(launch, count, blocks)};
    stage->argument_bytes = 0;
    stage->shared_bytes = 0; /* the kernel's shared memory is static */
    return gsh_source_put_many(stage, words, (int)GSH_COUNT(words), (int)GSH_COUNT(words));
}

enum gsh_status gsh_source_search_plan(const struct gsh_launch *launch, uint64_t scratch,
                                       struct gsh_source_plan *plan)
{
    int64_t count = gsh_launch_elements(launch);
    int64_t blocks = GSH_MIN(gsh_source_divide_up(count, (int64_t)BLOCK * AT_ONCE), MOST_BLOCKS);
    struct gsh_source_stage *stage = &plan->stages[0];
    (void)scratch;
    if (!is_supported(launch) || blocks == 0)
        return GSH_DECLINED;
    plan->scratch_bytes = 0;
    plan->stage_count = 1;
    write_key(launch, stage->key);
    GSH_TRY(put_arguments(launch, count, blocks, stage));
    GSH_TRY(gsh_source_set_grid(stage, blocks));
    stage->block[0] = BLOCK;
    return GSH_OK;
}

/* Real floats are compared as numbers. */
static void write_number(enum gsh_dtype loop, struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "#undef NUMBER_OF\n");
    if (gsh_dtype_kind(loop) == 'f')
        gsh_fmt_printf(fmt, "#define NUMBER_OF(x) %s\n",
                       loop == GSH_FLOAT16 ? "value(Half{x})" : "of_bits(x)");
}

void gsh_source_search_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    const struct gsh_source_prelude prelude = {
        .dtypes = launch->loop == GSH_FLOAT16 ? 1u << GSH_FLOAT16 : 0};
    (void)stage;
    gsh_source_text_write_prelude(fmt, &prelude);
    gsh_fmt_printf(
        fmt, "constexpr u32 BLOCK = %d, RADIX = 256, AT_ONCE = %d, RESIDENT = %d, MOST_TOP = %d;\n",
        BLOCK, AT_ONCE, RESIDENT, most_top(launch->loop));
    gsh_fmt_printf(fmt, "constexpr bool IS_RIGHT = %s, IS_CONSTANT = %s, IS_DENSE = %s;\n",
                   launch->search.is_right ? "true" : "false",
                   is_constant(launch) ? "true" : "false", is_dense(launch) ? "true" : "false");
    gsh_fmt_printf(fmt, "typedef %s Place; // of the line\n", is_dense(launch) ? "u32" : "u64");
    gsh_source_sort_write_code(launch->loop, 0, fmt);
    write_number(launch->loop, fmt);
    gsh_fmt_text(fmt, gsh_cuda_text_sort_search);
}
