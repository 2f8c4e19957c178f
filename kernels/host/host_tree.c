/* SPDX-License-Identifier: Apache-2.0
 *
 * See host_tree.h.
 */
#include "host_tree.h"

#include "host_casts.h"

#include <math.h>
#include <string.h>

/* out = a joined with b, n accumulators each; out may be a or b. */
static void join(struct gsh_host_tree *tree, void *out, const void *a, const void *b, int64_t n)
{
    bool looks = tree->checks_errors && tree->check.wanted != 0;
    struct gsh_host_block block = {.in = {a, b}, .out = {looks ? tree->joined.bytes : out}, .n = n};
    tree->loop(&block);
    if (!looks)
        return;
    for (int64_t done = 0; done < n; done += GSH_HOST_BLOCK) {
        int64_t skipped = done * tree->size;
        struct gsh_host_block part = {.in = {(const char *)a + skipped, (const char *)b + skipped},
                                      .out = {tree->joined.bytes + skipped},
                                      .n = GSH_MIN(n - done, GSH_HOST_BLOCK)};
        gsh_host_fp_check_block(&tree->check, &part);
    }
    memcpy(out, tree->joined.bytes, (size_t)(n * tree->size));
}

/* Adds the join of 2^level blocks. */
static void push(struct gsh_host_tree *tree, void *value, int level)
{
    int to = level;
    for (; (tree->count >> to & 1) != 0; to++)
        join(tree, value, tree->levels[to], value, tree->width);
    memcpy(tree->levels[to], value, (size_t)(tree->width * tree->size));
    tree->count += UINT64_C(1) << level;
}

/* Joins the remaining levels of the cascade, which holds at least one block, into `value`. */
static void join_levels(struct gsh_host_tree *tree, void *value)
{
    bool found = false;
    for (int level = 0; level < GSH_HOST_TREE_LEVELS && tree->count >> level != 0; level++) {
        if ((tree->count >> level & 1) == 0)
            continue;
        if (found)
            join(tree, value, tree->levels[level], value, tree->width);
        else
            memcpy(value, tree->levels[level], (size_t)(tree->width * tree->size));
        found = true;
    }
    tree->count = 0;
}

/* Joins `n` > 0 accumulators in halves; the result is in buffer[0]. `values` may be the buffer. */
static void fold(struct gsh_host_tree *tree, char *buffer, const char *values, int64_t n)
{
    int64_t size = tree->size;
    while (n > 1) {
        int64_t half = (n + 1) / 2;
        join(tree, buffer, values, values + half * size, n - half);
        if (n % 2 == 1 && values != buffer)
            memcpy(buffer + (half - 1) * size, values + (half - 1) * size, (size_t)size);
        values = buffer;
        n = half;
    }
    if (values != buffer)
        memcpy(buffer, values, (size_t)size);
}

/* The values, with the filler in place of those whose mask is false. They belong to one output, or each to its
 * own. */
static const void *fill_masked(struct gsh_host_tree *tree, const void *values, const char *mask,
                               int64_t n)
{
    if (!tree->kind.has_mask)
        return values;
    if (values != tree->row.bytes)
        memcpy(tree->row.bytes, values, (size_t)(n * tree->size));
    for (int64_t j = 0; j < n; j++) {
        if (mask[j] != 0)
            tree->has_element[tree->width == 1 ? 0 : j] = true;
        else
            memcpy(tree->row.bytes + j * tree->size, tree->filler, (size_t)tree->size);
    }
    return tree->row.bytes;
}

#define DEFINE_MULTIPLY(name, type)                                                                \
    static void name(type *total, const type *values, int64_t n)                                   \
    {                                                                                              \
        type product = *total;                                                                     \
        for (int64_t i = 0; i < n; i++)                                                            \
            product *= values[i];                                                                  \
        *total = product;                                                                          \
    }
DEFINE_MULTIPLY(multiply_floats, float)
DEFINE_MULTIPLY(multiply_doubles, double)

/* The class of part i of an accumulator: 0 a number, 1 infinite, 2 NaN. */
static int class_of(const struct gsh_host_tree *tree, const void *accumulator, int i)
{
    bool is_single = tree->array == GSH_FLOAT32 || tree->array == GSH_COMPLEX64;
    double part = is_single ? ((const float *)accumulator)[i] : ((const double *)accumulator)[i];
    return isnan(part) ? 2 : isinf(part) ? 1 : 0;
}

/* Whether a check of the joins between the two totals can find an error. */
static bool may_have_erred(const struct gsh_host_tree *tree, const void *before, const void *after)
{
    int parts = gsh_dtype_kind(tree->array) == 'c' ? 2 : 1;
    for (int i = 0; i < parts; i++)
        if (class_of(tree, after, i) > class_of(tree, before, i))
            return true;
    return false;
}

/* Joins n values to the output, one after the other. */
static void join_in_order(struct gsh_host_tree *tree, const char *values, int64_t n)
{
    char *total = tree->block;
    _Alignas(16) char before[16];
    memcpy(before, total, (size_t)tree->size);
    if (tree->array == GSH_FLOAT32)
        multiply_floats((void *)total, (const void *)values, n);
    else if (tree->array == GSH_FLOAT64)
        multiply_doubles((void *)total, (const void *)values, n);
    else
        for (int64_t i = 0; i < n; i++)
            tree->loop(&(struct gsh_host_block){
                .in = {total, values + i * tree->size}, .out = {total}, .n = 1});
    if (!tree->checks_errors || !may_have_erred(tree, before, total))
        return;
    memcpy(total, before, (size_t)tree->size);
    for (int64_t i = 0; i < n; i++)
        join(tree, total, total, values + i * tree->size, 1);
}

void gsh_host_tree_push_row(struct gsh_host_tree *tree, const void *values, const void *mask,
                            int64_t n)
{
    if (tree->is_ordered) {
        join_in_order(tree, fill_masked(tree, values, mask, n), n);
        return;
    }
    fold(tree, tree->row.bytes, fill_masked(tree, values, mask, n), n);
    push(tree, tree->row.bytes, 0);
}

static void end_block(struct gsh_host_tree *tree)
{
    if (tree->rows > 0)
        push(tree, tree->block, 0);
    tree->rows = 0;
}

void gsh_host_tree_push_column(struct gsh_host_tree *tree, const void *values, const void *mask)
{
    values = fill_masked(tree, values, mask, tree->width);
    if (tree->is_ordered)
        join(tree, tree->block, tree->block, values, tree->width);
    else if (tree->rows++ == 0)
        memcpy(tree->block, values, (size_t)(tree->width * tree->size));
    else
        join(tree, tree->block, tree->block, values, tree->width);
    if (tree->rows == GSH_HOST_TREE_COLUMN_BLOCK)
        end_block(tree);
}

void gsh_host_tree_take(struct gsh_host_tree *tree, int level, struct gsh_host_tree_part *part)
{
    end_block(tree);
    memcpy(part->values, tree->levels[level], (size_t)(tree->width * tree->size));
    if (tree->kind.has_mask)
        memcpy(part->has_element, tree->has_element, (size_t)tree->width);
}

void gsh_host_tree_give(struct gsh_host_tree *tree, int level, struct gsh_host_tree_part *part)
{
    push(tree, part->values, level);
    for (int64_t j = 0; tree->kind.has_mask && j < tree->width; j++)
        tree->has_element[j] = tree->has_element[j] || part->has_element[j];
}

/* A float16 result too large for its dtype is not the error of a single join. It is reported as that of the two
 * largest numbers: any row that can overflow so would overflow with them. */
static void check_rounding(struct gsh_host_tree *tree, const void *result)
{
    static const uint16_t largest[] = {0x7bff};
    for (unsigned k = 0; k < 2; k++)
        tree->check.samples[k] = (struct gsh_host_sample){largest, 0, GSH_FLOAT16, GSH_FLOAT16};
    tree->check.nin = 2;
    gsh_host_fp_check_cast(&tree->check, GSH_FLOAT16, result, GSH_FLOAT32, tree->size, tree->width);
}

/* The beginning of each output. */
static void write_beginning(struct gsh_host_tree *tree, char *to)
{
    gsh_host_casts_run(to, tree->array, tree->size, tree->beginning, tree->array, 0, tree->width);
}

/* Joins the beginning with each result, as NumPy does: a sum of -0.0 is 0.0. */
static void begin_outputs(struct gsh_host_tree *tree, char *result, bool is_empty)
{
    char *start = is_empty ? result : tree->row.bytes;
    write_beginning(tree, start);
    if (is_empty)
        return;
    join(tree, result, start, result, tree->width);
    for (int64_t j = 0; tree->kind.has_mask && j < tree->width; j++)
        if (!tree->has_element[j])
            memcpy(result + j * tree->size, tree->beginning, (size_t)tree->size);
}

void gsh_host_tree_begin(struct gsh_host_tree *tree, int64_t width)
{
    tree->width = width;
    tree->count = 0;
    tree->rows = 0;
    if (tree->kind.has_mask)
        memset(tree->has_element, 0, (size_t)width);
    if (tree->is_ordered)
        write_beginning(tree, tree->block);
}

void gsh_host_tree_finish(struct gsh_host_tree *tree, void *out, enum gsh_dtype dtype,
                          int64_t stride)
{
    char *result = tree->block;
    end_block(tree);
    bool is_empty = tree->count == 0;
    if (!is_empty)
        join_levels(tree, result);
    if (tree->begins && !tree->is_ordered)
        begin_outputs(tree, result, is_empty);
    if (tree->checks_errors && tree->kind.loop == GSH_FLOAT16)
        check_rounding(tree, result);
    gsh_host_casts_store(out, dtype, stride, result, tree->kind.loop, tree->width);
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

void gsh_host_tree_init(struct gsh_host_tree *tree, const struct gsh_host_tree_kind *kind)
{
    const struct gsh_reduction_info *info = gsh_reduction_info(kind->reduction);
    tree->kind = *kind;
    tree->array = gsh_host_loops_dtype(kind->loop);
    tree->size = (int64_t)gsh_dtype_size(tree->array);
    tree->loop = gsh_host_loops_find(info->combine, kind->loop);
    tree->is_ordered = gsh_reduction_is_ordered(kind->reduction, kind->loop);
    tree->begins = write_neutral(tree->filler, info->neutral, tree->array);
    memcpy(tree->beginning, tree->filler, sizeof tree->beginning);
    if (kind->has_initial) {
        gsh_host_casts_load(tree->beginning, kind->loop, &kind->initial, kind->loop, 0, 1);
        if (!tree->begins)
            memcpy(tree->filler, tree->beginning, sizeof tree->filler);
        tree->begins = true;
    }
    tree->checks_errors = gsh_host_fp_check_begin(&tree->check, &tree->kind.errors, info->combine,
                                                  kind->loop, kind->loop == GSH_FLOAT16);
}
