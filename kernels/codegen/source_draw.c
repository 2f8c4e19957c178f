/* SPDX-License-Identifier: Apache-2.0
 *
 * A draw of which each piece makes a value takes one stage. Others take four: what each tile of the stream makes of each place
 * at which it may be entered; the same for groups of tiles; where each tile is entered, and how many values precede it; the
 * values.
 */
#include "source_draw.h"

#include "source_parts.h"
#include "source_texts.h"
#include "twister.h"
#include "ziggurat.h"

#include <math.h>

#define PCG64_FACTOR_HIGH 2549297995355413924u /* numpy/random/src/pcg64/pcg64.h */
#define PCG64_FACTOR_LOW 4865540595714422341u
#define PCG64DXSM_FACTOR 0xda942042e4dd58b5u
#define FIXED_WORDS 2048 /* of a tile each of whose pieces makes a value */
#define TILE_PIECES 2048 /* of another tile */
#define MOST_BLOCKS 528  /* four for each multiprocessor of an H200 */
#define LEAST_GROUP 64   /* tiles */
#define MOST_GROUP 8191  /* whose values are counted in 24 bits */
#define NORMAL_REACH 32  /* 16 attempts at a tail: fewer than 1 draw of 1e14 needs more */
/* Pieces of a value on average: 1.0220 and 1.0335, counted over 4e6 values. */
#define NORMAL_PIECES 1.0225
#define EXPONENTIAL_PIECES 1.034

/* Of one in so many values there is room for what the C library must compute: of the tail, at most 1 in 2200; of exp, 1 in 35. */
#define TAIL_SHARE 1024
#define EXP_SHARE 16
#define LEAST_ROOM 1024

enum { SURVEY, GROUP, SPREAD, WRITE, STAGES };

struct wide {
    uint64_t low, high;
};
struct steps {
    struct wide factor, term;
};
/* As random_stream.cuh declares them. */
struct args {
    uint64_t out;
    int64_t count, tiles;
    struct wide state, upper, key;
    struct steps one, round, stride;
    uint64_t head[4];
    int64_t heads, skipped, shift;
    double scale, offset;
    uint64_t low, range, bound, maps, group_maps, begins, result, tails;
    int64_t group_size, groups, tail_room;
};

struct geometry {
    const struct gsh_random_draw *draw;
    enum gsh_dtype dtype;
    bool rejects, is_chain;
    int width, tile_words, made_words,
        reach; /* width: bits of a piece; reach: pieces beyond an attempt's first one */
    int64_t count, tiles, group_size, groups, tail_room;
    unsigned blocks;
};

static bool is_ziggurat(const struct gsh_random_draw *draw)
{
    return draw->distribution == GSH_RANDOM_NORMAL || draw->distribution == GSH_RANDOM_EXPONENTIAL;
}

static int reach_of(const struct gsh_random_draw *draw)
{
    if (!is_ziggurat(draw))
        return 0;
    if (draw->distribution == GSH_RANDOM_EXPONENTIAL)
        return 2;
    return draw->reach != 0 ? (int)draw->reach : NORMAL_REACH;
}

/* Of a value, on average, or more. */
static double pieces_of_value(const struct geometry *geometry)
{
    if (!geometry->is_chain)
        return 1 / gsh_random_draw_share(geometry->draw, geometry->dtype);
    return geometry->draw->distribution == GSH_RANDOM_NORMAL ? NORMAL_PIECES : EXPONENTIAL_PIECES;
}

/* Pieces from which so many values can be made, but for less than 1 draw of 1e14: ten standard deviations more. */
static double pieces_for(const struct geometry *geometry)
{
    double count = (double)geometry->count;
    if (!geometry->rejects)
        return count;
    double each = pieces_of_value(geometry);
    return count * each + 10 * sqrt(count * each * (each - 1)) + 256;
}

static int64_t group_size_of(int64_t tiles)
{
    int64_t size = LEAST_GROUP;
    while (size * size < tiles && size < MOST_GROUP)
        size++;
    return size;
}

static int64_t tail_room_of(const struct gsh_random_draw *draw, int64_t count)
{
    return count / (draw->form == GSH_RANDOM_EXP ? EXP_SHARE : TAIL_SHARE) + LEAST_ROOM;
}

static struct geometry geometry_of(const struct gsh_launch *launch)
{
    const struct gsh_random_draw *draw = &launch->draw;
    struct geometry g = {.draw = draw, .dtype = launch->loop, .is_chain = is_ziggurat(draw)};
    g.width = gsh_random_draw_width(draw, g.dtype);
    int each = 64 / g.width;
    g.rejects = gsh_random_draw_rejects(draw, g.dtype);
    g.count = gsh_launch_elements(launch);
    g.reach = reach_of(draw);
    g.tile_words = g.rejects ? TILE_PIECES / each : FIXED_WORDS;
    g.made_words = g.tile_words + g.reach / each + (each > 1);
    g.tiles = (int64_t)ceil(pieces_for(&g) / ((double)g.tile_words * each));
    g.blocks = (unsigned)GSH_MIN(g.tiles, MOST_BLOCKS);
    g.group_size = group_size_of(g.tiles);
    g.groups = gsh_source_divide_up(g.tiles, g.group_size);
    g.tail_room = g.is_chain ? tail_room_of(draw, g.count) : 0;
    return g;
}

/* ---- scratch memory ---- */

struct scratch {
    size_t maps, group_maps, begins, result, tails, values, end;
};

static struct scratch scratch_of(const struct geometry *g)
{
    size_t entries = (size_t)g->reach + 1, room = (size_t)g->tail_room;
    struct scratch s = {.maps = 0};
    s.group_maps = gsh_round_up((size_t)g->tiles * entries * sizeof(uint32_t), 16);
    s.begins = s.group_maps + gsh_round_up((size_t)g->groups * entries * sizeof(uint32_t), 16);
    s.result = s.begins + gsh_round_up((size_t)g->tiles * sizeof(uint64_t), 16);
    s.tails = s.result + gsh_round_up(sizeof(struct gsh_source_draw_result), 16);
    s.values = s.tails + room * sizeof(struct gsh_source_draw_tail);
    s.end = s.values + room * sizeof(double);
    return s;
}

size_t gsh_source_draw_scratch(const struct gsh_launch *launch)
{
    const struct geometry g = geometry_of(launch);
    return g.rejects ? scratch_of(&g).end : 0;
}

struct gsh_source_draw_places gsh_source_draw_places(const struct gsh_launch *launch)
{
    const struct geometry g = geometry_of(launch);
    const struct scratch s = scratch_of(&g);
    return (struct gsh_source_draw_places){s.result, s.tails, s.values, g.tail_room};
}

/* ---- the words of MT19937: one kernel, one block of threads ---- */

/* As random_twister.cuh declares them. */
struct twister_args {
    uint64_t out;
    int64_t count, at;
    uint32_t key[GSH_TWISTER_BLOCK];
};

static enum gsh_status plan_twister(const struct gsh_launch *launch, struct gsh_source_plan *plan)
{
    const struct gsh_random_stream *stream = &launch->draw.stream;
    struct gsh_source_stage *stage = &plan->stages[0];
    struct twister_args args = {.out = launch->operands[0].address,
                                .count = gsh_launch_elements(launch),
                                .at = stream->twister.at};
    struct gsh_fmt fmt;
    if (!gsh_random_draw_is_valid(&launch->draw, launch->loop) || launch->nin != 0 ||
        launch->nout != 1 || launch->has_mask || !gsh_launch_is_packed(launch, 0))
        return GSH_DECLINED;
    if (stream->twister.key != NULL)
        memcpy(args.key, stream->twister.key, sizeof args.key);
    _Static_assert(sizeof args <= sizeof stage->arguments, "room for them");
    gsh_fmt_init(&fmt, stage->key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, "draw_twister");
    stage->shared_bytes = 0;
    stage->argument_bytes = sizeof args;
    memcpy(stage->arguments, &args, sizeof args);
    plan->scratch_bytes = 0;
    plan->stage_count = 1;
    return gsh_source_set_grid(stage, 1);
}

static void write_twister(struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, gsh_cuda_text_types);
    gsh_fmt_printf(fmt, "constexpr int BLOCK = %d;\n", GSH_SOURCE_BLOCK);
    gsh_fmt_text(fmt, gsh_cuda_text_random_twister);
}

/* ---- arguments ---- */

static struct wide halves(unsigned __int128 x)
{
    return (struct wide){(uint64_t)x, (uint64_t)(x >> 64)};
}

/* `count` steps, modulo 2^128, are state -> factor * state + term (F. Brown, "Random number generation with arbitrary strides",
 * 1994). */
static void find_steps(const struct gsh_random_stream *stream, unsigned __int128 count,
                       unsigned __int128 *factor, unsigned __int128 *term)
{
    unsigned __int128 c = stream->pcg.increment, a = PCG64DXSM_FACTOR;
    if (stream->generator == GSH_RANDOM_PCG64)
        a = (unsigned __int128)PCG64_FACTOR_HIGH << 64 | PCG64_FACTOR_LOW;
    *factor = 1;
    *term = 0;
    for (; count != 0; count >>= 1) {
        if (count & 1) {
            *factor *= a;
            *term = *term * a + c;
        }
        c *= a + 1;
        a *= a;
    }
}

static struct steps steps_of(const struct gsh_random_stream *stream, unsigned __int128 count)
{
    unsigned __int128 factor, term;
    find_steps(stream, count, &factor, &term);
    return (struct steps){halves(factor), halves(term)};
}

/* The words of PCG64, from a half of one on where there is one left. */
static void put_pcg(const struct geometry *g, struct args *args)
{
    const struct gsh_random_stream *stream = &g->draw->stream;
    bool has_half = g->width < 64 && stream->has_half;
    unsigned __int128 factor, term;
    int ahead = (stream->generator == GSH_RANDOM_PCG64) - has_half;
    find_steps(stream, (unsigned __int128)(__int128)ahead, &factor, &term);
    args->state = halves(stream->pcg.state * factor + term);
    args->one = steps_of(stream, 1);
    args->round = steps_of(stream, GSH_SOURCE_BLOCK);
    args->stride = steps_of(stream, (unsigned __int128)g->blocks * (unsigned)g->tile_words);
    args->heads = has_half;
    args->head[0] = (uint64_t)stream->half << 32;
    args->shift = has_half ? 32 / g->width : 0;
}

/* The words of Philox, counted from the first one of the buffer. */
static void put_philox(const struct geometry *g, struct args *args)
{
    const struct gsh_random_stream *stream = &g->draw->stream;
    bool has_half = g->width < 64 && stream->has_half;
    args->state = (struct wide){stream->philox.counter[0], stream->philox.counter[1]};
    args->upper = (struct wide){stream->philox.counter[2], stream->philox.counter[3]};
    args->key = (struct wide){stream->philox.key[0], stream->philox.key[1]};
    args->heads = 4;
    memcpy(args->head, stream->philox.buffer, sizeof args->head);
    args->skipped = stream->philox.buffer_at - has_half;
    if (has_half)
        args->head[args->skipped] = (uint64_t)stream->half << 32;
    args->shift = has_half ? 32 / g->width : 0;
}

static void put_values(const struct geometry *g, struct args *args)
{
    const struct gsh_random_draw *draw = g->draw;
    args->scale = draw->scale;
    args->offset = draw->shift;
    args->low = draw->low;
    args->range = draw->range;
    args->bound = gsh_random_draw_bound(draw, g->dtype);
}

static struct args make_args(const struct gsh_launch *launch, const struct geometry *g,
                             uint64_t scratch)
{
    const struct scratch s = scratch_of(g);
    struct args args = {.out = launch->operands[0].address,
                        .count = g->count,
                        .tiles = g->tiles,
                        .maps = scratch + s.maps,
                        .group_maps = scratch + s.group_maps,
                        .begins = scratch + s.begins,
                        .result = scratch + s.result,
                        .tails = scratch + s.tails,
                        .group_size = g->group_size,
                        .groups = g->groups,
                        .tail_room = g->tail_room};
    put_values(g, &args);
    if (g->draw->stream.generator == GSH_RANDOM_PHILOX)
        put_philox(g, &args);
    else
        put_pcg(g, &args);
    return args;
}

/* ---- the plan ---- */

/* Whether the values of the distribution have the form here. */
static bool has_form(const struct gsh_random_draw *draw)
{
    if (draw->distribution == GSH_RANDOM_BOUNDED)
        return draw->range != 0;
    return draw->form != GSH_RANDOM_EXP || draw->distribution == GSH_RANDOM_NORMAL;
}

static bool is_supported(const struct gsh_launch *launch)
{
    const struct gsh_random_draw *draw = &launch->draw;
    const struct gsh_random_stream *stream = &draw->stream;
    bool is_apart = stream->generator == GSH_RANDOM_PHILOX && stream->has_half &&
                    stream->philox.buffer_at == 0; /* no place in front of the buffer */
    return launch->nin == 0 && launch->nout == 1 && !launch->has_mask &&
           launch->operands[0].dtype == launch->loop && gsh_launch_is_packed(launch, 0) &&
           !is_apart && has_form(draw) && gsh_random_draw_is_valid(draw, launch->loop);
}

static void write_key(const struct geometry *g, unsigned stage, char *key)
{
    struct gsh_fmt fmt;
    const struct gsh_random_draw *draw = g->draw;
    const unsigned parts[] = {draw->stream.generator,
                              draw->distribution,
                              draw->form,
                              gsh_random_draw_method(draw, g->dtype),
                              (unsigned)g->width,
                              (unsigned)g->reach,
                              stage};
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, g->rejects ? "draw_some" : "draw");
    if (g->rejects && (stage == GROUP || stage == SPREAD)) {
        gsh_source_key_part(&fmt, stage == GROUP ? "group" : "spread");
        gsh_fmt_decimal(&fmt, (uint64_t)g->reach);
        return;
    }
    gsh_source_key_part(&fmt, gsh_dtype_name(g->dtype));
    for (size_t i = 0; i < GSH_COUNT(parts); i++) {
        gsh_fmt_text(&fmt, "_");
        gsh_fmt_decimal(&fmt, parts[i]);
    }
}

static enum gsh_status plan_stage(const struct geometry *g, const struct args *args, unsigned stage,
                                  struct gsh_source_stage *planned)
{
    _Static_assert(sizeof *args <= sizeof planned->arguments, "room for them");
    write_key(g, stage, planned->key);
    planned->shared_bytes = 0;
    planned->argument_bytes = sizeof *args;
    memcpy(planned->arguments, args, sizeof *args);
    bool is_of_groups = g->rejects && (stage == GROUP || stage == SPREAD);
    return gsh_source_set_grid(planned, is_of_groups ? g->groups : g->blocks);
}

enum gsh_status gsh_source_draw_plan(const struct gsh_launch *launch, uint64_t scratch,
                                     struct gsh_source_plan *plan)
{
    if (launch->draw.stream.generator == GSH_RANDOM_MT19937)
        return plan_twister(launch, plan);
    if (!is_supported(launch))
        return GSH_DECLINED;
    const struct geometry g = geometry_of(launch);
    if (g.rejects && g.groups > g.group_size)
        return GSH_DECLINED;
    const struct args args = make_args(launch, &g, scratch);
    plan->scratch_bytes = g.rejects ? scratch_of(&g).end : 0;
    plan->stage_count = g.rejects ? STAGES : 1;
    for (unsigned i = 0; i < plan->stage_count; i++)
        GSH_TRY(plan_stage(&g, &args, i, &plan->stages[i]));
    return GSH_OK;
}

/* ---- texts ---- */

/* Bits of a table's numbers: decimal points are the locale's. */
static void write_bits(struct gsh_fmt *fmt, const char *name, const void *numbers, bool is_single)
{
    gsh_fmt_printf(fmt, "__device__ const %s %s[] = {\n", is_single ? "u32" : "u64", name);
    for (int i = 0; i < GSH_ZIGGURAT_LAYERS; i++) {
        gsh_fmt_hex(fmt,
                    is_single ? ((const uint32_t *)numbers)[i] : ((const uint64_t *)numbers)[i]);
        gsh_fmt_text(fmt, i % 8 == 7 ? ",\n" : ",");
    }
    gsh_fmt_text(fmt, "};\n");
}

static void write_ziggurat(struct gsh_fmt *fmt, const struct geometry *g)
{
    bool is_normal = g->draw->distribution == GSH_RANDOM_NORMAL, is_single = g->width == 32;
    const struct gsh_ziggurat *wide = is_normal ? &gsh_ziggurat_normal : &gsh_ziggurat_exponential;
    const struct gsh_ziggurat_single *single =
        is_normal ? &gsh_ziggurat_normal_single : &gsh_ziggurat_exponential_single;
    gsh_fmt_printf(fmt, "typedef %s Real;\ntypedef %s Steepness;\n", is_single ? "float" : "double",
                   is_single ? "u32" : "u64");
    write_bits(fmt, "steepness", is_single ? (const void *)single->steepness : wide->steepness,
               is_single);
    write_bits(fmt, "width", is_single ? (const void *)single->width : wide->width, is_single);
    write_bits(fmt, "height", is_single ? (const void *)single->height : wide->height, is_single);
    gsh_fmt_text(fmt, gsh_cuda_text_random_ziggurat);
}

static void write_stream(struct gsh_fmt *fmt, unsigned generator, int tile_words, int made_words)
{
    gsh_fmt_text(fmt, gsh_cuda_text_types);
    gsh_fmt_printf(
        fmt, "#define GENERATOR %u\nconstexpr int BLOCK = %d, TILE_WORDS = %d, MADE_WORDS = %d;\n",
        generator, GSH_SOURCE_BLOCK, tile_words, made_words);
    gsh_fmt_text(fmt, gsh_cuda_text_random_stream);
}

static const char *type_of(enum gsh_dtype dtype)
{
    return dtype == GSH_BOOL ? "u8" : gsh_dtype_cuda_stored(dtype);
}

static void write_values(struct gsh_fmt *fmt, const struct geometry *g)
{
    gsh_fmt_printf(fmt, "typedef %s T;\n#define DRAW %d\n", type_of(g->dtype),
                   (int)g->draw->distribution);
    gsh_fmt_printf(fmt,
                   "constexpr int WIDTH = %d, FORM = %d, METHOD = %d, LOOK = %d, ENTRIES = %d;\n",
                   g->width, (int)g->draw->form, (int)gsh_random_draw_method(g->draw, g->dtype),
                   g->reach, g->reach + 1);
    gsh_fmt_text(fmt, gsh_cuda_text_random_value);
}

static void write_join(struct gsh_fmt *fmt, const struct geometry *g, bool spreads)
{
    write_stream(fmt, GSH_RANDOM_PHILOX, 1, 1);
    gsh_fmt_printf(fmt, "constexpr bool SPREADS = %d;\nconstexpr int ENTRIES = %d;\n", spreads,
                   g->reach + 1);
    gsh_fmt_text(fmt, gsh_cuda_text_random_join);
}

void gsh_source_draw_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    if (launch->draw.stream.generator == GSH_RANDOM_MT19937) {
        write_twister(fmt);
        return;
    }
    const struct geometry g = geometry_of(launch);
    bool is_exp = g.draw->form == GSH_RANDOM_EXP;
    if (g.rejects && (stage == GROUP || stage == SPREAD)) {
        write_join(fmt, &g, stage == SPREAD);
        return;
    }
    write_stream(fmt, g.draw->stream.generator, g.tile_words, g.made_words);
    write_values(fmt, &g);
    if (!g.rejects) {
        gsh_fmt_text(fmt, gsh_cuda_text_random_fixed);
        return;
    }
    if (g.is_chain)
        write_ziggurat(fmt, &g);
    gsh_fmt_printf(fmt, "#define CHAIN %d\n#define IS_EXP %d\n", g.is_chain, is_exp);
    if (is_exp && stage == WRITE) {
        gsh_fmt_text(fmt, gsh_cuda_text_special_exp_table);
        gsh_fmt_text(fmt, gsh_cuda_text_random_exp);
    }
    gsh_fmt_text(fmt, gsh_cuda_text_random_tile);
    gsh_fmt_text(fmt, stage == SURVEY ? gsh_cuda_text_random_survey : gsh_cuda_text_random_write);
}

void gsh_source_draw_plan_patch(enum gsh_dtype dtype, uint64_t out, uint64_t tails, uint64_t values,
                                int64_t count, struct gsh_source_stage *stage)
{
    const int64_t words[] = {(int64_t)out, (int64_t)tails, (int64_t)values, count};
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, stage->key, sizeof stage->key);
    gsh_fmt_text(&fmt, "draw_patch_");
    gsh_fmt_text(&fmt, gsh_dtype_name(dtype));
    stage->shared_bytes = 0;
    stage->argument_bytes = 0;
    (void)gsh_source_put_many(stage, words, (int)GSH_COUNT(words), (int)GSH_COUNT(words));
    (void)gsh_source_set_grid(stage, gsh_source_divide_up(count, GSH_SOURCE_BLOCK));
}

void gsh_source_draw_patch_text(const void *dtype, struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, gsh_cuda_text_types);
    gsh_fmt_printf(fmt, "typedef %s T;\n", type_of(*(const enum gsh_dtype *)dtype));
    gsh_fmt_text(fmt, gsh_cuda_text_random_patch);
}
