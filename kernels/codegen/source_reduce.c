/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions as text (kernels/cuda/reduction.cuh, tree.cuh). A group of `lanes` threads makes one unit of outputs.
 * Each thread joins every lanes-th unit of elements, then the group's threads join their totals in a tree. Where
 * neighbouring elements of one output are close in memory (rows), neighbouring threads are lanes of one group; else
 * (columns) they belong to different groups. A unit is a pack of neighbours: along the reduced dimensions for rows,
 * along the kept ones for columns. Where that gives too few blocks to fill a GPU, the reduced dimensions are cut into
 * segments. A second stage joins the segments' results from scratch:
 *
 *   scratch[segment][output], accumulators
 *
 * The geometry follows from shape and strides. Addresses only decide whether a pack is loaded at once. So a repeated
 * run gives the same bits on any GPU. A thread joins the units that it loads together (a round, up to 8 units), up to
 * 16 rounds (a chunk), then chunks. No chain of additions is long, so a sum's error is at most that of NumPy's
 * pairwise summation.
 *
 * Products of floats (gsh_reduction_is_ordered) use the same tree, with accumulators that hold partial products of
 * any size (kernels/cuda/scan/running.cuh). Behind the segments' results the scratch has a byte for each output:
 * whether NumPy's result depends on the order. A last stage joins those outputs' elements in order
 * (kernels/cuda/ordered.cuh).
 */
#include "source_reduce.h"

#include "source_parts.h"
#include "source_texts.h"

#define CHAIN 16        /* rounds of a chunk */
#define PACK_BYTES 16   /* of rows' units */
#define UNIT_BYTES 8    /* of columns' units */
#define MAX_PACK 4      /* elements */
#define FLIGHT_BYTES 64 /* bytes that a thread loads together */
#define LANE_UNITS 16   /* the fewest elements of a lane before segments are cut */
#define ROW_LANES 32    /* fewest, where rows are long enough: a warp */
#define COLUMN_LANES 8  /* most */
#define COSTLY_NS                                                                                  \
    3 /* on a CPU: such a join is a function call, as many copies of it compile slowly */
#define ENOUGH_THREADS (1 << 17) /* keep the memory of any GPU busy: no more lanes, no segments */
#define TARGET_BLOCKS 4096       /* segments are cut for at most about this many blocks */
#define ORDERED_BLOCKS                                                                             \
    2048 /* of the last stage, as long as a block has fewer outputs than threads */

struct geometry {
    bool lanes_fast;
    bool is_wide;           /* indices of 64 bits */
    bool is_short;          /* strides of 32 bits */
    bool is_aligned;        /* a unit is loaded at once */
    int kept;               /* dimensions kept */
    int pack;               /* elements of a unit of one output */
    int width;              /* outputs of a unit of outputs; this or pack is 1 */
    int unroll;             /* units that a lane loads together */
    int64_t elements;       /* reduced */
    int64_t outputs, units; /* units of outputs, whole units of reduced elements */
    int64_t lanes, tiles, segment, segments;
};

static bool is_index(const struct gsh_launch *launch)
{
    return gsh_reduction_info(launch->reduction)->result == GSH_RESULT_INDEX;
}

static enum gsh_dtype accumulator_of(const struct gsh_launch *launch)
{
    return launch->loop == GSH_FLOAT16 ? GSH_FLOAT32 : launch->loop;
}

static bool is_ordered(const struct gsh_launch *launch)
{
    return gsh_reduction_is_ordered(launch->reduction, launch->loop);
}

/* Bytes of an accumulator in scratch. A Place is a value and an index; a running product is a factor and two
 * words. */
static int64_t accumulator_size(const struct gsh_launch *launch)
{
    int64_t size = (int64_t)gsh_dtype_size(accumulator_of(launch));
    if (!is_index(launch) && !is_ordered(launch))
        return size;
    return gsh_source_divide_up(size, 8) * 8 + 8;
}

/* Bytes of an input element; in the second stage the input is an accumulator. */
static int64_t input_size(const struct gsh_launch *launch, bool is_second)
{
    return is_second ? accumulator_size(launch)
                     : (int64_t)gsh_dtype_size(launch->operands[0].dtype);
}

static unsigned mask_of(const struct gsh_launch *launch)
{
    return launch->nin + launch->nout;
}

/* The elements of a pack along dimension d, whose stride is `size`, where other strides are multiples of the pack;
 * `tail`: the extent need not be a multiple. */
static int pack_of(const struct gsh_launch *launch, int d, int64_t size, int64_t bytes, bool tail)
{
    int64_t pack = GSH_MIN(bytes / size, MAX_PACK);
    if (launch->strides[0][d] != size || size > bytes || (size & (size - 1)) != 0)
        return 1;
    while (pack > 1 && !tail && launch->shape[d] % pack != 0)
        pack /= 2;
    return (int)pack;
}

static void set_units(const struct gsh_launch *launch, bool is_second, struct geometry *geometry)
{
    int64_t size = input_size(launch, is_second);
    geometry->pack = geometry->width = 1;
    if (geometry->lanes_fast && launch->nreduce > 0)
        geometry->pack = pack_of(launch, launch->ndim - 1, size, PACK_BYTES, launch->nreduce == 1);
    else if (!geometry->lanes_fast)
        geometry->width = pack_of(launch, geometry->kept - 1, size, UNIT_BYTES, false);
    geometry->units = geometry->elements / geometry->pack;
    geometry->outputs /= geometry->width;
    int unit = geometry->pack * geometry->width;
    int inner = geometry->lanes_fast ? launch->ndim - 1 : geometry->kept - 1;
    uint64_t bits = launch->operands[0].address;
    for (int d = 0; d < launch->ndim; d++)
        bits |= d == inner && unit > 1 ? 0 : (uint64_t)launch->strides[0][d];
    int64_t bytes = unit * size;
    geometry->unroll = bytes > FLIGHT_BYTES / 8 ? 4 : 8;
    geometry->is_aligned = (bytes & (bytes - 1)) == 0 && (bits & (uint64_t)(bytes - 1)) == 0;
}

/* Lanes of a group: enough to keep the memory busy, and no more, because joining their totals takes time. */
static int64_t lanes_of(const struct geometry *geometry)
{
    int64_t enough = gsh_source_divide_up(ENOUGH_THREADS, GSH_MAX(geometry->outputs, 1));
    if (geometry->lanes_fast)
        return gsh_source_power_of_two(
            GSH_MIN(gsh_source_divide_up(geometry->units, geometry->unroll),
                    GSH_MAX(enough, ROW_LANES)),
            GSH_SOURCE_BLOCK);
    int64_t lanes = gsh_source_power_of_two(
        GSH_MIN(gsh_source_divide_up(geometry->units, LANE_UNITS), enough), COLUMN_LANES);
    int64_t groups = gsh_source_power_of_two(geometry->outputs,
                                             GSH_SOURCE_BLOCK); /* no more than there are outputs */
    return GSH_MAX(lanes, GSH_SOURCE_BLOCK / groups);
}

static void cut_segments(struct geometry *geometry)
{
    int64_t round = geometry->lanes * geometry->unroll;
    int64_t least = geometry->lanes * GSH_MAX(LANE_UNITS / geometry->pack, 4);
    int64_t segments =
        GSH_MIN(geometry->units / least, gsh_source_divide_up(TARGET_BLOCKS, geometry->tiles));
    geometry->segment = GSH_MAX(geometry->units, 1);
    if (segments > 1 && geometry->tiles < ENOUGH_THREADS / GSH_SOURCE_BLOCK)
        geometry->segment =
            gsh_source_divide_up(gsh_source_divide_up(geometry->units, segments), round) * round;
    geometry->segments = GSH_MAX(gsh_source_divide_up(geometry->units, geometry->segment), 1);
}

static bool has_short_strides(const struct gsh_launch *launch)
{
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        for (int d = 0; d < launch->ndim; d++)
            if (launch->strides[k][d] * MAX_PACK != (int32_t)(launch->strides[k][d] * MAX_PACK))
                return false;
    return true;
}

static struct geometry geometry_of(const struct gsh_launch *launch, bool is_second)
{
    struct geometry geometry = {
        .kept = launch->ndim - launch->nreduce, .outputs = 1, .elements = 1};
    for (int d = 0; d < launch->ndim; d++)
        *(d < geometry.kept ? &geometry.outputs : &geometry.elements) *= launch->shape[d];
    geometry.lanes_fast = true;
    if (geometry.kept > 0 && launch->nreduce > 0)
        geometry.lanes_fast = gsh_launch_step(launch->strides[0][geometry.kept - 1]) >=
                              gsh_launch_step(launch->strides[0][launch->ndim - 1]);
    geometry.is_wide = geometry.outputs > INT32_MAX || geometry.elements > INT32_MAX;
    geometry.is_short = has_short_strides(launch);
    set_units(launch, is_second, &geometry);
    geometry.lanes = lanes_of(&geometry);
    geometry.tiles = gsh_source_divide_up(geometry.outputs, GSH_SOURCE_BLOCK / geometry.lanes);
    geometry.segment = GSH_MAX(geometry.units, 1);
    geometry.segments = 1;
    if (!is_second)
        cut_segments(&geometry);
    return geometry;
}

/* Bytes in scratch for the outputs of one segment. */
static int64_t segment_bytes(const struct gsh_launch *launch, const struct geometry *geometry)
{
    return geometry->outputs * geometry->width * accumulator_size(launch);
}

/* Dense C-order strides of the scratch over the kept dimensions. */
static void scratch_strides(const struct gsh_launch *launch, int kept, int64_t *strides)
{
    int64_t stride = accumulator_size(launch);
    for (int d = kept - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= launch->shape[d];
    }
}

/* The reduction of one stage. The first of two stages writes to scratch, the second reads from it. */
static struct gsh_launch stage_launch(const struct gsh_launch *launch, const struct geometry *first,
                                      uint64_t scratch, unsigned stage)
{
    struct gsh_launch part = *launch;
    if (first->segments == 1)
        return part;
    unsigned k = stage == 0 ? 1 : 0; /* the operand in scratch */
    part.operands[k].dtype = accumulator_of(launch);
    part.operands[k].address = scratch;
    scratch_strides(launch, first->kept, part.strides[k]);
    if (stage == 1) {
        part.has_mask = false;
        part.nreduce = 1;
        part.ndim = first->kept + 1;
        part.shape[first->kept] = first->segments;
        part.strides[0][first->kept] = segment_bytes(launch, first);
        part.strides[1][first->kept] = 0;
        if (!is_index(launch))
            part.loop = accumulator_of(launch);
        gsh_launch_collapse(&part);
    }
    return part;
}

/* The offset of the outputs' flags in scratch. */
static int64_t flags_at(const struct gsh_launch *launch, const struct geometry *first)
{
    return first->segments > 1 ? first->segments * segment_bytes(launch, first) : 0;
}

size_t gsh_source_reduce_scratch(const struct gsh_launch *launch)
{
    struct geometry geometry = geometry_of(launch, false);
    int64_t flags = is_ordered(launch) ? geometry.outputs * geometry.width : 0;
    return (size_t)(flags_at(launch, &geometry) + flags);
}

/* A stage of the launch: what its text depends on besides the geometry. */
struct stage {
    bool is_second;
    bool is_last; /* the last one, apart from the stage that joins in order */
    bool runs;    /* joins running products */
    bool joins_in_order;
    bool checks;          /* checks for errors */
    uint64_t flags;       /* their address; 0: no flags */
    bool has_wide_places; /* INDEX: indices of 64 bits, in both stages */
    struct gsh_launch part;
    struct geometry geometry;
};

/* Units of one element and one output; a block has `lanes` outputs. */
static void set_single_units(struct geometry *geometry)
{
    geometry->outputs *= geometry->width;
    geometry->units = geometry->elements;
    geometry->pack = geometry->width = geometry->unroll = 1;
    geometry->lanes = GSH_MIN(GSH_MAX(gsh_source_divide_up(geometry->outputs, ORDERED_BLOCKS), 1),
                              GSH_SOURCE_BLOCK);
    geometry->tiles = gsh_source_divide_up(geometry->outputs, geometry->lanes);
    geometry->segment = geometry->units;
    geometry->segments = 1;
}

static void set_stage(const struct gsh_launch *launch, uint64_t scratch, unsigned number,
                      struct stage *stage)
{
    const struct gsh_reduction_info *info = gsh_reduction_info(launch->reduction);
    unsigned may = GSH_MAY_POLE | GSH_MAY_OVERFLOW | GSH_MAY_INVALID;
    struct geometry first = geometry_of(launch, false);
    char kind = gsh_dtype_kind(launch->loop);
    bool is_cut = first.segments > 1;
    stage->joins_in_order = is_ordered(launch) && number == (is_cut ? 2 : 1);
    stage->runs = is_ordered(launch) && !stage->joins_in_order;
    stage->flags = is_ordered(launch) ? scratch + (uint64_t)flags_at(launch, &first) : 0;
    stage->is_second = number > 0 && !stage->joins_in_order;
    stage->is_last = number > 0 || !is_cut;
    stage->checks = launch->errors.claims != 0 && (kind == 'f' || kind == 'c') &&
                    !is_index(launch) && (stage->is_last || !stage->runs) &&
                    (gsh_op_info(info->combine)->flags & may) != 0;
    stage->has_wide_places = first.elements > INT32_MAX;
    stage->part = stage->joins_in_order ? *launch : stage_launch(launch, &first, scratch, number);
    stage->geometry = stage->is_second ? geometry_of(&stage->part, true) : first;
    if (stage->joins_in_order)
        set_single_units(&stage->geometry);
}

/* E.g. sum_d_dd_rows_k1r1p2: loop, input, output; pack, width; then any other differences. */
static void write_key(const struct gsh_launch *launch, const struct stage *stage, char *key)
{
    const struct geometry *geometry = &stage->geometry;
    struct gsh_fmt fmt; /* without printf: this runs at every launch */
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, gsh_reduction_info(launch->reduction)->name);
    gsh_fmt_text(&fmt, "_");
    gsh_source_key_dtype(&fmt, launch->loop);
    gsh_fmt_text(&fmt, "_");
    gsh_source_key_dtype(&fmt, stage->part.operands[0].dtype);
    gsh_source_key_dtype(&fmt, stage->part.operands[1].dtype);
    gsh_fmt_text(&fmt, geometry->lanes_fast ? "_rows_k" : "_columns_k");
    gsh_fmt_decimal(&fmt, (uint64_t)geometry->kept);
    gsh_fmt_text(&fmt, "r");
    gsh_fmt_decimal(&fmt, (uint64_t)stage->part.nreduce);
    gsh_fmt_text(&fmt, "p");
    gsh_fmt_decimal(&fmt, (uint64_t)geometry->pack * (uint64_t)geometry->width);
    gsh_fmt_text(&fmt, geometry->is_wide ? "w" : "");
    gsh_fmt_text(&fmt, geometry->is_short ? "" : "l");
    gsh_fmt_text(&fmt, geometry->is_aligned ? "" : "u");
    gsh_fmt_text(&fmt, stage->part.has_mask ? "m" : "");
    gsh_fmt_text(&fmt, launch->has_initial ? "i" : "");
    gsh_fmt_text(&fmt, stage->checks ? "e" : "");
    gsh_fmt_text(&fmt, is_index(launch) && stage->has_wide_places ? "W" : "");
    gsh_fmt_text(&fmt, stage->joins_in_order ? "_ordered"
                       : stage->is_second    ? "_2"
                       : stage->is_last      ? ""
                                             : "_1");
}

/* Shape, magic numbers and strides of the dimensions [first, end), in units of `unit` elements along the innermost
 * one. One word more than there are dimensions, because CUDA arrays are never empty. */
static enum gsh_status put_dims(const struct gsh_launch *launch, int first, int end, int unit,
                                struct gsh_source_stage *stage)
{
    static const int64_t none[GSH_MAX_DIMS];
    int64_t shape[GSH_MAX_DIMS], strides[GSH_MAX_DIMS];
    int count = end - first;
    memcpy(shape, launch->shape + first, (size_t)count * sizeof(*shape));
    if (count > 0)
        shape[count - 1] /= unit;
    GSH_TRY(gsh_source_put_many(stage, shape, count, count + 1));
    GSH_TRY(gsh_source_text_put_magic(stage, shape, count, count + 1));
    for (unsigned k = 0; k < 3; k++) {
        bool is_there = k < 2 || launch->has_mask;
        memcpy(strides, is_there ? launch->strides[k] + first : none,
               (size_t)count * sizeof(*strides));
        if (count > 0)
            strides[count - 1] *= unit;
        GSH_TRY(gsh_source_put_many(stage, strides, count, count + 1));
    }
    return GSH_OK;
}

static enum gsh_status put_arguments(const struct gsh_launch *launch, const struct stage *stage,
                                     int64_t segment_stride, struct gsh_source_stage *out)
{
    const struct gsh_launch *part = &stage->part;
    const struct geometry *g = &stage->geometry;
    int last_kept = g->kept - 1, inner = g->lanes_fast ? part->ndim - 1 : last_kept;
    const int64_t head[] = {(int64_t)part->operands[0].address,
                            (int64_t)part->operands[1].address,
                            part->has_mask ? (int64_t)part->operands[mask_of(part)].address : 0,
                            g->outputs,
                            g->units,
                            g->elements,
                            g->segment,
                            g->tiles,
                            segment_stride,
                            g->lanes,
                            g->width > 1 ? part->strides[1][last_kept] : 0,
                            part->has_mask && inner >= 0 ? part->strides[mask_of(part)][inner] : 0,
                            (int64_t)stage->flags};
    uint64_t initial[2] = {0, 0};
    if (launch->has_initial)
        memcpy(initial, &launch->initial, gsh_dtype_size(launch->loop));
    GSH_TRY(gsh_source_put_many(out, head, (int)GSH_COUNT(head), (int)GSH_COUNT(head)));
    GSH_TRY(gsh_source_put(out, initial[0]));
    GSH_TRY(gsh_source_put(out, initial[1]));
    GSH_TRY(gsh_source_text_put_sink(out, launch));
    GSH_TRY(put_dims(part, 0, g->kept, g->width, out));
    return put_dims(part, g->kept, part->ndim, g->pack, out);
}

static enum gsh_status plan_stage(const struct gsh_launch *launch, const struct stage *stage,
                                  int64_t segment_stride, struct gsh_source_stage *out)
{
    out->argument_bytes = 0;
    out->shared_bytes = 0; /* the kernel's shared memory is static */
    write_key(launch, stage, out->key);
    GSH_TRY(put_arguments(launch, stage, segment_stride, out));
    return gsh_source_set_grid(out, stage->geometry.tiles * stage->geometry.segments);
}

bool gsh_source_reduce_is_made(const struct gsh_launch *launch)
{
    return gsh_reduction_has_loop(launch->reduction, launch->loop) && launch->nin == 1 &&
           !launch->operands[0].is_constant;
}

enum gsh_status gsh_source_reduce_plan(const struct gsh_launch *launch, uint64_t scratch,
                                       struct gsh_source_plan *plan)
{
    struct stage stage;
    if (!gsh_source_reduce_is_made(launch))
        return GSH_DECLINED;
    set_stage(launch, scratch, 0, &stage);
    plan->stage_count = (stage.is_last ? 1 : 2) + (stage.runs ? 1 : 0);
    plan->scratch_bytes = gsh_source_reduce_scratch(launch);
    GSH_TRY(plan_stage(launch, &stage, segment_bytes(launch, &stage.geometry), &plan->stages[0]));
    for (unsigned number = 1; number < plan->stage_count; number++) {
        set_stage(launch, scratch, number, &stage);
        GSH_TRY(plan_stage(launch, &stage, 0, &plan->stages[number]));
    }
    return GSH_OK;
}

/* Writes the accumulator: its type, its value for one element, the join of two, the final result. */
static void write_places(const struct gsh_launch *launch, const struct stage *stage,
                         struct gsh_fmt *fmt)
{
    const struct gsh_launch *part = &stage->part;
    const char *greatest =
        gsh_reduction_info(launch->reduction)->combine == GSH_OP_MAXIMUM ? "true" : "false";
    const char *loop = gsh_dtype_cuda_stored(launch->loop);
    const char *places = stage->has_wide_places ? "u64" : "u32";
    gsh_fmt_text(fmt, gsh_cuda_text_place);
    gsh_fmt_printf(fmt, "typedef Place<ValueOf<%s>::type, %s> A;\n", loop, places);
    if (stage->is_second)
        gsh_fmt_text(fmt, "typedef A In;\nFN A accumulate(In place, i64) { return place; }\n");
    else
        gsh_fmt_printf(fmt,
                       "typedef %s In;\nFN A accumulate(In stored, i64 at)\n"
                       "{\n    return {value(Convert<%s, In>::of(stored)), (%s)at};\n}\n",
                       gsh_dtype_cuda_stored(part->operands[0].dtype), loop, places);
    gsh_fmt_printf(fmt,
                   "FN A join_values(A a, A b) { return better_place<%s>(a, b); }\n"
                   "FN A join_later(A a, A b) { return better_%s<%s>(a, b); }\n",
                   greatest, stage->is_second ? "place" : "later", greatest);
    if (stage->is_last)
        gsh_fmt_printf(fmt,
                       "typedef %s Out;\nFN Out result_of(A total) { return Convert<Out, "
                       "i64>::of((i64)total.index); }\n",
                       gsh_dtype_cuda_stored(part->operands[1].dtype));
    else
        gsh_fmt_text(fmt, "typedef A Out;\nFN Out result_of(A total) { return total; }\n");
}

static const char *truth(bool holds)
{
    return holds ? "true" : "false";
}

/* The same for running products. */
static void write_running(const struct gsh_launch *launch, const struct stage *stage,
                          struct gsh_fmt *fmt)
{
    const struct gsh_launch *part = &stage->part;
    const struct gsh_op_info *join = gsh_op_info(gsh_reduction_info(launch->reduction)->combine);
    gsh_fmt_printf(
        fmt, "typedef %s T;\ntypedef %s Result;\n%s T multiply(T a, T b) { return %s; }\n",
        gsh_dtype_cuda_type(accumulator_of(launch)), gsh_dtype_cuda_stored(launch->loop),
        join->host_ns < COSTLY_NS ? "FN" : "__device__ __noinline__", join->expressions[0]);
    gsh_fmt_text(fmt, gsh_cuda_text_running);
    gsh_fmt_text(fmt, "typedef Running A;\n");
    if (stage->is_second)
        gsh_fmt_text(fmt, "typedef A In;\nFN A accumulate(In running, i64) { return running; }\n");
    else
        gsh_fmt_printf(fmt,
                       "typedef %s In;\nFN A accumulate(In stored, i64) { return "
                       "{value(Convert<%s, In>::of(stored)), 0, 0}; }\n",
                       gsh_dtype_cuda_stored(part->operands[0].dtype),
                       gsh_dtype_cuda_stored(launch->loop));
    gsh_fmt_text(fmt, "FN A join_values(const A &a, const A &b) { return join_running(a, b); }\n"
                      "FN A join_later(const A &a, const A &b) { return join_running(a, b); }\n");
    if (stage->is_last)
        gsh_fmt_printf(
            fmt,
            "typedef %s Out;\nFN Out result_of(const A &total)\n{\n"
            "    return Convert<Out, Result>::of(Cast<Result>::of(value_of(total)));\n}\n"
            "FN bool is_flagged(const A &total) { return is_ambiguous(total); }\n",
            gsh_dtype_cuda_stored(part->operands[1].dtype));
    else
        gsh_fmt_text(fmt, "typedef A Out;\nFN Out result_of(A total) { return total; }\n");
    if (stage->checks)
        gsh_fmt_printf(fmt,
                       "typedef %s SinkType;\nconstexpr int MAY = %u;\n"
                       "FN void check_total(const Sink &sink, const A &total)\n{\n"
                       "    check_running<SinkType>(sink, total);\n"
                       "    if (!is_ambiguous(total))\n"
                       "        check_rounding<Result>(sink, value_of(total));\n}\n",
                       gsh_dtype_cuda_stored(launch->loop), join->flags & 7);
}

static void write_values(const struct gsh_launch *launch, const struct stage *stage,
                         struct gsh_fmt *fmt)
{
    const struct gsh_launch *part = &stage->part;
    const struct gsh_op_info *join = gsh_op_info(gsh_reduction_info(launch->reduction)->combine);
    enum gsh_dtype result = stage->is_last
                                ? gsh_reduction_output_dtype(launch->reduction, launch->loop)
                                : accumulator_of(launch);
    gsh_fmt_printf(fmt, "typedef %s A, T;\n", gsh_dtype_cuda_type(accumulator_of(launch)));
    gsh_fmt_printf(fmt, "typedef %s In;\ntypedef %s Out;\ntypedef %s Result;\n",
                   gsh_dtype_cuda_stored(part->operands[0].dtype),
                   gsh_dtype_cuda_stored(part->operands[1].dtype), gsh_dtype_cuda_stored(result));
    gsh_fmt_printf(
        fmt, "FN A accumulate(In stored, i64) { return value(Convert<%s, In>::of(stored)); }\n",
        gsh_dtype_cuda_stored(part->loop));
    gsh_fmt_printf(fmt,
                   "%s A join_values(A a, A b) { return %s; }\n"
                   "FN A join_later(A a, A b) { return join_values(a, b); }\n",
                   join->host_ns < COSTLY_NS ? "FN" : "__device__ __noinline__",
                   join->expressions[0]);
    gsh_fmt_text(fmt, "FN Out result_of(A total)\n{\n"
                      "    return Convert<Out, Result>::of(Cast<Result>::of(total));\n}\n");
    if (stage->checks)
        gsh_fmt_printf(fmt,
                       "typedef %s SinkType;\nconstexpr int MAY = %u;\n"
                       "FN void check_total(const Sink &sink, A total) { "
                       "check_rounding<Result>(sink, total); }\n",
                       gsh_dtype_cuda_stored(launch->loop), join->flags & 7);
}

/* The value that a lane begins with. A neutral value may be joined any number of times; `initial` only once,
 * unless the reduction may join an element twice. Float sums with `initial` begin with -0.0, which changes no
 * `initial`, not even -0.0. */
static void write_beginning(const struct gsh_launch *launch, const struct stage *stage,
                            struct gsh_fmt *fmt)
{
    static const char *const neutral[] = {
        [GSH_NEUTRAL_ZERO] = "A()",
        [GSH_NEUTRAL_ONE] = "as_total(value(Cast<Stored>::of(1)))",
        [GSH_NEUTRAL_ONES] = "value(Cast<Stored>::of(-1))",
        [GSH_NEUTRAL_LOWEST] = "-INFINITE",
        [GSH_NEUTRAL_FIRST] = "accumulate(((const In *)input)[o], 0)"};
    const struct gsh_reduction_info *info = gsh_reduction_info(launch->reduction);
    char kind = gsh_dtype_kind(launch->loop);
    bool is_first = info->neutral == GSH_NEUTRAL_FIRST;
    const char *begin = neutral[info->neutral];
    if (launch->has_initial && is_first)
        begin = "initial_value(args)";
    else if (launch->has_initial && info->combine == GSH_OP_ADD && (kind == 'f' || kind == 'c'))
        begin = "gsh_negate(A())";
    if (!is_index(launch))
        gsh_fmt_text(fmt, stage->runs ? "FN A as_total(T x) { return {x, 0, 0}; }\n"
                                      : "FN A as_total(A x) { return x; }\n");
    if (!is_index(launch))
        gsh_fmt_printf(fmt,
                       "typedef %s Stored;\ntypedef %s Initial;\n"
                       "template <class Args> FN A initial_value(const Args &args)\n{\n"
                       "    union { u64 words[2]; Initial stored; } initial = "
                       "{{args.initial[0], args.initial[1]}};\n"
                       "    return as_total(value(initial.stored));\n}\n",
                       gsh_dtype_cuda_stored(accumulator_of(launch)),
                       gsh_dtype_cuda_stored(launch->loop));
    else
        gsh_fmt_text(fmt,
                     "template <class Args> FN A initial_value(const Args &) { return A(); }\n");
    gsh_fmt_printf(fmt,
                   "template <class Args> FN A begin_value(const Args &args, const char *input, "
                   "int o)\n{\n    return %s;\n}\n",
                   begin);
    gsh_fmt_printf(
        fmt, "constexpr bool HAS_INITIAL = %s, JOINS_INITIAL = %s, REPEATS = %s, COPIES = %s;\n",
        truth(launch->has_initial),
        truth(launch->has_initial && !is_first && stage->is_last && !stage->joins_in_order),
        truth(is_first),
        truth(gsh_source_reduce_copies_one(launch) && stage->is_last && !stage->is_second));
}

static void write_constants(const struct stage *stage, struct gsh_fmt *fmt)
{
    const struct geometry *geometry = &stage->geometry;
    gsh_fmt_printf(
        fmt,
        "constexpr int KEPT = %d, REDUCED = %d, UNROLL = %d, TURNS = UNROLL, CHAIN = %d, "
        "BLOCK = %d, PACK = %d, OUTPUTS = %d;\n",
        geometry->kept, stage->part.nreduce, geometry->unroll, CHAIN, GSH_SOURCE_BLOCK,
        geometry->pack, geometry->width);
    gsh_fmt_printf(fmt,
                   "constexpr bool LANES_FAST = %s, SHORT = %s, ALIGNED = %s, MASKED = %s;\n"
                   "typedef %s Index;\n",
                   truth(geometry->lanes_fast), truth(geometry->is_short),
                   truth(geometry->is_aligned), truth(stage->part.has_mask),
                   geometry->is_wide ? "u64" : "u32");
}

void gsh_source_reduce_text(const struct gsh_launch *launch, unsigned number, struct gsh_fmt *fmt)
{
    struct stage stage;
    set_stage(launch, 0, number, &stage);
    const struct gsh_reduction_info *info = gsh_reduction_info(launch->reduction);
    struct gsh_source_prelude prelude = {
        .dtypes = 1u << launch->loop | 1u << accumulator_of(launch) |
                  1u << stage.part.operands[0].dtype | 1u << stage.part.operands[1].dtype,
        .expressions = {gsh_op_info(info->combine)->expressions[0]},
        .is_half = launch->loop == GSH_FLOAT16,
        .errors = stage.checks,
        .collective = true};
    gsh_source_text_write_prelude(fmt, &prelude);
    write_constants(&stage, fmt);
    if (is_index(launch))
        write_places(launch, &stage, fmt);
    else if (stage.runs)
        write_running(launch, &stage, fmt);
    else
        write_values(launch, &stage, fmt);
    write_beginning(launch, &stage, fmt);
    bool has_flags = stage.runs && stage.is_last;
    gsh_fmt_printf(fmt, "constexpr bool FLAGS = %s;\n%s", truth(has_flags),
                   has_flags ? "" : "FN bool is_flagged(A) { return false; }\n");
    gsh_fmt_text(fmt, gsh_cuda_text_reduction);
    gsh_fmt_text(fmt, stage.joins_in_order ? gsh_cuda_text_ordered : gsh_cuda_text_tree);
}

void gsh_source_reduce_tree(const struct gsh_launch *launch, struct gsh_source_tree *tree)
{
    struct geometry geometry = geometry_of(launch, false);
    *tree = (struct gsh_source_tree){.lanes_fast = geometry.lanes_fast,
                                     .is_wide = geometry.is_wide,
                                     .pack = geometry.pack,
                                     .unroll = geometry.unroll,
                                     .chain = CHAIN,
                                     .elements = geometry.elements,
                                     .outputs = geometry.outputs * geometry.width,
                                     .units = geometry.units,
                                     .lanes = geometry.lanes,
                                     .segment = geometry.segment,
                                     .segments = geometry.segments};
}

int64_t gsh_source_reduce_accumulator(const struct gsh_launch *launch)
{
    return accumulator_size(launch);
}

enum gsh_status gsh_source_reduce_second(const struct gsh_launch *launch, uint64_t scratch,
                                         struct gsh_source_stage *stage)
{
    struct stage second;
    set_stage(launch, scratch, 1, &second);
    return plan_stage(launch, &second, 0, stage);
}

void gsh_source_reduce_write(const struct gsh_launch *launch, struct gsh_fmt *fmt)
{
    struct stage stage;
    set_stage(launch, 0, 0, &stage);
    write_values(launch, &stage, fmt);
    write_beginning(launch, &stage, fmt);
}

bool gsh_source_reduce_checks(const struct gsh_launch *launch)
{
    struct stage stage;
    set_stage(launch, 0, 0, &stage);
    return stage.checks;
}

bool gsh_source_reduce_begins_with_first(const struct gsh_launch *launch)
{
    return gsh_reduction_info(launch->reduction)->neutral == GSH_NEUTRAL_FIRST &&
           !launch->has_initial;
}

bool gsh_source_reduce_copies_one(const struct gsh_launch *launch)
{
    return launch->loop == GSH_BOOL && launch->operands[0].dtype == GSH_BOOL &&
           launch->operands[1].dtype == GSH_BOOL && !is_index(launch) &&
           gsh_source_reduce_begins_with_first(launch);
}
