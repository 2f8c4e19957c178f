/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions on the CPU, built from the elementwise loop that joins two partial results. Two
 * schemes:
 *
 *   rows     one output at a time: its elements in blocks of 512; a block is folded in halves (a
 *            balanced tree)
 *   columns  neighbouring outputs side by side: blocks of 16 rows, joined one after the other
 *
 * Either way the blocks' results go up a cascade: level l holds the join of 2^l blocks, so the
 * whole is a tree whose depth is logarithmic and whose form depends on shape and strides alone.
 * Elements left out by a mask are replaced by a value that changes nothing; an output without any
 * element is its beginning, untouched by a join (gcd and hypot would make it positive).
 */
#include "host_reduce.h"

#include "host_arg.h"
#include "host_casts.h"
#include "host_loops.h"
#include "host_walk.h"
#include "host_watch.h"

#include <math.h>
#include <string.h>

#define BLOCK GSH_HOST_BLOCK
#define COLUMN_BYTES 1024 /* of the outputs that are computed side by side */
#define COLUMN_ROWS 16
#define LEVELS 44 /* 2^44 blocks are more than an address space holds */

struct cascade {
    uint64_t count;
    _Alignas(16) char levels[LEVELS][COLUMN_BYTES];
};

struct reduction {
    const struct gsh_launch *launch;
    enum gsh_dtype array; /* of the accumulators */
    int64_t size;         /* of one */
    gsh_host_loop *loop;  /* joins two */
    int kept;             /* dimensions kept */
    int64_t reduced;      /* elements joined into one output */
    int64_t width;        /* outputs computed at a time */
    bool begins;          /* a reduction starts with `beginning` */
    _Alignas(16) char beginning[16],
        filler[16]; /* accumulators; the filler stands for masked ones */
    bool watches;
    struct gsh_host_watch watch;
    bool has_element[COLUMN_BYTES]; /* of each output, where there is a mask */
    struct cascade cascade;
    _Alignas(64) char row[BLOCK * 16], block[COLUMN_BYTES], joined[BLOCK * 16];
};

bool gsh_host_reduce_supports(const struct gsh_launch *launch)
{
    if (!gsh_reduction_has_loop(launch->reduction, launch->loop) || launch->nin != 1 ||
        launch->nout != 1 || launch->operands[0].is_constant)
        return false;
    const struct gsh_reduction_info *info = gsh_reduction_info(launch->reduction);
    bool is_empty = gsh_launch_elements(launch) == 0;
    if (info->result == GSH_RESULT_INDEX)
        return !launch->has_mask && !launch->has_initial && !is_empty;
    return info->neutral != GSH_NEUTRAL_FIRST || launch->has_initial ||
           (!launch->has_mask && !is_empty);
}

static int64_t product(const int64_t *factors, int count)
{
    int64_t result = 1;
    for (int d = 0; d < count; d++)
        result *= factors[d];
    return result;
}

/* out = a joined with b, n accumulators each; out may be a or b. */
static void join(struct reduction *work, void *out, const void *a, const void *b, int64_t n)
{
    bool looks = work->watches && work->watch.wanted != 0;
    struct gsh_host_block block = {.in = {a, b}, .out = {looks ? work->joined : out}, .n = n};
    work->loop(&block);
    if (!looks)
        return;
    for (int64_t done = 0; done < n; done += GSH_HOST_BLOCK) {
        int64_t skipped = done * work->size;
        struct gsh_host_block part = {.in = {(const char *)a + skipped, (const char *)b + skipped},
                                      .out = {work->joined + skipped},
                                      .n = GSH_MIN(n - done, GSH_HOST_BLOCK)};
        gsh_host_watch_check(&work->watch, &part);
    }
    memcpy(out, work->joined, (size_t)(n * work->size));
}

static void cascade_push(struct reduction *work, void *value)
{
    struct cascade *cascade = &work->cascade;
    size_t bytes = (size_t)(work->width * work->size);
    int level = 0;
    for (; (cascade->count >> level & 1) != 0; level++)
        join(work, value, cascade->levels[level], value, work->width);
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
            join(work, value, cascade->levels[level], value, work->width);
        else
            memcpy(value, cascade->levels[level], (size_t)(work->width * work->size));
        found = true;
    }
    cascade->count = 0;
}

/* The join of `n` > 0 accumulators, in halves, left in buffer[0]; `values` may be the buffer. */
static void fold(struct reduction *work, char *buffer, const char *values, int64_t n)
{
    int64_t size = work->size;
    while (n > 1) {
        int64_t half = (n + 1) / 2;
        join(work, buffer, values, values + half * size, n - half);
        if (n % 2 == 1 && values != buffer)
            memcpy(buffer + (half - 1) * size, values + (half - 1) * size, (size_t)size);
        values = buffer;
        n = half;
    }
    if (values != buffer)
        memcpy(buffer, values, (size_t)size);
}

/* Replaces accumulators whose mask is false. They belong to one output, or each to its own. */
static void fill_masked(struct reduction *work, char *values, const char *mask, int64_t mask_stride,
                        int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        if (mask[j * mask_stride] != 0)
            work->has_element[work->width == 1 ? 0 : j] = true;
        else
            memcpy(values + j * work->size, work->filler, (size_t)work->size);
    }
}

/* `n` inputs at the walk's place, `stride` apart, as accumulators: where they lie if they are some,
 * else gathered at `to`. */
static const char *gather(struct reduction *work, const struct gsh_host_walk *walk, char *to,
                          int64_t stride, int64_t mask_stride, int64_t n)
{
    const struct gsh_launch *launch = work->launch;
    enum gsh_dtype dtype = launch->operands[0].dtype;
    if (dtype == launch->loop && work->array == launch->loop && stride == work->size &&
        !launch->has_mask)
        return walk->address[0];
    gsh_host_casts_load(to, launch->loop, walk->address[0], dtype, stride, n);
    if (launch->has_mask)
        fill_masked(work, to, walk->address[2], mask_stride, n);
    return to;
}

/* The next `n` elements as accumulators. */
static const char *next_values(struct reduction *work, struct gsh_host_walk *walk, int64_t n)
{
    int64_t stride = gsh_host_walk_stride(walk, 0);
    int64_t mask_stride = work->launch->has_mask ? gsh_host_walk_stride(walk, 2) : 0;
    const char *values = work->row;
    for (int64_t done = 0; done < n;) {
        int64_t count = GSH_MIN(n - done, gsh_host_walk_left(walk));
        char *to = work->row + done * work->size;
        const char *found = gather(work, walk, to, stride, mask_stride, count);
        if (count == n)
            values = found;
        else if (found != to)
            memcpy(to, found, (size_t)(count * work->size));
        gsh_host_walk_step(walk, count);
        done += count;
    }
    return values;
}

static struct gsh_host_walk walk_reduced(const struct reduction *work,
                                         const struct gsh_host_walk *outputs)
{
    struct gsh_host_walk walk = *outputs;
    walk.first = work->kept;
    walk.end = work->launch->ndim;
    return walk;
}

static void reduce_rows(struct reduction *work, const struct gsh_host_walk *outputs)
{
    struct gsh_host_walk walk = walk_reduced(work, outputs);
    for (int64_t done = 0; done < work->reduced; done += BLOCK) {
        int64_t n = GSH_MIN(work->reduced - done, BLOCK);
        const char *values = next_values(work, &walk, n);
        fold(work, work->row, values, n);
        cascade_push(work, work->row);
    }
}

static void reduce_columns(struct reduction *work, const struct gsh_host_walk *outputs)
{
    struct gsh_host_walk walk = walk_reduced(work, outputs);
    const struct gsh_launch *launch = work->launch;
    int64_t stride = launch->strides[0][work->kept - 1];
    int64_t mask_stride = launch->has_mask ? launch->strides[2][work->kept - 1] : 0;
    for (int64_t done = 0; done < work->reduced; done++, gsh_host_walk_step(&walk, 1)) {
        const void *values = gather(work, &walk, work->row, stride, mask_stride, work->width);
        if (done % COLUMN_ROWS == 0)
            memcpy(work->block, values, (size_t)(work->width * work->size));
        else
            join(work, work->block, work->block, values, work->width);
        if (done % COLUMN_ROWS == COLUMN_ROWS - 1 || done + 1 == work->reduced)
            cascade_push(work, work->block);
    }
}

/* A float16 result too large for its dtype is an error of no single join: reported as that of two
 * largest numbers, which any row that can get there meets alike. */
static void watch_rounding(struct reduction *work, const void *result, int64_t n)
{
    static const uint16_t largest[] = {0x7bff};
    for (unsigned k = 0; k < 2; k++)
        work->watch.samples[k] = (struct gsh_host_sample){largest, 0, GSH_FLOAT16, GSH_FLOAT16};
    work->watch.nin = 2;
    gsh_host_watch_check_cast(&work->watch, GSH_FLOAT16, result, GSH_FLOAT32, work->size, n);
}

/* Joins the beginning with each result. NumPy does so too: a sum of -0.0 is 0.0. */
static void begin_outputs(struct reduction *work, char *result, bool is_empty)
{
    char *start = is_empty ? result : work->row;
    gsh_host_casts_run(start, work->array, work->size, work->beginning, work->array, 0,
                       work->width);
    if (is_empty)
        return;
    join(work, result, start, result, work->width);
    for (int64_t j = 0; work->launch->has_mask && j < work->width; j++)
        if (!work->has_element[j])
            memcpy(result + j * work->size, work->beginning, (size_t)work->size);
}

/* Reduces the `width` outputs that begin at the walk's place. */
static void reduce_outputs(struct reduction *work, bool columns,
                           const struct gsh_host_walk *outputs)
{
    const struct gsh_operand *out = &work->launch->operands[1];
    int64_t out_stride = columns ? work->launch->strides[1][work->kept - 1] : 0;
    char *result = work->block;
    if (work->launch->has_mask)
        memset(work->has_element, 0, sizeof work->has_element);
    if (columns)
        reduce_columns(work, outputs);
    else
        reduce_rows(work, outputs);
    bool is_empty = work->cascade.count == 0;
    if (!is_empty)
        cascade_finish(work, result);
    if (work->begins)
        begin_outputs(work, result, is_empty);
    if (work->watches && work->launch->loop == GSH_FLOAT16)
        watch_rounding(work, result, work->width);
    gsh_host_casts_store(outputs->address[1], out->dtype, out_stride, result, work->launch->loop,
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

/* The least value of a dtype, as int64 or double. */
static void write_lowest(void *to, enum gsh_dtype dtype)
{
    double low = -(double)INFINITY;
    int64_t size = (int64_t)gsh_dtype_size(dtype);
    int64_t least = gsh_dtype_kind(dtype) == 'i' ? INT64_MIN >> (64 - 8 * size) : 0;
    if ((GSH_SET_INEXACT >> dtype & 1) != 0)
        gsh_host_casts_run(to, dtype, 0, &low, GSH_FLOAT64, 0, 1);
    else
        gsh_host_casts_run(to, dtype, 0, &least, GSH_INT64, 0, 1);
}

/* The row's neutral value as an accumulator; false where it has none. */
static bool write_neutral(void *to, enum gsh_neutral neutral, enum gsh_dtype array)
{
    int64_t value = neutral == GSH_NEUTRAL_ONE ? 1 : neutral == GSH_NEUTRAL_ONES ? -1 : 0;
    if (neutral == GSH_NEUTRAL_FIRST)
        return false;
    if (neutral == GSH_NEUTRAL_LOWEST)
        write_lowest(to, array);
    else
        gsh_host_casts_run(to, array, 0, &value, GSH_INT64, 0, 1);
    return true;
}

static void init(struct reduction *work, const struct gsh_launch *launch)
{
    const struct gsh_reduction_info *info = gsh_reduction_info(launch->reduction);
    work->launch = launch;
    work->array = gsh_host_loops_dtype(launch->loop);
    work->size = (int64_t)gsh_dtype_size(work->array);
    work->loop = gsh_host_loops_find(info->combine, launch->loop);
    work->kept = launch->ndim - launch->nreduce;
    work->reduced = product(launch->shape + work->kept, launch->nreduce);
    work->cascade.count = 0;
    work->begins = write_neutral(work->filler, info->neutral, work->array);
    memcpy(work->beginning, work->filler, sizeof work->beginning);
    if (launch->has_initial) {
        gsh_host_casts_load(work->beginning, launch->loop, &launch->initial, launch->loop, 0, 1);
        if (!work->begins)
            memcpy(work->filler, work->beginning, sizeof work->filler);
        work->begins = true;
    }
    work->watches = gsh_host_watch_begin(&work->watch, &launch->errors, info->combine, launch->loop,
                                         launch->loop == GSH_FLOAT16);
}

static void reduce(const struct gsh_launch *launch)
{
    struct reduction work; /* large: only what comes before the buffers is set */
    init(&work, launch);
    bool columns = prefers_columns(&work);
    int64_t most = columns ? COLUMN_BYTES / work.size : 1;
    int64_t outputs = product(launch->shape, work.kept);
    struct gsh_host_walk walk = gsh_host_walk_begin(launch, 0, work.kept);
    for (int64_t done = 0; done < outputs; done += work.width) {
        work.width = GSH_MIN(gsh_host_walk_left(&walk), most);
        reduce_outputs(&work, columns, &walk);
        gsh_host_walk_step(&walk, work.width);
    }
}

void gsh_host_reduce_run(const struct gsh_launch *launch)
{
    if (gsh_reduction_info(launch->reduction)->result == GSH_RESULT_INDEX)
        gsh_host_arg_run(launch);
    else
        reduce(launch);
}
