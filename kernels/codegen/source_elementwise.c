/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise kernels as text (kernels/cuda/elementwise.cuh). Two layouts:
 *
 *   dense    every array has one dimension without gaps: packs of up to 16 bytes
 *   strided  up to 16 dimensions, index split by division; packs where the last dimension has no
 *            gaps, its extent is a multiple of a pack and all addresses and strides are aligned to one
 *
 * A copy that changes no dtype moves bytes unchanged.
 */
#include "source_checks.h"
#include "source_parts.h"
#include "source_texts.h"

#define PACK_BYTES 16
#define MAX_VECTOR 4 /* compile time grows with the copies of the op in the text */
#define HEAVY_NS 1.5 /* NumPy's time per element from which an op is not unrolled */

/* How the kernel reads an input or the mask. The letter is the role's name in keys. ROW: one element for the whole
 * last dimension, where other operands have packs. */
enum role {
    ROLE_NONE = 'n',
    ROLE_ARRAY = 'a',
    ROLE_ROW = 'r',
    ROLE_SCALAR = 's',
    ROLE_CONSTANT = 'c'
};

struct layout {
    enum role roles[GSH_MAX_OPERANDS];       /* inputs and mask; an output is an array */
    enum gsh_dtype dtypes[GSH_MAX_OPERANDS]; /* raw: unsigned integers */
    enum gsh_dtype loop;
    unsigned vector; /* elements in a pack */
    int ndim;        /* 0: dense */
    bool is_wide;    /* indices of 64 bits */
    bool is_short;   /* strides of 32 bits */
    bool is_aligned; /* elements are aligned to their size */
    bool is_copy;    /* inputs are cast by the op itself */
    bool checks;     /* checks for errors */
};

static bool is_complex(enum gsh_dtype dtype)
{
    return gsh_dtype_kind(dtype) == 'c';
}

static bool is_heavy(const struct gsh_launch *launch)
{
    return gsh_op_info(launch->op)->host_ns >= HEAVY_NS;
}

static int64_t size_of(const struct layout *layout, unsigned k)
{
    return (int64_t)gsh_dtype_size(layout->dtypes[k]);
}

static enum role role_of(const struct gsh_launch *launch, unsigned k)
{
    if (gsh_launch_is_output(launch, k))
        return ROLE_ARRAY;
    if (launch->operands[k].is_constant)
        return ROLE_CONSTANT;
    for (int d = 0; d < launch->ndim; d++)
        if (launch->strides[k][d] != 0)
            return ROLE_ARRAY;
    return launch->ndim > 0 ? ROLE_SCALAR : ROLE_ARRAY;
}

/* Whether the address, and the strides of the first `dims` dimensions, are multiples of `unit` bytes. */
static bool is_multiple(const struct gsh_launch *launch, unsigned k, int dims, int64_t unit)
{
    uint64_t bits = launch->operands[k].address;
    for (int d = 0; d < dims; d++)
        bits |= (uint64_t)launch->strides[k][d];
    return (bits & (uint64_t)(unit - 1)) == 0;
}

static bool is_dense(const struct gsh_launch *launch, const struct layout *layout)
{
    if (launch->ndim > 1)
        return false;
    for (unsigned k = 0; launch->ndim == 1 && k < gsh_launch_operands(launch); k++)
        if (layout->roles[k] == ROLE_ARRAY && launch->strides[k][0] != size_of(layout, k))
            return false;
    return true;
}

/* Whether `vector` neighbours of every array form a pack. */
static bool fits(const struct gsh_launch *launch, const struct layout *layout, int64_t vector)
{
    int last = launch->ndim - 1;
    if (layout->ndim > 0 && launch->shape[last] % vector != 0)
        return false;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        if (layout->roles[k] != ROLE_ARRAY)
            continue;
        bool is_row =
            layout->ndim > 0 && launch->strides[k][last] == 0 && !gsh_launch_is_output(launch, k);
        if (is_row)
            continue;
        if (layout->ndim > 0 && launch->strides[k][last] != size_of(layout, k))
            return false;
        if (!is_multiple(launch, k, layout->ndim > 0 ? last : 0, vector * size_of(layout, k)))
            return false;
    }
    return true;
}

static unsigned vector_of(const struct gsh_launch *launch, const struct layout *layout)
{
    int64_t widest = 1;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        if (layout->roles[k] == ROLE_ARRAY)
            widest = GSH_MAX(widest, size_of(layout, k));
    int64_t vector = GSH_MIN(PACK_BYTES / widest, MAX_VECTOR);
    if (is_heavy(launch) && is_complex(layout->loop))
        vector = 1;
    while (vector > 1 && !fits(launch, layout, vector))
        vector /= 2;
    return (unsigned)vector;
}

/* A copy (or choice) among elements of one dtype moves unsigned integers of its size; 16 bytes stay
 * complex. */
static void make_raw(const struct gsh_launch *launch, struct layout *layout)
{
    static const enum gsh_dtype raw[9] = {
        [1] = GSH_UINT8, [2] = GSH_UINT16, [4] = GSH_UINT32, [8] = GSH_UINT64};
    unsigned first = launch->op == GSH_OP_SELECT ? 1 : 0, count = launch->nin + launch->nout;
    size_t size = gsh_dtype_size(launch->loop);
    if ((launch->op != GSH_OP_COPY && launch->op != GSH_OP_SELECT) || size > 8)
        return;
    for (unsigned k = first; k < count; k++)
        if (launch->operands[k].dtype != launch->loop)
            return;
    for (unsigned k = first; k < count && is_complex(launch->loop); k++)
        if (layout->roles[k] != ROLE_CONSTANT &&
            !is_multiple(launch, k, launch->ndim, (int64_t)size))
            return;
    for (unsigned k = first; k < count; k++)
        layout->dtypes[k] = raw[size];
    layout->loop = raw[size];
}

static struct gsh_source_operation operation_of(const struct gsh_launch *launch)
{
    struct gsh_source_operation operation = {.op = launch->op, .loop = launch->loop};
    for (unsigned k = 0; k < launch->nin; k++)
        operation.in[k] = launch->operands[k].dtype;
    for (unsigned j = 0; j < launch->nout; j++)
        operation.out[j] = launch->operands[launch->nin + j].dtype;
    return operation;
}

static void set_strided(const struct gsh_launch *launch, struct layout *layout)
{
    int last = launch->ndim - 1;
    layout->is_short = true;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        for (int d = 0; d < launch->ndim; d++)
            if (launch->strides[k][d] != (int32_t)launch->strides[k][d])
                layout->is_short = false;
        bool is_row = layout->roles[k] == ROLE_ARRAY && launch->strides[k][last] == 0;
        if (layout->vector > 1 && is_row && !gsh_launch_is_output(launch, k))
            layout->roles[k] = ROLE_ROW;
    }
}

static struct layout layout_of(const struct gsh_launch *launch)
{
    struct layout layout = {.loop = launch->loop, .is_aligned = true};
    unsigned count = gsh_launch_operands(launch);
    for (unsigned k = 0; k < count; k++) {
        layout.roles[k] = role_of(launch, k);
        layout.dtypes[k] = launch->operands[k].dtype;
    }
    make_raw(launch, &layout);
    layout.is_copy = launch->op == GSH_OP_COPY;
    layout.ndim = is_dense(launch, &layout) ? 0 : launch->ndim;
    layout.vector = vector_of(launch, &layout);
    layout.is_wide = gsh_launch_elements(launch) > INT32_MAX;
    struct gsh_source_operation operation = operation_of(launch);
    layout.checks = launch->errors.claims != 0 && gsh_source_checks_may_fail(&operation);
    if (layout.ndim > 0)
        set_strided(launch, &layout);
    for (unsigned k = 0; k < count; k++)
        if (is_complex(layout.dtypes[k]) && layout.roles[k] != ROLE_CONSTANT &&
            !is_multiple(launch, k, launch->ndim, size_of(&layout, k)))
            layout.is_aligned = false;
    return layout;
}

/* Packs of a thread: enough loads at once to hide the memory's latency. */
static unsigned unroll_of(const struct gsh_launch *launch, const struct layout *layout)
{
    return is_heavy(launch) ? 1 : layout->vector > 1 ? 2 : 4;
}

/* E.g. add_d_dadad_v2: op, loop, inputs with roles, outputs; then the mask's role; v for dense, or s and the
 * number of dimensions for strided, with the pack's size; then any other differences. */
static void write_key(const struct gsh_launch *launch, const struct layout *layout, char *key)
{
    struct gsh_fmt fmt; /* without printf: this runs at every launch */
    unsigned count = launch->nin + launch->nout;
    gsh_fmt_init(&fmt, key, GSH_SOURCE_KEY_SIZE);
    gsh_fmt_text(&fmt, gsh_op_info(launch->op)->name);
    gsh_fmt_text(&fmt, "_");
    gsh_source_key_dtype(&fmt, layout->loop);
    gsh_fmt_text(&fmt, "_");
    for (unsigned k = 0; k < count; k++) {
        gsh_source_key_dtype(&fmt, layout->dtypes[k]);
        if (k < launch->nin)
            gsh_fmt_text(&fmt, (const char[]){(char)layout->roles[k], '\0'});
    }
    if (launch->has_mask)
        gsh_source_key_part(&fmt, (const char[]){'m', (char)layout->roles[count], '\0'});
    gsh_fmt_text(&fmt, layout->ndim > 0 ? "_s" : "_");
    if (layout->ndim > 0)
        gsh_fmt_decimal(&fmt, (uint64_t)layout->ndim);
    gsh_fmt_text(&fmt, "v");
    gsh_fmt_decimal(&fmt, layout->vector);
    gsh_fmt_text(&fmt, layout->is_wide ? "w" : "");
    gsh_fmt_text(&fmt, layout->ndim > 0 && !layout->is_short ? "l" : "");
    gsh_fmt_text(&fmt, layout->is_aligned ? "" : "u");
    gsh_fmt_text(&fmt, layout->checks ? "e" : "");
}

/* An address, or the two words of a constant. */
static enum gsh_status put_slot(const struct gsh_launch *launch, unsigned k,
                                struct gsh_source_stage *stage)
{
    const struct gsh_operand *operand = &launch->operands[k];
    uint64_t words[2] = {operand->address, 0};
    if (k >= launch->nin)
        words[0] = 0;
    else if (operand->is_constant) {
        words[0] = 0;
        memcpy(words, &operand->constant, gsh_dtype_size(operand->dtype));
    }
    GSH_TRY(gsh_source_put(stage, words[0]));
    return gsh_source_put(stage, words[1]);
}

/* The iteration space in steps: packs along the last dimension. */
static enum gsh_status put_space(const struct gsh_launch *launch, const struct layout *layout,
                                 struct gsh_source_stage *stage)
{
    int ndim = layout->ndim;
    int64_t shape[GSH_MAX_DIMS], strides[GSH_MAX_DIMS];
    memcpy(shape, launch->shape, sizeof(shape));
    shape[ndim - 1] /= layout->vector;
    GSH_TRY(gsh_source_put_many(stage, shape, ndim, ndim));
    GSH_TRY(gsh_source_text_put_magic(stage, shape, ndim, ndim));
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        memcpy(strides, launch->strides[k], sizeof(strides));
        strides[ndim - 1] *= layout->vector;
        GSH_TRY(gsh_source_put_many(stage, strides, ndim, ndim));
    }
    return GSH_OK;
}

static enum gsh_status put_arguments(const struct gsh_launch *launch, const struct layout *layout,
                                     struct gsh_source_stage *stage)
{
    const struct gsh_operand *out = &launch->operands[launch->nin];
    int64_t elements = gsh_launch_elements(launch);
    GSH_TRY(
        gsh_source_put(stage, (uint64_t)(layout->ndim > 0 ? elements / layout->vector : elements)));
    for (unsigned k = 0; k < GSH_MAX_INPUTS; k++)
        GSH_TRY(put_slot(launch, k, stage));
    GSH_TRY(gsh_source_put(stage, out[0].address));
    GSH_TRY(gsh_source_put(stage, launch->nout > 1 ? out[1].address : 0));
    GSH_TRY(gsh_source_put(stage, launch->has_mask ? out[launch->nout].address : 0));
    GSH_TRY(gsh_source_text_put_sink(stage, launch));
    return layout->ndim > 0 ? put_space(launch, layout, stage) : GSH_OK;
}

bool gsh_source_elementwise_is_made(const struct gsh_launch *launch)
{
    const struct gsh_op_info *info = gsh_op_info(launch->op);
    return gsh_op_has_loop(launch->op, launch->loop) && launch->nin == info->nin &&
           launch->nout == info->nout;
}

enum gsh_status gsh_source_elementwise_plan(const struct gsh_launch *launch, uint64_t scratch,
                                            struct gsh_source_plan *plan)
{
    struct gsh_source_stage *stage = &plan->stages[0];
    (void)scratch;
    if (!gsh_source_elementwise_is_made(launch))
        return GSH_DECLINED;
    struct layout layout = layout_of(launch);
    int64_t elements = gsh_launch_elements(launch);
    int64_t steps = elements / layout.vector + (elements % layout.vector != 0);
    int64_t per_block = (int64_t)GSH_SOURCE_BLOCK * unroll_of(launch, &layout);
    plan->stage_count = 1;
    plan->scratch_bytes = 0;
    stage->shared_bytes = 0;
    stage->argument_bytes = 0;
    write_key(launch, &layout, stage->key);
    GSH_TRY(put_arguments(launch, &layout, stage));
    return gsh_source_set_grid(stage, steps / per_block + (steps % per_block != 0 || steps == 0));
}

/* The dtype that input k is cast to before the op. */
static enum gsh_dtype input_dtype(const struct gsh_launch *launch, const struct layout *layout,
                                  unsigned k)
{
    if (layout->is_copy)
        return layout->dtypes[k];
    return gsh_op_input_dtype(launch->op, layout->loop, k);
}

/* The types of inputs (L as cast, T as computed with) and how the kernel reads them. */
static void write_operand(struct gsh_fmt *fmt, const char *name, enum role role, const char *stored,
                          const char *cast)
{
    gsh_fmt_text(fmt, "template <int N, int U> using ");
    switch (role) {
    case ROLE_NONE:
        gsh_fmt_printf(fmt, "%s = %s;\n", name, cast);
        break;
    case ROLE_ARRAY:
    case ROLE_ROW:
        gsh_fmt_printf(fmt, "%s = %s<%s, %s, N, U>;\n", name, role == ROLE_ROW ? "Row" : "Array",
                       stored, cast);
        break;
    case ROLE_SCALAR:
    case ROLE_CONSTANT:
        gsh_fmt_printf(fmt, "%s = %s<%s, %s>;\n", name, role == ROLE_SCALAR ? "Scalar" : "Constant",
                       stored, cast);
        break;
    }
}

static void write_operands(const struct gsh_launch *launch, const struct layout *layout,
                           struct gsh_fmt *fmt)
{
    unsigned out = launch->nin, mask = launch->nin + launch->nout;
    gsh_fmt_printf(fmt, "typedef %s T;\n", gsh_dtype_cuda_type(layout->loop));
    for (unsigned k = 0; k < GSH_MAX_INPUTS; k++) {
        bool is_there = k < launch->nin;
        const char *cast =
            is_there ? gsh_dtype_cuda_stored(input_dtype(launch, layout, k)) : "None";
        const char name[] = {'I', 'n', (char)('0' + k), '\0'};
        gsh_fmt_printf(fmt, "typedef %s L%u;\ntypedef ValueOf<L%u>::type T%u;\n", cast, k, k, k);
        write_operand(fmt, name, is_there ? layout->roles[k] : ROLE_NONE,
                      gsh_dtype_cuda_stored(layout->dtypes[k]), is_there ? cast : "Absent");
    }
    for (unsigned j = 0; j < GSH_OP_OUTPUTS; j++)
        gsh_fmt_printf(
            fmt, "typedef %s R%u;\ntypedef %s Out%u;\n",
            j < launch->nout
                ? gsh_dtype_cuda_stored(gsh_op_output_dtype(launch->op, layout->loop, j))
                : "None",
            j, j < launch->nout ? gsh_dtype_cuda_stored(layout->dtypes[out + j]) : "None", j);
    write_operand(fmt, "Mask", launch->has_mask ? layout->roles[mask] : ROLE_NONE, "Bool",
                  launch->has_mask ? "Bool" : "All");
}

static void write_element(const struct gsh_launch *launch, const struct layout *layout,
                          struct gsh_fmt *fmt)
{
    const struct gsh_op_info *info = gsh_op_info(launch->op);
    struct gsh_source_operation operation = operation_of(launch);
    gsh_fmt_text(fmt, "template <int N, int M>\n"
                      "FN void element(const Sink &sink, T0 a, T1 b, T2 c, i64 i, "
                      "Pack<Out0, N> &out0, Pack<Out1, M> &out1, int e)\n{\n");
    for (unsigned j = 0; j < launch->nout; j++) {
        if (layout->is_copy)
            gsh_fmt_text(fmt, "    const R0 r0 = Convert<R0, L0>::of(Cast<L0>::of(a));\n");
        else
            gsh_fmt_printf(fmt, "    const R%u r%u = Cast<R%u>::of(%s);\n", j, j, j,
                           info->expressions[j]);
        gsh_fmt_printf(fmt,
                       "    const Out%u y%u = Convert<Out%u, R%u>::of(r%u);\n"
                       "    out%u.element[e] = y%u;\n",
                       j, j, j, j, j, j, j);
        if (layout->checks)
            gsh_source_checks_write(fmt, &operation, j, "sink");
    }
    gsh_fmt_text(fmt, "}\n");
}

static void write_constants(const struct gsh_launch *launch, const struct layout *layout,
                            struct gsh_fmt *fmt)
{
    unsigned count = gsh_launch_operands(launch);
    gsh_fmt_printf(fmt,
                   "constexpr int VECTOR = %u, UNROLL = %u, BLOCK = %d, NDIM = %d;\n"
                   "constexpr int NIN = %u, NOUT = %u, OPERANDS = %u;\n"
                   "constexpr bool SHORT = %s, ALIGNED = %s;\ntypedef %s Index;\n",
                   layout->vector, unroll_of(launch, layout), GSH_SOURCE_BLOCK, layout->ndim,
                   launch->nin, launch->nout, count, layout->is_short ? "true" : "false",
                   layout->is_aligned ? "true" : "false", layout->is_wide ? "u64" : "u32");
    gsh_fmt_text(fmt, "FN int size_of(int operand)\n{\n    return ");
    for (unsigned k = 0; k + 1 < count; k++)
        gsh_fmt_printf(fmt, "operand == %u ? %d : ", k, (int)size_of(layout, k));
    gsh_fmt_printf(fmt, "%d;\n}\n", (int)size_of(layout, count - 1));
}

void gsh_source_elementwise_text(const struct gsh_launch *launch, unsigned stage,
                                 struct gsh_fmt *fmt)
{
    const struct gsh_op_info *info = gsh_op_info(launch->op);
    struct layout layout = layout_of(launch);
    struct gsh_source_prelude prelude = {
        .dtypes = 1u << layout.loop,
        .expressions = {info->expressions[0], info->expressions[1]},
        .is_half = layout.loop == GSH_FLOAT16,
        .propagates_nan = true,
        .errors = layout.checks};
    (void)stage;
    for (unsigned k = 0; k < launch->nin + launch->nout; k++)
        prelude.dtypes |= 1u << layout.dtypes[k];
    gsh_source_text_write_prelude(fmt, &prelude);
    write_constants(launch, &layout, fmt);
    gsh_fmt_text(fmt, gsh_cuda_text_operand);
    write_operands(launch, &layout, fmt);
    write_element(launch, &layout, fmt);
    gsh_fmt_text(fmt, gsh_cuda_text_elementwise);
}
