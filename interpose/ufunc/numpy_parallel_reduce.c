/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy's pairwise summation (loops_utils.h.src) halves the input while it has more than 128 elements; the left half is cut to a
 * multiple of 8. The accumulator is added at the end. A part begins with -0.0, which changes no sum.
 *
 * Maxima and minima of floats are computed again by one core where the result is a zero or NaN: which zero or NaN it is depends on
 * the order.
 */
#include "numpy_parallel_reduce.h"

#include "cost_model.h"
#include "numpy_parallel.h"
#include "parallel_loop.h"

#include <string.h>

enum { LEAF_MOST = 64, LEAST_HALVED = 128, LEFT_MULTIPLE = 8, PROBE = 600 };

struct tree {
    const struct gsh_numpy_loop *loop;
    const char *first; /* address of the first element */
    int64_t count, step;
    unsigned depth; /* 2^depth parts */
    union gsh_scalar results[LEAF_MOST];
};

/* ---- which operations ---- */

static bool is_float(const struct gsh_numpy_loop *loop)
{
    return loop->dtype == GSH_FLOAT32 || loop->dtype == GSH_FLOAT64;
}

static bool is_integer(const struct gsh_numpy_loop *loop)
{
    return gsh_dtype_kind(loop->dtype) == 'i' || gsh_dtype_kind(loop->dtype) == 'u';
}

static bool is_extremum(const struct gsh_numpy_loop *loop)
{
    return loop->op == GSH_OP_MAXIMUM || loop->op == GSH_OP_MINIMUM;
}

static bool is_float_sum(const struct gsh_numpy_loop *loop)
{
    return is_float(loop) && loop->op == GSH_OP_ADD;
}

static bool has_trees(const struct gsh_numpy_loop *loop)
{
    bool is_known = loop->op == GSH_OP_ADD || is_extremum(loop);
    return is_known && (is_float(loop) || is_integer(loop));
}

/* The form in which NumPy reduces: the output is the accumulator and the first input. */
static bool is_reduction(const struct gsh_numpy_loop *loop, char **args, const int64_t *steps)
{
    return loop->count == 3 && args[0] == args[2] && steps[0] == 0 && steps[2] == 0 &&
           steps[1] != 0;
}

/* ---- parts ---- */

/* The part of this number: which half at each level, the first level in the highest bit. */
static void find_part(const struct tree *tree, unsigned number, int64_t *begin, int64_t *count)
{
    *begin = 0;
    *count = tree->count;
    for (unsigned level = tree->depth; level-- > 0;) {
        int64_t left = *count / 2;
        left -= left % LEFT_MULTIPLE;
        bool is_right = (number >> level & 1) != 0;
        *begin += is_right ? left : 0;
        *count = is_right ? *count - left : left;
    }
}

static void reduce(const struct gsh_numpy_loop *loop, union gsh_scalar *accumulator,
                   const char *first, int64_t count, int64_t step)
{
    char *args[] = {(char *)accumulator, (char *)(uintptr_t)first, (char *)accumulator};
    int64_t steps[] = {0, step, 0};
    loop->function(args, &count, steps, loop->data);
}

static void compute_part(void *context, int64_t number)
{
    struct tree *tree = context;
    int64_t begin, count;
    union gsh_scalar *result = &tree->results[number];
    find_part(tree, (unsigned)number, &begin, &count);
    const char *first = tree->first + begin * tree->step;
    if (!is_float_sum(tree->loop)) {
        memcpy(result, first, gsh_dtype_size(tree->loop->dtype));
        reduce(tree->loop, result, first + tree->step, count - 1, tree->step);
        return;
    }
    if (tree->loop->dtype == GSH_FLOAT64)
        result->f64 = -0.0;
    else
        result->f32 = -0.0F;
    reduce(tree->loop, result, first, count, tree->step);
}

/* a = a joined with b. The steps differ from a reduction's. */
static void join(const struct gsh_numpy_loop *loop, void *a, const union gsh_scalar *b)
{
    int64_t size = (int64_t)gsh_dtype_size(loop->dtype), once = 1, steps[] = {size, size, size};
    char *args[] = {a, (char *)(uintptr_t)b, a};
    loop->function(args, &once, steps, loop->data);
}

/* Neighbours are joined level by level; the whole is then joined with the accumulator. */
static void join_parts(struct tree *tree, void *accumulator)
{
    for (unsigned width = 1; width < 1U << tree->depth; width *= 2)
        for (unsigned k = 0; k < 1U << tree->depth; k += 2 * width)
            join(tree->loop, &tree->results[k], &tree->results[k + width]);
    join(tree->loop, accumulator, &tree->results[0]);
}

/* ---- whether NumPy sums by this tree ---- */

static void fill_probe(void *numbers, enum gsh_dtype dtype)
{
    uint32_t state = 1;
    for (int k = 0; k < PROBE; k++) {
        state = state * 1664525U + 1013904223U;
        if (dtype == GSH_FLOAT64)
            ((double *)numbers)[k] = (double)state / 3;
        else
            ((float *)numbers)[k] = (float)state / 3;
    }
}

/* Sums some numbers in both ways. */
static bool agrees(const struct gsh_numpy_loop *loop)
{
    double numbers[PROBE];
    union gsh_scalar mine = {.words = {0}}, numpys = {.words = {0}};
    struct tree tree = {.loop = loop, .first = (const char *)numbers, .count = PROBE, .depth = 2};
    tree.step = (int64_t)gsh_dtype_size(loop->dtype);
    fill_probe(numbers, loop->dtype);
    for (unsigned k = 0; k < 1U << tree.depth; k++)
        compute_part(&tree, k);
    join_parts(&tree, &mine);
    reduce(loop, &numpys, tree.first, PROBE, tree.step);
    return memcmp(&mine, &numpys, gsh_dtype_size(loop->dtype)) == 0;
}

static bool sums_by_tree(const struct gsh_numpy_loop *loop)
{
    enum { UNKNOWN, YES, NO };
    static _Atomic int known[2];
    _Atomic int *state = &known[loop->dtype == GSH_FLOAT64];
    if (*state == UNKNOWN)
        *state = agrees(loop) ? YES : NO;
    return *state == YES;
}

/* ---- the whole ---- */

static bool is_zero_or_nan(const struct gsh_numpy_loop *loop, const void *value)
{
    double number = 0;
    float narrow = 0;
    if (loop->dtype == GSH_FLOAT64)
        memcpy(&number, value, sizeof(number));
    else
        memcpy(&narrow, value, sizeof(narrow));
    number = loop->dtype == GSH_FLOAT64 ? number : (double)narrow;
    return !(number < 0) && !(number > 0);
}

/* 2^depth parts, enough for the threads and none too short. */
static unsigned find_depth(int64_t count, size_t bytes, unsigned threads)
{
    int64_t piece = gsh_parallel_loop_piece(count, bytes, threads);
    unsigned depth = 0;
    while (2U << depth <= LEAF_MOST && count >> (depth + 1) >= GSH_MAX(piece, LEAST_HALVED))
        depth++;
    return depth;
}

bool gsh_numpy_parallel_reduce_run(const struct gsh_numpy_loop *loop, char **args, int64_t count,
                                   const int64_t *steps)
{
    if (!has_trees(loop) || !is_reduction(loop, args, steps))
        return false;
    size_t size = gsh_dtype_size(loop->dtype);
    double seconds =
        gsh_parallel_loop_seconds((double)count * (double)size, (double)count, GSH_COST_REDUCE_NS);
    unsigned wanted = gsh_numpy_parallel_threads(seconds);
    union gsh_scalar before = {.words = {0}};
    struct tree tree = {.loop = loop, .first = args[1], .count = count, .step = steps[1]};
    tree.depth = wanted > 1 ? find_depth(count, size, wanted) : 0;
    if (tree.depth == 0 || (is_float_sum(loop) && !sums_by_tree(loop)))
        return false;
    memcpy(&before, args[0], size);
    if (!gsh_numpy_parallel_do(compute_part, &tree, INT64_C(1) << tree.depth, seconds))
        return false;
    join_parts(&tree, args[0]);
    if (!is_float(loop) || !is_extremum(loop) || !is_zero_or_nan(loop, args[0]))
        return true;
    memcpy(args[0], &before, size);
    return false;
}
