/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "source_ranking.h"

bool gsh_source_ranking_has_dim(const struct gsh_launch *launch, int d)
{
    return launch->strides[1][d] != 0 || launch->strides[2][d] == 0 ||
           (launch->has_mask && launch->strides[3][d] != 0);
}

struct gsh_source_ranking gsh_source_ranking_of(const struct gsh_launch *launch)
{
    struct gsh_source_ranking ranking = {.ranks = 1, .cells = launch->indexed.extent};
    for (int d = launch->ndim - 1; d >= 0; d--) {
        if (!gsh_source_ranking_has_dim(launch, d))
            continue;
        ranking.rank_weights[d] = ranking.ranks;
        ranking.ranks *= launch->shape[d];
        if (launch->strides[2][d] == 0)
            continue;
        ranking.cell_weights[d] = ranking.cells;
        ranking.cells *= launch->shape[d];
    }
    return ranking;
}

struct gsh_launch gsh_source_ranking_part(const struct gsh_launch *launch)
{
    struct gsh_launch part = *launch;
    for (int d = 0; d < launch->ndim; d++)
        if (!gsh_source_ranking_has_dim(launch, d))
            part.shape[d] = 1;
    return part;
}

/* That holds where, sorted by stride, the index and the dimensions with
 * places of their own each step over all smaller ones. */
bool gsh_source_ranking_is_distinct(const struct gsh_launch *launch)
{
    int64_t strides[GSH_MAX_DIMS + 1] = {gsh_launch_step(launch->indexed.stride)};
    int64_t extents[GSH_MAX_DIMS + 1] = {launch->indexed.extent};
    int count = 1;
    for (int d = 0; d < launch->ndim; d++) {
        int64_t stride = gsh_launch_step(launch->strides[2][d]);
        int place = count;
        if (stride == 0)
            continue;
        for (; place > 0 && strides[place - 1] > stride; place--) {
            strides[place] = strides[place - 1];
            extents[place] = extents[place - 1];
        }
        strides[place] = stride;
        extents[place] = launch->shape[d];
        count++;
    }
    int64_t covered = (int64_t)gsh_dtype_size(launch->operands[2].dtype);
    for (int i = 0; i < count; i++) {
        if (strides[i] < covered && extents[i] > 1)
            return false;
        covered = strides[i] * (extents[i] - 1) + covered;
    }
    return true;
}
