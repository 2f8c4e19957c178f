/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions as text. A group of `lanes` threads makes one output: each thread joins every lanes-th
 * element, then the group's threads join theirs in a tree. Lanes lie next to each other where
 * neighbouring elements of one output are close in memory (rows), else groups do (columns). Where
 * that leaves too few blocks to fill a GPU, the reduced dimensions are cut into segments; a second
 * stage joins the segments' results from scratch:
 *
 *   scratch[segment][output], of the accumulator's dtype
 *
 * All of it follows from shape and strides, so a run can be repeated bit for bit on any GPU. Chains
 * of additions are at most 16 long, joined in trees, so a sum's error is no worse than that of
 * NumPy's pairwise summation.
 */
#include "source_parts.h"
#include "source_templates.h"

#define UNROLL 8
#define CHAIN 16
#define LANE_ELEMENTS 16 /* a lane has at least so many elements before segments are cut */
#define TARGET_BLOCKS                                                                              \
    4096 /* segments are cut up to so many blocks: several for every SM of any GPU */

struct geometry {
    bool lanes_fast;
    bool wide; /* indices of 64 bits */
    int kept;  /* dimensions kept */
    int64_t outputs, reduced;
    int64_t lanes, tiles, segment, segments;
};

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

static int64_t divide_up(int64_t x, int64_t unit)
{
    return x / unit + (x % unit != 0);
}

/* The least power of two that is at least x, within [1, limit]; limit is one. */
static int64_t power_of_two(int64_t x, int64_t limit)
{
    int64_t power = 1;
    while (power < x && power < limit)
        power *= 2;
    return power;
}

static int64_t lanes_of(const struct geometry *geometry)
{
    if (geometry->lanes_fast)
        return power_of_two(divide_up(geometry->reduced, UNROLL), GSH_SOURCE_BLOCK);
    int64_t lanes = power_of_two(divide_up(geometry->reduced, LANE_ELEMENTS), 8);
    int64_t groups =
        power_of_two(geometry->outputs, GSH_SOURCE_BLOCK); /* no more than there are outputs */
    return GSH_MAX(lanes, GSH_SOURCE_BLOCK / groups);
}

static void cut_segments(struct geometry *geometry)
{
    int64_t least = geometry->lanes * LANE_ELEMENTS;
    int64_t segments =
        GSH_MIN(geometry->reduced / least, divide_up(TARGET_BLOCKS, geometry->tiles));
    geometry->segment = GSH_MAX(geometry->reduced, 1);
    if (segments > 1)
        geometry->segment =
            divide_up(divide_up(geometry->reduced, segments), geometry->lanes) * geometry->lanes;
    geometry->segments = GSH_MAX(divide_up(geometry->reduced, geometry->segment), 1);
}

static struct geometry geometry_of(const struct gsh_launch *launch, bool may_cut)
{
    struct geometry geometry = {.kept = launch->ndim - launch->nreduce, .outputs = 1, .reduced = 1};
    for (int d = 0; d < launch->ndim; d++)
        *(d < geometry.kept ? &geometry.outputs : &geometry.reduced) *= launch->shape[d];
    geometry.lanes_fast = true;
    if (geometry.kept > 0 && launch->nreduce > 0)
        geometry.lanes_fast = magnitude(launch->strides[0][geometry.kept - 1]) >=
                              magnitude(launch->strides[0][launch->ndim - 1]);
    geometry.wide = geometry.outputs > INT32_MAX || geometry.reduced > INT32_MAX;
    geometry.lanes = lanes_of(&geometry);
    geometry.tiles = divide_up(geometry.outputs, GSH_SOURCE_BLOCK / geometry.lanes);
    geometry.segment = GSH_MAX(geometry.reduced, 1);
    geometry.segments = 1;
    if (may_cut)
        cut_segments(&geometry);
    return geometry;
}

static enum gsh_dtype accumulator_of(const struct gsh_launch *launch)
{
    return gsh_reduction_accumulator(launch->reduction, launch->loop);
}

/* Dense C-order strides of the scratch over the kept dimensions. */
static void scratch_strides(const struct gsh_launch *launch, int kept, int64_t *strides)
{
    int64_t stride = (int64_t)gsh_dtype_size(accumulator_of(launch));
    for (int d = kept - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= launch->shape[d];
    }
}

static int64_t segment_bytes(const struct gsh_launch *launch, const struct geometry *geometry)
{
    return geometry->outputs * (int64_t)gsh_dtype_size(accumulator_of(launch));
}

/* The stage's own reduction: the first of two writes to scratch, the second reads from it. */
static struct gsh_launch stage_launch(const struct gsh_launch *launch, const struct geometry *first,
                                      uint64_t scratch, unsigned stage)
{
    struct gsh_launch part = *launch;
    if (first->segments == 1)
        return part;
    unsigned k = stage == 0 ? 1 : 0; /* the operand that is the scratch */
    part.operands[k].dtype = accumulator_of(launch);
    part.operands[k].address = scratch;
    scratch_strides(launch, first->kept, part.strides[k]);
    if (stage == 1) {
        part.loop = accumulator_of(launch);
        part.nreduce = 1;
        part.ndim = first->kept + 1;
        part.shape[first->kept] = first->segments;
        part.strides[0][first->kept] = segment_bytes(launch, first);
        part.strides[1][first->kept] = 0;
        gsh_launch_collapse(&part);
    }
    return part;
}

size_t gsh_source_reduce_scratch(const struct gsh_launch *launch)
{
    struct geometry geometry = geometry_of(launch, true);
    return geometry.segments > 1 ? (size_t)(geometry.segments * segment_bytes(launch, &geometry))
                                 : 0;
}

static void write_key(const struct gsh_launch *launch, const struct geometry *geometry, char *key)
{
    struct gsh_fmt fmt; /* without printf: this runs at every launch */
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, gsh_reduction_info(launch->reduction)->name);
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->loop));
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->operands[0].dtype));
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->operands[1].dtype));
    gsh_fmt_text(&fmt, geometry->lanes_fast ? "_rows_k" : "_columns_k");
    gsh_fmt_decimal(&fmt, (uint64_t)geometry->kept);
    gsh_fmt_text(&fmt, "r");
    gsh_fmt_decimal(&fmt, (uint64_t)launch->nreduce);
    gsh_fmt_text(&fmt, geometry->wide ? "w" : "");
}

static enum gsh_status plan_stage(const struct gsh_launch *launch, const struct geometry *geometry,
                                  int64_t segment_stride, struct gsh_source_stage *stage)
{
    int kept = geometry->kept, nreduce = launch->nreduce;
    const int64_t *strides = launch->strides[0];
    const int64_t head[] = {(int64_t)launch->operands[0].address,
                            (int64_t)launch->operands[1].address,
                            geometry->outputs,
                            geometry->reduced,
                            geometry->segment,
                            geometry->tiles,
                            segment_stride,
                            geometry->lanes};
    stage->argument_bytes = 0;
    stage->shared_bytes = 0; /* the kernel's shared memory is static */
    write_key(launch, geometry, stage->key);
    GSH_TRY(gsh_source_put_many(stage, head, (int)GSH_COUNT(head), (int)GSH_COUNT(head)));
    GSH_TRY(gsh_source_put_many(stage, launch->shape, kept, kept + 1));
    GSH_TRY(gsh_source_put_many(stage, strides, kept, kept + 1));
    GSH_TRY(gsh_source_put_many(stage, launch->strides[1], kept, kept + 1));
    GSH_TRY(gsh_source_put_many(stage, launch->shape + kept, nreduce, nreduce + 1));
    GSH_TRY(gsh_source_put_many(stage, strides + kept, nreduce, nreduce + 1));
    return gsh_source_set_grid(stage, geometry->tiles * geometry->segments);
}

enum gsh_status gsh_source_reduce_plan(const struct gsh_launch *launch, uint64_t scratch,
                                       struct gsh_source_plan *plan)
{
    if (!gsh_reduction_has_loop(launch->reduction, launch->loop) || launch->nin != 1 ||
        launch->operands[0].is_constant)
        return GSH_DECLINED;
    struct geometry first = geometry_of(launch, true);
    struct gsh_launch part = stage_launch(launch, &first, scratch, 0);
    plan->stage_count = first.segments > 1 ? 2 : 1;
    plan->scratch_bytes = gsh_source_reduce_scratch(launch);
    GSH_TRY(plan_stage(&part, &first, segment_bytes(launch, &first), &plan->stages[0]));
    if (plan->stage_count == 1)
        return GSH_OK;
    part = stage_launch(launch, &first, scratch, 1);
    struct geometry second = geometry_of(&part, false);
    return plan_stage(&part, &second, 0, &plan->stages[1]);
}

void gsh_source_reduce_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    static const char *const neutral[] = {[GSH_NEUTRAL_ZERO] = "A(0)",
                                          [GSH_NEUTRAL_ONE] = "A(1)",
                                          [GSH_NEUTRAL_LOWEST] = "Limits<A>::lowest()",
                                          [GSH_NEUTRAL_HIGHEST] = "Limits<A>::highest()"};
    struct geometry geometry = geometry_of(launch, true);
    struct gsh_launch part = stage_launch(launch, &geometry, 0, stage);
    if (stage > 0)
        geometry = geometry_of(&part, false);
    const struct gsh_reduction_info *info = gsh_reduction_info(launch->reduction);
    const struct gsh_op_info *join = gsh_op_info(info->combine);
    enum gsh_dtype accumulator = accumulator_of(launch);
    gsh_fmt_printf(fmt, "typedef %s T;\nconstexpr bool SETTLES = false;\n",
                   gsh_dtype_cuda_type(part.loop));
    gsh_fmt_text(fmt, gsh_source_prelude);
    gsh_fmt_printf(fmt, "typedef %s A;\n", gsh_dtype_cuda_type(accumulator));
    gsh_fmt_printf(fmt, "typedef %s In;\n", gsh_source_stored(part.operands[0].dtype));
    gsh_fmt_printf(fmt, "typedef %s Out;\n", gsh_source_stored(part.operands[1].dtype));
    gsh_fmt_printf(fmt, "typedef %s Index;\n", geometry.wide ? "u64" : "u32");
    gsh_fmt_printf(fmt, "#define NEUTRAL %s\n", neutral[info->neutral]);
    gsh_fmt_printf(fmt,
                   "constexpr int KEPT = %d, REDUCED = %d, UNROLL = %d, CHAIN = %d, BLOCK = %d;\n",
                   geometry.kept, part.nreduce, UNROLL, CHAIN, GSH_SOURCE_BLOCK);
    gsh_fmt_printf(fmt, "constexpr bool LANES_FAST = %s;\n",
                   geometry.lanes_fast ? "true" : "false");
    gsh_fmt_printf(fmt, "FN A gsh_join(A a, A b) { return %s; }\n",
                   accumulator == GSH_BOOL ? join->bool_expression : join->expression);
    gsh_fmt_text(fmt, gsh_source_reduction);
}
