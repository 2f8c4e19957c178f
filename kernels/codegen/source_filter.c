/* SPDX-License-Identifier: Apache-2.0
 *
 * Recursive filters as text (kernels/cuda/filter.cuh): form, order, dtype, and which way the operands lie in memory decide it.
 */
#include "source_parts.h"
#include "source_texts.h"

#define LINES 32              /* of a block */
#define TILE_ROW 256          /* bytes of a line in a tile of the longest elements */
#define SHORT_TABLE_BYTES 320 /* that fit in registers beside the states and a tile's elements */

struct geometry {
    int dims;   /* of the batch, at least 1 */
    int steps;  /* of a tile */
    int states; /* of a line */
    int count;  /* numbers in the table */
};

bool gsh_source_filter_is_made(const struct gsh_launch *launch)
{
    const unsigned dtypes =
        1u << GSH_FLOAT32 | 1u << GSH_FLOAT64 | 1u << GSH_COMPLEX64 | 1u << GSH_COMPLEX128;
    const struct gsh_filter *filter = &launch->filter;
    int most =
        filter->form == GSH_FILTER_SECTIONS ? GSH_FILTER_MOST_SECTIONS : GSH_FILTER_MOST_ORDER;
    bool is_made = (1u << launch->loop & dtypes) != 0 && launch->nin >= 2 && launch->nout >= 1 &&
                   !launch->has_mask && filter->order > 0 && filter->order <= most;
    for (unsigned k = 0; k < launch->nin + launch->nout && is_made; k++)
        is_made = launch->operands[k].dtype == launch->loop && !launch->operands[k].is_constant;
    return is_made;
}

static struct geometry geometry_of(const struct gsh_launch *launch)
{
    const struct gsh_filter *filter = &launch->filter;
    bool is_sections = filter->form == GSH_FILTER_SECTIONS;
    int size = (int)gsh_dtype_size(launch->loop);
    return (struct geometry){.dims = GSH_MAX(launch->ndim, 1),
                             .steps = GSH_MIN(LINES, TILE_ROW / size),
                             .states = (is_sections ? 2 : 1) * filter->order,
                             .count = (int)filter->cores[GSH_FILTER_TABLE].extent[0]};
}

/* Whether a line's elements are closer than neighbouring lines. */
static bool is_along(const struct gsh_launch *launch, unsigned k)
{
    int last = launch->ndim - 1;
    int64_t step = gsh_launch_step(launch->filter.cores[k].stride[0]);
    return last < 0 || step <= gsh_launch_step(launch->strides[k][last]);
}

static void write_key(const struct gsh_launch *launch, const struct geometry *geometry, char *key)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, launch->filter.form == GSH_FILTER_SECTIONS ? "filter_sections" : "filter");
    gsh_fmt_decimal(&fmt, (uint64_t)launch->filter.order);
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->loop));
    gsh_source_key_part(&fmt, is_along(launch, GSH_FILTER_SIGNAL) ? "r" : "c");
    gsh_fmt_text(&fmt, is_along(launch, launch->nin) ? "r" : "c");
    gsh_fmt_decimal(&fmt, (uint64_t)geometry->dims);
    gsh_fmt_text(&fmt, launch->nin > GSH_FILTER_INITIAL ? "i" : "");
    gsh_fmt_text(&fmt, launch->nout > 1 ? "f" : "");
}

/* The address of operand k; 0 where it is absent. */
static int64_t address_of(const struct gsh_launch *launch, bool is_there, unsigned k)
{
    return is_there ? (int64_t)launch->operands[k].address : 0;
}

static enum gsh_status put_strides(const struct gsh_launch *launch, const struct geometry *geometry,
                                   bool is_there, unsigned k, struct gsh_source_stage *stage)
{
    return gsh_source_put_many(stage, launch->strides[k], is_there ? launch->ndim : 0,
                               geometry->dims);
}

static enum gsh_status put_arguments(const struct gsh_launch *launch,
                                     const struct geometry *geometry,
                                     struct gsh_source_stage *stage)
{
    const struct gsh_core *cores = launch->filter.cores;
    const unsigned out = launch->nin, last = out + 1;
    const bool begins = launch->nin > GSH_FILTER_INITIAL, ends = launch->nout > 1;
    const int64_t words[] = {address_of(launch, true, GSH_FILTER_TABLE),
                             address_of(launch, true, GSH_FILTER_SIGNAL),
                             address_of(launch, begins, GSH_FILTER_INITIAL),
                             address_of(launch, true, out),
                             address_of(launch, ends, last),
                             gsh_launch_elements(launch),
                             cores[GSH_FILTER_SIGNAL].extent[0],
                             cores[GSH_FILTER_SIGNAL].stride[0],
                             cores[out].stride[0],
                             begins ? cores[GSH_FILTER_INITIAL].stride[0] : 0,
                             begins ? cores[GSH_FILTER_INITIAL].stride[1] : 0,
                             ends ? cores[last].stride[0] : 0,
                             ends ? cores[last].stride[1] : 0};
    stage->argument_bytes = 0;
    stage->shared_bytes = 0; /* the kernel's shared memory is static */
    GSH_TRY(gsh_source_put_many(stage, words, (int)GSH_COUNT(words), (int)GSH_COUNT(words)));
    GSH_TRY(gsh_source_put_many(stage, launch->shape, launch->ndim, geometry->dims));
    GSH_TRY(put_strides(launch, geometry, true, GSH_FILTER_SIGNAL, stage));
    GSH_TRY(put_strides(launch, geometry, begins, GSH_FILTER_INITIAL, stage));
    GSH_TRY(put_strides(launch, geometry, true, out, stage));
    return put_strides(launch, geometry, ends, last, stage);
}

enum gsh_status gsh_source_filter_plan(const struct gsh_launch *launch, uint64_t scratch,
                                       struct gsh_source_plan *plan)
{
    (void)scratch;
    if (!gsh_source_filter_is_made(launch))
        return GSH_DECLINED;
    const struct geometry geometry = geometry_of(launch);
    struct gsh_source_stage *stage = &plan->stages[0];
    plan->scratch_bytes = 0;
    plan->stage_count = 1;
    write_key(launch, &geometry, stage->key);
    GSH_TRY(put_arguments(launch, &geometry, stage));
    GSH_TRY(gsh_source_set_grid(stage, gsh_source_divide_up(gsh_launch_elements(launch), LINES)));
    stage->block[0] = LINES;
    return GSH_OK;
}

static void write_flag(struct gsh_fmt *fmt, const char *name, bool value)
{
    gsh_fmt_printf(fmt, "constexpr bool %s = %s;\n", name, value ? "true" : "false");
}

void gsh_source_filter_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    const struct gsh_source_prelude prelude = {
        .dtypes = 1u << launch->loop | 1u << GSH_COMPLEX64, /* for the names of complex numbers */
        .expressions = {"gsh_plus(gsh_minus(a, b), b)"}};
    const struct geometry geometry = geometry_of(launch);
    (void)stage;
    gsh_source_text_write_prelude(fmt, &prelude);
    gsh_fmt_printf(fmt, "typedef %s T;\n", gsh_dtype_cuda_stored(launch->loop));
    gsh_fmt_printf(
        fmt, "constexpr int ORDER = %d, STATES = %d, COUNT = %d, STEPS = %d, DIMS = %d;\n",
        launch->filter.order, geometry.states, geometry.count, geometry.steps, geometry.dims);
    write_flag(fmt, "IS_SECTIONS", launch->filter.form == GSH_FILTER_SECTIONS);
    write_flag(fmt, "IS_SHORT",
               geometry.count * (int)gsh_dtype_size(launch->loop) <= SHORT_TABLE_BYTES);
    write_flag(fmt, "SIGNAL_ALONG", is_along(launch, GSH_FILTER_SIGNAL));
    write_flag(fmt, "OUTPUT_ALONG", is_along(launch, launch->nin));
    write_flag(fmt, "HAS_INITIAL", launch->nin > GSH_FILTER_INITIAL);
    write_flag(fmt, "GIVES_FINAL", launch->nout > 1);
    gsh_fmt_text(fmt, gsh_cuda_text_filter);
}
