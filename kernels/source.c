/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise kernels as text, and the entry points for both kinds. Two layouts:
 *
 *   contiguous  one dimension, every array dense: packs of up to 16 bytes, four a thread
 *   strided     up to 16 dimensions, index split by division, four elements a thread
 *
 * In both a thread loads all it needs before it stores anything, so that loads overlap although the
 * output may be an input, and neighbouring threads touch neighbouring addresses.
 */
#include "source.h"

#include "source_parts.h"
#include "source_templates.h"

#define UNROLL 4
#define PACK_BYTES 16

/* How the kernel reads an input; the letter is the role's name in keys. */
enum role { ROLE_NONE = 'n', ROLE_ARRAY = 'a', ROLE_SCALAR = 's', ROLE_CONSTANT = 'c' };

struct layout {
    enum role roles[2];
    unsigned vector; /* elements in a pack; 0: strided */
    bool wide;       /* indices of 64 bits */
    bool raw;        /* a copy of bools, which keeps every byte as it is */
};

static bool is_dense(const struct gsh_launch *launch, unsigned k)
{
    return launch->ndim == 0 ||
           launch->strides[k][0] == (int64_t)gsh_dtype_size(launch->operands[k].dtype);
}

static enum role role_of(const struct gsh_launch *launch, unsigned k)
{
    if (k >= launch->nin)
        return ROLE_NONE;
    if (launch->operands[k].is_constant)
        return ROLE_CONSTANT;
    for (int d = 0; d < launch->ndim; d++)
        if (launch->strides[k][d] != 0)
            return ROLE_ARRAY;
    return launch->ndim > 0 ? ROLE_SCALAR : ROLE_ARRAY;
}

static bool is_contiguous(const struct gsh_launch *launch, const enum role *roles)
{
    if (launch->ndim > 1 || !is_dense(launch, launch->nin))
        return false;
    for (unsigned k = 0; k < launch->nin; k++)
        if (roles[k] == ROLE_ARRAY && !is_dense(launch, k))
            return false;
    return true;
}

/* The elements of a pack: as many of the widest dtype as fit, one where some array is not aligned
 * for that. */
static unsigned vector_of(const struct gsh_launch *launch, const enum role *roles)
{
    size_t widest = 1;
    for (unsigned k = 0; k <= launch->nin; k++)
        if (k == launch->nin || roles[k] == ROLE_ARRAY)
            widest = GSH_MAX(widest, gsh_dtype_size(launch->operands[k].dtype));
    size_t vector = PACK_BYTES / widest;
    for (unsigned k = 0; k <= launch->nin; k++) {
        size_t bytes = vector * gsh_dtype_size(launch->operands[k].dtype);
        if ((k == launch->nin || roles[k] == ROLE_ARRAY) &&
            launch->operands[k].address % bytes != 0)
            return 1;
    }
    return (unsigned)vector;
}

static struct layout layout_of(const struct gsh_launch *launch)
{
    const struct gsh_operand *operands = launch->operands;
    struct layout layout = {.roles = {role_of(launch, 0), role_of(launch, 1)}};
    if (is_contiguous(launch, layout.roles))
        layout.vector = vector_of(launch, layout.roles);
    else
        layout.wide = gsh_launch_elements(launch) > INT32_MAX;
    layout.raw = launch->op == GSH_OP_COPY && launch->loop == GSH_BOOL &&
                 operands[0].dtype == GSH_BOOL && operands[1].dtype == GSH_BOOL;
    return layout;
}

static void write_key(const struct gsh_launch *launch, const struct layout *layout, char *key)
{
    struct gsh_fmt fmt; /* without printf: this runs at every launch */
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, gsh_op_info(launch->op)->name);
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->loop));
    for (unsigned k = 0; k < launch->nin; k++) {
        gsh_source_key_part(&fmt, gsh_dtype_name(launch->operands[k].dtype));
        gsh_fmt_text(&fmt, (const char[]){(char)layout->roles[k], '\0'});
    }
    gsh_source_key_part(&fmt, gsh_dtype_name(launch->operands[launch->nin].dtype));
    gsh_fmt_text(&fmt, layout->vector > 0 ? "_v" : "_s");
    gsh_fmt_decimal(&fmt, layout->vector > 0 ? layout->vector : (uint64_t)launch->ndim);
    gsh_fmt_text(&fmt, layout->wide ? "w" : "");
}

static uint64_t slot_of(const struct gsh_operand *operand)
{
    uint64_t word = operand->address;
    if (operand->is_constant) {
        word = 0;
        memcpy(&word, &operand->constant, gsh_dtype_size(operand->dtype));
    }
    return word;
}

static enum gsh_status put_arguments(const struct gsh_launch *launch, const struct layout *layout,
                                     struct gsh_source_stage *stage)
{
    const struct gsh_operand *operands = launch->operands;
    unsigned out = launch->nin;
    const int64_t none[GSH_MAX_DIMS] = {0};
    GSH_TRY(gsh_source_put(stage, (uint64_t)gsh_launch_elements(launch)));
    GSH_TRY(gsh_source_put(stage, slot_of(&operands[0])));
    GSH_TRY(gsh_source_put(stage, out > 1 ? slot_of(&operands[1]) : 0));
    GSH_TRY(gsh_source_put(stage, slot_of(&operands[out])));
    if (layout->vector > 0)
        return GSH_OK;
    GSH_TRY(gsh_source_put_many(stage, launch->shape, launch->ndim, launch->ndim));
    GSH_TRY(gsh_source_put_many(stage, launch->strides[0], launch->ndim, launch->ndim));
    GSH_TRY(gsh_source_put_many(stage, out > 1 ? launch->strides[1] : none, launch->ndim,
                                launch->ndim));
    return gsh_source_put_many(stage, launch->strides[out], launch->ndim, launch->ndim);
}

static enum gsh_status plan_elementwise(const struct gsh_launch *launch,
                                        struct gsh_source_plan *plan)
{
    struct gsh_source_stage *stage = &plan->stages[0];
    if (!gsh_op_has_loop(launch->op, launch->loop) || launch->nin != gsh_op_info(launch->op)->nin)
        return GSH_DECLINED;
    struct layout layout = layout_of(launch);
    int64_t steps = gsh_launch_elements(launch) / (layout.vector > 0 ? layout.vector : 1);
    int64_t per_block = (int64_t)GSH_SOURCE_BLOCK * UNROLL;
    plan->stage_count = 1;
    plan->scratch_bytes = 0;
    stage->shared_bytes = 0;
    stage->argument_bytes = 0;
    write_key(launch, &layout, stage->key);
    GSH_TRY(put_arguments(launch, &layout, stage));
    return gsh_source_set_grid(stage, steps / per_block + (steps % per_block != 0 || steps == 0));
}

static void write_input(struct gsh_fmt *fmt, const struct gsh_launch *launch,
                        const struct layout *layout, unsigned k)
{
    static const char templates[][2][10] = {{"a", "Array"}, {"s", "Scalar"}, {"c", "Constant"}};
    if (layout->roles[k] == ROLE_NONE) {
        gsh_fmt_printf(fmt, "typedef None In%u;\n", k);
        return;
    }
    const char *stored = layout->raw ? "u8" : gsh_source_stored(launch->operands[k].dtype);
    for (size_t i = 0; i < GSH_COUNT(templates); i++)
        if (templates[i][0][0] == (char)layout->roles[k])
            gsh_fmt_printf(fmt, "typedef %s<%s> In%u;\n", templates[i][1], stored, k);
}

static void write_elementwise(const struct gsh_launch *launch, struct gsh_fmt *fmt)
{
    const struct gsh_op_info *info = gsh_op_info(launch->op);
    struct layout layout = layout_of(launch);
    const char *loop = layout.raw ? "unsigned char" : gsh_dtype_cuda_type(launch->loop);
    enum gsh_dtype out = launch->operands[launch->nin].dtype;
    gsh_fmt_printf(fmt, "typedef %s T;\nconstexpr bool SETTLES = true;\n", loop);
    gsh_fmt_text(fmt, gsh_source_prelude);
    write_input(fmt, launch, &layout, 0);
    write_input(fmt, launch, &layout, 1);
    gsh_fmt_printf(fmt, "typedef %s Out;\n", layout.raw ? "u8" : gsh_source_stored(out));
    gsh_fmt_printf(fmt, "typedef %s Index;\n", layout.wide ? "u64" : "u32");
    gsh_fmt_printf(fmt, "constexpr int VECTOR = %u, UNROLL = %d, BLOCK = %d, NDIM = %d;\n",
                   layout.vector, UNROLL, GSH_SOURCE_BLOCK, launch->ndim);
    gsh_fmt_printf(fmt, "FN %s gsh_op(T a, T b, i64 i) { return %s; }\n",
                   info->result == GSH_RESULT_BOOL ? "bool" : "T",
                   launch->loop == GSH_BOOL ? info->bool_expression : info->expression);
    gsh_fmt_text(fmt, layout.vector > 0 ? gsh_source_contiguous : gsh_source_strided);
}

size_t gsh_source_scratch(const struct gsh_launch *launch)
{
    return launch->kind == GSH_LAUNCH_REDUCE ? gsh_source_reduce_scratch(launch) : 0;
}

enum gsh_status gsh_source_plan(const struct gsh_launch *launch, uint64_t scratch,
                                struct gsh_source_plan *plan)
{
    switch (launch->kind) {
    case GSH_LAUNCH_ELEMENTWISE:
        return plan_elementwise(launch, plan);
    case GSH_LAUNCH_REDUCE:
        return gsh_source_reduce_plan(launch, scratch, plan);
    case GSH_LAUNCH_GEMM:
        break;
    }
    return GSH_DECLINED;
}

void gsh_source_text(const struct gsh_launch *launch, unsigned stage, struct gsh_fmt *fmt)
{
    if (launch->kind == GSH_LAUNCH_REDUCE)
        gsh_source_reduce_text(launch, stage, fmt);
    else
        write_elementwise(launch, fmt);
}
