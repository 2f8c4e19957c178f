/* SPDX-License-Identifier: Apache-2.0
 *
 * Visits the elements of a REDUCE in the order of host_tree.h, by rows or by columns.
 */
#include "host_reduce.h"

#include "host_arg.h"
#include "host_casts.h"
#include "host_tree.h"
#include "host_walk.h"

#include <string.h>

struct reduction {
    const struct gsh_launch *launch;
    int kept;        /* dimensions kept */
    int64_t reduced; /* elements joined into one output */
    bool mask[GSH_HOST_TREE_COLUMN_BYTES];
    struct gsh_host_tree tree;
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

/* `n` inputs at the walk's position, `stride` apart, as accumulators: in place if they are accumulators already,
 * else gathered at `to`. Their masks, from `masked` on. */
static const char *gather(struct reduction *work, const struct gsh_host_walk *walk, int dim,
                          char *to, bool *masked, int64_t n)
{
    const struct gsh_launch *launch = work->launch;
    const struct gsh_host_tree *tree = &work->tree;
    enum gsh_dtype dtype = launch->operands[0].dtype;
    int64_t stride = dim >= 0 ? launch->strides[0][dim] : 0;
    if (launch->has_mask)
        gsh_host_casts_run(masked, GSH_BOOL, 1, walk->address[2], GSH_BOOL,
                           dim >= 0 ? launch->strides[2][dim] : 0, n);
    if (dtype == launch->loop && tree->array == launch->loop && stride == tree->size)
        return walk->address[0];
    gsh_host_casts_load(to, launch->loop, walk->address[0], dtype, stride, n);
    return to;
}

/* The next `n` elements as accumulators. */
static const char *next_values(struct reduction *work, struct gsh_host_walk *walk, int64_t n)
{
    char *row = work->tree.row.bytes;
    const char *values = row;
    int dim = walk->end > walk->first ? walk->end - 1 : -1;
    for (int64_t done = 0; done < n;) {
        int64_t count = GSH_MIN(n - done, gsh_host_walk_left(walk));
        char *to = row + done * work->tree.size;
        const char *found = gather(work, walk, dim, to, work->mask + done, count);
        if (count == n)
            values = found;
        else if (found != to)
            memcpy(to, found, (size_t)(count * work->tree.size));
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
    for (int64_t done = 0; done < work->reduced; done += GSH_HOST_TREE_ROW_BLOCK) {
        int64_t n = GSH_MIN(work->reduced - done, GSH_HOST_TREE_ROW_BLOCK);
        const char *values = next_values(work, &walk, n);
        gsh_host_tree_push_row(&work->tree, values, work->mask, n);
    }
}

static void reduce_columns(struct reduction *work, const struct gsh_host_walk *outputs)
{
    struct gsh_host_walk walk = walk_reduced(work, outputs);
    for (int64_t done = 0; done < work->reduced; done++, gsh_host_walk_step(&walk, 1)) {
        const void *values =
            gather(work, &walk, work->kept - 1, work->tree.row.bytes, work->mask, work->tree.width);
        gsh_host_tree_push_column(&work->tree, values, work->mask);
    }
}

/* By columns where neighbouring outputs share cache lines of the input, or have too few elements each for a block. */
bool gsh_host_reduce_prefers_columns(const struct gsh_launch *launch)
{
    int kept = launch->ndim - launch->nreduce;
    if (kept == 0 || launch->shape[kept - 1] < 8)
        return false;
    int64_t reduced_stride = launch->nreduce > 0 ? launch->strides[0][launch->ndim - 1] : 0;
    return product(launch->shape + kept, launch->nreduce) <= GSH_HOST_TREE_COLUMN_BLOCK ||
           gsh_launch_step(launch->strides[0][kept - 1]) < gsh_launch_step(reduced_stride);
}

static void reduce(const struct gsh_launch *launch)
{
    struct reduction work; /* large: only what comes before the buffers is set */
    struct gsh_host_tree_kind kind = {.reduction = launch->reduction,
                                      .loop = launch->loop,
                                      .has_mask = launch->has_mask,
                                      .has_initial = launch->has_initial,
                                      .initial = launch->initial,
                                      .errors = launch->errors};
    work.launch = launch;
    work.kept = launch->ndim - launch->nreduce;
    work.reduced = product(launch->shape + work.kept, launch->nreduce);
    gsh_host_tree_init(&work.tree, &kind);
    bool columns = gsh_host_reduce_prefers_columns(launch);
    int64_t most = columns ? GSH_HOST_TREE_COLUMN_BYTES / work.tree.size : 1;
    int64_t outputs = product(launch->shape, work.kept), width;
    struct gsh_host_walk walk = gsh_host_walk_begin(launch, 0, work.kept);
    for (int64_t done = 0; done < outputs; done += width, gsh_host_walk_step(&walk, width)) {
        width = GSH_MIN(gsh_host_walk_left(&walk), most);
        gsh_host_tree_begin(&work.tree, width);
        if (columns)
            reduce_columns(&work, &walk);
        else
            reduce_rows(&work, &walk);
        gsh_host_tree_finish(&work.tree, walk.address[1], launch->operands[1].dtype,
                             columns ? launch->strides[1][work.kept - 1] : 0);
    }
}

void gsh_host_reduce_run(const struct gsh_launch *launch)
{
    if (gsh_reduction_info(launch->reduction)->result == GSH_RESULT_INDEX)
        gsh_host_arg_run(launch);
    else
        reduce(launch);
}
