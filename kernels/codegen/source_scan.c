/* SPDX-License-Identifier: Apache-2.0
 *
 * Scans as text (kernels/cuda/scan/scan.cuh describes the order of joins). Where neighbouring elements of a row are
 * close in memory (rows), neighbouring threads are lanes of one group; else (columns) they belong to different
 * groups. Where that gives few blocks, rows are cut into chunks, in three stages: the chunks' totals, their prefixes,
 * the outputs. The scratch then holds
 *
 *   sums[row][chunk], supers[row][WIDE]     of the dtype of the computation
 *
 * The order follows from shape, strides and values, so a repeated run gives the same bits on any GPU.
 *
 * The product of a chunk may overflow or underflow where the running product does not. So products of floats use the
 * range-checked variant (kernels/cuda/scan/scan_range_checked.cuh). Instead of supers, its scratch holds a description
 * of each chunk (struct Chunk of kernels/cuda/scan/scan_chunk.cuh).
 */
#include "source_scan.h"

#include "source_parts.h"
#include "source_texts.h"

#define FEW_BLOCKS 512     /* rows are cut where they make fewer blocks than this, */
#define TARGET_BLOCKS 4096 /* into up to about this many blocks, */
#define FEWEST_TILES 4     /* but not where a row has fewer tiles than this */
#define CHUNK_BYTES 20
#define COLUMN_LANES 8

enum pass { PASS_WHOLES, PASS_PREFIXES, PASS_OUTPUTS };

struct geometry {
    bool lanes_fast, is_range_checked;
    bool dense; /* rows of both operands are contiguous */
    bool wide;  /* rows are counted in 64 bits */
    int kept;   /* dimensions except the scanned one */
    int items;  /* elements of a lane */
    int64_t rows, length;
    int64_t lanes, tiles, chunk, chunks; /* tiles: blocks side by side, each with some rows */
};

static int log2_of(int64_t power)
{
    return __builtin_ctzll((unsigned long long)power);
}

/* Bytes of an element of the dtype of the computation. */
static int64_t value_size(const struct gsh_launch *launch)
{
    return launch->loop == GSH_FLOAT16 ? 4 : (int64_t)gsh_dtype_size(launch->loop);
}

static bool prefers_rows(const struct gsh_launch *launch)
{
    int last = launch->ndim - 1;
    if (last == 0)
        return true;
    int64_t along =
        gsh_launch_step(launch->strides[0][last]) + gsh_launch_step(launch->strides[1][last]);
    int64_t across = gsh_launch_step(launch->strides[0][last - 1]) +
                     gsh_launch_step(launch->strides[1][last - 1]);
    return along <= across;
}

static bool is_dense(const struct gsh_launch *launch, unsigned k)
{
    return launch->strides[k][launch->ndim - 1] ==
           (int64_t)gsh_dtype_size(launch->operands[k].dtype);
}

/* Elements of a lane: as many as fit in registers beside the addresses, unless these are one base plus constants.
 * Fewer where the text of a join is long, because it is repeated for each element. */
static int items_of(const struct gsh_launch *launch, const struct geometry *geometry)
{
    enum gsh_op combine = gsh_reduction_info(launch->reduction)->combine;
    bool is_complex = (1u << launch->loop & GSH_SET_COMPLEX) != 0;
    bool is_long = gsh_op_info(combine)->host_ns > 1 || (geometry->is_range_checked && is_complex);
    bool is_simple =
        geometry->lanes_fast && geometry->dense && geometry->length > (int64_t)8 * GSH_SOURCE_BLOCK;
    return is_long || value_size(launch) > 8 ? 4 : is_simple ? 16 : 8;
}

static bool has_one_row(const struct geometry *geometry)
{
    return geometry->lanes_fast && geometry->lanes == GSH_SOURCE_BLOCK;
}

static void cut_chunks(struct geometry *geometry)
{
    int64_t tile = geometry->lanes * geometry->items;
    int64_t count = gsh_source_divide_up(geometry->length, tile);
    if (count < FEWEST_TILES)
        return;
    int64_t most = GSH_MIN((int64_t)GSH_SOURCE_SCAN_WIDE * GSH_SOURCE_SCAN_WIDE,
                           gsh_source_divide_up(TARGET_BLOCKS, geometry->tiles));
    geometry->chunk = gsh_source_divide_up(count, GSH_MIN(count, most)) * tile;
    geometry->chunks = gsh_source_divide_up(geometry->length, geometry->chunk);
}

static struct geometry geometry_of(const struct gsh_launch *launch)
{
    int last = launch->ndim - 1;
    struct geometry geometry = {.kept = last, .rows = 1, .length = launch->shape[last]};
    for (int d = 0; d < last; d++)
        geometry.rows *= launch->shape[d];
    geometry.is_range_checked = gsh_reduction_is_ordered(launch->reduction, launch->loop);
    geometry.lanes_fast = prefers_rows(launch);
    geometry.wide = geometry.rows > INT32_MAX;
    geometry.dense = is_dense(launch, 0) && is_dense(launch, 1);
    geometry.items = items_of(launch, &geometry);
    int64_t lanes = gsh_source_divide_up(geometry.length, geometry.items);
    if (geometry.lanes_fast) {
        geometry.lanes = gsh_source_power_of_two(lanes, GSH_SOURCE_BLOCK);
    } else {
        int64_t groups = gsh_source_power_of_two(geometry.rows, GSH_SOURCE_BLOCK);
        geometry.lanes =
            GSH_MAX(gsh_source_power_of_two(lanes, COLUMN_LANES), GSH_SOURCE_BLOCK / groups);
    }
    geometry.tiles = gsh_source_divide_up(geometry.rows, GSH_SOURCE_BLOCK / geometry.lanes);
    geometry.chunk = geometry.length;
    geometry.chunks = 1;
    if (geometry.tiles < FEW_BLOCKS && (!geometry.is_range_checked || has_one_row(&geometry)))
        cut_chunks(&geometry);
    return geometry;
}

size_t gsh_source_scan_scratch(const struct gsh_launch *launch)
{
    if (launch->ndim == 0)
        return 0;
    struct geometry geometry = geometry_of(launch);
    int64_t size = value_size(launch);
    int64_t beside =
        geometry.is_range_checked ? geometry.chunks * CHUNK_BYTES : GSH_SOURCE_SCAN_WIDE * size;
    return geometry.chunks > 1 ? (size_t)(geometry.rows * (geometry.chunks * size + beside)) : 0;
}

/* The errors that the joins may meet. */
static unsigned join_errors(const struct gsh_launch *launch)
{
    enum gsh_op combine = gsh_reduction_info(launch->reduction)->combine;
    bool is_inexact = (1u << launch->loop & GSH_SET_INEXACT) != 0;
    return is_inexact ? gsh_op_info(combine)->flags : 0;
}

static bool checks_errors(const struct gsh_launch *launch)
{
    return launch->errors.claims != 0 &&
           (join_errors(launch) != 0 || launch->operands[0].dtype != launch->loop ||
            launch->operands[1].dtype != launch->loop);
}

/* Whether the pass checks for errors. */
static bool looks(const struct gsh_launch *launch, enum pass pass)
{
    return pass == PASS_OUTPUTS && checks_errors(launch);
}

static void write_key(const struct gsh_launch *launch, const struct geometry *geometry,
                      enum pass pass, char *key)
{
    static const char *const letters[] = {"_s", "_p", "_f"};
    struct gsh_fmt fmt; /* without printf: this runs at every launch */
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, "scan_");
    gsh_fmt_text(&fmt, gsh_reduction_info(launch->reduction)->name);
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->loop));
    gsh_fmt_text(&fmt, letters[pass]);
    if (pass == PASS_PREFIXES && !geometry->is_range_checked)
        return;
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->operands[0].dtype));
    if (pass == PASS_OUTPUTS)
        gsh_source_key_part(&fmt, gsh_dtype_name(launch->operands[1].dtype));
    gsh_fmt_text(&fmt, geometry->lanes_fast ? "_r" : "_c");
    gsh_fmt_decimal(&fmt, (uint64_t)geometry->kept);
    gsh_fmt_text(&fmt, has_one_row(geometry) ? "o" : "");
    gsh_fmt_text(&fmt, geometry->dense ? "d" : "");
    gsh_fmt_text(&fmt, "i");
    gsh_fmt_decimal(&fmt, (uint64_t)geometry->items);
    gsh_fmt_text(&fmt, geometry->wide ? "w" : "");
    gsh_fmt_text(&fmt, looks(launch, pass) ? "e" : "");
}

static enum gsh_status plan_pass(const struct gsh_launch *launch, const struct geometry *geometry,
                                 uint64_t sums, uint64_t supers, enum pass pass,
                                 struct gsh_source_stage *stage)
{
    int kept = geometry->kept, room = GSH_MAX(kept, 1);
    const int64_t words[] = {(int64_t)launch->operands[0].address,
                             (int64_t)launch->operands[1].address,
                             (int64_t)sums,
                             (int64_t)supers,
                             geometry->rows,
                             geometry->length,
                             geometry->chunk,
                             geometry->chunks,
                             geometry->tiles,
                             launch->strides[0][kept],
                             launch->strides[1][kept],
                             log2_of(geometry->lanes)};
    stage->argument_bytes = 0;
    stage->shared_bytes = 0; /* the kernel's shared memory is static */
    if (looks(launch, pass))
        GSH_TRY(gsh_source_text_put_sink(stage, launch));
    GSH_TRY(gsh_source_put_many(stage, words, (int)GSH_COUNT(words), (int)GSH_COUNT(words)));
    GSH_TRY(gsh_source_put_many(stage, launch->shape, kept, room));
    GSH_TRY(gsh_source_put_many(stage, launch->strides[0], kept, room));
    GSH_TRY(gsh_source_put_many(stage, launch->strides[1], kept, room));
    int64_t chunks = pass == PASS_PREFIXES ? 1 : geometry->chunks;
    return gsh_source_set_grid(stage, geometry->tiles * chunks);
}

enum gsh_status gsh_source_scan_plan_sums(int64_t rows, int64_t chunks, uint64_t sums,
                                          uint64_t supers, struct gsh_source_stage *stage)
{
    const int64_t words[] = {(int64_t)sums, (int64_t)supers, chunks};
    stage->argument_bytes = 0;
    stage->shared_bytes = 0;
    GSH_TRY(gsh_source_put_many(stage, words, (int)GSH_COUNT(words), (int)GSH_COUNT(words)));
    GSH_TRY(gsh_source_set_grid(stage, rows));
    stage->block[0] = GSH_SOURCE_SCAN_WIDE;
    return GSH_OK;
}

static bool is_supported(const struct gsh_launch *launch)
{
    return launch->nin == 1 && launch->nout == 1 && launch->ndim > 0 && !launch->has_mask &&
           !launch->has_initial && !launch->operands[0].is_constant &&
           gsh_reduction_has_loop(launch->reduction, launch->loop) &&
           gsh_reduction_info(launch->reduction)->result != GSH_RESULT_INDEX;
}

static enum pass pass_of(const struct geometry *geometry, unsigned stage)
{
    return geometry->chunks > 1 ? (enum pass)stage : PASS_OUTPUTS;
}

enum gsh_status gsh_source_scan_plan(const struct gsh_launch *launch, uint64_t scratch,
                                     struct gsh_source_plan *plan)
{
    if (!is_supported(launch))
        return GSH_DECLINED;
    struct geometry geometry = geometry_of(launch);
    int64_t sums = geometry.rows * geometry.chunks;
    uint64_t supers = scratch + (uint64_t)(sums * value_size(launch));
    plan->scratch_bytes = gsh_source_scan_scratch(launch);
    plan->stage_count = geometry.chunks > 1 ? 3 : 1;
    for (unsigned i = 0; i < plan->stage_count; i++) {
        struct gsh_source_stage *stage = &plan->stages[i];
        enum pass pass = pass_of(&geometry, i);
        write_key(launch, &geometry, pass, stage->key);
        if (pass == PASS_PREFIXES && !geometry.is_range_checked)
            GSH_TRY(
                gsh_source_scan_plan_sums(geometry.rows, geometry.chunks, scratch, supers, stage));
        else
            GSH_TRY(plan_pass(launch, &geometry, scratch, supers, pass, stage));
    }
    return GSH_OK;
}

static const char *name_of(bool value)
{
    return value ? "true" : "false";
}

void gsh_source_scan_write_look(struct gsh_fmt *fmt, bool checked, unsigned flags, bool divides)
{
    gsh_fmt_text(fmt, checked ? "typedef Sink Errors;\n" : "struct Errors {};\n");
    gsh_fmt_text(fmt,
                 "template <class V> FN void look(const Errors &errors, V a, V b, V joined)\n{\n");
    if (checked && divides)
        gsh_fmt_printf(fmt, "    check_division(errors, %u, a, b);\n", flags);
    else if (checked && flags != 0)
        gsh_fmt_printf(
            fmt, "    check_join<Stored, %u>(errors, a, b, value(Cast<Stored>::of(joined)));\n",
            flags);
    gsh_fmt_text(fmt, "}\ntemplate <class S, class V>\n"
                      "FN void look_cast(const Errors &, S, S, V) {} // no cast\n"
                      "template <class To, class From, class V>\n"
                      "FN void look_cast(const Errors &errors, From x, To y, V source)\n{\n");
    if (checked)
        gsh_fmt_text(fmt, "    check_cast<To>(errors, x, y, source, None(), None());\n");
    gsh_fmt_text(fmt, "}\n");
}

/* A copy within one dtype moves bytes unchanged. */
void gsh_source_scan_write_convert(struct gsh_fmt *fmt, const struct gsh_launch *launch, bool raw)
{
    static const char *const words[] = {"u8", "u16", "u32", "u64"};
    if (raw) { /* a complex number is aligned to its parts */
        bool is_complex = (1u << launch->loop & GSH_SET_COMPLEX) != 0;
        int log2 = log2_of((int64_t)gsh_dtype_size(launch->loop));
        if (is_complex)
            gsh_fmt_printf(fmt, "struct Parts { %s re, im; };\n", words[log2 - 1]);
        gsh_fmt_printf(fmt, "typedef %s Moved, Out;\n", is_complex ? "Parts" : words[log2]);
        gsh_fmt_text(fmt, "FN Out convert(const Errors &, Moved x) { return x; }\n");
        return;
    }
    gsh_fmt_printf(fmt, "typedef %s Moved;\ntypedef %s Stored;\ntypedef %s Out;\n",
                   gsh_dtype_cuda_stored(launch->operands[0].dtype),
                   gsh_dtype_cuda_stored(launch->loop),
                   gsh_dtype_cuda_stored(launch->operands[launch->nin].dtype));
    gsh_fmt_text(fmt, "FN Out convert(const Errors &errors, Moved x)\n{\n"
                      "    const Stored between = Convert<Stored, Moved>::of(x);\n"
                      "    const Out out = Convert<Out, Stored>::of(between);\n"
                      "    look_cast(errors, x, between, x);\n"
                      "    look_cast(errors, between, out, x);\n"
                      "    return out;\n}\n");
}

/* Writes the definitions that scan.cuh needs, and scan.cuh. */
static void write_scan(const struct gsh_launch *launch, const struct geometry *geometry,
                       enum pass pass, struct gsh_fmt *fmt)
{
    bool is_final = pass == PASS_OUTPUTS;
    enum gsh_dtype out = is_final ? launch->operands[1].dtype : launch->loop;
    gsh_fmt_printf(fmt, "typedef %s In;\ntypedef %s Out;\ntypedef %s Index;\n",
                   gsh_dtype_cuda_stored(launch->operands[0].dtype), gsh_dtype_cuda_stored(out),
                   geometry->wide ? "u64" : "u32");
    gsh_fmt_printf(fmt, "constexpr int KEPT = %d, ITEMS = %d, BLOCK = %d, WIDE = %d;\n",
                   GSH_MAX(geometry->kept, 1), geometry->items, GSH_SOURCE_BLOCK,
                   GSH_SOURCE_SCAN_WIDE);
    gsh_fmt_printf(fmt, "constexpr bool ONE_ROW = %s, DENSE = %s;\n",
                   name_of(has_one_row(geometry)), name_of(geometry->dense));
    gsh_fmt_printf(fmt, "constexpr bool STAGE_FINAL = %s, LANES_FAST = %s, RANGE_CHECKED = %s;\n",
                   name_of(is_final), name_of(geometry->lanes_fast),
                   name_of(geometry->is_range_checked));
    gsh_source_scan_write_look(fmt, looks(launch, pass), join_errors(launch), false);
    gsh_fmt_text(fmt, geometry->is_range_checked ? gsh_cuda_text_scan_range_checked
                                                 : gsh_cuda_text_scan_plain);
    gsh_fmt_text(fmt, gsh_cuda_text_scan);
    if (!geometry->is_range_checked) {
        gsh_fmt_text(fmt, gsh_cuda_text_scan_pass);
        return;
    }
    gsh_fmt_printf(fmt, "constexpr int CHUNK_BYTES = %d;\n", CHUNK_BYTES);
    gsh_fmt_text(fmt, gsh_cuda_text_scan_tile);
    gsh_fmt_text(fmt, gsh_cuda_text_scan_chunk);
    gsh_fmt_text(fmt, pass == PASS_PREFIXES ? gsh_cuda_text_scan_walk
                                            : gsh_cuda_text_scan_range_checked_pass);
}

void gsh_source_scan_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    struct geometry geometry = geometry_of(launch);
    enum pass pass = pass_of(&geometry, stage);
    const struct gsh_op_info *join = gsh_op_info(gsh_reduction_info(launch->reduction)->combine);
    struct gsh_source_prelude prelude = {.dtypes = 1u << launch->loop,
                                         .expressions = {join->expressions[0]},
                                         .is_half = launch->loop == GSH_FLOAT16,
                                         .errors = looks(launch, pass)};
    bool is_plain_prefixes = pass == PASS_PREFIXES && !geometry.is_range_checked;
    if (!is_plain_prefixes)
        prelude.dtypes |= 1u << launch->operands[0].dtype;
    if (pass == PASS_OUTPUTS)
        prelude.dtypes |= 1u << launch->operands[1].dtype;
    gsh_source_text_write_prelude(fmt, &prelude);
    gsh_fmt_printf(fmt, "typedef %s Stored;\ntypedef ValueOf<Stored>::type T;\ntypedef %s A;\n",
                   gsh_dtype_cuda_stored(launch->loop), launch->loop == GSH_BOOL ? "u8" : "T");
    gsh_fmt_printf(fmt,
                   "FN T join_values(T a, T b) { return (T)(%s); }\n"
                   "FN A gsh_join(A a, A b) { return join_values(a, b); }\n",
                   join->expressions[0]);
    if (is_plain_prefixes) {
        gsh_fmt_printf(fmt, "constexpr int WIDE = %d;\n", GSH_SOURCE_SCAN_WIDE);
        gsh_fmt_text(fmt, gsh_cuda_text_scan_sums);
        return;
    }
    write_scan(launch, &geometry, pass, fmt);
}
