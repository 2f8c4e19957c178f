/* SPDX-License-Identifier: Apache-2.0
 *
 * SORT as text (kernels/cuda/sort/sort.cuh says how). Rows that fit in shared memory take one stage, longer ones five:
 * clear, count, offsets, pass, finish. The pass is launched once for each byte of the code.
 */
#include "source_sort.h"

#include "source_parts.h"
#include "source_texts.h"

#define ROWS_BLOCK 512
#define MOST_ROW 4096                  /* elements that a block sorts in shared memory, */
#define ROW_BYTES 32768                /* and their bytes */
#define MOST_BLOCKS 1024               /* of the stages in which a block does more than one part */
#define LEAST_CHUNK ((int64_t)1 << 14) /* elements that a block counts */
#define DIGITS 256
#define STATE_BYTES 256 /* the passes' bits, and a counter for each pass */
#define ALIGNMENT 256

enum stage { CLEAR, COUNT, OFFSETS, PASS, FINISH, STAGES };

struct geometry {
    int64_t size;         /* of an element */
    int64_t rows, length; /* of a row, > 0 */
    int64_t padded; /* the row's length as a power of two; 0: it does not fit in shared memory */
    int64_t tile, tiles;  /* elements of a tile, tiles of a row */
    int64_t chunk, parts; /* elements that a block counts, such parts of a row */
    int64_t passes;
    int64_t counts, statuses,
        words; /* bytes of the scratch memory's parts; 8-byte words of state, counts and statuses */
    int64_t keys, indices; /* bytes of one buffer */
};

static bool gives_order(const struct gsh_launch *launch)
{
    return launch->sort.gives_order;
}

static unsigned first_byte(const struct gsh_launch *launch)
{
    return launch->sort.bytes > 0 ? launch->sort.first_byte : 0;
}

static bool is_complex(const struct gsh_launch *launch)
{
    return gsh_dtype_kind(launch->loop) == 'c';
}

/* Elements of a thread in a pass: what fits in registers, and of a block in shared memory. */
static int items_of(int64_t size)
{
    return size == 16 ? 8 : size == 8 ? 16 : 20;
}

static int64_t aligned(int64_t bytes)
{
    return gsh_source_divide_up(bytes, ALIGNMENT) * ALIGNMENT;
}

static int64_t rows_tile(int64_t size)
{
    return GSH_MIN(ROW_BYTES / size, MOST_ROW);
}

static void cut_chunks(struct geometry *geometry)
{
    int64_t most = gsh_source_divide_up(MOST_BLOCKS, geometry->rows);
    int64_t parts = GSH_MIN(gsh_source_divide_up(geometry->length, LEAST_CHUNK), most);
    geometry->chunk = gsh_source_divide_up(geometry->length, parts);
    geometry->parts = gsh_source_divide_up(geometry->length, geometry->chunk);
}

static struct geometry geometry_of(const struct gsh_launch *launch)
{
    int last = launch->ndim - 1;
    struct geometry geometry = {.size = (int64_t)gsh_dtype_size(launch->loop),
                                .rows = last > 0 ? launch->shape[0] : 1,
                                .length = launch->shape[last]};
    if (geometry.length <= rows_tile(geometry.size)) {
        geometry.padded = gsh_source_power_of_two(geometry.length, MOST_ROW);
        return geometry;
    }
    geometry.tile = (int64_t)GSH_SOURCE_BLOCK * items_of(geometry.size);
    geometry.tiles = gsh_source_divide_up(geometry.length, geometry.tile);
    cut_chunks(&geometry);
    geometry.passes = geometry.size + is_complex(launch) - first_byte(launch);
    geometry.counts = aligned(geometry.rows * geometry.passes * DIGITS * (int64_t)sizeof(uint32_t));
    geometry.statuses =
        aligned(geometry.rows * geometry.tiles * DIGITS * (int64_t)sizeof(uint64_t));
    geometry.words =
        (STATE_BYTES + geometry.counts + geometry.statuses) / (int64_t)sizeof(uint64_t);
    geometry.keys = aligned(geometry.rows * geometry.length * geometry.size);
    geometry.indices = gives_order(launch)
                           ? aligned(geometry.rows * geometry.length * (int64_t)sizeof(uint32_t))
                           : 0;
    return geometry;
}

static unsigned buffers_of(const struct gsh_launch *launch)
{
    return gives_order(launch) ? 2 : 1;
}

/* Contiguous rows, at most one dimension of them, and places in a row that 32 bits count. */
static bool is_supported(const struct gsh_launch *launch)
{
    const struct gsh_operand *in = &launch->operands[0], *out = &launch->operands[1];
    int last = launch->ndim - 1;
    if (launch->nin != 1 || launch->nout != 1 || launch->has_mask || in->is_constant ||
        (launch->sort.bytes > 0 && launch->loop != GSH_UINT64) || in->dtype != launch->loop ||
        out->dtype != gsh_launch_result_dtype(launch, 0) || last < 0 || last > 1 ||
        launch->shape[last] <= 0 || launch->shape[last] > INT32_MAX)
        return false;
    for (unsigned k = 0; k < 2; k++)
        if (launch->strides[k][last] != (int64_t)gsh_dtype_size(launch->operands[k].dtype) &&
            launch->shape[last] > 1)
            return false;
    return true;
}

size_t gsh_source_sort_scratch(const struct gsh_launch *launch)
{
    if (!is_supported(launch))
        return 0;
    struct geometry geometry = geometry_of(launch);
    if (geometry.padded != 0)
        return 0;
    return (size_t)(geometry.words * (int64_t)sizeof(uint64_t) +
                    buffers_of(launch) * (geometry.keys + geometry.indices));
}

unsigned gsh_source_sort_stages(const struct gsh_launch *launch)
{
    return geometry_of(launch).padded != 0 ? 1 : STAGES;
}

static enum gsh_status put_arguments(const struct gsh_launch *launch,
                                     const struct geometry *geometry, uint64_t scratch,
                                     struct gsh_source_stage *stage)
{
    int64_t counts = (int64_t)scratch + STATE_BYTES, statuses = counts + geometry->counts,
            keys = statuses + geometry->statuses,
            indices = keys + (int64_t)buffers_of(launch) * geometry->keys;
    const int64_t words[] = {0,
                             (int64_t)launch->operands[0].address,
                             (int64_t)launch->operands[1].address,
                             (int64_t)scratch,
                             counts,
                             statuses,
                             keys,
                             keys + geometry->keys,
                             indices,
                             indices + geometry->indices,
                             geometry->rows,
                             geometry->length,
                             launch->ndim > 1 ? launch->strides[0][0] : 0,
                             launch->ndim > 1 ? launch->strides[1][0] : 0,
                             geometry->tiles,
                             geometry->parts,
                             geometry->chunk,
                             geometry->padded,
                             geometry->words};
    stage->argument_bytes = 0;
    stage->shared_bytes = 0; /* the kernels' shared memory is static */
    return gsh_source_put_many(stage, words, (int)GSH_COUNT(words), (int)GSH_COUNT(words));
}

static void write_key(const struct gsh_launch *launch, const char *name, char *key)
{
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, "sort");
    gsh_source_key_part(&fmt, name);
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->loop));
    gsh_fmt_text(&fmt, gives_order(launch) ? "_order" : "");
    gsh_fmt_text(&fmt, first_byte(launch) > 0 ? "_from" : "");
    if (first_byte(launch) > 0)
        gsh_fmt_decimal(&fmt, first_byte(launch));
}

static enum gsh_status plan_rows(const struct gsh_launch *launch, const struct geometry *geometry,
                                 struct gsh_source_stage *stage)
{
    int64_t rows_of_block = rows_tile(geometry->size) / geometry->padded;
    write_key(launch, "rows", stage->key);
    GSH_TRY(put_arguments(launch, geometry, 0, stage));
    GSH_TRY(gsh_source_set_grid(stage, gsh_source_divide_up(geometry->rows, rows_of_block)));
    stage->block[0] = ROWS_BLOCK;
    return GSH_OK;
}

static int64_t blocks_of(const struct geometry *geometry, enum stage stage)
{
    int64_t elements = geometry->rows * geometry->length;
    switch (stage) {
    case CLEAR:
        return GSH_MIN(gsh_source_divide_up(geometry->words, GSH_SOURCE_BLOCK), MOST_BLOCKS);
    case COUNT:
        return geometry->rows * geometry->parts;
    case OFFSETS:
        return geometry->rows;
    case PASS:
        return geometry->rows * geometry->tiles;
    default:
        return GSH_MIN(gsh_source_divide_up(elements, GSH_SOURCE_BLOCK), MOST_BLOCKS);
    }
}

enum gsh_status gsh_source_sort_plan(const struct gsh_launch *launch, uint64_t scratch,
                                     struct gsh_source_plan *plan)
{
    static const char *const names[STAGES] = {"clear", "count", "offsets", "pass", "finish"};
    if (!is_supported(launch))
        return GSH_DECLINED;
    struct geometry geometry = geometry_of(launch);
    plan->scratch_bytes = gsh_source_sort_scratch(launch);
    plan->stage_count = gsh_source_sort_stages(launch);
    if (geometry.padded != 0)
        return plan_rows(launch, &geometry, &plan->stages[0]);
    for (enum stage i = CLEAR; i < STAGES; i++) {
        struct gsh_source_stage *stage = &plan->stages[i];
        write_key(launch, names[i], stage->key);
        GSH_TRY(put_arguments(launch, &geometry, scratch, stage));
        GSH_TRY(gsh_source_set_grid(stage, blocks_of(&geometry, i)));
    }
    plan->stages[PASS].runs =
        launch->sort.bytes > 0 ? launch->sort.bytes : (unsigned)geometry.passes;
    return GSH_OK;
}

/* The bits of an infinity: beyond them are NaNs. */
static const char *infinite_bits(enum gsh_dtype dtype)
{
    switch (gsh_dtype_size(dtype) / (gsh_dtype_kind(dtype) == 'c' ? 2 : 1)) {
    case 2:
        return "0x7c00";
    case 4:
        return "0x7f800000u";
    default:
        return "0x7ff0000000000000ull";
    }
}

void gsh_source_sort_write_code(enum gsh_dtype dtype, unsigned from, struct gsh_fmt *fmt)
{
    static const char *const words[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"};
    char kind = gsh_dtype_kind(dtype);
    bool is_float = kind == 'f' || kind == 'c';
    gsh_fmt_printf(fmt, "#undef IS_COMPLEX\n#define IS_COMPLEX %d\ntypedef %s Part;\n", kind == 'c',
                   words[gsh_dtype_size(dtype) / (kind == 'c' ? 2 : 1)]);
    gsh_fmt_printf(fmt, "constexpr bool IS_FLOAT = %s, IS_SIGNED = %s;\n",
                   is_float ? "true" : "false", kind == 'i' ? "true" : "false");
    gsh_fmt_printf(fmt, "constexpr Part INFINITE_BITS = %s;\n",
                   is_float ? infinite_bits(dtype) : "0");
    gsh_fmt_printf(fmt, "constexpr u32 FIRST_BYTE = %u;\n", from);
    gsh_fmt_text(fmt, gsh_cuda_text_sort_key);
}

void gsh_source_sort_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    static const char *const texts[STAGES] = {gsh_cuda_text_sort_clear, gsh_cuda_text_sort_count,
                                              gsh_cuda_text_sort_offsets, gsh_cuda_text_sort_pass,
                                              gsh_cuda_text_sort_finish};
    struct geometry geometry = geometry_of(launch);
    const struct gsh_source_prelude prelude = {.dtypes = 0};
    bool is_rows = geometry.padded != 0;
    gsh_source_text_write_prelude(fmt, &prelude);
    gsh_fmt_printf(fmt, "constexpr u32 BLOCK = %d, ITEMS = %d, ROW = %d;\n",
                   is_rows ? ROWS_BLOCK : GSH_SOURCE_BLOCK, items_of(geometry.size),
                   (int)rows_tile(geometry.size));
    gsh_fmt_text(fmt, gsh_cuda_text_sort);
    gsh_fmt_printf(fmt, "constexpr bool GIVES_ORDER = %s;\n",
                   gives_order(launch) ? "true" : "false");
    gsh_source_sort_write_code(launch->loop, first_byte(launch), fmt);
    if (is_rows) {
        gsh_fmt_text(fmt, gsh_cuda_text_sort_rows);
        return;
    }
    if (stage == OFFSETS || stage == PASS)
        gsh_fmt_text(fmt, gsh_cuda_text_sort_sum);
    if (stage == PASS || stage == FINISH)
        gsh_fmt_text(fmt, gsh_cuda_text_sort_places);
    gsh_fmt_text(fmt, texts[stage]);
}
