/* SPDX-License-Identifier: Apache-2.0
 *
 * The elements are computed in the order of the sinks' trees (host_tree.h), which is that of the launch that each
 * sink would be by itself. Sinks of one order share a pass. Each further order takes another pass, which computes the
 * elements again. The last pass stores.
 *
 * A tile is a set of outputs computed side by side. Threads take tiles. Where there are few tiles, threads first take
 * parts of tiles, of 2^level blocks each. The thread that later takes the tile adds the parts to its tree.
 */
#include "host_group_sinks.h"

#include "host_group_block.h"
#include "host_reduce.h"
#include "host_threads.h"
#include "host_tree.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SHARED 65536 /* fewer elements are computed by the calling thread */
#define LEAST_PART 16384   /* elements of a part */
#define MOST_PARTS 1024    /* of all tiles */
#define TILES_PER_THREAD 4 /* with fewer tiles, tiles are cut into parts */

/* The order in which elements are visited; compared bytewise. */
struct order {
    int columns;            /* true: by columns; not a bool, which would leave padding */
    int inner;              /* columns: the kept dimensions along which outputs lie side by side */
    int dims[GSH_MAX_DIMS]; /* the group's dimensions: kept ones, then reduced ones */
};

struct pass {
    struct gsh_group group; /* its dimensions are in the order of the blocks */
    int outer;              /* outer dimensions of the group, kept ones before the reduced ones */
    struct gsh_host_group_program program;
    struct order order;
    unsigned sinks;                      /* bit set */
    int64_t width, tiles_per_row, tiles; /* outputs of a tile, at most; tiles of the inner row */
    int64_t reduced, block, parts;       /* elements of an output, of a block; parts of a tile */
    int level;                           /* a part has 2^level blocks */
    bool is_shared;                      /* runs in several threads */
    char *shared, *own;                  /* buffers */
    struct gsh_host_tree *trees;         /* for each thread and sink */
    struct gsh_host_tree_part *joined;   /* for each part and sink */
};

struct thread {
    struct pass *pass;
    struct gsh_host_tree *trees;
    struct gsh_host_group_worker worker; /* large: only what the program uses is set */
};

static struct gsh_host_tree_kind kind_of(const struct gsh_group_sink *sink)
{
    return (struct gsh_host_tree_kind){.reduction = sink->reduction,
                                       .loop = sink->loop,
                                       .has_mask = sink->mask.source != GSH_FROM_NOTHING,
                                       .has_initial = sink->has_initial,
                                       .initial = sink->initial,
                                       .errors = sink->errors};
}

bool gsh_host_group_sinks_supports(const struct gsh_group *group)
{
    for (unsigned k = 0; k < group->sink_count; k++) {
        const struct gsh_group_sink *sink = &group->sinks[k];
        const struct gsh_reduction_info *info = gsh_reduction_info(sink->reduction);
        bool may_be_empty = sink->mask.source != GSH_FROM_NOTHING || gsh_group_elements(group) == 0;
        if (!gsh_reduction_may_sink(sink->reduction, sink->loop) ||
            (info->neutral == GSH_NEUTRAL_FIRST && !sink->has_initial && may_be_empty))
            return false;
    }
    return true;
}

/* The order in which collapsing puts the group's dimensions. An added operand keeps dimensions from merging, and
 * equal ones in their order. */
static void find_dims(const struct gsh_group *group, struct gsh_launch launch, int *dims)
{
    const int64_t base = INT64_C(1) << 40;
    unsigned tag = gsh_launch_operands(&launch);
    if (launch.has_mask)
        launch.nout++;
    else
        launch.has_mask = true;
    for (int d = 0; d < group->ndim; d++)
        launch.strides[tag][d] = base - d;
    gsh_launch_collapse(&launch);
    for (int d = 0; d < group->ndim; d++)
        dims[d] = (int)(base - launch.strides[tag][d]);
}

static void find_order(const struct gsh_group *group, const struct gsh_group_sink *sink,
                       struct order *order)
{
    struct gsh_launch launch = gsh_group_sink_launch(group, sink);
    memset(order, 0, sizeof *order);
    for (int d = 0; d < group->ndim; d++)
        order->dims[d] = d;
    if (gsh_group_elements(group) == 0)
        return;
    find_dims(group, launch, order->dims);
    gsh_launch_collapse(&launch);
    order->columns = gsh_host_reduce_prefers_columns(&launch);
    int kept = group->ndim - group->nreduce;
    int64_t row = 1, merged = order->columns ? launch.shape[launch.ndim - launch.nreduce - 1] : 1;
    while (row < merged)
        row *= group->shape[order->dims[kept - ++order->inner]];
}

static void move_strides(int64_t *to, const int64_t *from, const int *dims, int ndim)
{
    for (int d = 0; d < ndim; d++)
        to[d] = from[dims[d]];
}

/* The group with its dimensions in the order of blocks: kept, reduced, kept side by side. */
static void permute(struct pass *pass, const struct gsh_group *from)
{
    struct gsh_group *group = &pass->group;
    const struct order *order = &pass->order;
    int kept = from->ndim - from->nreduce, outer = kept - order->inner, dims[GSH_MAX_DIMS];
    for (int d = 0; d < from->ndim; d++) {
        int place = d < outer ? d : d < kept ? d + from->nreduce : d - order->inner;
        dims[place] = order->dims[d];
    }
    *group = *from;
    move_strides(group->shape, from->shape, dims, from->ndim);
    for (unsigned k = 0; k < from->array_count; k++)
        move_strides(group->arrays[k].strides, from->arrays[k].strides, dims, from->ndim);
    pass->outer = outer;
}

static int64_t product(const int64_t *factors, int count)
{
    int64_t result = 1;
    for (int d = 0; d < count; d++)
        result *= factors[d];
    return result;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Sets the tiles, and their parts where there are too few tiles for the threads. */
static void cut(struct pass *pass)
{
    const struct gsh_group *group = &pass->group;
    int inner = pass->order.inner;
    int64_t threads = gsh_host_threads_count();
    int64_t row = product(group->shape + group->ndim - inner, inner), size = 1;
    for (unsigned k = 0; k < group->sink_count; k++)
        if ((pass->sinks >> k & 1) != 0)
            size =
                GSH_MAX(size, (int64_t)gsh_dtype_size(gsh_host_loops_dtype(group->sinks[k].loop)));
    int64_t most = GSH_MIN(GSH_HOST_TREE_COLUMN_BYTES / size, GSH_HOST_BLOCK);
    pass->reduced = product(group->shape + pass->outer, group->nreduce);
    pass->width = pass->order.columns ? GSH_MIN(most, row) : 1;
    pass->tiles_per_row = divide_up(row, pass->width);
    pass->tiles = product(group->shape, pass->outer) * pass->tiles_per_row;
    pass->block = pass->order.columns ? GSH_HOST_TREE_COLUMN_BLOCK : GSH_HOST_TREE_ROW_BLOCK;
    pass->parts = 0;
    pass->level = 0;
    pass->is_shared = threads > 1 && gsh_group_elements(group) >= LEAST_SHARED;
    if (!pass->is_shared || pass->tiles >= threads * TILES_PER_THREAD)
        return;
    while ((pass->block << pass->level) * pass->width < LEAST_PART ||
           (pass->reduced / pass->block >> pass->level) * pass->tiles > MOST_PARTS)
        pass->level++;
    pass->parts = pass->reduced / pass->block >> pass->level;
}

static void find_index(const int64_t *shape, int first, int end, int64_t element, int64_t *index)
{
    for (int d = end - 1; d >= first; d--) {
        index[d] = element % shape[d];
        element /= shape[d];
    }
}

/* Begins the tile in the trees and sets `index` to its first element; returns its outputs. */
static int64_t begin_tile(const struct thread *thread, int64_t tile, int64_t *index)
{
    const struct pass *pass = thread->pass;
    const struct gsh_group *group = &pass->group;
    int inner = group->ndim - pass->order.inner;
    int64_t row = product(group->shape + inner, pass->order.inner);
    int64_t start = tile % pass->tiles_per_row * pass->width;
    int64_t width = GSH_MIN(pass->width, row - start);
    memset(index, 0, GSH_MAX_DIMS * sizeof *index);
    find_index(group->shape, 0, pass->outer, tile / pass->tiles_per_row, index);
    find_index(group->shape, inner, group->ndim, start, index);
    for (unsigned k = 0; k < group->sink_count; k++)
        gsh_host_tree_begin(&thread->trees[k], width);
    return width;
}

/* Computes elements [from, end) of the tile's reduction and pushes them. `from` is the first element of a block. */
static void push_elements(struct thread *thread, int64_t *index, int64_t width, int64_t from,
                          int64_t end)
{
    const struct pass *pass = thread->pass;
    const struct gsh_group *group = &pass->group;
    struct gsh_host_group_worker *worker = &thread->worker;
    bool columns = pass->order.columns;
    for (int64_t n; from < end; from += n) {
        n = columns ? 1 : GSH_MIN(end - from, pass->block);
        find_index(group->shape, pass->outer, pass->outer + group->nreduce, from, index);
        gsh_host_group_block_run(worker, index, columns ? width : n);
        for (unsigned k = 0; k < group->sink_count; k++) {
            if ((pass->sinks >> k & 1) == 0)
                continue;
            uint16_t mask = pass->program.sink_mask[k];
            const void *masks = mask == GSH_HOST_GROUP_NO_SLOT ? NULL : worker->slots[mask];
            const void *values = worker->slots[pass->program.sink_in[k]];
            if (columns)
                gsh_host_tree_push_column(&thread->trees[k], values, masks);
            else
                gsh_host_tree_push_row(&thread->trees[k], values, masks, n);
        }
    }
}

static void begin_thread(struct thread *thread, struct pass *pass, unsigned number)
{
    const struct gsh_group *group = &pass->group;
    thread->pass = pass;
    thread->trees = pass->trees + (size_t)number * group->sink_count;
    gsh_host_group_block_begin(&thread->worker, &pass->program, pass->shared,
                               pass->own + number * gsh_host_group_block_own(&pass->program));
    for (unsigned k = 0; k < group->sink_count; k++) {
        struct gsh_host_tree_kind kind = kind_of(&group->sinks[k]);
        gsh_host_tree_init(&thread->trees[k], &kind);
    }
}

static void run_parts(void *context, unsigned number, struct gsh_host_pieces *pieces)
{
    struct pass *pass = context;
    struct thread thread;
    int64_t index[GSH_MAX_DIMS], elements = pass->block << pass->level;
    begin_thread(&thread, pass, number);
    for (int64_t piece; (piece = gsh_host_threads_take(pieces, number)) >= 0;) {
        int64_t width = begin_tile(&thread, piece / pass->parts, index);
        int64_t from = piece % pass->parts * elements;
        push_elements(&thread, index, width, from, from + elements);
        for (unsigned k = 0; k < pass->group.sink_count; k++)
            if ((pass->sinks >> k & 1) != 0)
                gsh_host_tree_take(&thread.trees[k], pass->level,
                                   &pass->joined[piece * pass->group.sink_count + k]);
    }
}

static void finish_tile(struct thread *thread, unsigned k, const int64_t *index)
{
    const struct gsh_group *group = &thread->pass->group;
    const struct gsh_group_array *array = &group->arrays[group->sinks[k].array];
    char *out = (char *)(uintptr_t)array->address;
    for (int d = 0; d < group->ndim; d++)
        out += index[d] * array->strides[d];
    gsh_host_tree_finish(&thread->trees[k], out, array->dtype,
                         thread->pass->order.columns ? array->strides[group->ndim - 1] : 0);
}

static void run_tiles(void *context, unsigned number, struct gsh_host_pieces *pieces)
{
    struct pass *pass = context;
    struct thread thread;
    unsigned sinks = pass->group.sink_count;
    int64_t index[GSH_MAX_DIMS];
    begin_thread(&thread, pass, number);
    for (int64_t tile; (tile = gsh_host_threads_take(pieces, number)) >= 0;) {
        int64_t width = begin_tile(&thread, tile, index);
        for (int64_t part = tile * pass->parts; part < (tile + 1) * pass->parts; part++)
            for (unsigned k = 0; k < sinks; k++)
                if ((pass->sinks >> k & 1) != 0)
                    gsh_host_tree_give(&thread.trees[k], pass->level,
                                       &pass->joined[part * sinks + k]);
        push_elements(&thread, index, width, pass->parts * (pass->block << pass->level),
                      pass->reduced);
        for (unsigned k = 0; k < sinks; k++)
            if ((pass->sinks >> k & 1) != 0)
                finish_tile(&thread, k, index);
    }
}

static void run_shares(struct pass *pass)
{
    struct gsh_host_group_worker filler;
    gsh_host_group_block_begin(&filler, &pass->program, pass->shared, pass->own);
    if (pass->reduced > 0)
        gsh_host_group_block_setup(&filler);
    if (!pass->is_shared) {
        gsh_host_threads_alone(run_tiles, pass, pass->tiles);
        return;
    }
    if (pass->parts > 0)
        gsh_host_threads_run(run_parts, pass, pass->tiles * pass->parts);
    gsh_host_threads_run(run_tiles, pass, pass->tiles);
}

static enum gsh_status run_pass(struct pass *pass, const struct gsh_group *group, bool is_last)
{
    permute(pass, group);
    cut(pass);
    gsh_host_group_program_make(&pass->program, &pass->group,
                                group->ndim -
                                    (pass->order.columns ? pass->order.inner : group->nreduce),
                                pass->sinks, is_last);
    size_t threads = pass->is_shared ? gsh_host_threads_count() : 1;
    size_t trees = threads * group->sink_count * sizeof(struct gsh_host_tree);
    size_t joined =
        (size_t)(pass->tiles * pass->parts) * group->sink_count * sizeof(struct gsh_host_tree_part);
    size_t shared = gsh_host_group_block_shared(&pass->program);
    size_t own = threads * gsh_host_group_block_own(&pass->program);
    char *memory = aligned_alloc(64, gsh_round_up(trees + joined + shared + own, 64));
    if (memory == NULL)
        return GSH_FAILED;
    pass->trees = (void *)memory;
    pass->joined = (void *)(memory + trees);
    pass->shared = memory + trees + joined;
    pass->own = pass->shared + shared;
    run_shares(pass);
    free(memory);
    return GSH_OK;
}

enum gsh_status gsh_host_group_sinks_run(const struct gsh_group *group)
{
    struct gsh_group collapsed = *group;
    struct order orders[GSH_GROUP_SINKS];
    struct pass pass; /* large */
    enum gsh_status status = GSH_OK;
    gsh_group_collapse(&collapsed);
    for (unsigned k = 0; k < group->sink_count; k++)
        find_order(&collapsed, &collapsed.sinks[k], &orders[k]);
    for (unsigned left = (1u << group->sink_count) - 1; left != 0 && status == GSH_OK;
         left &= ~pass.sinks) {
        pass.order = orders[__builtin_ctz(left)];
        pass.sinks = 0;
        for (unsigned k = 0; k < group->sink_count; k++)
            if ((left >> k & 1) != 0 && memcmp(&orders[k], &pass.order, sizeof pass.order) == 0)
                pass.sinks |= 1u << k;
        status = run_pass(&pass, &collapsed, pass.sinks == left);
    }
    return status;
}
