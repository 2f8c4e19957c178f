/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups as text. Without sinks: kernels/cuda/group/group.cuh. With sinks: group_sinks.cuh, and a second stage for
 * each sink where segments are cut. A plan is made at every flush, so it uses no printf.
 */
#include "source_group.h"

#include "source_group_layout.h"
#include "source_parts.h"
#include "source_texts.h"

#define EXPRESSIONS 8192
/* Blocks per multiprocessor that a heavy kernel with sinks declares as enough. With the default the compiler saves
 * registers by loading late. */
#define HEAVY_RESIDENT ", 4"

static enum gsh_status put_arrays(const struct gsh_group *group,
                                  const struct gsh_source_layout *layout,
                                  struct gsh_source_stage *stage)
{
    for (unsigned k = 0; k < GSH_MAX(group->array_count, 1); k++)
        GSH_TRY(gsh_source_put(stage, k < group->array_count ? group->arrays[k].address : 0));
    for (unsigned k = 0; k < group->array_count; k++)
        if (layout->wiring.roles[k] == GSH_ROLE_INDEX)
            GSH_TRY(gsh_source_put(
                stage, group->ndim > 0 ? (uint64_t)group->arrays[k].strides[group->ndim - 1] : 0));
    return layout->indices > 0 ? GSH_OK : gsh_source_put(stage, 0);
}

static enum gsh_status put_constants(const struct gsh_group *group,
                                     const struct gsh_source_layout *layout,
                                     struct gsh_source_stage *stage)
{
    for (unsigned k = 0; k < group->constant_count; k++) {
        uint64_t words[2] = {0, 0};
        size_t size = gsh_dtype_size(group->constants[k].dtype);
        memcpy(words, &group->constants[k].value, size);
        GSH_TRY(gsh_source_put(stage, words[0]));
        if (size > 8)
            GSH_TRY(gsh_source_put(stage, words[1]));
    }
    return layout->wiring.words > 0 ? GSH_OK : gsh_source_put(stage, 0);
}

static enum gsh_status put_sinks(const struct gsh_group *group,
                                 const struct gsh_source_layout *layout,
                                 struct gsh_source_stage *stage)
{
    static const int64_t none[3];
    for (unsigned s = 0; s < group->step_count; s++) {
        const struct gsh_error_sink *sink = &group->steps[s].errors;
        if (layout->wiring.sink[s] < 0)
            continue;
        GSH_TRY(gsh_source_put(stage, sink->claims));
        GSH_TRY(gsh_source_put(stage, sink->found));
        GSH_TRY(gsh_source_put(stage, sink->sequence));
    }
    return layout->wiring.sinks > 0 ? GSH_OK : gsh_source_put_many(stage, none, 3, 3);
}

/* The iteration space in steps: packs along the last dimension. */
static enum gsh_status put_space(const struct gsh_group *group,
                                 const struct gsh_source_layout *layout, int vector,
                                 struct gsh_source_stage *stage)
{
    int ndim = layout->ndim, room = GSH_MAX(ndim, 1);
    int64_t shape[GSH_MAX_DIMS], strides[GSH_MAX_DIMS] = {0};
    memcpy(shape, group->shape, sizeof(shape));
    if (ndim > 0)
        shape[ndim - 1] /= vector;
    GSH_TRY(gsh_source_put_many(stage, shape, ndim, room));
    GSH_TRY(gsh_source_text_put_magic(stage, shape, ndim, room));
    for (unsigned t = 0; t < GSH_MAX(layout->tracks, 1); t++) {
        if (t < layout->tracks)
            memcpy(strides, group->arrays[layout->leader[t]].strides, sizeof(strides));
        if (ndim > 0)
            strides[ndim - 1] *= vector;
        GSH_TRY(gsh_source_put_many(stage, strides, ndim, room));
    }
    return GSH_OK;
}

static enum gsh_status plan_elements(const struct gsh_group *group,
                                     const struct gsh_source_layout *layout,
                                     struct gsh_source_stage *stage)
{
    int64_t elements = gsh_group_elements(group);
    int64_t steps = gsh_source_divide_up(elements, layout->vector);
    int64_t per_block = (int64_t)GSH_SOURCE_BLOCK * layout->unroll;
    GSH_TRY(gsh_source_put(stage, (uint64_t)(layout->ndim > 0 ? steps : elements)));
    GSH_TRY(put_arrays(group, layout, stage));
    GSH_TRY(put_constants(group, layout, stage));
    GSH_TRY(put_sinks(group, layout, stage));
    GSH_TRY(put_space(group, layout, (int)layout->vector, stage));
    return gsh_source_set_grid(stage, GSH_MAX(gsh_source_divide_up(steps, per_block), 1));
}

static enum gsh_status plan_sinks(const struct gsh_group *group,
                                  const struct gsh_source_layout *layout,
                                  const struct gsh_source_sinks *sinks, uint64_t scratch,
                                  struct gsh_source_plan *plan)
{
    const struct gsh_source_tree *tree = &sinks->tree;
    struct gsh_source_stage *stage = &plan->stages[0];
    int64_t tiles = gsh_source_divide_up(tree->outputs, GSH_SOURCE_BLOCK / tree->lanes);
    const int64_t space[] = {tree->outputs, tree->elements, tree->units,
                             tree->segment, tiles,          tree->lanes};
    GSH_TRY(put_arrays(group, layout, stage));
    GSH_TRY(put_constants(group, layout, stage));
    GSH_TRY(put_sinks(group, layout, stage));
    GSH_TRY(gsh_source_put_many(stage, space, (int)GSH_COUNT(space), (int)GSH_COUNT(space)));
    GSH_TRY(put_space(group, layout, 1, stage));
    GSH_TRY(gsh_source_group_sinks_put_ends(sinks, scratch, stage));
    GSH_TRY(gsh_source_set_grid(stage, tiles * tree->segments));
    for (unsigned k = 0; tree->segments > 1 && k < group->sink_count; k++)
        GSH_TRY(gsh_source_reduce_second(&sinks->launches[k], scratch + sinks->scratch_at[k],
                                         &plan->stages[plan->stage_count++]));
    return GSH_OK;
}

size_t gsh_source_group_scratch(const struct gsh_group *group)
{
    struct gsh_source_sinks sinks;
    if (group->sink_count == 0 || gsh_source_group_sinks_set(group, &sinks) != GSH_OK)
        return 0;
    return sinks.scratch_bytes;
}

enum gsh_status gsh_source_group_plan(const struct gsh_group *group, uint64_t scratch,
                                      struct gsh_source_plan *plan)
{
    struct gsh_source_layout layout;
    struct gsh_source_sinks sinks; /* large: set only where the group has sinks */
    struct gsh_source_stage *stage = &plan->stages[0];
    GSH_TRY(gsh_source_group_layout_make(group, &layout, &sinks));
    plan->stage_count = 1;
    plan->scratch_bytes = group->sink_count > 0 ? sinks.scratch_bytes : 0;
    stage->shared_bytes = 0;
    stage->argument_bytes = 0;
    gsh_source_group_key_write(group, &layout, &sinks, stage->key);
    if (group->sink_count > 0)
        return plan_sinks(group, &layout, &sinks, scratch, plan);
    return plan_elements(group, &layout, stage);
}

static const char *truth(bool holds)
{
    return holds ? "true" : "false";
}

static void write_track_sizes(const struct gsh_group *group, const struct gsh_source_layout *layout,
                              struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "FN int track_size(int track)\n{\n    return ");
    for (unsigned t = 0; t < layout->tracks; t++)
        gsh_fmt_printf(fmt, "track == %u ? %d : ", t,
                       (int)gsh_dtype_size(group->arrays[layout->leader[t]].dtype));
    gsh_fmt_text(fmt, "0;\n}\n");
}

static void write_constants(const struct gsh_group *group, const struct gsh_source_layout *layout,
                            struct gsh_fmt *fmt)
{
    gsh_fmt_printf(fmt,
                   "constexpr int VECTOR = %u, BLOCK = %d, NDIM = %d, ARRAYS = %u, INDICES = %u;\n"
                   "constexpr int CONSTANTS = %u, SINKS = %u, TRACKS = %u;\n"
                   "constexpr bool SHORT = %s, IS_EXAMINED = %s;\ntypedef %s Index;\n",
                   layout->vector, GSH_SOURCE_BLOCK, layout->ndim, group->array_count,
                   layout->indices, layout->wiring.words, layout->wiring.sinks,
                   GSH_MAX(layout->tracks, 1), truth(layout->is_short),
                   truth(gsh_source_group_steps_is_examined(&layout->wiring)),
                   layout->is_wide ? "u64" : "u32");
}

static void write_tree(const struct gsh_group *group, const struct gsh_source_layout *layout,
                       const struct gsh_source_sinks *sinks, struct gsh_fmt *fmt)
{
    const struct gsh_source_tree *tree = &sinks->tree;
    gsh_fmt_printf(fmt,
                   "constexpr int KEPT = %d, ENDS = %u, PACK = %d, UNROLL = %d, TURNS = %u, "
                   "CHAIN = %d;\nconstexpr bool LANES_FAST = %s;\n"
                   "#define BOUNDS __launch_bounds__(BLOCK%s)\n",
                   sinks->kept, group->sink_count, tree->pack, tree->unroll, layout->unroll,
                   tree->chain, truth(tree->lanes_fast), layout->is_heavy ? HEAVY_RESIDENT : "");
}

/* Writes the text from Args to evaluate(): where the elements lie, and how they are computed. */
static void write_evaluation(const struct gsh_source_layout *layout, const char *space, bool errors,
                             struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, gsh_cuda_text_group_element);
    gsh_fmt_text(fmt, space);
    gsh_fmt_text(fmt, gsh_cuda_text_group_paths);
    gsh_fmt_text(fmt, "constexpr bool PROPAGATES_NAN = false;\n");
    gsh_fmt_text(fmt, gsh_cuda_text_arithmetic);
    gsh_fmt_text(fmt, "}\n");
    if (errors)
        gsh_fmt_text(fmt, gsh_cuda_text_group_fast_errors);
    gsh_source_group_steps_write(&layout->wiring, fmt);
}

static void write_first(const struct gsh_group *group, const struct gsh_source_layout *layout,
                        const struct gsh_source_sinks *sinks, struct gsh_fmt *fmt)
{
    char expressions[EXPRESSIONS];
    bool has_sinks = group->sink_count > 0;
    gsh_source_group_steps_expressions(group, expressions, sizeof(expressions));
    struct gsh_source_prelude prelude = {.dtypes = gsh_source_group_steps_dtypes(group),
                                         .expressions = {expressions},
                                         .propagates_nan = true,
                                         .errors = gsh_source_group_steps_checks(&layout->wiring) ||
                                                   (has_sinks && sinks->looks),
                                         .collective = has_sinks};
    gsh_source_text_write_prelude(fmt, &prelude);
    write_constants(group, layout, fmt);
    if (has_sinks)
        write_tree(group, layout, sinks, fmt);
    else {
        gsh_fmt_printf(fmt, "constexpr int UNROLL = %u;\n", layout->unroll);
        write_track_sizes(group, layout, fmt);
    }
    write_evaluation(layout,
                     has_sinks ? gsh_cuda_text_group_sinks_space : gsh_cuda_text_group_space,
                     prelude.errors, fmt);
    gsh_source_group_moves_write(group, layout, fmt);
    if (has_sinks)
        gsh_source_group_sinks_write_totals(sinks, fmt);
    gsh_fmt_text(fmt, has_sinks ? gsh_cuda_text_group_sinks : gsh_cuda_text_group);
    if (has_sinks)
        gsh_fmt_text(fmt, gsh_cuda_text_tree);
}

void gsh_source_group_text(const struct gsh_group *group, unsigned stage, struct gsh_fmt *fmt)
{
    struct gsh_source_layout layout;
    struct gsh_source_sinks sinks;
    if (gsh_source_group_layout_make(group, &layout, &sinks) != GSH_OK)
        return;
    if (stage == 0)
        write_first(group, &layout, &sinks, fmt);
    else
        gsh_source_reduce_text(&sinks.launches[stage - 1], 1, fmt);
}
