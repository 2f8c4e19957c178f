/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise launches on the CPU: the innermost dimension in blocks that stay in the first-level
 * cache; of each block cast in, loop, cast out, where an operand that is contiguous and of the
 * loop's dtype is used in place.
 */
#include "host_ops.h"

#include "host_loops.h"
#include "host_reduce.h"

#define BLOCK 512

struct block {
    _Alignas(64) double elements[BLOCK]; /* of any dtype: no element is larger */
};

struct elementwise {
    const struct gsh_launch *launch;
    gsh_host_loop *loop;
    enum gsh_dtype result;
    int64_t inner; /* extent of the innermost dimension */
    int64_t inner_strides[GSH_MAX_OPERANDS];
    struct block
        blocks[GSH_MAX_OPERANDS]; /* casts of the operands; constants, for the whole launch */
};

bool gsh_host_ops_supports(const struct gsh_launch *launch)
{
    if (launch->kind == GSH_LAUNCH_ELEMENTWISE)
        return gsh_op_has_loop(launch->op, launch->loop) &&
               launch->nin == gsh_op_info(launch->op)->nin;
    if (launch->kind != GSH_LAUNCH_REDUCE || launch->nin != 1 || launch->operands[0].is_constant)
        return false;
    bool casts_input = launch->operands[0].dtype != launch->loop;
    return gsh_reduction_has_loop(launch->reduction, launch->loop) &&
           !(casts_input &&
             gsh_reduction_accumulator(launch->reduction, launch->loop) != launch->loop);
}

static int64_t size_of(enum gsh_dtype dtype)
{
    return (int64_t)gsh_dtype_size(dtype);
}

/* Elements [start, start + n) of input k of a row, as the loop wants them. */
static const void *load(struct elementwise *work, unsigned k, char *row, int64_t start, int64_t n)
{
    const struct gsh_operand *operand = &work->launch->operands[k];
    enum gsh_dtype loop = work->launch->loop;
    int64_t stride = work->inner_strides[k];
    if (operand->is_constant)
        return work->blocks[k].elements;
    row += start * stride;
    if (operand->dtype == loop && stride == size_of(loop))
        return row;
    gsh_host_loops_cast(work->blocks[k].elements, loop, size_of(loop), row, operand->dtype, stride,
                        n);
    return work->blocks[k].elements;
}

static void run_block(struct elementwise *work, char *const *rows, int64_t start, int64_t n,
                      int64_t first)
{
    unsigned out = work->launch->nin;
    enum gsh_dtype out_dtype = work->launch->operands[out].dtype;
    int64_t out_stride = work->inner_strides[out];
    const void *a = load(work, 0, rows[0], start, n);
    const void *b = out > 1 ? load(work, 1, rows[1], start, n) : a;
    char *z = rows[out] + start * out_stride;
    if (out_dtype == work->result && out_stride == size_of(out_dtype)) {
        work->loop(z, a, b, n, first + start);
        return;
    }
    void *buffer = work->blocks[out].elements;
    work->loop(buffer, a, b, n, first + start);
    gsh_host_loops_cast(z, out_dtype, out_stride, buffer, work->result, size_of(work->result), n);
}

/* One row of the innermost dimension, whose first element has the index `first`. */
static void run_row(struct elementwise *work, char *const *rows, int64_t first)
{
    const struct gsh_operand *operands = work->launch->operands;
    bool moves = work->launch->op == GSH_OP_COPY && operands[0].dtype == work->launch->loop &&
                 operands[1].dtype == work->launch->loop && !operands[0].is_constant;
    if (moves) { /* bytes unchanged, also those of a bool that is neither 0 nor 1 */
        gsh_host_loops_cast(rows[1], operands[1].dtype, work->inner_strides[1], rows[0],
                            operands[0].dtype, work->inner_strides[0], work->inner);
        return;
    }
    for (int64_t start = 0; start < work->inner; start += BLOCK)
        run_block(work, rows, start, GSH_MIN(work->inner - start, BLOCK), first);
}

/* Steps `index` to the next row of the outer dimensions and `rows` with it; false behind the last.
 */
static bool next_row(const struct gsh_launch *launch, int64_t *index, char **rows)
{
    for (int d = launch->ndim - 2; d >= 0; d--) {
        bool wraps = ++index[d] == launch->shape[d];
        int64_t step = wraps ? 1 - launch->shape[d] : 1;
        for (unsigned k = 0; k <= launch->nin; k++)
            rows[k] += step * launch->strides[k][d];
        if (!wraps)
            return true;
        index[d] = 0;
    }
    return false;
}

static void elementwise_init(struct elementwise *work, const struct gsh_launch *launch)
{
    int last = launch->ndim - 1;
    work->launch = launch;
    work->loop = gsh_host_loops_find(launch->op, launch->loop);
    work->result = gsh_launch_result_dtype(launch);
    work->inner = last >= 0 ? launch->shape[last] : 1;
    for (unsigned k = 0; k <= launch->nin; k++) {
        const struct gsh_operand *operand = &launch->operands[k];
        work->inner_strides[k] = last >= 0 ? launch->strides[k][last] : size_of(operand->dtype);
        if (k < launch->nin && operand->is_constant)
            gsh_host_loops_cast(work->blocks[k].elements, launch->loop, size_of(launch->loop),
                                &operand->constant, operand->dtype, 0, BLOCK);
    }
}

static void run_elementwise(const struct gsh_launch *launch)
{
    struct elementwise work;
    char *rows[GSH_MAX_OPERANDS] = {0};
    int64_t index[GSH_MAX_DIMS] = {0}, first = 0;
    elementwise_init(&work, launch);
    for (unsigned k = 0; k <= launch->nin; k++)
        rows[k] =
            launch->operands[k].is_constant ? NULL : (char *)(uintptr_t)launch->operands[k].address;
    do {
        run_row(&work, rows, first);
        first += work.inner;
    } while (next_row(launch, index, rows));
}

enum gsh_status gsh_host_ops_run(const struct gsh_launch *launch)
{
    if (!gsh_host_ops_supports(launch))
        return GSH_DECLINED;
    if (launch->kind == GSH_LAUNCH_REDUCE)
        gsh_host_reduce_run(launch);
    else
        run_elementwise(launch);
    return GSH_OK;
}
