/* SPDX-License-Identifier: Apache-2.0
 *
 * SELECT as text (kernels/cuda/selection.cuh): dtype, count and rank decide it. Where the windows' elements lie is an argument.
 */
#include "source_parts.h"
#include "source_texts.h"

#define MOST_BLOCKS ((int64_t)1 << 14)

/* Dimensions of the arguments, at least 1. */
static int dims_of(const struct gsh_launch *launch)
{
    return GSH_MAX(launch->ndim, 1);
}

static bool is_wide(const struct gsh_launch *launch)
{
    return gsh_launch_elements(launch) > INT32_MAX;
}

static void write_key(const struct gsh_launch *launch, char *key)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, "select");
    gsh_fmt_decimal(&fmt, (uint64_t)launch->selection.rank);
    gsh_fmt_text(&fmt, "of");
    gsh_fmt_decimal(&fmt, (uint64_t)launch->selection.count);
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->loop));
    gsh_source_key_part(&fmt, "");
    gsh_fmt_decimal(&fmt, (uint64_t)dims_of(launch));
    gsh_fmt_text(&fmt, is_wide(launch) ? "w" : "");
}

static enum gsh_status put_arguments(const struct gsh_launch *launch,
                                     struct gsh_source_stage *stage)
{
    int ndim = launch->ndim, room = dims_of(launch);
    const int64_t words[] = {(int64_t)launch->operands[0].address,
                             (int64_t)launch->operands[1].address,
                             (int64_t)launch->operands[2].address, launch->selection.window.stride,
                             gsh_launch_elements(launch)};
    stage->argument_bytes = 0;
    stage->shared_bytes = 0; /* the kernel's shared memory is static */
    GSH_TRY(gsh_source_put_many(stage, words, (int)GSH_COUNT(words), (int)GSH_COUNT(words)));
    GSH_TRY(gsh_source_put_many(stage, launch->shape, ndim, room));
    GSH_TRY(gsh_source_text_put_magic(stage, launch->shape, ndim, room));
    GSH_TRY(gsh_source_put_many(stage, launch->strides[0], ndim, room));
    return gsh_source_put_many(stage, launch->strides[2], ndim, room);
}

enum gsh_status gsh_source_selection_plan(const struct gsh_launch *launch, uint64_t scratch,
                                          struct gsh_source_plan *plan)
{
    struct gsh_source_stage *stage = &plan->stages[0];
    (void)scratch;
    if (!gsh_launch_is_selection(launch))
        return GSH_DECLINED;
    plan->scratch_bytes = 0;
    plan->stage_count = 1;
    write_key(launch, stage->key);
    GSH_TRY(put_arguments(launch, stage));
    int64_t blocks = gsh_source_divide_up(gsh_launch_elements(launch), GSH_SOURCE_BLOCK);
    return gsh_source_set_grid(stage, GSH_MIN(blocks, MOST_BLOCKS));
}

void gsh_source_selection_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    const struct gsh_source_prelude prelude = {.dtypes = 0};
    const struct gsh_selection *selection = &launch->selection;
    const char *stored = launch->loop == GSH_BOOL ? "u8" : gsh_dtype_cuda_stored(launch->loop);
    (void)stage;
    gsh_source_text_write_prelude(fmt, &prelude);
    gsh_fmt_printf(fmt, "typedef %s T;\ntypedef %s V;\ntypedef %s Index;\n", stored,
                   gsh_dtype_size(launch->loop) < sizeof(int32_t) ? "i32" : stored,
                   is_wide(launch) ? "u64" : "u32");
    gsh_fmt_printf(fmt, "constexpr int BLOCK = %d, DIMS = %d, COUNT = %d, RANK = %d, HELD = %d;\n",
                   GSH_SOURCE_BLOCK, dims_of(launch), selection->count, selection->rank,
                   gsh_selection_held(selection));
    gsh_fmt_text(fmt, gsh_cuda_text_selection);
}
