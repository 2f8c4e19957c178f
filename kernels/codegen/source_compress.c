/* SPDX-License-Identifier: Apache-2.0
 *
 * COMPRESS and EXPAND as text (kernels/cuda/compress.cuh): elements selected by a mask. One chunk takes one stage.
 * More chunks take three: the chunks' counts, their prefixes, the elements. The scratch then holds the counts, and
 * the prefixes of groups of WIDE chunks, as 64-bit integers.
 */
#include "source_parts.h"
#include "source_scan.h"
#include "source_texts.h"

#define ITEMS 8
#define TILE ((int64_t)GSH_SOURCE_BLOCK * ITEMS)

struct geometry {
    bool is_compress, raw, wide, checks_errors;
    int64_t elements, chunk, chunks;
};

static struct geometry geometry_of(const struct gsh_launch *launch)
{
    const struct gsh_operand *operands = launch->operands;
    int64_t most = (int64_t)GSH_SOURCE_SCAN_WIDE * GSH_SOURCE_SCAN_WIDE;
    struct geometry geometry = {.is_compress = launch->kind == GSH_LAUNCH_COMPRESS,
                                .elements = gsh_launch_elements(launch)};
    geometry.raw = operands[0].dtype == launch->loop && operands[1].dtype == launch->loop;
    geometry.checks_errors = launch->errors.claims != 0 && !geometry.raw;
    geometry.wide = geometry.elements > INT32_MAX;
    int64_t tiles = gsh_source_divide_up(geometry.elements, TILE);
    geometry.chunk = gsh_source_divide_up(tiles, GSH_MIN(tiles, most)) * TILE;
    geometry.chunks = gsh_source_divide_up(geometry.elements, geometry.chunk);
    return geometry;
}

size_t gsh_source_compress_scratch(const struct gsh_launch *launch)
{
    int64_t chunks = geometry_of(launch).chunks;
    return chunks > 1 ? (size_t)(chunks + GSH_SOURCE_SCAN_WIDE) * sizeof(int64_t) : 0;
}

static void write_key(const struct gsh_launch *launch, const struct geometry *geometry,
                      bool is_final, char *key)
{
    struct gsh_fmt fmt; /* without printf: this runs at every launch */
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, !is_final ? "count" : geometry->is_compress ? "compress" : "expand");
    if (is_final && geometry->raw) {
        gsh_source_key_part(&fmt, "raw");
        gsh_fmt_decimal(&fmt, gsh_dtype_size(launch->loop));
        gsh_fmt_text(&fmt, (1u << launch->loop & GSH_SET_COMPLEX) != 0 ? "parts" : "");
    } else if (is_final) {
        gsh_source_key_part(&fmt, gsh_dtype_name(launch->loop));
        gsh_source_key_part(&fmt, gsh_dtype_name(launch->operands[0].dtype));
        gsh_source_key_part(&fmt, gsh_dtype_name(launch->operands[1].dtype));
    }
    gsh_source_key_part(&fmt, "s");
    gsh_fmt_decimal(&fmt, (uint64_t)launch->ndim);
    gsh_fmt_text(&fmt, geometry->wide ? "w" : "");
    gsh_fmt_text(&fmt, is_final && geometry->checks_errors ? "e" : "");
}

static enum gsh_status plan_pass(const struct gsh_launch *launch, const struct geometry *geometry,
                                 uint64_t sums, uint64_t supers, bool is_final,
                                 struct gsh_source_stage *stage)
{
    const int64_t words[] = {(int64_t)launch->operands[2].address,
                             (int64_t)launch->operands[0].address,
                             (int64_t)launch->operands[1].address,
                             (int64_t)sums,
                             (int64_t)supers,
                             geometry->elements,
                             geometry->chunk,
                             launch->indexed.stride,
                             launch->indexed.extent};
    int ndim = launch->ndim, room = GSH_MAX(ndim, 1);
    const int64_t *places = launch->strides[geometry->is_compress ? 0 : 1];
    stage->argument_bytes = 0;
    stage->shared_bytes = 0; /* the kernel's shared memory is static */
    write_key(launch, geometry, is_final, stage->key);
    if (is_final && geometry->checks_errors)
        GSH_TRY(gsh_source_text_put_sink(stage, launch));
    GSH_TRY(gsh_source_put_many(stage, words, (int)GSH_COUNT(words), (int)GSH_COUNT(words)));
    GSH_TRY(gsh_source_put_many(stage, launch->shape, ndim, room));
    GSH_TRY(gsh_source_put_many(stage, launch->strides[2], ndim, room));
    GSH_TRY(gsh_source_put_many(stage, places, ndim, room));
    return gsh_source_set_grid(stage, geometry->chunks);
}

static bool is_supported(const struct gsh_launch *launch)
{
    return launch->nin == 1 && launch->nout == 1 && launch->has_mask && launch->op == GSH_OP_COPY &&
           !launch->operands[0].is_constant && launch->operands[2].dtype == GSH_BOOL;
}

enum gsh_status gsh_source_compress_plan(const struct gsh_launch *launch, uint64_t scratch,
                                         struct gsh_source_plan *plan)
{
    if (!is_supported(launch))
        return GSH_DECLINED;
    struct geometry geometry = geometry_of(launch);
    uint64_t supers = scratch + (uint64_t)geometry.chunks * sizeof(int64_t);
    plan->scratch_bytes = gsh_source_compress_scratch(launch);
    plan->stage_count = geometry.chunks > 1 ? 3 : 1;
    GSH_TRY(
        plan_pass(launch, &geometry, scratch, supers, true, &plan->stages[plan->stage_count - 1]));
    if (geometry.chunks == 1)
        return GSH_OK;
    struct gsh_fmt key;
    gsh_fmt_init(&key, plan->stages[1].key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&key, "scan_sums_count");
    GSH_TRY(gsh_source_scan_plan_sums(1, geometry.chunks, scratch, supers, &plan->stages[1]));
    return plan_pass(launch, &geometry, scratch, supers, false, &plan->stages[0]);
}

static void write_sums(struct gsh_fmt *fmt)
{
    gsh_fmt_printf(fmt, "typedef i64 A;\nconstexpr int WIDE = %d;\n", GSH_SOURCE_SCAN_WIDE);
    gsh_fmt_text(fmt, "FN A gsh_join(A a, A b) { return a + b; }\n");
    gsh_fmt_text(fmt, gsh_cuda_text_scan_sums);
}

void gsh_source_compress_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    struct geometry geometry = geometry_of(launch);
    bool is_cut = geometry.chunks > 1, is_final = is_cut ? stage == 2 : stage == 0;
    struct gsh_source_prelude prelude = {.dtypes = 0};
    if (is_final && !geometry.raw)
        prelude.dtypes =
            1u << launch->loop | 1u << launch->operands[0].dtype | 1u << launch->operands[1].dtype;
    prelude.errors = is_final && geometry.checks_errors;
    gsh_source_text_write_prelude(fmt, &prelude);
    if (is_cut && stage == 1) {
        write_sums(fmt);
        return;
    }
    gsh_source_scan_write_look(fmt, prelude.errors, 0, false);
    gsh_source_scan_write_convert(fmt, launch, geometry.raw || !is_final);
    gsh_fmt_printf(fmt, "typedef %s Index;\n", geometry.wide ? "u64" : "u32");
    gsh_fmt_printf(fmt, "constexpr int NDIM = %d, ITEMS = %d, BLOCK = %d, WIDE = %d;\n",
                   GSH_MAX(launch->ndim, 1), ITEMS, GSH_SOURCE_BLOCK, GSH_SOURCE_SCAN_WIDE);
    gsh_fmt_printf(fmt, "constexpr bool STAGE_FINAL = %s, IS_COMPRESS = %s;\n",
                   is_final ? "true" : "false", geometry.is_compress ? "true" : "false");
    gsh_fmt_text(fmt, gsh_cuda_text_compress);
}
