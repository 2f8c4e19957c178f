/* SPDX-License-Identifier: Apache-2.0
 *
 * TAKE and PUT as text (kernels/cuda/indexed*.cuh). Four variants:
 *
 *   move     TAKE; PUT's assignment where several writes to one place write the same value
 *   ranked   other assignments of PUT, in three stages: of the writes to a place the last one in C order
 *            wins. Scratch: a winner for each place that the indices can name
 *   combine  PUT with an operation whose order does not matter, by atomic instructions
 *   (none)   PUT with any other operation, e.g. a sum of different floats
 */
#include "source_index.h"

#include "source_parts.h"
#include "source_scan.h"
#include "source_texts.h"

#define UNROLL 4
#define MOST_SCRATCH ((int64_t)1 << 34)

enum way { WAY_NONE, WAY_MOVE, WAY_RANKED, WAY_COMBINE };
enum pass { PASS_CLEAR, PASS_CLAIM, PASS_MOVE, PASS_COMBINE };

/* The numbering of a PUT's places. */
struct ranking {
    int64_t ranks, cells; /* counts of ranks and of cells */
    int64_t rank_weights[GSH_MAX_DIMS], cell_weights[GSH_MAX_DIMS];
};

static bool is_put(const struct gsh_launch *launch)
{
    return launch->kind == GSH_LAUNCH_PUT;
}

/* False where all elements along the dimension have one index and one mask but different places. One rank then
 * serves all of them. */
static bool is_ranked_dim(const struct gsh_launch *launch, int d)
{
    return launch->strides[1][d] != 0 || launch->strides[2][d] == 0 ||
           (launch->has_mask && launch->strides[3][d] != 0);
}

static bool has_one_value(const struct gsh_launch *launch)
{
    for (int d = 0; d < launch->ndim; d++)
        if (launch->strides[0][d] != 0 && is_ranked_dim(launch, d))
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

static enum way way_of_combining(const struct gsh_launch *launch)
{
    const struct gsh_op_info *info = gsh_op_info(launch->op);
    const struct gsh_operand *out = &launch->operands[2];
    if (!gsh_op_has_loop(launch->op, launch->loop) || info->nin != 2 || info->nout != 1 ||
        info->inputs != GSH_INPUTS_SAME || gsh_dtype_size(out->dtype) > 8 ||
        gsh_op_output_dtype(launch->op, launch->loop, 0) != launch->loop)
        return WAY_NONE;
    for (int d = 0; d < launch->ndim; d++)
        if (launch->strides[2][d] % (int64_t)gsh_dtype_size(out->dtype) != 0)
            return WAY_NONE;
    if (out->address % gsh_dtype_size(out->dtype) != 0 ||
        launch->indexed.stride % (int64_t)gsh_dtype_size(out->dtype) != 0)
        return WAY_NONE;
    if (has_one_value(launch))
        return WAY_COMBINE;
    bool is_exact = (1u << launch->loop & (GSH_SET_INTEGERS | GSH_SET_BOOL)) != 0 ||
                    (is_float(launch->loop) && is_extremum(launch->op));
    return is_exact && ignores_order(launch->op) && out->dtype == launch->loop ? WAY_COMBINE
                                                                               : WAY_NONE;
}

/* Whether every cell is a distinct place. That holds where, sorted by stride, the index and the dimensions with
 * places of their own each step over all smaller ones. */
static bool has_distinct_cells(const struct gsh_launch *launch)
{
    int64_t strides[GSH_MAX_DIMS + 1] = {gsh_launch_step(launch->indexed.stride)};
    int64_t extents[GSH_MAX_DIMS + 1] = {launch->indexed.extent};
    int count = 1;
    for (int d = 0; d < launch->ndim; d++) {
        int64_t stride = gsh_launch_step(launch->strides[2][d]);
        int place = count;
        if (stride == 0)
            continue;
        for (; place > 0 && strides[place - 1] > stride; place--) {
            strides[place] = strides[place - 1];
            extents[place] = extents[place - 1];
        }
        strides[place] = stride;
        extents[place] = launch->shape[d];
        count++;
    }
    int64_t covered = (int64_t)gsh_dtype_size(launch->operands[2].dtype);
    for (int i = 0; i < count; i++) {
        if (strides[i] < covered && extents[i] > 1)
            return false;
        covered = strides[i] * (extents[i] - 1) + covered;
    }
    return true;
}

static struct ranking ranking_of(const struct gsh_launch *launch)
{
    struct ranking ranking = {.ranks = 1, .cells = launch->indexed.extent};
    for (int d = launch->ndim - 1; d >= 0; d--) {
        if (!is_ranked_dim(launch, d))
            continue;
        ranking.rank_weights[d] = ranking.ranks;
        ranking.ranks *= launch->shape[d];
        if (launch->strides[2][d] == 0)
            continue;
        ranking.cell_weights[d] = ranking.cells;
        ranking.cells *= launch->shape[d];
    }
    return ranking;
}

static bool has_wide_winners(const struct ranking *ranking)
{
    return ranking->ranks >= INT32_MAX;
}

/* Size in words of 8 bytes. */
static int64_t winner_words(const struct ranking *ranking)
{
    return has_wide_winners(ranking) ? ranking->cells : (ranking->cells + 1) / 2;
}

static enum way way_of_put(const struct gsh_launch *launch)
{
    if (launch->op != GSH_OP_COPY)
        return way_of_combining(launch);
    if (has_one_value(launch))
        return WAY_MOVE;
    struct ranking ranking = ranking_of(launch);
    return has_distinct_cells(launch) && winner_words(&ranking) <= MOST_SCRATCH / 8 ? WAY_RANKED
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

static enum pass pass_of(enum way way, unsigned stage)
{
    static const enum pass ranked[] = {PASS_CLEAR, PASS_CLAIM};
    if (way == WAY_COMBINE)
        return PASS_COMBINE;
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

static bool checks_errors(const struct gsh_launch *launch, enum pass pass)
{
    return launch->errors.claims != 0 &&
           (!is_put(launch) || (pass == PASS_COMBINE && may_combine_badly(launch)) ||
            (pass == PASS_MOVE && !is_raw(launch)));
}

size_t gsh_source_index_scratch(const struct gsh_launch *launch)
{
    if (way_of(launch) != WAY_RANKED)
        return 0;
    struct ranking ranking = ranking_of(launch);
    return (size_t)winner_words(&ranking) * 8;
}

static void write_key(const struct gsh_launch *launch, enum pass pass, bool is_ranked, char *key)
{
    static const char *const names[] = {"clear", "claim", "move", "combine"};
    struct gsh_fmt fmt; /* without printf: this runs at every launch */
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, is_put(launch) ? "put_" : "take_");
    gsh_fmt_text(&fmt, names[pass]);
    if (pass == PASS_CLEAR)
        return;
    gsh_source_key_part(&fmt, pass == PASS_COMBINE ? gsh_op_info(launch->op)->name : "");
    if (pass == PASS_MOVE && is_raw(launch)) {
        gsh_fmt_text(&fmt, "raw");
        gsh_fmt_decimal(&fmt, gsh_dtype_size(launch->loop));
        gsh_fmt_text(&fmt, (1u << launch->loop & GSH_SET_COMPLEX) != 0 ? "parts" : "");
    } else if (pass != PASS_CLAIM) {
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
        struct ranking ranking = ranking_of(launch);
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
    struct ranking ranking = ranking_of(launch);
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
    struct ranking ranking = ranking_of(launch);
    struct gsh_launch part = *launch;
    uint64_t value[2];
    int room = GSH_MAX(launch->ndim, 1);
    for (int d = 0; pass == PASS_CLAIM && d < launch->ndim; d++)
        if (!is_ranked_dim(launch, d)) /* one claim serves the whole dimension */
            part.shape[d] = 1;
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

enum gsh_status gsh_source_index_plan(const struct gsh_launch *launch, uint64_t scratch,
                                      struct gsh_source_plan *plan)
{
    enum way way = way_of(launch);
    bool is_ranked = way == WAY_RANKED;
    if (way == WAY_NONE)
        return GSH_DECLINED;
    plan->stage_count = is_ranked ? 3 : 1;
    plan->scratch_bytes = gsh_source_index_scratch(launch);
    for (unsigned i = 0; i < plan->stage_count; i++) {
        struct gsh_source_stage *stage = &plan->stages[i];
        enum pass pass = pass_of(way, i);
        stage->argument_bytes = 0;
        stage->shared_bytes = 0;
        write_key(launch, pass, is_ranked, stage->key);
        if (pass == PASS_CLEAR)
            GSH_TRY(plan_clear(launch, scratch, stage));
        else
            GSH_TRY(plan_pass(launch, pass, is_ranked, scratch, stage));
    }
    return GSH_OK;
}

static const char *name_of(bool value)
{
    return value ? "true" : "false";
}

/* The definitions that indexed.cuh needs. */
static void write_common(const struct gsh_launch *launch, bool is_ranked, struct gsh_fmt *fmt)
{
    struct ranking ranking = ranking_of(launch);
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

/* True where an atomic instruction exists for the operation. */
static bool is_native(const struct gsh_launch *launch)
{
    enum gsh_dtype dtype = launch->operands[2].dtype;
    return (1u << dtype & GSH_SET_INTEGERS) != 0 && gsh_dtype_size(dtype) >= 4 &&
           dtype == launch->loop && (launch->op == GSH_OP_ADD || launch->op == GSH_OP_SUBTRACT);
}

static int tie_rule(const struct gsh_launch *launch)
{
    if (!is_float(launch->loop) || !is_extremum(launch->op))
        return 0;
    return launch->op == GSH_OP_MAXIMUM || launch->op == GSH_OP_FMAX ? 1 : 2;
}

static void write_combine(const struct gsh_launch *launch, struct gsh_fmt *fmt)
{
    static const char *const cells[] = {"u8", "u16", "u32", "u64"};
    const struct gsh_op_info *info = gsh_op_info(launch->op);
    size_t size = gsh_dtype_size(launch->operands[2].dtype);
    gsh_fmt_printf(fmt, "typedef %s Stored;\ntypedef ValueOf<Stored>::type A, T;\n",
                   gsh_dtype_cuda_stored(launch->loop));
    gsh_fmt_printf(fmt, "typedef %s In;\ntypedef %s Out;\ntypedef %s Cell;\n",
                   gsh_dtype_cuda_stored(launch->operands[0].dtype),
                   gsh_dtype_cuda_stored(launch->operands[2].dtype), cells[__builtin_ctzll(size)]);
    gsh_fmt_printf(fmt, "FN A gsh_join(A a, A b) { return (A)(%s); }\n", info->expressions[0]);
    gsh_source_scan_write_look(fmt, checks_errors(launch, PASS_COMBINE), info->flags,
                               divides_integers(launch));
    write_common(launch, false, fmt);
    if (is_native(launch)) {
        gsh_fmt_printf(fmt, "constexpr bool ADDS = %s;\n", name_of(launch->op == GSH_OP_ADD));
        gsh_fmt_text(fmt, gsh_cuda_text_indexed_add);
    } else {
        gsh_fmt_printf(fmt, "constexpr int ORDERED = %d;\n", tie_rule(launch));
        gsh_fmt_text(fmt, gsh_cuda_text_indexed_combine);
    }
    gsh_fmt_text(fmt, gsh_cuda_text_indexed_put);
}

void gsh_source_index_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    enum way way = way_of(launch);
    enum pass pass = pass_of(way, stage);
    bool is_move = pass == PASS_MOVE, raw = !is_move || is_raw(launch);
    struct gsh_source_prelude prelude = {.dtypes = 1u << launch->operands[1].dtype};
    if (pass == PASS_COMBINE || !raw)
        prelude.dtypes |=
            1u << launch->loop | 1u << launch->operands[0].dtype | 1u << launch->operands[2].dtype;
    if (pass == PASS_COMBINE) {
        prelude.expressions[0] = gsh_op_info(launch->op)->expressions[0];
        prelude.is_half = launch->loop == GSH_FLOAT16;
        prelude.propagates_nan = true;
    }
    prelude.errors = checks_errors(launch, pass);
    gsh_source_text_write_prelude(fmt, &prelude);
    if (pass == PASS_COMBINE) {
        write_combine(launch, fmt);
        return;
    }
    if (pass == PASS_CLEAR) {
        gsh_fmt_printf(fmt, "constexpr int UNROLL = %d, BLOCK = %d;\n", UNROLL, GSH_SOURCE_BLOCK);
        gsh_fmt_text(fmt, gsh_cuda_text_indexed_clear);
        return;
    }
    gsh_source_scan_write_look(fmt, prelude.errors, 0, false);
    gsh_source_scan_write_convert(fmt, launch, raw);
    write_common(launch, way == WAY_RANKED, fmt);
    gsh_fmt_text(fmt, is_move ? gsh_cuda_text_indexed_move : gsh_cuda_text_indexed_claim);
}
