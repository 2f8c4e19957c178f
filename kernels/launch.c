/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic on a launch's shape and strides; see launch.h. The iteration space of a REDUCE is two:
 * the kept dimensions 0 .. ndim - nreduce - 1 and the reduced ones behind them; nothing moves
 * between the two.
 */
#include "launch.h"

int64_t gsh_launch_elements(const struct gsh_launch *launch)
{
    int64_t elements = 1;
    for (int d = 0; d < launch->ndim; d++)
        elements *= launch->shape[d];
    return elements;
}

int64_t gsh_launch_output_elements(const struct gsh_launch *launch)
{
    int64_t elements = 1;
    if (launch->kind == GSH_LAUNCH_GEMM)
        return launch->gemm.m * launch->gemm.n;
    for (int d = 0; d < launch->ndim - launch->nreduce; d++)
        elements *= launch->shape[d];
    return elements;
}

enum gsh_dtype gsh_launch_result_dtype(const struct gsh_launch *launch, unsigned k)
{
    switch (launch->kind) {
    case GSH_LAUNCH_ELEMENTWISE:
        return gsh_op_output_dtype(launch->op, launch->loop, k);
    case GSH_LAUNCH_REDUCE:
        return gsh_reduction_output_dtype(launch->reduction, launch->loop);
    case GSH_LAUNCH_SCAN:
    case GSH_LAUNCH_TAKE:
    case GSH_LAUNCH_PUT:
    case GSH_LAUNCH_COMPRESS:
    case GSH_LAUNCH_EXPAND:
    case GSH_LAUNCH_GEMM:
        break;
    }
    return launch->loop;
}

static void move_dim(struct gsh_launch *launch, int to, int from)
{
    launch->shape[to] = launch->shape[from];
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        launch->strides[k][to] = launch->strides[k][from];
}

/* Drops extents of 1 among the dimensions [first, *end) by moving those behind them down; *end
 * follows. The dimensions from *end on are left to the caller. */
static void drop_ones(struct gsh_launch *launch, int first, int *end)
{
    int kept = first;
    for (int d = first; d < *end; d++)
        if (launch->shape[d] != 1)
            move_dim(launch, kept++, d);
    *end = kept;
}

bool gsh_launch_steps_further(const struct gsh_launch *launch, int d, int e, bool reduced)
{
    unsigned nin = launch->nin, count = gsh_launch_operands(launch);
    for (unsigned j = reduced ? 1 : 0; j <= count; j++) {
        unsigned k = j == 0 ? nin : j - 1;
        int64_t of_d = gsh_launch_step(launch->strides[k][d]),
                of_e = gsh_launch_step(launch->strides[k][e]);
        if (of_d != of_e)
            return of_d > of_e;
    }
    return false;
}

static void swap_dims(struct gsh_launch *launch, int d, int e)
{
    int64_t extent = launch->shape[d];
    launch->shape[d] = launch->shape[e];
    launch->shape[e] = extent;
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++) {
        int64_t stride = launch->strides[k][d];
        launch->strides[k][d] = launch->strides[k][e];
        launch->strides[k][e] = stride;
    }
}

static void sort_dims(struct gsh_launch *launch, int first, int end, bool reduced)
{
    for (int d = first + 1; d < end; d++)
        for (int e = d; e > first && gsh_launch_steps_further(launch, e, e - 1, reduced); e--)
            swap_dims(launch, e, e - 1);
}

static bool steps_as_one(const struct gsh_launch *launch, int outer, int inner)
{
    for (unsigned k = 0; k < gsh_launch_operands(launch); k++)
        if (launch->strides[k][outer] != launch->strides[k][inner] * launch->shape[inner])
            return false;
    return true;
}

static void merge_dims(struct gsh_launch *launch, int first, int *end)
{
    int last = first;
    for (int d = first + 1; d < *end; d++) {
        if (steps_as_one(launch, last, d)) {
            int64_t extent = launch->shape[last] * launch->shape[d];
            move_dim(launch, last, d);
            launch->shape[last] = extent;
        } else {
            move_dim(launch, ++last, d);
        }
    }
    if (*end > first)
        *end = last + 1;
}

/* Whether the order of the dimensions has a meaning. */
static bool has_fixed_order(const struct gsh_launch *launch, bool reduced)
{
    if (launch->kind == GSH_LAUNCH_ELEMENTWISE)
        return (gsh_op_info(launch->op)->flags & GSH_USES_INDEX) != 0;
    if (launch->kind == GSH_LAUNCH_REDUCE)
        return reduced && gsh_reduction_info(launch->reduction)->result == GSH_RESULT_INDEX;
    return launch->kind == GSH_LAUNCH_PUT || launch->kind == GSH_LAUNCH_COMPRESS ||
           launch->kind == GSH_LAUNCH_EXPAND;
}

/* Collapses the dimensions [first, end); returns the new end. */
static int collapse_part(struct gsh_launch *launch, int first, int end, bool reduced)
{
    for (int d = first; d < end; d++)
        if (launch->shape[d] == 0) { /* empty: one dimension of extent 0 says it all */
            move_dim(launch, first, d);
            return first + 1;
        }
    drop_ones(launch, first, &end);
    if (!has_fixed_order(launch, reduced))
        sort_dims(launch, first, end, reduced);
    merge_dims(launch, first, &end);
    return end;
}

/* A SCAN's last dimension is treated like a reduced one, but stays even where its extent is 1. */
static void collapse_scan(struct gsh_launch *launch)
{
    int last = launch->ndim - 1;
    int kept_end = collapse_part(launch, 0, last, false);
    move_dim(launch, kept_end, last);
    launch->ndim = kept_end + 1;
}

void gsh_launch_collapse(struct gsh_launch *launch)
{
    if (launch->kind == GSH_LAUNCH_GEMM)
        return;
    if (launch->kind == GSH_LAUNCH_SCAN) {
        collapse_scan(launch);
        return;
    }
    int nreduce = launch->kind == GSH_LAUNCH_REDUCE ? launch->nreduce : 0;
    int kept = launch->ndim - nreduce;
    int kept_end = collapse_part(launch, 0, kept, false);
    int reduced_end = collapse_part(launch, kept, launch->ndim, true);
    for (int d = kept; d < reduced_end; d++)
        move_dim(launch, kept_end + d - kept, d);
    launch->nreduce = reduced_end - kept;
    launch->ndim = kept_end + launch->nreduce;
}

/* One past the highest byte of matrix k (a, b or c) of a product; strides are positive. */
static int64_t product_reach(const struct gsh_gemm *g, unsigned k)
{
    int64_t rows = k == 1 ? g->k : g->m, row = k == 0 ? g->a_row : k == 1 ? g->b_row : g->c_row;
    int64_t cols = k == 0 ? g->k : g->n, col = k == 0 ? g->a_col : k == 1 ? g->b_col : g->c_col;
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * row + (cols - 1) * col + 1;
}

static void extend(int64_t stride, int64_t extent, int64_t *low, int64_t *high)
{
    int64_t reach = stride * (extent - 1);
    if (reach < 0)
        *low += reach;
    else
        *high += reach;
}

/* Whether operand k is addressed through launch->indexed. */
static bool is_indexed(const struct gsh_launch *launch, unsigned k)
{
    switch (launch->kind) {
    case GSH_LAUNCH_TAKE:
    case GSH_LAUNCH_EXPAND:
        return k == 0;
    case GSH_LAUNCH_PUT:
    case GSH_LAUNCH_COMPRESS:
        return k == launch->nin;
    default:
        return false;
    }
}

void gsh_launch_extent(const struct gsh_launch *launch, unsigned k, int64_t *low, int64_t *high)
{
    int64_t size = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    *low = 0;
    *high = size;
    if (launch->kind == GSH_LAUNCH_GEMM) {
        *high = size * product_reach(&launch->gemm, k);
        return;
    }
    for (int d = 0; d < launch->ndim; d++) {
        if (launch->shape[d] == 0 && !gsh_launch_is_output(launch, k)) { /* nothing is read */
            *low = *high = 0;
            return;
        }
        extend(launch->strides[k][d], launch->shape[d], low, high);
    }
    if (is_indexed(launch, k))
        extend(launch->indexed.stride, launch->indexed.extent, low, high);
}

bool gsh_launch_reads_output(const struct gsh_launch *launch)
{
    if (launch->kind == GSH_LAUNCH_GEMM)
        return launch->gemm.beta != 0;
    return launch->kind == GSH_LAUNCH_PUT ||
           (launch->has_mask && launch->kind != GSH_LAUNCH_REDUCE);
}

/* Sorted by stride, each dimension must step over all smaller ones. */
bool gsh_launch_is_distinct(const struct gsh_launch *launch, unsigned k)
{
    int64_t strides[GSH_MAX_DIMS], extents[GSH_MAX_DIMS];
    int count = 0;
    for (int dim = 0; dim < launch->ndim - launch->nreduce; dim++) {
        if (launch->shape[dim] == 1)
            continue;
        int64_t stride = gsh_launch_step(launch->strides[k][dim]);
        int place = count++;
        for (; place > 0 && strides[place - 1] > stride; place--) {
            strides[place] = strides[place - 1];
            extents[place] = extents[place - 1];
        }
        strides[place] = stride;
        extents[place] = launch->shape[dim];
    }
    int64_t covered = (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    for (int dim = 0; dim < count; dim++) {
        if (strides[dim] < covered)
            return false;
        covered = strides[dim] * (extents[dim] - 1) + covered;
    }
    return true;
}

bool gsh_launch_output_is_distinct(const struct gsh_launch *launch)
{
    if (launch->kind == GSH_LAUNCH_PUT || launch->kind == GSH_LAUNCH_COMPRESS)
        return true;
    for (unsigned k = launch->nin; k < launch->nin + launch->nout; k++)
        if (!gsh_launch_is_distinct(launch, k))
            return false;
    return true;
}
