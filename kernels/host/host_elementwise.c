/* SPDX-License-Identifier: Apache-2.0
 *
 * Works through the innermost dimension in blocks that stay in the first-level cache. Of each block inputs are cast,
 * the loop runs, and outputs are cast. An operand that is contiguous and of the loop's dtype is used in place. With a
 * mask, or where errors are looked for, results always go through a buffer: whole blocks are computed, only some
 * elements are stored, and the inputs are still there after the loop.
 */
#include "host_elementwise.h"

#include "host_casts.h"
#include "host_fp_check.h"
#include "host_loops.h"

#include <string.h>

struct elementwise {
    const struct gsh_launch *launch;
    gsh_host_loop *loop;
    unsigned outs, mask; /* indices of operands: the first output, the mask */
    enum gsh_dtype values[GSH_MAX_INPUTS + GSH_OP_OUTPUTS]; /* dtypes that the op takes and gives */
    int64_t inner;                                          /* extent of the innermost dimension */
    int64_t inner_strides[GSH_MAX_OPERANDS];
    bool checks_errors, is_buffered;
    struct gsh_host_fp_check check;
    struct gsh_host_buffer
        buffers[GSH_MAX_INPUTS +
                GSH_OP_OUTPUTS];   /* casts of the operands; constants, for the whole launch */
    struct gsh_host_buffer stored; /* results of a masked block before they are moved */
};

bool gsh_host_elementwise_supports(const struct gsh_launch *launch)
{
    const struct gsh_op_info *info = gsh_op_info(launch->op);
    return gsh_op_has_loop(launch->op, launch->loop) && launch->nin == info->nin &&
           launch->nout == info->nout;
}

static int64_t size_of(enum gsh_dtype dtype)
{
    return (int64_t)gsh_dtype_size(dtype);
}

#define MOVE_MASKED(size)                                                                          \
    for (int64_t j = 0; j < n; j++, dst += dst_stride, src += src_stride, mask += mask_stride)     \
        if (*mask != 0)                                                                            \
            memmove(dst, src, size);

void gsh_host_elementwise_move_masked(char *dst, int64_t dst_stride, const char *src,
                                      int64_t src_stride, const char *mask, int64_t mask_stride,
                                      int64_t n, size_t size)
{
    switch (size) { /* a known size makes the move an instruction or two */
    case 1:
        MOVE_MASKED(1) break;
    case 2:
        MOVE_MASKED(2) break;
    case 4:
        MOVE_MASKED(4) break;
    case 8:
        MOVE_MASKED(8) break;
    default:
        MOVE_MASKED(16) break;
    }
}

/* Elements [start, start + n) of input k of a row, in the form that the loop takes. */
static const void *load(struct elementwise *work, unsigned k, const char *row, int64_t start,
                        int64_t n)
{
    const struct gsh_operand *operand = &work->launch->operands[k];
    enum gsh_dtype value = work->values[k];
    int64_t stride = work->inner_strides[k];
    void *buffer = work->buffers[k].bytes;
    if (operand->is_constant)
        return buffer;
    row += start * stride;
    if (operand->dtype == value && value != GSH_FLOAT16 && stride == size_of(value))
        return row;
    gsh_host_casts_load(buffer, value, row, operand->dtype, stride, n);
    return buffer;
}

/* Where output k of a block is computed: in place if it can be. */
static void *place(struct elementwise *work, unsigned k, char *row, int64_t start)
{
    enum gsh_dtype value = work->values[k];
    int64_t stride = work->inner_strides[k];
    bool in_place = !work->is_buffered && work->launch->operands[k].dtype == value &&
                    value != GSH_FLOAT16 && stride == size_of(value);
    return in_place ? row + start * stride : work->buffers[k].bytes;
}

/* A copy's errors are those of its first cast; the reported input is the source. */
static void check_copy(struct elementwise *work, const char *row, int64_t start, int64_t n)
{
    const struct gsh_operand *operand = &work->launch->operands[0];
    const void *src = operand->is_constant ? (const void *)&operand->constant
                                           : row + start * work->inner_strides[0];
    int64_t stride = operand->is_constant ? 0 : work->inner_strides[0];
    work->check.nin = 1;
    work->check.samples[0] = (struct gsh_host_sample){src, stride, operand->dtype, operand->dtype};
    gsh_host_fp_check_cast(&work->check, work->values[0], src, operand->dtype, stride, n);
}

static void check_block(struct elementwise *work, char *const *rows, int64_t start,
                        const struct gsh_host_block *block)
{
    const struct gsh_launch *launch = work->launch;
    struct gsh_host_fp_check *check = &work->check;
    if (launch->has_mask) {
        check->mask_stride = work->inner_strides[work->mask];
        check->mask = (const unsigned char *)rows[work->mask] + start * check->mask_stride;
    }
    if (launch->op == GSH_OP_COPY)
        check_copy(work, rows[0], start, block->n);
    else
        gsh_host_fp_check_block(check, block);
    for (unsigned k = 0; k < launch->nout && check->wanted != 0; k++) {
        enum gsh_dtype value = work->values[work->outs + k];
        enum gsh_dtype array = gsh_host_loops_dtype(value);
        if (value != launch->operands[work->outs + k].dtype)
            gsh_host_fp_check_cast(check, launch->operands[work->outs + k].dtype, block->out[k],
                                   array, size_of(array), block->n);
    }
}

/* Stores output k of a block, computed at `result`. */
static void store(struct elementwise *work, unsigned k, char *const *rows, int64_t start,
                  const void *result, int64_t n)
{
    enum gsh_dtype dtype = work->launch->operands[k].dtype;
    int64_t stride = work->inner_strides[k], size = size_of(dtype);
    char *dst = rows[k] + start * stride;
    if (!work->launch->has_mask) {
        if (result != dst)
            gsh_host_casts_store(dst, dtype, stride, result, work->values[k], n);
        return;
    }
    int64_t mask_stride = work->inner_strides[work->mask];
    gsh_host_casts_store(work->stored.bytes, dtype, size, result, work->values[k], n);
    gsh_host_elementwise_move_masked(dst, stride, work->stored.bytes, size,
                                     rows[work->mask] + start * mask_stride, mask_stride, n,
                                     (size_t)size);
}

static void run_block(struct elementwise *work, char *const *rows, int64_t start, int64_t n,
                      int64_t first)
{
    const struct gsh_launch *launch = work->launch;
    struct gsh_host_block block = {.n = n, .first = first + start, .step = 1};
    for (unsigned k = 0; k < launch->nin; k++)
        block.in[k] = load(work, k, rows[k], start, n);
    for (unsigned k = 0; k < launch->nout; k++)
        block.out[k] = place(work, work->outs + k, rows[work->outs + k], start);
    work->loop(&block);
    if (work->checks_errors && work->check.wanted != 0)
        check_block(work, rows, start, &block);
    bool is_mask_first = launch->has_mask && rows[work->mask] == rows[work->outs];
    for (unsigned j = 0; j < launch->nout; j++) { /* an output that is the mask is stored last */
        unsigned k = is_mask_first ? launch->nout - 1 - j : j;
        store(work, work->outs + k, rows, start, block.out[k], n);
    }
}

/* A copy without a cast: bytes unchanged, even where a bool is neither 0 nor 1. */
static void move_row(struct elementwise *work, char *const *rows)
{
    enum gsh_dtype dtype = work->launch->operands[0].dtype;
    const int64_t *strides = work->inner_strides;
    if (work->launch->has_mask)
        gsh_host_elementwise_move_masked(rows[1], strides[1], rows[0], strides[0], rows[2],
                                         strides[2], work->inner, gsh_dtype_size(dtype));
    else
        gsh_host_casts_run(rows[1], dtype, strides[1], rows[0], dtype, strides[0], work->inner);
}

static bool moves(const struct gsh_launch *launch)
{
    const struct gsh_operand *operands = launch->operands;
    return launch->op == GSH_OP_COPY && operands[0].dtype == launch->loop &&
           operands[1].dtype == launch->loop && !operands[0].is_constant;
}

/* One row of the innermost dimension; `first` is the linear index of its first element. */
static void run_row(struct elementwise *work, char *const *rows, int64_t first)
{
    if (moves(work->launch)) {
        move_row(work, rows);
        return;
    }
    for (int64_t start = 0; start < work->inner; start += GSH_HOST_BLOCK)
        run_block(work, rows, start, GSH_MIN(work->inner - start, GSH_HOST_BLOCK), first);
}

/* Steps `index` and `rows` to the next row of the outer dimensions; false behind the last. */
static bool next_row(const struct gsh_launch *launch, int64_t *index, char **rows)
{
    for (int d = launch->ndim - 2; d >= 0; d--) {
        bool wraps = ++index[d] == launch->shape[d];
        int64_t step = wraps ? 1 - launch->shape[d] : 1;
        for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
            rows[k] += step * launch->strides[k][d];
        if (!wraps)
            return true;
        index[d] = 0;
    }
    return false;
}

static void init(struct elementwise *work, const struct gsh_launch *launch)
{
    int last = launch->ndim - 1;
    work->launch = launch;
    work->loop = gsh_host_loops_find(launch->op, launch->loop);
    work->outs = launch->nin;
    work->mask = launch->nin + launch->nout;
    work->inner = last >= 0 ? launch->shape[last] : 1;
    work->checks_errors =
        gsh_host_fp_check_begin(&work->check, &launch->errors, launch->op, launch->loop, true);
    work->is_buffered = work->checks_errors || launch->has_mask;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        const struct gsh_operand *operand = &launch->operands[k];
        work->inner_strides[k] = last >= 0 ? launch->strides[k][last] : size_of(operand->dtype);
        if (k < work->outs)
            work->values[k] = gsh_op_input_dtype(launch->op, launch->loop, k);
        else if (k < work->mask)
            work->values[k] = gsh_op_output_dtype(launch->op, launch->loop, k - work->outs);
        if (k < work->outs && operand->is_constant)
            gsh_host_casts_load(work->buffers[k].bytes, work->values[k], &operand->constant,
                                operand->dtype, 0, GSH_HOST_BLOCK);
    }
}

/* A choice among elements of one dtype moves bytes unchanged, as unsigned integers of that size. */
static bool is_choice(const struct gsh_launch *launch, struct gsh_launch *raw)
{
    static const enum gsh_dtype integers[] = {GSH_UINT8, GSH_UINT16, GSH_UINT32, GSH_UINT64};
    size_t size = gsh_dtype_size(launch->loop);
    bool is_raw = launch->op == GSH_OP_SELECT && size <= 8 && launch->nin == 3;
    for (unsigned k = 1; is_raw && k < 4; k++)
        is_raw = launch->operands[k].dtype == launch->loop;
    if (!is_raw)
        return false;
    *raw = *launch;
    raw->loop = integers[__builtin_ctzl(size)];
    for (unsigned k = 1; k < 4; k++)
        raw->operands[k].dtype = raw->loop;
    return true;
}

static void run_launch(const struct gsh_launch *launch)
{
    struct elementwise work; /* large: only the scalar members are set */
    char *rows[GSH_MAX_OPERANDS];
    int64_t index[GSH_MAX_DIMS] = {0}, first = 0;
    init(&work, launch);
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        rows[k] = (char *)(uintptr_t)launch->operands[k].address; /* not used for a constant */
    do {
        run_row(&work, rows, first);
        first += work.inner;
    } while (next_row(launch, index, rows));
}

void gsh_host_elementwise_run(const struct gsh_launch *launch)
{
    struct gsh_launch raw;
    run_launch(is_choice(launch, &raw) ? &raw : launch);
}
