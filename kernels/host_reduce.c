/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions on the CPU, built from the elementwise loop that joins two partial results. Two
 * schemes:
 *
 *   rows     one output at a time: its elements in blocks of 512; a block is folded in halves (a
 * balanced tree) columns  up to 128 neighbouring outputs at a time: blocks of 16 rows, joined one
 * after the other
 *
 * Either way the blocks' results go up a cascade: level l holds the join of 2^l blocks, so the
 * whole is a tree whose depth is logarithmic and whose form depends on shape and strides alone.
 */
#include "host_reduce.h"

#include "host_loops.h"

#include <string.h>

#define BLOCK 512
#define COLUMNS 128
#define COLUMN_ROWS 16
#define LEVELS 44 /* 2^44 blocks are more than an address space holds */

/* A position in the dimensions [first, end) of operand 0, in C order. */
struct walk {
    const struct gsh_launch *launch;
    int first, end;
    int64_t index[GSH_MAX_DIMS];
    const char *address;
};

struct cascade {
    uint64_t count;
    double levels[LEVELS][COLUMNS]; /* of the accumulator's dtype; in the rows scheme only the first
                                       column */
};

struct reduction {
    const struct gsh_launch *launch;
    enum gsh_dtype accumulator;
    int64_t size; /* of one accumulator */
    gsh_host_loop *join;
    int kept;        /* dimensions kept */
    int64_t reduced; /* elements joined into one output */
    int64_t width;   /* outputs computed at a time */
    struct cascade cascade;
    double row[BLOCK], block[COLUMNS];
};

static int64_t product(const int64_t *factors, int count)
{
    int64_t result = 1;
    for (int d = 0; d < count; d++)
        result *= factors[d];
    return result;
}

/* Steps by `count` elements, at most to the end of the innermost dimension's row. */
static void walk_step(struct walk *walk, int64_t count)
{
    const int64_t *shape = walk->launch->shape, *strides = walk->launch->strides[0];
    for (int d = walk->end - 1; d >= walk->first; d--, count = 1) {
        walk->index[d] += count;
        walk->address += count * strides[d];
        if (walk->index[d] < shape[d])
            return;
        walk->address -= walk->index[d] * strides[d];
        walk->index[d] = 0;
    }
}

static struct walk walk_reduced(const struct reduction *work, const char *address)
{
    return (struct walk){
        .launch = work->launch, .first = work->kept, .end = work->launch->ndim, .address = address};
}

static void cascade_push(struct reduction *work, void *value)
{
    struct cascade *cascade = &work->cascade;
    size_t bytes = (size_t)(work->width * work->size);
    int level = 0;
    for (; (cascade->count >> level & 1) != 0; level++)
        work->join(value, cascade->levels[level], value, work->width, 0);
    memcpy(cascade->levels[level], value, bytes);
    cascade->count++;
}

/* Joins what is left in the cascade into `value`; the cascade holds at least one block. */
static void cascade_finish(struct reduction *work, void *value)
{
    struct cascade *cascade = &work->cascade;
    bool found = false;
    for (int level = 0; level < LEVELS && cascade->count >> level != 0; level++) {
        if ((cascade->count >> level & 1) == 0)
            continue;
        if (found)
            work->join(value, cascade->levels[level], value, work->width, 0);
        else
            memcpy(value, cascade->levels[level], (size_t)(work->width * work->size));
        found = true;
    }
    cascade->count = 0;
}

/* The join of `n` > 0 accumulators, in halves, left in buffer[0]; `values` may be the buffer. */
static void fold(const struct reduction *work, char *buffer, const char *values, int64_t n)
{
    int64_t size = work->size;
    while (n > 1) {
        int64_t half = (n + 1) / 2;
        work->join(buffer, values, values + half * size, n - half, 0);
        if (n % 2 == 1 && values != buffer)
            memcpy(buffer + (half - 1) * size, values + (half - 1) * size, (size_t)size);
        values = buffer;
        n = half;
    }
    if (values != buffer)
        memcpy(buffer, values, (size_t)size);
}

/* The next `n` elements as accumulators: in place where they lie so, else gathered into work->row.
 */
static const char *next_values(struct reduction *work, struct walk *walk, int64_t n)
{
    const struct gsh_operand *input = &work->launch->operands[0];
    int last = work->launch->ndim - 1;
    int64_t extent = 1, stride = 0, done = 0;
    if (last >= work->kept) {
        extent = work->launch->shape[last];
        stride = work->launch->strides[0][last];
    }
    if (input->dtype == work->accumulator && stride == work->size &&
        extent - walk->index[last] >= n) {
        const char *values = walk->address;
        walk_step(walk, n);
        return values;
    }
    while (done < n) {
        int64_t left = last >= work->kept ? extent - walk->index[last] : 1;
        int64_t count = GSH_MIN(n - done, left);
        gsh_host_loops_cast((char *)work->row + done * work->size, work->accumulator, work->size,
                            walk->address, input->dtype, stride, count);
        walk_step(walk, count);
        done += count;
    }
    return (const char *)work->row;
}

static void reduce_rows(struct reduction *work, const char *address)
{
    struct walk walk = walk_reduced(work, address);
    for (int64_t done = 0; done < work->reduced; done += BLOCK) {
        int64_t n = GSH_MIN(work->reduced - done, BLOCK);
        const char *values = next_values(work, &walk, n);
        fold(work, (char *)work->row, values, n);
        cascade_push(work, work->row);
    }
}

/* `width` neighbouring inputs as accumulators. */
static const void *column_values(struct reduction *work, const char *address)
{
    enum gsh_dtype dtype = work->launch->operands[0].dtype;
    int64_t stride = work->launch->strides[0][work->kept - 1];
    if (dtype == work->accumulator && stride == work->size)
        return address;
    gsh_host_loops_cast(work->row, work->accumulator, work->size, address, dtype, stride,
                        work->width);
    return work->row;
}

static void reduce_columns(struct reduction *work, const char *address)
{
    struct walk walk = walk_reduced(work, address);
    for (int64_t done = 0; done < work->reduced; done++, walk_step(&walk, 1)) {
        const void *values = column_values(work, walk.address);
        if (done % COLUMN_ROWS == 0)
            memcpy(work->block, values, (size_t)(work->width * work->size));
        else
            work->join(work->block, work->block, values, work->width, 0);
        if (done % COLUMN_ROWS == COLUMN_ROWS - 1 || done + 1 == work->reduced)
            cascade_push(work, work->block);
    }
}

/* Reduces `width` outputs that begin at `input` and `output`. */
static void reduce_outputs(struct reduction *work, bool columns, const char *input, char *output)
{
    const struct gsh_operand *out = &work->launch->operands[1];
    enum gsh_neutral neutral = gsh_reduction_info(work->launch->reduction)->neutral;
    int64_t out_stride = columns ? work->launch->strides[1][work->kept - 1] : 0;
    void *result = work->block;
    if (columns)
        reduce_columns(work, input);
    else
        reduce_rows(work, input);
    bool empty = work->cascade.count == 0;
    if (!empty)
        cascade_finish(work, result);
    if (neutral == GSH_NEUTRAL_ZERO || neutral == GSH_NEUTRAL_ONE) {
        int32_t start = neutral == GSH_NEUTRAL_ONE;
        void *initial = empty ? result : work->row;
        gsh_host_loops_cast(initial, work->accumulator, work->size, &start, GSH_INT32, 0,
                            work->width);
        if (!empty) /* NumPy begins with the neutral value too: a sum of -0.0 is 0.0 */
            work->join(result, initial, result, work->width, 0);
    }
    gsh_host_loops_cast(output, out->dtype, out_stride, result, work->accumulator, work->size,
                        work->width);
}

/* Neighbouring outputs share cache lines of the input, or have too few elements each to be worth a
 * block. */
static bool prefers_columns(const struct reduction *work)
{
    const struct gsh_launch *launch = work->launch;
    if (work->kept == 0 || launch->shape[work->kept - 1] < 8)
        return false;
    int64_t kept_stride = launch->strides[0][work->kept - 1];
    int64_t reduced_stride = launch->nreduce > 0 ? launch->strides[0][launch->ndim - 1] : 0;
    int64_t kept_step = kept_stride < 0 ? -kept_stride : kept_stride;
    int64_t reduced_step = reduced_stride < 0 ? -reduced_stride : reduced_stride;
    return work->reduced <= COLUMN_ROWS || kept_step < reduced_step;
}

/* All outputs along the innermost kept dimension. */
static void reduce_inner(struct reduction *work, bool columns, const char *input, char *output)
{
    int inner = work->kept - 1;
    int64_t extent = inner >= 0 ? work->launch->shape[inner] : 1;
    int64_t input_stride = inner >= 0 ? work->launch->strides[0][inner] : 0;
    int64_t output_stride = inner >= 0 ? work->launch->strides[1][inner] : 0;
    for (int64_t o = 0; o < extent; o += work->width) {
        work->width = columns ? GSH_MIN(extent - o, COLUMNS) : 1;
        reduce_outputs(work, columns, input + o * input_stride, output + o * output_stride);
    }
}

void gsh_host_reduce_run(const struct gsh_launch *launch)
{
    struct reduction work; /* large: only the scalar members are set */
    work.launch = launch;
    work.accumulator = gsh_reduction_accumulator(launch->reduction, launch->loop);
    work.size = (int64_t)gsh_dtype_size(work.accumulator);
    work.join =
        gsh_host_loops_find(gsh_reduction_info(launch->reduction)->combine, work.accumulator);
    work.kept = launch->ndim - launch->nreduce;
    work.reduced = product(launch->shape + work.kept, launch->nreduce);
    work.cascade.count = 0;
    work.width = 1;
    bool columns = prefers_columns(&work);
    int outer = GSH_MAX(work.kept - 1, 0);
    int64_t count = product(launch->shape, outer);
    struct walk walk = {.launch = launch,
                        .end = outer,
                        .address = (const char *)(uintptr_t)launch->operands[0].address};
    char *output = (char *)(uintptr_t)launch->operands[1].address;
    for (int64_t row = 0; row < count; row++, walk_step(&walk, 1)) {
        int64_t offset = 0;
        for (int d = 0; d < outer; d++)
            offset += walk.index[d] * launch->strides[1][d];
        reduce_inner(&work, columns, walk.address, output + offset);
    }
}
