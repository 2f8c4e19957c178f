/* SPDX-License-Identifier: Apache-2.0
 *
 * TAKE and PUT as text (kernels/cuda/indexed*.cuh). Variants:
 *
 *   move     TAKE; PUT's assignment where several writes to one place write the same value
 *   ranked   other assignments of PUT, in three stages: of the writes to a place the last one in C order
 *            wins. Scratch: a winner for each place that the indices can name
 *   combine  PUT with an operation whose order does not matter, by atomic instructions
 *   count    of these, one number that is added to places of a short line again and again
 *   ordered  PUT with any other operation, e.g. a sum of different floats: sorted by place (source_put_order.h), then place by
 *            place in C order
 */
#include "source_index.h"

#include "source_parts.h"
#include "source_put_order.h"
#include "source_ranking.h"
#include "source_scan.h"
#include "source_sort.h"
#include "source_texts.h"

#define UNROLL 4
#define WARP 32
#define PART 1024 /* ranks among which a warp looks for runs to join */
#define MOST_SCRATCH ((int64_t)1 << 34)
#define COUNTERS 6144  /* of a block: nine blocks share a multiprocessor of 228 KiB */
#define MOST_COPIES 32 /* of a place's counters: lanes of a warp */
#define LEAST_BLOCKS 16
#define MOST_BLOCKS 1024
#define NAMED_AGAIN                                                                                \
    8 /* times that a block names a place, so that few places are added at its end */

enum way { WAY_NONE, WAY_MOVE, WAY_RANKED, WAY_COMBINE, WAY_COUNT, WAY_ORDERED };
enum pass {
    PASS_CLEAR,
    PASS_CLAIM,
    PASS_MOVE,
    PASS_COMBINE,
    PASS_COUNT,
    PASS_CELLS,
    PASS_SORT,
    PASS_GATHER,
    PASS_ORDER
};

static bool is_put(const struct gsh_launch *launch)
{
    return launch->kind == GSH_LAUNCH_PUT;
}

static bool has_one_value(const struct gsh_launch *launch)
{
    for (int d = 0; d < launch->ndim; d++)
        if (launch->strides[0][d] != 0 && gsh_source_ranking_has_dim(launch, d))
            return false;
    return true;
}

static bool is_float(enum gsh_dtype dtype)
{
    return (1u << dtype & GSH_SET_FLOATS) != 0;
}

static bool is_extremum(enum gsh_op op)
{
    return op == GSH_OP_MAXIMUM || op == GSH_OP_MINIMUM || op == GSH_OP_FMAX || op == GSH_OP_FMIN;
}

/* op(op(x, a), b) == op(op(x, b), a) to the bit, for integers and bool. */
static bool ignores_order(enum gsh_op op)
{
    static const enum gsh_op ops[] = {GSH_OP_ADD,         GSH_OP_SUBTRACT,    GSH_OP_MULTIPLY,
                                      GSH_OP_BITWISE_AND, GSH_OP_BITWISE_OR,  GSH_OP_BITWISE_XOR,
                                      GSH_OP_LOGICAL_OR,  GSH_OP_LOGICAL_AND, GSH_OP_LOGICAL_XOR,
                                      GSH_OP_GCD};
    for (size_t i = 0; i < GSH_COUNT(ops); i++)
        if (ops[i] == op)
            return true;
    return is_extremum(op);
}

static bool has_join(const struct gsh_launch *launch)
{
    const struct gsh_op_info *info = gsh_op_info(launch->op);
    return gsh_op_has_loop(launch->op, launch->loop) && info->nin == 2 && info->nout == 1 &&
           info->inputs == GSH_INPUTS_SAME &&
           gsh_op_output_dtype(launch->op, launch->loop, 0) == launch->loop;
}

/* Whether every place begins at a multiple of so many bytes. */
static bool is_aligned(const struct gsh_launch *launch, int64_t unit)
{
    for (int d = 0; d < launch->ndim; d++)
        if (launch->strides[2][d] % unit != 0)
            return false;
    return (int64_t)launch->operands[2].address % unit == 0 && launch->indexed.stride % unit == 0;
}

static bool may_combine(const struct gsh_launch *launch)
{
    int64_t size = (int64_t)gsh_dtype_size(launch->operands[2].dtype);
    if (size > 8 || !is_aligned(launch, size)) /* for an atomic instruction */
        return false;
    if (has_one_value(launch))
        return true;
    bool is_exact = (1u << launch->loop & (GSH_SET_INTEGERS | GSH_SET_BOOL)) != 0 ||
                    (is_float(launch->loop) && is_extremum(launch->op));
    return is_exact && ignores_order(launch->op) && launch->operands[2].dtype == launch->loop;
}

/* True where an atomic instruction exists for the operation. */
static bool is_native(const struct gsh_launch *launch)
{
    enum gsh_dtype dtype = launch->operands[2].dtype;
    return (1u << dtype & GSH_SET_INTEGERS) != 0 && gsh_dtype_size(dtype) >= 4 &&
           dtype == launch->loop && (launch->op == GSH_OP_ADD || launch->op == GSH_OP_SUBTRACT);
}

/* The elements for which a block is worth its counters. */
static int64_t elements_of_counters(const struct gsh_launch *launch)
{
    return GSH_MAX((int64_t)GSH_SOURCE_BLOCK * UNROLL, NAMED_AGAIN * launch->indexed.extent);
}

/* The elements, less than 2^32 of which a block has, name places of one line, and all have one value. */
static bool may_count(const struct gsh_launch *launch)
{
    int64_t elements = gsh_launch_elements(launch), extent = launch->indexed.extent;
    bool is_line = is_native(launch) && extent > 0 && extent <= COUNTERS &&
                   elements / LEAST_BLOCKS >= elements_of_counters(launch) &&
                   elements / MOST_BLOCKS < INT32_MAX;
    for (int d = 0; d < launch->ndim && is_line; d++)
        is_line =
            launch->shape[d] == 1 || (launch->strides[0][d] == 0 && launch->strides[2][d] == 0);
    return is_line;
}

static enum way way_of_combining(const struct gsh_launch *launch)
{
    enum gsh_dtype out = launch->operands[2].dtype;
    int64_t part = (int64_t)gsh_dtype_size(out) / (gsh_dtype_kind(out) == 'c' ? 2 : 1);
    if (!has_join(launch) || !is_aligned(launch, part))
        return WAY_NONE;
    if (may_combine(launch))
        return may_count(launch) ? WAY_COUNT : WAY_COMBINE;
    return gsh_source_put_order_is_possible(launch) ? WAY_ORDERED : WAY_NONE;
}

static bool has_wide_winners(const struct gsh_source_ranking *ranking)
{
    return ranking->ranks >= INT32_MAX;
}

/* Size in words of 8 bytes. */
static int64_t winner_words(const struct gsh_source_ranking *ranking)
{
    return has_wide_winners(ranking) ? ranking->cells : (ranking->cells + 1) / 2;
}

static enum way way_of_put(const struct gsh_launch *launch)
{
    if (launch->op != GSH_OP_COPY)
        return way_of_combining(launch);
    if (has_one_value(launch))
        return WAY_MOVE;
    struct gsh_source_ranking ranking = gsh_source_ranking_of(launch);
    return gsh_source_ranking_is_distinct(launch) && winner_words(&ranking) <= MOST_SCRATCH / 8
               ? WAY_RANKED
               : WAY_NONE;
}

static enum way way_of(const struct gsh_launch *launch)
{
    bool has_index = launch->nin == 2 && launch->nout == 1 && !launch->operands[1].is_constant &&
                     (1u << launch->operands[1].dtype & GSH_SET_INTEGERS) != 0;
    if (!has_index || (launch->has_mask && launch->operands[3].dtype != GSH_BOOL))
        return WAY_NONE;
    if (is_put(launch))
        return way_of_put(launch);
    return launch->op == GSH_OP_COPY && !launch->operands[0].is_constant ? WAY_MOVE : WAY_NONE;
}

static enum pass pass_of(const struct gsh_launch *launch, enum way way, unsigned stage)
{
    static const enum pass ranked[] = {PASS_CLEAR, PASS_CLAIM};
    if (way == WAY_COMBINE || way == WAY_COUNT)
        return way == WAY_COUNT ? PASS_COUNT : PASS_COMBINE;
    if (way == WAY_ORDERED && stage == 0)
        return PASS_CELLS;
    if (way == WAY_ORDERED) {
        struct gsh_launch sort = gsh_source_put_order_sort(launch, 0);
        unsigned sorted = gsh_source_sort_stages(&sort);
        bool is_gathered = stage == sorted + 1 && gsh_source_put_order_gathers(launch);
        return stage <= sorted ? PASS_SORT : is_gathered ? PASS_GATHER : PASS_ORDER;
    }
    return way == WAY_RANKED && stage < GSH_COUNT(ranked) ? ranked[stage] : PASS_MOVE;
}

static bool is_raw(const struct gsh_launch *launch)
{
    return launch->operands[0].dtype == launch->loop && launch->operands[2].dtype == launch->loop;
}

static bool divides_integers(const struct gsh_launch *launch)
{
    return gsh_op_divides(launch->op) && (1u << launch->loop & GSH_SET_INTEGERS) != 0;
}

static bool may_combine_badly(const struct gsh_launch *launch)
{
    return divides_integers(launch) || (1u << launch->loop & GSH_SET_INEXACT) != 0;
}

static bool joins(enum pass pass)
{
    return pass == PASS_COMBINE || pass == PASS_COUNT || pass == PASS_ORDER;
}

static bool checks_errors(const struct gsh_launch *launch, enum pass pass)
{
    return launch->errors.claims != 0 &&
           (!is_put(launch) || (joins(pass) && may_combine_badly(launch)) ||
            (pass == PASS_MOVE && !is_raw(launch)));
}

size_t gsh_source_index_scratch(const struct gsh_launch *launch)
{
    enum way way = way_of(launch);
    if (way == WAY_ORDERED) {
        struct gsh_launch sort = gsh_source_put_order_sort(launch, 0);
        return gsh_source_put_order_sort_offset(launch) + gsh_source_sort_scratch(&sort);
    }
    if (way != WAY_RANKED)
        return 0;
    struct gsh_source_ranking ranking = gsh_source_ranking_of(launch);
    return (size_t)winner_words(&ranking) * 8;
}

static void write_key(const struct gsh_launch *launch, enum pass pass, bool is_ranked, char *key)
{
    static const char *const names[] = {"clear", "claim", "move",   "combine", "count",
                                        "cells", "",      "gather", "order"};
    struct gsh_fmt fmt; /* without printf: this runs at every launch */
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, is_put(launch) ? "put_" : "take_");
    gsh_fmt_text(&fmt, names[pass]);
    if (pass == PASS_CLEAR)
        return;
    gsh_source_key_part(&fmt, joins(pass) ? gsh_op_info(launch->op)->name : "");
    if (pass == PASS_MOVE && is_raw(launch)) {
        gsh_fmt_text(&fmt, "raw");
        gsh_fmt_decimal(&fmt, gsh_dtype_size(launch->loop));
        gsh_fmt_text(&fmt, (1u << launch->loop & GSH_SET_COMPLEX) != 0 ? "parts" : "");
    } else if (pass != PASS_CLAIM && pass != PASS_CELLS) {
        gsh_source_key_part(&fmt, gsh_dtype_name(launch->loop));
        gsh_source_key_part(&fmt, gsh_dtype_name(launch->operands[0].dtype));
        gsh_source_key_part(&fmt, gsh_dtype_name(launch->operands[2].dtype));
    }
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->operands[1].dtype));
    gsh_source_key_part(&fmt, "s");
    gsh_fmt_decimal(&fmt, (uint64_t)launch->ndim);
    gsh_fmt_text(&fmt, gsh_launch_elements(launch) > INT32_MAX ? "w" : "");
    gsh_fmt_text(&fmt, launch->operands[0].is_constant ? "c" : "");
    gsh_fmt_text(&fmt, launch->has_mask ? "m" : "");
    gsh_fmt_text(&fmt, is_ranked ? "r" : "");
    if (is_ranked) {
        struct gsh_source_ranking ranking = gsh_source_ranking_of(launch);
        gsh_fmt_text(&fmt, has_wide_winners(&ranking) ? "w" : "");
    }
    gsh_fmt_text(&fmt, checks_errors(launch, pass) ? "e" : "");
}

static enum gsh_status set_grid(struct gsh_source_stage *stage, int64_t elements)
{
    int64_t per_block = (int64_t)GSH_SOURCE_BLOCK * UNROLL;
    return gsh_source_set_grid(stage, (elements + per_block - 1) / per_block);
}

static enum gsh_status plan_clear(const struct gsh_launch *launch, uint64_t scratch,
                                  struct gsh_source_stage *stage)
{
    struct gsh_source_ranking ranking = gsh_source_ranking_of(launch);
    int64_t words = winner_words(&ranking);
    GSH_TRY(gsh_source_put(stage, scratch));
    GSH_TRY(gsh_source_put(stage, (uint64_t)words));
    return set_grid(stage, words);
}

static void value_words(const struct gsh_launch *launch, uint64_t words[2])
{
    const struct gsh_operand *value = &launch->operands[0];
    words[0] = value->address;
    words[1] = 0;
    if (value->is_constant) {
        words[0] = 0;
        memcpy(words, &value->constant, gsh_dtype_size(value->dtype));
    }
}

static enum gsh_status plan_pass(const struct gsh_launch *launch, enum pass pass, bool is_ranked,
                                 uint64_t scratch, struct gsh_source_stage *stage)
{
    struct gsh_source_ranking ranking = gsh_source_ranking_of(launch);
    bool is_of_ranks = pass == PASS_CLAIM || pass >= PASS_CELLS;
    struct gsh_launch part = is_of_ranks ? gsh_source_ranking_part(launch) : *launch;
    uint64_t value[2];
    int room = GSH_MAX(launch->ndim, 1);
    value_words(launch, value);
    const uint64_t words[] = {value[0],
                              launch->operands[1].address,
                              launch->operands[2].address,
                              launch->operands[3].address,
                              is_ranked ? scratch : value[1],
                              (uint64_t)gsh_launch_elements(&part),
                              (uint64_t)launch->indexed.stride,
                              (uint64_t)launch->indexed.extent};
    if (checks_errors(launch, pass))
        GSH_TRY(gsh_source_text_put_sink(stage, launch));
    for (size_t i = 0; i < GSH_COUNT(words); i++)
        GSH_TRY(gsh_source_put(stage, words[i]));
    GSH_TRY(gsh_source_put_many(stage, part.shape, launch->ndim, room));
    for (unsigned k = 0; k < 4; k++)
        GSH_TRY(gsh_source_put_many(stage, launch->strides[k],
                                    k < gsh_launch_operands(launch) ? launch->ndim : 0, room));
    GSH_TRY(gsh_source_put_many(stage, ranking.rank_weights, launch->ndim, room));
    GSH_TRY(gsh_source_put_many(stage, ranking.cell_weights, launch->ndim, room));
    return set_grid(stage, gsh_launch_elements(&part));
}

bool gsh_source_index_is_made(const struct gsh_launch *launch)
{
    return !is_put(launch) && way_of(launch) != WAY_NONE;
}

/* What OrderArgs has beyond Args. */
static enum gsh_status put_order(const struct gsh_launch *launch, uint64_t scratch,
                                 struct gsh_source_stage *stage)
{
    int64_t shape[GSH_MAX_DIMS];
    for (int d = 0; d < launch->ndim; d++)
        shape[d] = gsh_source_ranking_has_dim(launch, d) ? 1 : launch->shape[d];
    GSH_TRY(gsh_source_put(stage, scratch));
    GSH_TRY(gsh_source_put(stage, scratch + gsh_source_put_order_values_offset(launch)));
    GSH_TRY(gsh_source_put(stage, (uint64_t)gsh_source_ranking_of(launch).cells));
    GSH_TRY(gsh_source_put(stage, (uint64_t)gsh_source_put_order_free(launch)));
    return gsh_source_put_many(stage, shape, launch->ndim, GSH_MAX(launch->ndim, 1));
}

/* As many blocks for each stream (kernels/cuda/indexed/indexed_order_gather.cuh). */
static enum gsh_status set_gather_grid(const struct gsh_launch *launch,
                                       struct gsh_source_stage *stage)
{
    struct gsh_source_ranking ranking = gsh_source_ranking_of(launch);
    int64_t tiles = gsh_source_divide_up(ranking.ranks, (int64_t)GSH_SOURCE_BLOCK * UNROLL);
    int64_t streams = GSH_MIN(ranking.cells, tiles);
    return gsh_source_set_grid(stage, streams * gsh_source_divide_up(tiles, streams));
}

static enum gsh_status set_order_grid(const struct gsh_launch *launch,
                                      struct gsh_source_stage *stage)
{
    int64_t ranks = gsh_source_ranking_of(launch).ranks, free = gsh_source_put_order_free(launch);
    if (free >= GSH_SOURCE_PUT_ORDER_SPREAD)
        return gsh_source_set_grid(stage, gsh_source_divide_up(ranks * free, GSH_SOURCE_BLOCK));
    GSH_TRY(gsh_source_set_grid(stage, gsh_source_divide_up(ranks, PART) * free));
    stage->block[0] = WARP;
    return GSH_OK;
}

/* What CountArgs has beyond Args. */
static enum gsh_status put_count(const struct gsh_launch *launch, struct gsh_source_stage *stage)
{
    int64_t copies = MOST_COPIES;
    int64_t blocks = gsh_launch_elements(launch) / elements_of_counters(launch);
    while (copies * launch->indexed.extent > COUNTERS)
        copies /= 2;
    GSH_TRY(gsh_source_put(stage, (uint64_t)copies));
    return gsh_source_set_grid(stage, GSH_MIN(blocks, MOST_BLOCKS));
}

/* Plans the SORT's stages, from plan->stages[1] on; the stage before them is counted. */
static enum gsh_status plan_sort(const struct gsh_launch *launch, uint64_t scratch,
                                 struct gsh_source_plan *plan)
{
    struct gsh_launch sort = gsh_source_put_order_sort(launch, scratch);
    GSH_TRY(gsh_source_sort_plan(&sort, scratch + gsh_source_put_order_sort_offset(launch), plan));
    for (unsigned i = plan->stage_count++; i > 0; i--)
        plan->stages[i] = plan->stages[i - 1];
    return GSH_OK;
}

/* CELLS, GATHER and ORDER. */
static enum gsh_status plan_order_pass(const struct gsh_launch *launch, enum pass pass,
                                       uint64_t scratch, struct gsh_source_stage *stage)
{
    bool is_ranked = pass == PASS_CELLS;
    stage->argument_bytes = stage->shared_bytes = 0;
    write_key(launch, pass, is_ranked, stage->key);
    GSH_TRY(plan_pass(launch, pass, is_ranked, scratch, stage));
    if (pass == PASS_CELLS)
        return gsh_source_put(stage, (uint64_t)gsh_source_ranking_of(launch).cells);
    GSH_TRY(put_order(launch, scratch, stage));
    return pass == PASS_GATHER ? set_gather_grid(launch, stage) : set_order_grid(launch, stage);
}

static enum gsh_status plan_ordered(const struct gsh_launch *launch, uint64_t scratch,
                                    struct gsh_source_plan *plan)
{
    GSH_TRY(plan_sort(launch, scratch, plan));
    plan->scratch_bytes = gsh_source_index_scratch(launch);
    GSH_TRY(plan_order_pass(launch, PASS_CELLS, scratch, &plan->stages[0]));
    if (gsh_source_put_order_gathers(launch))
        GSH_TRY(plan_order_pass(launch, PASS_GATHER, scratch, &plan->stages[plan->stage_count++]));
    return plan_order_pass(launch, PASS_ORDER, scratch, &plan->stages[plan->stage_count++]);
}

enum gsh_status gsh_source_index_plan(const struct gsh_launch *launch, uint64_t scratch,
                                      struct gsh_source_plan *plan)
{
    enum way way = way_of(launch);
    bool is_ranked = way == WAY_RANKED;
    if (way == WAY_NONE)
        return GSH_DECLINED;
    if (way == WAY_ORDERED)
        return plan_ordered(launch, scratch, plan);
    plan->stage_count = is_ranked ? 3 : 1;
    plan->scratch_bytes = gsh_source_index_scratch(launch);
    for (unsigned i = 0; i < plan->stage_count; i++) {
        struct gsh_source_stage *stage = &plan->stages[i];
        enum pass pass = pass_of(launch, way, i);
        stage->argument_bytes = 0;
        stage->shared_bytes = 0;
        write_key(launch, pass, is_ranked, stage->key);
        if (pass == PASS_CLEAR)
            GSH_TRY(plan_clear(launch, scratch, stage));
        else
            GSH_TRY(plan_pass(launch, pass, is_ranked, scratch, stage));
    }
    return way == WAY_COUNT ? put_count(launch, &plan->stages[0]) : GSH_OK;
}

static const char *name_of(bool value)
{
    return value ? "true" : "false";
}

/* The definitions that indexed.cuh needs. */
static void write_common(const struct gsh_launch *launch, bool is_ranked, struct gsh_fmt *fmt)
{
    struct gsh_source_ranking ranking = gsh_source_ranking_of(launch);
    gsh_fmt_printf(fmt, "typedef %s IndexStored;\ntypedef %s Index;\ntypedef %s Winner;\n",
                   gsh_dtype_cuda_stored(launch->operands[1].dtype),
                   gsh_launch_elements(launch) > INT32_MAX ? "u64" : "u32",
                   has_wide_winners(&ranking) ? "u64" : "u32");
    gsh_fmt_printf(fmt, "constexpr int NDIM = %d, UNROLL = %d, BLOCK = %d;\n",
                   GSH_MAX(launch->ndim, 1), UNROLL, GSH_SOURCE_BLOCK);
    gsh_fmt_printf(fmt,
                   "constexpr bool IS_TAKE = %s, MASKED = %s, RANKED = %s, IS_CONSTANT = %s;\n",
                   name_of(!is_put(launch)), name_of(launch->has_mask), name_of(is_ranked),
                   name_of(launch->operands[0].is_constant));
    bool checks = !is_put(launch) && launch->errors.claims != 0;
    gsh_fmt_printf(fmt, "FN void look_index(const Errors &errors)\n{\n%s}\n",
                   checks ? "    report_error(errors, INVALID, None(), None(), None());\n" : "");
    gsh_fmt_text(fmt, gsh_cuda_text_indexed);
}

static int tie_rule(const struct gsh_launch *launch)
{
    if (!is_float(launch->loop) || !is_extremum(launch->op))
        return 0;
    return launch->op == GSH_OP_MAXIMUM || launch->op == GSH_OP_FMAX ? 1 : 2;
}

/* What a kernel that joins needs, up to indexed.cuh. */
static void write_join(const struct gsh_launch *launch, enum pass pass, struct gsh_fmt *fmt)
{
    const struct gsh_op_info *info = gsh_op_info(launch->op);
    gsh_fmt_printf(fmt, "typedef %s Stored;\ntypedef ValueOf<Stored>::type A, T;\n",
                   gsh_dtype_cuda_stored(launch->loop));
    gsh_fmt_printf(fmt, "typedef %s In;\ntypedef %s Out;\n",
                   gsh_dtype_cuda_stored(launch->operands[0].dtype),
                   gsh_dtype_cuda_stored(launch->operands[2].dtype));
    gsh_fmt_printf(fmt, "FN A gsh_join(A a, A b) { return (A)(%s); }\n", info->expressions[0]);
    gsh_source_scan_write_look(fmt, checks_errors(launch, pass), info->flags,
                               divides_integers(launch));
    write_common(launch, false, fmt);
}

/* `combine` by an atomic instruction. */
static void write_add(const struct gsh_launch *launch, struct gsh_fmt *fmt)
{
    gsh_fmt_printf(fmt, "constexpr bool ADDS = %s;\n", name_of(launch->op == GSH_OP_ADD));
    gsh_fmt_text(fmt, gsh_cuda_text_indexed_add);
}

static void write_combine(const struct gsh_launch *launch, enum pass pass, struct gsh_fmt *fmt)
{
    static const char *const cells[] = {"u8", "u16", "u32", "u64"};
    size_t size = gsh_dtype_size(launch->operands[2].dtype);
    write_join(launch, pass, fmt);
    gsh_fmt_printf(fmt, "typedef %s Cell;\n", cells[__builtin_ctzll(size)]);
    if (is_native(launch)) {
        write_add(launch, fmt);
    } else {
        gsh_fmt_printf(fmt, "constexpr int ORDERED = %d;\n", tie_rule(launch));
        gsh_fmt_text(fmt, gsh_cuda_text_indexed_combine);
    }
    if (pass == PASS_COUNT)
        gsh_fmt_printf(fmt, "constexpr int COUNTERS = %d;\n", COUNTERS);
    gsh_fmt_text(fmt, pass == PASS_COUNT ? gsh_cuda_text_indexed_count : gsh_cuda_text_indexed_put);
}

/* An operation on floats whose result is not finite where an operand is not, as C++ has it; NULL: the launch has another. */
static const char *plain_join(const struct gsh_launch *launch)
{
    static const struct {
        enum gsh_op op;
        const char *expression;
    } joins[] = {{GSH_OP_ADD, "a + b"}, {GSH_OP_SUBTRACT, "a - b"}, {GSH_OP_MULTIPLY, "a * b"}};
    for (size_t i = 0; i < GSH_COUNT(joins); i++)
        if (joins[i].op == launch->op && is_float(launch->loop))
            return joins[i].expression;
    return NULL;
}

static void write_gather(const struct gsh_launch *launch, struct gsh_fmt *fmt)
{
    gsh_fmt_printf(fmt, "typedef %s Stored;\ntypedef %s In;\n", gsh_dtype_cuda_stored(launch->loop),
                   gsh_dtype_cuda_stored(launch->operands[0].dtype));
    gsh_source_scan_write_look(fmt, false, 0, false);
    write_common(launch, false, fmt);
    gsh_fmt_text(fmt, gsh_cuda_text_indexed_order);
    gsh_fmt_text(fmt, gsh_cuda_text_indexed_order_gather);
}

static void write_order(const struct gsh_launch *launch, struct gsh_fmt *fmt)
{
    write_join(launch, PASS_ORDER, fmt);
    gsh_fmt_printf(fmt, "constexpr i64 SPREAD = %d;\nconstexpr u32 PART = %d;\n",
                   GSH_SOURCE_PUT_ORDER_SPREAD, PART);
    gsh_fmt_text(fmt, gsh_cuda_text_indexed_order);
    const char *plain = plain_join(launch);
    gsh_fmt_printf(fmt, "constexpr bool KEEPS_NONFINITE = %s;\n", name_of(plain != NULL));
    gsh_fmt_printf(fmt, "FN A gsh_join_plainly(A a, A b) { return %s; }\n",
                   plain != NULL ? plain : "gsh_join(a, b)");
    gsh_fmt_text(fmt, gsh_cuda_text_indexed_order_join);
}

static void write_cells(const struct gsh_launch *launch, struct gsh_fmt *fmt)
{
    gsh_source_scan_write_look(fmt, false, 0, false);
    write_common(launch, true, fmt);
    gsh_fmt_text(fmt, gsh_cuda_text_indexed_key);
}

static void write_clear(struct gsh_fmt *fmt)
{
    gsh_fmt_printf(fmt, "constexpr int UNROLL = %d, BLOCK = %d;\n", UNROLL, GSH_SOURCE_BLOCK);
    gsh_fmt_text(fmt, gsh_cuda_text_indexed_clear);
}

static void write_move(const struct gsh_launch *launch, enum pass pass, bool is_ranked,
                       struct gsh_fmt *fmt)
{
    gsh_source_scan_write_look(fmt, checks_errors(launch, pass), 0, false);
    gsh_source_scan_write_convert(fmt, launch, pass != PASS_MOVE || is_raw(launch));
    write_common(launch, is_ranked, fmt);
    gsh_fmt_text(fmt, pass == PASS_MOVE ? gsh_cuda_text_indexed_move : gsh_cuda_text_indexed_claim);
}

static void write_prelude(const struct gsh_launch *launch, enum pass pass, struct gsh_fmt *fmt)
{
    struct gsh_source_prelude prelude = {.dtypes = 1u << launch->operands[1].dtype,
                                         .errors = checks_errors(launch, pass)};
    if (joins(pass) || pass == PASS_GATHER || (pass == PASS_MOVE && !is_raw(launch)))
        prelude.dtypes |=
            1u << launch->loop | 1u << launch->operands[0].dtype | 1u << launch->operands[2].dtype;
    if (joins(pass)) {
        prelude.expressions[0] = gsh_op_info(launch->op)->expressions[0];
        prelude.is_half = launch->loop == GSH_FLOAT16;
        prelude.propagates_nan = true;
    }
    gsh_source_text_write_prelude(fmt, &prelude);
}

void gsh_source_index_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    enum way way = way_of(launch);
    enum pass pass = pass_of(launch, way, stage);
    if (pass == PASS_SORT) {
        struct gsh_launch sort = gsh_source_put_order_sort(launch, 0);
        gsh_source_sort_text(&sort, stage - 1, fmt);
        return;
    }
    write_prelude(launch, pass, fmt);
    if (pass == PASS_COMBINE || pass == PASS_COUNT)
        write_combine(launch, pass, fmt);
    else if (pass == PASS_GATHER)
        write_gather(launch, fmt);
    else if (pass == PASS_ORDER)
        write_order(launch, fmt);
    else if (pass == PASS_CELLS)
        write_cells(launch, fmt);
    else if (pass == PASS_CLEAR)
        write_clear(fmt);
    else
        write_move(launch, pass, way == WAY_RANKED, fmt);
}
